//! The robots.txt of each host is watched as its pages are.

use rusqlite::{Result, params};
use sha2::{Digest, Sha256};

use super::Finder;
use crate::changes::Change;

/// Reports which of them are others. One that could not be read says nothing; one that is not there is empty.
pub(super) fn report(finder: &Finder<'_>) -> Result<()> {
    let connection = finder.connection;
    let mut select = connection.prepare(
        "SELECT id, origin, coalesce(robots_body, x''), robots_seen, robots_fetched_at FROM host
         WHERE robots_fetched_at IS NOT NULL AND robots_first_failed IS NULL",
    )?;
    let mut rows = select.query([])?;
    let mut others = Vec::new();
    while let Some(row) = rows.next()? {
        let now: [u8; 32] = Sha256::digest(row.get_ref(2)?.as_blob().unwrap_or_default()).into();
        let seen: Option<[u8; 32]> = row.get(3)?;
        if seen != Some(now) {
            let (id, origin, at): (i64, String, u64) = (row.get(0)?, row.get(1)?, row.get(4)?);
            others.push((id, origin, seen, now, at));
        }
    }
    for (id, origin, seen, now, at) in others {
        connection.prepare_cached("UPDATE host SET robots_seen = ? WHERE id = ?")?.execute(params![now, id])?;
        let Some(seen) = seen.filter(|_| !finder.current.is_without_copies()) else { continue };
        let mut insert = connection.prepare_cached(
            "INSERT INTO change (sequence, at, address, change, before, after) VALUES (?, ?, ?, ?, ?, ?)",
        )?;
        let address = format!("{origin}/robots.txt");
        insert.execute(params![finder.current.sequence, at, address, Change::ChangedText.as_str(), seen, now])?;
    }
    Ok(())
}
