//! How many statements a page takes: three at most, and one more for each URL that it admits, in every sequence.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use rusqlite::{
    Connection,
    trace::{TraceEvent, TraceEventCodes},
};

use super::super::{
    again::{self, Current},
    apply::{self, Rows, StepContext},
    lost, schema,
};
use crate::{
    candidate::{Hop, HostId, Ticket},
    store::{Step, UrlChange, UrlRow, VisitOutcome, VisitRow},
    time::Moment,
    url::{Canonicalizer, FingerprintSeed, WebUrl},
};

/// Statements that a page takes at most, beside those of the URLs it admits.
const A_PAGE: usize = 3;

/// The same of its text, where that is kept: is it that of the copy, and if not it is written.
const A_TEXT: usize = 2;

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
    pub(in super::super) fn expect_few(&self, step: &Step) {
        let taken = self.take();
        assert!(taken <= most(step), "{taken} statements instead of {}: {step:?}", most(step));
    }
}

/// Statements that a step may take. What it holds beside a page and its URLs is rare.
fn most(step: &Step) -> usize {
    let rescued = step.rescue.as_ref().map_or(0, |rescue| 2 + 2 * rescue.rescued.len());
    let hosts = step.hosts.len() + step.health.len() + usize::from(step.robots.is_some());
    let closed = 2 * usize::from(step.closed.is_some());
    let text = step.visit.as_ref().and_then(|visit| visit.text.as_ref()).map_or(0, |_| A_TEXT);
    A_PAGE + text + step.rows.len() + step.areas.len() + 3 * step.lost.len() + rescued + hosts + closed
}

/// A crawl without a URL.
fn database() -> Connection {
    let mut connection = Connection::open_in_memory().unwrap();
    schema::migrate(&mut connection, 0).unwrap();
    let parents = "INSERT INTO host (id, origin) VALUES (0, 'http://h');
                   INSERT INTO sequence (n, began_at, hash_seed, counters)
                   VALUES (0, 0, 0, '{}'), (1, 0, 0, '{}'), (2, 0, 0, '{}'), (3, 0, 0, '{}')";
    connection.execute_batch(&format!("{parents}; {}", schema::INDEX_OF_KEYS)).unwrap();
    again::keep_history(&connection).unwrap();
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
fn crawl(connection: &Connection, statements: &Statements, sequence: u32, rows: Rows) -> Vec<(usize, usize)> {
    let first = 1 + 1_000 * u64::from(sequence);
    let mut tickets = first..;
    let mut path = 500 * sequence as usize;
    let mut admit = |via| {
        path += 1;
        row(tickets.next().unwrap(), path, via)
    };
    let context = StepContext { current: Current::by_links(sequence), rows };
    let start = Step { rows: vec![admit(None)], ..Step::default() };
    apply::step(connection, &start, context).unwrap();
    let pages = (first..).zip([2, 0, 1, 40, 900]);
    let taken = pages.map(|(page, admitted)| {
        let rows: Vec<_> = (0..admitted).map(|_| admit(Some(page))).collect();
        let visit = VisitRow::new(Ticket(page), Moment::from_millis(3), VisitOutcome::Failed, None);
        let change = Some((Ticket(page), UrlChange::Finished));
        let step = Step { rows, visit: Some(visit), change, ..Step::default() };
        statements.take();
        assert_eq!(apply::step(connection, &step, context).unwrap(), []);
        (admitted, statements.take())
    });
    taken.collect()
}

#[test]
fn a_page_takes_three_statements_at_most_and_one_for_each_url_it_admits() {
    for (rows, lost) in [(Rows::New, false), (Rows::New, true), (Rows::Proposed, false), (Rows::Proposed, true)] {
        let mut connection = database();
        if lost {
            lost::note_found(&connection).unwrap();
        }
        let statements = Statements::of(&mut connection);
        for sequence in 0..4 {
            let own = if sequence == 0 { A_PAGE - 1 } else { A_PAGE };
            for (admitted, taken) in crawl(&connection, &statements, sequence, rows) {
                assert_eq!(taken, own + admitted, "{admitted} URLs in sequence {sequence}, {rows:?}, {lost}");
            }
        }
        let again = "SELECT count(*) FILTER (WHERE readmission IS NOT NULL) FROM url";
        let again: u64 = connection.query_row(again, [], |row| row.get(0)).unwrap();
        let history: u64 = connection.query_row("SELECT count(*) FROM history", [], |row| row.get(0)).unwrap();
        assert!(again > 1_000 && history >= again, "{again} URLs admitted again, {history} earlier states");
    }
}

#[test]
fn a_retry_takes_less() {
    let mut connection = database();
    let statements = Statements::of(&mut connection);
    for sequence in 0..2 {
        crawl(&connection, &statements, sequence, Rows::New);
        let (due, failed) = (Moment::from_millis(9), Moment::from_millis(8));
        let retry = UrlChange::Retry { attempts: 1, due, failed, reason: "closed".into() };
        let change = Some((Ticket(1 + 1_000 * u64::from(sequence)), retry));
        statements.take();
        let context = StepContext { current: Current::by_links(sequence), rows: Rows::New };
        apply::step(&connection, &Step { change, ..Step::default() }, context).unwrap();
        assert_eq!(statements.take(), 1 + sequence as usize);
    }
}
