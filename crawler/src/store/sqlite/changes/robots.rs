//! The robots.txt of each host is watched as its pages are.

use rusqlite::{Result, Row, params};
use sha2::{Digest, Sha256};

use super::{
    super::batches::{self, BATCH},
    Finder,
};
use crate::changes::Change;

/// Reports which of them are others. One that could not be read says nothing; one that is not there is empty.
pub(super) fn report(finder: &Finder<'_>) -> Result<()> {
    let connection = finder.connection;
    let mut select = connection.prepare(&format!(
        "SELECT id, coalesce(robots_body, x''), robots_seen FROM host
         WHERE robots_fetched_at IS NOT NULL AND robots_first_failed IS NULL AND id >= ? ORDER BY id LIMIT {BATCH}"
    ))?;
    let read = |row: &Row<'_>| {
        let id: u64 = row.get(0)?;
        let now: [u8; 32] = Sha256::digest(row.get_ref(1)?.as_blob().unwrap_or_default()).into();
        let seen: Option<[u8; 32]> = row.get(2)?;
        // Numbers of hosts begin with 0.
        Ok((id + 1, (id, seen, now)))
    };
    let batch = |next: u64| select.query_map([next], read)?.collect();
    batches::by_key(connection, batch, |(id, seen, now)| {
        if seen == Some(now) {
            return Ok(true);
        }
        connection.prepare_cached("UPDATE host SET robots_seen = ? WHERE id = ?")?.execute(params![now, id])?;
        let Some(seen) = seen.filter(|_| !finder.current.is_without_copies()) else { return Ok(true) };
        let mut insert = connection.prepare_cached(
            "INSERT INTO change (sequence, at, address, change, before, after)
             SELECT ?, robots_fetched_at, origin || '/robots.txt', ?, ?, ? FROM host WHERE id = ?",
        )?;
        insert.execute(params![finder.current.sequence, Change::ChangedText.as_str(), seen, now, id])?;
        Ok(true)
    })
}
