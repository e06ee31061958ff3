//! Stopping and going on.

use std::{
    path::Path,
    sync::{Arc, Condvar, Mutex},
    time::{Duration, Instant},
};

use rusqlite::{Connection, OpenFlags, types::Value};
use rustix::process::Signal;
use webloom_tests::{
    server::{Reply, Server},
    webloom::{Webloom, assert_clean, pages, with_outcome},
};

use crate::{Folder, assert_asked_once, assert_counts, chain, crawl, serve, star};

#[test]
fn a_signal_saves_everything_and_the_next_start_completes_it() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let server = serve(chain(8));
        let folder = Folder::new();
        let running = Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--delay", "500ms"]).spawn();
        server.wait_for("/2", 1);
        running.signal(signal);
        let run = running.wait().expect(code);
        let summary = run.json();
        assert_eq!(summary["end"], "signal");
        assert_counts(&summary);
        assert_clean(&folder.crawl());
        assert!(run.took < Duration::from_secs(8), "what is in flight ends soon: {:?}", run.took);
        assert_eq!(summary["requests"]["sent"], server.log().len());
        let rest = Webloom::go_on(&folder.crawl()).run().expect(0).json();
        assert_eq!((&rest["end"], &rest["pages"]["stored"]), (&"drained".into(), &9.into()));
        assert_eq!(server.log().len(), 9 + 1, "every page once, and robots.txt");
        assert_clean(&folder.crawl());
    }
}

#[test]
fn while_it_runs_others_may_read_and_none_may_write() {
    let server = serve(chain(3));
    let folder = Folder::new();
    let running = Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--delay", "700ms"]).spawn();
    server.wait_for("/1", 1);
    let second = Webloom::go_on(&folder.crawl()).args(["-q"]).run().expect(2);
    assert_eq!(second.stderr.lines().count(), 1, "{}", second.stderr);
    assert!(second.stderr.contains("in use") && second.stdout.is_empty(), "{second:?}");
    let status = Webloom::new(["status", "--json"]).args([folder.crawl()]).run().expect(0).json();
    assert_counts(&status);
    assert!(status["end"].is_null(), "{status}");
    Webloom::new(["pages"]).args([folder.crawl()]).run().expect(0);
    running.signal(Signal::TERM);
    running.wait().expect(143);
}

#[test]
fn a_host_is_not_asked_before_its_delay_after_a_start() {
    let server = serve(star(3));
    let folder = Folder::new();
    Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--max-pages", "1"]).run().expect(0);
    let asked = server.log().len();
    let began = Instant::now();
    Webloom::go_on(&folder.crawl()).args(["--max-pages", "2", "--delay", "600ms"]).run().expect(0);
    assert!(server.log()[asked].began - began >= Duration::from_millis(600));
}

#[test]
fn a_drained_directory_says_so_and_takes_added_starts() {
    let (server, other) = (serve(star(2)), serve(star(3)));
    let folder = Folder::new();
    crawl(&server, &folder.crawl(), &[]);
    let asked = server.log().len();
    let again = Webloom::crawl(&folder.crawl(), &server.url("/")).run().expect(0);
    assert_eq!((&again.json()["end"], server.log().len()), (&"drained".into(), asked));
    assert!(again.stderr.contains("nothing is left to fetch"), "{}", again.stderr);
    let added = Webloom::go_on(&folder.crawl()).args(["--add", &other.url("/")]).run().expect(0).json();
    assert_eq!((&added["pages"]["stored"], server.log().len(), other.log().len()), (&7.into(), asked, 5));
    assert_clean(&folder.crawl());
}

#[test]
fn another_crawl_is_refused() {
    let (server, other) = (serve(star(1)), serve(star(1)));
    let folder = Folder::new();
    crawl(&server, &folder.crawl(), &[]);
    let run = Webloom::crawl(&folder.crawl(), &other.url("/")).args(["-q"]).run().expect(2);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert!(run.stderr.contains("--add"), "{}", run.stderr);
    assert!(other.log().is_empty());
    let both = Webloom::crawl(&folder.crawl(), &server.url("/")).args([other.url("/")]).run().expect(0);
    assert_eq!((&both.json()["pages"]["stored"], with_outcome(&folder.crawl(), "stored").len()), (&4.into(), 4));
}

#[test]
fn a_wider_scope_is_refused_a_narrower_one_applies() {
    let server = serve(star(5));
    let folder = Folder::new();
    let first = ["--exclude", "/2$", "--max-pages", "1"];
    Webloom::crawl(&folder.crawl(), &server.url("/")).args(first).run().expect(0);
    let asked = server.log().len();
    let wider = Webloom::go_on(&folder.crawl()).args(["-q", "--exclude", "/x$"]).run().expect(2);
    assert!(wider.stderr.contains("--exclude") && wider.stderr.contains("--dir"), "{}", wider.stderr);
    assert_eq!((wider.stderr.lines().count() <= 8, server.log().len()), (true, asked));
    let narrower = ["--exclude", "/2$", "--exclude", "/3$", "--max-pages", "none"];
    let summary = Webloom::go_on(&folder.crawl()).args(narrower).run().expect(0).json();
    assert_asked_once(&server, &["/", "/1", "/4", "/5"]);
    let queued_before = &pages(&folder.crawl())[&server.url("/3")];
    assert_eq!((&queued_before["outcome"], &queued_before["reason"]), (&"abandoned".into(), &"scope".into()));
    assert_eq!((&summary["end"], &summary["urls"]["abandoned"]["scope"]), (&"drained".into(), &1.into()));
    assert_counts(&summary);
    assert_clean(&folder.crawl());
}

#[test]
fn another_order_on_going_on_loses_and_repeats_nothing() {
    for [first, then] in [["breadth", "depth"], ["depth", "breadth"]] {
        let server = serve(star(60));
        let folder = Folder::new();
        // So few heads that most of the queue is read from the table, in the new order.
        let heads = |run: Webloom| run.env("WEBLOOM_FRONTIER_HEADS_PER_HOST", "10");
        let run = heads(Webloom::crawl(&folder.crawl(), &server.url("/"))).args(["--order", first, "--max-pages", "1"]);
        run.run().expect(0);
        let run = heads(Webloom::go_on(&folder.crawl())).args(["--order", then, "--max-pages", "none"]);
        let summary = run.patience(Duration::from_mins(1)).run().expect(0).json();
        assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"drained".into(), &61.into()));
        assert_counts(&summary);
        let pages: Vec<String> = (1..=60).map(|page| format!("/{page}")).collect();
        assert_asked_once(&server, &pages.iter().map(String::as_str).chain(["/"]).collect::<Vec<_>>());
        assert_clean(&folder.crawl());
    }
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let over = Arc::new((Mutex::new(false), Condvar::new()));
    let (wait, site) = (Arc::clone(&over), star(3));
    let hanging = serve(move |asked| {
        if asked.target == "/2" && asked.before == 0 {
            let (over, changed) = &*wait;
            drop(changed.wait_timeout_while(over.lock().unwrap(), Duration::from_mins(1), |over| !*over).unwrap());
        }
        site(asked)
    });
    let done = Arc::clone(&over);
    let endless = Server::start("127.0.0.2", move |asked| match asked.target.trim_start_matches('/').parse::<u32>() {
        Ok(_) if *done.0.lock().unwrap() => Reply::html("the end"),
        Ok(page) => Reply::links([format!("/{}", page + 1)]),
        Err(_) if asked.target == "/" => Reply::links(["/1"]),
        Err(_) => Reply::status(404),
    })
    .unwrap();
    let folder = Folder::new();
    let running = Webloom::crawl(&folder.crawl(), &hanging.url("/")).args([endless.url("/")]).spawn();
    hanging.wait_for("/2", 1);
    endless.wait_for("/3", 1);
    // Two of a kind that come before it looks are one; the first has been seen when it asks for nothing any more.
    running.signal(Signal::INT);
    endless.wait_for_silence(Duration::from_millis(500));
    running.signal(Signal::TERM);
    let run = running.wait();
    *over.0.lock().unwrap() = true;
    over.1.notify_all();
    assert!(matches!(run.code, Some(130 | 143)), "{run:?}");
    assert_eq!(run.stdout, "", "one that waits for what is in flight ends with a summary");
    assert_clean(&folder.crawl());
    let rest = Webloom::go_on(&folder.crawl()).run().expect(0).json();
    assert_eq!((&rest["end"], &rest["urls"]["abandoned"]), (&"drained".into(), &serde_json::json!({})));
    assert_eq!(rest["pages"]["stored"], rest["counts"]["admitted"]);
    assert_eq!((hanging.count("/2"), hanging.count("/1"), hanging.count("/3")), (2, 1, 1));
    assert_clean(&folder.crawl());
}

/// All rows of all tables, and the copy of the settings.
fn content(dir: &Path) -> anyhow::Result<String> {
    let path = dir.join("webloom.sqlite");
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")?;
    let names = tables.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    let mut content = std::fs::read_to_string(dir.join("crawl.toml"))?;
    for name in names {
        let mut select = database.prepare(&format!("SELECT * FROM {name}"))?;
        let columns = select.column_count();
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let values = (0..columns).map(|column| row.get(column)).collect::<rusqlite::Result<Vec<Value>>>()?;
            content += &format!("{name}: {values:?}\n");
        }
    }
    Ok(content)
}

#[test]
fn a_refused_command_changes_nothing() {
    let (server, other) = (serve(star(4)), serve(star(1)));
    let (own, foreign) = (server.url("/"), other.url("/"));
    for finished in [true, false] {
        let folder = Folder::new();
        let budget = ["--max-pages", if finished { "none" } else { "2" }];
        Webloom::crawl(&folder.crawl(), &own).args(["--exclude", "/2$"]).args(budget).run().expect(0);
        let (before, asked) = (content(&folder.crawl()).unwrap(), server.log().len());
        let refused: [&[&str]; 10] = [
            &["--exclude", "/x$", "--add", &foreign],
            &[&foreign],
            &[&foreign, "--delay", "3s", "--order", "depth"],
            &["--order", "depth", "--delay", "soon"],
            &["--add", &foreign, "--resolve", "nonsense"],
            &["--add", &foreign, "--allow-private", "10.0.0.0/99"],
            &["--add", &foreign, "--user-agent", "("],
            &["--add", &foreign, "--header", "nonsense"],
            &["--add", &foreign, "--cache", "exact", "--expected-urls", "900000000000"],
            &[&own, "--add", "ftp://127.0.0.1/"],
        ];
        for arguments in refused {
            let run = Webloom::go_on(&folder.crawl()).args(arguments).run().expect(2);
            assert!(run.stderr.contains("error: ") && run.stdout.is_empty(), "{arguments:?}: {run:?}");
            assert_eq!(content(&folder.crawl()).unwrap(), before, "{arguments:?}");
        }
        assert_eq!((server.log().len(), other.log().len()), (asked, 0));
    }
}
