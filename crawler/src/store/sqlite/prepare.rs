//! What is written before a run: a crawl or its next sequence, what the user gives, and what the last run left to be mended.

use rusqlite::{Connection, params};

use super::{CrawlDirectory, apply, directory::sync_folder, narrow, ranks, resume, schema};
use crate::{
    order::Ranking,
    scope::Scope,
    store::{Abandonment, AreaRow, Counters, Errs, NewCrawl, NextSequence, Revisit, RunStart, StoreError},
    time::Moment,
};

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
    /// hash seed stays: which strategies draw another one from it for each sequence is theirs to say.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn begin_sequence(&mut self, next: &NextSequence) -> Result<(), StoreError> {
        let write = |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            transaction.execute_batch(schema::INDEX_OF_KEYS)?;
            // Before the sequence is there: it keeps links to them from the beginning.
            next.areas.iter().try_for_each(|row| apply::area(&transaction, row))?;
            let known_first = next.revisit == Revisit::KnownFirst;
            if known_first {
                transaction.execute_batch(schema::INDICES_OF_KNOWN)?;
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
        write(&mut self.connection).map_err(self.failed())?;
        self.pass("after_begin_sequence");
        Ok(())
    }

    /// Notes starts that the user gives once more, or that the crawl has come upon by itself before.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn give(&mut self, starts: &[AreaRow]) -> Result<(), StoreError> {
        let write = |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            starts.iter().try_for_each(|row| apply::area(&transaction, row))?;
            transaction.commit()
        };
        write(&mut self.connection).map_err(self.failed())
    }

    /// Stores changed settings.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn store_settings(&self, settings: &str) -> Result<(), StoreError> {
        let update = self.connection.execute("UPDATE crawl SET settings = ?", [settings]);
        update.map(|_| ()).map_err(self.failed())
    }

    /// Puts what is queued in the last sequence in this order, if it was queued in another.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn rank_by(&self, ranking: &Ranking) -> Result<(), StoreError> {
        ranks::rank_by(&self.connection, ranking).map_err(self.failed())
    }

    /// Stores changed settings, and leaves out what is queued in the last sequence and is not in their scope any more: both or
    /// none of it.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn narrow(&self, scope: &Scope, settings: &str) -> Result<(), StoreError> {
        let write = || {
            let transaction = self.connection.unchecked_transaction()?;
            narrow::leave_out(&transaction, scope)?;
            transaction.execute("UPDATE crawl SET settings = ?", [settings])?;
            transaction.commit()
        };
        write().map_err(self.failed())
    }

    /// Whether the last sequence has no visit yet.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn is_untouched(&self) -> Result<bool, StoreError> {
        narrow::is_untouched(&self.connection).map_err(self.failed())
    }

    /// Queues URLs of the last sequence again that were abandoned for what may be mended since: a name that was none, an
    /// address that was not allowed. Returns how many there were.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn retry_abandoned(&self) -> Result<usize, StoreError> {
        let update = "UPDATE url SET state = 'queued', reason = NULL, attempts = 0, due = NULL, failed_at = NULL
                      WHERE state = 'abandoned' AND reason IN (?, ?) AND admitted_in = (SELECT max(n) FROM sequence)";
        let reasons = Abandonment::TRIED_AGAIN.map(Abandonment::as_str);
        self.connection.execute(update, reasons).map_err(self.failed())
    }

    /// Has no retry of the last sequence wait beyond `latest`, the longest that one could have been told to wait: a clock
    /// that was ahead wrote what lies beyond it. Returns how many there were.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn clamp_due(&self, latest: Moment) -> Result<usize, StoreError> {
        let clamp = "UPDATE url INDEXED BY url_retry SET due = ?1 WHERE state = 'queued' AND due > ?1
                     AND admitted_in = (SELECT max(n) FROM sequence)";
        self.connection.execute(clamp, [latest.millis()]).map_err(self.failed())
    }
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
    if run.forgets {
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

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    };

    use super::*;
    use crate::url::{Canonicalizer, FingerprintSeed};

    #[test]
    fn what_takes_long_before_a_run_can_be_interrupted_and_done_later() {
        let folder = tempfile::tempdir().unwrap();
        let mut directory = CrawlDirectory::open(folder.path()).unwrap();
        let crawl = NewCrawl {
            at: Moment::EPOCH,
            fingerprint_seed: FingerprintSeed::new(7),
            key_rules: Canonicalizer::default(),
            hash_seed: 1,
            settings: "{}".to_owned(),
            areas: Vec::new(),
        };
        directory.create(&crawl).unwrap();
        directory
            .connection
            .execute_batch(
                "INSERT INTO host (id, origin) VALUES (0, 'http://h');
                 WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
                 INSERT INTO url (id, host, url, fingerprint, hop, depth, rank, admitted_in, state)
                     SELECT i, 0, 'http://h/' || i, randomblob(16), 'link', 1, 0, 0, 'queued' FROM n",
            )
            .unwrap();
        let is_stopped = Arc::new(AtomicBool::new(true));
        let asked = Arc::clone(&is_stopped);
        let directory = directory.interrupted_when(move || asked.load(Ordering::Relaxed)).unwrap();
        let best = Ranking::new(crate::order::Order::Depth, Vec::new());
        assert!(matches!(directory.rank_by(&best), Err(StoreError::Interrupted)));
        assert!(matches!(directory.resume(None), Err(StoreError::Interrupted)));
        is_stopped.store(false, Ordering::Relaxed);
        let unranked = "SELECT count(*) FROM url WHERE rank <> 0";
        assert_eq!(directory.connection.query_row(unranked, [], |row| row.get(0)), Ok(0), "all or nothing");
        directory.rank_by(&best).unwrap();
        assert_eq!(directory.resume(None).unwrap().map(|resumed| resumed.counts.queued), Some(5_000));
    }
}
