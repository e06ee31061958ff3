//! A crawl directory with many URLs, grown from a small one.
//!
//! Owns: rows that fit together as those of two crawled sequences do, so that `check` finds them clean. Ten URLs make a
//! pattern: most are in both sequences, some in one of them, some were lost and found, the last is abandoned or queued.
//!
//! Does not know: what is read from it.

use std::path::Path;

use rusqlite::{Connection, Result, Transaction, params};
use webloom::internals::url::{Canonicalizer, FingerprintSeed, WebUrl};

/// Links that a page keeps.
const LINKS: u64 = 4;

/// Of ten, those that each sequence admits, and those of them that it fetches.
const ADMITTED: [u64; 2] = [8, 8];
const FETCHED: [u64; 2] = [8, 7];

/// What the rows are numbered from.
struct Grown {
    seed: FingerprintSeed,
    origin: String,
    urls: u64,
    first_url: u64,
    first_visit: u64,
}

/// Adds `tens` times ten URLs to a crawl of two sequences, whose first URL is a start. Its last sequence has then ended at
/// a budget.
///
/// # Errors
/// `SQLite`'s.
///
/// # Panics
/// When the directory holds no crawl.
pub fn grow(dir: &Path, tens: u64) -> Result<()> {
    let mut database = Connection::open(dir.join("webloom.sqlite"))?;
    database.pragma_update(None, "synchronous", "OFF")?;
    database.pragma_update(None, "foreign_keys", false)?;
    let grown = Grown::new(&database, tens * 10)?;
    let transaction = database.transaction()?;
    for sequence in 0..2 {
        grown.visits(&transaction, sequence)?;
        let update = "UPDATE sequence SET end = iif(n = 1, 'budget', end), swept = iif(n = 1, NULL, swept),
                swept_links = iif(n = 1, NULL, swept_links), counters = json_set(counters, '$.candidates', counters ->> '$.candidates' + ?,
                                    '$.stored', counters ->> '$.stored' + ?) WHERE n = ?";
        transaction.execute(
            update,
            params![
                tens * ADMITTED[sequence],
                tens * FETCHED[sequence],
                u32::try_from(sequence).expect("it is 0 or 1")
            ],
        )?;
    }
    grown.rows(&transaction)?;
    transaction.commit()
}

impl Grown {
    fn new(database: &Connection, urls: u64) -> Result<Self> {
        let seed: i64 = database.query_row("SELECT fingerprint_seed FROM crawl", [], |row| row.get(0))?;
        let next = |query| database.query_row(query, [], |row| row.get(0));
        Ok(Self {
            seed: FingerprintSeed::new(seed.cast_unsigned()),
            origin: database.query_row("SELECT origin FROM host WHERE id = 0", [], |row| row.get(0))?,
            urls,
            first_url: next("SELECT 1 + max(max(id), coalesce(max(readmission), 0)) FROM url")?,
            first_visit: next("SELECT 1 + max(id) FROM visit")?,
        })
    }

    fn url(&self, of: u64) -> String {
        format!("{}/grown/section-{}/a-page-with-a-name-{of}.html", self.origin, of % 1_000)
    }

    fn fingerprint(&self, of: u64) -> [u8; 16] {
        let url = WebUrl::parse(&self.url(of)).expect("it is one");
        self.seed.fingerprint(&Canonicalizer::default().key(&url)).to_bytes()
    }

    /// The visit of a URL in a sequence.
    fn visit(&self, of: u64, sequence: usize) -> u64 {
        let before = if sequence == 0 { 0 } else { self.urls / 10 * FETCHED[0] };
        let place = if sequence == 0 { of % 10 - 1 } else { of % 10 };
        self.first_visit + before + of / 10 * FETCHED[sequence] + place
    }

    /// Pages of a sequence; they link to URLs that both have.
    fn visits(&self, into: &Transaction<'_>, sequence: usize) -> Result<()> {
        let mut insert = into.prepare(
            "INSERT INTO visit (id, url, sequence, fetched_at, outcome, status, content_type, html, bytes, wire_bytes, digest,
                                title, links_hash, links, change)
             VALUES (?1, ?2, ?3, 1700000000000 + ?1, 'stored', 200, 'text/html; charset=utf-8', 1, 20000, 5000, ?4,
                     'The title of page ' || ?2, ?2 & 0x7fffffff, ?5, ?6)",
        )?;
        let kinds = if sequence == 0 { 1..9 } else { 0..7 };
        for of in (0..self.urls).filter(|of| kinds.contains(&(of % 10))) {
            let digest = [self.fingerprint(of), [1; 16]].concat();
            let targets =
                (0..LINKS).map(|link| (of + 1).wrapping_mul(0x9e37_79b9 + link) % self.urls / 10 * 10 + 1 + link);
            let links: Vec<u8> = targets.flat_map(|target| self.fingerprint(target)[..8].to_vec()).collect();
            let change = if sequence == 0 || of % 10 == 0 { "new" } else { "unchanged" };
            let (visit, url) = (self.visit(of, sequence), self.first_url + of);
            insert.execute(params![
                visit,
                url,
                u32::try_from(sequence).expect("it is 0 or 1"),
                digest,
                links,
                change
            ])?;
        }
        Ok(())
    }

    fn rows(&self, into: &Transaction<'_>) -> Result<()> {
        let mut url = into.prepare(
            "INSERT INTO url (id, host, url, fingerprint, hop, via, depth, rank, admitted_in, state, reason, visit, readmission)
             VALUES (?, 0, ?, ?, 'link', 1, 1, 1, ?, ?, ?, ?, ?)",
        )?;
        let mut lost = into.prepare(
            "INSERT INTO lost (sequence, fingerprint, url, found_by, found_at, via, swept, state, admitted, recovered_in)
             VALUES (?1, ?2, ?3, 'sweep', 0, 1, 1, iif(?1 = 0, 'found', 'rescued'), ?4, iif(?1 = 0, 1, NULL))",
        )?;
        for of in 0..self.urls {
            let id = self.first_url + of;
            let text = self.url(of);
            let fingerprint = self.fingerprint(of);
            let (admitted_in, state, reason, visit) = match of % 10 {
                0..7 => (1, "finished", None, Some(self.visit(of, 1))),
                7 | 8 => (0, "finished", None, Some(self.visit(of, 0))),
                _ if of / 10 % 2 == 0 => (1, "abandoned", Some("robots"), None),
                _ => (1, "queued", None, None),
            };
            let again = (1..7).contains(&(of % 10));
            let readmission = again.then_some(self.first_url + self.urls + of);
            url.execute(params![id, text, fingerprint, admitted_in, state, reason, visit, readmission])?;
            // One in fifty was lost: in the first sequence, or in the second.
            if of % 10 < 2 && of / 10 % 10 == 0 {
                lost.execute(params![of % 10, fingerprint, text, id])?;
            }
        }
        Ok(())
    }
}
