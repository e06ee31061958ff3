//! The values of `default.toml`, and the edges of every range.

use std::time::Duration;

use super::*;
use crate::config::{Layers, reference};

/// Values just outside and just inside the range of each numeric key: too low, lowest, highest, too high.
const RANGES: [(&str, [&str; 4]); 59] = [
    ("scope.max_url_length", ["63", "64", "65536", "65537"]),
    ("budget.max_pages", ["0", "1", "9223372036854775807", "\"9223372036854775808\""]),
    ("budget.max_bytes", ["0", "1", "9223372036854775807", "\"9223372036854775808\""]),
    ("budget.max_time", ["0", "\"1ms\"", "\"3650d\"", "\"3651d\""]),
    ("budget.max_depth", ["-1", "0", "1000000", "1000001"]),
    ("budget.max_pages_per_host", ["0", "1", "9223372036854775807", "\"9223372036854775808\""]),
    ("politeness.delay", ["-1", "0", "\"1d\"", "\"1d1ms\""]),
    ("politeness.max_delay", ["-1", "0", "\"1d\"", "\"1d1ms\""]),
    ("politeness.max_retry_after", ["-1", "0", "\"1d\"", "\"1d1ms\""]),
    ("politeness.backoff", ["0", "\"1ms\"", "\"1d\"", "\"1d1ms\""]),
    ("politeness.backoff_factor", ["0.9", "1.0", "10.0", "10.1"]),
    ("politeness.max_backoff", ["0", "\"1ms\"", "\"1d\"", "\"1d1ms\""]),
    ("politeness.give_up", ["-1", "0", "\"1d\"", "\"1d1ms\""]),
    ("politeness.per_host", ["0", "1", "256", "257"]),
    ("politeness.concurrency", ["0", "1", "4096", "4097"]),
    ("politeness.max_rate", ["0", "1", "1000000", "1000001"]),
    ("politeness.max_bandwidth", ["0", "1", "\"1TiB\"", "\"2TiB\""]),
    ("robots.max_age", ["0", "1", "\"30d\"", "\"31d\""]),
    ("fetch.connect_timeout", ["0", "\"1ms\"", "\"1d\"", "\"2d\""]),
    ("fetch.first_byte_timeout", ["0", "\"1ms\"", "\"1d\"", "\"2d\""]),
    ("fetch.total_timeout", ["0", "\"1ms\"", "\"1d\"", "\"2d\""]),
    ("fetch.min_rate", ["0", "1", "\"1TiB\"", "\"2TiB\""]),
    ("fetch.max_body", ["1023", "\"1KiB\"", "\"4GiB\"", "4294967297"]),
    ("fetch.max_expansion", ["0", "1", "100000", "100001"]),
    ("fetch.max_redirects", ["-1", "0", "50", "51"]),
    ("retry.attempts", ["0", "1", "20", "21"]),
    ("retry.backoff", ["-1", "0", "\"1d\"", "\"1d1s\""]),
    ("retry.max_backoff", ["-1", "0", "\"1d\"", "\"1d1s\""]),
    ("extract.max_links", ["0", "1", "10000000", "10000001"]),
    ("check.max_per_host", ["0", "1", "1000000", "1000001"]),
    ("check.delay", ["-1", "0", "\"1h\"", "\"61m\""]),
    ("cache.filters", ["0", "1", "64", "65"]),
    ("cache.layers", ["0", "1", "63", "64"]),
    ("cache.max_lost_urls", ["0.0", "1e-6", "1e9", "1100000000.0"]),
    ("cache.max_false_positive_rate", ["0", "1e-12", "0.5", "0.51"]),
    ("cache.expected_urls", ["0", "1", "1000000000000", "1000000000001"]),
    ("cache.reset_every", ["0", "1", "\"365d\"", "\"366d\""]),
    ("cache.max_memory", ["1023", "\"1KiB\"", "\"1TiB\"", "1099511627777"]),
    ("cache.audit_sample", ["-1", "0", "100000000", "100000001"]),
    ("frontier.heads_per_host", ["9", "10", "1000000", "1000001"]),
    // A simulation has fewer than a user may.
    ("frontier.heads", ["9", "10", "100000000", "100000001"]),
    ("schedule.every", ["\"999ms\"", "1", "\"3650d\"", "\"3651d\""]),
    ("revisit.audit_not_modified", ["-0.1", "0.0", "1.0", "1.1"]),
    ("revisit.min_interval", ["\"999ms\"", "1", "\"3650d\"", "\"3651d\""]),
    ("revisit.max_interval", ["\"999ms\"", "1", "\"3650d\"", "\"3651d\""]),
    ("revisit.explore", ["-0.1", "0.0", "1.0", "1.1"]),
    ("change.texts", ["0", "1", "100", "101"]),
    ("change.confirm", ["-1", "0", "\"365d\"", "\"366d\""]),
    ("change.gone_after", ["-1", "0", "\"365d\"", "\"366d\""]),
    ("change.mass_share", ["-0.1", "0.0", "1.0", "1.1"]),
    ("change.confirm_share", ["-0.1", "0.0", "1.0", "1.1"]),
    ("change.site_wide_pages", ["-1", "0", "1000000", "1000001"]),
    ("store.commit_every", ["0", "\"1ms\"", "\"10s\"", "\"11s\""]),
    ("store.commit_visits", ["0", "1", "197", "198"]),
    ("store.checkpoint_every", ["\"9ms\"", "\"10ms\"", "\"1h\"", "\"61m\""]),
    ("store.keep_sequences", ["0", "1", "1000000", "1000001"]),
    ("archive.file_size", ["\"1023KiB\"", "\"1MiB\"", "\"1TiB\"", "\"1025GiB\""]),
    ("machine.max_memory", ["\"31MiB\"", "\"32MiB\"", "\"1024TiB\"", "\"1025TiB\""]),
    ("machine.min_free_disk", ["0", "1", "\"1024TiB\"", "\"1025TiB\""]),
];

fn with(key: &str, value: &str) -> Layers {
    let (table, key) = key.split_once('.').unwrap();
    Layers::new().file_text("f", &format!("[{table}]\n{key} = {value}"))
}

#[test]
fn every_numeric_key_keeps_its_range() {
    let numeric: Vec<_> =
        reference().into_iter().filter(|row| row.allowed.contains(" from ")).map(|row| row.key).collect();
    assert_eq!(numeric, RANGES.map(|(key, _)| key));
    for (key, [too_low, lowest, highest, too_high]) in RANGES {
        for value in [lowest, highest] {
            assert!(with(key, value).resolve().is_ok(), "{key} = {value}");
        }
        for value in [too_low, too_high, "\"soon\"", "[]"] {
            let faults = with(key, value).resolve().unwrap_err();
            let place = format!("f: {key}: {value} is not allowed: give a ");
            assert!(faults.to_string().starts_with(&place), "{key} = {value}: {faults}");
        }
    }
}

#[test]
fn words_and_texts_are_checked() {
    for (key, value) in [
        ("scope.kind", "\"web\""),
        ("scope.exclude", "[\"(a{1000}){1000}\"]"),
        ("robots.ignore", "[\"https://example.org\"]"),
        ("scope.sections", "[\"/a/ => depth=1\"]"),
        ("fetch.user_agent", "\"webloom/1.0\""),
        ("fetch.headers", "[\"Host: x\"]"),
        ("fetch.allow_private", "[\"10.0.0.0/99\"]"),
        ("fetch.resolve", "[\"example.org\"]"),
        ("extract.nofollow", "\"maybe\""),
        ("store.links", "\"all\""),
        ("cache.strategy", "\"bloom\""),
        ("cache.layout", "\"table\""),
        ("cache.reset", "\"forget\""),
        ("cache.hash_seed", "\"xyz\""),
        ("cache.hash_seed", "\"00112233445566778\""),
        ("cache.audit_rescue", "\"maybe\""),
        ("cache.sweep", "\"on\""),
        ("frontier.order", "\"worst\""),
        ("frontier.priority", "[\"/docs/\"]"),
        ("schedule.also_at", "\"2026-03-01\""),
        ("schedule.pause", "\"maybe\""),
        ("revisit.adaptive", "\"maybe\""),
        ("revisit.policy", "\"best\""),
        ("revisit.budget", "\"0/day\""),
        ("revisit.sections", "[\"/news/=0s\"]"),
        ("change.text", "\"maybe\""),
        ("change.images", "\"on\""),
        ("log.level", "\"loud\""),
        ("log.format", "\"xml\""),
    ] {
        let faults = with(key, value).resolve().unwrap_err();
        assert!(faults.to_string().starts_with(&format!("f: {key}: ")), "{faults}");
    }
}

#[test]
fn a_fault_does_not_print_secrets() {
    for (key, value) in [("cache.hash_seed", "\"s3cr3t\""), ("fetch.headers", "[\"Cookie s3cr3t\"]")] {
        let faults = with(key, value).resolve().unwrap_err();
        assert!(!format!("{faults} {faults:?}").contains("s3cr3t"), "{faults}");
    }
    let layers = with("cache.hash_seed", "\"5ec4e7\"").file_text("g", "[fetch]\nheaders = [\"Cookie: 5ec4e7\"]");
    let resolved = layers.resolve().unwrap();
    assert!(!format!("{resolved:?} {:?}", resolved.describe()).contains("5ec4e7"));
    assert_eq!(resolved.settings.cache.hash_seed.map(HashSeed::value), Some(0x5e_c4e7));
}

#[test]
fn the_defaults_are_those_of_the_contract() {
    let settings = Settings::default();
    assert_eq!(settings.scope.kind, ScopeKind::Host);
    assert_eq!(settings.politeness.delay, Duration::from_secs(1));
    assert_eq!((settings.politeness.per_host.get(), settings.politeness.concurrency.get()), (1, 64));
    assert_eq!((settings.politeness.max_rate, settings.budget.max_pages), (None, None));
    assert_eq!(
        (settings.cache.strategy, settings.cache.reset),
        (urlcache::Strategy::Single, urlcache::ResetPolicy::Rebuild)
    );
    assert_eq!((settings.cache.expected_urls, settings.cache.hash_seed), (None, None));
    assert_eq!((settings.cache.audit_sample, settings.cache.audit_rescue), (65_536, AuditRescue::On));
    assert_eq!(settings.cache.sweep, SweepChoice::Rescue);
    assert_eq!(settings.frontier.order, OrderChoice::Breadth);
    assert_eq!(settings.extract.nofollow, NofollowChoice::Follow);
    assert_eq!(settings.fetch.max_body, 16 << 20);
}
