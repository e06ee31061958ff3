//! What was last reported of each page, where there is anything to remember.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};

use crate::{
    changes::{Condition, Doubt, Standing},
    time::Moment,
};

/// Reads that of a page; `None` where nothing is remembered.
pub(super) fn load(connection: &Connection, url: i64) -> Result<Option<Standing>> {
    let mut select = connection.prepare_cached(
        "SELECT good, earlier, condition, doubt, doubted_since, restless, flaps, calm, volatile, orphaned
         FROM page_state WHERE url = ?",
    )?;
    select.query_row([url], standing).optional()
}

/// That of a page; one of which nothing is remembered has just this copy.
pub(super) fn of(connection: &Connection, url: i64, copy: Option<i64>) -> Result<Standing> {
    Ok(load(connection, url)?.unwrap_or(Standing::of(copy)))
}

/// Writes it. A page that has a copy and nothing else to be remembered needs no row.
pub(super) fn save(connection: &Connection, url: i64, standing: &Standing) -> Result<()> {
    if standing.is_plain() {
        let unneeded =
            "DELETE FROM page_state WHERE url = ? AND moved_from IS NULL AND moved_to IS NULL AND masks IS NULL";
        connection.prepare_cached(unneeded)?.execute([url])?;
        let stays = connection.prepare_cached("SELECT 1 FROM page_state WHERE url = ?")?.exists([url])?;
        if !stays {
            return Ok(());
        }
    }
    put(connection, url, standing)
}

/// Writes it into a row in any case.
pub(super) fn put(connection: &Connection, url: i64, standing: &Standing) -> Result<()> {
    let mut upsert = connection.prepare_cached(
        "INSERT INTO page_state (url, good, earlier, condition, doubt, doubted_since, restless, flaps, calm, volatile, orphaned)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
         ON CONFLICT DO UPDATE SET good = ?2, earlier = ?3, condition = ?4, doubt = ?5, doubted_since = ?6, restless = ?7,
             flaps = ?8, calm = ?9, volatile = ?10, orphaned = ?11",
    )?;
    let (doubt, since) = standing.doubt.unzip();
    let values = params![
        url,
        standing.good,
        standing.earlier,
        standing.condition.as_str(),
        doubt.map(Doubt::as_str),
        since.map(Moment::millis),
        standing.restless,
        standing.flaps,
        standing.calm,
        standing.volatile,
        standing.orphaned,
    ];
    upsert.execute(values).map(|_| ())
}

/// Notes the visit whose change waits for a second look, if one does.
pub(super) fn wait(connection: &Connection, url: i64, visit: Option<i64>) -> Result<()> {
    let update = "UPDATE page_state SET unsure = ?1 WHERE url = ?2 AND unsure IS NOT ?1";
    connection.prepare_cached(update)?.execute(params![visit, url]).map(|_| ())
}

fn standing(row: &Row<'_>) -> Result<Standing> {
    let (condition, doubt): (String, Option<String>) = (row.get(2)?, row.get(3)?);
    let since = Moment::from_millis(row.get::<_, Option<u64>>(4)?.unwrap_or_default());
    Ok(Standing {
        good: row.get(0)?,
        earlier: row.get(1)?,
        condition: Condition::from_word(&condition),
        doubt: doubt.as_deref().and_then(Doubt::from_word).map(|doubt| (doubt, since)),
        restless: row.get(5)?,
        flaps: row.get(6)?,
        calm: row.get(7)?,
        volatile: row.get(8)?,
        orphaned: row.get(9)?,
    })
}
