//! Too much at once: hosts and sections where so many pages changed or vanished that something is probably wrong with them.
//!
//! At the end of a sequence all pages were looked at, and their share counts. Between sequences only pages that are likely to have changed
//! are looked at, so only those that vanished count.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Result, params};

use super::{Finder, looks, places, standings};
use crate::changes::LookOutcome;

/// Pages of a place that must have been looked at before a share of them means anything.
const FEWEST: u32 = 10;

/// What is seen of a host or section.
#[derive(Debug, Default)]
struct Place {
    looked: u32,
    /// Pages that changed or vanished.
    sudden: u32,
}

/// By the hash of a host or section.
type Places = HashMap<i64, Place>;

/// Who hears of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Telling {
    /// The log has a warning.
    Warn,
    /// It is found out, and not said yet.
    Nobody,
}

/// Marks the looks at pages of hosts and sections in which too much changed at once.
pub(super) fn mark(finder: &Finder<'_>, (from, to): (i64, i64), telling: Telling) -> Result<()> {
    let (connection, most) = (finder.connection, finder.rules.mass_share);
    if most >= 1.0 {
        return Ok(());
    }
    mark_sudden(finder)?;
    let mut found = places(connection, most)?;
    if found.is_empty() {
        return Ok(());
    }
    count_looks(connection, &mut found, (from, to))?;
    found.retain(|_, place| place.looked >= FEWEST && f64::from(place.sudden) > most * f64::from(place.looked));
    mark_places(connection, &found)?;
    if telling == Telling::Warn
        && let Some((hash, Place { sudden: pages, .. })) = found.iter().max_by_key(|(_, place)| place.sudden)
    {
        let example = example(connection, *hash)?.unwrap_or_default();
        tracing::warn!(
            pages,
            example,
            "more than {} of the pages of a host or section changed or vanished at once: the changes are reported \
             after a second look (change.mass_share)",
            most
        );
    }
    Ok(())
}

/// Marks the looks that count.
fn mark_sudden(finder: &Finder<'_>) -> Result<()> {
    let connection = finder.connection;
    let mut select = connection.prepare(
        "SELECT look.visit, look, look.url, visit.before FROM temp.look JOIN visit ON visit.id = look.visit
         ORDER BY look.visit",
    )?;
    let mut update = connection.prepare("UPDATE temp.look SET sudden = 1 WHERE visit = ?")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let look = looks::read(row, 1)?;
        let counts = !finder.current.revisited || !matches!(look, LookOutcome::There(_));
        if counts && standings::of(connection, row.get(2)?, row.get(3)?)?.is_sudden(&look) {
            update.execute([row.get::<_, i64>(0)?])?;
        }
    }
    Ok(())
}

/// The places in which so many looks count as may be too much.
fn places(connection: &Connection, most: f64) -> Result<Places> {
    let mut select = connection.prepare(
        "SELECT host, count(*) FROM temp.look WHERE sudden GROUP BY host HAVING count(*) > ?1
         UNION ALL
         SELECT section, count(*) FROM temp.look WHERE sudden AND section <> host GROUP BY section HAVING count(*) > ?1",
    )?;
    let place = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, Place { sudden: row.get(1)?, ..Place::default() }));
    select.query_map([most * f64::from(FEWEST)], place)?.collect()
}

/// Counts the pages of these places that were looked at.
fn count_looks(connection: &Connection, places: &mut Places, (from, to): (i64, i64)) -> Result<()> {
    let visits = "SELECT url.url FROM visit CROSS JOIN url ON url.id = visit.url WHERE visit.id > ? AND visit.id <= ?";
    let mut select = connection.prepare(visits)?;
    let mut rows = select.query([from, to])?;
    while let Some(row) = rows.next()? {
        let [host, section] = places::places(row.get_ref(0)?.as_str()?);
        for place in [Some(host), Some(section).filter(|section| *section != host)].into_iter().flatten() {
            if let Some(place) = places.get_mut(&place) {
                place.looked += 1;
            }
        }
    }
    Ok(())
}

/// Marks the looks at pages of these places.
fn mark_places(connection: &Connection, places: &Places) -> Result<()> {
    if places.is_empty() {
        return Ok(());
    }
    let mut select = connection.prepare("SELECT visit, host, section FROM temp.look ORDER BY visit")?;
    let mut update = connection.prepare("UPDATE temp.look SET mass = 1 WHERE visit = ?")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        if places.contains_key(&row.get(1)?) || places.contains_key(&row.get(2)?) {
            update.execute([row.get::<_, i64>(0)?])?;
        }
    }
    Ok(())
}

/// A page of a place that changed or vanished.
fn example(connection: &Connection, place: i64) -> Result<Option<String>> {
    let first = "SELECT url.url FROM temp.look JOIN url ON url.id = look.url
                 WHERE sudden AND ? IN (look.host, section) ORDER BY look.visit LIMIT 1";
    connection.query_row(first, params![place], |row| row.get(0)).optional()
}
