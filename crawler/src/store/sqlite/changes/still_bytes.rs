//! Sections in which bytes have come to rest.

use std::collections::HashSet;

use rusqlite::{Connection, Result};

use super::places::places;

/// Those of these sections in which a page had the bytes at one of these visits that it had before.
pub(super) fn sections(connection: &Connection, (from, to): (i64, i64), of: &[i64]) -> Result<HashSet<i64>> {
    let mut still = HashSet::new();
    if of.is_empty() {
        return Ok(still);
    }
    let mut select = connection.prepare(
        "SELECT url.url FROM visit CROSS JOIN url ON url.id = visit.url
         WHERE visit.id > ? AND visit.id <= ? AND visit.change = 'unchanged'",
    )?;
    let mut rows = select.query([from, to])?;
    while let Some(row) = rows.next()? {
        still.insert(places(row.get_ref(0)?.as_str()?)[1]);
    }
    still.retain(|section| of.contains(section));
    Ok(still)
}
