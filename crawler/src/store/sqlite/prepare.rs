//! What is written before a run: a crawl or its next sequence, what the user gives, and what the last run left to be mended.

use rusqlite::{Connection, params};

use super::{
    CrawlDirectory, DirectoryLock, apply,
    directory::{DATABASE, sync_folder},
    error::Fault,
    purge, resume, schema,
};
use crate::store::{AreaRow, Counters, Errs, KeptHistory, NewCrawl, NextSequence, Revisit, RunStart, StoreError};

impl CrawlDirectory {
    /// Begins a crawl: its identity and sequence 0, in one transaction that survives a power loss.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn create(&mut self, crawl: &NewCrawl) -> Result<(), StoreError> {
        let counters = serde_json::to_string(&Counters::default()).expect("counters are plain JSON");
        let write = |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            transaction.execute(
                "INSERT INTO crawl (id, created_at, fingerprint_seed, key_rules, settings) VALUES (1, ?, ?, ?, ?)",
                params![
                    crawl.at.millis(),
                    crawl.fingerprint_seed.value().cast_signed(),
                    crawl.key_rules.name(),
                    crawl.settings
                ],
            )?;
            transaction.execute(
                "INSERT INTO sequence (n, began_at, hash_seed, counters, links_since) VALUES (0, ?, ?, ?, 0)",
                params![crawl.at.millis(), crawl.hash_seed.cast_signed(), counters],
            )?;
            crawl.areas.iter().try_for_each(|row| apply::area(&transaction, row))?;
            transaction.commit()
        };
        write(&mut self.connection).map_err(self.failed())?;
        sync_folder(self.path())?;
        // Whether the user may read the folder around it is not ours to demand.
        drop(self.path().parent().map(sync_folder));
        self.pass("after_create");
        Ok(())
    }

    /// Begins the next sequence, in one transaction that survives a power loss: its number, its sums, and what it was asked
    /// to be. Its URLs are those that it will find, or those that are known as well; no row of an earlier one is touched. The
    /// hash seed stays: which strategies draw another one from it for each sequence is theirs to say. URLs that are gone for longer
    /// than history is kept are forgotten, if that is wanted.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn begin_sequence(&mut self, next: &NextSequence) -> Result<(), StoreError> {
        let (purges, mut gone) = (next.keep != KeptHistory::All, 0);
        let mut write = |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            transaction.execute_batch(schema::INDEX_OF_KEYS)?;
            transaction.execute_batch(schema::INDEX_OF_VISITS)?;
            if purges {
                gone = purge::purge(&transaction)?;
            }
            // Before the sequence is there: it keeps links to them from the beginning.
            next.areas.iter().try_for_each(|row| apply::area(&transaction, row))?;
            let known_first = next.revisit == Revisit::KnownFirst;
            if known_first {
                transaction.execute_batch(schema::INDEX_OF_KNOWN)?;
            }
            // What is known is proposed to the sequence by its beginning.
            let candidates = if known_first { known_urls(&transaction)? } else { 0 };
            let counters = Counters { candidates, ..Counters::default() };
            let counters = serde_json::to_string(&counters).expect("counters are plain JSON");
            let revisit = known_first.then_some(next.revisit.as_str());
            transaction.execute(
                "INSERT INTO sequence (n, began_at, hash_seed, counters, revisit, links_since)
                 SELECT n + 1, ?, hash_seed, ?, ?, iif(?, links_since, n + 1) FROM sequence ORDER BY n DESC LIMIT 1",
                params![next.at.millis(), counters, revisit, next.links_stay],
            )?;
            transaction.execute("UPDATE crawl SET settings = ?", [&next.settings])?;
            transaction.execute("DELETE FROM refetch", [])?;
            transaction.commit()
        };
        let refer = |connection: &Connection, kept: bool| connection.pragma_update(None, "foreign_keys", kept);
        refer(&self.connection, !purges).map_err(self.failed())?;
        let written = write(&mut self.connection);
        refer(&self.connection, true).map_err(self.failed())?;
        written.map_err(self.failed())?;
        if gone > 0 {
            tracing::info!(
                urls = gone,
                "URLs that are gone for longer than history is kept were forgotten (store.keep)"
            );
        }
        self.pass("after_begin_sequence");
        Ok(())
    }

    /// Notes starts that the user gives once more, or that the crawl has come upon by itself before.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn give(&mut self, starts: impl Iterator<Item = AreaRow>) -> Result<(), StoreError> {
        let write = |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            for row in starts {
                apply::area(&transaction, &row)?;
            }
            transaction.commit()
        };
        write(&mut self.connection).map_err(self.failed())
    }
}

/// Has readers find a URL by its key without reading them all, once a sequence has ended.
///
/// # Errors
/// [`StoreError`] when the database cannot be read or written.
pub fn index_keys(lock: &DirectoryLock) -> Result<(), StoreError> {
    let database = lock.directory()?.join(DATABASE);
    let update = || {
        let connection = Connection::open(&database)?;
        schema::prepare(&connection)?;
        schema::prepare_writing(&connection)?;
        let has_ended = "SELECT EXISTS (SELECT 1 FROM sequence WHERE end IS NOT NULL)";
        if connection.query_row(has_ended, [], |row| row.get(0))? {
            connection.execute_batch(schema::INDEX_OF_KEYS)?;
        }
        Ok(())
    };
    update().map_err(|fault: Fault| fault.of(&database))
}

fn known_urls(connection: &Connection) -> rusqlite::Result<u64> {
    connection.query_row("SELECT count(*) FROM url", [], |row| row.get(0))
}

/// Notes that the current sequence is being crawled: see [`Store`](crate::store::Store).
pub(super) fn begin_run(connection: &Connection, run: RunStart) -> rusqlite::Result<()> {
    let never = i64::from(run.cache == Errs::Never);
    let update = "UPDATE sequence SET end = iif(?5, end, NULL), exact = min(exact, ?1),
            swept = iif(?5, swept, NULL), swept_links = iif(?5, swept_links, NULL),
            audit_sample = min(coalesce(audit_sample, ?2), ?2),
            audit_urls = iif(?2 IS NULL OR audit_sample IS NOT NULL, audit_urls, ?3),
            audit_lost = iif(?2 IS NULL OR audit_sample IS NOT NULL, audit_lost, (SELECT coalesce(max(id), 0) FROM lost)),
            text_rule = ?4
         WHERE n = (SELECT max(n) FROM sequence)";
    if run.finds_keys {
        connection.execute_batch(schema::INDEX_OF_KEYS)?;
    }
    // What gave no page then may give one now.
    connection.execute("DELETE FROM refetch WHERE NOT read", [])?;
    let last = resume::last_ticket(connection)?;
    connection
        .execute(
            update,
            params![never, run.audit_sample, last, run.text_rule.map(crate::text::TextRule::number), run.is_over],
        )
        .map(|_| ())
}
