//! What each look found, kept in a temporary table.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};
use sha2::{Digest, Sha256};
use xxhash_rust::xxh3::xxh3_64;

use super::{Finder, standings, texts};
use crate::{
    changes::{ChangedLines, Standing, digest, edits, shrunk},
    text::Text,
};

/// Lines of a page that are counted: one that changed more is told by itself.
const MOST_LINES: usize = 2_000;

/// Makes the tables of a pass.
pub(super) fn prepare(connection: &Connection) -> Result<()> {
    connection.execute_batch(
        "CREATE TEMP TABLE IF NOT EXISTS look (
             visit INTEGER PRIMARY KEY, url INTEGER NOT NULL, host INTEGER NOT NULL, section INTEGER NOT NULL,
             at INTEGER NOT NULL,
             found TEXT NOT NULL,      -- there, redirected, missing, gone, unreachable, cut
             difference TEXT,          -- of what is there: none, bytes, unknown, text, site_wide
             way TEXT,                 -- of a text: onwards, back, shrunk
             mark BLOB, good_mark BLOB,-- what pages share that show the same: now, and before
             lines BLOB,               -- what changed
             moved_to TEXT,
             sudden INTEGER NOT NULL DEFAULT 0
         );
         CREATE TEMP TABLE IF NOT EXISTS line (hash INTEGER PRIMARY KEY, pages INTEGER NOT NULL);
         DELETE FROM temp.look; DELETE FROM temp.line;",
    )
}

/// Forgets them.
pub(super) fn clear(connection: &Connection) -> Result<()> {
    connection.execute_batch("DROP TABLE temp.look; DROP TABLE temp.line")
}

/// Whether any page may have lost a link.
pub(super) fn any_changed(connection: &Connection) -> Result<bool> {
    let any = "SELECT EXISTS (SELECT 1 FROM temp.look LEFT JOIN standing ON standing.url = look.url
                              WHERE difference IS NOT 'none' OR coalesce(condition, 'there') <> 'there')";
    connection.query_row(any, [], |row| row.get(0))
}

/// The section of a page: its host and the first folder of its path.
pub(super) fn section(url: &str) -> u64 {
    let host = url.find("://").map_or(0, |at| at + 3);
    let path = url.find(['?', '#']).unwrap_or(url.len());
    let ends: Vec<_> = url[..path].match_indices('/').map(|(at, _)| at).filter(|at| *at >= host).take(2).collect();
    xxh3_64(ends.last().map_or(url, |end| &url[..*end]).as_bytes())
}

/// A visit that is looked at.
struct Visit {
    id: i64,
    url: i64,
    outcome: String,
    status: Option<u16>,
    digest: Option<[u8; 32]>,
    text: Option<i64>,
    redirect: Option<String>,
    /// Whether its body was cut short by the network, which says nothing of the page.
    is_cut: bool,
}

/// What was found, besides where.
#[derive(Default)]
struct Found {
    what: &'static str,
    difference: Option<&'static str>,
    way: Option<&'static str>,
    mark: Option<[u8; 32]>,
    good_mark: Option<[u8; 32]>,
    lines: ChangedLines,
}

/// Looks at the visits behind `from`, up to `to`: all that found something new, and those of pages of which something is
/// remembered.
pub(super) fn gather(finder: &Finder<'_>, from: i64, to: i64) -> Result<()> {
    let connection = finder.connection;
    let mut select = connection.prepare(
        "SELECT visit.id, visit.url, visit.outcome, visit.status, visit.digest, visit.text, visit.redirect, visit.before,
                visit.truncated, url.url, url.host, visit.fetched_at
         FROM visit CROSS JOIN url ON url.id = visit.url
         WHERE visit.id > ? AND visit.id <= ?
           AND (visit.change IS NOT 'unchanged' AND (visit.outcome = 'stored' OR visit.before IS NOT NULL)
                OR EXISTS (SELECT 1 FROM standing WHERE standing.url = visit.url))
         ORDER BY visit.id",
    )?;
    let mut rows = select.query([from, to])?;
    while let Some(row) = rows.next()? {
        let visit = visit(row)?;
        let standing = standings::of(connection, visit.url, row.get(7)?)?;
        let address: String = row.get(9)?;
        let found = look(finder, &visit, &standing)?;
        let place = (row.get::<_, i64>(10)?, section(&address), row.get::<_, i64>(11)?);
        keep(connection, &visit, place, &found)?;
    }
    Ok(())
}

fn visit(row: &Row<'_>) -> Result<Visit> {
    Ok(Visit {
        id: row.get(0)?,
        url: row.get(1)?,
        outcome: row.get(2)?,
        status: row.get(3)?,
        digest: row.get(4)?,
        text: row.get(5)?,
        redirect: row.get(6)?,
        is_cut: matches!(row.get_ref(8)?.as_str_or_null()?, Some("disconnect" | "time" | "slow")),
    })
}

fn look(finder: &Finder<'_>, visit: &Visit, standing: &Standing) -> Result<Found> {
    let found = match (&*visit.outcome, visit.status) {
        ("stored", _) if visit.is_cut => return Ok(Found { what: "cut", ..Found::default() }),
        ("stored", _) => return there(finder, visit, standing),
        ("redirected", _) => "redirected",
        ("broken", Some(404)) => "missing",
        ("broken", Some(410)) => "gone",
        _ => "unreachable",
    };
    let mark = visit.redirect.as_deref().map(redirect_mark);
    Ok(Found { what: found, mark, good_mark: copy(finder.connection, standing.good)?.0, ..Found::default() })
}

/// What pages share that are redirected to the same.
pub(super) fn redirect_mark(target: &str) -> [u8; 32] {
    Sha256::digest(target).into()
}

/// Digest and text of a visit.
fn copy(connection: &Connection, visit: Option<i64>) -> Result<(Option<[u8; 32]>, Option<i64>)> {
    let mut select = connection.prepare_cached("SELECT digest, text FROM visit WHERE id = ?")?;
    let found = select.query_row([visit], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    Ok(found.unwrap_or_default())
}

fn there(finder: &Finder<'_>, visit: &Visit, standing: &Standing) -> Result<Found> {
    let connection = finder.connection;
    let (good_digest, good_text) = copy(connection, standing.good)?;
    let plain = |difference| Found { what: "there", difference: Some(difference), ..Found::default() };
    let now = texts::load(connection, visit.text)?;
    if good_digest == visit.digest && standing.good.is_some() {
        return Ok(plain("none"));
    }
    let before = texts::load(connection, good_text)?;
    let (Some((rule, now)), Some((rule_before, before))) = (&now, &before) else {
        return unknown(finder, visit, standing, (now.map(|(_, text)| text), good_digest));
    };
    if rule != rule_before {
        return unknown(finder, visit, standing, (None, good_digest));
    }
    // Elements that are left out may be all that differs.
    let shows_all = now == before && finder.rules.ignore.selectors().next().is_none();
    let [now, before] = [now, before].map(|text| finder.rules.ignore.apply(text));
    if now == before {
        // What is ignored is the difference, so there is none.
        return Ok(plain(if shows_all { "bytes" } else { "none" }));
    }
    let way = if shrunk(&before, &now) {
        "shrunk"
    } else if is_earlier(finder, standing, &now)? {
        "back"
    } else {
        "onwards"
    };
    let lines = ChangedLines::of(&edits(&before, &now), MOST_LINES);
    let (mark, good_mark) = (Some(digest(&now)), Some(digest(&before)));
    Ok(Found { way: Some(way), mark, good_mark, lines, ..plain("text") })
}

/// Where texts cannot be compared, the bytes are all there is. A page that is new has a text, by which it may be found to
/// be one that moved.
fn unknown(
    finder: &Finder<'_>,
    visit: &Visit,
    standing: &Standing,
    (text, good_digest): (Option<Text>, Option<[u8; 32]>),
) -> Result<Found> {
    let (earlier, _) = copy(finder.connection, standing.earlier)?;
    let back = earlier.is_some() && earlier == visit.digest;
    let text = text.filter(|_| standing.good.is_none()).map(|text| digest(&finder.rules.ignore.apply(&text)));
    Ok(Found {
        what: "there",
        difference: Some("unknown"),
        way: back.then_some("back"),
        mark: text.or(visit.digest),
        good_mark: good_digest,
        ..Found::default()
    })
}

/// Whether a text is that before the last change.
fn is_earlier(finder: &Finder<'_>, standing: &Standing, now: &Text) -> Result<bool> {
    let (_, text) = copy(finder.connection, standing.earlier)?;
    let earlier = texts::load(finder.connection, text)?;
    Ok(earlier.is_some_and(|(_, earlier)| finder.rules.ignore.apply(&earlier) == *now))
}

fn keep(connection: &Connection, visit: &Visit, (host, section, at): (i64, u64, i64), found: &Found) -> Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO temp.look (visit, url, host, section, at, found, difference, way, mark, good_mark, lines, moved_to)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    insert.execute(params![
        visit.id,
        visit.url,
        host,
        section.cast_signed(),
        at,
        found.what,
        found.difference,
        found.way,
        found.mark,
        found.good_mark,
        found.lines.to_bytes(),
        visit.redirect,
    ])?;
    Ok(())
}
