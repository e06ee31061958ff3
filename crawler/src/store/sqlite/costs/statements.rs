//! How many statements a page takes: two, a third where its copy did not come with it, and one more for each URL that it admits.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use rusqlite::{
    Connection,
    hooks::{AuthContext, Authorization},
    trace::{TraceEvent, TraceEventCodes},
};

use super::super::{
    again, apply,
    current::Current,
    refill, schema,
    step_context::{StepContext, StepRows},
};
use crate::{
    candidate::{Hop, HostId, Ticket},
    queue::{Place, RefillKind, RefillRequest},
    store::{CheckedContent, CheckedLink, Step, UrlChange, UrlRow, VisitOutcome, VisitRow},
    time::Moment,
    url::{Canonicalizer, FingerprintSeed, WebUrl},
};

/// Statements that a page takes, beside those of the URLs it admits and one to look up its row and copy.
const A_PAGE: usize = 2;

/// The same of a URL that redirects, and leads to a name: the redirects behind it are known, and each of them is to be read again.
const A_REDIRECT: usize = 20;

/// The same of its text, where that is another than the copy's.
const A_TEXT: usize = 1;

/// Counts the statements of a connection that came to their end. What a trigger does is part of the statement that fires it.
#[derive(Debug)]
pub(in super::super) struct Statements(Arc<AtomicUsize>);

impl Statements {
    pub(in super::super) fn of(connection: &mut Connection) -> Self {
        let statements = Arc::new(AtomicUsize::new(0));
        let counting = Arc::clone(&statements);
        let count = move |_: TraceEvent<'_>| {
            counting.fetch_add(1, Ordering::Relaxed);
        };
        connection.trace_v2(TraceEventCodes::SQLITE_TRACE_PROFILE, Some(count)).unwrap();
        Self(statements)
    }

    /// How many there were since it was asked last.
    pub(in super::super) fn take(&self) -> usize {
        self.0.swap(0, Ordering::Relaxed)
    }

    /// Holds what a step took against what it may take.
    pub(in super::super) fn expect_few(&self, step: &Step, context: StepContext) {
        let (taken, most) = (self.take(), most(step, context));
        assert!(taken <= most, "{taken} statements instead of {most}: {step:?}");
    }
}

/// Statements that a step may take. What it holds beside a page and its URLs is rare.
fn most(step: &Step, context: StepContext) -> usize {
    let rescued = step.rescue.as_ref().map_or(0, |rescue| 2 + 2 * rescue.rescued.len());
    let hosts = step.hosts.len() + step.health.len() + usize::from(step.robots.is_some());
    let closed = 3 * usize::from(step.closed.is_some());
    let text = step.visit.as_ref().and_then(|visit| visit.text.as_ref()).map_or(0, |_| A_TEXT);
    let audited = usize::from(step.visit.as_ref().is_some_and(|visit| visit.audited));
    let page = A_PAGE + usize::from(context.readmits) + text + audited;
    let rows = step.rows.len() * if context.lost { 2 } else { 1 };
    let ranks = step.ranks.as_ref().map_or(0, |ranks| 2 * ranks.rows.len());
    let checked = step.checked.iter().map(of_check).sum::<usize>();
    page + rows + ranks + checked + 3 * step.areas.len() + 3 * step.lost.len() + rescued + hosts + closed
}

/// Statements that a checked URL may take: where it redirects, and what it loads, is written too.
fn of_check(checked: &CheckedLink) -> usize {
    let redirect = checked.target.as_ref().map_or(0, |_| A_REDIRECT);
    let parts = if let CheckedContent::Sheet(parts) = &checked.inside { 1 + parts.len() } else { 0 };
    2 + redirect + parts
}

/// A crawl without a URL.
fn database() -> Connection {
    let mut connection = Connection::open_in_memory().unwrap();
    schema::prepare(&connection).unwrap();
    schema::migrate(&mut connection, 0).unwrap();
    let parents = "INSERT INTO host (id, origin) VALUES (0, 'http://h');
                   INSERT INTO sequence (n, began_at, hash_seed, counters)
                   VALUES (0, 0, 0, '{}'), (1, 0, 0, '{}'), (2, 0, 0, '{}'), (3, 0, 0, '{}')";
    connection.execute_batch(&format!("{parents}; {}; {}", schema::INDEX_OF_KEYS, schema::INDEX_OF_VISITS)).unwrap();
    again::keep_past(&connection).unwrap();
    connection
}

fn row(ticket: u64, path: usize, via: Option<u64>) -> UrlRow {
    let url = WebUrl::parse(&format!("http://h/{path}")).unwrap();
    let key = Canonicalizer::default().key(&url);
    let fingerprint = FingerprintSeed::new(1).fingerprint(&key);
    let id = Ticket(ticket);
    let host = HostId(0);
    let hop = Hop::Link;
    let via = via.map(Ticket);
    let depth = 1;
    let redirects = 0;
    let rank = 1;
    let abandoned = None;
    UrlRow { id, host, url, key, fingerprint, hop, via, depth, redirects, rank, abandoned }
}

/// Crawls pages that admit so many URLs each, half of them new to the crawl; returns the statements that each page took.
fn crawl(connection: &Connection, statements: &Statements, sequence: u32, rows: StepRows) -> Vec<(usize, usize)> {
    let first = 1 + 1_000 * u64::from(sequence);
    let mut tickets = first..;
    let mut path = 500 * sequence as usize;
    let mut admit = |via| {
        path += 1;
        row(tickets.next().unwrap(), path, via)
    };
    let context = StepContext::of(connection, Current::by_links(sequence), rows).unwrap();
    let start = Step { rows: vec![admit(None)], ..Step::default() };
    apply::step(connection, &start, context).unwrap();
    let pages = (first..).zip([2, 0, 1, 40, 900]);
    let taken = pages.map(|(page, admitted)| {
        let rows: Vec<_> = (0..admitted).map(|_| admit(Some(page))).collect();
        let visit = VisitRow::new(Ticket(page), Moment::from_millis(3), VisitOutcome::Failed, None);
        let change = Some((Ticket(page), UrlChange::Finished));
        let step = Step { rows, visit: Some(visit), change, ..Step::default() };
        statements.take();
        assert_eq!(apply::step(connection, &step, context).unwrap().known, []);
        (admitted, statements.take())
    });
    taken.collect()
}

#[test]
fn a_page_takes_two_statements_three_where_its_copy_is_looked_up_and_one_for_each_url_it_admits() {
    for (rows, lost) in
        [(StepRows::New, false), (StepRows::New, true), (StepRows::Proposed, false), (StepRows::Proposed, true)]
    {
        let mut connection = database();
        if lost {
            let lost = "INSERT INTO lost (sequence, fingerprint, found_by, found_at, state) VALUES (0, zeroblob(16), 'audit', 0, 'lost')";
            connection.execute(lost, []).unwrap();
        }
        let statements = Statements::of(&mut connection);
        for sequence in 0..4 {
            let own = if sequence == 0 { A_PAGE } else { A_PAGE + 1 };
            for (admitted, taken) in crawl(&connection, &statements, sequence, rows) {
                // Whether it is one that was lost is another.
                let each = if lost { 2 } else { 1 };
                assert_eq!(taken, own + each * admitted, "{admitted} URLs in sequence {sequence}, {rows:?}, {lost}");
            }
        }
        let again = "SELECT count(*) FILTER (WHERE readmission IS NOT NULL) FROM url";
        let again: u64 = connection.query_row(again, [], |row| row.get(0)).unwrap();
        let past: u64 = connection.query_row("SELECT count(*) FROM past", [], |row| row.get(0)).unwrap();
        assert!(again > 1_000 && past > 1_000, "{again} URLs admitted again, {past} earlier states");
    }
}

/// Pages that were stored, in a sequence that begins with what is known: each with its copy, as the queue hands it out.
#[test]
fn a_known_page_takes_two_statements_and_nothing_is_prepared_for_it() {
    let mut connection = database();
    let page = |id: u64, copy| {
        let visit = VisitRow {
            copy,
            status: Some(200),
            digest: Some([u8::try_from(id % 7).unwrap(); 32]),
            links: vec![id],
            ..VisitRow::new(Ticket(id), Moment::from_millis(3), VisitOutcome::Stored, None)
        };
        Step { visit: Some(visit), change: Some((Ticket(id), UrlChange::Finished)), ..Step::default() }
    };
    let first = StepContext::of(&connection, Current::by_links(0), StepRows::New).unwrap();
    let rows = (1..=60).zip(1..).map(|(id, path)| row(id, path, None)).collect();
    apply::step(&connection, &Step { rows, ..Step::default() }, first).unwrap();
    for id in 1..=60 {
        apply::step(&connection, &page(id, None), first).unwrap();
    }
    connection.execute_batch(schema::INDEX_OF_KNOWN).unwrap();
    let current = Current { sequence: 1, known_first: true, revisited: false };
    let context = StepContext::of(&connection, current, StepRows::New).unwrap();
    let statements = Statements::of(&mut connection);
    let prepared = Prepared::of(&mut connection);
    let mut place = Place::FIRST;
    for turn in 0..6 {
        let request = RefillRequest { host: HostId(0), kind: RefillKind::Beyond(place), limit: 10, max_depth: None };
        let items = refill::answer(&connection, &request, current).unwrap().rows;
        assert_eq!(items.len(), 10);
        place = items[9].place();
        refill::due_again(&connection, 1, 0).unwrap();
        for item in items {
            assert!(item.copy.as_ref().is_some_and(|copy| copy.url == item.id.0), "{item:?}");
            statements.take();
            assert_eq!(apply::step(&connection, &page(item.id.0, item.copy), context).unwrap().known, []);
            assert_eq!(statements.take(), 2);
        }
        assert!(turn == 0 || prepared.take() == 0, "turn {turn}");
        prepared.take();
    }
    let unchanged = "SELECT count(*) FROM visit WHERE change = 'unchanged' AND same = url AND links = x''";
    assert_eq!(connection.query_row(unchanged, [], |row| row.get::<_, u64>(0)), Ok(60));
}

/// As `SQLite` does for a list of words in a constraint, for each row that is written: 2 % of a crawl's instructions.
#[test]
fn nothing_that_a_page_takes_makes_a_table_of_its_own() {
    let mut connection = database();
    let texts = Arc::new(Mutex::new(BTreeSet::new()));
    let keep = Arc::clone(&texts);
    let note = move |event: TraceEvent<'_>| {
        if let TraceEvent::Stmt(_, text) = event {
            keep.lock().unwrap().insert(text.to_owned());
        }
    };
    connection.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(note)).unwrap();
    let statements = Statements(Arc::default());
    for sequence in 0..2 {
        crawl(&connection, &statements, sequence, StepRows::New);
    }
    let texts = std::mem::take(&mut *texts.lock().unwrap());
    let made = |text: &str| {
        let mut operations = connection.prepare(&format!("EXPLAIN {text}")).unwrap();
        let names = vec![rusqlite::types::Null; operations.parameter_count()];
        let names = operations.query_map(rusqlite::params_from_iter(names), |row| row.get(1)).unwrap();
        names.map(|name| name.unwrap()).any(|name: String| name == "OpenEphemeral")
    };
    assert!(made("SELECT 1 WHERE ? IN ('queued', 'finished', 'abandoned')"));
    let writing: Vec<_> =
        texts.iter().filter(|text| text.starts_with("INSERT") || text.starts_with("UPDATE")).collect();
    assert!(writing.len() >= 4, "{writing:?}");
    assert!(!writing.iter().any(|text| made(text)), "{writing:?}");
}

/// Counts how often a connection was asked for the rights to prepare a statement, or to prepare one anew.
struct Prepared(Arc<AtomicUsize>);

impl Prepared {
    fn of(connection: &mut Connection) -> Self {
        let prepared = Arc::new(AtomicUsize::new(0));
        let counting = Arc::clone(&prepared);
        let count = move |_: AuthContext<'_>| {
            counting.fetch_add(1, Ordering::Relaxed);
            Authorization::Allow
        };
        connection.authorizer(Some(count)).unwrap();
        Self(prepared)
    }

    fn take(&self) -> usize {
        self.0.swap(0, Ordering::Relaxed)
    }
}

#[test]
fn a_retry_takes_less() {
    let mut connection = database();
    let statements = Statements::of(&mut connection);
    for sequence in 0..2 {
        crawl(&connection, &statements, sequence, StepRows::New);
        let (due, failed) = (Moment::from_millis(9), Moment::from_millis(8));
        let retry = UrlChange::Retry { attempts: 1, due, failed, reason: "closed".into() };
        let change = Some((Ticket(1 + 1_000 * u64::from(sequence)), retry));
        let context = StepContext::of(&connection, Current::by_links(sequence), StepRows::New).unwrap();
        statements.take();
        apply::step(&connection, &Step { change, ..Step::default() }, context).unwrap();
        assert_eq!(statements.take(), 1 + sequence as usize);
    }
}
