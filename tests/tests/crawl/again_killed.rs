//! Kills in sequences beyond the first.

use std::path::Path;

use rustix::process::Signal;
use webloom_tests::{
    server::{Reply, Server},
    webloom::{Run, Webloom, assert_clean, pages, pages_of, with_outcome},
};

use crate::{Folder, again::Versions, assert_counts, crawl, serve, star};

/// So few heads that most of the queue is read from the table, by ticket.
fn few_heads(run: Webloom) -> Webloom {
    run.env("WEBLOOM_FRONTIER_HEADS_PER_HOST", "10").env("WEBLOOM_STORE_COMMIT_VISITS", "1")
}

#[test]
fn a_sequence_that_was_killed_as_it_began_is_gone_on_with() {
    let server = serve(star(3));
    let folder = Folder::new();
    let dir = folder.crawl();
    crawl(&server, &dir, &["--exclude", "/3$"]);
    let asked = server.log().len();
    let wider = ["--again", "--exclude", "/x$", "--add", &server.url("/added")];
    let killed = Webloom::go_on(&dir).args(wider).env("WEBLOOM_FAILPOINT", "after_begin_sequence:1").run();
    assert_eq!((killed.code, server.log().len()), (None, asked));
    assert_clean(&dir);
    assert!(pages_of(&dir, 1).is_empty());
    // With all that it was asked to be.
    let summary = Webloom::go_on(&dir).run().expect(0).json();
    assert_eq!((&summary["end"], &summary["sequence"]), (&"drained".into(), &1.into()));
    assert_eq!((&summary["pages"]["stored"], &summary["pages"]["new"]), (&5.into(), &2.into()));
    assert_eq!(server.log().len() - asked, 5);
    assert_clean(&dir);
}

/// A crawl of `star(8)` that was killed after three commits; how many pages it had stored.
fn killed(server: &Server, dir: &Path, arguments: &[&str]) -> usize {
    let run =
        few_heads(Webloom::crawl(dir, &server.url("/"))).args(arguments).env("WEBLOOM_FAILPOINT", "after_commit:3");
    assert_eq!(run.run().code, None);
    with_outcome(dir, "stored").len()
}

#[test]
fn what_was_killed_is_resumed_before_the_next_sequence_begins() {
    let (server, folder) = (serve(star(8)), Folder::new());
    let dir = folder.crawl();
    let done = killed(&server, &dir, &[]);
    let before = server.log().len();
    let run = Webloom::go_on(&dir).args(["--again"]).run().expect(0);
    assert_eq!((&run.json()["end"], &run.json()["sequence"]), (&"drained".into(), &1.into()), "{run:?}");
    let said = run.stderr.lines().filter(|line| line.contains("sequence 0 is not finished"));
    assert!(said.count() == 1 && run.stderr.contains("then sequence 1 begins"), "{}", run.stderr);
    let first = pages_of(&dir, 0);
    assert!(first.len() == 9 && first.values().all(|page| page["outcome"] == "stored"), "{first:?}");
    assert_eq!(server.log().len() - before, 9 - done + 9, "what is stored is not asked for again in its sequence");
    assert_clean(&dir);
    // Before there was a crawl, it was killed too.
    let early = Folder::new();
    std::fs::create_dir(early.crawl()).unwrap();
    std::fs::write(early.crawl().join("webloom.sqlite"), "").unwrap();
    let first = Webloom::crawl(&early.crawl(), &server.url("/")).args(["--again"]).run().expect(0).json();
    assert_eq!((&first["sequence"], &first["pages"]["stored"]), (&0.into(), &9.into()));
}

#[test]
fn no_sequence_begins_unless_the_one_before_it_is_complete() {
    let (server, folder) = (serve(star(8)), Folder::new());
    let dir = folder.crawl();
    killed(&server, &dir, &["--exclude", "/8$"]);
    let before = server.log().len();
    let wider = Webloom::go_on(&dir).args(["-q", "--again", "--exclude", "/none$"]).run().expect(2);
    assert!(
        wider.stderr.contains("sequence 0 is not finished") && wider.stderr.contains("webloom crawl -d"),
        "{wider:?}"
    );
    assert_eq!(server.log().len(), before);
    let again = |arguments: &[&str]| Webloom::go_on(&dir).args(["-q", "--again"]).args(arguments);
    let stopped = |run: Run, code: i32, end: &str| {
        let run = run.expect(code);
        assert_eq!((&run.json()["end"], &run.json()["sequence"]), (&end.into(), &0.into()), "{run:?}");
        assert!(run.stderr.contains("sequence 1 does not begin: sequence 0 "), "{run:?}");
        assert_clean(&dir);
    };
    let (asked, running) = (server.log().len(), again(&["--delay", "400ms"]).spawn());
    server.wait_for_more(asked);
    running.signal(Signal::TERM);
    stopped(running.wait(), 143, "signal");
    stopped(again(&["--max-pages", "5"]).run(), 0, "budget");
    // That is an end: what is left is asked for in the next sequence.
    let next = again(&["--max-pages", "unlimited"]).run().expect(0).json();
    assert_eq!((&next["sequence"], &next["pages"]["stored"]), (&1.into(), &8.into()), "{next}");
    let (gone, folder) = (serve(star(8)), Folder::new());
    killed(&gone, &folder.crawl(), &[]);
    drop(gone);
    let run = Webloom::go_on(&folder.crawl()).args(["-q", "--again"]).run().expect(4);
    assert_eq!((&run.json()["end"], &run.json()["sequence"]), (&"unreachable".into(), &0.into()), "{run:?}");
}

#[test]
fn kills_after_every_commit_lose_nothing_and_begin_no_other_sequence() {
    let site = Versions::serve(|version, path, before| match (path, version) {
        ("/", _) => Reply::links((1..=30).map(|page| format!("/{page}"))),
        // The last pages of each version are on two levels, and one needs two attempts.
        ("/14", 1) => Reply::links(["/deep", "/1"]),
        ("/3", 1) if before % 2 == 1 => Reply::status(503),
        ("/5", 1) => Reply::html("another text"),
        ("/6", 1) => Reply::status(410),
        _ => Reply::links(["/"]),
    });
    for number in 1.. {
        let folder = Folder::new();
        let dir = folder.crawl();
        site.set(0);
        crawl(&site.server, &dir, &[]);
        let began = site.set(1);
        let run = few_heads(Webloom::go_on(&dir)).args(["--again"]);
        let run = run.env("WEBLOOM_FAILPOINT", &format!("after_commit:{number}")).run();
        assert_clean(&dir);
        // What was committed is not asked for again.
        let done: Vec<_> = pages_of(&dir, 1).into_values().filter(|page| page["outcome"] != "queued").collect();
        let before = site.server.log().len();
        complete(&dir);
        let asked = site.asked_since(before);
        for page in &done {
            let path = page["url"].as_str().unwrap().trim_start_matches(&site.server.url(""));
            assert!(!asked.iter().any(|asked| asked == path), "{path} again, after {number} commits");
        }
        let mut all = site.asked_since(began);
        all.dedup();
        assert_eq!(all.len(), 32, "{all:?}");
        let outcomes = |outcome: &str| pages(&dir).into_values().filter(|page| page["outcome"] == outcome).count();
        assert_eq!((outcomes("stored"), outcomes("gone")), (31, 1));
        if run.code.is_some() {
            assert!(number > 20, "it was killed {} times only", number - 1);
            break;
        }
    }
}

/// Goes on with sequence 1 to its end.
fn complete(dir: &Path) {
    let run = few_heads(Webloom::go_on(dir)).run().expect(0);
    let summary = run.json();
    assert_eq!((&summary["end"], &summary["sequence"]), (&"drained".into(), &1.into()), "{run:?}");
    let pages = &summary["pages"];
    let counts = ["new", "changed", "unchanged", "gone"].map(|name| pages[name].as_u64().expect("a count"));
    assert_eq!(counts, [1, 2, 28, 1]);
    assert_counts(&summary);
    assert_clean(dir);
}
