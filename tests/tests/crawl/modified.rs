//! A page that its sitemap says was modified since its copy was fetched is visited first in a further sequence, in every order.

use std::{
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rustix::process::Signal;
use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{REDISCOVER, Webloom, assert_clean},
};

use crate::{Folder, assert_counts, serve};

/// Pages that the start links to, and the sitemap lists.
const PAGES: usize = 80;

/// Those that the sitemap says were modified lately, once it does.
const MODIFIED: [&str; 2] = ["/45", "/70"];

const KNOWN_FIRST: [&str; 3] = ["--again", "--revisit", "known-first"];

/// A site whose sitemap names new dates from a moment on.
fn site() -> (Server, Arc<AtomicBool>) {
    let is_later = Arc::new(AtomicBool::new(false));
    let later = Arc::clone(&is_later);
    let server = serve(move |asked| match asked.target.as_str() {
        "/sitemap.xml" => sitemap(asked, later.load(Ordering::SeqCst)),
        "/" => Reply::links((1..=PAGES).map(|page| format!("/{page}"))),
        "/robots.txt" => Reply::status(404),
        _ => Reply::links(["/"]),
    });
    (server, is_later)
}

fn sitemap(asked: &Asked, is_later: bool) -> Reply {
    let host = asked.headers.iter().find_map(|header| header.to_lowercase().strip_prefix("host: ").map(str::to_owned));
    let host = host.expect("a host");
    let list = (1..=PAGES).map(|page| format!("/{page}")).fold(String::new(), |mut list, path| {
        let date = if is_later && MODIFIED.contains(&&*path) { "2100-01-01" } else { "2020-01-01" };
        let _ = write!(list, "<url><loc>http://{host}{path}</loc><lastmod>{date}</lastmod></url>");
        list
    });
    let body = format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{list}</urlset>");
    Reply::Whole(200, vec!["content-type: application/xml".to_owned()], body.into())
}

fn run(run: Webloom) -> Webloom {
    run.env("WEBLOOM_SOURCES_SITEMAPS", "on").env("WEBLOOM_FRONTIER_HEADS_PER_HOST", "10")
}

/// What was asked for since a line of the log, but robots.txt.
fn since(server: &Server, line: usize) -> Vec<String> {
    server.targets().into_iter().skip(line).filter(|target| target != "/robots.txt").collect()
}

#[test]
fn a_page_that_was_modified_is_visited_before_the_others() {
    for order in ["breadth", "depth", "best"] {
        for again in [KNOWN_FIRST, REDISCOVER] {
            let (server, is_later) = site();
            let folder = Folder::new();
            let order_flags = ["--order", order];
            run(Webloom::crawl(&folder.crawl(), &server.url("/")).args(order_flags)).run().expect(0);
            for _ in 0..2 {
                // The dates are still new in the sequence after that, but older than the copies: only here they are in the future.
                is_later.store(true, Ordering::SeqCst);
                let line = server.log().len();
                let summary = run(Webloom::go_on(&folder.crawl()).args(again)).run().expect(0).json();
                assert_eq!(summary["end"], "drained", "{summary}");
                assert_counts(&summary);
                assert_clean(&folder.crawl());
                let asked = since(&server, line);
                assert_eq!(asked.len(), PAGES + 2, "{order} {again:?}: {asked:?}");
                let read = asked.iter().position(|target| target == "/sitemap.xml").expect("it is read");
                for page in MODIFIED {
                    let place = asked.iter().position(|target| target == page).expect("it is visited");
                    assert!(place < read + 20 || place < 20, "{order} {again:?}: {page} is number {place}: {asked:?}");
                }
            }
        }
    }
}

#[test]
fn that_it_comes_first_outlives_a_kill() {
    let (server, is_later) = site();
    let folder = Folder::new();
    run(Webloom::crawl(&folder.crawl(), &server.url("/"))).run().expect(0);
    is_later.store(true, Ordering::SeqCst);
    let line = server.log().len();
    let running = run(Webloom::go_on(&folder.crawl()).args(KNOWN_FIRST)).args(["--delay", "5ms"]).spawn();
    server.wait_for("/70", 2);
    running.signal(Signal::KILL);
    drop(running.wait());
    let summary = run(Webloom::go_on(&folder.crawl())).args(["--delay", "0"]).run().expect(0).json();
    assert_eq!(summary["end"], "drained", "{summary}");
    assert_counts(&summary);
    assert_clean(&folder.crawl());
    let mut asked = since(&server, line);
    let place = asked.iter().position(|target| target == "/70").expect("it is visited");
    assert!(place < 20, "{asked:?}");
    asked.sort_unstable();
    asked.dedup();
    assert_eq!(asked.len(), PAGES + 2, "{asked:?}");
}

#[test]
fn what_is_not_newer_than_its_copy_keeps_its_place() {
    let (server, _) = site();
    let folder = Folder::new();
    run(Webloom::crawl(&folder.crawl(), &server.url("/"))).run().expect(0);
    let line = server.log().len();
    run(Webloom::go_on(&folder.crawl()).args(KNOWN_FIRST)).run().expect(0);
    let mut pages = since(&server, line);
    pages.retain(|target| target.len() > 1 && target != "/sitemap.xml");
    assert_eq!(pages, (1..=PAGES).map(|page| format!("/{page}")).collect::<Vec<_>>());
}
