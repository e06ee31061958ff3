//! The URL caches in the crawl: every strategy and layout, and what is done when one is full.

use serde_json::Value;
use webloom_tests::{
    server::{Asked, Reply},
    webloom::{REDISCOVER, Webloom, assert_clean, pages_of},
};

use crate::{Folder, assert_counts, chain, crawl, loss::database, serve, star};

/// So small a budget that no test loses a URL by chance, and a first cache far too small.
const STRICT: [&str; 4] = ["--max-lost-urls", "0.00001", "--expected-urls", "20"];

fn number(summary: &Value, name: &str) -> f64 {
    summary["cache"][name].as_f64().unwrap_or_else(|| panic!("{name}: {summary}"))
}

#[test]
fn every_cache_covers_a_site() {
    let server = serve(star(300));
    let strategies = ["exact", "single", "spatial", "temporal", "spatio-temporal", "multilayer"];
    for (index, strategy) in strategies.into_iter().enumerate() {
        let layout = ["classic", "line", "fingerprint"][index % 3];
        for layout in ["auto", layout] {
            let folder = Folder::new();
            let arguments = [&STRICT[..], &["--cache", strategy, "--cache-layout", layout]].concat();
            let summary = crawl(&server, &folder.crawl(), &arguments);
            assert_eq!(summary["pages"]["stored"], 301, "{strategy} {layout}");
            assert_eq!(summary["cache"]["strategy"], strategy);
            let expected = if strategy == "exact" { "table" } else { layout };
            assert!(layout == "auto" || summary["cache"]["layout"] == expected, "{summary}");
            let resets = summary["cache"]["resets"]["rebuild"].as_u64();
            assert!(strategy == "exact" || resets > Some(0), "{strategy} {layout}: {summary}");
            assert!(number(&summary, "expected_lost") <= 0.00001);
        }
    }
}

#[test]
fn without_a_budget_a_cache_keeps_the_usual_rate() {
    let server = serve(star(300));
    for (reset, more) in [
        ("rebuild", &["--expected-urls", "20"] as &[&str]),
        ("grow", &["--expected-urls", "20"]),
        ("rotate", &["--expected-urls", "400"]),
        ("restart", &[]),
        ("stop", &[]),
        ("none", &["--cache", "multilayer"]),
        ("rebuild", &["--cache", "exact"]),
    ] {
        let folder = Folder::new();
        let arguments = [&["--max-lost-urls", "none", "--reset", reset], more].concat();
        let summary = crawl(&server, &folder.crawl(), &arguments);
        assert_eq!(summary["pages"]["stored"], 301, "{reset}");
        assert!(summary["cache"]["budget_lost"].is_null(), "{summary}");
        assert!(number(&summary, "expected_rate") <= 0.01, "{summary}");
        let status = Webloom::new(["status"]).args([folder.crawl()]).run().expect(0).stdout;
        assert!(status.contains("expected, no budget"), "{status}");
    }
    // Room for 65536 URLs at 1 % takes 9.6 bits each.
    let folder = Folder::new();
    let bits = number(&crawl(&server, &folder.crawl(), &["--max-lost-urls", "none"]), "bits");
    assert!((600_000.0..800_000.0).contains(&bits), "{bits}");
}

#[test]
fn a_cache_grows_in_place() {
    let server = serve(star(300));
    for (strategy, layout, growths) in [("single", "fingerprint", 4), ("spatial", "line", 2)] {
        let folder = Folder::new();
        let arguments = [&STRICT[..], &["--cache", strategy, "--cache-layout", layout, "--reset", "grow"]].concat();
        let summary = crawl(&server, &folder.crawl(), &arguments);
        assert_eq!(summary["pages"]["stored"], 301, "{strategy} {layout}");
        assert_eq!(
            summary["cache"]["resets"],
            serde_json::json!({"rebuild": 0, "grow": growths, "rotate": 0}),
            "{summary}"
        );
        assert!(number(&summary, "capacity") >= 301.0);
    }
}

/// Six hundred pages in a row; each links to the next nine, and to others that come far before it.
fn winding(asked: &Asked) -> Reply {
    let Ok(page) = asked.target.trim_start_matches('/').parse::<u64>() else {
        return if asked.target == "/" { Reply::links(["/0"]) } else { Reply::status(404) };
    };
    let before = (1..8).map(|step| page.saturating_sub(step * (30 + page % 41)));
    Reply::links((page + 1..page + 10).chain(before).filter(|next| *next < 600).map(|next| format!("/{next}")))
}

#[test]
fn a_cache_that_rotates_stays_small_and_fetches_nothing_twice() {
    let server = serve(winding);
    let rotate = ["--reset", "rotate", "--max-lost-urls", "0.00001", "--expected-urls", "60"];
    for flags in [
        &["--cache", "exact"][..],
        &["--cache", "single", "--cache-layout", "line"],
        &["--cache", "spatial", "--max-depth", "100"],
        &["--cache", "temporal", "--cache-layout", "fingerprint", "--order", "depth"],
        &["--cache", "multilayer"],
    ] {
        let (folder, before) = (Folder::new(), server.log().len());
        let summary = crawl(&server, &folder.crawl(), &[&rotate[..], flags].concat());
        assert_eq!(summary["pages"]["stored"], 601, "{flags:?}: {summary}");
        assert_eq!(server.log().len() - before, 602, "{flags:?}: a page was fetched twice");
        let cache = &summary["cache"];
        assert!(cache["resets"]["rotate"].as_u64() > Some(10), "{flags:?}: {summary}");
        assert!(cache["forgotten"].as_u64() > Some(100), "{flags:?}: {summary}");
        assert!(cache["capacity"] == 60 && number(&summary, "items") <= 60.0, "{flags:?}: {summary}");
        assert_eq!(cache["sweep"]["lost"], 0, "{flags:?}: {summary}");
        assert_eq!(cache["audit"]["checked"], 600, "{flags:?}: {summary}");
    }
}

/// What is expected to be lost of a crawl does not depend on how often it was stopped. A crawl's own figure varies by 8 % with
/// the order of its answers, so that sums over four crawls are compared.
#[test]
fn a_rotating_cache_charges_as_much_over_many_runs_as_over_one() {
    let server = serve(winding);
    let (mut once, mut often) = (0.0, 0.0);
    for seed in ["1", "2", "3", "4"] {
        let flags = ["--reset", "rotate", "--expected-urls", "60", "--max-lost-urls", "5", "--hash-seed", seed];
        // The other layouts round so few URLs up to whole cache lines, and lose next to nothing.
        let flags = [&flags[..], &["--cache-layout", "classic", "--audit-rescue", "off", "--sweep", "off"]].concat();
        let folders = [Folder::new(), Folder::new()];
        once += number(&crawl(&server, &folders[0].crawl(), &flags), "expected_lost");
        let mut last = Webloom::crawl(&folders[1].crawl(), &server.url("/")).args(&flags).args(["--max-pages", "20"]);
        for pages in (40..=700).step_by(20) {
            drop(last.run().expect(0));
            last = Webloom::go_on(&folders[1].crawl()).args(["--max-pages", &pages.to_string()]);
        }
        often += number(&last.run().expect(0).json(), "expected_lost");
    }
    println!("{once} in one run, {often} in many");
    assert!(once > 20.0 && often < 1.25 * once && often > 0.75 * once, "{once} in one run, {often} in many");
}

#[test]
fn what_a_rotating_cache_forgot_is_counted_as_a_duplicate() {
    let server = serve(winding);
    let counts = |reset| {
        let folder = Folder::new();
        let arguments = ["--reset", reset, "--max-lost-urls", "0.00001", "--expected-urls", "60"];
        let summary = crawl(&server, &folder.crawl(), &arguments);
        ["candidates", "admitted", "duplicate"].map(|name| summary["urls"][name].clone())
    };
    assert_eq!(counts("rotate"), counts("rebuild"));
}

/// A run that ends has links on their way to the URL table.
#[test]
fn what_was_forgotten_is_reported_of_the_links_before_an_end_too() {
    let server = serve(winding);
    let folder = Folder::new();
    let dir = folder.crawl();
    let rotate = ["--reset", "rotate", "--max-lost-urls", "0.00001", "--expected-urls", "60", "--max-pages", "301"];
    let summary = Webloom::crawl(&dir, &server.url("/")).args(rotate).run().expect(0).json();
    let counted = "SELECT counters ->> 'forgotten' FROM sequence";
    let counted: u64 = database(&dir).query_row(counted, [], |row| row.get(0)).expect("a sum");
    assert!(counted > 100 && summary["cache"]["forgotten"] == counted, "{counted}: {summary}");
}

#[test]
fn a_rotating_cache_goes_on_and_begins_again() {
    let server = serve(winding);
    let folder = Folder::new();
    let dir = folder.crawl();
    // It begins with a cache that does not forget, so that the keys are indexed later.
    let summary = Webloom::crawl(&dir, &server.url("/")).args(["--max-pages", "150"]).run().expect(0).json();
    assert_eq!(summary["pages"]["stored"], 150, "{summary}");
    let rotate = ["--reset", "rotate", "--max-lost-urls", "0.00001", "--expected-urls", "60"];
    let summary = Webloom::go_on(&dir).args(rotate).args(["--max-pages", "400"]).run().expect(0).json();
    assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"budget".into(), &400.into()), "{summary}");
    assert_clean(&dir);
    let summary = Webloom::go_on(&dir).args(["--max-pages", "none"]).run().expect(0).json();
    assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"drained".into(), &601.into()), "{summary}");
    let again = Webloom::go_on(&dir).args(REDISCOVER).run().expect(0).json();
    assert_eq!((&again["sequence"], &again["pages"]["unchanged"]), (&1.into(), &601.into()), "{again}");
    assert!(again["cache"]["forgotten"].as_u64() > Some(100), "{again}");
    assert_counts(&again);
    assert_clean(&dir);
}

#[test]
fn a_crawl_stops_at_its_loss_budget_and_goes_on_with_more() {
    let server = serve(star(300));
    let folder = Folder::new();
    let dir = folder.crawl();
    // The start page's links are judged together, and do not fit.
    let policy = ["--reset", "stop", "--max-lost-urls", "0.5", "--expected-urls", "20"];
    let run = Webloom::crawl(&dir, &server.url("/")).args(policy).run().expect(3);
    let summary = run.json();
    assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"loss".into(), &0.into()), "{summary}");
    assert!(number(&summary, "expected_lost") <= 0.5);
    assert_counts(&summary);
    assert_clean(&dir);
    assert!(run.stderr.contains("the loss budget allows no more URLs"), "{}", run.stderr);
    // Again the same, and then with room.
    Webloom::go_on(&dir).run().expect(3);
    let summary =
        Webloom::go_on(&dir).args(["--reset", "rebuild", "--max-lost-urls", "0.00001"]).run().expect(0).json();
    assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"drained".into(), &301.into()), "{summary}");
    assert_counts(&summary);
    assert_clean(&dir);
}

#[test]
fn a_crawl_stops_at_its_loss_budget_under_a_memory_ceiling_too() {
    let server = serve(star(2_000));
    let folder = Folder::new();
    let policy = ["--reset", "stop", "--max-cache-memory", "1KiB", "--audit-rescue", "off"];
    let summary = Webloom::crawl(&folder.crawl(), &server.url("/")).args(policy).run().expect(3).json();
    assert!(number(&summary, "expected_lost") <= 0.5, "{summary}");
    assert_clean(&folder.crawl());
}

/// A thousand pages that all link to each other: each page has as many links as the whole cache has room for, and next to
/// none of them is new.
#[test]
fn links_seen_before_do_not_reset_a_cache() {
    let server = serve(|asked| match asked.target.as_str() {
        "/robots.txt" => Reply::status(404),
        _ => Reply::links((0..1_000).map(|page| format!("/{page}"))),
    });
    for reset in ["stop", "restart", "rebuild"] {
        let folder = Folder::new();
        let arguments =
            ["--reset", reset, "--expected-urls", "2000", "--max-lost-urls", "0.00001", "--max-pages", "30"];
        let summary = Webloom::crawl(&folder.crawl(), &server.url("/")).args(arguments).run().expect(0).json();
        assert_eq!((&summary["pages"]["stored"], &summary["sequence"]), (&30.into(), &0.into()), "{reset}: {summary}");
        assert_eq!(summary["cache"]["resets"]["rebuild"], 0, "{reset}: {summary}");
    }
}

#[test]
fn a_memory_ceiling_is_never_passed_and_its_price_is_reported() {
    let server = serve(star(2_000));
    let folder = Folder::new();
    let arguments = ["--max-cache-memory", "1KiB", "--cache-layout", "line"];
    let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(arguments);
    let run = run.args(["--audit-rescue", "off", "--sweep", "off"]).run().expect(0);
    let summary = run.json();
    assert_eq!(summary["cache"]["bits"], 8_192);
    assert!(run.stderr.contains("the memory limit keeps the URL cache small:"), "{}", run.stderr);
    let (lost, expected) = (2_000.0 - stored(&summary), number(&summary, "expected_lost"));
    assert!(expected > 100.0 && (lost - expected).abs() < 5.0 * expected.sqrt(), "{lost} lost, {expected} expected");
    // The table of 2,001 URLs has 4,096 slots of 17 bytes; as many as half of that lie beside it while it is made.
    for (limit, code) in [("8KiB", 3), ("101KiB", 3), ("102KiB", 0)] {
        let exact = ["--max-cache-memory", limit, "--cache", "exact"];
        let folder = Folder::new();
        let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(exact).run().expect(code);
        let status = Webloom::new(["status", "--json"]).args([folder.crawl()]).run().expect(0).json();
        assert_eq!(status["end"], if code == 0 { "drained" } else { "loss" });
        assert_eq!(run.json()["end"], status["end"]);
        assert!(code == 0 || run.stderr.contains("allow more memory, or choose another cache"), "{}", run.stderr);
    }
    let exact = ["--max-cache-memory", "101KiB", "--cache", "exact", "--reset", "stop"];
    let stopped = Webloom::crawl(&Folder::new().crawl(), &server.url("/")).args(exact).run().expect(3).json();
    assert_eq!(stopped["end"], "loss");
}

fn stored(summary: &Value) -> f64 {
    summary["pages"]["stored"].as_f64().expect("a count")
}

#[test]
fn a_cache_is_made_anew_at_its_age() {
    let server = serve(star(30));
    let folder = Folder::new();
    let run = Webloom::crawl(&folder.crawl(), &server.url("/")).env("WEBLOOM_CACHE_RESET_EVERY", "1s");
    let summary = run.args(["--delay", "50ms"]).run().expect(0).json();
    assert_eq!(summary["pages"]["stored"], 31);
    assert!(summary["cache"]["resets"]["rebuild"].as_u64() > Some(0), "{summary}");
}

#[test]
fn hash_functions_that_read_the_url_serve_too() {
    let server = serve(star(100));
    for hashing in ["md5", "functions"] {
        let folder = Folder::new();
        let run = Webloom::crawl(&folder.crawl(), &server.url("/")).env("WEBLOOM_CACHE_HASHING", hashing);
        let summary = run.args(STRICT).args(["--cache", "temporal"]).run().expect(0).json();
        assert_eq!(summary["pages"]["stored"], 101, "{hashing}");
    }
    let run = Webloom::crawl(&Folder::new().crawl(), &server.url("/")).env("WEBLOOM_CACHE_HASHING", "sha1");
    let refused = run.args(["--cache-layout", "line"]).run().expect(2);
    assert!(refused.stderr.contains("go with the strategies single and temporal"), "{}", refused.stderr);
}

/// Ten pages that link to each other and to thirty more each.
pub(crate) fn shelves(asked: &Asked) -> Reply {
    let page = asked.target.trim_start_matches('/');
    match page.parse::<usize>() {
        _ if page == "robots.txt" => Reply::status(404),
        _ if page.is_empty() => Reply::links((0..10).map(|shelf| format!("/{shelf}"))),
        Ok(shelf) if shelf < 10 => Reply::links((0..30).map(|book| format!("/{}", 100 * (shelf + 1) + book))),
        _ => Reply::links(["/"]),
    }
}

#[test]
fn a_cache_that_is_full_gives_way_to_the_next_sequence() {
    let server = serve(shelves);
    let folder = Folder::new();
    let dir = folder.crawl();
    let policy = ["--reset", "restart", "--max-lost-urls", "0.00001", "--expected-urls", "40"];
    let run = Webloom::crawl(&dir, &server.url("/")).args(policy).run().expect(0);
    let summary = run.json();
    assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"drained".into(), &311.into()), "{summary}");
    assert!(summary["sequence"].as_u64() > Some(0) && summary["urls"]["refused"]["restart"].is_null(), "{summary}");
    assert!(number(&summary, "expected_lost") <= 0.00001);
    assert!(run.stderr.contains("the loss budget allows no more URLs"), "{}", run.stderr);
    assert_counts(&summary);
    assert_clean(&dir);
    // The first one fetched what it had found before it was full, and no more.
    let first = pages_of(&dir, 0);
    assert!((11..311).contains(&first.len()), "{}", first.len());
    assert!(first.values().all(|page| page["outcome"] == "stored"));
}

#[test]
fn a_killed_restart_goes_on() {
    let server = serve(shelves);
    let folder = Folder::new();
    let dir = folder.crawl();
    let policy = ["--reset", "restart", "--max-lost-urls", "0.00001", "--expected-urls", "40"];
    for (kill, point) in ["after_commit:1", "before_end:1", "after_begin_sequence:1"].into_iter().enumerate() {
        let crawl = if kill == 0 { Webloom::crawl(&dir, &server.url("/")) } else { Webloom::go_on(&dir) };
        let run = crawl.args(policy).env("WEBLOOM_STORE_COMMIT_VISITS", "1").env("WEBLOOM_FAILPOINT", point).run();
        assert!(run.code.is_none(), "{point}: {run:?}");
        assert_clean(&dir);
    }
    let summary = Webloom::go_on(&dir).run().expect(0).json();
    assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"drained".into(), &311.into()), "{summary}");
    assert_clean(&dir);
}

/// Shelves whose books have a page behind them.
fn deep_shelves(asked: &Asked) -> Reply {
    let book = asked.target.trim_start_matches('/').parse::<usize>().is_ok_and(|page| page >= 100);
    if book { Reply::links([format!("{}/behind", asked.target)]) } else { shelves(asked) }
}

#[test]
fn a_depth_limit_keeps_no_restart_from_the_pages_within_it() {
    let server = serve(deep_shelves);
    let folder = Folder::new();
    let policy = ["--reset", "restart", "--max-lost-urls", "0.00001", "--expected-urls", "40"];
    let crawl = Webloom::crawl(&folder.crawl(), &server.url("/")).args(policy);
    let summary = crawl.args(["--order", "depth", "--max-depth", "2"]).run().expect(0).json();
    assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"budget".into(), &311.into()), "{summary}");
    assert!(summary["sequence"].as_u64() > Some(0) && summary["urls"]["refused"]["restart"].is_null(), "{summary}");
    assert_clean(&folder.crawl());
}

#[test]
fn an_old_cache_gives_way_when_its_sequence_is_complete() {
    let server = serve(chain(40));
    let folder = Folder::new();
    let crawl = Webloom::crawl(&folder.crawl(), &server.url("/")).env("WEBLOOM_CACHE_RESET_EVERY", "1s");
    let crawl = crawl.args(["--cache", "exact", "--reset", "restart", "--delay", "50ms"]);
    let run = crawl.env("WEBLOOM_FAILPOINT", "after_begin_sequence:1").run();
    assert!(run.code.is_none() && run.stderr.contains("the URL cache is old"), "{run:?}");
    assert_clean(&folder.crawl());
    let first = pages_of(&folder.crawl(), 0);
    assert!(first.len() == 41 && first.values().all(|page| page["outcome"] == "stored"), "{}", first.len());
    let swept = "SELECT end || ' ' || swept FROM sequence WHERE n = 0";
    let swept: String = database(&folder.crawl()).query_row(swept, [], |row| row.get(0)).expect("it has ended");
    assert_eq!(swept, "drained rescue");
}

#[test]
fn an_old_cache_gives_way_though_a_depth_limit_holds_urls_back() {
    let server = serve(chain(40));
    let folder = Folder::new();
    let crawl = Webloom::crawl(&folder.crawl(), &server.url("/")).env("WEBLOOM_CACHE_RESET_EVERY", "1s");
    let crawl = crawl.args(["--cache", "exact", "--reset", "restart", "--delay", "100ms", "--max-depth", "15"]);
    let run = crawl.env("WEBLOOM_FAILPOINT", "after_begin_sequence:1").run();
    assert!(run.code.is_none() && run.stderr.contains("the URL cache is old"), "{run:?}");
    // Drained it is not.
    let end = "SELECT end || ', ' || (SELECT count(*) FROM url WHERE state = 'queued') FROM sequence WHERE n = 0";
    let end: String = database(&folder.crawl()).query_row(end, [], |row| row.get(0)).expect("it has ended");
    assert_eq!(end, "budget, 1");
}

/// A start page with more links than a power of the one key before it can foretell.
#[test]
fn a_large_first_page_fits_into_a_cache_made_for_it() {
    let server = serve(star(2_000));
    for reset in ["stop", "restart", "rebuild"] {
        for expected in ["auto", "2100"] {
            let folder = Folder::new();
            let summary = crawl(&server, &folder.crawl(), &["--reset", reset, "--expected-urls", expected]);
            assert_eq!(summary["pages"]["stored"], 2_001, "{reset} {expected}: {summary}");
            assert_eq!(summary["sequence"], 0, "{reset} {expected}: {summary}");
            assert_eq!(summary["cache"]["resets"]["rebuild"], 0, "{reset} {expected}: {summary}");
        }
    }
    // Where it does not fit, the next sequence has room for it, and for what it links to the one after that.
    let folder = Folder::new();
    let summary = crawl(&server, &folder.crawl(), &["--reset", "restart", "--expected-urls", "1000"]);
    assert_eq!(summary["pages"]["stored"], 2_001, "{summary}");
    assert!(summary["sequence"].as_u64() < Some(4), "{summary}");
}

#[test]
fn an_exact_cache_that_fits_fits_the_next_sequence_too() {
    let server = serve(star(860));
    let folder = Folder::new();
    let limits = ["--cache", "exact", "--reset", "restart", "--max-cache-memory", "26KiB"];
    drop(crawl(&server, &folder.crawl(), &limits));
    let summary = Webloom::go_on(&folder.crawl()).args(REDISCOVER).run().expect(0).json();
    assert_eq!((&summary["sequence"], &summary["pages"]["stored"]), (&1.into(), &861.into()));
}

#[test]
fn a_sequence_whose_cache_cannot_be_made_does_not_begin() {
    let server = serve(star(600));
    let folder = Folder::new();
    let flags =
        ["--cache", "multilayer", "--reset", "restart", "--expected-urls", "100", "--max-cache-memory", "1536B"];
    let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(flags).run().expect(2);
    assert!(run.stderr.contains("does not fit into 1536 bytes"), "{}", run.stderr);
    let sequences = "SELECT count(*) FROM sequence";
    let sequences: u64 = database(&folder.crawl()).query_row(sequences, [], |row| row.get(0)).expect("it is there");
    assert_eq!(sequences, 1);
    // With more memory it goes on from where it was.
    let summary = Webloom::go_on(&folder.crawl()).args(["--max-cache-memory", "1MiB"]).run().expect(0).json();
    assert_eq!(summary["pages"]["stored"], 601, "{summary}");
}

#[test]
fn the_time_of_a_run_is_that_of_all_its_sequences() {
    let server = serve(chain(60));
    let folder = Folder::new();
    let crawl = Webloom::crawl(&folder.crawl(), &server.url("/")).env("WEBLOOM_CACHE_RESET_EVERY", "1s");
    let crawl = crawl.args(["--reset", "restart", "--delay", "20ms", "--max-time", "6s"]);
    let run = crawl.patience(std::time::Duration::from_secs(15)).run().expect(0);
    let summary = run.json();
    assert!(summary["sequence"].as_u64() > Some(0) && summary["end"] == "budget", "{summary}");
    // One that is given no number expects no fewer than the first.
    assert_eq!(summary["cache"]["capacity"], 65_536);
    // What the sequences before took is theirs.
    let cpu = |sequence: u32| -> f64 {
        let query = "SELECT cpu_seconds FROM sequence WHERE n = ?";
        database(&folder.crawl()).query_row(query, [sequence], |row| row.get(0)).expect("it has ended")
    };
    assert!(cpu(2) < 0.8 * (cpu(0) + cpu(1)), "{} {} {}", cpu(0), cpu(1), cpu(2));
}
