//! What visits between sequences cost does not grow with the pages that are not visited.

use std::time::Duration;

use rusqlite::{Connection, params};

use super::{
    super::{changes::Finder, current::Current, freshness, revisits, schema},
    instructions,
};
use crate::{
    revisit::{Bounds, Budget, Fixed, GivenIntervals},
    store::{ChangeRules, DuePages, DueRequest, RevisitOrder, SecondLooks},
    time::Moment,
};

const HOUR: u64 = 3_600_000;
const CURRENT: Current = Current { sequence: 0, known_first: false, revisited: true };

/// A sequence that has come to its end with so many pages, one more missing, and what a policy learns from its visits.
fn crawled(pages: u64) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    schema::prepare(&connection).unwrap();
    let mut connection = connection;
    schema::migrate(&mut connection, 0).unwrap();
    connection
        .execute_batch(&format!(
            "INSERT INTO crawl (id, created_at, fingerprint_seed, key_rules, settings) VALUES (1, 0, 0, 'whatwg', '{{}}');
             INSERT INTO sequence (n, began_at, hash_seed, counters, links_since, end) VALUES (0, 0, 0, '{{}}', 0, 'drained');
             INSERT INTO host (id, origin) VALUES (0, 'http://h');
             WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < {pages})
             INSERT INTO url (id, host, url, fingerprint, hop, depth, rank, admitted_in, state)
             SELECT i, 0, 'http://h/' || i, unhex(printf('%032d', i)), 'link', 1, 1, 0, 'finished' FROM numbers;
             INSERT INTO visit (url, sequence, fetched_at, outcome, status, html, bytes, wire_bytes, digest, links_hash, links, change)
             SELECT id, 0, {HOUR} + id, 'stored', 200, 1, 0, 0, zeroblob(32), 0, x'', 'new' FROM url;
             UPDATE url SET visit = id"
        ))
        .unwrap();
    revisits::go_on(&connection).unwrap();
    due(&connection, 2, 0);
    let missing =
        "INSERT INTO page_state (url, condition, doubt, doubted_since, restless, flaps, calm, volatile, orphaned)
                   VALUES (1, 'there', 'missing', ?, 0, 0, 0, 0, 0)";
    connection.execute(missing, [2 * HOUR]).unwrap();
    connection
}

/// Hands out the pages that are due at an hour.
fn due(connection: &Connection, hour: u64, most: usize) -> DuePages {
    let at = Moment::from_millis(hour * HOUR);
    let order = RevisitOrder {
        at,
        budget: Budget::per_day(1_000_000.0).unwrap(),
        most,
        exploring: most.min(1),
        soonest: Duration::from_secs(1),
        given: GivenIntervals::default(),
        most_given: most,
        classed_by: "fixed".to_owned(),
    };
    let looks = SecondLooks { at, confirm: Duration::from_mins(1), gone_after: Duration::from_mins(1), most };
    let request = DueRequest { visits: Some((Box::new(Fixed::new(Bounds::default())), order)), looks: Some(looks) };
    let folder = tempfile::tempdir().unwrap();
    revisits::hand_out(connection, folder.path(), request, CURRENT).unwrap()
}

/// Reports what the visits that are new have found.
fn report(connection: &Connection) {
    let rules = ChangeRules::at_once();
    let folder = tempfile::tempdir().unwrap();
    let finder = Finder { connection, folder: folder.path(), rules: &rules, current: CURRENT, complete: false };
    freshness::looks(connection, CURRENT, finder.visits().unwrap()).unwrap();
    finder.run().unwrap();
}

/// Instructions of what is done for nine pages that are due, and at first for a second look.
fn costs(connection: &mut Connection, hour: u64) -> [u64; 4] {
    let mut handed = Vec::new();
    let first = instructions(connection, |connection| {
        handed = due(connection, hour, 9).items;
        assert!(handed.len() >= 9);
    });
    for item in &handed {
        let visit = "INSERT INTO visit (url, sequence, fetched_at, outcome, status, html, bytes, wire_bytes, digest, links_hash, links, change)
                     VALUES (?, 0, ?, 'stored', 200, 1, 0, 0, randomblob(32), 0, x'', 'changed')";
        connection.execute(visit, params![item.id.0, hour * HOUR]).unwrap();
        connection.execute("UPDATE url SET visit = last_insert_rowid() WHERE id = ?", [item.id.0]).unwrap();
    }
    let learnt = instructions(connection, |connection| drop(due(connection, hour + 1, 0)));
    let reported = instructions(connection, report);
    let nothing = instructions(connection, |connection| drop(due(connection, hour + 2, 0)));
    [first, learnt, reported, nothing]
}

#[test]
fn pages_that_are_not_due_cost_nothing() {
    let [few, many] = [200, 5_000].map(|pages| {
        let mut connection = crawled(pages);
        // The first end makes the samples of sections, as the end of a sequence does.
        costs(&mut connection, 9);
        costs(&mut connection, 19)
    });
    assert!(few.iter().zip(&many).all(|(few, many)| *many <= few + few / 10), "{few:?} and {many:?}");
}
