//! What visits between sequences cost where many pages are known, and that they do not cost more than they must. With very many:
//! `REVISIT_PAGES=10000000 cargo test -p webloom --lib revisits::large -- --nocapture` writes some three gigabytes below `target`.

use std::time::{Duration, Instant};

use super::*;
use crate::{
    revisit::{Bounds, Budget, GivenInterval, GivenIntervals, Optimal, RevisitPolicy},
    time::Moment,
};

/// Pages where no other number is given.
const PAGES: u64 = 5_000;
const HOUR: u64 = 3_600_000;
const NOW: Moment = Moment::from_millis(20_000 * 24 * HOUR);

/// Links of a page.
const LINKS: u64 = 4;

#[test]
fn a_plan_of_many_pages() {
    let pages = std::env::var("REVISIT_PAGES").map_or(PAGES, |pages| pages.parse().unwrap());
    let folder = tempfile::tempdir_in(concat!(env!("CARGO_MANIFEST_DIR"), "/../target")).unwrap();
    let mut connection = Connection::open(folder.path().join("webloom.sqlite")).unwrap();
    timed("made", || fill(&mut connection, pages));
    let bytes = std::fs::metadata(folder.path().join("webloom.sqlite")).unwrap().len();
    println!("{} MB on disk, peak memory {}", bytes >> 20, peak_memory());
    timed("index of keys", || connection.execute_batch(schema::INDEX_OF_KEYS).unwrap());
    {
        let transaction = connection.unchecked_transaction().unwrap();
        let (mut policy, given) = (policy(), GivenIntervals::default());
        let mut book = Book::open(&transaction, &mut policy, &given).unwrap();
        timed("first learning of all", || learning::learn(&mut book).unwrap());
        timed("links counted and weighed", || weights::count(&mut book, folder.path()).unwrap());
        book.close().unwrap();
        transaction.execute("UPDATE crawl SET classed_by = 'optimal'", []).unwrap();
        timed("committed", || transaction.commit().unwrap());
    }
    for round in 0..3 {
        round_of(&mut connection, folder.path(), (round, pages));
    }
    // One page in 1,000.
    let rule = GivenInterval { pattern: regex::Regex::new("org/7/").unwrap(), interval: Duration::from_hours(1) };
    let given = GivenIntervals::new(vec![rule]);
    let order = RevisitOrder { given, classed_by: "optimal\norg/7/".to_owned(), most_given: 1000, ..order(10, 0) };
    timed("all classes anew, and 1,000 of a section handed out", || {
        let found = due_by(&connection, folder.path(), order);
        assert_eq!((found.pages + pages / 1000, found.given as u64), (pages, 1000.min(pages / 1000)));
    });
    println!("peak memory {}", peak_memory());
}

/// What a run between sequences is begun with, and a thousand visits after it.
fn round_of(connection: &mut Connection, folder: &Path, (round, pages): (u64, u64)) {
    let order = order(round, 1000);
    let (census, _) = timed("census", || book::census(connection, 0).unwrap());
    let plan = timed("plan", || policy().plan(&census, order.budget));
    let due = timed("due pages", || due::pages(connection, &census, &plan, &order).unwrap());
    assert_eq!(due.len(), 1000);
    let at = order.at;
    let found = timed("learning, planning and handing 1,000 out in one", || due_by(connection, folder, order));
    assert_eq!((found.pages, found.divided), (pages, 1000));
    let visited = "INSERT INTO visit (url, sequence, fetched_at, outcome, status, html, bytes, wire_bytes, digest, links, change, same)
        SELECT id, 0, ?, 'stored', 304, 1, 0, 0, zeroblob(32), x'', 'unchanged', visit FROM url WHERE id = ?";
    let transaction = connection.unchecked_transaction().unwrap();
    for item in &found.items {
        transaction.execute(visited, params![at.millis() + 1000, item.id.0]).unwrap();
    }
    transaction.commit().unwrap();
}

fn policy() -> Optimal {
    Optimal::new(Bounds::new(Duration::from_hours(1), Duration::from_hours(30 * 24)), Optimal::EXPLORE)
}

fn due_by(connection: &Connection, folder: &Path, order: RevisitOrder) -> DuePages {
    let request = DueRequest { visits: Some((Box::new(policy()), order)), looks: None };
    hand_out(connection, folder, request, Current::of(connection, 0).unwrap()).unwrap()
}

fn order(hour: u64, most: usize) -> RevisitOrder {
    RevisitOrder {
        at: NOW + Duration::from_hours(hour),
        budget: Budget::per_day(1e6).unwrap(),
        most,
        exploring: most / 20,
        soonest: Duration::from_hours(1),
        given: GivenIntervals::default(),
        most_given: 0,
        classed_by: "optimal".to_owned(),
    }
}

fn key(page: u64) -> [u8; 8] {
    page.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()
}

/// A sequence of pages in 1,000 folders that has come to its end a month ago: a tenth of the pages is linked to by many.
fn fill(connection: &mut Connection, pages: u64) {
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.pragma_update(None, "synchronous", "OFF").unwrap();
    connection.pragma_update(None, "foreign_keys", "OFF").unwrap();
    schema::prepare(connection).unwrap();
    schema::migrate(connection, 0).unwrap();
    let transaction = connection.transaction().unwrap();
    transaction
        .execute_batch(
            "INSERT INTO crawl (id, created_at, fingerprint_seed, key_rules, settings) VALUES (1, 0, 0, 'whatwg', '{}');
             INSERT INTO sequence (n, began_at, hash_seed, counters, links_since, end) VALUES (0, 0, 0, '{}', 0, 'drained');
             INSERT INTO host (id, origin) VALUES (0, 'https://docs.example.org');",
        )
        .unwrap();
    let mut url = transaction
        .prepare(
            "INSERT INTO url (id, host, url, fingerprint, hop, depth, rank, admitted_in, state, visit)
             VALUES (?1, 0, ?2, ?3, 'link', 3, 3, 0, 'finished', ?1)",
        )
        .unwrap();
    let mut visit = transaction
        .prepare(
            "INSERT INTO visit (id, url, sequence, fetched_at, outcome, status, html, bytes, wire_bytes, digest, links_hash, links, change, steady)
             VALUES (?1, ?1, 0, ?2, 'stored', 200, 1, 9000, 3000, zeroblob(32), 7, ?3, 'new', ?4)",
        )
        .unwrap();
    let began = NOW.millis() - 30 * 24 * HOUR;
    for page in 1..=pages {
        let address = format!("https://docs.example.org/{}/{}/page-{page}.html", page % 1000, page % 20_000);
        url.execute(params![page, address, [key(page), [7; 8]].concat()]).unwrap();
        let links = (1..=LINKS).map(|link| match link {
            1 => page % 1000 + 1,
            2 => page % (pages / 10) + 1,
            _ => page.wrapping_mul(link * 7919) % pages + 1,
        });
        let links: Vec<u8> = links.flat_map(key).collect();
        let steady = (page % 3 == 0).then_some(page % 1000 * 1000);
        visit.execute(params![page, began + page * 100, links, steady]).unwrap();
    }
    drop((url, visit));
    transaction.commit().unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let done = work();
    println!("{what}: {:.3} s", began.elapsed().as_secs_f64());
    done
}

fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default().trim().to_owned()
}
