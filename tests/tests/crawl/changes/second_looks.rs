//! Second looks of a crawl that is watched: each page that waits for one has it when it is due, long before the next sequence.

use std::collections::BTreeMap;

use rusqlite::Connection;
use rustix::process::Signal;
use webloom_tests::webloom::{Running, Webloom, assert_clean};

use super::{
    NOTHING,
    site::{Answer, OTHER, SOON, Site, TEXT},
};

/// Time to the second looks.
const PAUSES: [&str; 4] = ["--confirm", "2s", "--gone-after", "3s"];

/// Time to the next sequence.
const EVERY: [&str; 2] = ["--every", "1h"];

/// A site of twenty pages that was crawled an hour ago, as its records have it: its next sequence is due.
fn crawled() -> Site {
    let site = Site::numbered(20);
    site.crawl_once(&TEXT);
    let earlier = "UPDATE sequence SET began_at = unixepoch() * 1000 - 3601000";
    database(&site).execute_batch(earlier).expect("it can be changed");
    site
}

fn database(site: &Site) -> Connection {
    Connection::open(site.dir().join("webloom.sqlite")).expect("a database")
}

/// When each change was seen, in milliseconds, in the order of telling.
fn seen(site: &Site) -> Vec<u64> {
    let database = database(site);
    let mut select = database.prepare("SELECT at FROM change ORDER BY id").expect("a query");
    select.query_map([], |row| row.get(0)).expect("rows").map(|at| at.expect("a time")).collect()
}

fn watch(site: &Site, arguments: &[&str]) -> Webloom {
    let run = Webloom::new(["watch", "--no-progress", "-d"]).args([site.dir()]).args(PAUSES).args(EVERY);
    run.args(arguments)
        .env("WEBLOOM_REVISIT_AUDIT_NOT_MODIFIED", "0")
        .env("WEBLOOM_CHANGE_CONFIRM_SHARE", "0")
        .within("exec 2>&1")
}

/// One whose sequence has come to its end.
fn watched(site: &Site, arguments: &[&str]) -> Running {
    let mut running = watch(site, arguments).spawn();
    running.line_with("next sequence at");
    running
}

/// Waits until a page was asked for so often, and what was found is written.
fn wait_for(site: &Site, running: &mut Running, page: &str, times: usize) {
    while site.server.count(page) < times {
        running.line_with("visited the pages that were due");
    }
}

/// Ends the watch; how often each page was asked for in all, but for those asked for once a sequence.
fn ended(site: &Site, running: Running) -> BTreeMap<String, usize> {
    running.signal(Signal::TERM);
    running.wait().expect(143);
    assert_clean(&site.dir());
    let mut asked = BTreeMap::new();
    for hit in site.server.log() {
        *asked.entry(hit.target).or_default() += 1;
    }
    asked.remove("/robots.txt");
    asked.retain(|_, times| *times != 2);
    asked
}

fn thrice<const PAGES: usize>(pages: [&str; PAGES]) -> BTreeMap<String, usize> {
    pages.map(|page| (page.to_owned(), 3)).into()
}

#[test]
fn what_waits_is_reported_when_its_second_look_is_due() {
    for adaptive in [&[][..], &["--adaptive", "--budget", "1/day"]] {
        let site = crawled();
        let whole = site.now("/4");
        site.status("/3", 404);
        site.status("/4", 404);
        site.page("/5", "Loading");
        site.page("/6", OTHER);
        let mut running = watched(&site, adaptive);
        assert_eq!(site.reported(&[]), ["changed_text /6"]);
        // It was away for a moment.
        site.set("/4", whole);
        wait_for(&site, &mut running, "/3", 3);
        assert_eq!(site.reported(&[]), ["changed_text /5", "changed_text /6", "gone /3"]);
        let seen = seen(&site);
        let waited = [seen[1] - seen[0], seen[2] - seen[0]];
        assert!((1_500..20_000).contains(&waited[0]) && (2_500..20_000).contains(&waited[1]), "{waited:?}");
        assert_eq!(ended(&site, running), thrice(["/3", "/4", "/5"]));
        assert_eq!(site.again(&SOON), NOTHING);
    }
}

#[test]
fn many_changes_at_once_are_reported_when_their_second_looks_are_due() {
    let site = crawled();
    let whole = site.now("/6");
    for page in 1..=6 {
        site.page(&format!("/{page}"), &format!("The text number {page}\nis other than before {page}"));
    }
    let mut running = watched(&site, &[]);
    assert_eq!(site.reported(&[]), NOTHING);
    site.set("/6", whole);
    wait_for(&site, &mut running, "/6", 3);
    let reported = [1, 2, 3, 4, 5].map(|page| format!("changed_text /{page}"));
    assert_eq!(site.reported(&[]), reported);
    assert_eq!(ended(&site, running), thrice(["/1", "/2", "/3", "/4", "/5", "/6"]));
}

#[test]
fn a_second_look_outlives_a_kill() {
    for point in ["after_due:1", "after_commit:1", "inside_end:1", "after_end:1"] {
        let site = Site::numbered(20);
        site.crawl_once(&TEXT);
        site.status("/3", 404);
        assert_eq!(site.again(&[]), NOTHING);
        let due = "UPDATE page_state SET doubted_since = doubted_since - 10000; UPDATE visit SET fetched_at = fetched_at - 10000;
                   UPDATE sequence SET began_at = unixepoch() * 1000";
        database(&site).execute_batch(due).expect("it can be changed");
        let killed = watch(&site, &[]).env("WEBLOOM_FAILPOINT", point).run();
        assert_eq!(killed.code, None, "{point}: {}", killed.stdout);
        assert_clean(&site.dir());
        let mut running = watch(&site, &[]).spawn();
        running.line_with("next sequence at");
        while site.reported(&[]) != ["gone /3"] {
            running.line_with("visited the pages that were due");
        }
        assert_eq!(ended(&site, running), thrice(["/3"]), "{point}");
        assert_eq!(site.again(&[]), NOTHING, "{point}");
    }
}

#[test]
fn a_sequence_that_comes_first_is_the_second_look() {
    let site = crawled();
    site.status("/3", 404);
    site.set("/4", Answer::Page("<p>Loading".to_owned()));
    let rounds = Webloom::new(["watch", "--no-progress", "--every", "2s", "--runs", "3", "-d"]).args([site.dir()]);
    let pauses = ["--gone-after", "1h", "--confirm", "1h"];
    let rounds = rounds.args(pauses).within("exec 2>&1").run().expect(0);
    assert!(!rounds.stdout.contains("visited the pages that were due"), "{}", rounds.stdout);
    assert_eq!(site.reported(&[]), NOTHING);
    let log = site.server.targets();
    assert!((1..=20).all(|page| log.iter().filter(|target| **target == format!("/{page}")).count() == 4), "{log:?}");
    assert_clean(&site.dir());
    assert_eq!(site.again(&["--gone-after", "0s", "--confirm", "0s"]), ["changed_text /4", "gone /3"]);
}
