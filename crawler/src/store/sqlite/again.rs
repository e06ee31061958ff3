//! Sequences beyond the first: what becomes of the rows that earlier ones left.
//!
//! Owns: finding the row of a ticket, and the copy of its page if the lease had none; admitting a key again that has a row; what is kept of
//! a URL that a later sequence takes over.
//!
//! Invariants: a URL has one row for ever, and visits and other rows name it by its id; its ticket is that of its latest admission. Its
//! state at the end of an earlier sequence is known from its last visit of that sequence or, if there is none, from `past`.
//!
//! Does not know: why a URL was proposed.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Result};

use super::{
    current::{Current, FIRST},
    refill,
    step_context::{StepContext, StepRows},
};
use crate::{candidate::Ticket, queue::KnownCopy, store::VisitRow};

/// The rows of tickets. What was looked up last is remembered: nearly all that a step says is of one page.
pub(super) struct Tickets<'c> {
    connection: &'c Connection,
    context: StepContext,
    last: Option<(Ticket, u64)>,
}

impl<'c> Tickets<'c> {
    /// Those of a sequence.
    pub(super) fn new(connection: &'c Connection, context: StepContext) -> Self {
        Self { connection, context, last: None }
    }

    /// The sequence.
    pub(super) fn sequence(&self) -> u32 {
        self.context.current.sequence
    }

    /// The row of an admission. One that is no readmission has made its row, and named it.
    pub(super) fn url(&mut self, ticket: Ticket) -> Result<u64> {
        if let Some((_, url)) = self.last.filter(|(last, _)| *last == ticket) {
            return Ok(url);
        }
        let url = if self.context.readmits { self.readmitted(ticket)? } else { ticket.0 };
        self.last = Some((ticket, url));
        Ok(url)
    }

    fn readmitted(&self, ticket: Ticket) -> Result<u64> {
        let mut select = self.connection.prepare_cached("SELECT id FROM url WHERE readmission = ?")?;
        Ok(select.query_row([ticket.0], |row| row.get(0)).optional()?.unwrap_or(ticket.0))
    }

    /// The copy that a visit is compared with. A sequence whose URLs are found from the starts leases them without it.
    pub(super) fn copy(&mut self, visit: &VisitRow) -> Result<Option<Arc<KnownCopy>>> {
        if let Some(copy) = &visit.copy {
            self.last = Some((visit.url, copy.url));
            return Ok(Some(Arc::clone(copy)));
        }
        let current = self.context.current;
        if current.is_first() || current.known_first {
            return Ok(None);
        }
        let (url, copy) = refill::copy_of(self.connection, visit.url, current)?.unwrap_or((visit.url.0, None));
        self.last = Some((visit.url, url));
        Ok(copy)
    }
}

/// Whether a row may have the number of a later admission: its own is its ticket otherwise.
pub(super) fn readmits(connection: &Connection, current: Current) -> Result<bool> {
    let any = "SELECT EXISTS (SELECT 1 FROM url WHERE readmission IS NOT NULL)";
    Ok(!current.is_first() && (!current.known_first || connection.query_row(any, [], |row| row.get(0))?))
}

/// Whether what a step admits may have a row. Nothing needs to be looked for otherwise, and keys have no index.
pub(super) fn may_have_row(context: StepContext) -> bool {
    !context.current.is_first() || context.rows == StepRows::Proposed
}

/// What writes a row that is admitted.
pub(super) fn admission(context: StepContext) -> &'static str {
    match context.current {
        Current { known_first: true, .. } => INSERT_NEW,
        _ if may_have_row(context) => INSERT_OR_READMIT,
        _ => INSERT,
    }
}

/// A row of a URL that no sequence has admitted before.
const INSERT: &str =
    "INSERT INTO url (id, host, url, key, fingerprint, hop, via, depth, redirects, rank, admitted_in, state, reason)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// The same, where the URL may have a row: that is due in any case.
const INSERT_NEW: &str =
    "INSERT INTO url (id, host, url, key, fingerprint, hop, via, depth, redirects, rank, admitted_in, state, reason)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (fingerprint) DO NOTHING";

/// A row of a URL, or once more the row that an earlier sequence has made for it; nothing of what this one has admitted.
const INSERT_OR_READMIT: &str =
    "INSERT INTO url (id, host, url, key, fingerprint, hop, via, depth, redirects, rank, admitted_in, state, reason)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (fingerprint) DO UPDATE SET
         readmission = excluded.id, host = excluded.host, url = excluded.url, key = excluded.key, hop = excluded.hop,
         via = excluded.via, depth = excluded.depth, redirects = excluded.redirects, rank = excluded.rank,
         admitted_in = excluded.admitted_in, state = excluded.state, attempts = 0, due = NULL, failed_at = NULL,
         reason = excluded.reason
     WHERE admitted_in < excluded.admitted_in";

/// Has this connection keep how a URL stood in an earlier sequence when a later one takes it over: as part of that statement, which
/// has the row at hand. The visit of a finished one tells as much. A sequence loses a URL once, so it has no row there yet.
pub(super) fn keep_past(connection: &Connection) -> Result<()> {
    connection.execute_batch(
        "CREATE TEMP TRIGGER taken_over AFTER UPDATE OF admitted_in ON main.url
         WHEN old.state <> 'finished' AND old.admitted_in < new.admitted_in BEGIN
             INSERT INTO past (url, sequence, state, reason) VALUES (old.id, old.admitted_in, old.state, old.reason);
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

#[cfg(test)]
mod tests;
