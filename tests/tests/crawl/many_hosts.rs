//! Crawls of many hosts.

use webloom_tests::{
    server::Server,
    webloom::{Webloom, assert_clean},
};

use crate::{Folder, assert_asked_once, assert_counts, star};

/// More than refills that may be open at a time.
const HOSTS: usize = 20;

#[test]
fn more_hosts_than_open_refills_go_on() {
    let at = |number: usize| Server::start(&format!("127.0.0.{}", number + 1), star(3)).unwrap();
    let servers: Vec<Server> = (0..HOSTS).map(at).collect();
    let starts: Vec<String> = servers.iter().map(|server| server.url("/")).collect();
    // No answer comes between a host's turn and its refill, so that all of them want theirs at the same moment.
    let ignored: Vec<String> = (1..=HOSTS).map(|number| format!("--ignore-robots=127.0.0.{number}")).collect();
    let folder = Folder::new();
    let first = Webloom::crawl(&folder.crawl(), &starts[0]).args(&starts[1..]).args(&ignored);
    let summary = first.args(["--max-pages", "5"]).run().expect(0).json();
    assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"budget".into(), &5.into()));
    assert_clean(&folder.crawl());
    let rest = Webloom::go_on(&folder.crawl()).args(["--max-pages", "none"]).run().expect(0).json();
    assert_eq!((&rest["end"], &rest["pages"]["stored"]), (&"drained".into(), &(HOSTS * 4).into()));
    assert_counts(&rest);
    assert_clean(&folder.crawl());
    for server in servers {
        assert_asked_once(&server, &["/", "/1", "/2", "/3"]);
    }
}
