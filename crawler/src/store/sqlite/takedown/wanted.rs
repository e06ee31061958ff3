//! [`Takedown`]: which URLs are removed.

use std::collections::HashSet;

use regex::Regex;
use rusqlite::{Connection, Result, Row};

/// The URLs that are removed.
pub(super) struct Takedown<'p> {
    pub(super) pattern: &'p Regex,
    /// The leading halves of their fingerprints, by which links name them.
    pub(super) links: HashSet<[u8; 8]>,
    /// What was asked for.
    pub(super) urls: HashSet<Box<str>>,
}

/// Those of them that an earlier step has found, with redirects that lead there: they say nothing else.
const WITH_REDIRECTS: &str = "
    INSERT OR IGNORE INTO temp.removed SELECT url.id FROM url JOIN visit ON visit.id = url.visit
    WHERE visit.outcome = 'redirected' AND url.hop <> 'start' AND visit.redirect IN (SELECT url FROM url WHERE id IN temp.removed)";

/// Texts of other rows that may name them.
const NAMES: &str = "
    SELECT canonical FROM visit WHERE canonical IS NOT NULL UNION SELECT redirect FROM visit WHERE redirect IS NOT NULL
    UNION SELECT target FROM change WHERE target IS NOT NULL UNION SELECT known_good FROM host WHERE known_good IS NOT NULL
    UNION SELECT url FROM link_check UNION SELECT target FROM link_check WHERE target IS NOT NULL UNION SELECT url FROM sheet_part";

impl<'p> Takedown<'p> {
    /// Finds them by their URLs and keys: their numbers are in `temp.removed`, and all texts that name them in `temp.removed_name`.
    pub(super) fn find(connection: &Connection, pattern: &'p Regex) -> Result<Self> {
        connection.execute_batch(
            "CREATE TEMP TABLE IF NOT EXISTS removed (url INTEGER PRIMARY KEY);
             CREATE TEMP TABLE IF NOT EXISTS removed_name (name TEXT PRIMARY KEY) WITHOUT ROWID;
             DELETE FROM temp.removed; DELETE FROM temp.removed_name",
        )?;
        let mut insert = connection.prepare("INSERT INTO temp.removed VALUES (?)")?;
        each(connection, "SELECT id, url, key FROM url", |row| {
            let key = row.get_ref(2)?.as_str_or_null()?;
            if pattern.is_match(row.get_ref(1)?.as_str()?) || key.is_some_and(|key| pattern.is_match(key)) {
                insert.execute([row.get::<_, i64>(0)?])?;
            }
            Ok(())
        })?;
        while connection.execute(WITH_REDIRECTS, [])? > 0 {}
        let mut takedown = Takedown { pattern, links: HashSet::new(), urls: HashSet::new() };
        let removed = "SELECT url, substr(fingerprint, 1, 8) FROM url WHERE id IN (SELECT url FROM temp.removed)";
        each(connection, removed, |row| {
            takedown.urls.insert(row.get_ref(0)?.as_str()?.into());
            takedown.links.insert(row.get(1)?);
            Ok(())
        })?;
        takedown.find_names(connection)?;
        Ok(takedown)
    }

    fn find_names(&self, connection: &Connection) -> Result<()> {
        let mut insert = connection.prepare("INSERT OR IGNORE INTO temp.removed_name VALUES (?)")?;
        self.urls.iter().try_for_each(|url| insert.execute([url]).map(|_| ()))?;
        each(connection, NAMES, |row| {
            let name = row.get_ref(0)?.as_str()?;
            if self.is_named(name) {
                insert.execute([name])?;
            }
            Ok(())
        })
    }

    /// Whether a text is the URL of one of them, with a fragment or without.
    pub(super) fn is_named(&self, text: &str) -> bool {
        let url = text.split('#').next().unwrap_or_default();
        self.pattern.is_match(text) || self.pattern.is_match(url) || self.urls.contains(url)
    }

    /// One of them at which the crawl begins, or to which a start redirects.
    pub(super) fn start(&self, connection: &Connection) -> Result<Option<String>> {
        let mut select = connection.prepare(
            "SELECT url FROM area UNION ALL SELECT url.url FROM url WHERE hop = 'start'
             UNION ALL SELECT visit.redirect FROM url JOIN visit ON visit.id = url.visit
             WHERE visit.outcome = 'redirected' AND hop = 'start'",
        )?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let url = row.get_ref(0)?.as_str()?;
            if self.is_named(url) {
                return Ok(Some(url.to_owned()));
            }
        }
        Ok(None)
    }
}

fn each(connection: &Connection, query: &str, mut take: impl FnMut(&Row<'_>) -> Result<()>) -> Result<()> {
    let mut select = connection.prepare(query)?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        take(row)?;
    }
    Ok(())
}
