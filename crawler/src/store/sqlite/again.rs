//! Sequences beyond the first: what becomes of the rows that earlier ones left.
//!
//! Owns: finding the row of a key that was admitted before, admitting it once more, and what a visit changed against the copy before it.
//!
//! Invariants: a URL has one row for ever, and visits and other rows name it by its id; its ticket is that of its latest admission. How it
//! stood before it is admitted again is kept in `history`, with the visit of that sequence.
//!
//! Does not know: why a URL was proposed.

use rusqlite::{Connection, OptionalExtension, Result, Row};

use super::apply::{Rows, StepContext};
use crate::{
    candidate::Ticket,
    store::{VisitOutcome, VisitRow},
};

/// The sequence in which nothing was there before.
const FIRST: u32 = 0;

/// A row of the URL table.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoredUrl {
    /// Its number for ever.
    pub(super) id: u64,
    /// The digest of the latest copy from an earlier sequence.
    pub(super) copy: Option<[u8; 32]>,
}

/// The rows of tickets. What was looked up last is remembered: nearly all that a step says is of one page.
pub(super) struct Tickets<'c> {
    connection: &'c Connection,
    sequence: u32,
    last: Option<(Ticket, StoredUrl)>,
}

impl<'c> Tickets<'c> {
    /// Those of a sequence.
    pub(super) fn new(connection: &'c Connection, sequence: u32) -> Self {
        Self { connection, sequence, last: None }
    }

    /// The sequence.
    pub(super) fn sequence(&self) -> u32 {
        self.sequence
    }

    /// The row of an admission.
    pub(super) fn url(&mut self, ticket: Ticket) -> Result<StoredUrl> {
        if let Some((_, url)) = self.last.filter(|(last, _)| *last == ticket) {
            return Ok(url);
        }
        let admitted_before = if self.sequence == FIRST { None } else { self.readmitted(ticket)? };
        // An admission that is no readmission has made its row, and named it.
        let url = admitted_before.unwrap_or(StoredUrl { id: ticket.0, copy: None });
        self.last = Some((ticket, url));
        Ok(url)
    }

    fn readmitted(&self, ticket: Ticket) -> Result<Option<StoredUrl>> {
        let mut select = self.connection.prepare_cached(
            "SELECT id, (SELECT visit.digest FROM history JOIN visit ON visit.id = history.visit
                         WHERE history.url = url.id AND visit.outcome = 'stored'
                         ORDER BY history.sequence DESC LIMIT 1)
             FROM url WHERE readmission = ?",
        )?;
        let url = |row: &Row<'_>| Ok(StoredUrl { id: row.get(0)?, copy: row.get(1)? });
        select.query_row([ticket.0], url).optional()
    }
}

/// Whether what a step admits may have a row. Nothing needs to be looked for otherwise, and keys have no index.
pub(super) fn may_have_row(context: StepContext) -> bool {
    context.sequence != FIRST || context.rows == Rows::Proposed
}

/// A row of a URL, or once more the row that an earlier sequence has made for it; nothing of what this one has admitted.
pub(super) const INSERT_OR_READMIT: &str =
    "INSERT INTO url (id, host, url, key, fingerprint, hop, via, depth, redirects, rank, admitted_in, state, reason)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (fingerprint) DO UPDATE SET
         readmission = excluded.id, host = excluded.host, url = excluded.url, key = excluded.key, hop = excluded.hop,
         via = excluded.via, depth = excluded.depth, redirects = excluded.redirects, rank = excluded.rank,
         admitted_in = excluded.admitted_in, state = excluded.state, attempts = 0, due = NULL, failed_at = NULL,
         reason = excluded.reason
     WHERE admitted_in < excluded.admitted_in";

/// Has this connection keep how a URL stood before it is admitted again: as part of that statement, which has the row at hand.
pub(super) fn keep_history(connection: &Connection) -> Result<()> {
    connection.execute_batch(
        "CREATE TEMP TRIGGER readmitted AFTER UPDATE OF readmission ON main.url BEGIN
             INSERT INTO history (url, sequence, hop, via, depth, state, reason, visit)
             VALUES (old.id, old.admitted_in, old.hop, old.via, old.depth, old.state, old.reason,
                     iif(old.state = 'finished', old.visit, NULL));
         END",
    )
}

/// The address that an earlier sequence gave to a kept link; none for one that is found for the first time.
pub(super) fn address(connection: &Connection, link: u64, sequence: u32) -> Result<Option<String>> {
    if sequence == FIRST {
        return Ok(None);
    }
    let mut select = connection.prepare_cached("SELECT url FROM url WHERE fingerprint BETWEEN ? AND ? LIMIT 1")?;
    let [least, most] = [0, u64::MAX].map(|rest| [link.to_be_bytes(), rest.to_be_bytes()].concat());
    select.query_row([least, most], |row| row.get(0)).optional()
}

/// What a visit changed against the copy before it: `new`, `changed` or `unchanged` for a stored page, `gone` for one that was
/// stored before and is not there any more.
pub(super) fn change(visit: &VisitRow, copy: Option<[u8; 32]>) -> Option<&'static str> {
    match (visit.outcome, copy) {
        (VisitOutcome::Stored, None) => Some("new"),
        (VisitOutcome::Stored, copy) if copy == visit.digest => Some("unchanged"),
        (VisitOutcome::Stored, Some(_)) => Some("changed"),
        (VisitOutcome::Broken, Some(_)) if matches!(visit.status, Some(404 | 410)) => Some("gone"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
