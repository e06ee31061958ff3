//! robots.txt, and hosts that do not give it.

use std::{
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rusqlite::Connection;
use serde_json::json;

use webloom_tests::{
    server::{Reply, Server},
    webloom::{Webloom, assert_clean, pages, with_outcome},
};

use crate::{Folder, assert_asked_once, assert_counts, crawl, serve, star};

/// A site whose `/` links to `/1` and `/2`, with this robots.txt.
fn with_robots(robots: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Server {
    let site = star(2);
    serve(move |asked| if asked.target == "/robots.txt" { robots(asked.before) } else { site(asked) })
}

#[test]
fn none_allows_everything_and_is_asked_for_once() {
    for status in [401, 403, 404, 410] {
        let server = with_robots(move |_| Reply::status(status));
        assert_eq!(crawl(&server, &Folder::new().crawl(), &[])["pages"]["stored"], 3, "{status}");
        assert_eq!(server.targets()[0], "/robots.txt");
        assert_eq!(server.count("/robots.txt"), 1);
    }
}

#[test]
fn what_it_forbids_is_never_asked_for() {
    let server = with_robots(|_| Reply::text("User-agent: *\nDisallow: /1\n"));
    let folder = Folder::new();
    let summary = crawl(&server, &folder.crawl(), &[]);
    assert_asked_once(&server, &["/", "/2"]);
    assert_eq!(summary["urls"]["abandoned"]["robots"], 1);
    assert_eq!(pages(&folder.crawl())[&server.url("/1")]["reason"], "robots");
}

#[test]
fn the_group_of_our_name_counts() {
    let server = with_robots(|_| Reply::text("User-agent: *\nDisallow: /\n\nUser-agent: weaver\nDisallow: /2\n"));
    crawl(&server, &Folder::new().crawl(), &["--user-agent", "weaver/1 (+http://localhost/)"]);
    assert_asked_once(&server, &["/", "/1"]);
    assert!(
        server.log()[0]
            .headers
            .iter()
            .any(|line| line.eq_ignore_ascii_case("user-agent: weaver/1 (+http://localhost/)"))
    );
}

#[test]
fn ignored_where_the_user_says_so() {
    let server = with_robots(|_| Reply::text("User-agent: *\nDisallow: /\n"));
    assert_eq!(crawl(&server, &Folder::new().crawl(), &["--ignore-robots", "127.0.0.1"])["pages"]["stored"], 3);
    assert_eq!(server.count("/robots.txt"), 0);
}

#[test]
fn a_host_that_cannot_give_it_is_asked_again_until_it_is_given_up() {
    for reply in [|| Reply::status(503), || Reply::status(429), Reply::hang_up] {
        let server = with_robots(move |_| reply());
        let folder = Folder::new();
        let run = Webloom::crawl(&folder.crawl(), &server.url("/")).env("WEBLOOM_POLITENESS_GIVE_UP", "1s");
        let run = run.run().expect(4);
        let summary = run.json();
        assert_counts(&summary);
        let targets = server.targets();
        assert!(
            (3..20).contains(&targets.len()) && targets.iter().all(|target| target == "/robots.txt"),
            "{targets:?}"
        );
        assert_eq!((&summary["end"], &summary["counts"]["queued"]), (&"unreachable".into(), &1.into()));
        assert_eq!(run.stderr.lines().last().map(|line| line.starts_with("error: ")), Some(true), "{}", run.stderr);
    }
}

#[test]
fn a_host_that_recovers_between_the_retries_is_crawled() {
    let server = with_robots(|before| match before {
        0 => Reply::status(500),
        1 => Reply::hang_up(),
        _ => Reply::text("User-agent: *\nDisallow: /2\n"),
    });
    assert_eq!(crawl(&server, &Folder::new().crawl(), &[])["pages"]["stored"], 2);
    assert_eq!(server.targets(), ["/robots.txt", "/robots.txt", "/robots.txt", "/", "/1"]);
}

#[test]
fn redirects_are_followed_also_to_another_host() {
    let other = Arc::new(
        Server::start("127.0.0.2", |asked| match asked.target.as_str() {
            "/rules" => Reply::text("User-agent: *\nDisallow: /2\n"),
            _ => Reply::status(404),
        })
        .unwrap(),
    );
    let to = other.url("/rules");
    let site = star(2);
    let server = serve(move |asked| match asked.target.as_str() {
        "/robots.txt" => Reply::redirect(301, "/r1"),
        "/r1" => Reply::redirect(302, &to),
        _ => site(asked),
    });
    crawl(&server, &Folder::new().crawl(), &["--allow-private", "127.0.0.2"]);
    assert_asked_once(&server, &["/r1", "/", "/1"]);
    assert_eq!(other.targets(), ["/rules"]);
}

#[test]
fn five_redirects_and_no_more() {
    for (hops, stored) in [(5, 2), (6, 3)] {
        let site = star(2);
        let server =
            serve(move |asked| match asked.target.strip_prefix("/r").and_then(|hop| hop.parse::<u32>().ok()) {
                Some(hop) if hop == hops => Reply::text("User-agent: *\nDisallow: /2\n"),
                Some(hop) => Reply::redirect(302, format!("/r{}", hop + 1)),
                None if asked.target == "/robots.txt" => Reply::redirect(302, "/r1"),
                None => site(asked),
            });
        assert_eq!(crawl(&server, &Folder::new().crawl(), &[])["pages"]["stored"], stored, "{hops} redirects");
        assert_eq!(server.count("/r6"), 0);
    }
}

#[test]
fn a_long_one_is_read_up_to_500_kib() {
    let filler = "# nothing to see here\n".repeat(400 * 1024 / 22);
    let long = format!("User-agent: *\nDisallow: /1\n{filler}{filler}Disallow: /2\n");
    let server = with_robots(move |_| Reply::text(&long));
    let folder = Folder::new();
    crawl(&server, &folder.crawl(), &[]);
    assert_eq!(with_outcome(&folder.crawl(), "stored"), [server.url("/"), server.url("/2")]);
}

#[test]
fn a_host_that_refused_connections_and_recovers_is_crawled() {
    let gone = Server::start("127.0.0.77", star(0)).unwrap();
    let (start, address) = (gone.url("/"), ([127, 0, 0, 77], gone.port()).into());
    drop(gone);
    let folder = Folder::new();
    let running = Webloom::crawl(&folder.crawl(), &start).env("WEBLOOM_POLITENESS_GIVE_UP", "1m").spawn();
    let refused = || {
        let status = Webloom::new(["status", "--json"]).args([folder.crawl()]).run();
        status.code == Some(0) && status.json()["requests"]["errors"]["refused"].as_u64() > Some(0)
    };
    let began = Instant::now();
    // Each look is a run of the program.
    while !refused() {
        assert!(began.elapsed() < Duration::from_mins(1), "no connection was refused");
    }
    let server = Server::start_at(address, star(2)).unwrap();
    let summary = running.wait().expect(0).json();
    assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"drained".into(), &3.into()));
    assert_counts(&summary);
    assert_clean(&folder.crawl());
    assert_asked_once(&server, &["/", "/1", "/2"]);
}

/// Makes the stored robots.txt files older than they may be.
pub(crate) fn age_robots(folder: &Folder) {
    let older = "UPDATE host SET robots_fetched_at = robots_fetched_at - 2 * 86400000";
    let database = Connection::open(folder.crawl().join("webloom.sqlite")).expect("a database");
    database.execute_batch(older).expect("a column");
}

/// RFC 9309 2.3.1.4: without a robots.txt that can be read a host is not visited, and not given up either.
#[test]
fn a_host_whose_robots_txt_cannot_be_read_any_more_waits() {
    let closed = Arc::new(AtomicBool::new(false));
    let now = Arc::clone(&closed);
    let server = serve(move |asked| match asked.target.as_str() {
        "/robots.txt" if now.load(Ordering::SeqCst) => Reply::status(500),
        "/robots.txt" => Reply::status(404),
        "/" => Reply::links((1..=40).map(|page| format!("/{page}"))),
        _ => Reply::html("x"),
    });
    let folder = Folder::new();
    Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--max-pages", "20"]).run().expect(0);
    age_robots(&folder);
    closed.store(true, Ordering::SeqCst);
    let asked = server.log().len();
    let run = Webloom::go_on(&folder.crawl()).args(["--max-pages", "none"]);
    let run = run.env("WEBLOOM_POLITENESS_GIVE_UP", "1s").run().expect(4);
    let summary = run.json();
    assert_counts(&summary);
    assert_clean(&folder.crawl());
    assert_eq!((&summary["end"], &summary["counts"]["queued"]), (&"unreachable".into(), &21.into()));
    let host = &summary["hosts"][0];
    assert_eq!((&host["cause"], &host["waiting"], &host["health"]), (&"500".into(), &21.into(), &"unreachable".into()));
    assert!(server.log()[asked..].iter().all(|asked| asked.target == "/robots.txt"));
    closed.store(false, Ordering::SeqCst);
    let rest = Webloom::go_on(&folder.crawl()).run().expect(0).json();
    assert_eq!((&rest["end"], &rest["pages"]["stored"], &rest["hosts"]), (&"drained".into(), &41.into(), &json!([])));
}

#[test]
fn one_that_is_cut_short_is_as_good_as_none() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n";
    let rules = "User-agent: *\nDisallow: /2\n";
    let cut = move || Reply::Raw(format!("{head}content-length: 500\r\n\r\n{rules}").into());
    let chunk = format!("{head}transfer-encoding: chunked\r\n\r\n{:x}\r\n{rules}\r\n", rules.len());
    let chunked = move || Reply::Raw(chunk.clone().into());
    let dripped = move || {
        Reply::Script(Box::new(move |stream| {
            stream.write_all(format!("{head}content-length: 500\r\n\r\n{rules}").as_bytes())?;
            loop {
                stream.write_all(b"#")?;
                thread::sleep(Duration::from_millis(50));
            }
        }))
    };
    let replies: [Box<dyn Fn() -> Reply + Send + Sync>; 3] = [Box::new(cut), Box::new(chunked), Box::new(dripped)];
    for reply in replies {
        let server = with_robots(move |_| reply());
        let folder = Folder::new();
        let run = Webloom::crawl(&folder.crawl(), &server.url("/")).env("WEBLOOM_POLITENESS_GIVE_UP", "1s");
        let summary = run.env("WEBLOOM_FETCH_TOTAL_TIMEOUT", "300ms").run().expect(4).json();
        assert_counts(&summary);
        let targets = server.targets();
        assert!(
            (2..20).contains(&targets.len()) && targets.iter().all(|target| target == "/robots.txt"),
            "{targets:?}"
        );
        assert_eq!((&summary["end"], &summary["counts"]["queued"]), (&"unreachable".into(), &1.into()));
    }
}

#[test]
fn one_that_comes_whole_the_second_time_counts() {
    let server = with_robots(|before| match before {
        0 => Reply::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\nUser-agent: *\nDisallow: /2".to_vec()),
        _ => Reply::text("User-agent: *\nDisallow: /1\n"),
    });
    crawl(&server, &Folder::new().crawl(), &[]);
    assert_eq!(server.targets(), ["/robots.txt", "/robots.txt", "/", "/2"]);
}

#[test]
fn a_refused_address_is_final_and_named() {
    let folder = Folder::new();
    let (inside, resolve) = ("http://inside.test/", "inside.test:80:127.0.0.1");
    let server = serve(move |asked| match asked.target.as_str() {
        "/" => Reply::redirect(301, inside),
        _ => Reply::status(404),
    });
    let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--resolve", resolve]);
    let run = run.env("WEBLOOM_ROBOTS_BACKOFF", "1h").run().expect(1);
    let summary = run.json();
    assert_eq!((&summary["requests"]["errors"]["address"], &summary["requests"]["sent"]), (&1.into(), &2.into()));
    assert_eq!(summary["urls"]["abandoned"]["address"], 1);
    assert_eq!(pages(&folder.crawl())[inside]["reason"], "address");
    let last = run.stderr.lines().last().unwrap_or_default();
    assert!(last.contains("--allow-private"), "{}", run.stderr);
}

/// RFC 9309 2.3.1.4: unreachable is not gone. What a redirect leads to is at fault, and not the host that sent it.
#[test]
fn a_redirect_to_where_nobody_may_be_asked_closes_no_host() {
    for there in ["http://nobody.invalid/robots.txt", "http://inside.test/robots.txt"] {
        let fixed = Arc::new(AtomicBool::new(false));
        let (now, site) = (Arc::clone(&fixed), star(2));
        let server = serve(move |asked| match asked.target.as_str() {
            "/robots.txt" if !now.load(Ordering::SeqCst) => Reply::redirect(301, there),
            _ => site(asked),
        });
        let folder = Folder::new();
        let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--resolve", "inside.test:80:127.0.0.1"]);
        let run = run.env("WEBLOOM_POLITENESS_GIVE_UP", "1s").run().expect(4);
        let summary = run.json();
        assert_counts(&summary);
        assert_clean(&folder.crawl());
        assert_eq!((&summary["end"], &summary["urls"]["abandoned"]), (&"unreachable".into(), &json!({})));
        let host = &summary["hosts"][0];
        let names = host["host"].as_str().is_some_and(|host| server.url("/").starts_with(host));
        assert!(names && host["waiting"] == 1 && host["cause"] == "robots_redirect", "{}", summary["hosts"]);
        assert!(run.stderr.contains("robots.txt redirects"), "{}", run.stderr);
        fixed.store(true, Ordering::SeqCst);
        let rest = Webloom::go_on(&folder.crawl()).run().expect(0).json();
        assert_eq!((&rest["end"], &rest["pages"]["stored"]), (&"drained".into(), &3.into()), "{there}");
    }
}

#[test]
fn one_that_ages_faster_than_the_delay_passes_is_good_for_one_page() {
    let server = with_robots(|_| Reply::text(""));
    let run = Webloom::crawl(&Folder::new().crawl(), &server.url("/")).args(["--delay", "1200ms"]);
    let summary = run.env("WEBLOOM_ROBOTS_MAX_AGE", "1s").run().expect(0).json();
    assert_eq!(summary["pages"]["stored"], 3);
    assert_eq!(server.targets(), ["/robots.txt", "/", "/robots.txt", "/1", "/robots.txt", "/2"]);
}
