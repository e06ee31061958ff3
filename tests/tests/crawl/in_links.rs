//! The order `best` without a rule: what many pages link to, and what a sitemap rates high, is fetched early, also by a run that goes on.

use std::{fmt::Write as _, path::Path};

use rustix::process::Signal;
use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{Webloom, assert_clean},
};

use crate::{Folder, assert_asked_once, assert_counts, serve};

/// Pages that the start links to, each of which links to [`HUB`].
const PAGES: usize = 120;

/// What all of them link to: breadth first it is the last but for the pages that it alone links to.
const HUB: &str = "/hub";

const BEST: [&str; 2] = ["--order", "best"];

fn site(asked: &Asked) -> Reply {
    match asked.target.as_str() {
        "/" => Reply::links((1..=PAGES).map(|page| format!("/{page}"))),
        "/robots.txt" => Reply::status(404),
        HUB => Reply::links(["/", "/behind"]),
        page if page == "/behind" || page.starts_with("/of/") => Reply::html("the end"),
        page => Reply::links(["/".to_owned(), HUB.to_owned(), format!("/of{page}")]),
    }
}

/// A run that holds few rows in memory, so that most ranks are read from the table.
fn few_heads(run: Webloom) -> Webloom {
    run.env("WEBLOOM_FRONTIER_HEADS_PER_HOST", "10").env("WEBLOOM_FRONTIER_HEADS", "100")
}

/// What was asked for but robots.txt, in order.
fn targets(server: &Server) -> Vec<String> {
    server.targets().into_iter().filter(|target| target != "/robots.txt").collect()
}

/// How many were asked for before a page.
fn before(server: &Server, page: &str) -> usize {
    let targets = targets(server);
    targets.iter().position(|target| target == page).unwrap_or(targets.len())
}

fn go_on(dir: &Path, pages: &str) -> Webloom {
    few_heads(Webloom::go_on(dir)).args(["--max-pages", pages])
}

/// Goes on to the end, and judges all.
fn finish(server: &Server, dir: &Path) {
    let summary = go_on(dir, "none").run().expect(0).json();
    assert_eq!(summary["end"], "drained", "{summary}");
    assert_counts(&summary);
    assert_clean(dir);
    let pages = (1..=PAGES).flat_map(|page| [format!("/{page}"), format!("/of/{page}")]);
    let all: Vec<_> = pages.chain(["/", HUB, "/behind"].map(str::to_owned)).collect();
    let mut asked = targets(server);
    asked.sort_unstable();
    asked.dedup();
    assert_eq!(asked.len(), all.len(), "{asked:?}");
}

#[test]
fn what_many_pages_link_to_is_fetched_early() {
    for heads in [few_heads as fn(Webloom) -> Webloom, |run| run] {
        let (server, folder) = (serve(site), Folder::new());
        let summary = heads(Webloom::crawl(&folder.crawl(), &server.url("/"))).args(BEST).run().expect(0).json();
        assert_eq!((&summary["end"], before(&server, HUB) < 25), (&"drained".into(), true), "{:?}", targets(&server));
        assert_counts(&summary);
        assert_clean(&folder.crawl());
        let pages = (1..=PAGES).flat_map(|page| [format!("/{page}"), format!("/of/{page}")]);
        let all: Vec<_> = pages.chain(["/", HUB, "/behind"].map(str::to_owned)).collect();
        assert_asked_once(&server, &all.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let (server, folder) = (serve(site), Folder::new());
    Webloom::crawl(&folder.crawl(), &server.url("/")).run().expect(0);
    assert!(before(&server, HUB) > PAGES, "{:?}", targets(&server));
}

#[test]
fn what_a_run_has_learnt_holds_for_the_next() {
    let (server, folder) = (serve(site), Folder::new());
    let first = Webloom::crawl(&folder.crawl(), &server.url("/")).args(BEST).args(["--max-pages", "6"]);
    few_heads(first).run().expect(0);
    assert_eq!(targets(&server).len(), 6);
    go_on(&folder.crawl(), "8").run().expect(0);
    assert_eq!(before(&server, HUB), 6, "{:?}", targets(&server));
    // Other rules leave what is known of a URL as it is; another order does not ask for it.
    go_on(&folder.crawl(), "9").args(["--priority", "/of/=0.5"]).run().expect(0);
    go_on(&folder.crawl(), "10").args(["--order", "breadth"]).run().expect(0);
    finish(&server, &folder.crawl());
}

#[test]
fn a_crawl_that_is_killed_keeps_the_ranks_that_it_has_committed() {
    let (server, folder) = (serve(site), Folder::new());
    for page in ["/12", "/of/30", "/of/60"] {
        let run = if folder.crawl().join("webloom.sqlite").exists() {
            Webloom::go_on(&folder.crawl())
        } else {
            Webloom::crawl(&folder.crawl(), &server.url("/")).args(BEST)
        };
        let running = few_heads(run).args(["--delay", "2ms"]).spawn();
        server.wait_for(page, 1);
        running.signal(Signal::KILL);
        drop(running.wait());
    }
    finish(&server, &folder.crawl());
    assert!(before(&server, HUB) < 60, "{:?}", targets(&server));
}

#[test]
fn a_sequence_that_begins_with_what_is_known_has_counted_all_links() {
    let (server, folder) = (serve(site), Folder::new());
    Webloom::crawl(&folder.crawl(), &server.url("/")).run().expect(0);
    let line = server.log().len();
    let again = few_heads(Webloom::go_on(&folder.crawl())).args(["--again", "--revisit", "known-first"]);
    let summary = again.args(BEST).run().expect(0).json();
    assert_eq!(summary["end"], "drained", "{summary}");
    assert_clean(&folder.crawl());
    let asked: Vec<_> = server.targets().into_iter().skip(line).filter(|target| target != "/robots.txt").collect();
    assert_eq!(asked[..4], ["/", HUB, "/1", "/2"]);
}

/// Each level ends before the next, whatever links to it; the most linked page of a level is its first.
#[test]
fn with_a_depth_limit_it_is_the_first_of_its_level() {
    let (server, folder) = (serve(site), Folder::new());
    let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(BEST).args(["--max-depth", "9"]);
    let summary = few_heads(run).run().expect(0).json();
    assert_eq!((&summary["end"], before(&server, HUB)), (&"drained".into(), PAGES + 1), "{:?}", targets(&server));
    assert_clean(&folder.crawl());
}

/// A site whose sitemap rates one page highest, and one lowest.
fn rated(asked: &Asked) -> Reply {
    let host = asked.headers.iter().find_map(|header| header.to_lowercase().strip_prefix("host: ").map(str::to_owned));
    let entries = [("/90", "1.0"), ("/100", "0.1"), ("/listed", "0.9")];
    match asked.target.as_str() {
        "/sitemap.xml" => {
            let host = host.expect("a host");
            let list = entries.iter().fold(String::new(), |mut list, (path, priority)| {
                let _ = write!(list, "<url><loc>http://{host}{path}</loc><priority>{priority}</priority></url>");
                list
            });
            let body = format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{list}</urlset>");
            Reply::Whole(200, vec!["content-type: application/xml".to_owned()], body.into())
        }
        "/" => Reply::links((1..=PAGES).map(|page| format!("/{page}"))),
        "/robots.txt" => Reply::status(404),
        _ => Reply::links(["/"]),
    }
}

#[test]
fn what_a_sitemap_rates_high_is_fetched_early_and_what_it_rates_low_last() {
    let (server, folder) = (serve(rated), Folder::new());
    let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(BEST).env("WEBLOOM_SOURCES_SITEMAPS", "on");
    let summary = few_heads(run).run().expect(0).json();
    assert_eq!(summary["end"], "drained", "{summary}");
    assert_clean(&folder.crawl());
    let order = targets(&server);
    assert!(before(&server, "/90") < 30 && before(&server, "/listed") < 30, "{order:?}");
    assert_eq!(before(&server, "/100"), order.len() - 1, "{order:?}");
}
