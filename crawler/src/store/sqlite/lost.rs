//! Lost URLs: their rows, what they mean to a new audit, and their counts.

use rusqlite::{Connection, Result, Row, params};

use super::{again::Tickets, current::Current, freshness};
use crate::{
    candidate::Ticket,
    store::{
        AuditStanding, LostCounts, LostRow, LostState, Replay, ReplayedUrl, RescueRow, SequenceLosses, SweepCounts,
        UrlRow, VisitOutcome,
    },
    url::Fingerprint,
};

/// Whether any URL is known to be lost.
pub(super) fn any(connection: &Connection) -> Result<bool> {
    connection.query_row("SELECT EXISTS (SELECT 1 FROM lost)", [], |row| row.get(0))
}

/// A URL that is admitted is lost no longer, in this sequence or an earlier one.
pub(super) fn found(connection: &Connection, row: &UrlRow, sequence: u32) -> Result<()> {
    let mut update = connection.prepare_cached(
        "UPDATE lost SET state = ?1, url = ?2, recovered_in = iif(sequence < ?3, ?3, NULL),
             admitted = coalesce((SELECT id FROM url WHERE readmission = ?4), ?4)
         WHERE substr(fingerprint, 1, 8) = substr(?5, 1, 8) AND admitted IS NULL",
    )?;
    let fingerprint = row.fingerprint.to_bytes();
    update.execute(params![LostState::Found.as_str(), row.url.as_str(), sequence, row.id.0, fingerprint]).map(|_| ())
}

/// The audit saw a URL refused: also one that the sweep has recorded is a trial of it from now on. By its new number it is
/// known to have been found after the audit began.
pub(super) fn audited(connection: &Connection, row: &LostRow, tickets: &mut Tickets<'_>) -> Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO lost (sequence, fingerprint, url, found_by, found_at, via, state, admitted)
         VALUES (?1, ?2, ?3, 'audit', ?4, ?5, ?6, ?7)
         ON CONFLICT DO UPDATE SET id = (SELECT max(id) + 1 FROM lost), found_by = 'audit', fingerprint = excluded.fingerprint, url = excluded.url,
             admitted = coalesce(excluded.admitted, admitted),
             state = iif(excluded.admitted IS NULL AND admitted IS NOT NULL, state, excluded.state)",
    )?;
    let mut row_of = |ticket: Option<Ticket>| ticket.map(|ticket| tickets.url(ticket)).transpose();
    let (via, admitted) = (row_of(row.via)?, row_of(row.admitted)?);
    let state = if row.admitted.is_some() { LostState::Rescued } else { LostState::Lost };
    insert
        .execute(params![
            tickets.sequence(),
            row.fingerprint.to_bytes(),
            row.url,
            row.at.millis(),
            via,
            state.as_str(),
            admitted,
        ])
        .map(|_| ())
}

/// A page was fetched again for the lost URLs that it had linked to. It tells that it does not link to the others any more where it
/// is of the same kind as before.
pub(super) fn fetched_again(connection: &Connection, row: &RescueRow, tickets: &mut Tickets<'_>) -> Result<()> {
    let RescueRow { parent, refetch, rescued, answer } = row;
    let mut insert = connection.prepare_cached(
        "INSERT INTO refetch (visit, up_to, read) SELECT id, ?2, outcome IS ?3 FROM visit WHERE id = ?1
         ON CONFLICT DO UPDATE SET up_to = max(up_to, excluded.up_to), read = min(read, excluded.read)",
    )?;
    insert.execute(params![refetch.visit, refetch.up_to, answer.map(VisitOutcome::as_str)])?;
    let mut update = connection.prepare_cached(
        "UPDATE lost SET state = ?1, via = ?2, admitted = ?3 WHERE substr(fingerprint, 1, 8) = ?4 AND sequence = ?5",
    )?;
    let parent = tickets.url(*parent)?;
    for (link, ticket) in rescued {
        let (state, admitted) = (LostState::Rescued.as_str(), tickets.url(*ticket)?);
        update.execute(params![state, parent, admitted, link.to_be_bytes(), tickets.sequence()])?;
    }
    Ok(())
}

/// Shows every URL of a sequence: first those its audit saw lost, then the admitted ones.
pub(super) fn replay(connection: &Connection, mut replay: Box<dyn Replay>, current: Current) -> Result<()> {
    let sequence = current.sequence;
    let mut select = connection.prepare(
        "SELECT lost.fingerprint, lost.id > audit_lost FROM lost JOIN sequence ON n = lost.sequence
         WHERE n = ? AND found_by = 'audit' AND audit_lost IS NOT NULL",
    )?;
    let mut rows = select.query([sequence])?;
    while let Some(row) = rows.next()? {
        let standing = if row.get(1)? { AuditStanding::FalsePositive } else { AuditStanding::Held };
        replay.lost(Fingerprint::from_bytes(row.get(0)?), standing);
    }
    // A URL that the sweep rescued was no trial: the first answer for it was not *seen*.
    let mut select = connection.prepare(&format!(
        "SELECT coalesce(url.key, url.url), url.fingerprint,
                audit_urls IS NULL OR url.ticket <= audit_urls OR url.hop = 'start' OR EXISTS (
                    SELECT 1 FROM lost WHERE lost.admitted = url.id AND lost.sequence = n AND lost.state = 'rescued')
         FROM url, sequence WHERE n = ?1 AND {} ORDER BY url.id",
        current.rows()
    ))?;
    let mut rows = select.query([sequence])?;
    while let Some(row) = rows.next()? {
        let standing = if row.get(2)? { AuditStanding::Held } else { AuditStanding::Trial };
        let fingerprint = Fingerprint::from_bytes(row.get(1)?);
        replay.row(ReplayedUrl { key: row.get_ref(0)?.as_str()?, fingerprint, standing });
    }
    replay.done();
    Ok(())
}

/// The lost URLs of a sequence, counted from rows.
pub(super) fn counts(connection: &Connection, sequence: u32) -> Result<LostCounts> {
    let links: Option<u64> = connection.query_row(
        "SELECT iif(swept IS NULL, NULL, swept_links) FROM sequence WHERE n = ?",
        [sequence],
        |row| row.get(0),
    )?;
    let missed_with_them = missed(connection, sequence)?;
    connection.query_row(
        "SELECT count(*) FILTER (WHERE NOT swept AND found_by = 'audit' AND state = 'rescued'),
                count(*) FILTER (WHERE swept),
                count(*) FILTER (WHERE swept AND state = 'rescued'),
                count(*) FILTER (WHERE swept AND state = 'no_longer_linked'),
                count(*) FILTER (WHERE swept AND state = 'parent_unreachable'),
                count(*) FILTER (WHERE swept AND state = 'found'),
                (SELECT count(DISTINCT admitted) FROM lost WHERE recovered_in = ?1)
         FROM lost WHERE sequence = ?1",
        [sequence],
        |row| {
            let sweep = SweepCounts {
                links,
                lost: row.get(1)?,
                rescued: row.get(2)?,
                found: row.get(5)?,
                missed_with_them,
                no_longer_linked: row.get(3)?,
                parent_unreachable: row.get(4)?,
            };
            Ok(LostCounts { audit_rescued: row.get(0)?, sweep, recovered: row.get(6)? })
        },
    )
}

/// What the last sequences lost, the last one first.
pub(super) fn of_sequences(connection: &Connection, most: u32) -> Result<Vec<SequenceLosses>> {
    let mut select = connection.prepare(
        "SELECT n, began_at, end, coalesce(counters ->> '$.expected_lost', 0.0),
                (SELECT count(*) FROM lost WHERE lost.sequence = n AND found_by = 'audit'),
                iif(sequence.swept IS NULL, NULL, (SELECT count(*) FROM lost WHERE lost.sequence = n AND lost.swept)),
                (SELECT count(DISTINCT admitted) FROM lost WHERE recovered_in = n), counters
         FROM sequence ORDER BY n DESC LIMIT ?",
    )?;
    let kept = freshness::kept(connection)?;
    let losses = |row: &Row<'_>| {
        Ok(SequenceLosses {
            sequence: row.get(0)?,
            began_at: row.get(1)?,
            end: row.get(2)?,
            expected: row.get(3)?,
            audited: row.get(4)?,
            swept: row.get(5)?,
            recovered: row.get(6)?,
            measured: freshness::measured(row.get_ref(7)?.as_str()?, &kept),
        })
    };
    select.query_map([most], losses)?.collect()
}

/// URLs of the last sequence whose way from a start leads over one that its sweep rescued, without those. A URL's `via` was
/// admitted before itself, so one pass in the order of the tickets finds them; both indices have that order.
fn missed(connection: &Connection, sequence: u32) -> Result<u64> {
    let rescued = "SELECT url.id, url.ticket FROM lost JOIN url ON url.id = lost.admitted
                   WHERE lost.sequence = ? AND swept AND lost.state = 'rescued'";
    let mut below = IdSet::default();
    let mut first: Option<i64> = None;
    let mut select = connection.prepare(rescued)?;
    let mut rows = select.query([sequence])?;
    while let Some(row) = rows.next()? {
        below.insert(row.get::<_, i64>(0)?);
        let ticket = row.get(1)?;
        first = Some(first.map_or(ticket, |first| first.min(ticket)));
    }
    let Some(first) = first else { return Ok(0) };
    let mut count = 0;
    let mut select = connection.prepare(
        "SELECT id, via, id AS place FROM url
         WHERE readmission IS NULL AND id > ?1 AND via IS NOT NULL AND admitted_in = ?2
         UNION ALL SELECT id, via, readmission FROM url
         WHERE readmission > ?1 AND via IS NOT NULL AND admitted_in = ?2 ORDER BY place",
    )?;
    let mut rows = select.query([first, i64::from(sequence)])?;
    while let Some(row) = rows.next()? {
        let (id, via): (i64, i64) = (row.get(0)?, row.get(1)?);
        if below.contains(via) && below.insert(id) {
            count += 1;
        }
    }
    Ok(count)
}

/// Numbers of rows, which lie close together: a bit each.
#[derive(Default)]
struct IdSet(std::collections::HashMap<i64, u64>);

impl IdSet {
    fn contains(&self, id: i64) -> bool {
        self.0.get(&(id >> 6)).is_some_and(|bits| bits & Self::bit(id) != 0)
    }

    /// Whether it is new.
    fn insert(&mut self, id: i64) -> bool {
        let bits = self.0.entry(id >> 6).or_default();
        let new = *bits & Self::bit(id) == 0;
        *bits |= Self::bit(id);
        new
    }

    fn bit(id: i64) -> u64 {
        1 << (id & 63)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_ids_is_one() {
        let (mut ids, mut model) = (IdSet::default(), std::collections::HashSet::new());
        for id in [0, 1, 63, 64, 65, -1, -64, -65, i64::MAX, i64::MIN, 63, -1] {
            assert_eq!(ids.insert(id), model.insert(id), "{id}");
        }
        assert!((-200..200).all(|id| ids.contains(id) == model.contains(&id)));
    }
}
