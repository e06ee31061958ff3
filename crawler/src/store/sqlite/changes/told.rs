//! What is told of each look.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Result, params};

use super::{Finder, judged, judged::SharedEdits, standings};
use crate::{
    changes::{Change, Occasion, Told},
    time::Moment,
};

/// Tells what the looks found, and site-wide edits.
pub(super) fn tell(finder: &Finder<'_>, edits: &SharedEdits) -> Result<()> {
    each_look(finder)?;
    resolve_moves(finder)?;
    for (edit, (pages, visit)) in edits {
        site_wide(finder, *edit, *pages, *visit)?;
    }
    if !edits.is_empty() {
        finder.connection.execute(
            "INSERT OR REPLACE INTO site_wide (line, sequence) SELECT hash, ?1 FROM temp.line WHERE pages >= ?2",
            params![finder.current.sequence, finder.rules.site_wide_pages],
        )?;
    }
    finder.connection.execute("DELETE FROM site_wide WHERE sequence < ? - 1", [finder.current.sequence])?;
    Ok(())
}

fn each_look(finder: &Finder<'_>) -> Result<()> {
    let connection = finder.connection;
    let mut select = connection.prepare(
        "SELECT look.visit, look.url, look.at, found, difference, way, sudden, look.moved_to, mark, visit.before
         FROM temp.look JOIN visit ON visit.id = look.visit ORDER BY look.visit",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let (visit, url): (i64, i64) = (row.get(0)?, row.get(1)?);
        let words: (String, Option<String>, Option<String>) = (row.get(3)?, row.get(4)?, row.get(5)?);
        let look = judged::look(visit, &words.0, words.1.as_deref(), words.2.as_deref());
        let mut standing = standings::of(connection, url, row.get(9)?)?;
        let at = Moment::from_millis(row.get(2)?);
        let rules = finder.rules;
        // The next round is soon enough to settle a doubt of many pages; a page that is visited between rounds is not.
        let mass_after = if finder.current.revisited { rules.confirm } else { Duration::ZERO };
        let mass = row.get(6)?;
        let occasion = Occasion { at, mass, confirm: rules.confirm, gone_after: rules.gone_after, mass_after };
        let told = standing.look(look, &occasion);
        standings::save(connection, url, &standing)?;
        // What stands in the place of a page is known again at the next one.
        if words.0 == "unreachable" && words.1.is_some() {
            let wall = "UPDATE standing SET wall = ? WHERE url = ?";
            connection.prepare_cached(wall)?.execute(params![row.get::<_, Option<Vec<u8>>>(8)?, url])?;
        }
        for told in told {
            page(finder, url, at, told, row.get_ref(7)?.as_str_or_null()?)?;
        }
    }
    Ok(())
}

/// Tells a change of a page; not what is told with another page.
fn page(finder: &Finder<'_>, url: i64, at: Moment, told: Told, redirected: Option<&str>) -> Result<()> {
    let (from, to) = marks(finder.connection, url)?;
    match told.change {
        // With the copy that it has once it is known whether it is new or moved.
        Change::New | Change::Changed | Change::ChangedText | Change::Reverted if from.is_some() => Ok(()),
        Change::Gone if to.is_some() => {
            let target = address(finder.connection, to)?;
            write(
                finder,
                Some(url),
                at,
                Told { change: Change::Moved, after: good(finder.connection, to)?, ..told },
                target.as_deref(),
            )
        }
        _ => write(finder, Some(url), at, told, redirected.filter(|_| told.change == Change::Moved)),
    }
}

/// Where a page is likely to have come from, and to have gone to.
fn marks(connection: &Connection, url: i64) -> Result<(Option<i64>, Option<i64>)> {
    let mut select = connection.prepare_cached("SELECT moved_from, moved_to FROM standing WHERE url = ?")?;
    Ok(select.query_row([url], |row| Ok((row.get(0)?, row.get(1)?))).optional()?.unwrap_or_default())
}

fn address(connection: &Connection, url: Option<i64>) -> Result<Option<String>> {
    connection.prepare_cached("SELECT url FROM url WHERE id = ?")?.query_row([url], |row| row.get(0)).optional()
}

fn good(connection: &Connection, url: Option<i64>) -> Result<Option<i64>> {
    let good = standings::load(connection, url.unwrap_or_default())?;
    Ok(good.and_then(|standing| standing.good))
}

/// A new page with its copy, the old one with its condition and doubt, and when the new one was seen.
type Move = (i64, i64, i64, String, Option<String>, u64);

/// New pages whose likely old address is known to be gone are told with that; those whose old address is there after all are
/// new.
fn resolve_moves(finder: &Finder<'_>) -> Result<()> {
    let connection = finder.connection;
    let mut select = connection.prepare(
        "SELECT new.url, new.good, old.url, old.condition, old.doubt, visit.fetched_at
         FROM standing AS new JOIN standing AS old ON old.url = new.moved_from JOIN visit ON visit.id = new.good",
    )?;
    let read =
        |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?));
    let likely: Vec<Move> = select.query_map([], read)?.collect::<Result<_>>()?;
    for (new, visit, old, condition, doubt, at) in likely {
        let moved = matches!(&*condition, "gone" | "moved");
        if !moved && doubt.is_some() {
            continue;
        }
        connection.execute("UPDATE standing SET moved_from = NULL WHERE url = ?", [new])?;
        connection.execute("UPDATE standing SET moved_to = NULL WHERE url = ?", [old])?;
        for url in [new, old] {
            if let Some(standing) = standings::load(connection, url)? {
                standings::save(connection, url, &standing)?;
            }
        }
        if !moved {
            let told = Told { change: Change::New, before: None, after: Some(visit) };
            write(finder, Some(new), Moment::from_millis(at), told, None)?;
        }
    }
    Ok(())
}

/// Writes a change down.
pub(super) fn write(finder: &Finder<'_>, url: Option<i64>, at: Moment, told: Told, target: Option<&str>) -> Result<()> {
    let mut insert = finder.connection.prepare_cached(
        "INSERT INTO change (sequence, at, url, change, before, after, before_text, after_text, target)
         SELECT ?1, ?2, ?3, iif(?4 = 'changed_text' AND b.digest IS a.digest, 'reverted', ?4), b.digest, a.digest, b.text, a.text, ?7
         FROM (SELECT 1) LEFT JOIN visit AS b ON b.id = ?5 LEFT JOIN visit AS a ON a.id = ?6",
    )?;
    let values =
        params![finder.current.sequence, at.millis(), url, told.change.as_str(), told.before, told.after, target];
    insert.execute(values).map(|_| ())
}

/// Tells a site-wide edit once; more pages that have it are counted.
fn site_wide(finder: &Finder<'_>, edit: u64, pages: u64, visit: i64) -> Result<()> {
    if pages == 0 {
        return Ok(());
    }
    let edit = edit.cast_signed();
    let mut update = finder
        .connection
        .prepare_cached("UPDATE change SET count = count + ?1 WHERE edit = ?2 AND sequence >= ?3 - 1")?;
    if update.execute(params![pages, edit, finder.current.sequence])? > 0 {
        return Ok(());
    }
    let mut insert = finder.connection.prepare_cached(
        "INSERT INTO change (sequence, at, url, change, before, after, before_text, after_text, count, edit)
         SELECT ?1, look.at, look.url, 'site_wide', b.digest, visit.digest, b.text, visit.text, ?2, ?3
         FROM temp.look JOIN visit ON visit.id = look.visit LEFT JOIN visit AS b ON b.id = visit.before
         WHERE look.visit = ?4",
    )?;
    insert.execute(params![finder.current.sequence, pages, edit, visit]).map(|_| ())
}
