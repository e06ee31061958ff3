//! Judges looks together: edits that many pages share, one text in the place of many.

use std::collections::BTreeSet;

use rusqlite::{Connection, Result, params};

use super::{Finder, looks, mass::Telling, sections::SectionBoilerplate, texts};
use crate::changes::{Boilerplate, ChangedLines, Difference, LookOutcome, Shared, Way, shown_mark, shrunk};

/// Pages that newly show the same make it no page of theirs: a log-in, an error, a notice.
const WALL: u32 = 5;

/// Pages that were not looked at now and are asked for what they show, at most.
const MOST_EARLIER: usize = 1_000;

const UNKNOWN: LookOutcome = LookOutcome::There(Difference::Unknown);
const ONWARDS: LookOutcome = LookOutcome::There(Difference::Text(Way::Onwards));
const BACK: LookOutcome = LookOutcome::There(Difference::Text(Way::Back));
const SHRUNK: LookOutcome = LookOutcome::There(Difference::Text(Way::Shrunk));

/// Judges all looks, but for whether there is too much at once; the site-wide edits that are to be reported are in `temp.edit`.
pub(super) fn judge(finder: &Finder<'_>, sections: &SectionBoilerplate, telling: Telling) -> Result<()> {
    walls(finder)?;
    count_lines(finder.connection)?;
    count_edits(finder, sections, telling)?;
    judge_texts(finder, sections)?;
    shrunk_main_texts(finder, sections)
}

/// Counts on how many pages each line changed.
fn count_lines(connection: &Connection) -> Result<()> {
    let mut count = connection
        .prepare("INSERT INTO temp.line (hash, pages) VALUES (?, 1) ON CONFLICT DO UPDATE SET pages = pages + 1")?;
    each_text(connection, |_, _, changed| {
        changed.each_once().into_iter().try_for_each(|line| count.execute([line.cast_signed()]).map(|_| ()))
    })
}

/// Counts on how many pages each edit was made, and keeps those that are site-wide: also one that was reported lately, as a page that
/// is looked at later has it too. Before it is reported, a page that has it is looked at twice.
fn count_edits(finder: &Finder<'_>, sections: &SectionBoilerplate, telling: Telling) -> Result<()> {
    let connection = finder.connection;
    let known = "INSERT INTO temp.edit (hash, pages, known, sure)
                 SELECT DISTINCT edit, 0, 1, 1 FROM change WHERE edit IS NOT NULL AND sequence >= ? - 1";
    connection.execute(known, [finder.current.sequence])?;
    let mut count = connection.prepare(
        "INSERT INTO temp.edit (hash, pages, visit, known, sure)
         SELECT ?1, 1, visit, 0, NOT unsure FROM temp.look WHERE visit = ?2
         ON CONFLICT DO UPDATE SET pages = pages + 1, sure = max(sure, excluded.sure)",
    )?;
    each_edited(finder, sections, |visit, shared| {
        let parts: BTreeSet<u64> = shared.parts.into_iter().collect();
        parts.into_iter().try_for_each(|part| count.execute(params![part.cast_signed(), visit]).map(|_| ()))
    })?;
    let few = "DELETE FROM temp.edit WHERE pages = 0 OR ((pages < ?1 OR NOT (sure OR ?2)) AND NOT known)";
    connection.execute(few, params![finder.rules.site_wide_pages, telling == Telling::Nobody]).map(|_| ())
}

/// Takes from each changed text what is site-wide, and what is boilerplate.
fn judge_texts(finder: &Finder<'_>, sections: &SectionBoilerplate) -> Result<()> {
    let connection = finder.connection;
    each_edited(finder, sections, |visit, shared| {
        if is_own(connection, &shared)? {
            return Ok(());
        }
        let difference = if shared.parts.is_empty() { Difference::Bytes } else { Difference::SiteWide };
        // What has turned out to stay is the page's own, whatever else it shares.
        let update = "UPDATE temp.look SET look = ? WHERE visit = ? AND since IS NULL";
        connection.prepare_cached(update)?.execute([LookOutcome::There(difference).code(), visit]).map(|_| ())
    })
}

fn set_look(connection: &Connection, visit: i64, look: LookOutcome) -> Result<()> {
    let update = "UPDATE temp.look SET look = ? WHERE visit = ?";
    connection.prepare_cached(update)?.execute([look.code(), visit]).map(|_| ())
}

/// Notes which texts shrank but for their boilerplate.
fn shrunk_main_texts(finder: &Finder<'_>, sections: &SectionBoilerplate) -> Result<()> {
    let connection = finder.connection;
    let mut select = connection.prepare(
        "SELECT look.visit, look.section, now.text, good.text FROM temp.look JOIN visit AS now ON now.id = look.visit
         LEFT JOIN page_state ON page_state.url = look.url JOIN visit AS good ON good.id = coalesce(page_state.good, now.before)
         WHERE look = ? ORDER BY look.visit",
    )?;
    let mut rows = select.query([ONWARDS.code()])?;
    while let Some(row) = rows.next()? {
        let section = sections.get(&row.get(1)?);
        let Some(boilerplate) = section.filter(|boilerplate| !boilerplate.is_empty()) else { continue };
        let now = texts::load(connection, row.get(2)?)?;
        let Some(((_, now), (_, before))) = now.zip(texts::load(connection, row.get(3)?)?) else { continue };
        let [before, now] = [before, now].map(|text| boilerplate.main(&finder.rules.ignore.apply(&text)));
        if shrunk(&before, &now) {
            set_look(connection, row.get(0)?, SHRUNK)?;
        }
    }
    Ok(())
}

/// Shows what is left of each changed text, without the lines that many pages share.
fn each_edited(
    finder: &Finder<'_>,
    sections: &SectionBoilerplate,
    mut each: impl FnMut(i64, Shared) -> Result<()>,
) -> Result<()> {
    each_text(finder.connection, |visit, section, changed| {
        each(visit, without_shared(finder, changed, sections.get(&section))?)
    })
}

fn without_shared(finder: &Finder<'_>, changed: &ChangedLines, boilerplate: Option<&Boilerplate>) -> Result<Shared> {
    let least = finder.rules.site_wide_pages;
    let mut is_shared = finder.connection.prepare_cached(
        "SELECT 1 FROM temp.line WHERE hash = ?1 AND pages >= ?2 UNION ALL SELECT 1 FROM site_wide WHERE line = ?1",
    )?;
    let mut lines = BTreeSet::new();
    for line in if least == 0 { BTreeSet::new() } else { changed.each_once() } {
        if is_shared.exists(params![line.cast_signed(), least])? {
            lines.insert(line);
        }
    }
    Ok(changed.without(&lines, boilerplate))
}

/// Whether any of these changes of a page is its own: neither a site-wide edit nor boilerplate.
pub(super) fn any_own(finder: &Finder<'_>, changed: &ChangedLines, boilerplate: Option<&Boilerplate>) -> Result<bool> {
    is_own(finder.connection, &without_shared(finder, changed, boilerplate)?)
}

fn is_own(connection: &Connection, shared: &Shared) -> Result<bool> {
    let mut is_kept = connection.prepare_cached("SELECT 1 FROM temp.edit WHERE hash = ?")?;
    for part in &shared.parts {
        if !is_kept.exists([part.cast_signed()])? {
            return Ok(true);
        }
    }
    Ok(shared.own)
}

fn each_text(connection: &Connection, mut each: impl FnMut(i64, i64, &ChangedLines) -> Result<()>) -> Result<()> {
    let texts = looks::codes([ONWARDS, BACK, SHRUNK]);
    let query =
        format!("SELECT visit, section, lines FROM temp.look WHERE look IN ({texts}) AND lines <> x'' ORDER BY visit");
    let mut select = connection.prepare(&query)?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let changed = ChangedLines::from_bytes(row.get_ref(2)?.as_blob().unwrap_or_default());
        each(row.get(0)?, row.get(1)?, &changed)?;
    }
    Ok(())
}

/// What several pages show now that showed different things before is in the place of them. So is it where they are
/// redirected there, and where a page shows what was found to be such a thing before.
fn walls(finder: &Finder<'_>) -> Result<()> {
    let connection = finder.connection;
    let (there, redirected) = (looks::codes([UNKNOWN, ONWARDS, BACK, SHRUNK]), LookOutcome::Redirected.code());
    connection.execute_batch(&format!(
        "CREATE TEMP TABLE shown AS SELECT look = {redirected} AS redirected, mark, good_mark FROM temp.look
             WHERE look IN ({redirected}, {there}) AND mark IS NOT NULL AND good_mark IS NOT NULL"
    ))?;
    shown_earlier(finder)?;
    connection.execute_batch(&format!(
        "CREATE TEMP TABLE wall AS
             SELECT redirected, mark FROM temp.shown GROUP BY redirected, mark HAVING count(DISTINCT good_mark) >= {WALL}
             UNION SELECT 0, wall FROM page_state WHERE wall IS NOT NULL;
         CREATE INDEX temp.wall_of_mark ON wall (mark);
         UPDATE temp.look SET look = {replaced}
             WHERE look IN ({redirected}, {there}) AND good_mark IS NOT NULL AND mark IS NOT good_mark
               AND EXISTS (SELECT 1 FROM wall WHERE wall.mark = look.mark AND wall.redirected = (look.look = {redirected}));
         DROP TABLE wall; DROP TABLE shown",
        replaced = LookOutcome::Replaced.code(),
    ))
}

/// Adds what pages showed that wait for a second look or were reported of this sequence, and were not looked at now: they come in
/// small numbers between sequences.
fn shown_earlier(finder: &Finder<'_>) -> Result<()> {
    let connection = finder.connection;
    let mut select = connection.prepare(
        "SELECT last.outcome, last.redirect, last.text, good.text
         FROM page_state JOIN url ON url.id = page_state.url JOIN visit AS last ON last.id = url.visit
         JOIN visit AS good ON good.id = page_state.good
         WHERE doubt IN ('mass', 'shrunk') AND page_state.url NOT IN (SELECT url FROM temp.look)
         UNION ALL
         SELECT 'stored', NULL, after_text, before_text FROM change
         WHERE id > (SELECT max(id) FROM change) - ?2 AND sequence = ?1 AND change = 'changed_text'
           AND url NOT IN (SELECT url FROM temp.look)
         LIMIT ?2",
    )?;
    let mut insert = connection.prepare("INSERT INTO temp.shown VALUES (?, ?, ?)")?;
    let text = |text| -> Result<Option<[u8; 32]>> {
        Ok(texts::load(connection, text)?.and_then(|(_, text)| shown_mark(&finder.rules.ignore.apply(&text), &[])))
    };
    let mut rows = select.query(params![finder.current.sequence, MOST_EARLIER])?;
    while let Some(row) = rows.next()? {
        let (is_redirected, mark) = match row.get_ref(0)?.as_str()? {
            "stored" => (false, text(row.get(2)?)?),
            "redirected" => (true, Some(looks::redirect_mark(row.get_ref(1)?.as_str()?))),
            _ => continue,
        };
        if let Some(mark) = mark {
            insert.execute(params![is_redirected, mark, text(row.get(3)?)?.unwrap_or_default()])?;
        }
    }
    Ok(())
}
