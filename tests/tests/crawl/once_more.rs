//! Single pages that are visited between the sequences of a crawl that is watched.

use std::{collections::BTreeMap, path::Path};

use rusqlite::Connection;
use rustix::process::Signal;
use serde_json::Value;
use webloom_tests::{
    server::{Asked, Hit, Reply, Server},
    webloom::{Webloom, assert_clean, pages, pages_of},
};

use crate::{Folder, assert_counts, crawl, serve};

/// A site of ten pages of which one, `/news`, is another each time it is asked for. The others have a validator.
fn newspaper() -> Server {
    let issue = std::sync::atomic::AtomicUsize::new(0);
    serve(move |asked| match asked.target.as_str() {
        "/robots.txt" => Reply::status(404),
        "/news" => {
            let issue = issue.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            Reply::html(format!("<p>This is issue {issue} of the news, and nobody has seen it before.</p>"))
        }
        "/" => tagged(asked, Reply::links((1..=8).map(|page| format!("/{page}")).chain(["/news".to_owned()]))),
        page => tagged(asked, Reply::html(format!("<p>This is page {page}, and it stays.</p>"))),
    })
}

fn tagged(asked: &Asked, reply: Reply) -> Reply {
    if is_conditional(&asked.headers) { Reply::status(304) } else { reply.header("ETag: \"1\"") }
}

fn is_conditional(headers: &[String]) -> bool {
    headers.iter().any(|header| header.to_lowercase().starts_with("if-none-match"))
}

/// `watch -d DIR` with visits in between.
fn watch(dir: &Path, arguments: &[&str]) -> Webloom {
    let run = Webloom::new(["watch", "--no-progress", "--adaptive", "-d"]).args([dir]).args(arguments);
    run.env("WEBLOOM_REVISIT_MIN_INTERVAL", "1s").within("exec 2>&1")
}

/// A first sequence, begun now, and an hour ago as its visits have it.
fn begun(server: &Server, dir: &Path) {
    crawl(server, dir, &[]);
    let earlier =
        "UPDATE sequence SET began_at = unixepoch() * 1000; UPDATE visit SET fetched_at = fetched_at - 3600000;";
    let database = Connection::open(dir.join("webloom.sqlite")).expect("a database");
    database.execute_batch(earlier).expect("it can be changed");
}

/// How often each page was asked for.
fn asked(log: &[Hit]) -> BTreeMap<String, usize> {
    let mut asked = BTreeMap::new();
    for hit in log.iter().filter(|hit| hit.target != "/robots.txt") {
        *asked.entry(hit.target.clone()).or_default() += 1;
    }
    asked
}

/// What `webloom changes` lists, of one page.
fn told(dir: &Path, page: &str) -> Vec<String> {
    let lines = Webloom::new(["changes", "--format", "jsonl"]).args([dir]).run().expect(0).json_lines();
    let of_page = lines.iter().filter(|line| line["url"].as_str().is_some_and(|url| url.ends_with(page)));
    of_page.map(|line| line["change"].as_str().unwrap_or_default().to_owned()).collect()
}

fn status(dir: &Path) -> Value {
    Webloom::new(["status", "--json"]).args([dir]).run().expect(0).json()
}

#[test]
fn what_changes_is_visited_more_often_and_its_changes_are_told() {
    for arguments in [&["--every", "1h"][..], &["--every", "1h", "--cache", "exact"]] {
        let (server, folder) = (newspaper(), Folder::new());
        let dir = folder.crawl();
        let running = watch(&dir, &[&[&*server.url("/"), "--budget", "172800/day"], arguments].concat()).spawn();
        server.wait_for("/news", 6);
        running.signal(Signal::TERM);
        running.wait().expect(143);
        assert_clean(&dir);
        let log = server.log();
        let mut asked = asked(&log);
        let news = asked.remove("/news").unwrap();
        assert_eq!(asked.len(), 9);
        let others: usize = asked.values().sum();
        assert!(others > 9 && others < 9 * news, "{news} of the news: {asked:?}");
        let others = log.iter().filter(|hit| !["/news", "/robots.txt"].contains(&&*hit.target)).skip(9);
        others.for_each(|hit| assert!(is_conditional(&hit.headers), "{} is sent once more", hit.target));
        let changes = told(&dir, "/news");
        assert!(changes.len() + 2 >= news && changes.iter().all(|change| change == "changed_text"), "{changes:?}");
        assert_eq!(status(&dir)["sequence"], 0);
        assert_eq!(status(&dir)["pages"]["stored"], 10, "each counts once");
        assert_eq!(pages(&dir).len(), 10);
    }
}

#[test]
fn what_was_due_when_it_was_killed_is_visited_at_the_next_start() {
    for (point, twice) in [("after_queue_due:1", 0), ("after_commit:3", 2), ("inside_end:1", 0)] {
        let (server, folder) = (newspaper(), Folder::new());
        let dir = folder.crawl();
        begun(&server, &dir);
        // Slow enough that a page is committed before the next one but one is asked for.
        let often = ["--every", "1h", "--budget", "864000/day", "--delay", "100ms"];
        let killed = watch(&dir, &often).env("WEBLOOM_STORE_COMMIT_VISITS", "1").env("WEBLOOM_FAILPOINT", point).run();
        assert_eq!(killed.code, None, "{point}: {}", killed.stdout);
        assert_clean(&dir);
        assert_eq!(status(&dir)["pages"]["stored"], 10, "{point}");
        let mut running = watch(&dir, &["--every", "1h", "--budget", "1/day", "--delay", "0"]).spawn();
        running.line_with("next sequence at 2");
        running.signal(Signal::TERM);
        let run = running.wait().expect(143);
        assert!(!run.stdout.contains("drained in"), "it is no sequence of its own: {}", run.stdout);
        assert_clean(&dir);
        let asked = asked(&server.log());
        assert!(asked.values().all(|times| (2..=3).contains(times)), "{point}: {asked:?}");
        // What was in flight is asked for again.
        assert!(asked.values().sum::<usize>() <= 20 + twice, "{point}: {asked:?}");
        // The first sequence kept no texts.
        assert_eq!(told(&dir, "/news"), ["changed"], "{point}");
        let status = status(&dir);
        assert_eq!(
            (&status["end"], &status["sequence"], &status["counts"]["queued"]),
            (&"drained".into(), &0.into(), &0.into())
        );
    }
}

#[test]
fn a_sequence_that_is_due_ends_visits_in_between_and_makes_those_that_are_left() {
    let (server, folder) = (newspaper(), Folder::new());
    let dir = folder.crawl();
    begun(&server, &dir);
    let slow = ["--json", "--every", "6s", "--delay", "700ms", "--budget", "864000/day", "--runs", "1"];
    let run = watch(&dir, &slow).run().expect(0);
    let summary: Value = serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap();
    assert_counts(&summary);
    let ended = [&summary["end"], &summary["sequence"], &summary["pages"]["stored"]];
    assert_eq!(ended, [&Value::from("drained"), &1.into(), &10.into()], "{}", run.stdout);
    assert!(run.stdout.contains("visited once more"), "{}", run.stdout);
    let asked = asked(&server.log());
    let sum: usize = asked.values().sum();
    assert!(asked.values().all(|times| (2..=3).contains(times)) && sum > 20 && sum < 30, "{asked:?}");
    assert_eq!((pages_of(&dir, 0).len(), pages_of(&dir, 1).len(), pages(&dir).len()), (10, 10, 10));
    assert_clean(&dir);
}

#[test]
fn a_budget_of_pages_counts_each_page_once() {
    let (server, folder) = (newspaper(), Folder::new());
    let dir = folder.crawl();
    begun(&server, &dir);
    let most = ["--max-pages", "10", "--every", "1h", "--budget", "864000/day"];
    let running = watch(&dir, &most).env("WEBLOOM_BUDGET_MAX_PAGES_PER_HOST", "10").spawn();
    server.wait_for("/news", 4);
    running.signal(Signal::TERM);
    running.wait().expect(143);
    assert!(asked(&server.log()).values().all(|times| *times > 1));
    assert_eq!(status(&dir)["pages"]["stored"], 10);
    assert_clean(&dir);
}
