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
    run.env("WEBLOOM_REVISIT_MIN_INTERVAL", "1s").env("WEBLOOM_CHANGE_CONFIRM_SHARE", "0").within("exec 2>&1")
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
fn reported(dir: &Path, page: &str) -> Vec<String> {
    let mut lines = Webloom::new(["changes", "--format", "jsonl"]).args([dir]).run().expect(0).json_lines();
    lines.sort_by_key(|line| line["at"].as_str().and_then(|at| at.parse::<jiff::Timestamp>().ok()));
    let of_page = lines.iter().filter(|line| line["url"].as_str().is_some_and(|url| url.ends_with(page)));
    of_page.map(|line| line["change"].as_str().unwrap_or_default().to_owned()).collect()
}

fn status(dir: &Path) -> Value {
    Webloom::new(["status", "--json"]).args([dir]).run().expect(0).json()
}

#[test]
fn what_changes_is_visited_more_often_and_its_changes_are_reported() {
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
        let changes = reported(&dir, "/news");
        assert!(changes.len() + 2 >= news && changes.iter().all(|change| change == "changed_text"), "{changes:?}");
        assert_eq!(status(&dir)["sequence"], 0);
        assert_eq!(status(&dir)["pages"]["stored"], 10, "each counts once");
        assert_eq!(pages(&dir).len(), 10);
    }
}

#[test]
fn what_was_due_when_it_was_killed_is_visited_after_the_next_start() {
    for point in ["after_due:1", "after_commit:3", "inside_end:1"] {
        let (server, folder) = (newspaper(), Folder::new());
        let dir = folder.crawl();
        begun(&server, &dir);
        let often = ["--every", "1h", "--budget", "864000/day"];
        let killed = watch(&dir, &often).env("WEBLOOM_STORE_COMMIT_VISITS", "1").env("WEBLOOM_FAILPOINT", point).run();
        assert_eq!(killed.code, None, "{point}: {}", killed.stdout);
        assert_clean(&dir);
        assert_eq!(status(&dir)["pages"]["stored"], 10, "{point}");
        let running = watch(&dir, &often).spawn();
        for page in ["/", "/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8", "/news"] {
            server.wait_for(page, 2);
        }
        server.wait_for("/news", 3);
        running.signal(Signal::TERM);
        running.wait().expect(143);
        assert_clean(&dir);
        // The first sequence kept no texts.
        let reported = reported(&dir, "/news");
        assert!(
            reported[0] == "changed" && reported[1..].iter().all(|change| change == "changed_text"),
            "{point}: {reported:?}"
        );
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
    assert!(run.stdout.contains("visited the pages that were due"), "{}", run.stdout);
    let asked = asked(&server.log());
    let sum: usize = asked.values().sum();
    assert!(asked.values().all(|times| (2..=3).contains(times)) && sum > 20 && sum < 30, "{asked:?}");
    assert_eq!((pages_of(&dir, 0).len(), pages_of(&dir, 1).len(), pages(&dir).len()), (10, 10, 10));
    assert_clean(&dir);
}

/// When a page was asked for, in seconds after the first request.
fn moments(log: &[Hit], page: &str) -> Vec<f64> {
    let hits = log.iter().filter(|hit| hit.target == page);
    hits.map(|hit| (hit.began - log[0].began).as_secs_f64()).collect()
}

#[test]
fn a_section_is_visited_at_its_own_interval_and_the_rest_in_sequences() {
    let pages = ["/news/1", "/news/2", "/news/old", "/other/1", "/other/2"];
    let site = || {
        serve(move |asked| match asked.target.as_str() {
            "/robots.txt" => Reply::status(404),
            "/" => tagged(asked, Reply::links(pages)),
            page => tagged(asked, Reply::html(format!("<p>This is page {page}, and it stays.</p>"))),
        })
    };
    let visited = |arguments: &[&str]| {
        let (server, folder) = (site(), Folder::new());
        let dir = folder.crawl();
        let sections = ["--every", "8s", "--runs", "2", "--section", "/news/old=6s", "--section", "/news/=2s"];
        let run = Webloom::new(["watch", "--no-progress", &*server.url("/"), "-d"]).args([&dir]).args(sections);
        let run = run.env("WEBLOOM_CHANGE_CONFIRM_SHARE", "0");
        run.args(arguments).run().expect(0);
        assert_clean(&dir);
        assert_eq!(status(&dir)["sequence"], 1);
        server.log()
    };
    // With --adaptive, but hardly a visit for all others.
    let adaptive: &[&str] = &["--adaptive", "--budget", "1/day"];
    let logs = std::thread::scope(|scope| {
        [&[][..], adaptive].map(|arguments| scope.spawn(move || visited(arguments))).map(|log| log.join().unwrap())
    });
    for log in logs {
        for page in ["/", "/other/1", "/other/2"] {
            assert_eq!(moments(&log, page).len(), 2, "{page} is asked for in each sequence alone");
        }
        assert_eq!(moments(&log, "/news/old").len(), 3, "the first rule that matches decides");
        for page in ["/news/1", "/news/2"] {
            let moments = moments(&log, page);
            assert!((4..=5).contains(&moments.len()), "{page}: {moments:?}");
            let pauses: Vec<_> = moments.windows(2).map(|two| two[1] - two[0]).collect();
            // The last one is that to the second sequence.
            assert!(pauses[..pauses.len() - 1].iter().all(|pause| (1.9..3.5).contains(pause)), "{page}: {pauses:?}");
        }
    }
}

#[test]
fn a_section_that_is_slower_than_the_sequences_is_refused() {
    let folder = Folder::new();
    let dir = folder.crawl();
    let slow = ["--every", "1h", "--section", "/news/=1h", "--section", "/=30m"];
    let run = Webloom::new(["watch", "http://127.0.0.1:9/", "-d"]).args([&dir]).args(slow).run().expect(2);
    assert!(run.stderr.contains("--section: \"/news/=1h\" has no effect"), "{}", run.stderr);
    assert!(!dir.exists());
}

#[test]
fn a_server_that_is_away_for_a_while_costs_nothing() {
    // A connection that is kept would outlive the server.
    let closing = |reply: Reply| reply.header("Connection: close");
    let answer = move |asked: &Asked| match asked.target.as_str() {
        "/robots.txt" => closing(Reply::status(404)),
        "/" => closing(tagged(asked, Reply::links((1..=9).map(|page| format!("/{page}"))))),
        page => closing(tagged(asked, Reply::html(format!("<p>This is page {page}, and it stays.</p>")))),
    };
    let (server, folder) = (serve(answer), Folder::new());
    let (dir, port) = (folder.crawl(), server.port());
    begun(&server, &dir);
    let often = ["--every", "1h", "--budget", "864000/day"];
    let mut running = watch(&dir, &often).env("WEBLOOM_POLITENESS_GIVE_UP", "500ms").spawn();
    server.wait_for("/5", 3);
    let before: usize = asked(&server.log()).values().sum();
    drop(server);
    running.line_with("the host does not answer");
    let server = Server::start_at(([127, 0, 0, 1], port).into(), answer).expect("its port again");
    // All of them, and some more than once.
    (1..=9).for_each(|page| server.wait_for(&format!("/{page}"), 1));
    server.wait_for("/5", 2);
    running.signal(Signal::TERM);
    running.wait().expect(143);
    assert_clean(&dir);
    assert!(before >= 20, "{before}");
    assert_eq!(status(&dir)["pages"]["stored"], 10);
    assert!(pages(&dir).values().all(|page| page["outcome"] == "stored"));
    assert_eq!(reported(&dir, ""), Vec::<String>::new());
}

/// The first page that is visited between the sequences.
fn first_visited(server: &Server, dir: &Path) -> String {
    begun(server, dir);
    let before = server.log().len();
    let running = watch(dir, &["--every", "1h", "--budget", "86400/day"]).spawn();
    server.wait_for_more(before);
    running.signal(Signal::TERM);
    running.wait().expect(143);
    let log = server.log();
    log[before..].iter().map(|hit| hit.target.clone()).find(|target| target != "/robots.txt").expect("a page")
}

#[test]
fn what_its_server_says_will_change_soon_is_visited_first() {
    let server = serve(|asked| {
        let lifetime = if asked.target == "/6" { 60 } else { 31_536_000 };
        let reply = match asked.target.as_str() {
            "/robots.txt" => return Reply::status(404),
            "/" => Reply::links((1..=9).map(|page| format!("/{page}"))),
            page => Reply::html(format!("<p>This is page {page}, and it stays.</p>")),
        };
        tagged(asked, reply.header(format!("Cache-Control: max-age={lifetime}")))
    });
    assert_eq!(first_visited(&server, &Folder::new().crawl()), "/6");
}

#[test]
fn what_many_pages_link_to_is_visited_first() {
    let server = serve(|asked| {
        tagged(
            asked,
            match asked.target.as_str() {
                "/robots.txt" => return Reply::status(404),
                "/" => Reply::links((1..=9).map(|page| format!("/{page}"))),
                _ => Reply::links(["/6"]),
            },
        )
    });
    assert_eq!(first_visited(&server, &Folder::new().crawl()), "/6");
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
