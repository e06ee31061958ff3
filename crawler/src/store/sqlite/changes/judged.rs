//! What looks mean together: edits that many pages share, one text in the place of many.

use std::collections::{BTreeMap, HashSet};

use rusqlite::{Connection, Result, params};

use super::{
    Finder, looks, mass,
    texts::{self, Sections},
};
use crate::changes::{Boilerplate, ChangedLines, Difference, Look, Shared, Way, digest, shrunk};

/// Pages that newly show the same make it no page of theirs: a log-in, an error, a notice.
const WALL: u32 = 5;

/// Pages in doubt that are asked for what they show, at most.
const MOST_IN_DOUBT: usize = 1_000;

/// Edits that many pages share: by the hash of their shared part, how many pages have it, and the look at one of them.
pub(super) type SharedEdits = BTreeMap<u64, (u64, i64)>;

/// Judges all looks; returns the site-wide edits that are told.
pub(super) fn judge(finder: &Finder<'_>, sections: &Sections, (from, to): (i64, i64)) -> Result<SharedEdits> {
    walls(finder)?;
    count_lines(finder.connection)?;
    let edits = shared_edits(finder, sections)?;
    shrunk_main_texts(finder, sections)?;
    mass::mark(finder, from, to)?;
    Ok(edits)
}

/// The look that a row of the temporary table is.
pub(super) fn look(visit: i64, found: &str, difference: Option<&str>, way: Option<&str>) -> Look {
    match found {
        "there" => Look::There(visit, of_words(difference, way)),
        "redirected" => Look::Redirected,
        "missing" => Look::Missing { for_good: false },
        "gone" => Look::Missing { for_good: true },
        "cut" => Look::Cut,
        _ => Look::Unreachable,
    }
}

fn of_words(difference: Option<&str>, way: Option<&str>) -> Difference {
    let way = match way {
        Some("back") => Way::Back,
        Some("shrunk") => Way::Shrunk,
        _ => Way::Onwards,
    };
    match difference {
        Some("bytes") => Difference::Bytes,
        Some("text") => Difference::Text(way),
        Some("site_wide") => Difference::SiteWide,
        // What has the bytes that it had has the text that it had.
        Some("unknown") if way == Way::Back => Difference::Text(way),
        Some("unknown") => Difference::Unknown,
        _ => Difference::None,
    }
}

/// Counts on how many pages each line changed.
fn count_lines(connection: &Connection) -> Result<()> {
    let mut count = connection
        .prepare("INSERT INTO temp.line (hash, pages) VALUES (?, 1) ON CONFLICT DO UPDATE SET pages = pages + 1")?;
    each_text(connection, |_, _, changed| {
        changed.each_once().into_iter().try_for_each(|line| count.execute([line.cast_signed()]).map(|_| ()))
    })
}

/// Takes from each changed text what many pages share, and what is boilerplate.
fn shared_edits(finder: &Finder<'_>, sections: &Sections) -> Result<SharedEdits> {
    let lines = shared_lines(finder)?;
    let mut edits = known_edits(finder.connection, finder.current.sequence)?;
    let known: HashSet<u64> = edits.keys().copied().collect();
    let each = |each: &mut dyn FnMut(i64, Shared) -> Result<()>| {
        each_text(finder.connection, |visit, section, changed: &ChangedLines| {
            let boilerplate: Option<&Boilerplate> = sections.get(&section);
            each(visit, changed.without(|line| lines.contains(&line), boilerplate))
        })
    };
    each(&mut |visit, shared| {
        let parts: HashSet<u64> = shared.parts.into_iter().collect();
        for part in parts {
            edits.entry(part).or_insert((0, visit)).0 += 1;
        }
        Ok(())
    })?;
    let least = u64::from(finder.rules.site_wide_pages);
    edits.retain(|part, (pages, _)| *pages >= least || (known.contains(part) && *pages > 0));
    each(&mut |visit, shared| {
        let told = !shared.parts.is_empty() && shared.parts.iter().all(|part| edits.contains_key(part));
        let difference = match shared {
            Shared { own: true, .. } => return Ok(()),
            Shared { parts, .. } if parts.is_empty() => "bytes",
            Shared { .. } if told => "site_wide",
            Shared { .. } => return Ok(()),
        };
        let mut update = finder.connection.prepare_cached("UPDATE temp.look SET difference = ? WHERE visit = ?")?;
        update.execute(params![difference, visit]).map(|_| ())
    })?;
    Ok(edits)
}

/// Notes which texts shrank but for their boilerplate.
fn shrunk_main_texts(finder: &Finder<'_>, sections: &Sections) -> Result<()> {
    let connection = finder.connection;
    let mut select = connection.prepare(
        "SELECT look.visit, look.section, now.text, good.text FROM temp.look JOIN visit AS now ON now.id = look.visit
         LEFT JOIN standing ON standing.url = look.url JOIN visit AS good ON good.id = coalesce(standing.good, now.before)
         WHERE found = 'there' AND difference = 'text' AND way = 'onwards'",
    )?;
    let mut rows = select.query([])?;
    let mut visits: Vec<i64> = Vec::new();
    while let Some(row) = rows.next()? {
        let section = sections.get(&row.get::<_, i64>(1)?.cast_unsigned());
        let Some(boilerplate) = section.filter(|boilerplate| !boilerplate.is_empty()) else { continue };
        let now = texts::load(connection, row.get(2)?)?;
        let Some(((_, now), (_, before))) = now.zip(texts::load(connection, row.get(3)?)?) else { continue };
        let [before, now] = [before, now].map(|text| boilerplate.main(&finder.rules.ignore.apply(&text)));
        if shrunk(&before, &now) {
            visits.push(row.get(0)?);
        }
    }
    let mut update = connection.prepare("UPDATE temp.look SET way = 'shrunk' WHERE visit = ?")?;
    visits.into_iter().try_for_each(|visit| update.execute([visit]).map(|_| ()))
}

/// Lines that so many pages have changed as make an edit a site-wide one.
fn shared_lines(finder: &Finder<'_>) -> Result<HashSet<u64>> {
    let least = finder.rules.site_wide_pages;
    if least == 0 {
        return Ok(HashSet::new());
    }
    let known = "SELECT hash FROM temp.line WHERE pages >= ? UNION SELECT line FROM site_wide";
    let mut select = finder.connection.prepare(known)?;
    let lines = select.query_map([least], |row| row.get::<_, i64>(0))?;
    lines.map(|line| line.map(i64::cast_unsigned)).collect()
}

/// The edits that were told lately to be site-wide: a page that is looked at later has them too.
fn known_edits(connection: &Connection, sequence: u32) -> Result<SharedEdits> {
    let mut select = connection.prepare("SELECT edit FROM change WHERE edit IS NOT NULL AND sequence >= ? - 1")?;
    let edits = select.query_map([sequence], |row| row.get::<_, i64>(0))?;
    edits.map(|edit| edit.map(|edit| (edit.cast_unsigned(), (0, 0)))).collect()
}

fn each_text(connection: &Connection, mut each: impl FnMut(i64, u64, &ChangedLines) -> Result<()>) -> Result<()> {
    let query = "SELECT visit, section, lines FROM temp.look WHERE found = 'there' AND lines <> x'' ORDER BY visit";
    let mut select = connection.prepare(query)?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let changed = ChangedLines::from_bytes(row.get_ref(2)?.as_blob().unwrap_or_default());
        each(row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned(), &changed)?;
    }
    Ok(())
}

/// What several pages show now that showed different things before is in the place of them. So is it where they are
/// redirected there, and where a page shows what was found to be such a thing before.
fn walls(finder: &Finder<'_>) -> Result<()> {
    let connection = finder.connection;
    connection.execute_batch("CREATE TEMP TABLE shown AS SELECT found, difference, mark, good_mark FROM temp.look")?;
    in_doubt(finder)?;
    connection.execute_batch(&format!(
        "CREATE TEMP TABLE wall AS
             SELECT found, mark FROM temp.shown
             WHERE mark IS NOT NULL AND good_mark IS NOT NULL
               AND (found = 'redirected' OR (found = 'there' AND difference IN ('text', 'unknown')))
             GROUP BY found, mark HAVING count(DISTINCT good_mark) >= {WALL}
             UNION SELECT 'there', wall FROM standing WHERE wall IS NOT NULL;
         UPDATE temp.look SET found = 'unreachable'
             WHERE good_mark IS NOT NULL AND mark IS NOT good_mark AND difference IS NOT 'none'
               AND EXISTS (SELECT 1 FROM wall WHERE wall.found = look.found AND wall.mark = look.mark);
         DROP TABLE wall; DROP TABLE shown"
    ))
}

/// Adds what pages showed that wait for a second look, and were not looked at now: they come in small numbers between sequences.
fn in_doubt(finder: &Finder<'_>) -> Result<()> {
    let connection = finder.connection;
    let mut select = connection.prepare(
        "SELECT last.outcome, last.redirect, last.text, good.text
         FROM standing JOIN url ON url.id = standing.url JOIN visit AS last ON last.id = url.visit
         JOIN visit AS good ON good.id = standing.good
         WHERE doubt IN ('mass', 'shrunk') AND standing.url NOT IN (SELECT url FROM temp.look) LIMIT ?",
    )?;
    let mut insert = connection.prepare("INSERT INTO temp.shown VALUES (?, 'text', ?, ?)")?;
    let text = |text| -> Result<Option<[u8; 32]>> {
        Ok(texts::load(connection, text)?.map(|(_, text)| digest(&finder.rules.ignore.apply(&text))))
    };
    let mut rows = select.query([MOST_IN_DOUBT])?;
    while let Some(row) = rows.next()? {
        let before = text(row.get(3)?)?;
        match row.get_ref(0)?.as_str()? {
            "stored" => insert.execute(params!["there", text(row.get(2)?)?, before])?,
            "redirected" => {
                insert.execute(params!["redirected", looks::redirect_mark(row.get_ref(1)?.as_str()?), before])?
            }
            _ => 0,
        };
    }
    Ok(())
}
