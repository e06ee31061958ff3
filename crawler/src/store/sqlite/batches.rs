//! Rows for readers that may take long over each of them: no transaction is open while a row is shown.
//!
//! An open transaction keeps the write-ahead log of a running crawl from being reused, so the log grows. A list in the order of a key is
//! therefore read in batches, each in a transaction of its own; any other list is written to a temporary table first.

use rusqlite::{Connection, Params, Result, Row};

use super::moment::of_one_moment;

/// Rows that are read at once.
pub(super) const BATCH: usize = 256;

/// Shows what `batch` reads behind a key, with the keys, in batches of [`BATCH`], until that is all, or `each` answers `false`.
pub(super) fn by_key<T>(
    connection: &Connection,
    mut batch: impl FnMut(u64) -> Result<Vec<(u64, T)>>,
    mut each: impl FnMut(T) -> Result<bool>,
) -> Result<()> {
    let mut behind = 0;
    loop {
        let rows = of_one_moment(connection, || batch(behind))?;
        let is_last = rows.len() < BATCH;
        for (key, row) in rows {
            behind = key;
            if !each(row)? {
                return Ok(());
            }
        }
        if is_last {
            return Ok(());
        }
    }
}

/// Shows each row of a query that no key puts in order, until `each` answers `false`.
pub(super) fn of_query(
    connection: &Connection,
    query: &str,
    params: impl Params,
    mut each: impl FnMut(&Row<'_>) -> Result<bool>,
) -> Result<()> {
    // One that was not shown to its end is still there.
    connection.execute_batch("DROP TABLE IF EXISTS temp.listed")?;
    let create = format!("CREATE TEMP TABLE listed AS {query}");
    of_one_moment(connection, || connection.prepare(&create)?.execute(params))?;
    let mut select = connection.prepare("SELECT * FROM temp.listed ORDER BY rowid")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        if !each(row)? {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
