//! Removing URLs for good, because somebody asks for it: their rows, their place in the search index, and their archived answers.
//!
//! Owns: the order in which that is done, and that nothing of it is left in a file.
//!
//! Invariants: archive files without the records are there before the rows change, in one transaction; what is left over of a run that was
//! killed, the next one takes away. What other pages say stays, but for links to what is removed.
//!
//! Does not know: who asks, and how they are kept from being asked for again: their fingerprints are left for that.

mod links;
mod rows;
mod wanted;

use std::{
    collections::HashMap,
    thread,
    time::{Duration, Instant},
};

use regex::Regex;
use rusqlite::{Connection, params};

use super::{
    CrawlDirectory,
    archive::{self, RewrittenFile},
    directory::DATABASE,
    error::{Fault, database_error},
    schema, search,
};
use crate::store::{RemovedUrls, StoreError};
use wanted::Takedown;

/// Times the search index is optimized.
const OPTIMIZED: u32 = 3;

/// How long readers of the database are waited for.
const PATIENCE: Duration = Duration::from_secs(10);

impl CrawlDirectory {
    /// Removes each URL that matches, and the redirects that lead there. Nothing of them is left in the files of the directory but their
    /// hosts, and what other pages say of them.
    ///
    /// # Errors
    /// [`StoreError`] when one is where the crawl begins, or when files cannot be written; then it is done in part, and is to be done again.
    pub fn remove_urls(&self, pattern: &Regex) -> Result<RemovedUrls, StoreError> {
        let (connection, dir) = (&self.connection, self.path());
        let database = dir.join(DATABASE);
        let failed = |error: rusqlite::Error| database_error(&database)(error);
        let of_fault = |fault: Fault| fault.of(&database);
        let takedown = Takedown::find(connection, pattern).map_err(failed)?;
        if let Some(url) = takedown.start(connection).map_err(failed)? {
            return Err(StoreError::IsStart { url });
        }
        let files = archive::rewrite(connection, dir, |url| takedown.urls.contains(url))?;
        connection.pragma_update(None, "foreign_keys", false).map_err(failed)?;
        let removed = takedown.remove(connection, &files);
        connection.pragma_update(None, "foreign_keys", true).map_err(failed)?;
        let removed = removed.map_err(of_fault)?;
        if schema::has_removed(connection).map_err(failed)? {
            archive::delete_others(connection, dir)?;
            archive::verify(dir, &files, |url| takedown.urls.contains(url))?;
            compact(connection).map_err(failed)?;
            if !empty_log(connection).map_err(failed)? {
                let why = "another program reads it, and keeps what was removed from being overwritten: end that, and run this again";
                return Err(StoreError::Database { path: database, source: why.into() });
            }
            archive::write_index(connection, dir)?;
        }
        Ok(removed)
    }
}

impl Takedown<'_> {
    /// Removes the rows, in one transaction; how much went.
    fn remove(&self, connection: &Connection, files: &[RewrittenFile]) -> Result<RemovedUrls, Fault> {
        let transaction = connection.unchecked_transaction()?;
        let answers = archive::forget_records(&transaction, files)?;
        let before = sums(&transaction)?;
        let pages = links::strip(&transaction, self)?;
        transaction.execute(
            "INSERT OR IGNORE INTO removed_url SELECT fingerprint FROM url WHERE id IN (SELECT url FROM temp.removed)",
            [],
        )?;
        let urls = rows::remove(&transaction)?;
        let after = sums(&transaction)?;
        count_less(&transaction, &before, &after)?;
        transaction.commit()?;
        Ok(RemovedUrls { urls, answers, pages_with_links: pages })
    }
}

/// Rewrites the database without what is free in it. The words of removed pages leave the search index.
fn compact(connection: &Connection) -> rusqlite::Result<()> {
    if search::indexed_to(connection)?.is_some() {
        // The first time only ends a merge that was begun: words of removed pages may be in what it has written by then.
        for _ in 0..OPTIMIZED {
            connection.execute("INSERT INTO page_words (page_words) VALUES ('optimize')", [])?;
        }
    }
    connection.execute_batch("VACUUM")
}

/// Has the log empty, in which old pages may be; whether nobody keeps it from that for long.
fn empty_log(connection: &Connection) -> rusqlite::Result<bool> {
    let first = Instant::now();
    loop {
        let is_busy: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        if !is_busy || first.elapsed() > PATIENCE {
            return Ok(!is_busy);
        }
        thread::sleep(PATIENCE / 100);
    }
}

/// How many URLs each sequence has, how many pages it stored, and how often it stored one again.
fn sums(connection: &Connection) -> rusqlite::Result<HashMap<u32, [u64; 3]>> {
    let mut select = connection.prepare("SELECT n FROM sequence")?;
    let sequences: Vec<u32> = select.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let sum = |sequence| {
        let stored = "SELECT count(DISTINCT url), count(*) - count(DISTINCT url) FROM visit WHERE outcome = 'stored' AND sequence = ?";
        let [stored, again] = connection.query_row(stored, [sequence], |row| Ok([row.get(0)?, row.get(1)?]))?;
        Ok((sequence, [super::resume::counts(connection, sequence)?.admitted, stored, again]))
    };
    sequences.into_iter().map(sum).collect()
}

/// Counts what went of each sequence no more.
fn count_less(
    connection: &Connection,
    before: &HashMap<u32, [u64; 3]>,
    after: &HashMap<u32, [u64; 3]>,
) -> Result<(), Fault> {
    for (sequence, before) in before {
        let left = after.get(sequence).copied().unwrap_or_default();
        let [urls, stored, again] = [0, 1, 2].map(|sum| before[sum].saturating_sub(left[sum]));
        let update = "UPDATE sequence SET counters = json_set(counters,
                '$.candidates', max(0, counters ->> '$.candidates' - ?2),
                '$.stored', max(0, counters ->> '$.stored' - ?3),
                '$.stored_again', max(0, counters ->> '$.stored_again' - ?4))
             WHERE n = ?1";
        connection.execute(update, params![sequence, urls, stored, again])?;
    }
    Ok(())
}
