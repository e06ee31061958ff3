//! Crawls of many hosts.

use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{Webloom, assert_clean},
};

use crate::{Folder, assert_asked_once, assert_counts, serve, star};

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

/// What a server answers that has all names: `/` of each links to a page of each.
fn names(asked: &Asked) -> Reply {
    let is_host = |line: &&String| line.to_lowercase().starts_with("host:");
    let port = asked.headers.iter().find(is_host).and_then(|line| line.rsplit(':').next()).unwrap_or_default();
    match asked.target.as_str() {
        "/robots.txt" => Reply::status(404),
        "/" => Reply::links(NAMES.map(|name| format!("http://{name}:{port}/{name}"))),
        _ => Reply::html("the end"),
    }
}

/// Names that all lead to one server.
const NAMES: [&str; 6] =
    ["docs.shop.co.uk", "shop.co.uk", "a.b.shop.co.uk", "other.co.uk", "me.github.io", "you.github.io"];

/// Crawls from `/` of the first name, and of `me.github.io`; the paths that were asked for, which are the names.
fn crawled(scope: &str) -> Vec<String> {
    let (server, folder) = (serve(names), Folder::new());
    let start = |name: &str| format!("http://{name}:{}/", server.port());
    let mut run = Webloom::crawl(&folder.crawl(), &start(NAMES[0])).args([&*start("me.github.io"), "--scope", scope]);
    for name in NAMES {
        let there = format!("{name}:{}:127.0.0.1", server.port());
        run = run.args(["--resolve", &there, "--allow-private", name]);
    }
    let summary = run.run().expect(0).json();
    assert_eq!(summary["end"], "drained", "{summary}");
    assert_counts(&summary);
    assert_clean(&folder.crawl());
    let mut asked = server.targets();
    asked.retain(|target| target != "/robots.txt" && target != "/");
    asked.sort_unstable();
    asked.into_iter().map(|target| target.trim_start_matches('/').to_owned()).collect()
}

#[test]
fn a_scope_has_its_host_its_domain_or_every_name() {
    assert_eq!(crawled("host"), ["docs.shop.co.uk", "me.github.io"]);
    assert_eq!(crawled("domain"), ["a.b.shop.co.uk", "docs.shop.co.uk", "me.github.io", "shop.co.uk"]);
    let mut all = NAMES.map(str::to_owned).to_vec();
    all.sort_unstable();
    assert_eq!(crawled("any"), all);
}
