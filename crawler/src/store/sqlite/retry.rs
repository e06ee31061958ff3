//! Queues URLs again that came to nothing, as the user asks.
//!
//! Invariants: the table is read once, and all is written in one transaction. A sequence that had come to its end goes on with it, as with a
//! page that is visited once more. What robots.txt forbade waits for a robots.txt of today.
//!
//! Does not know: when they are fetched.

use std::collections::BTreeSet;

use rusqlite::{Connection, Result, Row};

use super::{CrawlDirectory, directory::DATABASE, error::Fault, revisits};
use crate::store::{Abandonment, PageOutcome, RetryCounts, RetryFilter, StoreError};

/// What came to nothing in the last sequence.
const NOTHING: &str =
    "SELECT url.id, url.host, url.url, url.state, visit.outcome, visit.status, visit.fetched_at, url.reason
     FROM url NOT INDEXED LEFT JOIN visit ON visit.id = url.visit AND url.state = 'finished'
     WHERE admitted_in = (SELECT max(n) FROM sequence)
         AND (url.state = 'abandoned' OR visit.outcome IN ('broken', 'failed')) ORDER BY url.id";

/// One that passes.
struct Retryable {
    id: u64,
    host: u32,
    outcome: PageOutcome,
    /// robots.txt forbids it.
    is_forbidden: bool,
}

impl CrawlDirectory {
    /// Queues what passes again, as if it had not been asked for; how much that is.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read or written.
    pub fn retry(&self, filter: &RetryFilter) -> Result<RetryCounts, StoreError> {
        let retry = || {
            let transaction = self.connection.unchecked_transaction()?;
            let counts = queue(&transaction, filter)?;
            transaction.commit()?;
            Ok(counts)
        };
        retry().map_err(|fault: Fault| fault.of(&self.path().join(DATABASE)))
    }
}

/// How much would be queued again.
pub(super) fn count(connection: &Connection, filter: &RetryFilter) -> Result<RetryCounts> {
    each(connection, filter, |_| Ok(()))
}

fn queue(connection: &Connection, filter: &RetryFilter) -> Result<RetryCounts> {
    let mut again = connection.prepare(
        "UPDATE url SET state = 'queued', attempts = 0, due = NULL, failed_at = NULL, reason = NULL WHERE id = ?",
    )?;
    let mut forbidding = BTreeSet::new();
    // They come in the order of their numbers, which nothing that is written changes.
    let counts = each(connection, filter, |found| {
        if found.is_forbidden {
            forbidding.insert(found.host);
        }
        again.execute([found.id]).map(|_| ())
    })?;
    let mut outdate =
        connection.prepare("UPDATE host SET robots_fetched_at = min(robots_fetched_at, 0) WHERE id = ?")?;
    for host in forbidding {
        outdate.execute([host])?;
    }
    if !counts.is_empty() {
        revisits::go_on(connection)?;
    }
    Ok(counts)
}

/// Shows what passes, and counts it.
fn each(
    connection: &Connection,
    filter: &RetryFilter,
    mut take: impl FnMut(Retryable) -> Result<()>,
) -> Result<RetryCounts> {
    let mut select = connection.prepare(NOTHING)?;
    let (mut rows, mut counts) = (select.query([])?, RetryCounts::new());
    while let Some(row) = rows.next()? {
        if let Some(found) = passing(row, filter)? {
            *counts.entry(found.outcome.as_str()).or_default() += 1;
            take(found)?;
        }
    }
    Ok(counts)
}

fn passing(row: &Row<'_>, filter: &RetryFilter) -> Result<Option<Retryable>> {
    let reason = row.get_ref(7)?.as_str_or_null()?;
    let is = |one: Abandonment| reason == Some(one.as_str());
    let outcome = match (row.get_ref(3)?.as_str()?, row.get_ref(4)?.as_str_or_null()?) {
        ("abandoned", _) if is(Abandonment::Scope) || is(Abandonment::NoHttps) => return Ok(None),
        ("abandoned", _) => PageOutcome::Abandoned,
        (_, Some("broken")) => PageOutcome::Broken,
        _ => PageOutcome::Failed,
    };
    let (status, fetched): (Option<u16>, Option<u64>) = (row.get(5)?, row.get(6)?);
    let url = row.get_ref(2)?.as_str()?;
    let passes = filter.outcomes.contains(&outcome)
        && filter.status.as_ref().is_none_or(|range| status.is_some_and(|status| range.contains(&status)))
        && filter.until.is_none_or(|until| fetched.is_none_or(|fetched| fetched <= until.millis()))
        && filter.matching.as_ref().is_none_or(|pattern| pattern.is_match(url));
    let is_forbidden = is(Abandonment::Robots);
    Ok(if passes { Some(Retryable { id: row.get(0)?, host: row.get(1)?, outcome, is_forbidden }) } else { None })
}
