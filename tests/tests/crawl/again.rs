//! Sequences beyond the first: everything is asked for once more, and what changed is reported.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use rusqlite::{Connection, OpenFlags};
use rustix::process::Signal;
use serde_json::{Value, json};
use webloom_tests::{
    server::{Reply, Server},
    webloom::{REDISCOVER, Webloom, assert_clean, pages, pages_of},
};

use crate::{Folder, assert_counts, chain, crawl, serve, star, starts::without_scheme};

/// A site whose answers are those of the version it is set to.
pub(crate) struct Versions {
    pub(crate) server: Server,
    version: Arc<AtomicUsize>,
}

impl Versions {
    pub(crate) fn serve(answer: impl Fn(usize, &str, usize) -> Reply + Send + Sync + 'static) -> Self {
        let version = Arc::new(AtomicUsize::new(0));
        let now = Arc::clone(&version);
        let server = serve(move |asked| match asked.target.as_str() {
            "/robots.txt" => Reply::status(404).header("connection: close"),
            path => answer(now.load(Ordering::SeqCst), path, asked.before),
        });
        Self { server, version }
    }

    /// What is asked for from now on is answered by this version; returns how long the log is.
    pub(crate) fn set(&self, version: usize) -> usize {
        self.version.store(version, Ordering::SeqCst);
        self.server.log().len()
    }

    /// The pages asked for since a line of the log, sorted.
    pub(crate) fn asked_since(&self, line: usize) -> Vec<String> {
        let mut asked: Vec<_> = self.server.targets().drain(line..).filter(|path| path != "/robots.txt").collect();
        asked.sort_unstable();
        asked
    }
}

/// Crawls the next sequence to its end; its summary.
fn again(dir: &Path, arguments: &[&str]) -> Value {
    let summary = Webloom::go_on(dir).args(REDISCOVER).args(arguments).run().expect(0).json();
    assert_eq!(summary["end"], "drained", "{summary}");
    assert_counts(&summary);
    assert_clean(dir);
    let status = Webloom::new(["status", "--json"]).args([dir]).run().expect(0).json();
    assert_eq!(status, summary);
    summary
}

/// `new`, `changed`, `unchanged` and `gone` of a summary.
pub(crate) fn changes(summary: &Value) -> [u64; 4] {
    ["new", "changed", "unchanged", "gone"].map(|name| summary["pages"][name].as_u64().expect("a count"))
}

/// Path to outcome, change and sequence.
pub(crate) fn states(server: &Server, pages: BTreeMap<String, Value>) -> Vec<String> {
    let root = server.url("");
    let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let state = |(url, page): (String, Value)| {
        let [outcome, change] = ["outcome", "change"].map(|name| word(&page[name]));
        format!("{} {outcome} {change} {}", url.trim_start_matches(&root), page["sequence"])
    };
    pages.into_iter().map(state).collect()
}

fn ids(dir: &Path) -> rusqlite::Result<BTreeMap<String, i64>> {
    let path = dir.join("webloom.sqlite");
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut select = database.prepare("SELECT url, id FROM url")?;
    select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// `/edit` changes, `/gone` goes and comes back, `/old` loses its link for a while, `/fresh` is new.
fn living(version: usize, path: &str, _: usize) -> Reply {
    match (path, version) {
        ("/", 1) => Reply::links(["/same", "/edit", "/gone", "/fresh"]),
        ("/", _) => Reply::links(["/same", "/edit", "/gone", "/old"]),
        ("/edit", _) => Reply::html(format!("version {version}")),
        ("/gone", 1) => Reply::status(404),
        _ => Reply::links(["/"]),
    }
}

#[test]
fn every_page_is_asked_once_more_and_changes_are_reported() {
    let (site, folder) = (Versions::serve(living), Folder::new());
    let dir = folder.crawl();
    let first = crawl(&site.server, &dir, &[]);
    assert_eq!((changes(&first), &first["sequence"]), ([5, 0, 0, 0], &0.into()));
    let began = site.set(1);
    let first_ids = ids(&dir).unwrap();
    let first_pages = pages(&dir);
    let second = again(&dir, &[]);
    assert_eq!((changes(&second), &second["sequence"]), ([1, 2, 1, 1], &1.into()));
    assert_eq!((&second["pages"]["stored"], &second["pages"]["broken"]), (&4.into(), &1.into()));
    assert_eq!(second["requests"]["sent"], site.server.log().len() - began);
    assert_eq!(site.asked_since(began), ["/", "/edit", "/fresh", "/gone", "/same"]);
    let latest = states(&site.server, pages(&dir));
    assert_eq!(
        latest,
        [
            "/ stored changed 1",
            "/edit stored changed 1",
            "/fresh stored new 1",
            "/gone gone - 1",
            "/old stored new 0",
            "/same stored unchanged 1"
        ]
    );
    assert_eq!(pages_of(&dir, 0), first_pages);
    let of_second: Vec<_> = latest.into_iter().filter(|state| state.ends_with('1')).collect();
    assert_eq!(states(&site.server, pages_of(&dir, 1)), of_second);
    Webloom::new(["pages", "--sequence", "2"]).args([&dir]).run().expect(2);
    let began = site.set(2);
    let third = again(&dir, &[]);
    // `/` is what it was in the first sequence, but not what it was in the one before.
    assert_eq!((changes(&third), &third["sequence"]), ([0, 2, 3, 0], &2.into()));
    assert_eq!(site.asked_since(began), ["/", "/edit", "/gone", "/old", "/same"]);
    assert_eq!(states(&site.server, pages_of(&dir, 1)), of_second);
    let then = ids(&dir).unwrap();
    assert!(first_ids.iter().all(|(url, id)| then.get(url) == Some(id)), "{first_ids:?} {then:?}");
    let gone = Webloom::new(["pages", "--outcome", "gone", "--sequence", "1", "--format", "jsonl"]).args([&dir]).run();
    assert_eq!(gone.expect(0).json_lines().len(), 1);
}

#[test]
fn the_way_to_a_page_is_that_of_the_latest_sequence() {
    // In version 1 the chain `/` → `/a` → `/b` runs the other way, and `/b` redirects.
    let site = Versions::serve(|version, path, _| match (path, version) {
        ("/", 0) | ("/b", 1) => Reply::links(["/a"]),
        ("/", _) | ("/a", 0) => Reply::links(["/b"]),
        _ => Reply::html("the end"),
    });
    let folder = Folder::new();
    let dir = folder.crawl();
    crawl(&site.server, &dir, &[]);
    let way = |pages: &BTreeMap<String, Value>, path: &str| {
        let page = &pages[&site.server.url(path)];
        (
            page["depth"].as_u64().unwrap(),
            page["via"].as_str().unwrap().trim_start_matches(&site.server.url("")).to_owned(),
        )
    };
    site.set(1);
    again(&dir, &["--order", "depth"]);
    for shown in [pages(&dir), pages_of(&dir, 0)] {
        assert_eq!([way(&shown, "/a"), way(&shown, "/b")], [(2, "/b".into()), (1, "/".into())]);
    }
}

#[test]
fn budgets_count_anew_and_a_sequence_that_a_budget_ended_may_be_followed() {
    let server = serve(star(60));
    let folder = Folder::new();
    let dir = folder.crawl();
    let few = |run: Webloom| run.env("WEBLOOM_FRONTIER_HEADS_PER_HOST", "10");
    let run = few(Webloom::crawl(&dir, &server.url("/"))).args(["--max-pages", "10"]).run().expect(0);
    assert_eq!(run.json()["end"], "budget");
    let asked = server.log().len();
    let second = few(Webloom::go_on(&dir)).args(REDISCOVER).args(["--max-pages", "12"]).run().expect(0).json();
    assert_eq!(
        (&second["end"], &second["sequence"], &second["pages"]["stored"]),
        (&"budget".into(), &1.into(), &12.into())
    );
    assert_eq!((changes(&second), &second["counts"]["queued"]), ([2, 0, 10, 0], &49.into()));
    assert_eq!(server.log().len() - asked, 12);
    assert_counts(&second);
    assert_clean(&dir);
    let rest = few(Webloom::go_on(&dir)).args(["--max-pages", "none"]).run().expect(0).json();
    assert_eq!(
        (&rest["end"], &rest["pages"]["stored"], changes(&rest)),
        (&"drained".into(), &61.into(), [51, 0, 10, 0])
    );
    assert_eq!((rest["sequence"].as_u64(), server.log().len() - asked), (Some(1), 61));
    assert_clean(&dir);
    // Of the first sequence nothing was fetched afterwards.
    let left = pages_of(&dir, 0).into_values().filter(|page| page["outcome"] == "queued").count();
    assert_eq!(left, 51);
    let done = Webloom::go_on(&dir).run().expect(0);
    assert!(done.stderr.contains("nothing is left to fetch"), "{}", done.stderr);
}

#[test]
fn a_depth_limit_holds_and_is_raised() {
    let server = serve(chain(6));
    let folder = Folder::new();
    let dir = folder.crawl();
    crawl(&server, &dir, &[]);
    let asked = server.log().len();
    let run = Webloom::go_on(&dir).args(REDISCOVER).args(["--max-depth", "2"]).run().expect(0).json();
    assert_eq!(
        (&run["end"], &run["pages"]["stored"], &run["counts"]["queued"]),
        (&"budget".into(), &3.into(), &1.into())
    );
    assert_eq!(server.log().len() - asked, 3, "robots.txt is young enough");
    assert_clean(&dir);
    assert_eq!(states(&server, pages(&dir))[4..], ["/4 stored new 0", "/5 stored new 0", "/6 stored new 0"]);
    let rest = Webloom::go_on(&dir).args(["--max-depth", "none"]).run().expect(0).json();
    assert_eq!((&rest["end"], &rest["sequence"], changes(&rest)), (&"drained".into(), &1.into(), [0, 0, 7, 0]));
    assert_clean(&dir);
}

#[test]
fn trouble_is_overcome_with_few_heads() {
    let site = Versions::serve(|version, path, before| match (path, version) {
        ("/", _) => Reply::links((1..=40).map(|page| format!("/{page}"))).header("connection: close"),
        (_, 1) if before < 3 => Reply::status(503).header("connection: close"),
        (_, 1) if path.ends_with('7') => Reply::hang_up(),
        _ => Reply::links(["/"]).header("connection: close"),
    });
    let folder = Folder::new();
    let dir = folder.crawl();
    crawl(&site.server, &dir, &[]);
    let began = site.set(1);
    let run =
        Webloom::go_on(&dir).args(REDISCOVER).args(["--per-host", "3"]).env("WEBLOOM_FRONTIER_HEADS_PER_HOST", "10");
    let summary = run.run().expect(0).json();
    assert_eq!((&summary["end"], changes(&summary)), (&"drained".into(), [0, 0, 37, 0]));
    assert_eq!((&summary["pages"]["failed"], &summary["pages"]["stored"]), (&4.into(), &37.into()));
    // Asked for once before: two times trouble, then the page. What stays away costs four attempts, and more while the host
    // may have been to blame; it is asked for a page that is known to be good to find that out.
    let asked = site.asked_since(began).len();
    assert!((36 * 3 + 4 * 4..300).contains(&asked), "{asked} requests");
    assert_counts(&summary);
    assert_clean(&dir);
}

#[test]
fn a_wider_scope_and_more_starts_come_with_a_new_sequence() {
    let (server, other) = (serve(star(4)), serve(star(1)));
    let folder = Folder::new();
    let dir = folder.crawl();
    crawl(&server, &dir, &["--exclude", "/[23]$"]);
    let refused = Webloom::go_on(&dir).args(["-q", "--exclude", "/3$"]).run().expect(2);
    assert!(refused.stderr.contains("--again"), "{}", refused.stderr);
    let run = Webloom::crawl(&dir, &server.url("/")).args(["--again", "--revisit", "rediscover", "--exclude", "/3$"]);
    let summary = run.args(["--add", &other.url("/")]).run().expect(0).json();
    assert_eq!((&summary["end"], changes(&summary)), (&"drained".into(), [3, 0, 3, 0]));
    assert_eq!((server.count("/2"), server.count("/3"), other.count("/"), other.count("/1")), (1, 0, 1, 1));
    assert_clean(&dir);
    // They are starts of every sequence from now on.
    assert_eq!(changes(&again(&dir, &[])), [0, 0, 6, 0]);
    assert_eq!((other.count("/"), other.count("/robots.txt"), server.count("/robots.txt")), (2, 1, 1));
}

#[test]
fn a_site_that_was_down_is_compared_with_what_it_was_before() {
    let site = Versions::serve(|version, path, _| match (path, version) {
        (_, 1) => Reply::hang_up(),
        ("/", _) => Reply::links(["/1", "/2"]),
        _ => Reply::html(path),
    });
    let folder = Folder::new();
    let dir = folder.crawl();
    crawl(&site.server, &dir, &[]);
    site.set(1);
    let down =
        Webloom::go_on(&dir).args(REDISCOVER).args(["-q"]).env("WEBLOOM_POLITENESS_GIVE_UP", "1s").run().expect(4);
    assert!(down.stderr.contains("(closed since ") && down.stderr.contains("1 URL waits"), "{}", down.stderr);
    assert_clean(&dir);
    assert_eq!(states(&site.server, pages(&dir)), ["/ queued - 1", "/1 stored new 0", "/2 stored new 0"]);
    // The next start tries it at once.
    site.set(2);
    let back = Webloom::go_on(&dir).run().expect(0).json();
    assert_eq!((&back["end"], &back["sequence"], changes(&back)), (&"drained".into(), &1.into(), [0, 0, 3, 0]));
}

#[test]
fn what_is_abandoned_is_so_in_its_sequence() {
    let server = serve(|asked| match (asked.target.as_str(), asked.before) {
        ("/robots.txt", _) => Reply::text("User-agent: *\nDisallow: /secret"),
        ("/", 1) => Reply::links(["/a"]),
        ("/", _) => Reply::links(["/a", "/secret"]),
        _ => Reply::links(["/"]),
    });
    let folder = Folder::new();
    let dir = folder.crawl();
    let abandoned = |summary: &Value| (summary["urls"]["abandoned"].clone(), summary["counts"]["abandoned"].clone());
    let once = (json!({"robots": 1}), json!(1));
    assert_eq!(abandoned(&crawl(&server, &dir, &[])), once);
    assert_eq!(abandoned(&again(&dir, &[])), (json!({}), json!(0)));
    assert_eq!(states(&server, pages(&dir))[2], "/secret abandoned - 0");
    assert_eq!(abandoned(&again(&dir, &[])), once);
    for (sequence, number) in [(0, 3), (1, 2), (2, 3)] {
        assert_eq!(pages_of(&dir, sequence).len(), number);
    }
    assert_eq!(server.count("/secret"), 0);
}

#[test]
fn a_start_without_a_scheme_is_found_again() {
    let server = serve(star(2));
    let folder = Folder::new();
    let dir = folder.crawl();
    Webloom::crawl(&dir, &without_scheme(&server)).run().expect(0);
    let asked = server.log().len();
    let run = Webloom::crawl(&dir, &without_scheme(&server)).args(REDISCOVER).run().expect(0);
    assert_eq!(changes(&run.json()), [0, 0, 3, 0]);
    assert_eq!(server.log().len() - asked, 3);
    assert_clean(&dir);
}

#[test]
fn what_cannot_be_crawled_again_is_refused() {
    let server = serve(chain(8));
    let folder = Folder::new();
    let dir = folder.crawl();
    let refused = |arguments: &[&str], words: &[&str]| {
        let run = Webloom::go_on(&dir).args(["-q"]).args(arguments).run().expect(2);
        assert!(words.iter().all(|word| run.stderr.contains(word)), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.lines().count() <= 8 && run.stdout.is_empty(), "{run:?}");
    };
    refused(&["--again"], &["no crawl"]);
    refused(&["--again", &server.url("/")], &["no crawl", "--again"]);
    assert!(!dir.exists());
    let running = Webloom::crawl(&dir, &server.url("/")).args(["--delay", "300ms"]).spawn();
    server.wait_for("/1", 1);
    running.signal(Signal::TERM);
    running.wait().expect(143);
    Webloom::go_on(&dir).run().expect(0);
    refused(&["--again", "--revisit", "last-first"], &["known-first", "rediscover"]);
    refused(&["--revisit", "rediscover"], &["--again"]);
    refused(&["--again", "http://127.0.0.1:9/"], &["holds the crawl of"]);
    refused(&["--again", "--exclude", "("], &["--exclude"]);
    refused(&["--again", "--cache", "exact", "--expected-urls", "900000000000"], &["an exact cache"]);
    assert_eq!(Webloom::new(["status", "--json"]).args([&dir]).run().expect(0).json()["sequence"], 0);
    assert_eq!(again(&dir, &[])["sequence"], 1);
}

/// The pages that two sequences under a small URL cache each lose.
fn lost_twice(strategy: &str) -> [Vec<String>; 2] {
    let server = serve(star(1_000));
    let folder = Folder::new();
    let dir = folder.crawl();
    let small = ["--cache", strategy, "--expected-urls", "500", "--max-lost-urls", "none", "--reset", "none"];
    let sparing = |run: Webloom| {
        run.args(["--per-host", "8", "--audit-rescue", "off", "--sweep", "off"])
            .env("WEBLOOM_CACHE_MAX_FALSE_POSITIVE_RATE", "0.1")
    };
    sparing(Webloom::crawl(&dir, &server.url("/")).args(small)).run().expect(0);
    let summary = Webloom::go_on(&dir).args(REDISCOVER).run().expect(0).json();
    let lost = [0, 1].map(|sequence| {
        let found = pages_of(&dir, sequence);
        (1..=1_000).map(|page| server.url(&format!("/{page}"))).filter(|url| !found.contains_key(url)).collect()
    });
    let [first, second]: &[Vec<String>; 2] = &lost;
    // The one page with links was read twice; what only the second sequence found is new.
    assert_eq!(assert_clean(&dir)["links_without_row"], first.len() + second.len());
    assert_eq!(summary["pages"]["new"], first.iter().filter(|url| !second.contains(url)).count());
    lost
}

#[test]
fn a_cache_begins_each_sequence_empty_and_its_seed_rotates_if_it_is_temporal() {
    let [first, second] = lost_twice("single");
    assert!(first.len() > 50, "{}", first.len());
    assert_eq!(first, second, "the same hash functions lose the same pages");
    let [first, second] = lost_twice("temporal");
    let again = first.iter().filter(|url| second.contains(url)).count();
    assert!(first.len() > 50 && again * 2 < first.len(), "{again} of {} are lost again", first.len());
}

#[test]
fn the_next_sequence_is_expected_to_find_what_the_last_one_found() {
    let server = serve(star(60));
    let folder = Folder::new();
    let dir = folder.crawl();
    let first = crawl(&server, &dir, &[]);
    assert_eq!((&first["cache"]["items"], &first["cache"]["capacity"]), (&61.into(), &65_536.into()));
    assert_eq!(again(&dir, &[])["cache"]["capacity"], 65_536);
    // As if it had been a large site.
    let database = Connection::open(dir.join("webloom.sqlite")).expect("a database");
    let large = r#"UPDATE sequence SET counters = '{"candidates": 300000, "duplicate": 90000, "refused": {"scope": 10000}}'
                   WHERE n = 1"#;
    database.execute(large, []).expect("it is written");
    let capacity = |arguments: &[&str]| {
        let summary = Webloom::go_on(&dir).args(REDISCOVER).args(arguments).run().expect(0).json();
        summary["cache"]["capacity"].as_u64()
    };
    assert_eq!(capacity(&[]), Some(220_010), "a tenth more, and a few");
    assert_eq!(capacity(&["--expected-urls", "500"]), Some(500));
}
