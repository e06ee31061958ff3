//! robots.txt, and hosts that do not give it.

use std::sync::Arc;

use webloom_tests::{
    server::{Reply, Server},
    webloom::{Webloom, pages, with_outcome},
};

use crate::{Folder, assert_asked_once, assert_law, crawl, serve, star};

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
fn a_host_that_cannot_give_it_is_asked_again_and_then_abandoned() {
    for reply in [|| Reply::status(503), || Reply::status(429), Reply::hang_up] {
        let server = with_robots(move |_| reply());
        let folder = Folder::new();
        let run = Webloom::crawl(&folder.crawl(), &server.url("/")).run().expect(1);
        let summary = run.json();
        assert_law(&summary);
        assert_eq!(server.targets(), ["/robots.txt"; 4], "three retries");
        assert_eq!(
            (&summary["end"], &summary["urls"]["abandoned"]["robots_unreachable"]),
            (&"failed".into(), &1.into())
        );
        assert_eq!(pages(&folder.crawl())[&server.url("/")]["reason"], "robots_unreachable");
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
