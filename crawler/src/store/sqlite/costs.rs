//! What a crawl asks the database for one host or one URL costs the same however many URLs other hosts have.

mod between;
pub(super) mod statements;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use rusqlite::Connection;

use super::{
    again, apply,
    current::Current,
    refill, schema,
    step_context::{StepContext, StepRows},
};
use crate::{
    candidate::{Hop, HostId, Ticket},
    health::{FailureCause, HealthRow, Wait},
    queue::{self, RefillKind, RefillRequest},
    store::{Abandonment, Step, UrlChange, UrlRow, VisitOutcome, VisitRow},
    time::Moment,
    url::{Canonicalizer, FingerprintSeed, WebUrl},
};

/// Rows of the host that is asked for: every second one waits for a retry.
const OWN: u64 = 20;

/// A database with `OWN` queued URLs of host 0, `others` of host 1 and as many that are finished. In the first sequence a
/// ticket is the row's number; in the second every row was admitted again.
fn database(others: u64, sequence: u32) -> Connection {
    let mut connection = Connection::open_in_memory().unwrap();
    schema::migrate(&mut connection, 0).unwrap();
    let all = OWN + 2 * others;
    let again = if sequence == 0 { "NULL" } else { "i + 1000000" };
    let rows = format!(
        "INSERT INTO sequence (n, began_at, hash_seed, counters) VALUES (0, 0, 0, '{{}}'), (1, 0, 0, '{{}}');
         INSERT INTO host (id, origin) VALUES (0, 'http://h'), (1, 'http://i');
         WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < {all})
         INSERT INTO url (id, host, url, fingerprint, hop, depth, rank, admitted_in, state, attempts, due, readmission)
         SELECT i, i > {OWN}, 'http://h/' || i, unhex(printf('%032d', i)), 'link', i % 3, i % 3, {sequence},
                iif(i > {OWN} + {others}, 'finished', 'queued'), i % 2, iif(i % 2, 5, NULL), {again}
         FROM numbers"
    );
    connection.execute_batch(&rows).unwrap();
    if sequence > 0 {
        connection.execute_batch(schema::INDEX_OF_KEYS).unwrap();
        connection.execute_batch(schema::INDEX_OF_VISITS).unwrap();
    }
    again::keep_past(&connection).unwrap();
    connection
}

/// How many instructions the database carries out for this.
fn instructions(connection: &mut Connection, work: impl FnOnce(&Connection)) -> u64 {
    let count = Arc::new(AtomicU64::new(0));
    let counting = Arc::clone(&count);
    let counted = move || {
        counting.fetch_add(1, Ordering::Relaxed);
        false
    };
    connection.progress_handler(1, Some(counted)).unwrap();
    work(connection);
    connection.progress_handler(0, None::<fn() -> bool>).unwrap();
    count.load(Ordering::Relaxed)
}

fn ask(connection: &Connection, kind: RefillKind, current: Current) {
    let request = RefillRequest { host: HostId(0), kind, limit: 5, max_depth: Some(2) };
    assert_eq!(refill::answer(connection, &request, current).unwrap().rows.len(), 5);
}

fn write(connection: &Connection, step: &Step, current: Current) {
    apply::step(connection, step, StepContext::of(connection, current, StepRows::New).unwrap()).unwrap();
}

fn admission(id: u64) -> Step {
    let url = WebUrl::parse("http://h/new").unwrap();
    let key = Canonicalizer::default().key(&url);
    let fingerprint = FingerprintSeed::new(1).fingerprint(&key);
    let id = Ticket(id);
    let host = HostId(0);
    let hop = Hop::Link;
    let via = None;
    let depth = 1;
    let redirects = 0;
    let rank = 1;
    let abandoned = None;
    let row = UrlRow { id, host, url, key, fingerprint, hop, via, depth, redirects, rank, abandoned };
    Step { rows: vec![row], ..Step::default() }
}

fn visit(ticket: Ticket) -> Step {
    let visit = VisitRow::new(ticket, Moment::from_millis(3), VisitOutcome::Broken, None);
    Step { visit: Some(visit), change: Some((ticket, UrlChange::Finished)), ..Step::default() }
}

fn unhealthy() -> Step {
    let failures = 1;
    let since = Moment::from_millis(1);
    let not_before = Moment::from_millis(2);
    let row =
        HealthRow { failures, since, cause: FailureCause::Refused, not_before, wait: Wait::BackOff, known_good: None };
    Step { health: vec![(HostId(0), Some(row))], ..Step::default() }
}

/// What is asked for one host or one URL, each with its instructions.
fn costs(others: u64, sequence: u32) -> Vec<(&'static str, u64)> {
    let mut database = database(others, sequence);
    let current = Current::by_links(sequence);
    let ticket = |row: u64| Ticket(if sequence == 0 { row } else { row + 1_000_000 });
    let due = RefillKind::Due { after: Moment::EPOCH, id: Ticket(0), until: Moment::from_millis(9) };
    let closed = Step { closed: Some((HostId(0), Abandonment::Address)), ..Step::default() };
    let gone = Step { change: Some((ticket(2), UrlChange::Abandoned(Abandonment::Robots))), ..Step::default() };
    // Statements are prepared once: what that costs is left out.
    let mut cost = |name, work: &dyn Fn(&Connection)| (name, instructions(&mut database, work));
    vec![
        cost("rows to go on", &|database| ask(database, RefillKind::Beyond(queue::Place::FIRST), current)),
        cost("rows to retry", &|database| ask(database, due, current)),
        cost("an admission", &|database| write(database, &admission(5_000_000), current)),
        cost("a visit", &|database| write(database, &visit(ticket(4)), current)),
        cost("an abandoned URL", &|database| write(database, &gone, current)),
        cost("a host's health", &|database| write(database, &unhealthy(), current)),
        cost("a host's closing", &|database| write(database, &closed, current)),
    ]
}

#[test]
fn a_scan_of_the_table_would_be_seen() {
    let scan = |database: &Connection| {
        let count = database.query_row("SELECT count(*) FROM url WHERE host = 0", [], |row| row.get::<_, u64>(0));
        assert_eq!(count, Ok(OWN));
    };
    let [few, many] = [10, 5_000].map(|others| instructions(&mut database(others, 0), scan));
    assert!(many > 100 * few, "{few} and {many}");
}

#[test]
fn nothing_scans_the_table_for_one_host() {
    for sequence in [0, 1] {
        let [few, many] = [10, 5_000].map(|others| costs(others, sequence));
        assert_eq!(few, many, "in sequence {sequence}");
        assert!(few.iter().all(|(_, count)| (1..1_500).contains(count)), "{few:?}");
    }
}

/// The same database in a sequence that begins with what is known: what was admitted is due.
fn known(others: u64) -> Connection {
    let connection = database(others, 1);
    let begin = "INSERT INTO sequence (n, began_at, hash_seed, counters, revisit, links_since) VALUES (2, 0, 0, '{}', 'known_first', 0)";
    connection.execute_batch(&format!("{}; {begin}", schema::INDEX_OF_KNOWN)).unwrap();
    connection
}

#[test]
fn nothing_scans_the_table_for_one_host_where_what_is_known_is_due() {
    let costs = |others| {
        let (mut database, current) = (known(others), Current { sequence: 2, known_first: true, revisited: false });
        let closed = Step { closed: Some((HostId(0), Abandonment::Address)), ..Step::default() };
        let mut cost = |name, work: &dyn Fn(&Connection)| (name, instructions(&mut database, work));
        vec![
            cost("rows to go on", &|database| ask(database, RefillKind::Beyond(queue::Place::FIRST), current)),
            cost("an admission", &|database| write(database, &admission(5_000_000), current)),
            cost("a visit", &|database| write(database, &visit(Ticket(1_000_004)), current)),
            cost("a host's closing", &|database| write(database, &closed, current)),
        ]
    };
    let [few, many] = [10, 5_000].map(costs);
    assert_eq!(few, many);
    assert!(few.iter().all(|(_, count)| (1..5_000).contains(count)), "{few:?}");
}

/// A sort would read a host's whole queue for each few rows of it.
#[test]
fn the_queues_of_known_pages_are_read_in_their_order() {
    let connection = known(10);
    for (query, merged) in [(&refill::BEYOND_WITH_KNOWN, true), (&refill::DUE, false)] {
        let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {}", &***query)).unwrap();
        let steps = plan.query_map([0; 6], |row| row.get(3)).unwrap();
        let steps: Vec<String> = steps.collect::<rusqlite::Result<_>>().unwrap();
        assert_eq!(steps.iter().any(|step| step.contains("MERGE")), merged, "{steps:?}");
        // Patterns of media types are few.
        let scans = |step: &String| step.starts_with("SCAN") && !step.starts_with("SCAN json_each");
        assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE") || scans(step)), "{steps:?}");
    }
}
