//! The order `best`: which URLs come first, how hosts share what is scarce, and that nothing is left out.

use std::{path::Path, thread, time::Duration};

use rustix::process::Signal;
use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{Webloom, assert_clean},
};

use crate::{Folder, assert_asked_once, assert_counts, crawl, serve, star};

/// Pages of each site.
const PAGES: usize = 60;

/// `/7`, `/17` and so on come first, `/2` last.
const RULES: [&str; 6] = ["--order", "best", "--priority", "7$=10", "--priority", "/2$=0.5"];

/// So few rows in memory that most of a queue is read from the table.
fn few_heads(run: Webloom) -> Webloom {
    run.env("WEBLOOM_FRONTIER_HEADS_PER_HOST", "10").env("WEBLOOM_FRONTIER_HEADS", "100")
}

/// The pages in the order of [`RULES`].
fn by_rules() -> Vec<String> {
    let weight = |page: usize| match page {
        2 => 2,
        page if page % 10 == 7 => 0,
        _ => 1,
    };
    let mut pages: Vec<_> = (1..=PAGES).collect();
    pages.sort_by_key(|page| (weight(*page), *page));
    ["/".to_owned()].into_iter().chain(pages.into_iter().map(|page| format!("/{page}"))).collect()
}

/// What was asked for but robots.txt, each once, in the order of the first requests.
fn first_requests(server: &Server) -> Vec<String> {
    let mut first: Vec<String> = Vec::new();
    for target in server.targets().into_iter().filter(|target| target != "/robots.txt") {
        if !first.contains(&target) {
            first.push(target);
        }
    }
    first
}

#[test]
fn what_matches_comes_first_and_the_rest_after_it() {
    for heads in [few_heads as fn(Webloom) -> Webloom, |run| run] {
        let (server, folder) = (serve(star(PAGES)), Folder::new());
        let summary = heads(Webloom::crawl(&folder.crawl(), &server.url("/"))).args(RULES).run().expect(0).json();
        assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"drained".into(), &(PAGES + 1).into()));
        assert_eq!(server.targets()[1..], by_rules());
        assert_counts(&summary);
        assert_clean(&folder.crawl());
    }
}

#[test]
fn tables_of_a_file_are_the_same_rules() {
    let (server, folder) = (serve(star(PAGES)), Folder::new());
    let file = folder.0.path().join("webloom.toml");
    let tables = "[[priority]]\nmatch = '7$'\nweight = 10\n[[priority]]\nmatch = '/2$'\nweight = 0.5\n";
    std::fs::write(&file, format!("[frontier]\norder = \"best\"\n{tables}")).unwrap();
    crawl(&server, &folder.crawl(), &["--config", file.to_str().unwrap()]);
    assert_eq!(server.targets()[1..], by_rules());
}

#[test]
fn a_crawl_that_is_killed_goes_on_in_its_order() {
    let (server, folder) = (serve(star(PAGES)), Folder::new());
    for page in ["/17", "/57", "/9", "/23", "/44"] {
        let run = if CrawlAt(&folder.crawl()).exists() {
            Webloom::go_on(&folder.crawl())
        } else {
            Webloom::crawl(&folder.crawl(), &server.url("/")).args(RULES)
        };
        let running = few_heads(run).args(["--delay", "5ms"]).spawn();
        server.wait_for(page, 1);
        running.signal(Signal::KILL);
        drop(running.wait());
    }
    let summary = few_heads(Webloom::go_on(&folder.crawl())).run().expect(0).json();
    assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"drained".into(), &(PAGES + 1).into()));
    assert_eq!(first_requests(&server), by_rules());
    assert_clean(&folder.crawl());
}

/// A crawl directory.
struct CrawlAt<'a>(&'a Path);

impl CrawlAt<'_> {
    fn exists(&self) -> bool {
        self.0.join("webloom.sqlite").exists()
    }
}

#[test]
fn other_rules_on_going_on_hold_for_what_is_queued() {
    let (server, folder) = (serve(star(PAGES)), Folder::new());
    let first = Webloom::crawl(&folder.crawl(), &server.url("/")).args(RULES).args(["--max-pages", "4"]);
    few_heads(first).run().expect(0);
    let second = Webloom::go_on(&folder.crawl()).args(["--priority", "/5.$=3", "--max-pages", "10"]);
    let second = few_heads(second).run().expect(0);
    assert!(second.stderr.contains("frontier.priority is now [\"/5.$=3\"]"), "{}", second.stderr);
    // Without the rules' order they have no effect, and stay for when it is chosen again.
    few_heads(Webloom::go_on(&folder.crawl())).args(["--order", "depth", "--max-pages", "12"]).run().expect(0);
    let last = few_heads(Webloom::go_on(&folder.crawl())).args(["--order", "best", "--max-pages", "none"]);
    last.run().expect(0);
    let expected = ["/", "/7", "/17", "/27", "/50", "/51", "/52", "/53", "/54", "/55", "/1", "/2", "/56", "/57", "/58"];
    assert_eq!(server.targets()[1..=expected.len()], expected);
    let all = by_rules();
    assert_asked_once(&server, &all.iter().map(String::as_str).collect::<Vec<_>>());
    assert_clean(&folder.crawl());
}

/// `/deep` is two links away from the start by `/slow`, and three by pages of more weight.
fn shortcut(asked: &Asked) -> Reply {
    match asked.target.as_str() {
        "/" => Reply::links(["/slow", "/hot/1"]),
        "/hot/1" => Reply::links(["/hot/2"]),
        "/slow" | "/hot/2" => Reply::links(["/deep"]),
        "/deep" => Reply::links(["/end"]),
        "/end" => Reply::html("the end"),
        _ => Reply::status(404),
    }
}

#[test]
fn a_depth_limit_loses_nothing_that_is_near_enough() {
    let rules = ["--order", "best", "--priority", "/hot/=10"];
    let (server, folder) = (serve(shortcut), Folder::new());
    crawl(&server, &folder.crawl(), &rules);
    assert_eq!(server.targets()[1..], ["/", "/hot/1", "/hot/2", "/slow", "/deep", "/end"]);
    let (server, folder) = (serve(shortcut), Folder::new());
    crawl(&server, &folder.crawl(), &[&rules[..], &["--max-depth", "3"]].concat());
    assert_eq!(server.targets()[1..], ["/", "/hot/1", "/slow", "/hot/2", "/deep", "/end"]);
}

/// How many of the first forty requests for pages of two equal sites, of which one has three times the weight, went to that
/// one, where requests are `scarce`.
fn share(order: &[&str], scarce: [&str; 2]) -> usize {
    // An answer takes longer than rows of a queue are read, in which time only the other site has turns.
    let slow = || {
        let pages = star(PAGES);
        serve(move |asked| {
            thread::sleep(Duration::from_millis(20));
            pages(asked)
        })
    };
    let (servers, folder) = ([slow(), slow()], Folder::new());
    let [one, other] = &servers;
    let rule = format!(":{}/=3", one.port());
    let rules = if order.is_empty() { vec![] } else { vec!["--priority", &rule] };
    let run = Webloom::crawl(&folder.crawl(), &one.url("/")).args([other.url("/")]).args(scarce);
    let summary = few_heads(run).args(order).args(rules).run().expect(0).json();
    assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"drained".into(), &(2 * (PAGES + 1)).into()));
    assert_clean(&folder.crawl());
    let pages = |number: usize| {
        let log = servers[number].log().into_iter();
        log.filter(|hit| hit.target.len() > 1 && hit.target != "/robots.txt").map(move |hit| (hit.began, number))
    };
    let mut all: Vec<_> = pages(0).chain(pages(1)).collect();
    all.sort_unstable();
    all[..40].iter().filter(|(_, server)| *server == 0).count()
}

#[test]
fn hosts_share_by_weight_where_not_all_can_be_asked() {
    for scarce in [["--concurrency", "1"], ["--max-rate", "20"]] {
        let weighted = share(&["--order", "best"], scarce);
        assert!((24..=32).contains(&weighted), "{weighted} of 40 with {scarce:?}");
        let equal = share(&[], scarce);
        assert!((19..=21).contains(&equal), "{equal} of 40 with {scarce:?}");
    }
}

#[test]
fn rules_that_cannot_take_effect_are_refused_before_the_first_request() {
    let (server, folder) = (serve(star(1)), Folder::new());
    for (given, why) in [
        (
            &["--priority", "/docs/=10"][..],
            "--priority: priorities have an effect only with the order \"best\": set it",
        ),
        (
            &["--order", "best", "--priority", "/docs/"],
            "--priority: [\"/docs/\"] is not allowed: entry 1: it has no weight",
        ),
        (&["--order", "best", "--priority", "(=1"], "entry 1: unclosed group; give a regular expression"),
        (&["--order", "best", "--priority", "a=-1"], "entry 1: give a weight between 0.001 and 1000"),
    ] {
        let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(["-q"]).args(given).run().expect(2);
        assert!(run.stderr.contains(why), "{given:?}: {}", run.stderr);
        assert!(!folder.crawl().exists() && server.log().is_empty(), "{given:?}");
    }
}
