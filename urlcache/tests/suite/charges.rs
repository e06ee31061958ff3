//! The charges against the truth: new keys that were really called seen, counted over many fills.

use urlcache::{
    Answer, CacheConfig, FilterCache, HashSeed, LossBudget, LossFigure, Plan, ResetPolicy, Strategy, UrlCache, UrlKey,
};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::keys::nth;

/// Expected losses of one fill beside the counted ones.
struct Fill {
    expected: f64,
    lost: f64,
}

/// Offers `offered` different keys, after `refilled` others, to a filter of this plan.
fn fill(plan: Plan, world: u64, refilled: u64, offered: u64) -> Fill {
    let mut cache = FilterCache::single(plan, offered, HashSeed::new(world).derive(0, 0)).unwrap();
    (0..refilled).for_each(|index| cache.refill(nth(world, index)));
    let seen = (refilled..refilled + offered).filter(|&index| cache.insert(nth(world, index)) == Answer::Seen);
    let lost = seen.count() as f64;
    Fill { expected: cache.occupancy().expected_lost, lost }
}

/// Sums over worlds; the difference of count and charge is a martingale whose variance is
/// the sum of `p/(1-p)^2`, which is near the charge itself for the rates used here.
fn assert_charges(plan: Plan, worlds: u64, refilled: u64, offered: u64) {
    let fills: Vec<Fill> = (0..worlds).map(|world| fill(plan, world, refilled, offered)).collect();
    let (expected, lost): (f64, f64) =
        (fills.iter().map(|fill| fill.expected).sum(), fills.iter().map(|fill| fill.lost).sum());
    let deviation = (lost - expected) / expected.sqrt();
    assert!(expected > 50.0, "{plan:?}: only {expected} expected, the test says nothing");
    assert!(deviation.abs() < 3.0, "{plan:?}: {lost} lost, {expected:.1} expected, {deviation:.2} standard errors");
}

#[test]
fn charges_equal_counted_losses() {
    for (keys, losses, worlds) in [(300, 0.5, 500), (3_000, 0.5, 300), (3_000, 20.0, 60), (30_000, 2.0, 60)] {
        let plan = Plan::for_losses(0..keys, losses).unwrap();
        assert_charges(plan, worlds, 0, keys);
    }
}

#[test]
fn charges_equal_counted_losses_after_a_refill_and_when_overfilled() {
    let plan = Plan::for_losses(2_000..4_000, 0.3).unwrap();
    assert_charges(plan, 300, 2_000, 2_000);
    assert_charges(Plan::for_losses(0..2_000, 0.3).unwrap(), 20, 0, 5_000);
}

#[test]
fn the_plan_foretells_the_charges() {
    for (refilled, offered, losses) in [(0, 3_000, 0.5), (2_000, 2_000, 0.05), (0, 20_000, 4.0)] {
        let plan = Plan::for_losses(refilled..refilled + offered, losses).unwrap();
        let charges = (0..60).map(|world| fill(plan, world, refilled, offered).expected);
        let mean = charges.sum::<f64>() / 60.0;
        assert!((mean / losses - 1.0).abs() < 0.05, "{plan:?}: {mean} charged, {losses} planned");
    }
}

/// A full cache of this strategy that was offered a site, and the URLs that it lost: some have a folder of their own, some a
/// name of their own, and most are new combinations of known segments.
fn site(strategy: Strategy, rate: f64, world: u64) -> (Box<dyn UrlCache>, f64) {
    let budget = LossBudget::rate(rate);
    let config = CacheConfig { budget, layers: 4, ..CacheConfig::new(strategy, HashSeed::new(world)) };
    let config = CacheConfig { expected_urls: Some(4_000), reset: ResetPolicy::None, ..config };
    let mut cache: Box<dyn UrlCache> = config.build(0, 0).unwrap();
    let mut lost = 0.0;
    for index in 0..4_000_u64 {
        let url = match index % 8 {
            0 => format!("http://h/new{index}/index.html"),
            1 => format!("http://h/f{}/own{index}.html", index % 40),
            _ => format!("http://h/f{}/p{}.html", index % 61, index / 61),
        };
        let hash = xxh3_128_with_seed(url.as_bytes(), world);
        lost += f64::from(u8::from(cache.insert(UrlKey { bytes: url.as_bytes(), hash }) == Answer::Seen));
    }
    (cache, lost)
}

#[test]
fn the_multi_layer_filter_charges_what_it_loses() {
    let sites: Vec<_> = (0..60).map(|world| site(Strategy::Multilayer, 0.03, world)).collect();
    let expected: f64 = sites.iter().map(|(cache, _)| cache.occupancy().expected_lost).sum();
    let lost: f64 = sites.iter().map(|(_, lost)| lost).sum();
    let deviation = (lost - expected) / expected.sqrt();
    assert!(expected > 500.0 && deviation.abs() < 3.5, "{lost} lost, {expected} charged");
    // A bound would be the charges of one filter of the same rate.
    let single: f64 = (0..60).map(|world| site(Strategy::Single, 0.03, world).0.occupancy().expected_lost).sum();
    assert!(expected < 0.9 * single, "{expected} charged, {single} of one filter");
}

#[test]
fn what_is_no_figure_says_so() {
    for strategy in [Strategy::MultilayerPlain, Strategy::SegmentSet] {
        let (cache, lost) = site(strategy, 0.001, 1);
        assert_eq!(cache.occupancy().figure, LossFigure::Unknown, "{strategy}");
        assert!(lost > 3.0 * cache.occupancy().expected_lost, "{strategy} keeps account after all");
        assert!(!strategy.keeps_a_budget());
    }
    let mut cache = FilterCache::single(Plan::for_losses(0..300, 0.5).unwrap(), 300, HashSeed::new(1)).unwrap();
    let mut lost = 0.0;
    for index in 0..30_000 {
        if cache.occupancy().expected_rate < 0.9 {
            assert_eq!(cache.occupancy().figure, LossFigure::Expected);
        }
        lost += f64::from(u8::from(cache.insert(nth(9, index)) == Answer::Seen));
    }
    let full = cache.occupancy();
    assert!(full.figure == LossFigure::AtLeast && lost > full.expected_lost, "{lost} lost, {full:?}");
}
