//! Sequences beyond the first: what becomes of the rows that earlier ones left.
//!
//! Owns: finding the row of a key that was admitted before, admitting it once more, and what a visit changed against the copy before it.
//!
//! Invariants: a URL has one row for ever, and visits and other rows name it by its id; its ticket is that of its latest admission. How it
//! stood before it is admitted again is kept in `history`, with the visit of that sequence.
//!
//! Does not know: why a URL was proposed.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};

use super::apply::{Rows, StepContext};
use crate::{
    candidate::Ticket,
    store::{Abandonment, UrlRow, VisitOutcome, VisitRow},
    url::Fingerprint,
};

/// The sequence in which nothing was there before.
const FIRST: u32 = 0;

/// The row of an admission.
pub(super) fn row_of(connection: &Connection, ticket: Ticket, sequence: u32) -> Result<u64> {
    if sequence == FIRST {
        return Ok(ticket.0);
    }
    let mut select = connection.prepare_cached("SELECT id FROM url WHERE readmission = ?")?;
    // One that is no readmission has made its row, and named it.
    Ok(select.query_row([ticket.0], id).optional()?.unwrap_or(ticket.0))
}

/// What is known of a key.
pub(super) enum Known {
    /// No sequence has admitted it.
    No,
    /// An earlier one made this row for it.
    Before(u64),
    /// This one has admitted it.
    Now,
}

/// Looks a key up, unless there is nothing that it could be found among.
pub(super) fn known(connection: &Connection, key: Fingerprint, context: StepContext) -> Result<Known> {
    if context.sequence == FIRST && context.rows == Rows::New {
        return Ok(Known::No);
    }
    let mut select = connection.prepare_cached("SELECT id, admitted_in FROM url WHERE fingerprint = ?")?;
    let found = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, u32>(1)?));
    Ok(match select.query_row([key.to_bytes()], found).optional()? {
        None => Known::No,
        Some((_, sequence)) if context.rows == Rows::Proposed && context.sequence == sequence => Known::Now,
        Some((id, _)) => Known::Before(id),
    })
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

/// Admits a URL that has a row.
pub(super) fn readmit(connection: &Connection, id: u64, row: &UrlRow, sequence: u32) -> Result<()> {
    let mut keep = connection.prepare_cached(
        "INSERT INTO history (url, sequence, hop, via, depth, state, reason, visit)
         SELECT id, admitted_in, hop, via, depth, state, reason, iif(state = 'finished', visit, NULL) FROM url WHERE id = ?",
    )?;
    keep.execute([id])?;
    let mut update = connection.prepare_cached(
        "UPDATE url SET readmission = ?, host = ?, url = ?, key = ?, hop = ?, via = ?, depth = ?, redirects = ?, rank = ?,
                        admitted_in = ?, state = ?, attempts = 0, due = NULL, failed_at = NULL, reason = ?
         WHERE id = ?",
    )?;
    let via = row.via.map(|via| row_of(connection, via, sequence)).transpose()?;
    update
        .execute(params![
            row.id.0,
            row.host.0,
            row.url.as_str(),
            row.own_key(),
            row.hop.as_str(),
            via,
            row.depth,
            row.redirects,
            row.rank,
            sequence,
            row.state(),
            row.abandoned.map(Abandonment::as_str),
            id,
        ])
        .map(|_| ())
}

/// What a visit changed: `new`, `changed` or `unchanged` for a stored page, `gone` for one that was stored before and is not
/// there any more.
pub(super) fn change(
    connection: &Connection,
    id: u64,
    visit: &VisitRow,
    sequence: u32,
) -> Result<Option<&'static str>> {
    let copy = if sequence == FIRST { None } else { last_copy(connection, id)? };
    Ok(match (visit.outcome, copy) {
        (VisitOutcome::Stored, None) => Some("new"),
        (VisitOutcome::Stored, copy) if copy == visit.digest => Some("unchanged"),
        (VisitOutcome::Stored, Some(_)) => Some("changed"),
        (VisitOutcome::Broken, Some(_)) if matches!(visit.status, Some(404 | 410)) => Some("gone"),
        _ => None,
    })
}

/// The digest of the latest copy from an earlier sequence.
fn last_copy(connection: &Connection, id: u64) -> Result<Option<[u8; 32]>> {
    let mut select = connection.prepare_cached(
        "SELECT visit.digest FROM history JOIN visit ON visit.id = history.visit
         WHERE history.url = ? AND visit.outcome = 'stored' ORDER BY history.sequence DESC LIMIT 1",
    )?;
    select.query_row([id], |row| row.get(0)).optional()
}

fn id(row: &Row<'_>) -> Result<u64> {
    row.get(0)
}

#[cfg(test)]
mod tests;
