//! The sequences of a crawl as its database has them.

use rusqlite::{Connection, Result, Row};

use crate::store::sqlite::schema;

/// What rows still say of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowsLeft {
    /// All of it.
    All,
    /// It began with what was known, and another came after it: what it admitted cannot be known any more.
    PastKnown,
    /// Its visits are forgotten.
    Forgotten,
}

/// What a sequence says of itself.
pub(super) struct Sequence {
    pub(super) number: u32,
    pub(super) counters: String,
    pub(super) exact: bool,
    pub(super) rows: RowsLeft,
    /// Whether a sweep proves it.
    pub(super) swept: bool,
}

/// All of them, the last one last.
pub(super) fn sequences(connection: &Connection) -> Result<Vec<Sequence>> {
    let forgotten = if schema::has_forgotten_column(connection)? {
        "n < (SELECT visit.sequence FROM crawl CROSS JOIN visit ON visit.id > forgotten_to ORDER BY visit.id LIMIT 1)"
    } else {
        "0"
    };
    let mut select = connection.prepare(&format!(
        "SELECT n, counters, exact, swept IS NOT NULL, revisit IS NOT NULL AND n < (SELECT max(n) FROM sequence),
             pruned IS NOT NULL AND (revisit IS NULL OR coalesce({forgotten}, 0))
         FROM sequence ORDER BY n",
    ))?;
    let sequence = |row: &Row<'_>| {
        Ok(Sequence {
            number: row.get(0)?,
            counters: row.get(1)?,
            exact: row.get(2)?,
            swept: row.get(3)?,
            rows: match (row.get(4)?, row.get(5)?) {
                (_, true) => RowsLeft::Forgotten,
                (true, false) => RowsLeft::PastKnown,
                (false, false) => RowsLeft::All,
            },
        })
    };
    select.query_map([], sequence)?.collect()
}
