//! Lost URLs in sequences beyond the first: each sequence loses its own, and finds what another had lost, judged by the
//! server's log.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use serde_json::Value;
use webloom_tests::{
    server::{Reply, Server},
    webloom::{REDISCOVER, Webloom, assert_clean, pages, pages_of},
};

use crate::{
    Folder,
    again::Versions,
    assert_counts, crawl,
    loss::{all, count, database, proposed, web},
    serve,
};

/// A filter made for 60 URLs that is kept for all of them.
const SMALL: &[&str] = &["--expected-urls", "60", "--reset", "none", "--cache-layout", "classic"];

type Paths = BTreeSet<String>;

/// A crawl under a filter far too small, sequence after sequence.
struct Crawl {
    server: Server,
    folder: Folder,
}

impl Crawl {
    fn new() -> Self {
        Self { server: serve(web), folder: Folder::new() }
    }

    fn dir(&self) -> std::path::PathBuf {
        self.folder.crawl()
    }

    /// One run, of the first sequence or of the one that the arguments ask for; its summary, and how often it asked for what.
    fn run(&self, arguments: &[&str]) -> (Value, BTreeMap<String, usize>) {
        let (dir, began) = (self.dir(), self.server.log().len());
        let crawl = if dir.exists() { Webloom::go_on(&dir) } else { Webloom::crawl(&dir, &self.server.url("/")) };
        let summary = crawl.args(SMALL).args(arguments).run().expect(0).json();
        assert_counts(&summary);
        assert_clean(&dir);
        assert_eq!(Webloom::new(["status", "--json"]).args([&dir]).run().expect(0).json(), summary);
        let mut asked = BTreeMap::new();
        for path in self.server.targets().drain(began..).filter(|path| path != "/robots.txt") {
            *asked.entry(path).or_default() += 1;
        }
        (summary, asked)
    }

    /// The next sequence, from its beginning to its end.
    fn again(&self, arguments: &[&str]) -> (Value, BTreeMap<String, usize>) {
        self.run(&[&REDISCOVER, arguments].concat())
    }

    fn lines(&self, arguments: &[&str]) -> Vec<Value> {
        let pages = Webloom::new(["pages", "--format", "jsonl"]).args(arguments).args([self.dir()]);
        pages.run().expect(0).json_lines()
    }

    /// The paths of the lines; fails where one has no URL, or two have the same.
    fn paths(&self, arguments: &[&str]) -> Paths {
        let lines = self.lines(arguments);
        let paths: Paths = lines.iter().map(|line| self.path(&line["url"])).collect();
        assert_eq!(paths.len(), lines.len(), "a URL has two lines");
        paths
    }

    fn path(&self, url: &Value) -> String {
        url.as_str().expect("a URL").replace(&self.server.url(""), "")
    }
}

fn keys(asked: &BTreeMap<String, usize>) -> Paths {
    asked.keys().cloned().collect()
}

/// What the addresses asked for propose, and was not asked for.
fn lost(asked: &Paths) -> Paths {
    let proposed: Paths = asked.iter().flat_map(|path| proposed(path)).collect();
    proposed.difference(asked).cloned().collect()
}

/// What three sequences that rescue nothing asked for each, compared with all that is said of them.
fn three_sequences(strategy: &str) -> [Paths; 3] {
    let crawl = Crawl::new();
    // One request at a time: what is lost depends on the order.
    let arguments = ["--cache", strategy, "--audit-rescue", "off", "--sweep", "report", "--per-host", "1"];
    let (mut open, mut past) = (Paths::new(), Vec::new());
    let asked = [0, 1, 2].map(|sequence| {
        let round: &[&str] = if sequence == 0 { &[] } else { &REDISCOVER };
        let (summary, asked) = crawl.run(&[&arguments, round].concat());
        let asked = keys(&asked);
        let (lost, recovered): (Paths, Paths) = (lost(&asked), open.intersection(&asked).cloned().collect());
        let (audit, sweep) = (&summary["cache"]["audit"], &summary["cache"]["sweep"]);
        assert_eq!(summary["sequence"], sequence);
        assert_eq!((count(&audit["false_positives"]), count(&sweep["lost"])), (lost.len(), lost.len()));
        assert_eq!(count(&audit["checked"]), asked.len() - 1 + lost.len());
        assert_eq!((count(&audit["rescued"]), count(&sweep["rescued"])), (0, 0));
        assert_eq!(count(&summary["pages"]["recovered"]), recovered.len());
        assert_eq!((crawl.paths(&["--lost"]), crawl.paths(&["--recovered"])), (lost.clone(), recovered.clone()));
        assert!(crawl.lines(&["--lost"]).iter().all(|line| line["outcome"] == "lost" && line["reason"] == "lost"));
        open = open.union(&lost).filter(|path| !asked.contains(*path)).cloned().collect();
        past.push((asked.clone(), lost, recovered));
        asked
    });
    for (number, (asked, lost, recovered)) in past.iter().enumerate() {
        let of = ["--sequence", &number.to_string()];
        assert_eq!(&crawl.paths(&of), asked);
        assert_eq!(&crawl.paths(&[&["--lost"], &of[..]].concat()), lost);
        assert_eq!(&crawl.paths(&[&["--recovered"], &of[..]].concat()), recovered);
        for line in crawl.lines(&[&["--lost"], &of[..]].concat()) {
            let later = past[number + 1..].iter().any(|(asked, ..)| asked.contains(&crawl.path(&line["url"])));
            assert_eq!((&line["outcome"], line["reason"] == "recovered"), (&"lost".into(), later), "{line}");
            assert_eq!((&line["sequence"], &line["found_by"]), (&number.into(), &"audit".into()), "{line}");
        }
        for line in crawl.lines(&[&["--recovered"], &of[..]].concat()) {
            assert_eq!((&line["sequence"], line["fetched_at"].is_string()), (&number.into(), true), "{line}");
        }
    }
    // What was lost keeps the state that the last sequence with a row of it gave it.
    for (url, page) in pages(&crawl.dir()) {
        let last = past.iter().rposition(|(asked, ..)| asked.contains(&crawl.path(&url.as_str().into())));
        assert_eq!((page["sequence"].as_u64(), &page["found_by"]), (last.map(|last| last as u64), &Value::Null));
    }
    assert_eq!(
        count(&Webloom::new(["check", "--json"]).args([crawl.dir()]).run().expect(0).json()["lost"]),
        past.iter().map(|(_, lost, _)| lost.len()).sum::<usize>()
    );
    asked
}

#[test]
fn a_temporal_cache_finds_what_the_sequence_before_had_lost() {
    let [first, second, third] = three_sequences("temporal");
    let recovered = lost(&first).intersection(&second).count();
    assert!(recovered > 10, "{recovered} of {}", lost(&first).len());

    assert!(lost(&second).intersection(&first).count() > 10, "nothing was lost that was known");
    assert_ne!(second, third);
}

#[test]
fn a_single_cache_loses_the_same_pages_again() {
    let [first, second, third] = three_sequences("single");
    assert!(lost(&first).len() > 50, "{}", lost(&first).len());
    assert_eq!((&first, &first), (&second, &third));
}

#[test]
fn a_sweep_names_what_an_earlier_sequence_knew() {
    let crawl = Crawl::new();
    let arguments = ["--cache", "temporal", "--audit-sample", "0", "--sweep", "report"];
    let first = keys(&crawl.run(&arguments).1);
    assert!(crawl.lines(&["--lost"]).iter().all(|line| line["url"].is_null()));
    let second = keys(&crawl.again(&[]).1);
    let known: Paths = crawl
        .lines(&["--lost"])
        .iter()
        .filter(|line| line["url"].is_string())
        .map(|line| crawl.path(&line["url"]))
        .collect();
    assert_eq!(known, lost(&second).intersection(&first).cloned().collect());
    assert!(known.len() > 10 && crawl.lines(&["--lost"]).len() == lost(&second).len(), "{known:?}");
    let recovered: Paths = lost(&first).intersection(&second).cloned().collect();
    assert_eq!(crawl.paths(&["--recovered"]), recovered);
}

/// Pages whose way from the start leads over one that was lost, without those.
fn behind(dir: &Path, sequence: u32, lost: &BTreeSet<String>) -> usize {
    let pages = pages_of(dir, sequence);
    let is_behind = |url: &String| {
        let mut via = pages[url]["via"].as_str();
        while let Some(page) = via {
            if lost.contains(page) {
                return true;
            }
            via = pages[page]["via"].as_str();
        }
        false
    };
    pages.keys().filter(|url| !lost.contains(*url) && is_behind(url)).count()
}

#[test]
fn a_sweep_with_rescue_leaves_nothing_out_of_a_later_sequence() {
    for order in ["breadth", "depth"] {
        let crawl = Crawl::new();
        let (_, asked) = crawl.run(&["--cache", "temporal", "--audit-rescue", "off", "--sweep", "report"]);
        let first = lost(&keys(&asked));
        assert!(first.len() > 50, "{}", first.len());
        // The second sequence finds the pages in another order than their rows have.
        for sequence in [1, 2] {
            let (summary, asked) = crawl.again(&["--audit-sample", "0", "--sweep", "rescue", "--order", order]);
            assert_eq!(keys(&asked), all());
            let sweep = &summary["cache"]["sweep"];
            let lines = crawl.lines(&["--lost"]);
            let lost: BTreeSet<String> = lines.iter().map(|line| line["url"].as_str().unwrap().to_owned()).collect();
            assert!(lost.len() > 50 && lines.len() == lost.len(), "{sweep}");
            assert_eq!((count(&sweep["lost"]), count(&sweep["rescued"])), (lost.len(), lost.len()));
            assert_eq!(count(&sweep["missed_with_them"]), behind(&crawl.dir(), sequence, &lost), "{sweep}");
            let again: usize = asked.values().map(|times| times - 1).sum();
            assert_eq!(count(&sweep["fetched_again"]), again, "only pages that link to lost ones are asked for again");
            // A page may be asked for again whose lost URLs another one has led to meanwhile.
            assert!(lines.iter().all(|line| all().contains(&crawl.path(&line["via"]))));
            assert!(lines.iter().all(|line| line["sequence"] == sequence && line["fetched_at"].is_string()));
            assert_eq!(summary["counts"]["finished"], all().len());
            let recovered = if sequence == 1 { first.clone() } else { Paths::new() };
            assert_eq!(crawl.paths(&["--recovered"]), recovered);
            let done = Webloom::go_on(&crawl.dir()).run().expect(0);
            assert!(done.stderr.contains("nothing is left to fetch"), "{}", done.stderr);
        }
    }
}

#[test]
fn what_only_a_lost_page_leads_to_is_counted_whatever_its_row_is() {
    // The first sequence knows the leaves before the pages that lead to them in the second.
    let pages = || (1..=1000).map(|page| format!("/{page}"));
    let site = Versions::serve(move |version, path, _| match (path, version) {
        ("/", 0) => Reply::links(pages().map(|page| page + "/leaf").chain(pages())),
        ("/", _) => Reply::links(pages()),
        (path, _) if path.ends_with("/leaf") => Reply::html("a leaf"),
        (path, _) => Reply::links([format!("{path}/leaf")]),
    });
    let folder = Folder::new();
    let dir = folder.crawl();
    crawl(&site.server, &dir, &["--cache", "exact"]);
    site.set(1);
    let arguments = ["--cache", "single", "--expected-urls", "400", "--reset", "none", "--audit-sample", "0"];
    let summary =
        Webloom::go_on(&dir).args(REDISCOVER).args(["--per-host", "8"]).args(arguments).run().expect(0).json();
    assert_clean(&dir);
    assert_eq!(summary["pages"]["stored"], 1 + 2 * 1000);
    let lost = Webloom::new(["pages", "--lost", "--format", "jsonl"]).args([&dir]).run().expect(0).json_lines();
    let lost: BTreeSet<String> = lost.iter().map(|line| line["url"].as_str().expect("a URL").to_owned()).collect();
    let missed = behind(&dir, 1, &lost);
    assert!(missed > 0, "{} lost, none missed with them", lost.len());
    assert_eq!(count(&summary["cache"]["sweep"]["missed_with_them"]), missed);
}

#[test]
fn an_audit_lets_in_what_it_finds_lost_once_more() {
    let crawl = Crawl::new();
    let once = |asked: &BTreeMap<String, usize>| asked == &all().into_iter().map(|path| (path, 1)).collect();
    for sequence in 0..3 {
        let round: &[&str] = if sequence == 0 { &["--cache", "temporal"] } else { &REDISCOVER };
        let (summary, asked) = crawl.run(round);
        let audit = &summary["cache"]["audit"];
        assert!(once(&asked), "{asked:?}");
        assert_eq!(count(&audit["checked"]), all().len() - 1, "those of earlier sequences are not counted");
        assert!(count(&audit["rescued"]) > 100 && audit["rescued"] == audit["false_positives"], "{audit}");
        assert_eq!(
            (crawl.paths(&["--lost"]).len(), count(&summary["pages"]["recovered"])),
            (count(&audit["rescued"]), 0)
        );
    }
}

#[test]
fn going_on_with_a_later_sequence_counts_nothing_twice() {
    let crawl = Crawl::new();
    crawl.run(&["--cache", "temporal"]);
    crawl.again(&["--order", "depth", "--max-pages", "40"]);
    let (middle, _) = crawl.run(&["--max-pages", "120"]);
    let audit = &middle["cache"]["audit"];
    assert_eq!(count(&audit["checked"]), count(&middle["counts"]["admitted"]) - 1);
    assert_eq!(count(&audit["false_positives"]), crawl.lines(&["--lost"]).len());
    let (last, _) = crawl.run(&["--max-pages", "none"]);
    let audit = &last["cache"]["audit"];
    assert_eq!((count(&audit["checked"]), count(&last["cache"]["sweep"]["lost"])), (all().len() - 1, 0));
    assert_eq!(count(&audit["false_positives"]), crawl.lines(&["--lost"]).len());
}

#[test]
fn an_audit_that_begins_within_a_later_sequence_claims_nothing_it_did_not_see() {
    let crawl = Crawl::new();
    crawl.run(&["--cache", "temporal"]);
    let (first, _) = crawl.again(&["--order", "depth", "--audit-sample", "0", "--max-pages", "100"]);
    let before = count(&first["counts"]["admitted"]);
    let (on, _) = crawl.run(&["--audit-sample", "65536", "--max-pages", "150"]);
    let audit = &on["cache"]["audit"];
    assert_eq!(count(&audit["checked"]), count(&on["counts"]["admitted"]) - before);
    assert!(count(&audit["checked"]) > 5, "{on}");
    // Read again from rows, it is the same.
    assert_eq!(&crawl.run(&["--max-pages", "150"]).0["cache"]["audit"], audit);
}

#[test]
fn what_the_sweep_rescued_in_one_sequence_is_a_trial_in_the_next() {
    let crawl = Crawl::new();
    crawl.run(&["--cache", "temporal", "--audit-sample", "0"]);
    let rescued = "SELECT count(*) FROM lost WHERE state = 'rescued'";
    let rescued: usize = database(&crawl.dir()).query_row(rescued, [], |row| row.get(0)).unwrap();
    assert!(rescued > 50, "{rescued}");
    let (first, _) = crawl.again(&["--audit-sample", "65536", "--max-pages", "200"]);
    let audit = &first["cache"]["audit"];
    assert_eq!(count(&audit["checked"]), count(&first["counts"]["admitted"]) - 1);
    assert_eq!(&crawl.run(&[]).0["cache"]["audit"], audit);
}
