//! Summaries of all kinds, with figures as large as they get.

use std::collections::BTreeMap;

use super::*;
use crate::{
    health::{FailureCause, HealthRow, TlsFault},
    observe::fold,
    queue::Counts,
    revisit::{Found, Look, PageRates, SiteLooks},
    store::{CheckedRevisits, Counters, LinkCheckCounts, LostCounts, NoiseFigures, SweepCounts},
};

const LARGE: u64 = 123_456_789_012;

fn by_reason() -> BTreeMap<String, u64> {
    ["scope", "robots", "address", "max_url_length", "include", "no_name"]
        .map(|reason| (reason.to_owned(), LARGE))
        .into()
}

fn host(number: usize) -> UnhealthyHost {
    let (since, not_before) = (Moment::from_millis(1), Moment::from_millis(2));
    let causes = [
        FailureCause::Tls(TlsFault::Expired),
        FailureCause::NoName,
        FailureCause::Address,
        FailureCause::Status(429),
        FailureCause::Refused,
    ];
    let cause = causes[number % causes.len()];
    let health = HealthRow { failures: 9, since, cause, not_before, wait: Wait::BackOff, known_good: None };
    UnhealthyHost { origin: format!("https://host-{number}.docs.example.org:8443"), health, waiting: LARGE }
}

fn counters(looks: &SiteLooks) -> Counters {
    Counters {
        candidates: LARGE,
        duplicate: LARGE,
        refused: by_reason(),
        requests: LARGE,
        bytes_in: LARGE * 1000,
        by_status: [(304, LARGE)].into(),
        errors: by_reason(),
        stored: LARGE,
        expected_lost: 1e9,
        rebuilds: LARGE,
        growths: LARGE,
        rotations: LARGE,
        forgotten: LARGE,
        looks: looks.clone(),
        ..Counters::default()
    }
}

/// A summary in which every figure is large, and every line is there.
fn large() -> StoredSummary {
    let mut looks = SiteLooks::default();
    for found in [Found::Changed(None), Found::Unchanged] {
        looks.add(1, Look { seconds: 1e7, found, rate: None });
    }
    let cache = json!({
        "strategy": "multi-layer", "layout": "fingerprints-32", "items": LARGE, "bits": LARGE * 40, "expected_lost": 1e9,
        "expected_lost_is": "expected", "budget_lost": 123_456.5,
        "audit": {"share": 0.001, "checked": LARGE, "false_positives": LARGE, "low": 0.000_123, "high": 0.000_234},
    });
    let sweep = SweepCounts {
        links: Some(LARGE * 100),
        lost: LARGE,
        rescued: LARGE / 5,
        found: LARGE / 5,
        missed_with_them: LARGE,
        no_longer_linked: LARGE / 5,
        parent_unreachable: LARGE / 5,
    };
    StoredSummary {
        link_checks: LinkCheckCounts::default(),
        sequence: 12_345,
        began_at: Moment::from_millis(1),
        end: None,
        seconds: 1e7,
        cpu_seconds: 1e7,
        peak_memory: Some(LARGE),
        runs: 12_345,
        counters: counters(&looks),
        counts: Counts { admitted: LARGE * 6, queued: LARGE, leased: 64, finished: LARGE * 4, abandoned: LARGE },
        pages: PageCounts {
            stored: LARGE,
            html: LARGE,
            truncated: LARGE,
            needs_js: LARGE,
            new: LARGE,
            changed: LARGE,
            unchanged: LARGE,
            broken: LARGE,
            gone: LARGE / 2,
            failed: LARGE,
        },
        abandoned: by_reason(),
        cache: Some(cache.to_string()),
        lost: LostCounts { audit_rescued: LARGE, sweep, recovered: LARGE },
        reported: LARGE,
        pending: LARGE,
        noise: NoiseFigures::default(),
        checked: CheckedRevisits { audited: LARGE, wrong: LARGE / 3 },
        kept_looks: looks,
        page_rates: PageRates::default(),
        settings: None,
        hosts: (0..100).map(host).collect(),
        unhealthy_hosts: LARGE,
        paused_hosts: LARGE,
        known_hosts: LARGE,
    }
}

/// Summaries that differ in the lines they have and in what these say.
fn all_kinds() -> Vec<StoredSummary> {
    let budgets = r#"{"budget": {"max_pages": 1, "max_bytes": 1, "max_time": "9999h", "max_depth": 99}}"#;
    let unreached = r#"{"budget": {"max_pages": 9007199254740991, "max_time": "9999h", "max_depth": 99}}"#;
    let ends =
        [None, Some("drained"), Some("budget"), Some("loss"), Some("signal"), Some("unreachable"), Some("failed")];
    let changes: [fn(&mut StoredSummary); 9] = [
        |_| {},
        |summary| summary.lost.sweep = SweepCounts { links: Some(LARGE), ..SweepCounts::default() },
        |summary| summary.lost.sweep = SweepCounts { lost: LARGE, ..SweepCounts::default() },
        |summary| summary.lost.sweep = SweepCounts::default(),
        |summary| {
            (summary.reported, summary.lost.sweep) = (0, SweepCounts { links: Some(0), ..SweepCounts::default() });
        },
        |summary| {
            (summary.reported, summary.pending) = (0, 0);
            summary.lost.sweep = SweepCounts { links: Some(LARGE), ..SweepCounts::default() };
        },
        |summary| {
            (summary.reported, summary.pending, summary.pages.broken) = (0, 0, 0);
            summary.lost.sweep = SweepCounts { links: Some(LARGE), ..SweepCounts::default() };
        },
        |summary| summary.pages.html = 0,
        |summary| {
            let cache = json!({"strategy": "multi-layer", "layout": "classic", "items": LARGE, "bits": LARGE,
                               "expected_lost_is": "unknown", "audit": {"checked": null}});
            summary.cache = Some(cache.to_string());
        },
    ];
    let mut kinds = Vec::new();
    for end in ends {
        for settings in [None, Some(budgets), Some(unreached)] {
            for change in changes {
                let mut summary = large();
                (summary.end, summary.settings) = (end.map(str::to_owned), settings.map(str::to_owned));
                change(&mut summary);
                kinds.push(summary);
            }
        }
    }
    kinds
}

#[test]
fn no_line_is_wider_than_a_terminal() {
    let dir = Path::new("crawls/documentation.example.org_8443/the second attempt");
    let mut wide = 0;
    for summary in all_kinds() {
        for missing in [None, Some("--ignore-robots HOST")] {
            let view = SummaryView { dir, ended: Some(RunEnd::Signal(15)), next: true, missing };
            let text = lines(&summary, &view).text;
            wide += text.lines().filter(|line| line.len() > fold::WIDTH).count();
            let folded = fold::lines(&text, fold::WIDTH);
            for line in folded.lines().filter(|line| line.chars().count() > fold::WIDTH) {
                let word = line.split_once("  ").map_or(line, |(_, word)| word).trim();
                assert!(word.starts_with("webloom ") && !word.contains("   "), "{line}");
            }
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&folded), words(&text));
        }
    }
    assert!(wide > 1000, "so the test is of no use");
}

#[test]
fn a_sequence_that_the_next_one_stops_names_no_budget() {
    let mut summary = StoredSummary { end: Some("budget".to_owned()), ..large() };
    let stopped = |summary: &StoredSummary| {
        lines(summary, &SummaryView { dir: Path::new("d"), ended: Some(RunEnd::Budget), next: false, missing: None })
            .text
    };
    summary.settings = Some(r#"{"schedule":{"overlap":"restart"}}"#.to_owned());
    assert!(stopped(&summary).starts_with("Reached the time of the next sequence after "), "{}", stopped(&summary));
}

#[test]
fn what_a_limit_holds_back_goes_on_with_another_limit() {
    let advice = |settings: &str| {
        let summary = StoredSummary { end: Some("budget".to_owned()), settings: Some(settings.to_owned()), ..large() };
        let view = SummaryView { dir: Path::new("d"), ended: Some(RunEnd::Budget), next: true, missing: None };
        lines(&summary, &view).text
    };
    for (settings, said) in [
        (r#"{"budget":{"max_depth":3}}"#, "crawl -d d --max-depth unlimited"),
        (r#"{"budget":{"max_depth":3,"max_time":"9999h"}}"#, "crawl -d d   resumes"),
        (r#"{"scope":{"sections":["/a/ => max_pages=3"]}}"#, "crawl -d d --config FILE"),
    ] {
        assert!(advice(settings).contains(said), "{settings}: {}", advice(settings));
    }
}
