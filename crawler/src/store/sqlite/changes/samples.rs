//! Which pages of a section show what is boilerplate there.
//!
//! Owns: the temporary table `sample`. It is made at the end of a sequence, and kept for later use between sequences, when reading all URLs
//! would cost more than the visits.
//!
//! Does not know: their texts.

use std::{
    collections::{BTreeSet, BinaryHeap, HashMap},
    iter,
};

use rusqlite::{Result, params};
use xxhash_rust::xxh3::xxh3_64;

use super::{Finder, looks, places};
use crate::changes::{Difference, LookOutcome, Way};

/// Pages of a section.
const SAMPLE: usize = 100;

/// Sections that are kept at most, beside those that are wanted now: they take 10 MB.
const MOST_SECTIONS: usize = 4_000;

/// Pages by the hash of their address, the smallest ones: the same in every sequence.
type Sample = BinaryHeap<(u64, i64)>;

/// The pages of each section in which a text is another, or a page is new or not found.
pub(super) fn of_looks(finder: &Finder<'_>) -> Result<HashMap<i64, Vec<i64>>> {
    let wanted = wanted(finder)?;
    if wanted.is_empty() {
        return Ok(HashMap::new());
    }
    finder.connection.execute_batch(
        "CREATE TEMP TABLE IF NOT EXISTS sample (section INTEGER, url INTEGER, PRIMARY KEY (section, url)) WITHOUT ROWID",
    )?;
    if finder.current.revisited {
        let kept = kept(finder, &wanted)?;
        if kept.len() == wanted.len() {
            return Ok(kept);
        }
    }
    make(finder, &wanted)?;
    kept(finder, &wanted)
}

fn wanted(finder: &Finder<'_>) -> Result<BTreeSet<i64>> {
    let looks = looks::codes([
        LookOutcome::There(Difference::Text(Way::Onwards)),
        LookOutcome::There(Difference::Text(Way::Back)),
        LookOutcome::There(Difference::Text(Way::Shrunk)),
        LookOutcome::Missing { for_good: false },
        LookOutcome::Missing { for_good: true },
    ]);
    let new = LookOutcome::There(Difference::Unknown).code();
    let mut sections = finder.connection.prepare(&format!(
        "SELECT DISTINCT section FROM temp.look WHERE look IN ({looks}) OR (look = {new} AND good_mark IS NULL)"
    ))?;
    sections.query_map([], |row| row.get(0))?.collect()
}

/// The pages that are kept of these sections.
fn kept(finder: &Finder<'_>, wanted: &BTreeSet<i64>) -> Result<HashMap<i64, Vec<i64>>> {
    let mut select = finder.connection.prepare("SELECT url FROM temp.sample WHERE section = ?")?;
    let mut kept = HashMap::new();
    for section in wanted {
        let pages = select.query_map([section], |row| row.get(0))?.collect::<Result<Vec<_>>>()?;
        if !pages.is_empty() {
            kept.insert(*section, pages);
        }
    }
    Ok(kept)
}

/// Reads all URLs, and keeps the pages of these sections and of others.
fn make(finder: &Finder<'_>, wanted: &BTreeSet<i64>) -> Result<()> {
    let mut samples: HashMap<i64, Sample> = wanted.iter().copied().zip(iter::repeat_with(Sample::new)).collect();
    let most = wanted.len() + MOST_SECTIONS;
    let mut select = finder.connection.prepare("SELECT id, url FROM url WHERE visit IS NOT NULL")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let url = row.get_ref(1)?.as_str()?;
        let section = places::places(url)[1];
        if samples.len() == most && !samples.contains_key(&section) {
            continue;
        }
        let sample = samples.entry(section).or_default();
        sample.push((xxh3_64(url.as_bytes()), row.get(0)?));
        if sample.len() > SAMPLE {
            sample.pop();
        }
    }
    finder.connection.execute("DELETE FROM temp.sample", [])?;
    let mut insert = finder.connection.prepare("INSERT INTO temp.sample VALUES (?, ?)")?;
    for (section, pages) in samples {
        for (_, url) in pages {
            insert.execute(params![section, url])?;
        }
    }
    Ok(())
}
