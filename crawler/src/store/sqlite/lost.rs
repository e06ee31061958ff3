//! Lost URLs: their rows, what they mean to a new audit, and their counts.

use rusqlite::{Connection, Result, params};

use crate::{
    store::{LostRow, LostState, Replay, ReplayedUrl, RescueRow, Standing, UrlRow},
    url::Fingerprint,
};

/// Lost URLs of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LostCounts {
    /// Those that the audit saw and let in at once.
    pub audit_rescued: u64,
    /// What the sweep found; `None` where none proves this state.
    pub sweep: Option<SweepCounts>,
}

/// What a sweep found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SweepCounts {
    /// Kept links compared.
    pub links: u64,
    /// URLs that had no row.
    pub lost: u64,
    /// Those of them that were admitted therefore.
    pub rescued: u64,
    /// URLs first found over those, not counting them.
    pub missed_with_them: u64,
    /// Lost URLs that no page links to any more.
    pub no_longer_linked: u64,
    /// Lost URLs whose pages gave no answer the second time.
    pub parent_unreachable: u64,
}

/// Whether any URL is known to be lost.
pub(super) fn any(connection: &Connection) -> Result<bool> {
    connection.query_row("SELECT EXISTS (SELECT 1 FROM lost)", [], |row| row.get(0))
}

/// A URL was admitted: if it was lost before, in this sequence or an earlier one, it is so no longer.
pub(super) fn found(connection: &Connection, row: &UrlRow, sequence: u32) -> Result<()> {
    let mut update = connection.prepare_cached(
        "UPDATE lost SET state = ?1, admitted = ?2, url = ?3, recovered_in = iif(sequence < ?4, ?4, NULL)
         WHERE substr(fingerprint, 1, 8) = ?5 AND admitted IS NULL",
    )?;
    let link = row.fingerprint.short().to_be_bytes();
    update.execute(params![LostState::Found.as_str(), row.id.0, row.url.as_str(), sequence, link]).map(|_| ())
}

/// The audit saw a URL refused.
pub(super) fn audited(connection: &Connection, row: &LostRow, sequence: u32) -> Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO lost (sequence, fingerprint, url, found_by, found_at, via, state, admitted)
         VALUES (?1, ?2, ?3, 'audit', ?4, ?5, ?6, ?7)
         ON CONFLICT DO UPDATE SET url = excluded.url, state = excluded.state, admitted = excluded.admitted
         WHERE lost.admitted IS NULL",
    )?;
    let state = if row.admitted.is_some() { LostState::Rescued } else { LostState::Lost };
    insert
        .execute(params![
            sequence,
            row.fingerprint.to_bytes(),
            row.url,
            row.at.millis(),
            row.via.map(|via| via.0),
            state.as_str(),
            row.admitted.map(|id| id.0),
        ])
        .map(|_| ())
}

/// A page was fetched again for the lost URLs that it had linked to.
pub(super) fn fetched_again(connection: &Connection, row: &RescueRow, sequence: u32) -> Result<()> {
    let mut update = connection.prepare_cached(
        "UPDATE lost SET state = ?1, tries = tries + 1, tried = ?2, via = ?2, admitted = coalesce(?3, admitted)
         WHERE substr(fingerprint, 1, 8) = ?4 AND sequence = ?5",
    )?;
    let rescued = row.rescued.iter().map(|(link, id)| (link, LostState::Rescued, Some(id.0)));
    let missing = row.missing.iter().map(|link| (link, row.why, None));
    for (link, state, admitted) in rescued.chain(missing) {
        update.execute(params![state.as_str(), row.parent.0, admitted, link.to_be_bytes(), sequence])?;
    }
    Ok(())
}

/// Shows every URL the table knows: first those the audit saw lost, then the admitted ones in their order.
pub(super) fn replay(connection: &Connection, mut replay: Box<dyn Replay>) -> Result<()> {
    let mut select = connection.prepare(
        "SELECT lost.fingerprint, lost.id > audit_lost FROM lost JOIN sequence ON n = lost.sequence
         WHERE n = (SELECT max(n) FROM sequence) AND found_by = 'audit' AND audit_lost IS NOT NULL",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let standing = if row.get(1)? { Standing::FalsePositive } else { Standing::Held };
        replay.lost(Fingerprint::from_bytes(row.get(0)?), standing);
    }
    // A URL that the sweep rescued was no trial: its first verdict was not seen.
    let mut select = connection.prepare(
        "SELECT coalesce(url.key, url.url), url.fingerprint, url.admitted_in = n,
                audit_urls IS NULL OR url.id <= audit_urls OR url.hop = 'start'
                OR EXISTS (SELECT 1 FROM lost WHERE lost.admitted = url.id AND lost.state = 'rescued')
         FROM url, sequence WHERE n = (SELECT max(n) FROM sequence) ORDER BY url.id",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let standing = match (row.get(2)?, row.get(3)?) {
            (false, _) => Standing::Foreign,
            (true, true) => Standing::Held,
            (true, false) => Standing::Trial,
        };
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
                count(*) FILTER (WHERE swept AND state = 'parent_unreachable')
         FROM lost WHERE sequence = ?",
        [sequence],
        |row| {
            let (lost, rescued) = (row.get(1)?, row.get(2)?);
            let (no_longer_linked, parent_unreachable) = (row.get(3)?, row.get(4)?);
            let of =
                |links| SweepCounts { links, lost, rescued, missed_with_them, no_longer_linked, parent_unreachable };
            Ok(LostCounts { audit_rescued: row.get(0)?, sweep: links.map(of) })
        },
    )
}

/// URLs whose way from a start leads over one that a sweep rescued, without those. A URL's `via` has a lower number than
/// itself, so one pass in order finds them.
fn missed(connection: &Connection, sequence: u32) -> Result<u64> {
    let rescued = "SELECT admitted FROM lost WHERE sequence = ? AND swept AND state = 'rescued' ORDER BY admitted";
    let mut below = std::collections::HashSet::new();
    for id in connection.prepare(rescued)?.query_map([sequence], |row| row.get::<_, i64>(0))? {
        below.insert(id?);
    }
    let Some(first) = below.iter().min().copied() else { return Ok(0) };
    let mut count = 0;
    let mut select = connection
        .prepare("SELECT id, via FROM url WHERE id > ? AND via IS NOT NULL AND admitted_in = ? ORDER BY id")?;
    let mut rows = select.query([first, i64::from(sequence)])?;
    while let Some(row) = rows.next()? {
        let (id, via): (i64, i64) = (row.get(0)?, row.get(1)?);
        if below.contains(&via) && below.insert(id) {
            count += 1;
        }
    }
    Ok(count)
}
