//! Writing one [`Step`].

use rusqlite::{Connection, Result, params};

use super::lost;
use crate::{
    candidate::{HostId, UrlId},
    store::{Abandonment, AreaRow, HostRow, RobotsRow, Step, UrlChange, UrlRow, VisitRow},
};

/// Where a step is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// The sequence.
    pub(super) sequence: u32,
    /// Whether any URL is known to be lost.
    pub(super) lost: bool,
}

/// Writes the rows of a step; its counters are the writer's.
pub(super) fn step(connection: &Connection, step: &Step, place: Place) -> Result<()> {
    let sequence = place.sequence;
    step.hosts.iter().try_for_each(|row| host(connection, row))?;
    step.areas.iter().try_for_each(|row| area(connection, row))?;
    step.rows.iter().try_for_each(|row| url(connection, row, sequence))?;
    if place.lost {
        step.rows.iter().try_for_each(|row| lost::found(connection, row, sequence))?;
    }
    step.lost.iter().try_for_each(|row| lost::audited(connection, row, sequence))?;
    step.rescue.iter().try_for_each(|row| lost::fetched_again(connection, row, sequence))?;
    let visit = step.visit.as_ref().map(|row| visit(connection, row, sequence)).transpose()?;
    if let Some((id, new)) = &step.change {
        change(connection, *id, new, visit)?;
    }
    if let Some((id, row)) = &step.robots {
        robots(connection, *id, row)?;
    }
    if let Some((id, why)) = step.closed {
        close(connection, id, why)?;
    }
    Ok(())
}

fn host(connection: &Connection, row: &HostRow) -> Result<()> {
    let mut insert = connection.prepare_cached("INSERT INTO host (id, origin) VALUES (?, ?)")?;
    insert.execute(params![row.id.0, row.origin.as_str()]).map(|_| ())
}

pub(super) fn area(connection: &Connection, row: &AreaRow) -> Result<()> {
    let mut insert = connection.prepare_cached("INSERT OR IGNORE INTO area (url, source) VALUES (?, ?)")?;
    insert.execute(params![row.url, row.source.as_str()]).map(|_| ())
}

fn url(connection: &Connection, row: &UrlRow, sequence: u32) -> Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO url (id, host, url, key, fingerprint, hop, via, depth, redirects, rank, admitted_in, state, reason)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    let key = Some(row.key.as_str()).filter(|key| *key != row.url.as_str());
    insert
        .execute(params![
            row.id.0,
            row.host.0,
            row.url.as_str(),
            key,
            row.fingerprint.to_bytes(),
            row.hop.as_str(),
            row.via.map(|via| via.0),
            row.depth,
            row.redirects,
            row.rank,
            sequence,
            if row.abandoned.is_some() { "abandoned" } else { "queued" },
            row.abandoned.map(Abandonment::as_str),
        ])
        .map(|_| ())
}

fn visit(connection: &Connection, row: &VisitRow, sequence: u32) -> Result<i64> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO visit (url, sequence, fetched_at, outcome, status, reason, content_type, html, bytes, wire_bytes,
                            digest, title, redirect, truncated, links)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    let links: Vec<u8> = row.links.iter().flat_map(|link| link.to_be_bytes()).collect();
    insert.insert(params![
        row.url.0,
        sequence,
        row.at.millis(),
        row.outcome.as_str(),
        row.status,
        row.reason,
        row.content_type,
        row.html,
        row.bytes,
        row.wire_bytes,
        row.digest,
        row.title,
        row.redirect,
        row.truncated,
        links,
    ])
}

fn change(connection: &Connection, id: UrlId, change: &UrlChange, visit: Option<i64>) -> Result<()> {
    let changed = match change {
        UrlChange::Finished => connection
            .prepare_cached("UPDATE url SET state = 'finished', due = NULL, reason = NULL, visit = ? WHERE id = ?")?
            .execute(params![visit, id.0])?,
        UrlChange::Retry { attempts, due, reason } => connection
            .prepare_cached("UPDATE url SET attempts = ?, due = ?, reason = ? WHERE id = ?")?
            .execute(params![attempts, due.millis(), reason, id.0])?,
        UrlChange::Abandoned(why) => connection
            .prepare_cached("UPDATE url SET state = 'abandoned', due = NULL, reason = ? WHERE id = ?")?
            .execute(params![why.as_str(), id.0])?,
    };
    debug_assert_eq!(changed, 1, "a change names an admitted URL");
    Ok(())
}

fn robots(connection: &Connection, id: HostId, row: &RobotsRow) -> Result<()> {
    let mut update = connection.prepare_cached(
        "UPDATE host SET robots_status = ?, robots_body = ?, robots_fetched_at = ?, robots_first_failed = ?,
                         crawl_delay = ? WHERE id = ?",
    )?;
    let first_failed = row.first_failed.map(crate::time::Moment::millis);
    update
        .execute(params![row.status, row.body, row.fetched.millis(), first_failed, row.crawl_delay_millis, id.0])
        .map(|_| ())
}

fn close(connection: &Connection, id: HostId, why: Abandonment) -> Result<()> {
    let mut update = connection.prepare_cached(
        "UPDATE url SET state = 'abandoned', due = NULL, reason = ? WHERE host = ? AND state = 'queued'",
    )?;
    update.execute(params![why.as_str(), id.0]).map(|_| ())
}
