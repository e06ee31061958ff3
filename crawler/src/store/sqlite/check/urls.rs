//! The URL table read once: what is wrong with single rows, and which keys are there twice.

use rusqlite::{Connection, OptionalExtension, Result};

use super::checked_database::CheckedDatabase;
use crate::{
    store::{
        Finding,
        sqlite::{error::Fault, resume, runs::Sorter},
    },
    url::{Canonicalizer, FingerprintSeed, Origin, WebUrl},
};

/// What is checked of each row,
pub(super) const IS_URL: &str = "a URL is an http(s) URL";
pub(super) const OWN_HOST: &str = "a URL's host is the host it names";
pub(super) const FINGERPRINT: &str = "a fingerprint is the hash of its key";
/// and of all together.
pub(super) const ONCE: &str = "a key is admitted once";

/// One of the rows whose key is there before.
const TWICE: &str = "SELECT id, coalesce(key, url) FROM url WHERE substr(fingerprint, 1, 8) IN (
        SELECT substr(fingerprint, 1, 8) FROM url GROUP BY 1 HAVING count(*) > 1)
    ORDER BY substr(fingerprint, 1, 8), id LIMIT 1 OFFSET 1";

/// What is wrong with it.
pub(super) fn findings(source: &CheckedDatabase<'_>) -> Result<Vec<Finding>, Fault> {
    let seed: Option<i64> =
        source.connection.query_row("SELECT fingerprint_seed FROM crawl", [], |row| row.get(0)).optional()?;
    let seed = FingerprintSeed::new(seed.unwrap_or_default().cast_unsigned());
    let rules = resume::key_rules(source.connection)?.unwrap_or_default();
    let mut table = UrlTable { rules, seed, fingerprints: source.sorter(), right: 0, findings: Vec::new() };
    table.read(source.connection)?;
    table.once(source.connection)
}

struct UrlTable {
    rules: Canonicalizer,
    seed: FingerprintSeed,
    /// The leading halves of those that are right, and how many these are.
    fingerprints: Sorter,
    right: u64,
    findings: Vec<Finding>,
}

impl UrlTable {
    fn read(&mut self, connection: &Connection) -> Result<(), Fault> {
        let mut select = connection.prepare(
            "SELECT url.id, url.url, coalesce(key, url.url), fingerprint, origin FROM url LEFT JOIN host ON host.id = url.host",
        )?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let id: u64 = row.get(0)?;
            let (text, key): (String, String) = (row.get(1)?, row.get(2)?);
            let origin: Option<String> = row.get(4)?;
            let Ok(url) = WebUrl::parse(&text) else {
                self.found(IS_URL, format!("url {id}: {text:?}"));
                continue;
            };
            if origin.is_some_and(|origin| Origin::parse(&origin).ok() != Some(url.origin())) {
                self.found(OWN_HOST, format!("url {id}: {text}"));
            }
            self.fingerprint(id, (&url, &key), row.get_ref(3)?.as_blob().unwrap_or_default())?;
        }
        Ok(())
    }

    fn fingerprint(&mut self, id: u64, (url, key): (&WebUrl, &str), stored: &[u8]) -> Result<(), Fault> {
        let expected = self.rules.key(url);
        let fingerprint = (expected.as_str() == key).then(|| self.seed.fingerprint(&expected));
        match fingerprint.filter(|expected| expected.to_bytes() == stored) {
            Some(expected) => {
                self.right += 1;
                self.fingerprints.push(expected.short())?;
            }
            None => self.found(FINGERPRINT, format!("url {id}: {key}")),
        }
        Ok(())
    }

    fn found(&mut self, invariant: &'static str, example: String) {
        match self.findings.iter_mut().find(|finding| finding.invariant == invariant) {
            Some(finding) => finding.count += 1,
            None => self.findings.push(Finding { invariant, count: 1, example }),
        }
    }

    /// Sorted, what is there twice shows once.
    fn once(mut self, connection: &Connection) -> Result<Vec<Finding>, Fault> {
        let (mut sorted, mut distinct) = (self.fingerprints.sorted()?, 0);
        while sorted.next()?.is_some() {
            distinct += 1;
        }
        let count = self.right - distinct;
        if count > 0 {
            let example = |row: &rusqlite::Row<'_>| {
                Ok(format!("url {}: {}", row.get::<_, u64>(0)?, row.get_ref(1)?.as_str().unwrap_or_default()))
            };
            let example = connection.query_row(TWICE, [], example).optional()?.unwrap_or_default();
            self.findings.push(Finding { invariant: ONCE, count, example });
        }
        Ok(self.findings)
    }
}
