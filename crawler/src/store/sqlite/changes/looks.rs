//! What each look found, kept in a temporary table.

use rusqlite::{Connection, Error, OptionalExtension, Result, Row, params};
use sha2::{Digest, Sha256};

use super::{
    super::schema,
    Finder, learnt,
    noise::{LookedPage, NoiseBook},
    page_links,
    places::places,
    standings, texts,
};
use crate::{
    changes::{ChangedLines, Difference, LinkEdit, LookOutcome, Standing, Way, digest, shown_mark, shrunk},
    text::Text,
};

/// Changes of a page whose copies before are known.
const KNOWN: i64 = 3;

/// Makes the tables of a pass.
pub(super) fn prepare(connection: &Connection) -> Result<()> {
    connection.execute_batch(schema::INDICES_OF_CHANGES)?;
    connection.execute_batch(
        "CREATE TEMP TABLE IF NOT EXISTS look (
             visit INTEGER PRIMARY KEY, url INTEGER NOT NULL, at INTEGER NOT NULL,
             host INTEGER NOT NULL, section INTEGER NOT NULL, -- hashes
             look INTEGER NOT NULL,    -- Look::code
             mark BLOB, good_mark BLOB,-- what pages share that show the same: now, and before
             lines BLOB,               -- what changed
             links TEXT,               -- those that lead elsewhere
             alike INTEGER,            -- the same for changes that are nearly the same
             unsure INTEGER NOT NULL,  -- 1: there was no second look yet
             since INTEGER,            -- the visit before what is reported appeared, if that is not the last
             sudden INTEGER NOT NULL DEFAULT 0, -- 1: it is doubted where there is much of it at once
             mass INTEGER NOT NULL DEFAULT 0    -- 1: there is
         );
         CREATE TEMP TABLE IF NOT EXISTS line (hash INTEGER PRIMARY KEY, pages INTEGER NOT NULL);
         CREATE TEMP TABLE IF NOT EXISTS edit (
             hash INTEGER PRIMARY KEY, pages INTEGER NOT NULL,
             visit INTEGER,            -- a look at a page that has it
             known INTEGER NOT NULL,   -- 1: it was reported lately
             sure INTEGER NOT NULL     -- 1: a page that has it was looked at twice
         );
         CREATE TEMP TABLE IF NOT EXISTS clue (
             hash INTEGER NOT NULL,    -- of the address, the text or a part of the SimHash that a page is known by
             url INTEGER NOT NULL,
             bits INTEGER, words INTEGER, -- the SimHash
             PRIMARY KEY (hash, url)
         ) WITHOUT ROWID;
         CREATE INDEX IF NOT EXISTS temp.clue_of_url ON clue (url);
         CREATE TEMP TABLE IF NOT EXISTS waited (
             url INTEGER PRIMARY KEY,
             masks TEXT NOT NULL       -- those of a page with lines of which it is not known whether they stay
         );
         DELETE FROM temp.look; DELETE FROM temp.line; DELETE FROM temp.edit; DELETE FROM temp.clue; DELETE FROM temp.waited;",
    )
}

/// Forgets them.
pub(super) fn clear(connection: &Connection) -> Result<()> {
    connection.execute_batch(
        "DROP TABLE temp.look; DROP TABLE temp.line; DROP TABLE temp.edit; DROP TABLE temp.clue; DROP TABLE temp.waited",
    )
}

/// Whether any page may have lost a link.
pub(super) fn any_changed(connection: &Connection) -> Result<bool> {
    let any = "SELECT EXISTS (SELECT 1 FROM temp.look LEFT JOIN page_state ON page_state.url = look.url
                              WHERE look <> ? OR coalesce(condition, 'there') <> 'there')";
    connection.query_row(any, [LookOutcome::There(Difference::None).code()], |row| row.get(0))
}

/// Reads a look of a row.
pub(super) fn read(row: &Row<'_>, column: usize) -> Result<LookOutcome> {
    let code = row.get(column)?;
    LookOutcome::of_code(code).ok_or(Error::IntegralValueOutOfRange(column, code))
}

/// The numbers of looks, as a list of SQL.
pub(super) fn codes<const LOOKS: usize>(looks: [LookOutcome; LOOKS]) -> String {
    looks.map(|look| look.code().to_string()).join(", ")
}

/// A visit that is looked at.
struct Visit<'a> {
    id: i64,
    url: i64,
    outcome: String,
    status: Option<u16>,
    digest: Option<[u8; 32]>,
    text: Option<i64>,
    redirect: Option<String>,
    /// Whether its body was cut short by the network, which says nothing of the page.
    is_cut: bool,
    /// The visit whose change waits for this look.
    unsure: Option<i64>,
    page: LookedPage<'a>,
}

/// What was found.
struct Found {
    look: LookOutcome,
    mark: Option<[u8; 32]>,
    good_mark: Option<[u8; 32]>,
    lines: ChangedLines,
    /// Links that lead elsewhere, as they are kept with a change.
    links: Option<String>,
    /// The same for changes that are nearly the same.
    alike: Option<u64>,
    /// Whether there was no second look yet.
    unsure: bool,
    /// The visit before what is reported appeared, if that is not the last.
    since: Option<i64>,
}

impl Found {
    /// This look, and nothing that pages share.
    fn plain(look: LookOutcome) -> Self {
        Self {
            look,
            mark: None,
            good_mark: None,
            lines: ChangedLines::default(),
            links: None,
            alike: None,
            unsure: false,
            since: None,
        }
    }
}

/// Looks at the visits behind `from`, up to `to`: all that found something new, and those of pages of which something is
/// remembered.
pub(super) fn gather(finder: &Finder<'_>, (from, to): (i64, i64), book: &mut NoiseBook) -> Result<()> {
    let connection = finder.connection;
    let mut select = connection.prepare(
        "SELECT visit.id, visit.url, visit.outcome, visit.status, visit.digest, visit.text, visit.redirect, visit.before,
                visit.truncated, url.url, visit.fetched_at, unsure
         FROM visit CROSS JOIN url ON url.id = visit.url LEFT JOIN page_state ON page_state.url = visit.url
         WHERE visit.id > ? AND visit.id <= ?
           AND (visit.change IS NOT 'unchanged' AND (visit.outcome = 'stored' OR visit.before IS NOT NULL)
                OR page_state.url IS NOT NULL)
         ORDER BY visit.id",
    )?;
    let mut rows = select.query([from, to])?;
    while let Some(row) = rows.next()? {
        let address = row.get_ref(9)?.as_str()?;
        let visit = visit(row, LookedPage::of(row.get(1)?, address))?;
        let standing = standings::of(connection, visit.url, row.get(7)?)?;
        let found = look(finder, &visit, &standing, book)?;
        keep(connection, &visit, row.get(10)?, &found)?;
    }
    Ok(())
}

fn visit<'a>(row: &Row<'_>, page: LookedPage<'a>) -> Result<Visit<'a>> {
    Ok(Visit {
        page,
        unsure: row.get(11)?,
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

fn look(finder: &Finder<'_>, visit: &Visit<'_>, standing: &Standing, book: &mut NoiseBook) -> Result<Found> {
    let look = match (&*visit.outcome, visit.status) {
        ("stored", _) if visit.is_cut => return Ok(Found::plain(LookOutcome::Cut)),
        ("stored", _) => return there(finder, visit, standing, book),
        ("redirected", _) => LookOutcome::Redirected,
        ("broken", Some(404)) => LookOutcome::Missing { for_good: false },
        ("broken", Some(410)) => LookOutcome::Missing { for_good: true },
        _ => LookOutcome::Unreachable,
    };
    let mark = visit.redirect.as_deref().map(redirect_mark);
    let alike = visit
        .redirect
        .as_deref()
        .map(|target| (visit.page.section() ^ places(target)[1].rotate_left(1)).cast_unsigned());
    Ok(Found { mark, alike, good_mark: copy(finder.connection, standing.good)?.0, ..Found::plain(look) })
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

fn there(finder: &Finder<'_>, visit: &Visit<'_>, standing: &Standing, book: &mut NoiseBook) -> Result<Found> {
    let connection = finder.connection;
    let (good_digest, good_text) = copy(connection, standing.good)?;
    if good_digest == visit.digest && standing.good.is_some() {
        return same(finder, visit, standing, book, (Difference::None, true));
    }
    let now = texts::placed(connection, visit.text)?;
    let before = texts::placed(connection, good_text)?;
    let (Some((rule, now)), Some((rule_before, before))) = (&now, &before) else {
        return unknown(finder, visit, standing, (now.map(|(_, text)| text), good_digest));
    };
    if rule != rule_before {
        return unknown(finder, visit, standing, (None, good_digest));
    }
    let second_text = learnt::second_look(connection, visit.url, visit.id)?.and_then(|second| second.text);
    // There are two looks at what the page says now: this one was followed by another one shortly, or a change waits for it.
    let second = visit.unsure.is_some() || second_text.is_some();
    // Elements that are left out may be all that differs.
    let has_selectors = finder.rules.ignore.selectors().next().is_some();
    let shows_all = now == before && !has_selectors;
    let [now, before] = [now, before].map(|text| finder.rules.ignore.apply(text));
    // Links may be in elements that are left out.
    let mut links = if has_selectors { Vec::new() } else { page_links::edits(connection, standing.good, visit.id)? };
    links.retain(|edit| finder.rules.ignore.keeps_all() || now.as_str().contains(&*edit.text));
    if now == before && links.is_empty() {
        if !shows_all {
            // What is ignored is the difference, so there is none.
            return same(finder, visit, standing, book, (Difference::None, false));
        }
        // Where the text is the same by chance, so is none of the bytes.
        let moves = second_text.is_some_and(|(other, text)| other == *rule && finder.rules.ignore.apply(&text) != now);
        let is_noise = book.bytes_moved(connection, visit.page)? || moves;
        let difference = if is_noise { Difference::Noise } else { Difference::Bytes };
        let found = same(finder, visit, standing, book, (difference, false))?;
        return Ok(Found { unsure: !second && finder.looks_twice(), ..found });
    }
    keep_waiting(connection, visit.url)?;
    let judged = book.look(finder, (visit.page, visit.id, standing), (&before, &now), &links, second)?;
    if !judged.differs {
        if let Some(since) = judged.stayed {
            return stayed(finder, visit, since, &links);
        }
        let noise = if judged.is_whole { Difference::AllNoise } else { Difference::Noise };
        return Ok(Found::plain(LookOutcome::There(noise)));
    }
    let way = way(finder, visit, (&before, &now), book)?;
    let look = LookOutcome::There(Difference::Text(way));
    let unsure = !second && finder.looks_twice();
    let masks = book.of(connection, visit.page)?;
    // A page that showed nothing is as good as any other.
    let (mark, good_mark) = (shown_mark(&now, &masks), Some(shown_mark(&before, &masks).unwrap_or_default()));
    let links = page_links::kept(connection, &judged.links)?;
    Ok(Found {
        mark,
        good_mark,
        lines: judged.lines,
        links,
        alike: Some(judged.alike),
        unsure,
        since: judged.stayed,
        ..Found::plain(look)
    })
}

/// Keeps what is remembered of a page with lines that wait, in case that this look says nothing of them.
fn keep_waiting(connection: &Connection, url: i64) -> Result<()> {
    let keep = "INSERT OR REPLACE INTO temp.waited SELECT url, masks FROM page_state
                WHERE url = ? AND masks IS NOT NULL AND masks NOT LIKE '%\"waiting\":[]%'";
    connection.prepare_cached(keep)?.execute([url]).map(|_| ())
}

/// What is not taken for the page, as it is in doubt or in the place of many, says nothing of its lines that wait.
pub(super) fn restore_waiting(connection: &Connection, url: i64) -> Result<()> {
    let restore = "UPDATE page_state SET masks = waited.masks FROM temp.waited
                   WHERE waited.url = page_state.url AND page_state.url = ?";
    connection.prepare_cached(restore)?.execute([url]).map(|_| ())
}

/// Whether a text that differs is smaller, or again one that the page had.
fn way(finder: &Finder<'_>, visit: &Visit<'_>, (before, now): (&Text, &Text), book: &NoiseBook) -> Result<Way> {
    if shrunk(before, now) {
        return Ok(Way::Shrunk);
    }
    let known_text = (before != now).then_some((now, book));
    Ok(if is_known(finder, visit, known_text)? { Way::Back } else { Way::Onwards })
}

/// A page with the text that it had. What appeared where things move, and stays, is reported.
fn same(
    finder: &Finder<'_>,
    visit: &Visit<'_>,
    standing: &Standing,
    book: &mut NoiseBook,
    (difference, same_bytes): (Difference, bool),
) -> Result<Found> {
    match book.same_text(finder, visit.page, standing, same_bytes)? {
        Some(since) => stayed(finder, visit, since, &[]),
        None => Ok(Found::plain(LookOutcome::There(difference))),
    }
}

/// What appeared where things move after a visit, and stays; a link too, if it is none of those that `moved` now.
fn stayed(finder: &Finder<'_>, visit: &Visit<'_>, since: i64, moved: &[LinkEdit]) -> Result<Found> {
    let mut links = page_links::edits(finder.connection, Some(since), visit.id)?;
    links.retain(|edit| finder.rules.ignore.keeps_all() && moved.iter().all(|moved| moved.text != edit.text));
    let links = page_links::kept(finder.connection, &links)?;
    let look = LookOutcome::There(Difference::Text(Way::Onwards));
    Ok(Found { since: Some(since), links, ..Found::plain(look) })
}

/// Where texts cannot be compared, the bytes are all there is. A page that is new has a text, by which it may be found to
/// be one that moved.
fn unknown(
    finder: &Finder<'_>,
    visit: &Visit<'_>,
    standing: &Standing,
    (text, good_digest): (Option<Text>, Option<[u8; 32]>),
) -> Result<Found> {
    // What has the bytes that it had has the text that it had.
    let known = is_known(finder, visit, None)?;
    let difference = if known { Difference::Text(Way::Back) } else { Difference::Unknown };
    let text = text.filter(|_| standing.good.is_none()).map(|text| digest(&finder.rules.ignore.apply(&text)));
    let mark = text.or(visit.digest);
    let unsure = standing.good.is_none() && finder.looks_twice();
    Ok(Found { unsure, mark, good_mark: good_digest, ..Found::plain(LookOutcome::There(difference)) })
}

/// Whether a copy is one of those before the last changes that were reported of the page, by its text or its bytes.
fn is_known(finder: &Finder<'_>, visit: &Visit<'_>, now: Option<(&Text, &NoiseBook)>) -> Result<bool> {
    let (connection, ignore) = (finder.connection, &finder.rules.ignore);
    let mut select = connection.prepare_cached(
        "SELECT before, before_text FROM change
         WHERE url = ? AND change IN ('changed', 'changed_text', 'reverted', 'volatile')
           AND (before_text IS NULL OR before_text IS NOT after_text OR links <> '[]')
         ORDER BY id DESC LIMIT ?",
    )?;
    let mut rows = select.query([visit.url, KNOWN])?;
    while let Some(row) = rows.next()? {
        let has_its_text = match now {
            Some((now, book)) => match texts::placed(connection, row.get(1)?)? {
                Some((_, text)) => book.left(connection, visit.page, &ignore.apply(&text), now)?,
                None => false,
            },
            None => false,
        };
        if has_its_text || row.get::<_, Option<[u8; 32]>>(0)? == visit.digest {
            return Ok(true);
        }
    }
    Ok(false)
}

fn keep(connection: &Connection, visit: &Visit<'_>, at: i64, found: &Found) -> Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO temp.look (visit, url, at, host, section, look, mark, good_mark, lines, links, alike, unsure, since)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    let lines = found.lines.to_bytes();
    insert.execute(params![
        visit.id,
        visit.url,
        at,
        visit.page.host(),
        visit.page.section(),
        found.look.code(),
        found.mark,
        found.good_mark,
        lines,
        found.links,
        found.alike.map(u64::cast_signed),
        found.unsure,
        found.since,
    ])?;
    Ok(())
}
