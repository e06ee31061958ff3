//! [`Takedown`]: which URLs are removed.

use std::collections::HashSet;

use regex::Regex;
use rusqlite::{Connection, Result};

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

impl<'p> Takedown<'p> {
    /// Finds them, and has their numbers in `temp.removed`.
    pub(super) fn find(connection: &Connection, pattern: &'p Regex) -> Result<Self> {
        connection.execute_batch(
            "CREATE TEMP TABLE IF NOT EXISTS removed (url INTEGER PRIMARY KEY); DELETE FROM temp.removed",
        )?;
        let mut insert = connection.prepare("INSERT INTO temp.removed VALUES (?)")?;
        let mut select = connection.prepare("SELECT id, url FROM url")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            if pattern.is_match(row.get_ref(1)?.as_str()?) {
                insert.execute([row.get::<_, i64>(0)?])?;
            }
        }
        while connection.execute(WITH_REDIRECTS, [])? > 0 {}
        let mut takedown = Takedown { pattern, links: HashSet::new(), urls: HashSet::new() };
        let mut select = connection
            .prepare("SELECT url, substr(fingerprint, 1, 8) FROM url WHERE id IN (SELECT url FROM temp.removed)")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            takedown.urls.insert(row.get_ref(0)?.as_str()?.into());
            takedown.links.insert(row.get(1)?);
        }
        Ok(takedown)
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
            if self.urls.contains(url) || self.pattern.is_match(url) {
                return Ok(Some(url.to_owned()));
            }
        }
        Ok(None)
    }
}
