//! `check`: recounts the law and every invariant from rows alone.

use std::collections::HashSet;

use rusqlite::{Connection, Error, OptionalExtension, Result, Row};

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
    /// Every invariant that does not hold.
    pub findings: Vec<Finding>,
}

/// How every URL stands, and stood at the end of each earlier sequence that had it.
const STAND: &str = "stand (url, sequence, hop, via, depth, state, reason, visit) AS (
    SELECT id, admitted_in, hop, via, depth, state, reason, iif(state = 'finished', visit, NULL) FROM url
    UNION ALL SELECT url, sequence, hop, via, depth, state, reason, visit FROM history)";

/// What must select nothing: the invariant, and a query for the rows that break it, described in one text column.
const RULES: &[(&str, &str)] = &[
    (
        "a URL is queued, finished or abandoned",
        "SELECT 'url ' || url || ' is ' || quote(state) FROM stand WHERE state NOT IN ('queued', 'finished', 'abandoned')",
    ),
    (
        "a finished URL has a visit of its own",
        "SELECT 'url ' || stand.url || ', visit ' || quote(stand.visit) FROM stand LEFT JOIN visit ON visit.id = stand.visit
         WHERE stand.state = 'finished' AND (visit.url, visit.sequence) IS NOT (stand.url, stand.sequence)",
    ),
    (
        "a queued or abandoned URL has no visit in the sequence it was admitted in",
        "SELECT 'url ' || url.id || ' is ' || state FROM url JOIN visit ON visit.id = url.visit
         WHERE state <> 'finished' AND visit.sequence >= url.admitted_in",
    ),
    (
        "a visit belongs to a finished URL, once a sequence",
        "SELECT 'visit ' || id || ' of url ' || url FROM visit
         WHERE id NOT IN (SELECT visit FROM stand WHERE state = 'finished' AND visit IS NOT NULL)",
    ),
    (
        "a visit tells what changed since the copy before it",
        "SELECT 'visit ' || id || ' is ' || quote(change) FROM (
             SELECT id, change, digest, lag(digest) OVER (PARTITION BY url ORDER BY sequence) AS copy
             FROM visit WHERE outcome = 'stored')
         WHERE change IS NOT CASE WHEN copy IS NULL THEN 'new' WHEN copy = digest THEN 'unchanged' ELSE 'changed' END
         UNION ALL SELECT 'visit ' || id || ' is ' || change FROM visit
         WHERE outcome <> 'stored' AND change IS NOT NULL AND (change, outcome) IS NOT ('gone', 'broken')",
    ),
    (
        "an earlier state of a URL is of a sequence before its latest",
        "SELECT 'url ' || history.url || ' in sequence ' || sequence FROM history LEFT JOIN url ON url.id = history.url
         WHERE url.id IS NULL OR sequence >= admitted_in OR sequence NOT IN (SELECT n FROM sequence)",
    ),
    (
        "a URL that was admitted again has a later number than its first, and an earlier state",
        "SELECT 'url ' || id FROM url
         WHERE (readmission IS NOT NULL) <> EXISTS (SELECT 1 FROM history WHERE history.url = id) OR readmission <= id",
    ),
    (
        "an abandoned URL has a reason",
        "SELECT 'url ' || url FROM stand WHERE state = 'abandoned' AND reason IS NULL",
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
        "SELECT 'url ' || url FROM stand WHERE hop = 'start' AND (depth <> 0 OR via IS NOT NULL)",
    ),
    (
        "a link is one deeper than the page it was found at, a redirect's target as deep",
        "SELECT 'url ' || stand.url FROM stand
         LEFT JOIN stand AS via ON (via.url, via.sequence) = (stand.via, stand.sequence) WHERE stand.hop <> 'start' AND stand.depth IS NOT via.depth + (stand.hop = 'link')",
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

const WHOLE: &str = "the database file is whole";
const READABLE: &str = "every value is of its column's type";
const SUMS: &str = "candidates = admitted + duplicate + refused, and pages stored are counted";
const IS_URL: &str = "a URL is an http(s) URL";
const OWN_HOST: &str = "a URL's host is the host it names";
const FINGERPRINT: &str = "a fingerprint is the hash of its key";
const ONCE: &str = "a key is admitted once";
const KEPT: &str = "under an exact cache every kept link has a row";

/// Every invariant that [`check`] can find broken.
pub fn invariants() -> impl Iterator<Item = &'static str> {
    let others = [WHOLE, READABLE, SUMS, IS_URL, OWN_HOST, FINGERPRINT, ONCE, KEPT];
    RULES.iter().map(|(invariant, _)| *invariant).chain(others)
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
    CheckReport { counts: Counts::default(), visits: 0, links: 0, links_without_row: 0, findings: vec![finding] }
}

fn recount(connection: &Connection) -> Result<CheckReport> {
    let mut findings = Vec::new();
    for (invariant, broken) in RULES {
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
    Ok(CheckReport { counts, visits: kept.visits, links: kept.links, links_without_row: kept.without_row, findings })
}

/// What a sequence says of itself.
struct Sequence {
    number: u32,
    counters: String,
    exact: bool,
}

/// All of them, the last one last.
fn sequences(connection: &Connection) -> Result<Vec<Sequence>> {
    let mut select = connection.prepare("SELECT n, counters, exact FROM sequence ORDER BY n")?;
    let sequence = |row: &Row<'_>| Ok(Sequence { number: row.get(0)?, counters: row.get(1)?, exact: row.get(2)? });
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
}

impl KeptLinks {
    fn read(&mut self, connection: &Connection, sequence: &Sequence) -> Result<()> {
        let admitted = admitted(connection, sequence.number)?;
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
                if sequence.exact {
                    self.unexplained += 1;
                    let (visit, url): (u64, u64) = (row.get(0)?, row.get(1)?);
                    self.example.get_or_insert(format!("visit {visit} of url {url}, link {link:016x}"));
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
    let leading = |row: &Row<'_>| {
        let leading = row.get_ref(0)?.as_blob().ok().and_then(|bytes| bytes.first_chunk().copied());
        Ok(leading.map(u64::from_be_bytes))
    };
    select.query_map([sequence], leading)?.filter_map(Result::transpose).collect()
}
