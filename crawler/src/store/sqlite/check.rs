//! `check`: recounts the law and every invariant from rows alone.

mod rules;

use std::collections::HashSet;

use rusqlite::{Connection, Error, OptionalExtension, Result, Row};

use self::rules::{LOST_RULES, RULES, STAND};
use crate::{
    queue::Counts,
    store::Counters,
    url::{FingerprintSeed, Key, Origin, WebUrl},
};

/// An invariant that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What should hold.
    pub invariant: &'static str,
    /// How many rows break it.
    pub count: u64,
    /// One of them.
    pub example: String,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// The law of the last sequence, counted from rows.
    pub counts: Counts,
    /// Visits looked at.
    pub visits: u64,
    /// Kept links looked at.
    pub links: u64,
    /// Kept links to what their sequence did not admit: URLs lost to the URL cache (a fault where the cache is exact).
    pub links_without_row: u64,
    /// URLs recorded as lost.
    pub lost: u64,
    /// Those of them that were admitted after all.
    pub lost_admitted: u64,
    /// Every invariant that does not hold.
    pub findings: Vec<Finding>,
}

const WHOLE: &str = "the database file is whole";
const READABLE: &str = "every value is of its column's type";
const SUMS: &str = "candidates = admitted + duplicate + refused, and pages stored are counted";
const IS_URL: &str = "a URL is an http(s) URL";
const OWN_HOST: &str = "a URL's host is the host it names";
const FINGERPRINT: &str = "a fingerprint is the hash of its key";
const ONCE: &str = "a key is admitted once";
const KEPT: &str = "under an exact cache every kept link has a row";
const RECORDED: &str = "after a sweep every kept link has a row or is recorded as lost";

/// Every invariant that [`check`] can find broken.
pub fn invariants() -> impl Iterator<Item = &'static str> {
    let others = [WHOLE, READABLE, SUMS, IS_URL, OWN_HOST, FINGERPRINT, ONCE, KEPT, RECORDED];
    RULES.iter().chain(LOST_RULES).map(|(invariant, _)| *invariant).chain(others)
}

/// Checks a crawl directory's database. Where it is damaged, that is found, and the rest as far as it can be read.
///
/// # Errors
/// `SQLite`'s, when the database cannot be read at all.
pub fn check(connection: &Connection) -> Result<CheckReport> {
    // One moment of a crawl that may be running.
    let _snapshot = connection.unchecked_transaction()?;
    let damage = damage(connection);
    match (recount(connection), damage) {
        (Ok(mut report), damage) => {
            report.findings.splice(0..0, damage);
            Ok(report)
        }
        (Err(_), Some(damage)) => Ok(nothing_but(damage)),
        (Err(error), None) if is_of_wrong_type(&error) => {
            Ok(nothing_but(Finding { invariant: READABLE, count: 1, example: error.to_string() }))
        }
        (Err(error), None) => Err(error),
    }
}

/// What is wrong with the file itself. Indices are compared with their tables: a URL that is missing in one would never
/// be fetched.
fn damage(connection: &Connection) -> Option<Finding> {
    let whole = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0));
    let example = whole.unwrap_or_else(|error| error.to_string());
    (example != "ok").then_some(Finding { invariant: WHOLE, count: 1, example })
}

fn is_of_wrong_type(error: &Error) -> bool {
    matches!(
        error,
        Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
            | Error::Utf8Error(..)
    )
}

fn nothing_but(finding: Finding) -> CheckReport {
    CheckReport {
        counts: Counts::default(),
        visits: 0,
        links: 0,
        links_without_row: 0,
        lost: 0,
        lost_admitted: 0,
        findings: vec![finding],
    }
}

fn recount(connection: &Connection) -> Result<CheckReport> {
    let mut findings = Vec::new();
    for (invariant, broken) in RULES.iter().chain(LOST_RULES) {
        findings.extend(rule(connection, invariant, broken)?);
    }
    let mut counts = Counts::default();
    let mut kept = KeptLinks::default();
    for sequence in sequences(connection)? {
        counts = super::resume::counts(connection, sequence.number)?;
        findings.extend(sums(connection, &sequence, counts.admitted)?);
        kept.read(connection, &sequence)?;
    }
    findings.extend(UrlTable::read(connection)?.findings);
    if let Some(example) = kept.example {
        findings.push(Finding { invariant: KEPT, count: kept.unexplained, example });
    }
    if let Some(example) = kept.unrecorded_example {
        findings.push(Finding { invariant: RECORDED, count: kept.unrecorded, example });
    }
    let (lost, lost_admitted) =
        connection.query_row("SELECT count(*), count(admitted) FROM lost", [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (visits, links, links_without_row) = (kept.visits, kept.links, kept.without_row);
    Ok(CheckReport { counts, visits, links, links_without_row, lost, lost_admitted, findings })
}

/// What a sequence says of itself.
struct Sequence {
    number: u32,
    counters: String,
    exact: bool,
    /// Whether a sweep proves it.
    swept: bool,
}

/// All of them, the last one last.
fn sequences(connection: &Connection) -> Result<Vec<Sequence>> {
    let mut select = connection.prepare("SELECT n, counters, exact, swept IS NOT NULL FROM sequence ORDER BY n")?;
    let sequence = |row: &Row<'_>| {
        Ok(Sequence { number: row.get(0)?, counters: row.get(1)?, exact: row.get(2)?, swept: row.get(3)? })
    };
    select.query_map([], sequence)?.collect()
}

fn rule(connection: &Connection, invariant: &'static str, broken: &str) -> Result<Option<Finding>> {
    let query = format!("WITH {STAND}, broken (example) AS ({broken}) SELECT count(*), min(example) FROM broken");
    let (count, example): (u64, Option<String>) =
        connection.query_row(&query, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(example.map(|example| Finding { invariant, count, example }))
}

/// The sums of a sequence against the rows.
fn sums(connection: &Connection, sequence: &Sequence, admitted: u64) -> Result<Option<Finding>> {
    let (invariant, number) = (SUMS, sequence.number);
    let counters: Counters = match serde_json::from_str(&sequence.counters) {
        Ok(counters) => counters,
        Err(error) => return Ok(Some(Finding { invariant, count: 1, example: format!("counters: {error}") })),
    };
    let refused: u64 = counters.refused.values().sum();
    let stored: u64 = connection.query_row(
        "SELECT count(*) FROM visit WHERE outcome = 'stored' AND sequence = ?",
        [number],
        |row| row.get(0),
    )?;
    let holds = counters.candidates == admitted + counters.duplicate + refused && counters.stored == stored;
    let example = format!(
        "sequence {number}: {} candidates, {admitted} admitted, {} duplicate, {refused} refused; {} pages counted, {stored} stored",
        counters.candidates, counters.duplicate, counters.stored
    );
    Ok((!holds).then_some(Finding { invariant, count: 1, example }))
}

/// The URL table read once: its fingerprints, and what is wrong with single rows.
struct UrlTable {
    fingerprints: HashSet<u64>,
    findings: Vec<Finding>,
}

impl UrlTable {
    fn read(connection: &Connection) -> Result<Self> {
        let seed: Option<i64> =
            connection.query_row("SELECT fingerprint_seed FROM crawl", [], |row| row.get(0)).optional()?;
        let seed = FingerprintSeed::new(seed.unwrap_or_default().cast_unsigned());
        let mut table = Self { fingerprints: HashSet::new(), findings: Vec::new() };
        let mut select = connection.prepare(
            "SELECT url.id, url.url, coalesce(key, url.url), fingerprint, origin FROM url LEFT JOIN host ON host.id = url.host",
        )?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let id: u64 = row.get(0)?;
            let (text, key): (String, String) = (row.get(1)?, row.get(2)?);
            let origin: Option<String> = row.get(4)?;
            let Ok(url) = WebUrl::parse(&text) else {
                table.found(IS_URL, format!("url {id}: {text:?}"));
                continue;
            };
            if origin.is_some_and(|origin| Origin::parse(&origin).ok() != Some(url.origin())) {
                table.found(OWN_HOST, format!("url {id}: {text}"));
            }
            table.fingerprint(seed, id, &key, row.get_ref(3)?.as_blob().unwrap_or_default());
        }
        Ok(table)
    }

    fn fingerprint(&mut self, seed: FingerprintSeed, id: u64, key: &str, stored: &[u8]) {
        let expected = WebUrl::parse(key).map(|url| seed.fingerprint(&Key::of(&url)));
        if expected.as_ref().map_or(true, |expected| expected.to_bytes() != stored) {
            self.found(FINGERPRINT, format!("url {id}: {key}"));
        } else if expected.is_ok_and(|expected| !self.fingerprints.insert(expected.short())) {
            self.found(ONCE, format!("url {id}: {key}"));
        }
    }

    fn found(&mut self, invariant: &'static str, example: String) {
        match self.findings.iter_mut().find(|finding| finding.invariant == invariant) {
            Some(finding) => finding.count += 1,
            None => self.findings.push(Finding { invariant, count: 1, example }),
        }
    }
}

/// The links kept with the visits, against what their sequence admitted.
#[derive(Default)]
struct KeptLinks {
    visits: u64,
    links: u64,
    without_row: u64,
    /// Those of them under an exact cache,
    unexplained: u64,
    /// and one of these.
    example: Option<String>,
    /// Those of the sequences that a sweep has proved, and that it did not record.
    unrecorded: u64,
    unrecorded_example: Option<String>,
}

impl KeptLinks {
    fn read(&mut self, connection: &Connection, sequence: &Sequence) -> Result<()> {
        let admitted = admitted(connection, sequence.number)?;
        let recorded = sequence.swept.then(|| lost(connection, sequence.number)).transpose()?;
        // A restart leaves links to the next sequence.
        let counters: Option<Counters> = serde_json::from_str(&sequence.counters).ok();
        let exact = sequence.exact && counters.is_none_or(|counters| counters.unjudged() == 0);
        let query = "SELECT id, url, links FROM visit WHERE typeof(links) = 'blob' AND sequence = ?";
        let mut select = connection.prepare(query)?;
        let mut rows = select.query([sequence.number])?;
        while let Some(row) = rows.next()? {
            self.visits += 1;
            for link in row.get_ref(2)?.as_blob().unwrap_or_default().chunks_exact(8) {
                self.links += 1;
                let link = u64::from_be_bytes(link.try_into().expect("chunks of 8 bytes"));
                if admitted.contains(&link) {
                    continue;
                }
                self.without_row += 1;
                let (visit, url): (u64, u64) = (row.get(0)?, row.get(1)?);
                let example = || format!("visit {visit} of url {url}, link {link:016x}");
                if exact {
                    self.unexplained += 1;
                    self.example.get_or_insert_with(example);
                }
                if recorded.as_ref().is_some_and(|recorded| !recorded.contains(&link)) {
                    self.unrecorded += 1;
                    self.unrecorded_example.get_or_insert_with(example);
                }
            }
        }
        Ok(())
    }
}

/// The leading halves of the fingerprints that a sequence admitted.
fn admitted(connection: &Connection, sequence: u32) -> Result<HashSet<u64>> {
    let mut select = connection.prepare(
        "SELECT fingerprint FROM url WHERE admitted_in = ?1
         UNION ALL SELECT fingerprint FROM history JOIN url ON url.id = history.url WHERE sequence = ?1",
    )?;
    select.query_map([sequence], leading)?.filter_map(Result::transpose).collect()
}

/// The leading halves of the fingerprints that a sequence lost.
fn lost(connection: &Connection, sequence: u32) -> Result<HashSet<u64>> {
    let mut select = connection.prepare("SELECT fingerprint FROM lost WHERE sequence = ?")?;
    select.query_map([sequence], leading)?.filter_map(Result::transpose).collect()
}

fn leading(row: &Row<'_>) -> Result<Option<u64>> {
    let leading = row.get_ref(0)?.as_blob().ok().and_then(|bytes| bytes.first_chunk().copied());
    Ok(leading.map(u64::from_be_bytes))
}
