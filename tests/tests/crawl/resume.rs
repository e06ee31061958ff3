//! Stopping and going on.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use webloom_tests::webloom::{Webloom, assert_clean, with_outcome};

use crate::{Folder, assert_law, chain, crawl, serve, star};

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
        assert_law(&summary);
        assert_clean(&folder.crawl());
        assert!(run.took < Duration::from_secs(8), "what is in flight ends soon: {:?}", run.took);
        assert_eq!(summary["requests"]["sent"], server.log().len());
        let rest = Webloom::go_on(&folder.crawl()).run().expect(0).json();
        assert_eq!((&rest["end"], &rest["pages"]["stored"]), (&"drained".into(), &9.into()));
        assert_eq!(server.log().len(), 9 + 2, "every page once, robots.txt twice");
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
    assert_law(&status);
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
    Webloom::go_on(&folder.crawl()).args(narrower).run().expect(0);
    assert_eq!(server.count("/2"), 0);
}
