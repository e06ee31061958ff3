//! What a URL cache far too small loses in every one of many sequences, beside what its false-positive rates foretell.

use std::collections::BTreeMap;

use serde_json::Value;
use webloom_tests::webloom::{REDISCOVER, Webloom, assert_clean};

use crate::{Folder, assert_counts, loss::count, serve};

/// Start pages: none of them is ever lost, and with it what it links to.
const STARTS: usize = 10;

/// Pages that each of them links to.
const LINKS: usize = 2_000;

const SEQUENCES: i32 = 10;

/// A filter made for a quarter of the URLs, with hash functions of its own in each sequence. What is linked to is admitted, and
/// not fetched.
const SMALL: &[&str] = &[
    "--cache",
    "temporal",
    "--expected-urls",
    "5000",
    "--max-lost-urls",
    "none",
    "--reset",
    "none",
    "--cache-layout",
    "classic",
    "--audit-rescue",
    "off",
    "--sweep",
    "report",
    "--max-depth",
    "0",
    "--per-host",
    "1",
];

/// The false-positive rate that each URL meets: that of a Bloom filter with those before it. (One that is lost finds all its bits
/// set, so it makes no difference that it is not put in.) Size and number of hash functions are those of the crawl's filter.
fn rates(cache: &Value) -> Vec<f64> {
    let number = |name: &str| cache[name].as_f64().expect("a figure");
    let bits = number("bits");
    let hashes = (number("expected_rate").ln() / number("fill").ln()).round();
    let rate = |before: usize| (1.0 - f64::exp(-hashes * before as f64 / bits)).powf(hashes);
    (STARTS..STARTS + STARTS * LINKS).map(rate).collect()
}

/// A URL is lost in all of r sequences with the product of their rates at its admission: of so many URLs the sum of these products
/// is expected, give or take four standard deviations, and what a filter's fill differs from the formula's.
#[test]
fn what_every_sequence_loses_falls_as_the_product_of_their_rates() {
    let server = serve(|asked| match asked.target.strip_prefix("/start/").map(str::parse::<usize>) {
        Some(Ok(start)) => {
            webloom_tests::server::Reply::links((0..LINKS).map(|page| format!("/{}", start * LINKS + page)))
        }
        _ => webloom_tests::server::Reply::status(404),
    });
    let folder = Folder::new();
    let dir = folder.crawl();
    let mut times: BTreeMap<String, i32> = BTreeMap::new();
    let mut foretold = Vec::new();
    for sequence in 0..SEQUENCES {
        let starts = (1..STARTS).map(|start| server.url(&format!("/start/{start}")));
        let run = match sequence {
            0 => Webloom::crawl(&dir, &server.url("/start/0")).args(starts).args(SMALL),
            _ => Webloom::go_on(&dir).args(REDISCOVER),
        };
        let summary = run.run().expect(0).json();
        assert_counts(&summary);
        let cache = &summary["cache"];
        let shown = ["pages", "--lost", "--format", "jsonl", "--sequence", &sequence.to_string()];
        let lost = Webloom::new(shown).args([&dir]).run().expect(0).json_lines();
        let numbers = (lost.len(), count(&cache["audit"]["false_positives"]), count(&cache["sweep"]["lost"]));
        assert!(numbers.0 == numbers.1 && numbers.0 == numbers.2, "{numbers:?}");
        for line in lost {
            let url = line["url"].as_str().expect("a URL").to_owned();
            // Those that every sequence so far has lost.
            if sequence == 0 || times.get(&url) == Some(&sequence) {
                times.insert(url, sequence + 1);
            }
        }
        foretold = rates(cache);
        let (of_this, own) = (numbers.0 as f64, cache["expected_lost"].as_f64().expect("a figure"));
        // Both vary by some 1.5 % from sequence to sequence.
        assert!((of_this / own - 1.0).abs() < 0.1, "its own account says {own}, not {of_this}");
        let expected: f64 = foretold.iter().map(|rate| rate.powi(sequence + 1)).sum();
        let observed = times.values().filter(|all| **all > sequence).count();
        println!("{} sequences: {expected:.1} expected to be lost in all, {observed} were", sequence + 1);
        assert!((observed as f64 - expected).abs() < 4.0 * expected.sqrt() + 0.08 * expected, "{observed} {expected}");
    }
    // What was lost in each is lost yet; what another sequence admitted is not.
    assert!(times.len() > 4_000 && foretold.last() > Some(&0.5), "{}", times.len());
    assert_clean(&dir);
}
