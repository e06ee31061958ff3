//! More robots.txt files than memory keeps.

use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior};
use webloom_tests::{
    server::{Reply, Server},
    webloom::{Webloom, assert_clean},
};

use crate::{Folder, assert_asked_once, assert_counts, star};

/// Together about 24 MB when parsed; 16 MiB are kept.
const HOSTS: u8 = 48;

/// A site of a start page and three more, one of them forbidden by a robots.txt near the limit of 500 KiB.
fn host(number: u8) -> Server {
    let rule = |line: usize| format!("Disallow: /{line}-{}\n", "x".repeat(1_000));
    let robots = format!("User-agent: *\nDisallow: /2\n{}", (100..590).map(rule).collect::<String>());
    let site = star(3);
    let answer = move |asked: &webloom_tests::server::Asked| match asked.target.as_str() {
        "/robots.txt" => Reply::text(&robots),
        _ => site(asked),
    };
    Server::start(&format!("127.0.0.{number}"), answer).expect("a free port")
}

fn hosts() -> Vec<Server> {
    (1..=HOSTS).map(host).collect()
}

fn crawl(hosts: &[Server], folder: &Folder) -> Webloom {
    let starts = hosts[1..].iter().map(|host| host.url("/"));
    Webloom::crawl(&folder.crawl(), &hosts[0].url("/")).args(starts)
}

#[test]
fn what_was_forgotten_is_read_from_the_database() {
    let (hosts, folder) = (hosts(), Folder::new());
    let run = crawl(&hosts, &folder).args(["--delay", "20ms"]);
    let run = run.env("WEBLOOM_LOG_LEVEL", "info,webloom::engine=debug").run().expect(0);
    let summary = run.json();
    assert_counts(&summary);
    assert_clean(&folder.crawl());
    for host in &hosts {
        assert_asked_once(host, &["/", "/1", "/3"]);
        assert_eq!(host.count("/robots.txt"), 1, "asked for once, however often it is needed");
    }
    assert_eq!(summary["urls"]["abandoned"]["robots"], HOSTS);
    let read = run.stderr.matches("reading its robots.txt from the database again").count();
    assert!(read > usize::from(HOSTS) / 4, "{read} read again");
}

#[test]
fn a_budget_counts_the_pages_that_wait_for_it() {
    let (hosts, folder) = (hosts(), Folder::new());
    let run = crawl(&hosts, &folder).args(["--max-pages", "100"]);
    assert_eq!(run.run().expect(0).json()["pages"]["stored"], 100);
    assert_clean(&folder.crawl());
    let rest = Webloom::go_on(&folder.crawl()).args(["--max-pages", "none"]).run().expect(0).json();
    assert_eq!((&rest["end"], &rest["pages"]["stored"]), (&"drained".into(), &(3 * u64::from(HOSTS)).into()));
    assert!(hosts.iter().all(|host| host.count("/1") == 1));
}

/// What waits for the database is not sent in a burst when the answer comes.
#[test]
fn the_rate_holds_for_what_waited() {
    let (hosts, folder) = (hosts(), Folder::new());
    let run = crawl(&hosts, &folder).args(["--max-rate", "50"]).spawn();
    for host in &hosts {
        host.wait_for("/robots.txt", 1);
    }
    // While somebody else writes, nothing is read again, and leases wait for it.
    let mut other = Connection::open(folder.crawl().join("webloom.sqlite")).unwrap();
    let lock = other.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    for host in &hosts {
        host.wait_for_silence(Duration::from_millis(100));
    }
    let released = Instant::now();
    drop(lock);
    assert_eq!(run.wait().expect(0).json()["pages"]["stored"], 3 * u64::from(HOSTS));
    let hits = hosts.iter().flat_map(Server::log).map(|hit| hit.began);
    let mut began: Vec<_> = hits.filter(|began| *began >= released).collect();
    began.sort_unstable();
    // Eight take 140 ms; a busy machine sends some of them late, and so nearer to the next.
    let least = began.windows(8).map(|window| window[7] - window[0]).min().expect("most requests came after it");
    assert!(least > Duration::from_millis(20), "8 requests in {least:?}");
}
