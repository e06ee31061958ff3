//! How important pages are by the links between them (L. Page et al., "The `PageRank` Citation Ranking", 1999).
//!
//! Invariants: memory is 60 bytes a page; the links are in a temporary file.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufReader, BufWriter, Read, Seek, Write},
    path::Path,
};

use rusqlite::{Connection, params};

use super::super::error::Fault;
use crate::search::first_similar;

/// The share of a page's importance that goes on along its links.
const DAMPING: f64 = 0.85;

/// Times it is handed on: what is missing then is below 0.85^30, less than one part in a hundred.
const ROUNDS: u32 = 30;

/// The links of all pages: of each page how many there are, and the places of their targets.
struct Links {
    file: File,
    /// The row of each page, by its place.
    urls: Vec<i64>,
    /// How many pages link to each.
    linking: Vec<u32>,
    /// The places of those whose texts are long enough, and their hashes.
    hashes: (Vec<usize>, Vec<i64>),
}

/// Writes of each indexed page how many pages link to it, its importance (1 on average), and which page before it is nearly the same.
pub(super) fn weigh(connection: &mut Connection, folder: &Path) -> Result<(), Fault> {
    let links = read(connection, folder)?;
    let importance = links.importance()?;
    let similar = links.similar();
    let transaction = connection.transaction()?;
    {
        let update = "UPDATE indexed_page SET links = ?2, importance = ?3, similar = ?4
             WHERE url = ?1 AND (links, importance, similar) IS NOT (?2, ?3, ?4)";
        let mut update = transaction.prepare(update)?;
        for (place, importance) in importance.into_iter().enumerate() {
            let values =
                params![links.urls[place], links.linking[place], (importance * 1e4).round() / 1e4, similar.get(&place)];
            update.execute(values)?;
        }
    }
    Ok(transaction.commit()?)
}

fn read(connection: &Connection, folder: &Path) -> Result<Links, Fault> {
    let mut keys: Vec<(u64, u32)> = Vec::new();
    let mut urls = Vec::new();
    let mut hashes = (Vec::new(), Vec::new());
    let mut select = connection.prepare(
        "SELECT url.id, substr(fingerprint, 1, 8), similarity FROM indexed_page JOIN url ON url.id = indexed_page.url ORDER BY 1",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        keys.push((u64::from_be_bytes(row.get(1)?), u32::try_from(urls.len()).unwrap_or(u32::MAX)));
        if let Some(hash) = row.get(2)? {
            hashes.0.push(urls.len());
            hashes.1.push(hash);
        }
        urls.push(row.get(0)?);
    }
    keys.sort_unstable();
    let place = |key| keys.binary_search_by_key(&key, |(key, _)| *key).ok().map(|at| keys[at].1);
    let mut linking = vec![0_u32; urls.len()];
    let mut out = BufWriter::new(tempfile::tempfile_in(folder)?);
    let mut select = connection.prepare(
        "SELECT kept.links FROM indexed_page JOIN url ON url.id = indexed_page.url
         JOIN visit ON visit.id = CASE WHEN (SELECT outcome FROM visit AS last WHERE last.id = url.visit) = 'stored' THEN url.visit ELSE url.copy END
         LEFT JOIN visit AS kept ON kept.id = coalesce(visit.same, visit.id) ORDER BY indexed_page.url",
    )?;
    let mut rows = select.query([])?;
    let mut targets = Vec::new();
    while let Some(row) = rows.next()? {
        let links = row.get_ref(0)?.as_blob_or_null()?.unwrap_or_default().chunks_exact(8);
        targets.clear();
        targets.extend(links.filter_map(|link| place(u64::from_be_bytes(link.try_into().expect("chunks of 8 bytes")))));
        targets.sort_unstable();
        targets.dedup();
        out.write_all(&u32::try_from(targets.len()).unwrap_or(u32::MAX).to_le_bytes())?;
        for target in &targets {
            linking[*target as usize] += 1;
            out.write_all(&target.to_le_bytes())?;
        }
    }
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    Ok(Links { file, urls, linking, hashes })
}

impl Links {
    /// The rows of the first pages that are nearly the same as those at these places.
    fn similar(&self) -> HashMap<usize, i64> {
        let (places, hashes) = &self.hashes;
        let pairs = places.iter().zip(first_similar(hashes)).map(|(place, first)| (*place, places[first]));
        pairs.filter(|(place, first)| place != first).map(|(place, first)| (place, self.urls[first])).collect()
    }

    fn importance(&self) -> io::Result<Vec<f64>> {
        let count = self.urls.len();
        let mut now = vec![1.0; count];
        for _ in 0..ROUNDS {
            let mut next = vec![0.0; count];
            let mut kept = 0.0;
            let mut file = BufReader::with_capacity(1 << 16, &self.file);
            file.rewind()?;
            for importance in &now {
                let links = number(&mut file)?;
                if links == 0 {
                    // What leads nowhere leads everywhere.
                    kept += importance;
                }
                for _ in 0..links {
                    next[number(&mut file)? as usize] += importance / f64::from(links);
                }
            }
            let base = 1.0 - DAMPING + DAMPING * kept / count as f64;
            now = next.into_iter().map(|given| base + DAMPING * given).collect();
        }
        Ok(now)
    }
}

fn number(file: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    file.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}
