//! Queued rows that are beyond a limit of a section: they are never due, until they are queued again.

use std::collections::BTreeMap;

use rusqlite::{Connection, Result, params};

use super::current::Current;
use crate::{
    candidate::HostId,
    queue::{BEYOND_LIMIT, Nearer},
};

/// When they are due.
pub(super) const HELD: i64 = 1 << 53;

/// Holds a row.
pub(super) fn hold(connection: &Connection, id: u64, current: Current) -> Result<usize> {
    let mut update = connection.prepare_cached(
        "UPDATE url SET admitted_in = ?, state = 'queued', attempts = 0, due = ?, failed_at = NULL, reason = ? WHERE id = ?",
    )?;
    update.execute(params![current.sequence, HELD, BEYOND_LIMIT, id])
}

/// Queues all of them again; how many of each host and depth.
pub(super) fn lift(connection: &Connection, current: Current) -> Result<Vec<Nearer>> {
    let mut update = connection.prepare(
        "UPDATE url INDEXED BY url_retry SET due = NULL, reason = NULL
         WHERE state = 'queued' AND admitted_in = ? AND due = ? RETURNING host, depth",
    )?;
    let mut rows = update.query(params![current.sequence, HELD])?;
    let mut lifted = BTreeMap::<(u32, u32), u64>::new();
    while let Some(row) = rows.next()? {
        *lifted.entry((row.get(0)?, row.get(1)?)).or_default() += 1;
    }
    let nearer = |((host, depth), rows)| Nearer { host: HostId(host), depth, rows };
    Ok(lifted.into_iter().map(nearer).collect())
}
