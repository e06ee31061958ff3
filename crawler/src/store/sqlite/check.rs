//! `check`: recounts the law and every invariant from rows alone.

use std::collections::HashSet;

use rusqlite::{Connection, Error, OptionalExtension, Result, params};

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
    /// The law, counted from rows.
    pub counts: Counts,
    /// Visits looked at.
    pub visits: u64,
    /// Kept links looked at.
    pub links: u64,
    /// Kept links with no row: URLs lost to the URL cache (a fault where the cache is exact).
    pub links_without_row: u64,
    /// URLs recorded as lost.
    pub lost: u64,
    /// Those of them that were admitted after all.
    pub lost_admitted: u64,
    /// Every invariant that does not hold.
    pub findings: Vec<Finding>,
}

/// What must select nothing: the invariant, and a query for the rows that break it, described in one text column.
const RULES: &[(&str, &str)] = &[
    (
        "a URL is queued, finished or abandoned",
        "SELECT 'url ' || id || ' is ' || quote(state) FROM url WHERE state NOT IN ('queued', 'finished', 'abandoned')",
    ),
    (
        "a finished URL has a visit of its own",
        "SELECT 'url ' || url.id || ', visit ' || quote(url.visit) FROM url LEFT JOIN visit ON visit.id = url.visit
         WHERE url.state = 'finished' AND visit.url IS NOT url.id",
    ),
    (
        "a queued or abandoned URL has no visit in the sequence it was admitted in",
        "SELECT 'url ' || url.id || ' is ' || state FROM url JOIN visit ON visit.id = url.visit
         WHERE state <> 'finished' AND visit.sequence = url.admitted_in",
    ),
    (
        "a visit belongs to a finished URL, once a sequence",
        "SELECT 'visit ' || visit.id || ' of url ' || visit.url FROM visit LEFT JOIN url ON url.visit = visit.id
         WHERE url.id IS NULL",
    ),
    (
        "an abandoned URL has a reason",
        "SELECT 'url ' || id FROM url WHERE state = 'abandoned' AND reason IS NULL",
    ),
    (
        "only a queued URL that has failed before waits for a retry",
        "SELECT 'url ' || id FROM url WHERE due IS NOT NULL AND (state <> 'queued' OR attempts = 0)
         UNION ALL SELECT 'url ' || id FROM url WHERE due IS NULL AND state = 'queued' AND attempts > 0",
    ),
    (
        "a URL's host exists",
        "SELECT 'url ' || url.id FROM url LEFT JOIN host ON host.id = url.host WHERE host.id IS NULL",
    ),
    (
        "hosts are numbered from 0 without a gap, each once",
        "SELECT 'host ' || id FROM (SELECT id, row_number() OVER (ORDER BY id) - 1 AS place FROM host) WHERE id <> place
         UNION ALL SELECT 'host ' || max(id) FROM host GROUP BY origin HAVING count(*) > 1",
    ),
    (
        "a URL was admitted in a sequence that exists",
        "SELECT 'url ' || id FROM url WHERE admitted_in NOT IN (SELECT n FROM sequence)",
    ),
    (
        "a visit was made in a sequence that exists",
        "SELECT 'visit ' || id FROM visit WHERE sequence NOT IN (SELECT n FROM sequence)",
    ),
    (
        "a start has depth 0 and was found nowhere",
        "SELECT 'url ' || id FROM url WHERE hop = 'start' AND (depth <> 0 OR via IS NOT NULL)",
    ),
    (
        "a link is one deeper than the page it was found at, a redirect's target as deep",
        "SELECT 'url ' || url.id FROM url LEFT JOIN url AS via ON via.id = url.via
         WHERE url.hop <> 'start' AND url.depth IS NOT via.depth + (url.hop = 'link')",
    ),
    (
        "a URL's place in the order follows from its depth",
        "SELECT 'url ' || id FROM url WHERE abs(rank) <> depth",
    ),
    (
        "a visit's outcome agrees with its status, digest and target",
        "SELECT 'visit ' || id || ' is ' || quote(outcome) FROM visit WHERE NOT CASE outcome
             WHEN 'stored' THEN status BETWEEN 200 AND 299 AND digest IS NOT NULL AND length(digest) = 32
             WHEN 'redirected' THEN status BETWEEN 300 AND 399 AND redirect IS NOT NULL
             WHEN 'broken' THEN status IS NOT NULL AND status NOT BETWEEN 200 AND 299
             WHEN 'failed' THEN status IS NULL AND reason IS NOT NULL
             ELSE 0 END",
    ),
    (
        "kept links are whole",
        "SELECT 'visit ' || id FROM visit WHERE typeof(links) <> 'blob' OR length(links) % 8 <> 0",
    ),
    (
        "a host that was visited has been asked for robots.txt",
        "SELECT 'host ' || host.id FROM host WHERE robots_fetched_at IS NULL AND EXISTS (
             SELECT 1 FROM url JOIN visit ON visit.id = url.visit WHERE url.host = host.id AND visit.outcome <> 'failed')",
    ),
];

/// The same for what is known of lost URLs.
const LOST_RULES: &[(&str, &str)] = &[
    (
        "a lost URL was admitted, or it has a state that says why not",
        "SELECT 'lost ' || id || ' is ' || quote(state) FROM lost WHERE NOT CASE
             WHEN state IN ('rescued', 'found') THEN admitted IS NOT NULL
             WHEN state IN ('lost', 'no_longer_linked', 'parent_unreachable') THEN admitted IS NULL
             ELSE 0 END",
    ),
    (
        "a lost URL that was admitted is the one in its row",
        "SELECT 'lost ' || lost.id FROM lost LEFT JOIN url ON url.id = lost.admitted
         WHERE admitted IS NOT NULL AND substr(url.fingerprint, 1, 8) IS NOT substr(lost.fingerprint, 1, 8)",
    ),
    (
        "a lost URL was found by audit or sweep, in a sequence that exists, at a URL that exists",
        "SELECT 'lost ' || id FROM lost WHERE found_by NOT IN ('audit', 'sweep') OR sequence NOT IN (SELECT n FROM sequence)
             OR via NOT IN (SELECT id FROM url) OR length(fingerprint) NOT IN (8, 16)",
    ),
];

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
    let counts = super::resume::counts(connection)?;
    findings.extend(sums(connection, counts.admitted)?);
    let table = UrlTable::read(connection)?;
    findings.extend(table.findings);
    let kept = KeptLinks::read(connection, &table.fingerprints)?;
    if kept.exact
        && let Some(example) = kept.example
    {
        findings.push(Finding { invariant: KEPT, count: kept.without_row, example });
    }
    if let Some(example) = kept.unrecorded_example {
        findings.push(Finding { invariant: RECORDED, count: kept.unrecorded, example });
    }
    let (lost, lost_admitted) =
        connection.query_row("SELECT count(*), count(admitted) FROM lost", [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (visits, links, links_without_row) = (kept.visits, kept.links, kept.without_row);
    Ok(CheckReport { counts, visits, links, links_without_row, lost, lost_admitted, findings })
}

fn rule(connection: &Connection, invariant: &'static str, broken: &str) -> Result<Option<Finding>> {
    let query = format!("WITH broken (example) AS ({broken}) SELECT count(*), min(example) FROM broken");
    let (count, example): (u64, Option<String>) =
        connection.query_row(&query, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(example.map(|example| Finding { invariant, count, example }))
}

/// The sums of the sequence against the rows.
fn sums(connection: &Connection, admitted: u64) -> Result<Option<Finding>> {
    let invariant = SUMS;
    let counters: Option<String> = connection
        .query_row("SELECT counters FROM sequence ORDER BY n DESC LIMIT 1", [], |row| row.get(0))
        .optional()?;
    let Some(counters) = counters else { return Ok(None) };
    let counters: Counters = match serde_json::from_str(&counters) {
        Ok(counters) => counters,
        Err(error) => return Ok(Some(Finding { invariant, count: 1, example: format!("counters: {error}") })),
    };
    let refused: u64 = counters.refused.values().sum();
    let stored: u64 = connection.query_row(
        "SELECT count(*) FROM visit WHERE outcome = 'stored' AND sequence = (SELECT max(n) FROM sequence)",
        [],
        |row| row.get(0),
    )?;
    let holds = counters.candidates == admitted + counters.duplicate + refused && counters.stored == stored;
    let example = format!(
        "{} candidates, {admitted} admitted, {} duplicate, {refused} refused; {} pages counted, {stored} stored",
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

/// The links kept with the visits, against the URL table.
#[derive(Default)]
struct KeptLinks {
    exact: bool,
    visits: u64,
    links: u64,
    without_row: u64,
    example: Option<String>,
    /// Those of the sequences that a sweep has proved, and that it did not record.
    unrecorded: u64,
    unrecorded_example: Option<String>,
}

impl KeptLinks {
    fn read(connection: &Connection, fingerprints: &HashSet<u64>) -> Result<Self> {
        let exact: Option<bool> =
            connection.query_row("SELECT min(exact) FROM sequence", [], |row| row.get(0)).optional()?.flatten();
        let mut kept = Self { exact: exact.unwrap_or(false), ..Self::default() };
        let mut recorded = connection.prepare(
            "SELECT swept IS NULL OR EXISTS (SELECT 1 FROM lost WHERE substr(fingerprint, 1, 8) = ? AND sequence = n)
             FROM sequence WHERE n = ?",
        )?;
        let mut select =
            connection.prepare("SELECT id, url, links, sequence FROM visit WHERE typeof(links) = 'blob'")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            kept.visits += 1;
            for link in row.get_ref(2)?.as_blob().unwrap_or_default().chunks_exact(8) {
                kept.links += 1;
                let link = u64::from_be_bytes(link.try_into().expect("chunks of 8 bytes"));
                if !fingerprints.contains(&link) {
                    kept.without_row += 1;
                    let (visit, url): (u64, u64) = (row.get(0)?, row.get(1)?);
                    let example = format!("visit {visit} of url {url}, link {link:016x}");
                    let known =
                        recorded.query_row(params![link.to_be_bytes(), row.get::<_, u32>(3)?], |row| row.get(0));
                    if !known.optional()?.unwrap_or(true) {
                        kept.unrecorded += 1;
                        kept.unrecorded_example.get_or_insert_with(|| example.clone());
                    }
                    kept.example.get_or_insert(example);
                }
            }
        }
        Ok(kept)
    }
}
