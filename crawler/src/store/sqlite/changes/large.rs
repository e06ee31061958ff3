//! What it takes to find changes where all pages of a site are others. With very many:
//! `CHANGED_PAGES=1000000 cargo test -p webloom --lib changes::large -- --nocapture` writes some three gigabytes below `target`.

use std::{path::Path, process::Command, time::Instant};

use rusqlite::{Connection, Result, params};

use super::{
    super::{current::Current, schema},
    *,
};
use crate::{
    store::{ChangeRules, TextRow},
    text::{RuledText, Text, TextRule},
};

/// Numbers of pages that are compared where no other is given: the caches of the database are full with the smaller one.
const PAGES: [u64; 2] = [20_000, 60_000];

/// Memory for a page that changed, at most: 60 MB for a million.
const MOST_BYTES: u64 = 60;

/// What caches and sorters of the database may still grow by: they are bounded, and fill up with more pages yet.
const CACHES: u64 = 1 << 20;

/// Names the folder of the crawl in which this process looks for changes.
const MEASURED: &str = "CHANGES_MEASURED";

#[test]
fn memory_of_a_redesign_hardly_grows_with_its_pages() {
    let most: Option<u64> = std::env::var("CHANGED_PAGES").ok().map(|pages| pages.parse().unwrap());
    let pages = most.map_or(PAGES, |most| [PAGES[0], most]);
    let [few, many] = pages.map(memory);
    let (more, growth) = (pages[1] - pages[0], many.saturating_sub(few));
    println!("{few} bytes for {} pages, {many} for {}: {} a page more", pages[0], pages[1], growth / more);
    assert!(growth <= CACHES + MOST_BYTES * more, "{growth} bytes for {more} pages");
}

/// How much memory a process of its own takes that looks for changes.
fn memory(pages: u64) -> u64 {
    let folder = tempfile::tempdir_in(concat!(env!("CARGO_MANIFEST_DIR"), "/../target")).unwrap();
    let mut connection = Connection::open(folder.path().join("webloom.sqlite")).unwrap();
    fill(&mut connection, pages);
    connection.close().unwrap();
    let mut measured = Command::new(std::env::current_exe().unwrap());
    measured.args(["--exact", "store::sqlite::changes::large::measured", "--nocapture"]).env(MEASURED, folder.path());
    let output = measured.env("SQLITE_TMPDIR", folder.path()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    println!("{said}");
    said.lines().find_map(|line| line.strip_prefix("memory ")).expect("it says so").parse().unwrap()
}

#[test]
fn measured() {
    let Some(folder) = std::env::var_os(MEASURED) else { return };
    let folder = Path::new(&folder);
    let connection = Connection::open(folder.join("webloom.sqlite")).unwrap();
    schema::prepare(&connection).unwrap();
    let rules = ChangeRules::at_once();
    let current = Current { sequence: 1, known_first: true, revisited: false };
    let before = peak();
    let began = Instant::now();
    let transaction = connection.unchecked_transaction().unwrap();
    let finder = Finder {
        connection: &connection,
        folder,
        rules: &rules,
        current,
        complete: std::env::var_os("CHANGED_PAGES").is_some(),
    };
    finder.run().unwrap_or_else(|_| panic!("changes are found"));
    transaction.commit().unwrap();
    let doubted: u64 =
        connection.query_row("SELECT count(*) FROM page_state WHERE doubt IS NOT NULL", [], |row| row.get(0)).unwrap();
    println!("{doubted} pages wait for a second look, {:.1} s", began.elapsed().as_secs_f64());
    println!("\nmemory {}", peak() - before);
}

/// The most memory of this process so far, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// What becomes of a page in the second sequence: half of them say something else, the others move.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Rewritten,
    Renamed,
    Redirected,
}

const FATES: [Fate; 4] = [Fate::Rewritten, Fate::Rewritten, Fate::Renamed, Fate::Redirected];

fn address(page: u64) -> String {
    format!("https://docs.example.org/{}/{}/page-{page}.html", page % 100, page % 20_000)
}

fn text(page: u64, edition: u64) -> Text {
    let line =
        |line: u64| format!("{line} of {page} in {edition} is {} and {}", page * 31 + line, line * (page + edition));
    let lines: Vec<_> = (0..8).map(line).collect();
    let menu = format!("Menu of the design {edition}");
    Text::from_lines([menu.as_str()].into_iter().chain(lines.iter().map(String::as_str)))
}

/// Two sequences of a site of so many pages in 100 folders, all of which are others in the second; its changes are not found yet.
fn fill(connection: &mut Connection, pages: u64) {
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.pragma_update(None, "synchronous", "OFF").unwrap();
    connection.pragma_update(None, "foreign_keys", "OFF").unwrap();
    schema::prepare(connection).unwrap();
    schema::migrate(connection, 0).unwrap();
    let transaction = connection.transaction().unwrap();
    let begin = "INSERT INTO crawl (id, created_at, fingerprint_seed, key_rules, settings) VALUES (1, 0, 0, 'whatwg', '{}');
        INSERT INTO sequence (n, began_at, hash_seed, counters, links_since) VALUES (0, 0, 0, '{}', 0), (1, 0, 0, '{}', 0);
        INSERT INTO host (id, origin) VALUES (0, 'https://docs.example.org');";
    transaction.execute_batch(begin).unwrap();
    let site = Filled { connection: &transaction, pages };
    (1..=pages).for_each(|page| site.first(page).unwrap());
    transaction.execute("UPDATE crawl SET looked_at = (SELECT max(id) FROM visit)", []).unwrap();
    (1..=pages).for_each(|page| site.second(page).unwrap());
    transaction.execute_batch(schema::INDEX_OF_VISITS).unwrap();
    transaction.execute_batch(schema::INDEX_OF_KNOWN).unwrap();
    transaction.execute_batch(schema::INDEX_OF_KEYS).unwrap();
    transaction.commit().unwrap();
}

struct Filled<'a> {
    connection: &'a Connection,
    pages: u64,
}

impl Filled<'_> {
    /// A page and its first copy, which links to the next page.
    fn first(&self, page: u64) -> Result<()> {
        let visit = self.stored(page, 0, &text(page, 0), None)?;
        self.url(page, &address(page), visit)
    }

    fn second(&self, page: u64) -> Result<()> {
        let before = i64::try_from(page).unwrap();
        let fate = FATES[usize::try_from(page % 4).unwrap()];
        let new = page + self.pages;
        let target = format!("{}?new", address(page));
        let visit = match fate {
            Fate::Rewritten => self.stored(page, 1, &text(page, 1), Some(before))?,
            Fate::Renamed => self.other(page, "broken", None)?,
            Fate::Redirected => self.other(page, "redirected", Some(&target))?,
        };
        let copy = (fate != Fate::Rewritten).then_some(before);
        let update = "UPDATE url SET visit = ?, copy = ? WHERE id = ?";
        self.connection.prepare_cached(update)?.execute(params![visit, copy, page])?;
        if fate != Fate::Rewritten {
            let visit = self.stored(new, 1, &text(page, 0), None)?;
            self.url(new, &target, visit)?;
        }
        Ok(())
    }

    fn url(&self, id: u64, address: &str, visit: i64) -> Result<()> {
        let insert = "INSERT INTO url (id, host, url, fingerprint, hop, depth, rank, admitted_in, state, visit)
             VALUES (?, 0, ?, ?, 'link', 3, 3, 1, 'finished', ?)";
        let values = params![id, address, [key(id), [7; 8]].concat(), visit];
        self.connection.prepare_cached(insert)?.execute(values).map(|_| ())
    }

    fn stored(&self, page: u64, sequence: u32, text: &Text, before: Option<i64>) -> Result<i64> {
        let row = TextRow::of(&RuledText { rule: TextRule::new(1, []), text: text.clone() }, None);
        let kept = insert_text(self.connection, page, &row)?;
        let insert = "INSERT INTO visit (url, sequence, fetched_at, outcome, status, html, bytes, wire_bytes, digest, links, change, text, before, links_hash)
             VALUES (?1, ?2, ?1 * 100, 'stored', 200, 1, 9000, 3000, ?3, ?4, ?5, ?6, ?7, 7)";
        let change = if before.is_some() { "changed" } else { "new" };
        let links: Vec<u8> =
            [page % self.pages + 1, page % self.pages + 1 + self.pages].into_iter().flat_map(key).collect();
        let values = params![page, sequence, row.digest, links, change, kept, before];
        self.connection.prepare_cached(insert)?.insert(values)
    }

    fn other(&self, page: u64, outcome: &str, target: Option<&str>) -> Result<i64> {
        let insert = "INSERT INTO visit (url, sequence, fetched_at, outcome, status, html, bytes, wire_bytes, redirect, links, change, before)
             VALUES (?1, 1, ?1 * 100, ?2, iif(?2 = 'broken', 404, 301), 0, 0, 0, ?3, x'', iif(?2 = 'broken', 'gone', NULL), ?1)";
        self.connection.prepare_cached(insert)?.insert(params![page, outcome, target])
    }
}

fn key(page: u64) -> [u8; 8] {
    page.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()
}
