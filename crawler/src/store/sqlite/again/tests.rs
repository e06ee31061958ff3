use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::{
    candidate::{Hop, HostId},
    order::Order,
    queue::{Place, RefillKind, RefillRequest},
    store::{
        Abandonment, AreaRow, AreaSource, HostRow, KeptHistory, NewCrawl, NextSequence, Revisit, Step, UrlChange,
        UrlRow, VisitOutcome,
        sqlite::{Beginning, CrawlDirectory, apply, beginning, refill, resume},
    },
    time::Moment,
    url::{Canonicalizer, FingerprintSeed, WebUrl},
};

const SEED: u64 = 7;

/// What the crawl needs to go on.
fn resumed(connection: &Connection, max_depth: Option<u32>) -> crate::store::Resumed {
    let wanted = Beginning { max_depth, ..Beginning::default() };
    beginning::found(&connection.unchecked_transaction().unwrap(), &wanted).unwrap().unwrap().resumed
}

/// A crawl directory, and the sequence that is written to it.
struct Crawl {
    dir: TempDir,
    connection: Connection,
    sequence: u32,
}

impl Crawl {
    fn begin() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut directory = CrawlDirectory::open(dir.path()).unwrap();
        let new = NewCrawl {
            at: Moment::from_millis(1),
            fingerprint_seed: FingerprintSeed::new(SEED),
            key_rules: Canonicalizer::default(),
            hash_seed: 5,
            settings: "{}".to_owned(),
            areas: vec![AreaRow { url: "http://h/".to_owned(), source: AreaSource::Start }],
        };
        directory.create(&new).unwrap();
        let connection = directory.into_connection();
        let mut crawl = Self { dir, connection, sequence: 0 };
        let host = HostRow { id: HostId(0), origin: WebUrl::parse("http://h/").unwrap().origin() };
        crawl.write(&Step { hosts: vec![host], ..Step::default() });
        crawl
    }

    fn again(&mut self) {
        let mut directory = CrawlDirectory::open(self.dir.path()).unwrap();
        let next = NextSequence {
            at: Moment::from_millis(2),
            settings: "{}".to_owned(),
            areas: vec![],
            revisit: Revisit::Rediscover,
            links_stay: true,
            keep: KeptHistory::All,
        };
        directory.begin_sequence(&next).unwrap();
        self.sequence += 1;
    }

    fn write(&mut self, step: &Step) {
        let context = StepContext::of(&self.connection, Current::by_links(self.sequence), StepRows::New).unwrap();
        apply::step(&self.connection, step, context).unwrap();
    }

    fn admit(&mut self, ticket: u64, path: &str, via: Option<u64>) {
        let url = WebUrl::parse(&format!("http://h{path}")).unwrap();
        let (key, depth) = (Canonicalizer::default().key(&url), u32::from(via.is_some()));
        let fingerprint = FingerprintSeed::new(SEED).fingerprint(&key);
        let hop = if via.is_some() { Hop::Link } else { Hop::Start };
        let (via, rank) = (via.map(Ticket), i64::from(depth));
        let id = Ticket(ticket);
        let host = HostId(0);
        let redirects = 0;
        let abandoned = None;
        let row = UrlRow { id, host, url, key, fingerprint, hop, via, depth, redirects, rank, abandoned };
        self.write(&Step { rows: vec![row], ..Step::default() });
    }

    /// The final answer to an admission: a body of this one byte, or a status.
    fn answer(&mut self, ticket: u64, answer: Result<u8, u16>) {
        let outcome = if answer.is_ok() { VisitOutcome::Stored } else { VisitOutcome::Broken };
        let mut visit = VisitRow::new(Ticket(ticket), Moment::from_millis(3), outcome, None);
        visit.status = Some(answer.err().unwrap_or(200));
        visit.digest = answer.ok().map(|body| [body; 32]);
        let change = Some((Ticket(ticket), UrlChange::Finished));
        self.write(&Step { visit: Some(visit), change, ..Step::default() });
    }

    fn text(&self, query: &str) -> String {
        self.connection.query_row(query, [], |row| row.get(0)).unwrap()
    }

    fn queue(&self, kind: RefillKind) -> Vec<u64> {
        let request = RefillRequest { host: HostId(0), kind, limit: 10, max_depth: None };
        let answer = refill::answer(&self.connection, &request, Current::by_links(self.sequence)).unwrap();
        answer.rows.into_iter().map(|queued| queued.id.0).collect()
    }
}

#[test]
fn a_url_that_is_admitted_again_keeps_its_row_and_its_past() {
    let mut crawl = Crawl::begin();
    crawl.admit(1, "/", None);
    crawl.answer(1, Ok(1));
    crawl.admit(2, "/a", Some(1));
    crawl.write(&Step { change: Some((Ticket(2), UrlChange::Abandoned(Abandonment::Robots))), ..Step::default() });
    crawl.again();
    crawl.admit(3, "/b", None);
    crawl.admit(4, "/", Some(3));
    crawl.admit(5, "/a", Some(4));
    let rows = "SELECT group_concat(concat_ws(' ', id, ticket, url, via, depth, admitted_in, state, reason, visit), '; ' ORDER BY id)
                FROM url";
    let expected = "1 4 http://h/ 3 1 1 queued 1; 2 5 http://h/a 1 1 1 queued; 3 3 http://h/b 0 1 queued";
    assert_eq!(crawl.text(rows), expected);
    assert_eq!(
        crawl.text("SELECT group_concat(concat_ws(' ', url, sequence, state, reason), '; ') FROM past"),
        "2 0 abandoned robots"
    );
    let counts = |sequence| resume::counts(&crawl.connection, sequence).unwrap();
    assert_eq!((counts(0).admitted, counts(0).finished, counts(0).abandoned), (2, 1, 1));
    assert_eq!((counts(1).admitted, counts(1).queued), (3, 3));
    let resumed = resumed(&crawl.connection, None);
    assert_eq!((resumed.sequence, resumed.last_url, resumed.hash_seed), (1, 5, 5));
    assert_eq!((resumed.hosts[0].plain, resumed.hosts[0].stored, resumed.pending_starts.len()), (3, 0, 1));
}

#[test]
fn changes_name_the_row_by_its_ticket_and_write_to_its_id() {
    let mut crawl = Crawl::begin();
    crawl.admit(1, "/", None);
    crawl.admit(2, "/a", Some(1));
    crawl.again();
    crawl.admit(3, "/a", None);
    let retry = UrlChange::Retry {
        attempts: 1,
        due: Moment::from_millis(9),
        failed: Moment::from_millis(8),
        reason: "closed".into(),
    };
    crawl.write(&Step { change: Some((Ticket(3), retry)), ..Step::default() });
    assert_eq!(crawl.text("SELECT group_concat(id || ' ' || attempts, '; ') FROM url WHERE due = 9"), "2 1");
    let due = RefillKind::Due { after: Moment::EPOCH, id: Ticket(0), until: Moment::from_millis(9) };
    assert_eq!(crawl.queue(due), [3]);
    crawl.answer(3, Ok(1));
    assert_eq!(crawl.text("SELECT group_concat(url || ' ' || sequence, '; ') FROM visit"), "2 1");
}

#[test]
fn one_that_was_left_in_the_middle_of_its_attempts_begins_anew() {
    let mut crawl = Crawl::begin();
    crawl.admit(1, "/", None);
    let retry = UrlChange::Retry {
        attempts: 3,
        due: Moment::from_millis(9),
        failed: Moment::from_millis(8),
        reason: "closed".into(),
    };
    crawl.write(&Step { change: Some((Ticket(1), retry)), ..Step::default() });
    crawl.again();
    crawl.admit(2, "/", None);
    let row = "SELECT concat_ws(' ', state, attempts, due, reason, visit) FROM url";
    assert_eq!((crawl.text(row), crawl.queue(RefillKind::Beyond(Place::FIRST))), ("queued 0".to_owned(), vec![2]));
    assert_eq!(crawl.text("SELECT concat_ws(' ', state, reason) FROM past"), "queued closed");
}

#[test]
fn a_queue_holds_its_own_sequence_in_the_order_of_tickets() {
    let mut crawl = Crawl::begin();
    for (ticket, path) in [(1, "/a"), (2, "/b"), (3, "/c"), (4, "/left")] {
        crawl.admit(ticket, path, None);
    }
    crawl.again();
    for (ticket, path) in [(5, "/c"), (6, "/new"), (7, "/a")] {
        crawl.admit(ticket, path, None);
    }
    assert_eq!(crawl.queue(RefillKind::Beyond(Place::FIRST)), [5, 6, 7]);
    assert_eq!(crawl.queue(RefillKind::Beyond(Place { rank: 0, id: Ticket(5) })), [6, 7]);
    let resumed = resumed(&crawl.connection, Some(9));
    let starts: Vec<_> = resumed.pending_starts.iter().map(|start| start.id.0).collect();
    assert_eq!(
        (resumed.hosts[0].plain, resumed.hosts[0].by_depth.as_slice(), starts),
        (3, &[(0, 3)][..], vec![7, 5, 6])
    );
    crawl.connection.execute_batch("UPDATE url SET depth = 1, rank = 1").unwrap();
    let ranking = Order::Depth.into();
    let beginning = Beginning { ranking: Some(&ranking), ..Beginning::default() };
    CrawlDirectory::open(crawl.dir.path()).unwrap().begin(&beginning).unwrap();
    assert_eq!(crawl.text("SELECT group_concat(rank, ' ' ORDER BY ticket) FROM url"), "1 1 -1 -1 -1");
    crawl.write(&Step { closed: Some((HostId(0), Abandonment::Address)), ..Step::default() });
    assert_eq!(crawl.text("SELECT group_concat(url, ' ') FROM url WHERE state = 'queued'"), "http://h/b http://h/left");
}

#[test]
fn a_visit_is_compared_with_the_latest_copy() {
    let answers = [Ok(1), Ok(1), Err(500), Ok(1), Ok(2), Err(404), Err(410), Ok(2)];
    let mut crawl = Crawl::begin();
    for (ticket, answer) in (1..).zip(answers) {
        crawl.admit(ticket, "/", None);
        crawl.answer(ticket, answer);
        crawl.again();
    }
    let changes = crawl.text("SELECT group_concat(coalesce(change, '-'), ' ' ORDER BY id) FROM visit");
    assert_eq!(changes, "new unchanged - unchanged changed gone gone unchanged");
    crawl.admit(9, "/never", None);
    crawl.answer(9, Err(404));
    assert_eq!(crawl.text("SELECT coalesce(change, '-') FROM visit WHERE url = 9"), "-");
}
