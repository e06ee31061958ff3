//! Too much at once: where so many pages of a host or section changed or vanished that it is more likely that something is
//! wrong with it.
//!
//! At the end of a sequence all pages were looked at, and their share tells. Between sequences those are looked at that are
//! likely to have changed, so a change counts as far as it is a surprise by the page's own past; and where they are few, the
//! looks before them count with them, so that trouble that comes in small numbers is seen as well.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use rusqlite::{Connection, OptionalExtension, Result, params};

use super::{Finder, judged, looks, standings};
use crate::{
    changes::{Look, expected_changes},
    time::Moment,
};

/// Pages of a place that must have been looked at before a share of them means anything.
const FEWEST: u64 = 10;

/// Changes that were seen within this time count as at once, where they were not seen together.
const AT_ONCE: Duration = Duration::from_hours(1);

/// Earlier visits that are searched for looks at a place.
const MOST_EARLIER: u32 = 1_000;

/// Changes of a page by which it is judged how often it changes: the last ones.
const PAST: u32 = 8;

/// What is seen of a host or section.
#[derive(Debug, Default)]
struct Place {
    looked: u64,
    vanished: u64,
    /// How much of a surprise the changes were, and how much of one is to be expected in any case.
    changed: f64,
    expected: f64,
    /// A page that changed or vanished now.
    example: String,
    /// How many did.
    pages: u64,
}

/// How a look counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Vanished,
    Changed,
    Calm,
}

/// By the hash of a host or section.
type Places = HashMap<u64, Place>;

/// Marks the looks at pages of hosts and sections in which too much changed at once, and says so.
pub(super) fn mark(finder: &Finder<'_>, from: i64, to: i64) -> Result<()> {
    let most = finder.rules.mass_share;
    let sudden = sudden(finder.connection)?;
    if most >= 1.0 || sudden.is_empty() {
        return Ok(());
    }
    let mut places = Places::new();
    for (_, url) in sudden.values() {
        for place in of(url) {
            let found = places.entry(place).or_insert_with(|| Place { example: url.clone(), ..Place::default() });
            found.pages += 1;
        }
    }
    count_looks(finder, &mut places, &sudden, (from, to))?;
    if finder.current.revisited {
        earlier_looks(finder.connection, &mut places, from)?;
    }
    places.retain(|_, place| place.is_too_much(most));
    mark_places(finder.connection, &places.keys().copied().collect())?;
    if let Some(Place { pages, example, .. }) = places.values().max_by_key(|place| place.pages) {
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

impl Place {
    /// Counts a look, at a page that was as likely as this to have changed. A change is as much of a surprise as it was unlikely,
    /// so that by chance p it is p (1 - p).
    fn add(&mut self, kind: Kind, likely: f64) {
        self.looked += 1;
        self.vanished += u64::from(kind == Kind::Vanished);
        self.changed += if kind == Kind::Changed { 1.0 - likely } else { 0.0 };
        self.expected += likely * (1.0 - likely);
    }

    /// That a page vanished is always a surprise: what changes often is there.
    fn is_too_much(&self, most: f64) -> bool {
        let surprise = self.vanished as f64 + (self.changed - self.expected).max(0.0);
        self.looked >= FEWEST && surprise > most * self.looked as f64
    }
}

/// Looks that found what is doubted where there is much of it at once, by their visits, with their URLs.
fn sudden(connection: &Connection) -> Result<HashMap<i64, (Kind, String)>> {
    let mut found = HashMap::new();
    let mut select = connection.prepare(
        "SELECT look.visit, found, difference, way, look.url, visit.before, url.url
         FROM temp.look JOIN visit ON visit.id = look.visit JOIN url ON url.id = look.url",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let words: (String, Option<String>, Option<String>) = (row.get(1)?, row.get(2)?, row.get(3)?);
        let look = judged::look(row.get(0)?, &words.0, words.1.as_deref(), words.2.as_deref());
        let standing = standings::of(connection, row.get(4)?, row.get(5)?)?;
        if standing.is_sudden(&look) {
            let kind = if matches!(look, Look::There(..)) { Kind::Changed } else { Kind::Vanished };
            found.insert(row.get(0)?, (kind, row.get(6)?));
        }
    }
    Ok(found)
}

/// Counts the visits that are looked at now.
fn count_looks(
    finder: &Finder<'_>,
    places: &mut Places,
    sudden: &HashMap<i64, (Kind, String)>,
    (from, to): (i64, i64),
) -> Result<()> {
    let connection = finder.connection;
    let visits = "SELECT visit.id, visit.url, visit.fetched_at, url.url FROM visit CROSS JOIN url ON url.id = visit.url
                  WHERE visit.id > ? AND visit.id <= ?";
    let mut select = connection.prepare(visits)?;
    let mut rows = select.query([from, to])?;
    while let Some(row) = rows.next()? {
        let (visit, url): (i64, i64) = (row.get(0)?, row.get(1)?);
        let kind = sudden.get(&visit).map_or(Kind::Calm, |(kind, _)| *kind);
        let of_it: Vec<_> = of(row.get_ref(3)?.as_str()?).filter(|place| places.contains_key(place)).collect();
        // A second look says nothing of other pages.
        if of_it.is_empty() || (finder.current.revisited && is_waiting(connection, url)?) {
            continue;
        }
        let likely = if finder.current.revisited { likely(connection, url, visit, row.get(2)?)? } else { 0.0 };
        for place in of_it {
            places.entry(place).or_default().add(kind, likely);
        }
    }
    Ok(())
}

/// Has places with few looks count those before, as many as a share takes: what they found lately, and that there was nothing.
fn earlier_looks(connection: &Connection, places: &mut Places, from: i64) -> Result<()> {
    let mut few: HashSet<u64> = HashSet::new();
    few.extend(places.iter().filter(|(_, place)| place.looked < FEWEST).map(|(place, _)| *place));
    let now: u64 = connection.query_row("SELECT coalesce(max(at), 0) FROM temp.look", [], |row| row.get(0))?;
    let visits = "SELECT visit.id, visit.url, visit.fetched_at, url.url FROM visit CROSS JOIN url ON url.id = visit.url
                  WHERE visit.id <= ? ORDER BY visit.id DESC LIMIT ?";
    let mut select = connection.prepare(visits)?;
    let mut rows = select.query([from, i64::from(MOST_EARLIER)])?;
    while let Some(row) = rows.next()?.filter(|_| !few.is_empty()) {
        let (visit, url, at): (i64, i64, u64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let of_it: Vec<_> = of(row.get_ref(3)?.as_str()?).filter(|place| few.contains(place)).collect();
        if of_it.is_empty() {
            continue;
        }
        let lately = Moment::from_millis(now).since(Moment::from_millis(at)) <= AT_ONCE;
        let kind = if lately { found(connection, url, at)? } else { Kind::Calm };
        let likely = if lately { likely(connection, url, visit, at)? } else { 0.0 };
        for place in of_it {
            if let Some(found) = places.get_mut(&place) {
                found.add(kind, likely);
                if found.looked >= FEWEST {
                    few.remove(&place);
                }
            }
        }
    }
    Ok(())
}

/// What an earlier look found: as it was told then, or as it waits.
fn found(connection: &Connection, url: i64, at: u64) -> Result<Kind> {
    let mut select = connection.prepare_cached(
        "SELECT change IN ('moved', 'gone') FROM change
         WHERE url = ?1 AND at = ?2 AND (change IN ('changed_text', 'reverted', 'moved', 'gone')
                                         OR (change = 'changed' AND (before_text IS NULL OR after_text IS NULL)))
         UNION ALL
         SELECT doubt = 'missing' FROM standing WHERE url = ?1 AND doubted_since = ?2 AND doubt <> 'cut'",
    )?;
    let vanished = select.query_row(params![url, at], |row| row.get(0)).optional()?;
    Ok(match vanished {
        Some(true) => Kind::Vanished,
        Some(false) => Kind::Changed,
        None => Kind::Calm,
    })
}

/// Whether the page waits for a second look, or changes all the time.
fn is_waiting(connection: &Connection, url: i64) -> Result<bool> {
    let waiting = "SELECT 1 FROM standing WHERE url = ? AND (coalesce(doubt, 'cut') <> 'cut' OR volatile)";
    connection.prepare_cached(waiting)?.exists([url])
}

/// How likely a page was to have changed since the look before this visit, by its own past.
fn likely(connection: &Connection, url: i64, visit: i64, at: u64) -> Result<f64> {
    let mut select = connection.prepare_cached(
        "SELECT at FROM change WHERE url = ? AND at < ? AND change IN ('changed', 'changed_text', 'reverted')
         ORDER BY id DESC LIMIT ?",
    )?;
    let moment = |row: &rusqlite::Row<'_>| row.get(0).map(Moment::from_millis);
    let past: Vec<_> = select.query_map(params![url, at, PAST], moment)?.collect::<Result<_>>()?;
    if past.len() < 2 {
        return Ok(0.0);
    }
    let last = "SELECT fetched_at FROM visit WHERE url = ? AND id < ? ORDER BY id DESC LIMIT 1";
    let last = connection.prepare_cached(last)?.query_row([url, visit], moment).optional()?;
    Ok(last.map_or(0.0, |last| expected_changes(&past, last, Moment::from_millis(at))))
}

/// Host and section of a page; one where it lies in no folder.
fn of(url: &str) -> impl Iterator<Item = u64> {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..].find('/').map_or(url.len(), |at| host + at);
    let (host, section) = (looks::section(&url[..end]), looks::section(url));
    [host, section].into_iter().take(if host == section { 1 } else { 2 })
}

/// Marks the looks at pages of these places.
fn mark_places(connection: &Connection, in_doubt: &HashSet<u64>) -> Result<()> {
    if in_doubt.is_empty() {
        return Ok(());
    }
    let mut select = connection.prepare("SELECT look.visit, url.url FROM temp.look JOIN url ON url.id = look.url")?;
    let mut update = connection.prepare("UPDATE temp.look SET sudden = 1 WHERE visit = ?")?;
    let mut rows = select.query([])?;
    let mut visits = Vec::new();
    while let Some(row) = rows.next()? {
        if of(row.get_ref(1)?.as_str()?).any(|place| in_doubt.contains(&place)) {
            visits.push(row.get::<_, i64>(0)?);
        }
    }
    visits.into_iter().try_for_each(|visit| update.execute([visit]).map(|_| ()))
}
