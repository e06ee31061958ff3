use super::*;
use crate::{
    candidate::{HostId, Ticket},
    queue::{Place, Purpose, RefillKind, RefillRequest},
    revisit::{Bounds, Budget, Fixed, Multiplicative},
    store::sqlite::{
        again::{Current, Tickets},
        refill,
    },
    time::Moment,
};

const HOUR: u64 = 3_600_000;

/// A sequence 0 that has come to its end, with the pages 1 to 5, the first one visited first: of 5 only a redirect is known.
fn drained() -> Connection {
    let mut connection = Connection::open_in_memory().unwrap();
    schema::migrate(&mut connection, 0).unwrap();
    connection
        .execute_batch(
            "INSERT INTO crawl (id, created_at, fingerprint_seed, settings) VALUES (1, 0, 0, '{}');
             INSERT INTO sequence (n, began_at, hash_seed, counters, links_since, end) VALUES (0, 0, 0, '{}', 0, 'drained');
             INSERT INTO host (id, origin) VALUES (0, 'http://h');",
        )
        .unwrap();
    for page in 1..=5_u64 {
        let url = "INSERT INTO url (id, host, url, fingerprint, hop, depth, rank, admitted_in, state)
                   VALUES (?1, 0, 'http://h/' || ?1, ?1, 'link', 1, 1, 0, 'finished')";
        connection.execute(url, [page]).unwrap();
        visit(&connection, page, page, if page == 5 { "redirected" } else { "stored" }, Some("new"));
        connection.execute("UPDATE url SET visit = id WHERE id = ?", [page]).unwrap();
    }
    connection
}

fn visit(connection: &Connection, page: u64, hour: u64, outcome: &str, change: Option<&str>) {
    let insert = "INSERT INTO visit (url, sequence, fetched_at, outcome, status, html, bytes, wire_bytes, digest, links, change, etag)
                  VALUES (?, 0, ?, ?, 200, 0, 0, 0, zeroblob(32), x'', ?, x'22')";
    connection.execute(insert, params![page, hour * HOUR, outcome, change]).unwrap();
}

fn order(hour: u64, most: usize, exploring: usize) -> RevisitOrder {
    let at = Moment::from_millis(hour * HOUR);
    let soonest = std::time::Duration::from_secs(1);
    RevisitOrder { at, budget: Budget::per_day(24.0).unwrap(), most, exploring, soonest }
}

fn queued(connection: &Connection) -> Vec<u64> {
    let mut select = connection.prepare("SELECT id FROM url WHERE state = 'queued' ORDER BY id").unwrap();
    select.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

fn queue_due(connection: &Connection, policy: &mut dyn RevisitPolicy, order: &RevisitOrder) -> DuePages {
    let pause = std::time::Duration::from_hours(1);
    let looks = SecondLooks { at: order.at, confirm: pause, gone_after: pause };
    queue(connection, Some((policy, order)), &looks).unwrap()
}

#[test]
fn pages_that_are_due_are_queued_with_what_is_known_of_their_copies() {
    let connection = drained();
    // One visit an hour for four pages: each is due after four hours.
    let found = queue_due(&connection, &mut Fixed::new(Bounds::default()), &order(6, 9, 0));
    assert_eq!((found.pages, found.queued, found.next), (4, 2, None));
    assert_eq!(queued(&connection), [1, 2]);
    let current = Current::of(&connection, 0).unwrap();
    let kind = RefillKind::Beyond(Place::FIRST);
    let request = RefillRequest { host: HostId(0), kind, limit: 9, max_depth: None };
    let rows = refill::answer(&connection, &request, current).unwrap().rows;
    let etag = |row: &crate::queue::WorkItem| row.validators.as_ref().and_then(|known| known.etag.clone());
    let found: Vec<_> = rows.iter().map(|row| (row.id.0, row.purpose, etag(row))).collect();
    let known = Some(b"\"".as_slice().into());
    assert_eq!(found, [(1, Purpose::Revisit, known.clone()), (2, Purpose::Revisit, known)]);
    let copy = Tickets::new(&connection, current).url(Ticket(2)).unwrap().copy;
    assert_eq!(copy.map(|copy| copy.visit), Some(2));
    // Nothing more before these were visited.
    assert_eq!(queue_due(&connection, &mut Fixed::new(Bounds::default()), &order(9, 9, 0)).queued, 0);
}

#[test]
fn no_more_are_queued_than_there_may_be_and_the_longest_unvisited_have_their_share() {
    let connection = drained();
    let mut policy = Fixed::new(Bounds::default());
    let early = queue_due(&connection, &mut policy, &order(4, 9, 0));
    // The interval is found by halving.
    let next = early.next.unwrap().millis();
    assert!(early.queued == 0 && next.abs_diff(5 * HOUR) < 10, "{early:?}");
    assert_eq!(queue_due(&connection, &mut policy, &order(20, 0, 0)).queued, 0);
    assert_eq!(queue_due(&connection, &mut policy, &order(4, 2, 1)).queued, 1);
    assert_eq!(queued(&connection), [1]);
    let other = drained();
    assert_eq!(queue_due(&other, &mut policy, &order(20, 3, 1)).queued, 3);
    assert_eq!(queued(&other), [1, 2, 3]);
}

#[test]
fn each_visit_is_learnt_from_once() {
    let connection = drained();
    let mut policy = Multiplicative::new(Bounds::default());
    learning::learn(&connection, &mut policy).unwrap();
    visit(&connection, 1, 7, "stored", Some("changed"));
    visit(&connection, 2, 7, "stored", Some("unchanged"));
    visit(&connection, 3, 7, "failed", None);
    visit(&connection, 4, 7, "redirected", None);
    for _ in 0..2 {
        learning::learn(&connection, &mut policy).unwrap();
        let mut select = connection.prepare("SELECT url, class, visited_at, state FROM revisit ORDER BY url").unwrap();
        let page = |row: &rusqlite::Row<'_>| {
            let page = crate::revisit::PageState::from_bytes(row.get(3)?, Class(row.get(1)?));
            Ok((row.get::<_, u64>(0)?, page.class.0, row.get::<_, u64>(2)? / HOUR, page.visits, page.changes))
        };
        let found: Vec<_> = select.query_map([], page).unwrap().map(Result::unwrap).collect();
        assert_eq!(found, [(1, 124, 7, 1.0, 1.0), (2, 133, 7, 1.0, 0.0), (3, 128, 7, 0.0, 0.0)]);
    }
}

#[test]
fn what_cannot_be_had_leaves_the_plan() {
    let connection = drained();
    connection.execute("UPDATE url SET state = 'abandoned', reason = 'robots' WHERE id = 1", []).unwrap();
    let found = queue_due(&connection, &mut Fixed::new(Bounds::default()), &order(20, 9, 0));
    assert_eq!((found.queued, queued(&connection)), (3, vec![2, 3, 4]));
    let left: u64 = connection.query_row("SELECT count(*) FROM revisit", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 3);
}

#[test]
fn planning_reads_the_index_alone() {
    let connection = drained();
    for query in [CENSUS, due::OLDEST] {
        let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {query}")).unwrap();
        let values: &[i64] = if query == CENSUS { &[] } else { &[0, 0] };
        let steps: rusqlite::Result<Vec<String>> =
            plan.query_map(rusqlite::params_from_iter(values), |row| row.get(3)).unwrap().collect();
        let steps = steps.unwrap();
        assert!(steps.iter().all(|step| step.contains("COVERING INDEX revisit_due")), "{steps:?}");
    }
}

/// A page in doubt since an hour, its last visit being the one that was made then.
fn doubt(connection: &Connection, page: u64, doubt: &str, hour: u64, status: u16) {
    let insert =
        "INSERT INTO standing (url, condition, doubt, doubted_since, restless, flaps, calm, volatile, orphaned)
                  VALUES (?, 'there', ?, ?, 0, 0, 0, 0, 0)";
    connection.execute(insert, params![page, doubt, hour * HOUR]).unwrap();
    visit(connection, page, hour, "broken", None);
    let last = "UPDATE visit SET status = ? WHERE id = (SELECT max(id) FROM visit)";
    connection.execute(last, [status]).unwrap();
    connection.execute("UPDATE url SET visit = (SELECT max(id) FROM visit) WHERE id = ?", [page]).unwrap();
}

#[test]
fn a_second_look_is_due_once_and_so_long_after_the_first() {
    let connection = drained();
    for (page, what, hour, status) in [
        (1, "missing", 10, 404),
        (2, "missing", 10, 410),
        (3, "shrunk", 11, 200),
        (4, "mass", 12, 200),
        (5, "cut", 1, 200),
    ] {
        doubt(&connection, page, what, hour, status);
    }
    let queue = |hour: u64| {
        let pause = |hours| std::time::Duration::from_hours(hours);
        let looks = SecondLooks { at: Moment::from_millis(hour * HOUR), confirm: pause(2), gone_after: pause(10) };
        let found = queue(&connection, None, &looks).unwrap();
        (found.looks, found.next_look.map(|next| next.millis() / HOUR))
    };
    assert_eq!((queue(11), queued(&connection)), ((0, Some(12)), vec![]));
    assert_eq!((queue(13), queued(&connection)), ((2, Some(14)), vec![2, 3]));
    let state: (u32, Option<String>) =
        connection.query_row("SELECT revisited, end FROM sequence", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(state, (1, None));
    assert_eq!(queue(20), (0, None), "what is queued comes first");
    // The server failed: that was the look. The next sequence comes before the next.
    visit(&connection, 2, 13, "failed", None);
    visit(&connection, 3, 13, "failed", None);
    let ended = "UPDATE url SET state = 'finished', visit = (SELECT max(id) FROM visit WHERE visit.url = url.id);
                 UPDATE sequence SET end = 'drained'";
    connection.execute_batch(ended).unwrap();
    assert_eq!((queue(15), queued(&connection)), ((1, Some(20)), vec![4]));
}
