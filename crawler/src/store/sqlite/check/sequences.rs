//! The sequences of a crawl as its database has them.

use rusqlite::{Connection, Result, Row};

/// What a sequence says of itself.
pub(super) struct Sequence {
    pub(super) number: u32,
    pub(super) counters: String,
    pub(super) exact: bool,
    /// Whether it began with what was known, and another came after it: what it admitted cannot be known any more.
    pub(super) is_past_known: bool,
    /// Whether its visits are forgotten: what it admitted cannot be known either.
    pub(super) is_forgotten: bool,
    /// Whether a sweep proves it.
    pub(super) swept: bool,
}

/// All of them, the last one last.
pub(super) fn sequences(connection: &Connection) -> Result<Vec<Sequence>> {
    let mut select = connection.prepare(
        "SELECT n, counters, exact, swept IS NOT NULL, revisit IS NOT NULL AND n < (SELECT max(n) FROM sequence),
             revisit IS NULL AND pruned IS NOT NULL
         FROM sequence ORDER BY n",
    )?;
    let sequence = |row: &Row<'_>| {
        Ok(Sequence {
            number: row.get(0)?,
            counters: row.get(1)?,
            exact: row.get(2)?,
            swept: row.get(3)?,
            is_past_known: row.get(4)?,
            is_forgotten: row.get(5)?,
        })
    };
    select.query_map([], sequence)?.collect()
}
