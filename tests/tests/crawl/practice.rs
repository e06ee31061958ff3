//! The practice site, whose truth is known.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use webloom_practice::{HIDDEN, PracticeServer, PracticeSite, Request, Shape, Truth};
use webloom_tests::webloom::{Webloom, assert_clean, pages, with_outcome};

use crate::{Folder, assert_counts};

/// A crawl of the practice site that has ended.
struct Crawled {
    folder: Folder,
    root: String,
    truth: Truth,
    log: Vec<Request>,
    summary: Value,
}

fn crawl(arguments: &[&str]) -> Crawled {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let server = runtime.block_on(PracticeServer::start(PracticeSite::new(Shape::demo()))).expect("a free port");
    let folder = Folder::new();
    let run = Webloom::crawl(&folder.crawl(), &server.url()).args(arguments).run().expect(0);
    let root = server.url().trim_end_matches('/').to_owned();
    let crawled = Crawled { folder, root, truth: server.site().truth(), log: server.log(), summary: run.json() };
    runtime.block_on(server.stop());
    crawled.assert_sound();
    crawled
}

impl Crawled {
    /// What holds whatever the settings are.
    fn assert_sound(&self) {
        assert_eq!(self.summary["end"], "drained");
        assert_counts(&self.summary);
        assert_clean(&self.folder.crawl());
        assert_eq!(self.summary["requests"]["sent"], self.log.len());
        let mut asked = BTreeSet::new();
        for request in &self.log {
            assert!(asked.insert(request.path.as_str()), "{} was asked for twice", request.path);
            assert!(!request.path.starts_with(HIDDEN), "{}", request.path);
            assert!(!self.truth.forbidden.contains(&request.path), "{} is forbidden", request.path);
        }
    }

    /// Paths with this outcome.
    fn paths(&self, outcome: &str) -> BTreeSet<String> {
        with_outcome(&self.folder.crawl(), outcome).iter().map(|url| self.path(url)).collect()
    }

    fn path(&self, url: &str) -> String {
        url.strip_prefix(&self.root).unwrap_or(url).to_owned()
    }

    fn assert_stored_is_the_truth(&self) {
        assert_eq!(self.paths("stored"), self.truth.stored.keys().cloned().collect());
        let asked: BTreeSet<_> = self.log.iter().map(|request| request.path.as_str()).collect();
        let mut expected = self.truth.requested();
        expected.insert("/robots.txt");
        assert_eq!(asked, expected);
    }
}

#[test]
fn finds_all_of_it_and_nothing_else() {
    let crawled = crawl(&[]);
    crawled.assert_stored_is_the_truth();
    let (truth, summary) = (&crawled.truth, &crawled.summary);
    let pages = pages(&crawled.folder.crawl());
    let of = |outcome: &'static str| pages.iter().filter(move |(_, page)| page["outcome"] == outcome);
    let depths: BTreeMap<_, _> = of("stored").map(|(url, page)| (crawled.path(url), page["depth"].clone())).collect();
    assert_eq!(depths, truth.stored.iter().map(|(path, depth)| (path.clone(), Value::from(*depth))).collect());
    let broken: BTreeMap<_, _> = of("broken").map(|(url, page)| (crawled.path(url), page["status"].clone())).collect();
    assert_eq!(broken, truth.broken.iter().map(|(path, status)| (path.clone(), Value::from(*status))).collect());
    let target = |page: &Value| crawled.path(page["redirect"].as_str().unwrap());
    let redirects: BTreeMap<_, _> = of("redirected").map(|(url, page)| (crawled.path(url), target(page))).collect();
    assert_eq!(redirects, truth.redirects);
    assert!(of("abandoned").all(|(_, page)| page["reason"] == "robots"));
    assert_eq!(crawled.paths("abandoned"), truth.forbidden);
    let html = |page: &Value| page["content_type"].as_str().unwrap_or_default().starts_with("text/html");
    let html: BTreeSet<_> = of("stored").filter(|(_, page)| html(page)).map(|(url, _)| crawled.path(url)).collect();
    assert_eq!(html, truth.html);
    for (name, count) in
        [("stored", truth.stored.len()), ("html", truth.html.len()), ("broken", truth.broken.len()), ("failed", 0)]
    {
        assert_eq!(summary["pages"][name], count, "{name}");
    }
    assert_eq!(summary["urls"]["abandoned"]["robots"], truth.forbidden.len());
    assert_eq!(summary["urls"]["refused"]["scope"].as_u64().map(|count| count > 0), Some(true));
}

#[test]
fn finds_the_same_whatever_cache_order_and_slots() {
    for arguments in [&["--cache", "exact"], &["--order", "depth"], &["--per-host", "4"]] {
        crawl(arguments).assert_stored_is_the_truth();
    }
}

#[test]
fn obeys_rel_nofollow_when_asked_to() {
    let crawled = crawl(&["--nofollow", "obey"]);
    let truth = &crawled.truth;
    let expected = truth.stored.keys().filter(|path| !truth.only_by_rel_nofollow.contains(*path)).cloned();
    assert_eq!(crawled.paths("stored"), expected.collect());
}
