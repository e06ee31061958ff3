//! Lost URLs: a URL cache far too small, its audit, and the sweep at the end, judged by the server's log.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{Run, Webloom, assert_clean},
};

use crate::{Folder, assert_counts, closing, robots::age_robots, serve};

/// A filter made for 20 URLs that is kept for all of them.
const TINY: &[&str] = &["--expected-urls", "20", "--reset", "none", "--cache-layout", "classic"];

const PAGES: usize = 300;

/// The links of page `number` of [`web`], each once: a tree that reaches every page, and others here and there.
fn links(number: usize) -> Vec<String> {
    let tree = [2 * number + 1, 2 * number + 2];
    let others = (1..9).map(|turn| (number * 7919 + turn * 104_729) % PAGES);
    let mut all = Vec::new();
    for page in tree.into_iter().chain(others).filter(|page| (1..PAGES).contains(page)) {
        let link = if page.is_multiple_of(5) { format!("/go/{page}") } else { format!("/{page}") };
        if !all.contains(&link) {
            all.push(link);
        }
    }
    all
}

/// What an address of [`web`] proposes.
pub(crate) fn proposed(target: &str) -> Vec<String> {
    if target == "/" {
        return links(0);
    }
    match target.strip_prefix("/go/") {
        Some(page) => vec![format!("/{page}")],
        None => links(target[1..].parse().expect("a page's number")),
    }
}

/// A site of so many pages, every fifth of them behind a redirect.
pub(crate) fn web(asked: &Asked) -> Reply {
    match asked.target.as_str() {
        "/robots.txt" => Reply::status(404),
        target if target.starts_with("/go/") => Reply::redirect(302, &proposed(target)[0]),
        target => Reply::links(proposed(target)),
    }
}

/// Every address of [`web`].
pub(crate) fn all() -> BTreeSet<String> {
    let pages = (1..PAGES).map(|page| format!("/{page}"));
    pages
        .chain((1..PAGES).filter(|page| page.is_multiple_of(5)).map(|page| format!("/go/{page}")))
        .chain(["/".to_owned()])
        .collect()
}

/// How often each address was asked for.
fn asked(server: &Server) -> BTreeMap<String, usize> {
    let mut times = BTreeMap::new();
    for target in server.targets().into_iter().filter(|target| target != "/robots.txt") {
        *times.entry(target).or_default() += 1;
    }
    times
}

/// What the addresses asked for propose, and was never asked for.
fn lost(server: &Server) -> BTreeSet<String> {
    let asked: BTreeSet<String> = asked(server).into_keys().collect();
    let proposed: BTreeSet<String> = asked.iter().flat_map(|target| proposed(target)).collect();
    proposed.difference(&asked).cloned().collect()
}

fn tiny(server: &Server, dir: &Path, arguments: &[&str]) -> Run {
    crawled(server, dir, &[TINY, arguments].concat())
}

fn crawled(server: &Server, dir: &Path, arguments: &[&str]) -> Run {
    let crawl = Webloom::crawl(dir, &server.url("/")).env("WEBLOOM_POLITENESS_PER_HOST", "8");
    let run = crawl.args(arguments).run().expect(0);
    judge(server, dir, &run);
    run
}

fn go_on(server: &Server, dir: &Path, arguments: &[&str]) -> Run {
    let run = Webloom::go_on(dir).args(arguments).run().expect(0);
    judge(server, dir, &run);
    run
}

/// What holds for every run here.
fn judge(server: &Server, dir: &Path, run: &Run) {
    let summary = run.json();
    assert_counts(&summary);
    assert_clean(dir);
    assert_eq!(summary["requests"]["sent"], server.log().len());
    assert_eq!(Webloom::new(["status", "--json"]).args([dir]).run().expect(0).json(), summary);
    let sweep = &summary["cache"]["sweep"];
    if sweep.is_object() {
        let fates = ["rescued", "found", "no_longer_linked", "parent_unreachable"].map(|fate| count(&sweep[fate]));
        let settled = "SELECT count(*) FROM lost WHERE swept AND state <> 'lost'";
        let settled: usize = database(dir).query_row(settled, [], |row| row.get(0)).expect("a count");
        assert_eq!(fates.iter().sum::<usize>(), settled, "{sweep}");
    }
}

/// The lines of `pages DIR --lost`.
fn lost_pages(dir: &Path) -> Vec<Value> {
    Webloom::new(["pages", "--lost", "--format", "jsonl"]).args([dir]).run().expect(0).json_lines()
}

/// Their paths; fails where a URL is not known.
fn lost_paths(server: &Server, dir: &Path) -> BTreeSet<String> {
    let lines = lost_pages(dir);
    let paths: BTreeSet<_> =
        lines.iter().map(|line| line["url"].as_str().expect("a URL").replace(&server.url(""), "")).collect();
    assert_eq!(paths.len(), lines.len(), "a URL has two lines");
    paths
}

pub(crate) fn count(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap_or_else(|| panic!("{value} is no count"))).expect("a count")
}

pub(crate) fn database(dir: &Path) -> Connection {
    Connection::open_with_flags(dir.join("webloom.sqlite"), OpenFlags::SQLITE_OPEN_READ_ONLY).expect("a database")
}

#[test]
fn what_the_audit_finds_lost_is_fetched_all_the_same() {
    let (server, folder) = (serve(web), Folder::new());
    let summary = tiny(&server, &folder.crawl(), &["--sweep", "off"]).json();
    assert_eq!(asked(&server), all().into_iter().map(|target| (target, 1)).collect(), "each once");
    let audit = &summary["cache"]["audit"];
    assert_eq!((&audit["share"], count(&audit["checked"])), (&1.0.into(), all().len() - 1));
    assert!(count(&audit["false_positives"]) > 100, "{audit}");
    assert_eq!(audit["rescued"], audit["false_positives"]);
    assert!(summary["cache"]["sweep"].is_null(), "{summary}");
    let lines = lost_pages(&folder.crawl());
    assert_eq!(lines.len(), count(&audit["rescued"]));
    for line in &lines {
        assert_eq!((&line["found_by"], line["fetched_at"].is_string()), (&"audit".into(), true), "{line}");
        assert!(["stored", "redirected"].contains(&line["outcome"].as_str().unwrap()), "{line}");
    }
}

#[test]
fn without_rescue_the_audit_counts_just_what_is_lost() {
    let (server, folder) = (serve(web), Folder::new());
    let summary = tiny(&server, &folder.crawl(), &["--audit-rescue", "off", "--sweep", "off"]).json();
    let (audit, lost) = (&summary["cache"]["audit"], lost(&server));
    assert!(lost.len() > 50, "{}", lost.len());
    assert_eq!((count(&audit["false_positives"]), count(&audit["rescued"])), (lost.len(), 0));
    assert_eq!(count(&audit["checked"]), asked(&server).len() - 1 + lost.len());
    let [rate, low, high] = ["rate", "low", "high"].map(|name| audit[name].as_f64().unwrap());
    assert!((rate - lost.len() as f64 / count(&audit["checked"]) as f64).abs() < 1e-12);
    assert!(0.0 < low && low < rate && rate < high && high < 1.0, "{audit}");
    assert_eq!(lost_paths(&server, &folder.crawl()), lost);
    for line in lost_pages(&folder.crawl()) {
        assert_eq!(
            (&line["outcome"], &line["reason"], &line["fetched_at"]),
            (&"lost".into(), &"lost".into(), &Value::Null)
        );
    }
    let words = Webloom::new(["status"]).args([folder.crawl()]).run().expect(0).stdout;
    assert!(words.contains("not checked for lost URLs"), "{words}");
    for format in ["table", "csv"] {
        let arguments = ["pages", "--outcome", "lost", "--format", format];
        let text = Webloom::new(arguments).args([folder.crawl()]).run().expect(0).stdout;
        assert_eq!(text.lines().count(), lost.len() + 1, "{text}");
    }
}

#[test]
fn a_small_sample_measures_and_the_sweep_finds_the_rest() {
    let (server, folder) = (serve(web), Folder::new());
    let summary = tiny(&server, &folder.crawl(), &["--audit-sample", "40"]).json();
    let (audit, sweep) = (&summary["cache"]["audit"], &summary["cache"]["sweep"]);
    let share = audit["share"].as_f64().unwrap();
    assert!(share <= 0.25 && share.log2().fract() == 0.0 && (10..=40).contains(&count(&audit["checked"])), "{audit}");
    assert!(count(&audit["rescued"]) >= count(&audit["false_positives"]), "{audit}");
    assert!(count(&sweep["rescued"]) > 50 && sweep["rescued"] == sweep["lost"], "{sweep}");
    assert_eq!(asked(&server).into_keys().collect::<BTreeSet<_>>(), all());
    assert_eq!(lost_pages(&folder.crawl()).len(), count(&audit["rescued"]) + count(&sweep["rescued"]));
}

#[test]
fn a_report_names_just_what_is_lost() {
    for audit in [["--audit-rescue", "off"], ["--audit-sample", "0"]] {
        let (server, folder) = (serve(web), Folder::new());
        let run = tiny(&server, &folder.crawl(), &[audit, ["--sweep", "report"]].concat());
        let (summary, lost) = (run.json(), lost(&server));
        let sweep = &summary["cache"]["sweep"];
        assert!(lost.len() > 50, "{}", lost.len());
        assert_eq!(
            (count(&sweep["lost"]), count(&sweep["rescued"]), count(&sweep["fetched_again"])),
            (lost.len(), 0, 0)
        );
        let kept: usize = asked(&server).keys().map(|target| proposed(target).len()).sum();
        assert_eq!(count(&sweep["links"]), kept);
        let lines = lost_pages(&folder.crawl());
        assert_eq!(lines.len(), lost.len());
        assert!(lines.iter().all(|line| line["outcome"] == "lost" && line["fetched_at"].is_null()));
        if audit == ["--audit-rescue", "off"] {
            assert_eq!(lost_paths(&server, &folder.crawl()), lost);
        } else {
            assert!(summary["cache"]["audit"].is_null(), "{summary}");
            assert!(lines.iter().all(|line| line["url"].is_null() && line["found_by"] == "sweep"));
            let path = |line: &Value| line["via"].as_str().unwrap().replace(&server.url(""), "");
            assert!(lines.iter().all(|line| proposed(&path(line)).iter().any(|target| lost.contains(target))));
        }
        let again = go_on(&server, &folder.crawl(), &[]);
        assert!(again.stderr.contains("nothing is left to fetch"), "{}", again.stderr);
    }
}

#[test]
fn a_sweep_with_rescue_leaves_nothing_out() {
    let (server, folder) = (serve(web), Folder::new());
    let run = tiny(&server, &folder.crawl(), &["--audit-sample", "0"]);
    let (summary, times) = (run.json(), asked(&server));
    assert_eq!(times.keys().cloned().collect::<BTreeSet<_>>(), all());
    let sweep = &summary["cache"]["sweep"];
    let lost = lost_paths(&server, &folder.crawl());
    assert!(lost.len() > 100 && count(&sweep["lost"]) == lost.len(), "{sweep}");
    let rounds = run.stderr.lines().filter(|line| line.contains("the sweep found lost URLs")).count();
    assert!(rounds > 1, "{}", run.stderr);
    let again: usize = times.values().map(|times| times - 1).sum();
    assert_eq!(count(&sweep["fetched_again"]), again, "only pages that link to lost ones are asked for again");
    assert!(times.values().all(|times| *times <= 1 + rounds), "a page is asked for once a round: {times:?}");
    assert_eq!(summary["counts"]["finished"], all().len());
    assert_eq!(count(&summary["pages"]["stored"]), PAGES, "a page that is fetched again is no page more");
    assert!(lost_pages(&folder.crawl()).iter().all(|line| line["fetched_at"].is_string()));
}

#[test]
fn what_only_a_lost_page_leads_to_is_counted_beside_it() {
    let server = serve(|asked| match asked.target.as_str() {
        "/" => Reply::links((1..=1000).map(|page| format!("/{page}"))),
        "/robots.txt" => Reply::status(404),
        target if target.ends_with("/leaf") => Reply::html("a leaf"),
        target => Reply::links([format!("{target}/leaf")]),
    });
    let folder = Folder::new();
    // Full enough to lose some, not so full that it loses all that comes later.
    let arguments = ["--expected-urls", "400", "--reset", "none", "--audit-sample", "0"];
    let summary = crawled(&server, &folder.crawl(), &arguments).json();
    assert_eq!(summary["pages"]["stored"], 1 + 2 * 1000);
    let lost = lost_paths(&server, &folder.crawl());
    let leaves = lost.iter().filter(|path| !path.ends_with("/leaf")).map(|page| format!("{page}/leaf"));
    let missed = leaves.filter(|leaf| !lost.contains(leaf)).count();
    assert_eq!(count(&summary["cache"]["sweep"]["missed_with_them"]), missed);
    assert!(missed > 0, "{} lost, none missed with them", lost.len());
}

#[test]
fn an_exact_cache_is_proved_too() {
    let (server, folder) = (serve(web), Folder::new());
    let summary = tiny(&server, &folder.crawl(), &["--cache", "exact"]).json();
    let links: usize = all().iter().map(|target| proposed(target).len()).sum();
    let sweep = &summary["cache"]["sweep"];
    assert_eq!((count(&sweep["links"]), count(&sweep["lost"]), count(&sweep["fetched_again"])), (links, 0, 0));
    assert_eq!(asked(&server), all().into_iter().map(|target| (target, 1)).collect());
    let words = Webloom::new(["status"]).args([folder.crawl()]).run().expect(0).stdout;
    assert!(words.contains("nothing was lost"), "{words}");
}

#[test]
fn a_drained_crawl_is_swept_when_that_is_asked_for_later() {
    let (server, folder) = (serve(web), Folder::new());
    let dir = folder.crawl();
    let first = tiny(&server, &dir, &["--audit-rescue", "off", "--sweep", "off"]).json();
    let lost = lost(&server);
    let report = go_on(&server, &dir, &["--sweep", "report"]).json();
    assert_eq!((count(&report["cache"]["sweep"]["lost"]), &report["pages"]), (lost.len(), &first["pages"]));
    assert_eq!(report["requests"]["sent"], first["requests"]["sent"], "a report asks nobody");
    let rescue = go_on(&server, &dir, &["--sweep", "rescue"]).json();
    assert_eq!(asked(&server).into_keys().collect::<BTreeSet<_>>(), all());
    assert!(count(&rescue["cache"]["sweep"]["rescued"]) >= lost.len(), "{rescue}");
    let lines = server.log().len();
    assert!(go_on(&server, &dir, &[]).stderr.contains("nothing is left to fetch"));
    assert_eq!(server.log().len(), lines);
}

#[test]
fn going_on_counts_nothing_twice() {
    let (server, folder) = (serve(web), Folder::new());
    let dir = folder.crawl();
    tiny(&server, &dir, &["--max-pages", "40"]);
    let middle = go_on(&server, &dir, &["--max-pages", "120"]).json();
    assert_eq!((&middle["end"], &middle["cache"]["sweep"]), (&"budget".into(), &Value::Null));
    let audit = &middle["cache"]["audit"];
    assert_eq!(count(&audit["checked"]), count(&middle["counts"]["admitted"]) - 1);
    assert_eq!(count(&audit["false_positives"]), lost_pages(&dir).len());
    let last = go_on(&server, &dir, &["--max-pages", "none"]).json();
    let audit = &last["cache"]["audit"];
    assert_eq!(count(&audit["checked"]), all().len() - 1);
    assert_eq!(
        (count(&audit["false_positives"]), &audit["rescued"]),
        (lost_pages(&dir).len(), &audit["false_positives"])
    );
    assert_eq!(count(&last["cache"]["sweep"]["lost"]), 0);
}

#[test]
fn an_audit_that_was_off_or_smaller_claims_nothing_it_did_not_see() {
    let (server, folder) = (serve(web), Folder::new());
    let dir = folder.crawl();
    tiny(&server, &dir, &["--max-pages", "40", "--audit-sample", "0"]);
    let before = count(&go_on(&server, &dir, &["--audit-sample", "0"]).json()["counts"]["admitted"]);
    let on = go_on(&server, &dir, &["--audit-sample", "60", "--max-pages", "120"]).json();
    let after = &on["cache"]["audit"];
    assert!(count(&after["checked"]) <= count(&on["counts"]["admitted"]) - before, "{on}");
    let share = after["share"].as_f64().unwrap();
    for pages in ["140", "none"] {
        let larger = go_on(&server, &dir, &["--audit-sample", "65536", "--max-pages", pages]).json();
        assert!(larger["cache"]["audit"]["share"].as_f64().unwrap() <= share, "{larger}");
    }
}

#[test]
fn what_was_lost_before_the_audit_is_no_trial_of_it() {
    let (server, folder) = (serve(web), Folder::new());
    let dir = folder.crawl();
    let first = tiny(&server, &dir, &["--audit-sample", "0", "--sweep", "off"]).json();
    let most = (count(&first["pages"]["stored"]) + 20).to_string();
    let on = ["--audit-sample", "65536", "--sweep", "rescue", "--max-pages", &most];
    let audited = go_on(&server, &dir, &on).json();
    let rescued = "SELECT count(*) FROM lost WHERE found_by = 'sweep' AND state = 'rescued'";
    let rescued: usize = database(&dir).query_row(rescued, [], |row| row.get(0)).unwrap();
    assert!(rescued > 50, "{rescued}");
    let new = count(&audited["counts"]["admitted"]) - count(&first["counts"]["admitted"]) - rescued;
    assert_eq!(count(&audited["cache"]["audit"]["checked"]), new);
    // Read again from rows, it is the same.
    assert_eq!(go_on(&server, &dir, &on).json()["cache"]["audit"], audited["cache"]["audit"]);
}

#[test]
fn what_the_audit_finds_lost_again_stays_a_trial_of_it() {
    let (server, folder) = (serve(web), Folder::new());
    let dir = folder.crawl();
    let first = tiny(&server, &dir, &["--audit-sample", "0", "--sweep", "report"]).json();
    let most = (count(&first["pages"]["stored"]) + 15).to_string();
    let mut on = vec!["--audit-sample", "65536", "--audit-rescue", "off", "--max-pages", &most];
    let added: Vec<_> = lost(&server).iter().step_by(3).map(|path| server.url(path)).collect();
    on.extend(added.iter().flat_map(|start| ["--add", start]));
    let audited = go_on(&server, &dir, &on).json();
    let known = "SELECT count(*) FROM lost WHERE found_by = 'audit' AND swept";
    let known: usize = database(&dir).query_row(known, [], |row| row.get(0)).unwrap();
    assert!(known > 10, "{known}");
    assert_eq!(audited["end"], "budget", "{audited}");
    // Read again from rows, it is the same.
    assert_eq!(go_on(&server, &dir, &on).json()["cache"]["audit"], audited["cache"]["audit"]);
}

#[test]
fn what_another_link_lets_in_later_is_not_lost_any_more() {
    for more in [["--audit-rescue", "off", "--sweep", "off"], ["--audit-sample", "0", "--sweep", "rescue"]] {
        let (server, folder) = (serve(web), Folder::new());
        let arguments = ["--expected-urls", "20", "--max-lost-urls", "60"];
        let summary = crawled(&server, &folder.crawl(), &[&arguments[..], &more].concat()).json();
        assert!(count(&summary["cache"]["resets"]["rebuild"]) > 0, "{summary}");
        assert!(asked(&server).iter().filter(|(target, _)| *target != "/").count() > 100);
        let lines = lost_pages(&folder.crawl());
        let open = lines.iter().filter(|line| line["fetched_at"].is_null());
        let open: BTreeSet<_> = open.map(|line| line["url"].as_str().unwrap().replace(&server.url(""), "")).collect();
        assert_eq!(open, lost(&server), "{more:?}");
        if more[1] == "off" {
            let states = "SELECT count(*) FROM lost WHERE state = 'found'";
            let found: usize = database(&folder.crawl()).query_row(states, [], |row| row.get(0)).unwrap();
            assert!(found > 0, "a larger filter let none of them in");
            assert_eq!(count(&summary["cache"]["audit"]["false_positives"]), open.len() + found);
        }
    }
}

#[test]
fn a_rebuild_does_not_disturb_the_audit() {
    let (server, folder) = (serve(web), Folder::new());
    let arguments = ["--expected-urls", "20", "--reset", "rebuild", "--max-lost-urls", "60"];
    let summary = crawled(&server, &folder.crawl(), &arguments).json();
    let (cache, audit) = (&summary["cache"], &summary["cache"]["audit"]);
    assert!(count(&cache["resets"]["rebuild"]) > 0, "{cache}");
    assert_eq!((&audit["share"], count(&audit["checked"])), (&1.0.into(), all().len() - 1));
    assert_eq!(count(&audit["false_positives"]), lost_pages(&folder.crawl()).len());
    assert_eq!(asked(&server), all().into_iter().map(|target| (target, 1)).collect());
}

/// A site whose `/` links to `/other` and to 100 pages, and `/other` to the same; what is asked for once more and is one
/// of `changed` gets `then`.
fn two_parents(changed: &'static [&'static str], then: fn() -> Reply) -> Server {
    let targets = || (1..=100).map(|page| format!("/{page}"));
    serve(closing(move |asked| match asked.target.as_str() {
        "/robots.txt" => Reply::status(404),
        target if asked.before > 0 && changed.contains(&target) => then(),
        "/" => Reply::links(std::iter::once("/other".to_owned()).chain(targets())),
        "/other" => Reply::links(targets()),
        _ => Reply::html("a leaf"),
    }))
}

const SWEPT_ONLY: &[&str] = &["--audit-sample", "0"];

#[test]
fn the_next_page_is_tried_where_the_first_has_changed_or_fails() {
    // Trouble that may pass is tried four times, and more while the host may be to blame: `/` is what is asked for to know.
    let changes: [(fn() -> Reply, _); 3] =
        [(|| Reply::html("no links"), 1..=1), (|| Reply::status(500), 4..=20), (Reply::hang_up, 4..=20)];
    for (then, tries) in changes {
        let (server, folder) = (two_parents(&["/"], then), Folder::new());
        let summary = tiny(&server, &folder.crawl(), SWEPT_ONLY).json();
        let sweep = &summary["cache"]["sweep"];
        assert!(count(&sweep["lost"]) > 10 && sweep["rescued"] == sweep["lost"], "{sweep}");
        assert!(server.count("/other") >= 2 && sweep["fetched_again"] == 2, "{sweep}");
        assert!(tries.contains(&(server.count("/") - 1)), "{} times", server.count("/"));
        assert!((1..=100).all(|page| (1..=20).contains(&server.count(&format!("/{page}")))));
        assert_eq!(summary["pages"]["stored"], 102);
    }
}

/// Pages that give no answer while the server is started anew.
#[test]
fn an_outage_while_pages_are_fetched_again_loses_nothing() {
    for trouble in [|| Reply::status(503), Reply::hang_up] {
        let server = serve(closing(move |asked| match asked.target.as_str() {
            _ if (1..=3).contains(&asked.before) => trouble(),
            _ => web(asked),
        }));
        let folder = Folder::new();
        // A host that refuses so much is asked slowly, by one request at a time; it is not to be given up for that.
        let crawl = Webloom::crawl(&folder.crawl(), &server.url("/")).env("WEBLOOM_POLITENESS_BACKOFF", "2ms");
        let crawl = crawl.env("WEBLOOM_POLITENESS_MAX_BACKOFF", "100ms");
        let run = crawl.args(TINY).args(SWEPT_ONLY).run().expect(0);
        judge(&server, &folder.crawl(), &run);
        let summary = run.json();
        let sweep = &summary["cache"]["sweep"];
        assert!(count(&sweep["lost"]) > 10 && sweep["rescued"] == sweep["lost"], "{sweep}");
    }
}

#[test]
fn what_no_page_links_to_any_more_is_named_and_the_rounds_end() {
    let fates: [(fn() -> Reply, _, _); 2] = [
        (|| Reply::html("no links"), "no_longer_linked", 2..=2),
        (|| Reply::status(500), "parent_unreachable", 5..=20),
    ];
    for (then, fate, asked) in fates {
        let (server, folder) = (two_parents(&["/", "/other"], then), Folder::new());
        let summary = tiny(&server, &folder.crawl(), SWEPT_ONLY).json();
        let sweep = &summary["cache"]["sweep"];
        assert_eq!(summary["end"], "drained");
        assert!(count(&sweep["lost"]) > 10 && sweep[fate] == sweep["lost"] && sweep["rescued"] == 0, "{sweep}");
        assert!(["/", "/other"].iter().all(|parent| asked.contains(&server.count(parent))));
        let lines = lost_pages(&folder.crawl());
        assert!(lines.iter().all(|line| line["outcome"] == "lost" && line["reason"] == fate), "{lines:?}");
        let stored = summary["pages"]["stored"].clone();
        assert_eq!(count(&stored), 102 - count(&sweep["lost"]), "a visit is not replaced by a worse one");
    }
}

#[test]
fn pages_of_a_host_that_cannot_be_asked_any_more_wait() {
    let closed = Arc::new(AtomicBool::new(false));
    let now = Arc::clone(&closed);
    let server = serve(move |asked| match asked.target.as_str() {
        "/robots.txt" if now.load(Ordering::SeqCst) => Reply::status(503),
        _ => web(asked),
    });
    let folder = Folder::new();
    tiny(&server, &folder.crawl(), &["--audit-rescue", "off", "--sweep", "off"]);
    closed.store(true, Ordering::SeqCst);
    let asked_before = asked(&server);
    age_robots(&folder);
    let run = Webloom::go_on(&folder.crawl()).args(["--sweep", "rescue"]).env("WEBLOOM_POLITENESS_GIVE_UP", "1s").run();
    assert_eq!(run.expect(4).json()["end"], "unreachable");
    assert_eq!(asked(&server), asked_before);
    closed.store(false, Ordering::SeqCst);
    let summary = go_on(&server, &folder.crawl(), &["--sweep", "rescue"]).json();
    let sweep = &summary["cache"]["sweep"];
    assert_eq!((&summary["end"], &sweep["rescued"]), (&"drained".into(), &sweep["lost"]));
}

#[test]
fn robots_txt_holds_for_pages_fetched_again() {
    let closed = Arc::new(AtomicBool::new(false));
    let now = Arc::clone(&closed);
    let server = serve(move |asked| match asked.target.as_str() {
        "/robots.txt" if now.load(Ordering::SeqCst) => Reply::text("User-agent: *\nDisallow: /"),
        _ => web(asked),
    });
    let folder = Folder::new();
    tiny(&server, &folder.crawl(), &["--audit-rescue", "off", "--sweep", "off"]);
    closed.store(true, Ordering::SeqCst);
    let asked_before = asked(&server);
    age_robots(&folder);
    let summary = go_on(&server, &folder.crawl(), &["--sweep", "rescue"]).json();
    assert_eq!(summary["cache"]["sweep"]["parent_unreachable"], summary["cache"]["sweep"]["lost"]);
    assert_eq!(asked(&server), asked_before);
}

#[test]
fn a_narrower_scope_holds_for_pages_fetched_again() {
    let (server, folder) = (two_parents(&[], || Reply::status(404)), Folder::new());
    tiny(&server, &folder.crawl(), &["--audit-sample", "0", "--sweep", "off"]);
    let before = asked(&server);
    let narrower = ["--sweep", "rescue", "--exclude", "/$", "--exclude", "/other$"];
    let summary = go_on(&server, &folder.crawl(), &narrower).json();
    let sweep = &summary["cache"]["sweep"];
    assert!(count(&sweep["lost"]) > 10 && sweep["parent_unreachable"] == sweep["lost"], "{sweep}");
    assert_eq!(asked(&server), before, "what is excluded is not fetched for what it links to");
}

#[test]
fn what_a_depth_limit_holds_back_keeps_nobody_from_the_sweep() {
    let (server, folder) = (serve(web), Folder::new());
    let dir = folder.crawl();
    let run = tiny(&server, &dir, &["--audit-sample", "0", "--max-depth", "3"]).json();
    assert!(run["end"] == "budget" && count(&run["counts"]["queued"]) > 0, "{run}");
    let sweep = &run["cache"]["sweep"];
    assert!(count(&sweep["rescued"]) > 10, "{run}");
    let check = Webloom::new(["check", "--json"]).args([&dir]).run().expect(0).json();
    assert_eq!(check["links_without_row"], 0, "{check}");
    // A host that has all the pages it may have is not asked for one again.
    let folder = Folder::new();
    let crawl = Webloom::crawl(&folder.crawl(), &server.url("/")).env("WEBLOOM_BUDGET_MAX_PAGES_PER_HOST", "30");
    let spent = crawl.args(TINY).args(["--audit-sample", "0"]).run().expect(0).json();
    assert_eq!((&spent["end"], &spent["pages"]["stored"]), (&"budget".into(), &30.into()), "{spent}");
    assert_clean(&folder.crawl());
}

#[test]
fn a_budget_holds_for_pages_fetched_again() {
    let (server, folder) = (serve(web), Folder::new());
    let dir = folder.crawl();
    let first = tiny(&server, &dir, &["--audit-rescue", "off", "--sweep", "report"]).json();
    assert!(first["cache"]["sweep"].is_object(), "{first}");
    let (stored, asked_before) = (first["pages"]["stored"].to_string(), asked(&server));
    let spent = go_on(&server, &dir, &["--sweep", "rescue", "--max-pages", &stored]).json();
    assert_eq!((&spent["end"], &spent["cache"]["sweep"]), (&"budget".into(), &Value::Null));
    let words = Webloom::new(["status"]).args([&dir]).run().expect(0).stdout;
    assert!(words.contains("found so far; the sweep has not finished"), "{words}");
    assert_eq!(asked(&server), asked_before);
    let rest = go_on(&server, &dir, &["--max-pages", "none"]).json();
    assert_eq!(
        (&rest["end"], &rest["cache"]["sweep"]["rescued"]),
        (&"drained".into(), &rest["cache"]["sweep"]["lost"])
    );
    assert_eq!(asked(&server).into_keys().collect::<BTreeSet<_>>(), all());
}

#[test]
fn a_loss_budget_that_ends_the_crawl_ends_the_rescue_too() {
    let (server, folder) = (serve(web), Folder::new());
    let dir = folder.crawl();
    tiny(&server, &dir, &["--audit-rescue", "off", "--sweep", "off"]);
    let lost = lost_paths(&server, &dir);
    let run = Webloom::go_on(&dir).args(["--sweep", "rescue", "--reset", "stop", "--max-lost-urls", "0.5"]).run();
    judge(&server, &dir, &run);
    let spent = run.expect(3).json();
    assert_eq!((&spent["end"], &spent["cache"]["sweep"]), (&"loss".into(), &Value::Null));
    assert_eq!((lost_paths(&server, &dir), asked(&server).len() + lost.len() <= all().len()), (lost, true));
    let rest = go_on(&server, &dir, &["--reset", "none"]).json();
    assert_eq!(
        (&rest["end"], &rest["cache"]["sweep"]["rescued"]),
        (&"drained".into(), &rest["cache"]["sweep"]["lost"])
    );
    assert_eq!(asked(&server).into_keys().collect::<BTreeSet<_>>(), all());
}

#[test]
fn the_delay_holds_for_pages_fetched_again() {
    let (server, folder) = (two_parents(&[], || Reply::status(404)), Folder::new());
    let arguments = ["--audit-sample", "0", "--per-host", "1", "--delay", "20ms"];
    let summary = tiny(&server, &folder.crawl(), &arguments).json();
    assert!(count(&summary["cache"]["sweep"]["fetched_again"]) > 0, "{summary}");
    let log = server.log();
    for pair in log.windows(2) {
        let pause = pair[1].began - pair[0].ended.unwrap();
        assert!(pause.as_millis() >= 20, "{} after {pause:?}", pair[1].target);
    }
}
