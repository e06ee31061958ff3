//! Ends that nobody asked for: kills after every commit, and a database that cannot be read.

use std::{path::Path, time::Duration};

use rusqlite::Connection;
use rustix::process::Signal;
use webloom_tests::{
    grown::grow,
    server::{Reply, Server},
    webloom::{Run, Webloom, assert_clean, with_outcome},
};

use crate::{Folder, assert_asked_once, assert_counts, crawl, serve, star, starts::without_scheme};

/// Kills a crawl after its first commit, another one after its second, and so on until one ends by itself; each is
/// completed by `again`, and then checked.
fn killed_after_every_commit(
    first: impl Fn(&Path) -> Webloom,
    again: impl Fn(&Path) -> Webloom,
    check: impl Fn(&Path, Run),
) {
    for number in 1.. {
        let folder = Folder::new();
        let dir = folder.crawl();
        let run = first(&dir).env("WEBLOOM_STORE_COMMIT_VISITS", "1");
        let run = run.env("WEBLOOM_FAILPOINT", &format!("after_commit:{number}")).run();
        assert_clean(&dir);
        let completed = again(&dir).run();
        assert_counts(&completed.json());
        assert_clean(&dir);
        check(&dir, completed);
        if run.code.is_some() {
            assert!(number > 4, "it was killed {} times only", number - 1);
            break;
        }
    }
}

#[test]
fn kills_within_the_redirects_of_a_start_lose_nothing() {
    let site = Server::start("127.0.0.2", |asked| match asked.target.as_str() {
        "/" => Reply::redirect(302, "/home"),
        "/home" => Reply::links(["/a", "/b"]),
        "/robots.txt" => Reply::status(404),
        _ => Reply::links(["/home"]),
    })
    .unwrap();
    let to = site.url("/");
    let start = serve(move |asked| if asked.target == "/" { Reply::redirect(301, &to) } else { Reply::status(404) });
    killed_after_every_commit(
        |dir| Webloom::crawl(dir, &start.url("/")).args(["--allow-private", "127.0.0.2"]),
        Webloom::go_on,
        |dir, run| {
            assert_eq!(run.expect(0).json()["end"], "drained");
            assert_eq!(with_outcome(dir, "stored"), ["/a", "/b", "/home"].map(|path| site.url(path)));
            assert_eq!(with_outcome(dir, "redirected"), [start.url("/"), site.url("/")]);
        },
    );
}

#[test]
fn kills_between_https_and_http_lose_nothing() {
    let server = serve(star(2));
    let crawl = |dir: &Path| Webloom::crawl(dir, &without_scheme(&server));
    killed_after_every_commit(crawl, crawl, |dir, run| {
        assert_eq!(run.expect(0).json()["end"], "drained");
        assert_eq!(with_outcome(dir, "stored"), ["/", "/1", "/2"].map(|path| server.url(path)));
    });
}

#[test]
fn a_kill_makes_no_start_of_what_a_start_was_redirected_to() {
    let neighbour = Server::start("127.0.0.2", star(1)).unwrap();
    let to = neighbour.url("/");
    let server = serve(move |asked| if asked.target == "/" { Reply::redirect(302, &to) } else { Reply::status(404) });
    killed_after_every_commit(
        |dir| Webloom::crawl(dir, &server.url("/")).env("WEBLOOM_ROBOTS_RETRIES", "0"),
        Webloom::go_on,
        |dir, run| {
            assert_eq!(run.expect(1).json()["end"], "failed");
            assert_eq!(with_outcome(dir, "abandoned"), [neighbour.url("/")]);
            assert!(neighbour.log().is_empty());
        },
    );
}

#[test]
fn a_row_that_cannot_be_read_ends_the_run_with_one_line() {
    let server = serve(star(30));
    let folder = Folder::new();
    Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--max-pages", "1"]).run().expect(0);
    let set_hop = |hop: &str| {
        let database = Connection::open(folder.crawl().join("webloom.sqlite")).unwrap();
        assert_eq!(database.execute("UPDATE url SET hop = ? WHERE state = 'queued'", [hop]).unwrap(), 30);
    };
    set_hop("xxx");
    let go_on = || Webloom::go_on(&folder.crawl()).args(["-q", "--max-pages", "none"]);
    // One that waits for an answer for ever is killed.
    let run = go_on().patience(Duration::from_secs(40)).run().expect(1);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert!(run.stderr.starts_with("error: ") && run.stderr.contains("is damaged"), "{}", run.stderr);
    set_hop("link");
    assert_eq!(go_on().run().expect(0).json()["pages"]["stored"], 31);
    let pages: Vec<String> = (1..=30).map(|page| format!("/{page}")).collect();
    assert_asked_once(&server, &pages.iter().map(String::as_str).chain(["/"]).collect::<Vec<_>>());
    assert_clean(&folder.crawl());
}

#[test]
fn a_signal_ends_a_start_before_its_first_request() {
    let (server, folder) = (serve(star(3)), Folder::new());
    let dir = folder.crawl();
    crawl(&server, &dir, &[]);
    grow(&dir, 20_000).expect("rows can be written");
    let asked = server.log().len();
    let mut run = Webloom::go_on(&dir).args(["--again", "--delay", "1s"]).within("exec 2>&1").spawn();
    run.line_with("politeness.delay is now");
    run.signal(Signal::INT);
    let run = run.wait();
    assert_eq!(run.code, Some(130));
    let said = "error: stopped while it was starting; everything fetched before is kept\n";
    assert!(run.stdout.ends_with(said) && !run.stdout.contains('{'), "{run:?}");
    assert_eq!(server.log().len(), asked);
}
