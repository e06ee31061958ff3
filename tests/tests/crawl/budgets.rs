//! Budgets stop fetching, not finding; raised, the crawl goes on.

use serde_json::Value;
use webloom_tests::{
    server::{Reply, Server},
    webloom::{Webloom, assert_clean, pages, with_outcome},
};

use crate::{Folder, assert_counts, chain, serve, star};

/// A crawl that a budget ends.
fn stopped(server: &Server, folder: &Folder, budget: [&str; 2]) -> Value {
    let summary = Webloom::crawl(&folder.crawl(), &server.url("/")).args(budget).run().expect(0).json();
    assert_eq!(summary["end"], "budget", "{budget:?}");
    assert_counts(&summary);
    assert_clean(&folder.crawl());
    summary
}

/// The same crawl, to its end without that budget; no page is fetched twice.
fn finished(server: &Server, folder: &Folder, flag: &str) {
    let summary = Webloom::go_on(&folder.crawl()).args([flag, "unlimited"]).run().expect(0).json();
    assert_eq!(summary["end"], "drained", "{flag}");
    assert_counts(&summary);
    let mut targets = server.targets();
    targets.retain(|target| target != "/robots.txt");
    let count = targets.len();
    targets.sort_unstable();
    targets.dedup();
    assert_eq!((targets.len(), &summary["pages"]["stored"]), (count, &count.into()));
    assert_eq!(server.count("/robots.txt"), 1, "good for a day");
    assert_eq!(summary["requests"]["sent"], server.log().len(), "both runs");
}

#[test]
fn pages_of_a_crawl() {
    for slots in ["1", "4"] {
        let server = serve(star(20));
        let folder = Folder::new();
        let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--max-pages", "7", "--per-host", slots]);
        let summary = run.run().expect(0).json();
        assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"budget".into(), &7.into()));
        assert_eq!(summary["counts"]["queued"], 14);
        assert_eq!(with_outcome(&folder.crawl(), "queued").len(), 14);
        finished(&server, &folder, "--max-pages");
        assert_eq!(with_outcome(&folder.crawl(), "stored").len(), 21);
    }
}

#[test]
fn pages_with_several_starts() {
    let servers = ["127.0.0.1", "127.0.0.2"].map(|address| Server::start(address, star(3)).unwrap());
    let folder = Folder::new();
    let run = Webloom::crawl(&folder.crawl(), &servers[0].url("/")).args([&*servers[1].url("/"), "--max-pages", "1"]);
    let summary = run.run().expect(0).json();
    assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"budget".into(), &1.into()));
    assert_clean(&folder.crawl());
}

#[test]
fn depth() {
    let server = serve(chain(6));
    let folder = Folder::new();
    let summary = stopped(&server, &folder, ["--max-depth", "2"]);
    assert_eq!((&summary["pages"]["stored"], &summary["counts"]["queued"]), (&3.into(), &1.into()));
    finished(&server, &folder, "--max-depth");
    assert_eq!(pages(&folder.crawl())[&server.url("/6")]["depth"], 6);
}

#[test]
fn bytes() {
    let server = serve(|asked| match asked.target.as_str() {
        "/robots.txt" => Reply::status(404),
        "/" => Reply::links((1..10).map(|page| format!("/{page}"))),
        _ => Reply::html("x".repeat(10_000)),
    });
    let folder = Folder::new();
    let summary = stopped(&server, &folder, ["--max-bytes", "25KB"]);
    let got = summary["requests"]["bytes_in"].as_u64().unwrap();
    assert!((25_000..40_000).contains(&got), "{got}");
    finished(&server, &folder, "--max-bytes");
}

#[test]
fn time() {
    let server = serve(chain(30));
    let folder = Folder::new();
    let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--max-time", "500ms", "--delay", "100ms"]);
    let run = run.run().expect(0);
    assert_eq!(run.json()["end"], "budget");
    assert!(server.log().len() < 10, "{}", server.log().len());
    let rest = Webloom::go_on(&folder.crawl()).args(["--max-time", "none", "--delay", "0"]).run().expect(0).json();
    assert_eq!((&rest["end"], &rest["pages"]["stored"]), (&"drained".into(), &31.into()));
}

#[test]
fn pages_of_a_host() {
    let servers = ["127.0.0.1", "127.0.0.2"].map(|address| Server::start(address, star(5)).unwrap());
    let folder = Folder::new();
    let run = Webloom::crawl(&folder.crawl(), &servers[0].url("/")).args([servers[1].url("/")]);
    let summary = run.env("WEBLOOM_BUDGET_MAX_PAGES_PER_HOST", "2").run().expect(0).json();
    assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"budget".into(), &4.into()));
    for server in servers {
        assert_eq!(server.log().len(), 3, "robots.txt and two pages");
    }
}

/// A budget of pages ends also where nothing is a page: twice as many URLs, and ten, are fetched at most.
#[test]
fn pages_where_there_are_none() {
    let dead = serve(|asked| match asked.target.as_str() {
        "/" => Reply::links((1..5_000).map(|page| format!("/{page}"))),
        _ => Reply::status(404),
    });
    let moving = serve(|asked| match asked.target.trim_start_matches('/').parse::<u32>() {
        Ok(page) if page < 20_000 => Reply::redirect(302, format!("/{}", page + 20_000)),
        Ok(page) => Reply::redirect(302, format!("/{}", page - 19_999)),
        Err(_) if asked.target == "/" => Reply::links((1..5_000).map(|page| format!("/{page}"))),
        Err(_) => Reply::status(404),
    });
    for server in [&dead, &moving] {
        for slots in ["1", "4"] {
            let folder = Folder::new();
            let before = server.log().len();
            let run =
                Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--max-pages", "20", "--per-host", slots]);
            let run = run.env("WEBLOOM_FETCH_MAX_REDIRECTS", "50").run().expect(0);
            let summary = run.json();
            assert_counts(&summary);
            assert_eq!((&summary["end"], server.log().len() - before), (&"budget".into(), 1 + 50));
            assert!(run.stderr.contains("max-pages"), "{}", run.stderr);
            assert_clean(&folder.crawl());
            // Raised, it goes on where it stood.
            let more = Webloom::go_on(&folder.crawl()).args(["--max-pages", "30"]).run().expect(0).json();
            assert_eq!((&more["end"], server.log().len() - before), (&"budget".into(), 1 + 70));
        }
    }
    let folder = Folder::new();
    let run = Webloom::crawl(&folder.crawl(), &dead.url("/")).env("WEBLOOM_BUDGET_MAX_PAGES_PER_HOST", "20");
    let summary = run.run().expect(0).json();
    assert_eq!((&summary["end"], &summary["counts"]["finished"]), (&"budget".into(), &50.into()));
    let more = Webloom::go_on(&folder.crawl()).env("WEBLOOM_BUDGET_MAX_PAGES_PER_HOST", "30").run().expect(0).json();
    assert_eq!((&more["end"], &more["counts"]["finished"]), (&"budget".into(), &70.into()));
}

/// URLs that wait for another attempt were fetched too.
#[test]
fn pages_where_all_fails_for_now() {
    for answer in [|| Reply::status(503), Reply::hang_up] {
        let site = move |asked: &webloom_tests::server::Asked| match asked.target.as_str() {
            "/" => Reply::links((1..5_000).map(|page| format!("/{page}"))),
            "/robots.txt" => Reply::status(404),
            _ => answer(),
        };
        let distinct = |server: &Server| server.targets().into_iter().collect::<std::collections::HashSet<_>>().len();
        let (server, folder) = (serve(site), Folder::new());
        let run = |run: Webloom| {
            let run = run.env("WEBLOOM_RETRY_BACKOFF", "200ms").env("WEBLOOM_POLITENESS_BACKOFF", "5ms");
            run.run().expect(0).json()
        };
        let first =
            run(Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--max-pages", "5", "--per-host", "4"]));
        assert_counts(&first);
        assert_clean(&folder.crawl());
        // Those that failed once may yet be their host's fault, and do not count.
        assert!(first["end"] == "budget" && (1 + 20..300).contains(&distinct(&server)), "{}", distinct(&server));
        let more = run(Webloom::go_on(&folder.crawl()).args(["--max-pages", "6"]));
        assert!(more["end"] == "budget" && (1 + 22..300).contains(&distinct(&server)), "{}", distinct(&server));
        let server = serve(site);
        let per_host = Webloom::crawl(&Folder::new().crawl(), &server.url("/"));
        let per_host = run(per_host.env("WEBLOOM_BUDGET_MAX_PAGES_PER_HOST", "5"));
        assert!(per_host["end"] == "budget" && (1 + 20..300).contains(&distinct(&server)), "{}", distinct(&server));
    }
}

#[test]
fn a_budget_that_ends_without_a_page_is_a_failure() {
    let server = serve(|_| Reply::status(404));
    let starts: Vec<_> = (0..40).map(|start| server.url(&format!("/{start}"))).collect();
    let run = Webloom::crawl(&Folder::new().crawl(), &server.url("/")).args(starts).args(["--max-pages", "3"]);
    assert_eq!(run.run().expect(1).json()["end"], "failed");
}
