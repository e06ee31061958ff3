//! Kills in sequences beyond the first.

use std::path::Path;

use webloom_tests::{
    server::Reply,
    webloom::{Webloom, assert_clean, pages, pages_of},
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
    for _ in 0..2 {
        let run = Webloom::go_on(&dir).args(["-q", "--again"]).run().expect(2);
        assert!(run.stderr.contains("sequence 1 is not finished"), "{}", run.stderr);
    }
    // With all that it was asked to be.
    let summary = Webloom::go_on(&dir).run().expect(0).json();
    assert_eq!((&summary["end"], &summary["sequence"]), (&"drained".into(), &1.into()));
    assert_eq!((&summary["pages"]["stored"], &summary["pages"]["new"]), (&5.into(), &2.into()));
    assert_eq!(server.log().len() - asked, 5);
    assert_clean(&dir);
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
