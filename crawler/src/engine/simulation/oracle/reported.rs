//! Whether what is reported of each page is what happened to it, with nothing added and nothing left out; and whether it is what its server
//! sent.

use std::collections::BTreeMap;

use rusqlite::{Connection, Result};

use super::super::crawl::{Request, SimulatedCrawl};

type Digest = Option<Vec<u8>>;

/// A page, as far as the reports say.
#[derive(Debug, Default)]
struct Known {
    body: Digest,
    /// No more changes of it are reported.
    volatile: bool,
    gone: bool,
}

/// Judges all reports, and the pages as they are now.
pub(super) fn judge(connection: &Connection) -> std::result::Result<(), String> {
    if is_forgotten(connection).map_err(|error| error.to_string())? {
        // A crawl of the same seed that keeps everything is judged instead.
        return Ok(());
    }
    let mut pages = baseline(connection).map_err(|error| error.to_string())?;
    for url in targets(connection).map_err(|error| error.to_string())? {
        // It was reported with the page that moved there.
        pages.entry(url).or_default().volatile = true;
    }
    let hides = hides(connection).map_err(|error| error.to_string())?;
    for (url, change, before, after) in reported(connection).map_err(|error| error.to_string())? {
        let page = pages.entry(url).or_default();
        // What moved by itself meanwhile was not reported.
        if before != page.body && !page.volatile && !hides {
            return Err(format!(
                "{change} of page {url} is reported against another copy than the last one reported: {page:?}"
            ));
        }
        let is_change = matches!(&*change, "changed" | "changed_text" | "reverted" | "volatile");
        if is_change && before == after {
            return Err(format!("{change} of page {url} is reported, and nothing changed"));
        }
        page.volatile |= change == "volatile";
        page.gone = matches!(&*change, "gone" | "moved");
        // That it can be seen again says nothing of what it shows.
        if after.is_some() && !matches!(&*change, "moved" | "reachable") {
            page.body = after;
        }
    }
    nothing_is_left_out(connection, &pages).map_err(|error| error.to_string())?
}

fn is_forgotten(connection: &Connection) -> Result<bool> {
    connection.query_row("SELECT forgotten_to IS NOT NULL FROM crawl", [], |row| row.get(0))
}

/// Whether anything was hidden that moves by itself.
fn hides(connection: &Connection) -> Result<bool> {
    let any = "SELECT EXISTS (SELECT 1 FROM sequence WHERE noise IS NOT NULL)";
    connection.query_row(any, [], |row| row.get(0))
}

/// Copies that the first sequence has.
fn baseline(connection: &Connection) -> Result<BTreeMap<i64, Known>> {
    // Of several visits of a page the first. What was found between sequences is reported.
    let query = "SELECT url, digest FROM visit WHERE sequence = 0 AND outcome = 'stored' AND NOT EXISTS (
                     SELECT 1 FROM change WHERE change.url = visit.url AND change.sequence = 0 AND change.change = 'new')
                 ORDER BY id DESC";
    let mut select = connection.prepare(query)?;
    let pages = select.query_map([], |row| Ok((row.get(0)?, Known { body: row.get(1)?, ..Known::default() })))?;
    pages.collect()
}

fn reported(connection: &Connection) -> Result<Vec<(i64, String, Digest, Digest)>> {
    let query = "SELECT url, change, before, after FROM change WHERE url IS NOT NULL ORDER BY id";
    let mut select = connection.prepare(query)?;
    select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?.collect()
}

/// Pages that others moved to.
fn targets(connection: &Connection) -> Result<Vec<i64>> {
    let query = "SELECT url.id FROM change JOIN url ON url.url = change.target";
    connection.prepare(query)?.query_map([], |row| row.get(0))?.collect()
}

/// Each page that is there, and not doubted, is as it was reported to be.
fn nothing_is_left_out(
    connection: &Connection,
    pages: &BTreeMap<i64, Known>,
) -> Result<std::result::Result<(), String>> {
    let mut select = connection.prepare(
        "SELECT url.id, visit.digest FROM url JOIN visit ON visit.id = url.visit LEFT JOIN page_state ON page_state.url = url.id
         WHERE visit.outcome = 'stored' AND visit.truncated IS NULL AND visit.id <= (SELECT looked_at FROM crawl)
           AND doubt IS NULL AND coalesce(condition, 'there') = 'there' AND moved_from IS NULL
           AND masks IS NULL AND NOT EXISTS (SELECT 1 FROM mask)",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let (url, digest): (i64, Digest) = (row.get(0)?, row.get(1)?);
        let is_reported = pages.get(&url).is_some_and(|page| page.volatile || (page.body == digest && !page.gone));
        if !is_reported {
            return Ok(Err(format!("page {url} is not what it was reported to be: {:?}", pages.get(&url))));
        }
    }
    Ok(Ok(()))
}

/// Each copy that a page has is what its server sent last, and each change leads from one to another that it has sent.
pub(super) fn copies(crawl: &SimulatedCrawl, connection: &Connection) -> std::result::Result<(), String> {
    let mut sent: BTreeMap<&str, Vec<[u8; 32]>> = BTreeMap::new();
    let is_kept = |request: &&Request| request.is_heard && request.is_look();
    for request in crawl.requests.iter().filter(is_kept) {
        if let Some(digest) = request.page.as_ref().and_then(|page| page.digest) {
            sent.entry(&request.url).or_default().push(digest);
        }
    }
    let was_sent = |url: &str, digest: &Digest| {
        let Some(digest) = digest else { return true };
        sent.get(url).is_some_and(|all| all.iter().any(|one| one[..] == digest[..]))
    };
    for (url, digest) in stored(connection, crawl.sequence).map_err(|error| error.to_string())? {
        // What a killed run was sent may be lost with it: then it was fetched once more, unless it was to be fetched at leisure.
        let last = sent.get(&*url).and_then(|all| all.last());
        let killed = crawl.past.iter().any(|past| past.end.is_none());
        let is_last = digest.as_deref() == last.map(|last| &last[..]);
        let was_forgotten = killed && was_sent(&url, &digest);
        if !is_last && !was_forgotten {
            return Err(format!("the copy of {url} is not what its server sent last"));
        }
    }
    // What others moved to may have had its copy before at their address.
    let query = "SELECT coalesce(key, url.url), before, after FROM change JOIN url ON url.id = change.url
                 WHERE change <> 'moved' AND url.url NOT IN (SELECT target FROM change WHERE target IS NOT NULL)";
    let mut select = connection.prepare(query).map_err(|error| error.to_string())?;
    let rows = select.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get(1)?, row.get(2)?)));
    for row in rows.map_err(|error| error.to_string())? {
        let (url, before, after) = row.map_err(|error| error.to_string())?;
        if !was_sent(&url, &before) || !was_sent(&url, &after) {
            return Err(format!("a change of {url} names a copy that its server never sent"));
        }
    }
    Ok(())
}

/// Pages whose copy is of this sequence.
fn stored(connection: &Connection, sequence: u32) -> Result<Vec<(String, Digest)>> {
    let query = "SELECT coalesce(key, url.url), visit.digest FROM url JOIN visit ON visit.id = url.visit
                 WHERE visit.sequence = ? AND visit.outcome = 'stored' AND visit.truncated IS NULL AND visit.status = 200";
    let mut select = connection.prepare(query)?;
    select.query_map([sequence], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}
