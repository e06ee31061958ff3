//! What is reported of each look.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Result, params};

use super::{Finder, looks, moves, noise::NoiseBook, sections::SectionBoilerplate, standings};
use crate::{
    changes::{Change, Difference, LookOutcome, Occasion, Reported},
    time::Moment,
};

/// Reports what the looks found, and site-wide edits.
pub(super) fn report(finder: &Finder<'_>, sections: &SectionBoilerplate) -> Result<()> {
    let (connection, sequence) = (finder.connection, finder.current.sequence);
    let first = first_of_pass(connection)?;
    each_look(finder)?;
    resolve_moves(finder, sections)?;
    fold_volatile(finder, first)?;
    let mut edits = connection.prepare("SELECT hash, pages, visit FROM temp.edit ORDER BY hash")?;
    let mut edits = edits.query([])?;
    while let Some(row) = edits.next()? {
        site_wide(finder, row.get(0)?, row.get(1)?, row.get(2)?)?;
    }
    note_alike(connection, first)?;
    let lines = "INSERT OR REPLACE INTO site_wide (line, sequence) SELECT hash, ?1 FROM temp.line
                 WHERE pages >= ?2 AND EXISTS (SELECT 1 FROM temp.edit)";
    connection.execute(lines, params![sequence, finder.rules.site_wide_pages])?;
    connection.execute("DELETE FROM site_wide WHERE sequence < ? - 1", [sequence])?;
    Ok(())
}

fn each_look(finder: &Finder<'_>) -> Result<()> {
    let (connection, rules) = (finder.connection, finder.rules);
    // The next round is soon enough to settle a doubt of many pages; a page that is visited between rounds is not.
    let mass_after = if finder.current.revisited { rules.confirm } else { Duration::ZERO };
    // Other bytes of the same text are reported at once: they wait where the text differs too, in what all pages of a section have.
    let bytes = LookOutcome::There(Difference::Bytes).code();
    let mut select = connection.prepare(&format!(
        "SELECT look.visit, look.url, look.at, look, mass, mark, visit.redirect, visit.before,
                unsure AND NOT (look = {bytes} AND lines = x''), since
         FROM temp.look JOIN visit ON visit.id = look.visit ORDER BY look.visit",
    ))?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let (visit, url): (i64, i64) = (row.get(0)?, row.get(1)?);
        let at = Moment::from_millis(row.get(2)?);
        let look = looks::read(row, 3)?;
        let (confirm, gone_after) = (rules.confirm, rules.gone_after);
        // What has stayed was seen three times.
        let since: Option<i64> = row.get(9)?;
        let [mass, unsure] = [row.get(4)?, row.get(8)?].map(|doubted: bool| doubted && since.is_none());
        let occasion = Occasion { at, visit, mass, unsure, confirm, gone_after, mass_after };
        let mut standing = standings::of(connection, url, row.get(7)?)?;
        let reported = standing.look(look, &occasion);
        standings::save(connection, url, &standing)?;
        if standing.good != Some(visit) {
            looks::restore_waiting(connection, url)?;
        }
        let waits = standing.doubt.is_some();
        if !waits || matches!(look, LookOutcome::There(_)) {
            standings::wait(connection, url, waits.then_some(visit))?;
        }
        let redirect = row.get_ref(6)?.as_str_or_null()?;
        // What is shown in the place of a page is known again at the next one.
        if look == LookOutcome::Replaced && redirect.is_none() {
            let wall = "UPDATE page_state SET wall = ? WHERE url = ?";
            connection.prepare_cached(wall)?.execute(params![row.get::<_, Option<Vec<u8>>>(5)?, url])?;
        }
        for change in reported {
            let change = Reported { before: since.or(change.before), ..change };
            page(finder, url, at, change, redirect)?;
        }
    }
    Ok(())
}

/// The changes that are reported in this pass have this number, or a higher one.
fn first_of_pass(connection: &Connection) -> Result<i64> {
    connection.query_row("SELECT coalesce(max(id), 0) + 1 FROM change", [], |row| row.get(0))
}

/// Where many pages are found to be all noise at once, one line says so, with their number.
fn fold_volatile(finder: &Finder<'_>, first: i64) -> Result<()> {
    let (connection, least) = (finder.connection, finder.rules.site_wide_pages);
    let noise = looks::codes([Difference::AllNoise, Difference::Bytes, Difference::Unknown].map(LookOutcome::There));
    let rows = format!(
        "change WHERE id >= {first} AND change = 'volatile' AND url IN (SELECT url FROM temp.look WHERE look IN ({noise}))"
    );
    let count = format!("SELECT count(*), min(id) FROM {rows}");
    let (pages, kept): (u32, Option<i64>) = connection.query_row(&count, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if least == 0 || pages < least {
        return Ok(());
    }
    connection.execute(&format!("DELETE FROM {rows} AND id <> ?"), [kept])?;
    connection.execute("UPDATE change SET count = ? WHERE id = ?", params![pages, kept]).map(|_| ())
}

/// Notes which links lead elsewhere, and which changes of this pass are nearly the same: the same edit, pages of a section
/// that cannot be seen, that have other bytes and the same text, or that moved into one.
fn note_alike(connection: &Connection, first: i64) -> Result<()> {
    let links = "UPDATE change SET links = look.links FROM temp.look WHERE look.url = change.url AND look.links IS NOT NULL AND change.id >= ?
                 AND change IN ('changed_text', 'reverted', 'site_wide')";
    connection.execute(links, [first])?;
    let update = "UPDATE change SET alike = CASE WHEN change IN ('unreachable', 'reachable', 'changed') THEN look.section ELSE coalesce(look.alike, 0) END
                  FROM temp.look WHERE look.url = change.url AND change.id >= ?1
                  AND (change IN ('changed_text', 'reverted', 'unreachable', 'reachable', 'moved') OR (change = 'changed' AND look = ?2))";
    let bytes = LookOutcome::There(Difference::Bytes).code();
    connection.execute(update, params![first, bytes]).map(|_| ())
}

/// Reports a change of a page; not what is reported with another page. Of one that may have moved there nothing was reported yet: it
/// is reported with the copy that it has when that is known, or as new when there is something else to report.
fn page(finder: &Finder<'_>, url: i64, at: Moment, reported: Reported, redirected: Option<&str>) -> Result<()> {
    let (from, to) = marks(finder.connection, url)?;
    if let Some(from) = from {
        match reported.change {
            Change::New | Change::Changed | Change::ChangedText | Change::Reverted => return Ok(()),
            _ => new_after_all(finder, from, url, (reported.before, at))?,
        }
    }
    match reported.change {
        Change::Gone if to.is_some() => {
            let target = address(finder.connection, to)?;
            write(
                finder,
                Some(url),
                at,
                Reported { change: Change::Moved, after: good(finder.connection, to)?, ..reported },
                target.as_deref(),
            )
        }
        _ => write(finder, Some(url), at, reported, redirected.filter(|_| reported.change == Change::Moved)),
    }
}

/// Where a page is likely to have come from, and to have gone to.
fn marks(connection: &Connection, url: i64) -> Result<(Option<i64>, Option<i64>)> {
    let mut select = connection.prepare_cached("SELECT moved_from, moved_to FROM page_state WHERE url = ?")?;
    Ok(select.query_row([url], |row| Ok((row.get(0)?, row.get(1)?))).optional()?.unwrap_or_default())
}

fn address(connection: &Connection, url: Option<i64>) -> Result<Option<String>> {
    connection.prepare_cached("SELECT url FROM url WHERE id = ?")?.query_row([url], |row| row.get(0)).optional()
}

fn good(connection: &Connection, url: Option<i64>) -> Result<Option<i64>> {
    let good = standings::load(connection, url.unwrap_or_default())?;
    Ok(good.and_then(|standing| standing.good))
}

/// New pages whose likely old address is known to be gone are reported with that, and with an edit since it was seen there; those
/// whose old address is there after all are new.
fn resolve_moves(finder: &Finder<'_>, sections: &SectionBoilerplate) -> Result<()> {
    let mut select = finder.connection.prepare(
        "SELECT new.url, new.good, new.earlier, old.url, old.good, old.condition, old.doubt, visit.fetched_at
         FROM page_state AS new JOIN page_state AS old ON old.url = new.moved_from JOIN visit ON visit.id = new.good
         ORDER BY new.url",
    )?;
    let mut book: Option<NoiseBook> = None;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let (new, after, old, before): (i64, Option<i64>, i64, Option<i64>) =
            (row.get(0)?, row.get(1)?, row.get(3)?, row.get(4)?);
        let at = Moment::from_millis(row.get(7)?);
        let book = match &mut book {
            Some(book) => book,
            None => book.insert(NoiseBook::read(finder.connection, false)?),
        };
        let is_gone = matches!(row.get_ref(5)?.as_str()?, "gone" | "moved");
        if is_gone {
            let was_edited = row.get::<_, Option<i64>>(2)?.is_some();
            part(finder.connection, old, new)?;
            if moves::is_edited((finder, book), sections, [before, after], was_edited)? {
                write(finder, Some(new), at, Reported { change: Change::ChangedText, before, after }, None)?;
            }
        } else if row.get_ref(6)?.as_str_or_null()?.is_none() {
            new_after_all(finder, old, new, (after, at))?;
        }
    }
    Ok(())
}

/// Reports a page as new, with this copy, that is not the one it was likely to be.
fn new_after_all(finder: &Finder<'_>, old: i64, new: i64, (copy, at): (Option<i64>, Moment)) -> Result<()> {
    part(finder.connection, old, new)?;
    write(finder, Some(new), at, Reported { change: Change::New, before: None, after: copy }, None)
}

/// Forgets that one page is likely to be the other.
fn part(connection: &Connection, old: i64, new: i64) -> Result<()> {
    connection.execute("UPDATE page_state SET moved_from = NULL WHERE url = ?", [new])?;
    connection.execute("UPDATE page_state SET moved_to = NULL WHERE url = ?", [old])?;
    for url in [new, old] {
        if let Some(standing) = standings::load(connection, url)? {
            standings::save(connection, url, &standing)?;
        }
    }
    Ok(())
}

/// Writes a change down.
pub(super) fn write(
    finder: &Finder<'_>,
    url: Option<i64>,
    at: Moment,
    reported: Reported,
    target: Option<&str>,
) -> Result<()> {
    let mut insert = finder.connection.prepare_cached(
        "INSERT INTO change (sequence, at, url, change, before, after, before_text, after_text, target)
         SELECT ?1, ?2, ?3, iif(?4 = 'changed_text' AND b.digest IS a.digest, 'reverted', ?4), b.digest, a.digest, b.text, a.text, ?7
         FROM (SELECT 1) LEFT JOIN visit AS b ON b.id = ?5 LEFT JOIN visit AS a ON a.id = ?6",
    )?;
    let values = params![
        finder.current.sequence,
        at.millis(),
        url,
        reported.change.as_str(),
        reported.before,
        reported.after,
        target
    ];
    insert.execute(values).map(|_| ())
}

/// Reports a site-wide edit once; more pages that have it are counted.
fn site_wide(finder: &Finder<'_>, edit: i64, pages: u64, visit: Option<i64>) -> Result<()> {
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
