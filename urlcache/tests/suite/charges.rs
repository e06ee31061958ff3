//! The charges against the truth: new keys that were really called seen, counted over many fills.

use urlcache::{FilterCache, HashSeed, Plan, UrlCache, Verdict};

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
    let seen = (refilled..refilled + offered).filter(|&index| cache.insert(nth(world, index)) == Verdict::Seen);
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
