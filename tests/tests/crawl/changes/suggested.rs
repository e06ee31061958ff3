//! Rules for what rotates: offered by `webloom changes --suggest-ignore`, and used.

use webloom_tests::webloom::Run;

use super::{
    NOTHING,
    site::{Site, TEXT, own_text},
};
use crate::escapes::{HOSTILE, assert_harmless};

/// A counter on every page, and a date on some.
fn rotate(site: &Site, round: usize, pages: std::ops::RangeInclusive<usize>) {
    for page in pages {
        let path = format!("/{page}");
        let mut text = format!("{}\nSeen {} times since 2019", own_text(&path), 17 * round + page);
        if page <= 4 {
            text += &format!("\nToday is the {} May 2024", 10 + round);
        }
        site.page(&path, &text);
    }
}

fn suggested(site: &Site, format: &str) -> Run {
    site.changes(&["--suggest-ignore", "--format", format]).expect(0)
}

#[test]
fn rules_that_are_offered_silence_what_rotates_and_nothing_else() {
    let site = Site::numbered(12);
    rotate(&site, 0, 1..=12);
    site.crawl(&TEXT);
    assert!(suggested(&site, "jsonl").stdout.is_empty());
    for round in 1..=2 {
        rotate(&site, round, 1..=12);
        // What many pages change at once waits for a second look.
        site.again(&[]);
    }
    let lines = suggested(&site, "jsonl").json_lines();
    let rules: Vec<_> = lines.iter().map(|line| (line["rule"].as_str().expect("a rule"), &line["pages"])).collect();
    assert_eq!(
        rules,
        [("re:^Seen [0-9]+ times since [0-9]+$", &12.into()), ("re:^Today is the [0-9]+ [A-Za-z]+ [0-9]+$", &4.into())]
    );
    let example = [&lines[0]["url"], &lines[0]["before"], &lines[0]["after"]];
    assert_eq!(example, [&site.server.url("/1"), "Seen 1 times since 2019", "Seen 18 times since 2019"]);
    let ignore: Vec<_> = rules.iter().flat_map(|(rule, _)| ["--ignore", rule]).collect();
    rotate(&site, 3, 1..=12);
    assert_eq!(site.guarded(&ignore), (Vec::new(), 0));
    rotate(&site, 4, 1..=12);
    site.page("/3", "Another text of this page\nthat is as long as before\nSeen 9 times since 2019");
    assert_eq!(site.guarded(&[]), (vec!["changed_text /3".to_owned()], 0));
    // What is ignored is not offered again.
    assert!(suggested(&site, "jsonl").stdout.is_empty());
    assert_eq!(site.again(&[]), NOTHING);
}

#[test]
fn a_rule_that_would_silence_what_stays_is_not_offered() {
    let site = Site::numbered(12);
    rotate(&site, 0, 1..=8);
    site.page("/10", &format!("{}\nSeen 3 times since 2019", own_text("/10")));
    site.crawl(&TEXT);
    for round in 1..=2 {
        rotate(&site, round, 1..=8);
        site.again(&[]);
    }
    let rules: Vec<_> = suggested(&site, "jsonl").json_lines().iter().map(|line| line["rule"].to_string()).collect();
    assert_eq!(rules, ["\"re:^Today is the [0-9]+ [A-Za-z]+ [0-9]+$\""]);
}

#[test]
fn every_format_offers_the_same_and_shows_it_without_harm() {
    let site = Site::numbered(12);
    let rotate = |round: usize| site.page("/2", &format!("{}\n={HOSTILE} seen {round} times", own_text("/2")));
    rotate(1);
    site.crawl(&TEXT);
    rotate(2);
    site.again(&[]);
    for format in ["table", "csv", "jsonl"] {
        let run = suggested(&site, format);
        assert_harmless(&run);
        assert_eq!(run.stdout.lines().count(), if format == "jsonl" { 1 } else { 2 }, "{run:?}");
        assert!(run.stdout.contains("seen [0-9]+ times$"), "{run:?}");
    }
    for bad in [["--suggest-ignore", "--diff"], ["--suggest-ignore", "--since=1"]] {
        let run = site.changes(&bad).expect(2);
        assert!(run.stdout.is_empty() && run.stderr.lines().count() <= 8, "{run:?}");
    }
}
