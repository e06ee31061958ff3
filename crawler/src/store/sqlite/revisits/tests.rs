use super::*;
use crate::{
    purpose::Purpose,
    revisit::{
        Bounds, Budget, Class, Fixed, GivenInterval, GivenIntervals, Hint, Importance, Multiplicative, Optimal,
        RevisitPolicy, SectionPath, Sections,
    },
    store::SecondLooks,
    time::Moment,
};

const HOUR: u64 = 3_600_000;

/// A sequence 0 that has come to its end, with the pages 1 to 5, the first one visited first: of 5 only a redirect is known.
fn drained() -> Connection {
    let mut connection = Connection::open_in_memory().unwrap();
    schema::migrate(&mut connection, 0).unwrap();
    connection
        .execute_batch(
            "INSERT INTO crawl (id, created_at, fingerprint_seed, key_rules, settings) VALUES (1, 0, 0, 'whatwg', '{}');
             INSERT INTO sequence (n, began_at, hash_seed, counters, links_since, end) VALUES (0, 0, 0, '{}', 0, 'drained');
             INSERT INTO host (id, origin) VALUES (0, 'http://h');",
        )
        .unwrap();
    for page in 1..=5_u64 {
        let url = "INSERT INTO url (id, host, url, fingerprint, hop, depth, rank, admitted_in, state)
                   VALUES (?1, 0, 'http://h/' || ?1, ?2, 'link', 1, 1, 0, 'finished')";
        connection.execute(url, params![page, [page.to_be_bytes(), [7; 8]].concat()]).unwrap();
        visit(&connection, page, page, if page == 5 { "redirected" } else { "stored" }, Some("new"));
        connection.execute("UPDATE url SET visit = id WHERE id = ?", [page]).unwrap();
    }
    connection
}

fn visit(connection: &Connection, page: u64, hour: u64, outcome: &str, change: Option<&str>) {
    let insert = "INSERT INTO visit (url, sequence, fetched_at, outcome, status, html, bytes, wire_bytes, digest, links_hash, links, change, etag)
                  VALUES (?, 0, ?, ?, 200, 0, 0, 0, zeroblob(32), 0, x'', ?, x'22')";
    connection.execute(insert, params![page, hour * HOUR, outcome, change]).unwrap();
}

fn order(hour: u64, most: usize, exploring: usize) -> RevisitOrder {
    let at = Moment::from_millis(hour * HOUR);
    let soonest = std::time::Duration::from_secs(1);
    let budget = Budget::per_day(24.0).unwrap();
    let (given, classed_by) = (GivenIntervals::default(), "optimal".to_owned());
    RevisitOrder { at, budget, most, exploring, soonest, given, most_given: 9, classed_by }
}

/// The numbers of the pages that are due.
fn pages(found: &DuePages) -> Vec<u64> {
    let mut pages: Vec<_> = found.items.iter().map(|item| item.id.0).collect();
    pages.sort_unstable();
    pages
}

fn due(connection: &Connection, policy: impl RevisitPolicy + 'static, order: RevisitOrder) -> DuePages {
    let folder = tempfile::tempdir().unwrap();
    let request = DueRequest { visits: Some((Box::new(policy), order)), looks: None };
    hand_out(connection, folder.path(), request, Current::of(connection, 0).unwrap()).unwrap()
}

/// What is learnt alone.
fn learn(connection: &Connection, policy: impl RevisitPolicy + 'static) {
    due(connection, policy, order(0, 0, 0));
}

#[test]
fn pages_that_are_due_are_handed_out_with_what_is_known_of_their_copies() {
    let connection = drained();
    // One visit an hour for four pages: each is due after four hours.
    let found = due(&connection, Fixed::new(Bounds::default()), order(6, 9, 0));
    assert_eq!((found.pages, found.divided, found.next), (4, 2, None));
    let known = Some(b"\"".as_slice().into());
    let etag = |item: &WorkItem| item.validators().and_then(|known| known.etag.clone());
    let items: Vec<_> = found.items.iter().map(|item| (item.id.0, item.purpose, etag(item))).collect();
    assert_eq!(items, [(1, Purpose::Due, known.clone()), (2, Purpose::Due, known)]);
    // They come last from now on, whatever becomes of their visits, and others are handed out beside them.
    let others = due(&connection, Fixed::new(Bounds::default()), order(9, 9, 0));
    assert_eq!(pages(&others), [3, 4]);
    let again = due(&connection, Fixed::new(Bounds::default()), order(11, 9, 0));
    assert_eq!(pages(&again), [1, 2]);
}

#[test]
fn no_more_are_handed_out_than_there_may_be_and_the_longest_unvisited_have_their_share() {
    let connection = drained();
    let policy = || Fixed::new(Bounds::default());
    let early = due(&connection, policy(), order(4, 9, 0));
    // The interval is found by halving.
    let next = early.next.unwrap().millis();
    assert!(early.divided == 0 && next.abs_diff(5 * HOUR) < 10, "{early:?}");
    assert_eq!(due(&connection, policy(), order(20, 0, 0)).divided, 0);
    assert_eq!(pages(&due(&connection, policy(), order(4, 2, 1))), [1]);
    assert_eq!(pages(&due(&drained(), policy(), order(20, 3, 1))), [1, 2, 3]);
}

#[test]
fn each_visit_is_learnt_from_once() {
    let connection = drained();
    let policy = || Multiplicative::new(Bounds::default());
    learn(&connection, policy());
    visit(&connection, 1, 7, "stored", Some("changed"));
    visit(&connection, 2, 7, "stored", Some("unchanged"));
    visit(&connection, 3, 7, "failed", None);
    visit(&connection, 4, 7, "redirected", None);
    for _ in 0..2 {
        learn(&connection, policy());
        let mut select = connection.prepare("SELECT url, class, visited_at, state FROM revisit ORDER BY url").unwrap();
        let page = |row: &rusqlite::Row<'_>| {
            let page = crate::revisit::PageState::from_bytes(row.get(3)?, Class(row.get(1)?));
            Ok((row.get::<_, u64>(0)?, page.class.0, row.get::<_, u64>(2)? / HOUR, page.visits, page.changes))
        };
        let found: Vec<_> = select.query_map([], page).unwrap().map(Result::unwrap).collect();
        assert_eq!(found, [(1, 125, 7, 1.0, 1.0), (2, 132, 7, 1.0, 0.0), (3, 128, 7, 0.0, 0.0)]);
    }
}

#[test]
fn what_cannot_be_had_leaves_the_plan() {
    let connection = drained();
    connection.execute("UPDATE url SET state = 'abandoned', reason = 'robots' WHERE id = 1", []).unwrap();
    assert_eq!(pages(&due(&connection, Fixed::new(Bounds::default()), order(20, 9, 0))), [2, 3, 4]);
    let left: u64 = connection.query_row("SELECT count(*) FROM revisit", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 3);
}

#[test]
fn planning_reads_the_index_alone() {
    let connection = drained();
    for query in [due::OLDEST, due::NEXT] {
        let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {query}")).unwrap();
        let steps: Result<Vec<String>> = plan.query_map([0, 0], |row| row.get(3)).unwrap().collect();
        let steps = steps.unwrap();
        assert!(steps.iter().all(|step| step.contains("COVERING INDEX revisit_due")), "{steps:?}");
    }
}

/// How many rows of each class there are said to be, and are.
fn assert_classes(connection: &Connection) {
    let classes = |query: &str| -> Vec<(u32, u64)> {
        let mut select = connection.prepare(query).unwrap();
        select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
    };
    let kept = classes("SELECT class, pages FROM revisit_class WHERE pages <> 0 ORDER BY class");
    assert_eq!(kept, classes("SELECT class, count(*) FROM revisit GROUP BY class ORDER BY class"));
}

/// The same, and what is kept of sections and would be, were it made of all rows.
fn assert_sums(connection: &Connection) {
    assert_classes(connection);
    let mut anew = Optimal::default();
    let mut select = connection
        .prepare("SELECT revisit.url, class, revisit.state, weight, url.url FROM revisit JOIN url ON id = revisit.url")
        .unwrap();
    let mut rows = select.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let page = book::Remembered::of(row).unwrap();
        if page.is_divided() {
            anew.recall(&page.page, &SectionPath::of(row.get_ref(4).unwrap().as_str().unwrap()));
        }
    }
    let expected = anew.sections().map(Sections::take_changed).unwrap();
    let mut select = connection.prepare("SELECT section, pages, rates FROM revisit_section WHERE pages > 0").unwrap();
    let section = |row: &rusqlite::Row<'_>| {
        let section = crate::revisit::Section { pages: row.get(1)?, rates: row.get(2)? };
        Ok((row.get::<_, i64>(0)?.cast_unsigned(), section))
    };
    let mut found: Vec<_> = select.query_map([], section).unwrap().map(Result::unwrap).collect();
    found.sort_by_key(|(number, _)| *number);
    assert_eq!(found, expected);
}

/// Visits at random, some of pages in folders, learnt from in batches by a policy that is made anew each time.
#[test]
fn what_is_learnt_a_little_at_a_time_is_what_all_rows_say() {
    let connection = drained();
    let folders = "UPDATE url SET url = 'http://h/' || char(97 + id % 3) || '/' || char(97 + id % 2) || '/' || id";
    connection.execute(folders, []).unwrap();
    let mut seed = 7_u64;
    let mut at_random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for round in 0..40 {
        for _ in 0..at_random(6) {
            let (outcome, change) = match at_random(8) {
                0 => ("redirected", None),
                1 => ("failed", None),
                2..=4 => ("stored", Some("changed")),
                _ => ("stored", Some("unchanged")),
            };
            visit(&connection, 1 + at_random(5), 10 + round, outcome, change);
        }
        learn(&connection, Optimal::new(Bounds::default(), 0.05));
        assert_sums(&connection);
    }
    let learnt: (i64, i64) = connection
        .query_row("SELECT learnt, (SELECT max(id) FROM visit) FROM crawl", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    assert_eq!(learnt.0, learnt.1);
    // Another policy has other classes, and back again.
    let another = RevisitOrder { classed_by: "multiplicative".to_owned(), ..order(60, 0, 0) };
    due(&connection, Multiplicative::new(Bounds::default()), another);
    let sections: u64 = connection.query_row("SELECT count(*) FROM revisit_section", [], |row| row.get(0)).unwrap();
    assert_eq!(sections, 0);
    learn(&connection, Optimal::new(Bounds::default(), 0.05));
    assert_sums(&connection);
}

#[test]
fn learning_reads_no_page_that_was_not_visited() {
    let connection = drained();
    learn(&connection, Optimal::new(Bounds::default(), 0.05));
    let page = connection.query_row("SELECT state FROM revisit WHERE url = 1", [], |row| row.get::<_, Vec<u8>>(0));
    visit(&connection, 2, 7, "stored", Some("changed"));
    // It would not be understood, were it read.
    connection.execute("UPDATE revisit SET state = x'00' WHERE url = 1", []).unwrap();
    learn(&connection, Optimal::new(Bounds::default(), 0.05));
    connection.execute("UPDATE revisit SET state = ? WHERE url = 1", [page.unwrap()]).unwrap();
    assert_sums(&connection);
}

#[test]
fn pages_with_an_interval_of_their_own_are_due_after_it() {
    let connection = drained();
    let rule = |pattern, hours: u64| GivenInterval {
        pattern: regex::Regex::new(pattern).unwrap(),
        interval: std::time::Duration::from_secs(hours * 3600),
    };
    let given = GivenIntervals::new(vec![rule("/[12]$", 2), rule("/[23]$", 5)]);
    let sections =
        |hour, most| RevisitOrder { given: given.clone(), classed_by: given.patterns(), ..order(hour, most, 0) };
    // Visited at 1, 2, 3 and 4: 1 and 2 are due from 3 and 4 on, 3 from 8 on.
    let found = due(&connection, Fixed::new(Bounds::default()), sections(3, 0));
    let next = |found: &DuePages| found.next_given.map(|next| next.millis() / HOUR);
    assert_eq!((found.pages, found.given, next(&found), pages(&found)), (1, 1, Some(4), vec![1]));
    assert_classes(&connection);
    visit(&connection, 1, 3, "stored", Some("unchanged"));
    let found = due(&connection, Fixed::new(Bounds::default()), sections(8, 9));
    assert_eq!((found.divided, found.given, next(&found)), (1, 3, Some(10)));
    assert_eq!(pages(&found), [1, 2, 3, 4]);
    // Without rules all are divided again.
    let found = due(&connection, Fixed::new(Bounds::default()), order(9, 0, 0));
    assert_eq!((found.pages, found.given), (4, 0));
    assert_classes(&connection);
}

#[test]
fn what_pages_link_to_weighs_more_after_their_sequence() {
    let connection = drained();
    // 1 is linked from all, 2 from two (twice from one of them), 3 from one.
    for (page, links) in [(1_u64, vec![1_u64, 2, 2]), (2, vec![1, 2]), (3, vec![1, 3]), (4, vec![1])] {
        let links: Vec<u8> = links.iter().flat_map(|link| link.to_be_bytes()).collect();
        connection.execute("UPDATE visit SET links = ? WHERE url = ?", params![links, page]).unwrap();
    }
    let weights = |connection: &Connection| -> Vec<(u8, u8)> {
        let mut select = connection.prepare("SELECT weight, class FROM revisit ORDER BY url").unwrap();
        let class = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, u8>(1)? / 64));
        select.query_map([], class).unwrap().map(Result::unwrap).collect()
    };
    learn(&connection, Fixed::new(Bounds::default()));
    let weighed = |connection: &Connection| -> Option<u32> {
        connection.query_row("SELECT weighed FROM crawl", [], |row| row.get(0)).unwrap()
    };
    assert_eq!((weights(&connection), weighed(&connection)), (vec![(0, 0); 4], None), "it costs nothing");
    let optimal = || RevisitOrder { classed_by: "another".to_owned(), ..order(0, 0, 0) };
    due(&connection, Optimal::default(), optimal());
    let levels = [4, 2, 1, 0].map(|links| Importance::of_links(links).level());
    assert_eq!(weights(&connection), levels.map(|level| (level, level)));
    assert_eq!(weighed(&connection), Some(0));
    assert_sums(&connection);
    // A visit keeps the weight.
    visit(&connection, 1, 7, "stored", Some("changed"));
    due(&connection, Optimal::default(), optimal());
    assert_eq!(weights(&connection)[0], (levels[0], levels[0]));
    assert_sums(&connection);
}

#[test]
fn a_page_is_expected_to_change_as_its_server_says() {
    let connection = drained();
    connection.execute_batch("UPDATE visit SET steady = 3600 WHERE url = 1").unwrap();
    learn(&connection, Optimal::default());
    let mut select = connection.prepare("SELECT class FROM revisit ORDER BY url").unwrap();
    let classes: Vec<u8> = select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let about = |hint| crate::revisit::About { hint, ..crate::revisit::About::at(SectionPath::of("/")) };
    let expected = [Hint::of_seconds(3600), None].map(|hint| Optimal::default().admit(&about(hint)).0);
    assert_eq!(classes, [expected[0], expected[1], expected[1], expected[1]]);
    assert!(expected[0] < expected[1]);
}

/// A page in doubt since an hour, its last visit being the one that was made then.
fn doubt(connection: &Connection, page: u64, doubt: &str, hour: u64, status: u16) {
    let insert =
        "INSERT INTO page_state (url, condition, doubt, doubted_since, restless, flaps, calm, volatile, orphaned)
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
    let look = |hour: u64| {
        let pause = |hours| std::time::Duration::from_hours(hours);
        let looks =
            SecondLooks { at: Moment::from_millis(hour * HOUR), confirm: pause(2), gone_after: pause(10), most: 9 };
        let request = DueRequest { visits: None, looks: Some(looks) };
        let found = hand_out(&connection, Path::new(""), request, Current::of(&connection, 0).unwrap()).unwrap();
        (pages(&found), found.next_look.map(|next| next.millis() / HOUR))
    };
    assert_eq!(look(11), (vec![], Some(12)));
    assert_eq!(look(13), (vec![2, 3], Some(14)));
    assert_eq!(look(13), (vec![], Some(14)), "what was handed out is in memory");
    // The server failed: that was the look. The next sequence comes before the next.
    visit(&connection, 2, 13, "failed", None);
    visit(&connection, 3, 13, "failed", None);
    let ended = "UPDATE url SET visit = (SELECT max(id) FROM visit WHERE visit.url = url.id)";
    connection.execute_batch(ended).unwrap();
    assert_eq!(look(15), (vec![4], Some(20)));
}
