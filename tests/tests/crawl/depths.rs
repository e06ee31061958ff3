//! The depth of a page is the least number of links to it, whatever was found first: with a depth limit nothing is left out that
//! is near enough.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use webloom_tests::{
    server::{Reply, Server},
    webloom::{Webloom, assert_clean, pages},
};

use crate::{Folder, again::Versions, assert_counts, serve};

/// The paths with a final answer, and their depths.
fn depths(server: &Server, dir: &std::path::Path) -> BTreeMap<String, u64> {
    let finished = pages(dir).into_iter().filter(|(_, page)| page["outcome"] != "queued");
    finished.map(|(url, page)| (url.replace(&server.url(""), ""), page["depth"].as_u64().expect("a depth"))).collect()
}

fn run(server: &Server, dir: &std::path::Path, arguments: &[&str]) -> Value {
    let crawl = if dir.exists() { Webloom::go_on(dir) } else { Webloom::crawl(dir, &server.url("/")) };
    let summary = crawl.args(arguments).run().expect(0).json();
    assert_counts(&summary);
    assert_clean(dir);
    summary
}

#[test]
fn a_redirect_that_is_nearer_counts_whatever_was_read_first() {
    for first in [["/X", "/A"], ["/A", "/X"]] {
        let server = serve(move |asked| match asked.target.as_str() {
            "/" => Reply::links(first),
            "/A" => Reply::redirect(302, "/B"),
            "/X" => Reply::links(["/B"]),
            "/B" => Reply::links(["/C"]),
            "/C" => Reply::links(["/D"]),
            _ => Reply::status(404),
        });
        for order in ["breadth", "depth", "best"] {
            let folder = Folder::new();
            let dir = folder.crawl();
            let summary = run(&server, &dir, &["--max-depth", "2", "--order", order]);
            let expected = [("/", 0), ("/A", 1), ("/X", 1), ("/B", 1), ("/C", 2)];
            let expected = expected.map(|(path, depth)| (path.to_owned(), depth));
            assert_eq!(depths(&server, &dir), BTreeMap::from(expected), "{order} {first:?}");
            assert_eq!((&summary["end"], &summary["counts"]["queued"]), (&"budget".into(), &1.into()), "{summary}");
        }
    }
}

#[test]
fn what_a_new_link_brings_near_is_fetched_in_the_next_sequence() {
    for revisit in ["known-first", "rediscover"] {
        let site = Versions::serve(|version, path, _| match path {
            "/" if version > 0 => Reply::links(["/a", "/c"]),
            "/" => Reply::links(["/a"]),
            "/a" => Reply::links(["/b"]),
            "/b" => Reply::links(["/c"]),
            "/c" => Reply::links(["/d"]),
            "/d" => Reply::links(["/e"]),
            _ => Reply::html("a leaf"),
        });
        let folder = Folder::new();
        let dir = folder.crawl();
        run(&site.server, &dir, &["--max-depth", "2"]);
        assert_eq!(depths(&site.server, &dir).len(), 3);
        site.set(1);
        run(&site.server, &dir, &["--again", "--revisit", revisit]);
        let expected = [("/", 0), ("/a", 1), ("/b", 2), ("/c", 1), ("/d", 2)];
        let expected = expected.map(|(path, depth)| (path.to_owned(), depth));
        assert_eq!(depths(&site.server, &dir), BTreeMap::from(expected), "{revisit}");
    }
}

/// A web of so many pages, some of them redirects, by a seed: where each leads.
fn web(seed: u64, pages: u64) -> Vec<(bool, Vec<u64>)> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1;
    let mut below = |most: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % most
    };
    let page = |page| {
        let redirects = page > 0 && below(5) == 0;
        let links = if redirects { 1 } else { 1 + below(4) };
        (
            redirects,
            (0..links).map(|_| if below(3) == 0 { below(pages) } else { (page + 1 + below(3)) % pages }).collect(),
        )
    };
    (0..pages).map(page).collect()
}

/// How many links each page is away from the first, if they are at most so many.
fn least(web: &[(bool, Vec<u64>)], most: u64) -> BTreeMap<u64, u64> {
    let mut depths = BTreeMap::from([(0, 0)]);
    loop {
        let before = depths.clone();
        for (page, depth) in &before {
            let (redirects, links) = &web[usize::try_from(*page).expect("a small number")];
            let depth = depth + u64::from(!redirects);
            for link in links.iter().filter(|_| depth <= most) {
                let there = depths.entry(*link).or_insert(depth);
                *there = depth.min(*there);
            }
        }
        if depths == before {
            return depths;
        }
    }
}

#[test]
fn every_page_that_is_near_enough_is_fetched_whatever_the_order_and_the_cache() {
    for seed in 0..6 {
        let pages = 80;
        let links = web(seed, pages);
        let expected: BTreeSet<_> =
            least(&links, 4).into_iter().map(|(page, depth)| (format!("/{page}"), depth)).collect();
        let server = serve(move |asked| match asked.target.trim_start_matches('/').parse::<usize>() {
            Ok(page) => {
                let (redirects, links) = &links[page];
                let mut links = links.iter().map(|page| format!("/{page}"));
                if *redirects { Reply::redirect(302, links.next().expect("a target")) } else { Reply::links(links) }
            }
            Err(_) => Reply::status(404),
        });
        for (order, cache) in [("breadth", "40"), ("depth", "1000"), ("depth", "20"), ("best", "20")] {
            let folder = Folder::new();
            let dir = folder.crawl();
            let arguments = ["--order", order, "--expected-urls", cache, "--reset", "none", "--audit-rescue", "off"];
            let limits = ["--max-depth", "4", "--per-host", "4"];
            let crawl = Webloom::crawl(&dir, &server.url("/0")).args(arguments).args(limits);
            let summary = crawl.env("WEBLOOM_FETCH_MAX_REDIRECTS", "50").run().expect(0).json();
            assert_counts(&summary);
            assert_clean(&dir);
            let found: BTreeSet<_> = depths(&server, &dir).into_iter().collect();
            assert_eq!(found, expected, "seed {seed} {order} {cache}");
        }
    }
}
