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

/// The sequence that is being crawled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Current {
    pub(super) sequence: u32,
    /// Whether every URL with a row is due in it: those that it has not touched yet are the rows of an earlier sequence.
    pub(super) known_first: bool,
    /// Whether pages of it were visited once more: any of its URLs may have a copy.
    pub(super) revisited: bool,
}

impl Current {
    /// What is known of a sequence.
    pub(super) fn of(connection: &Connection, sequence: u32) -> Result<Self> {
        let query = "SELECT revisit IS NOT NULL, revisited IS NOT NULL FROM sequence WHERE n = ?";
        let found = connection.query_row(query, [sequence], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let (known_first, revisited) = found.unwrap_or_default();
        Ok(Self { sequence, known_first, revisited })
    }

    /// A sequence whose URLs are found from the starts.
    #[cfg(test)]
    pub(super) fn by_links(sequence: u32) -> Self {
        Self { sequence, known_first: false, revisited: false }
    }

    /// Whether nothing was there before it.
    pub(super) fn is_first(self) -> bool {
        self.sequence == FIRST
    }

    /// Whether none of its URLs has a copy.
    pub(super) fn is_without_copies(self) -> bool {
        self.is_first() && !self.revisited
    }

    /// Whether its pages are asked for with what is known of their copies.
    pub(super) fn is_with_copies(self) -> bool {
        self.known_first || self.revisited
    }

    /// The condition for the rows that belong to it, where `?1` is its number.
    pub(super) fn rows(self) -> &'static str {
        if self.known_first { "admitted_in <= ?1" } else { "admitted_in = ?1" }
    }

    /// The condition for those of them that are to be fetched.
    pub(super) fn queued(self) -> &'static str {
        if self.known_first {
            "(admitted_in < ?1 OR (admitted_in = ?1 AND state = 'queued'))"
        } else {
            "(state = 'queued' AND admitted_in = ?1)"
        }
    }
}

/// A row of the URL table.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoredUrl {
    /// Its number for ever.
    pub(super) id: u64,
    /// The latest copy from an earlier sequence, or an earlier visit of this one.
    pub(super) copy: Option<Copied>,
}

/// A visit that stored a page, with its links.
#[derive(Debug, Clone, Copy)]
pub(super) struct Copied {
    pub(super) visit: i64,
    pub(super) digest: [u8; 32],
}

/// The rows of tickets. What was looked up last is remembered: nearly all that a step says is of one page.
pub(super) struct Tickets<'c> {
    connection: &'c Connection,
    current: Current,
    last: Option<(Ticket, StoredUrl)>,
}

impl<'c> Tickets<'c> {
    /// Those of a sequence.
    pub(super) fn new(connection: &'c Connection, current: Current) -> Self {
        Self { connection, current, last: None }
    }

    /// The sequence.
    pub(super) fn sequence(&self) -> u32 {
        self.current.sequence
    }

    /// The row of an admission.
    pub(super) fn url(&mut self, ticket: Ticket) -> Result<StoredUrl> {
        if let Some((_, url)) = self.last.filter(|(last, _)| *last == ticket) {
            return Ok(url);
        }
        let admitted_before = match self.current {
            current if current.is_without_copies() => None,
            Current { known_first: true, .. } | Current { revisited: true, .. } => self.known(KNOWN, ticket)?,
            Current { .. } => self.known(READMITTED, ticket)?,
        };
        // An admission that is no readmission has made its row, and named it.
        let url = admitted_before.unwrap_or(StoredUrl { id: ticket.0, copy: None });
        self.last = Some((ticket, url));
        Ok(url)
    }

    fn known(&self, query: &str, ticket: Ticket) -> Result<Option<StoredUrl>> {
        let mut select = self.connection.prepare_cached(query)?;
        let url = |row: &Row<'_>| {
            let (visit, digest): (Option<i64>, Option<[u8; 32]>) = (row.get(1)?, row.get(2)?);
            let copy = visit.zip(digest).map(|(visit, digest)| Copied { visit, digest });
            Ok(StoredUrl { id: row.get(0)?, copy })
        };
        select.query_row([ticket.0], url).optional()
    }
}

/// The row of a ticket that is no row's number, with its copy.
const READMITTED: &str = "SELECT url.id, stored.id, stored.digest
    FROM url LEFT JOIN visit AS stored ON stored.id = coalesce(url.copy, url.visit) AND stored.outcome = 'stored'
    WHERE url.readmission = ?";

/// The same of any ticket.
const KNOWN: &str = "SELECT url.id, stored.id, stored.digest
    FROM url LEFT JOIN visit AS stored ON stored.id = coalesce(url.copy, url.visit) AND stored.outcome = 'stored'
    WHERE url.id = coalesce((SELECT id FROM url WHERE readmission = ?1), ?1)";

/// Whether what a step admits may have a row. Nothing needs to be looked for otherwise, and keys have no index.
pub(super) fn may_have_row(context: StepContext) -> bool {
    !context.current.is_first() || context.rows == Rows::Proposed
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

/// Has this connection keep how a URL stood before it is admitted again: as part of that statement, which has the row at hand.
/// Where it stays as it was found, its visits tell as much of it, but not of one that was not fetched.
pub(super) fn keep_history(connection: &Connection) -> Result<()> {
    connection.execute_batch(
        "CREATE TEMP TRIGGER readmitted AFTER UPDATE OF readmission ON main.url BEGIN
             INSERT INTO history (url, sequence, hop, via, depth, state, reason, visit)
             VALUES (old.id, old.admitted_in, old.hop, old.via, old.depth, old.state, old.reason,
                     iif(old.state = 'finished', old.visit, NULL));
         END;
         CREATE TEMP TRIGGER touched AFTER UPDATE OF admitted_in ON main.url
         WHEN old.state <> 'finished' AND old.admitted_in < new.admitted_in AND old.readmission IS new.readmission BEGIN
             INSERT INTO history (url, sequence, hop, via, depth, state, reason)
             VALUES (old.id, old.admitted_in, old.hop, old.via, old.depth, old.state, old.reason);
         END",
    )
}

/// The visits of sequence `?1` whose URLs a later one has touched where they stood: nothing else tells how they stood then. Of
/// several, the last one.
pub(super) const TOUCHED_LATER: &str = "visit CROSS JOIN url ON url.id = visit.url
    WHERE visit.sequence = ?1 AND url.admitted_in > ?1
      AND NOT EXISTS (SELECT 1 FROM history AS past WHERE past.url = url.id AND past.sequence = ?1)
      AND NOT EXISTS (SELECT 1 FROM visit AS later WHERE later.url = url.id AND later.sequence = ?1 AND later.id > visit.id)";

/// Has this connection note which hosts said of a page that it was not modified, when it was.
pub(super) fn note_wrong_hosts(connection: &Connection) -> Result<()> {
    connection.execute_batch(
        "CREATE TEMP TRIGGER wrong AFTER INSERT ON main.visit WHEN new.audited AND new.change = 'changed' BEGIN
             UPDATE host SET wrong_since = coalesce(wrong_since, new.fetched_at)
             WHERE id = (SELECT host FROM url WHERE id = new.url);
         END",
    )
}

/// Has this connection note that links to a new part of the scope are kept from now on alone, where pages were read before.
pub(super) fn note_wider_scope(connection: &Connection) -> Result<()> {
    connection.execute_batch(
        "CREATE TEMP TRIGGER wider AFTER INSERT ON main.area BEGIN
             UPDATE sequence SET links_since = n + 1
             WHERE n = (SELECT max(n) FROM sequence) AND EXISTS (SELECT 1 FROM visit WHERE outcome = 'stored');
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
        (VisitOutcome::Stored, Some(_)) if visit.is_not_modified() => Some("unchanged"),
        (VisitOutcome::Stored, None) => Some("new"),
        (VisitOutcome::Stored, copy) if copy == visit.digest => Some("unchanged"),
        (VisitOutcome::Stored, Some(_)) => Some("changed"),
        (VisitOutcome::Broken, Some(_)) if matches!(visit.status, Some(404 | 410)) => Some("gone"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
