//! Caches that forget: what they remember, what they lose, and that they never grow.

use std::collections::HashSet;

use urlcache::{Answer, CacheConfig, ErrorSide, HashSeed, Layout, LossBudget, ResetPolicy, Strategy};

use crate::keys::nth;

/// Every strategy that keeps a budget, in every layout.
fn choices() -> impl Iterator<Item = (Strategy, Layout)> {
    let strategies = Strategy::ALL.into_iter().filter(|strategy| strategy.keeps_a_budget());
    strategies.flat_map(|strategy| Layout::ALL.map(|layout| (strategy, layout)))
}

fn config(strategy: Strategy, layout: Layout, expected_urls: Option<u64>, max_lost_urls: f64) -> CacheConfig {
    let budget = LossBudget { max_lost_urls: Some(max_lost_urls), max_false_positive_rate: None };
    let reset = ResetPolicy::Rotate;
    CacheConfig { layout, budget, reset, expected_urls, ..CacheConfig::new(strategy, HashSeed::new(21)) }
}

#[test]
fn the_last_half_of_the_capacity_is_remembered_and_memory_is_fixed() {
    for (strategy, layout) in choices() {
        let mut cache = config(strategy, layout, Some(200), 0.1).build(0, 0).unwrap();
        let empty = cache.occupancy();
        assert!(cache.error_side() == ErrorSide::Both || strategy == Strategy::Exact);
        for index in 0..4_000_u64 {
            cache.insert(nth(2, index));
            // It was inserted at most 99 insertions ago: this question is one only where the older half must answer.
            assert_eq!(cache.insert(nth(2, index.saturating_sub(40))), Answer::Seen, "{strategy} {layout}: {index}");
            let now = cache.occupancy();
            assert!(now.items <= 200 && (now.capacity, now.bits) == (200, empty.bits), "{strategy} {layout}: {now:?}");
        }
        assert!((39..80).contains(&cache.rotations()), "{strategy} {layout}: {}", cache.rotations());
        let forgotten = (0..1_000).filter(|index| cache.insert(nth(2, *index)) == Answer::New).count();
        assert!(forgotten > 990, "{strategy} {layout}: {forgotten}");
    }
}

#[test]
fn what_is_still_asked_for_is_not_forgotten() {
    for (strategy, layout) in choices() {
        let mut cache = config(strategy, layout, Some(100), 0.1).build(0, 0).unwrap();
        cache.insert(nth(3, 0));
        for index in 1..2_000 {
            cache.insert(nth(3, index));
            assert!(index % 45 > 0 || cache.insert(nth(3, 0)) == Answer::Seen, "{strategy} {layout}: {index}");
        }
    }
}

/// Twenty times as many URLs as expected, every fifth offered once more when it is long forgotten. Somebody who remembers them
/// all takes the charges for these back; what is left of the charges is what was lost, and at most the budget for each
/// time the expected number.
#[test]
fn the_rate_holds_however_many_come_and_the_charges_are_the_losses() {
    let expected = 400_u64;
    let times = 20;
    let budget = 4.0;
    let worlds = 20;
    for layout in [Layout::Classic, Layout::Line] {
        for strategy in [Strategy::Single, Strategy::Spatial, Strategy::Multilayer] {
            let (mut lost, mut charged) = (0_u64, 0.0);
            for world in 0..worlds {
                let config =
                    CacheConfig { hash_seed: HashSeed::new(world), ..config(strategy, layout, Some(expected), budget) };
                let mut cache = config.build(0, 0).unwrap();
                let mut table = HashSet::new();
                for index in 0..expected * times {
                    let old = (index % 5 == 0).then(|| index.saturating_sub(4 * expected));
                    for number in [Some(index), old].into_iter().flatten() {
                        let (known, answer) = (!table.insert(number), cache.insert(nth(world, number)));
                        lost += u64::from(!known && answer == Answer::Seen);
                        cache.forgot(u64::from(known && answer == Answer::New));
                    }
                    assert!(cache.occupancy().expected_rate <= 1.3 * budget / (budget + expected as f64));
                }
                charged += cache.occupancy().expected_lost;
            }
            let difference = (lost as f64 - charged) / charged.sqrt();
            assert!(difference.abs() < 4.0, "{strategy} {layout}: {lost} lost, {charged} charged");
            let most = budget * times as f64 * worlds as f64;
            // Most of these URLs have a segment of their own, which the multi-layer filter knows for new.
            let least = if strategy == Strategy::Multilayer { 0.02 } else { 0.1 };
            assert!(charged < most && charged > least * most, "{strategy} {layout}: {charged} of {most}");
        }
    }
}

#[test]
fn under_a_ceiling_it_forgets_more_and_loses_no_more() {
    for (strategy, layout) in choices() {
        let free = config(strategy, layout, Some(20_000), 0.5).design(0, 0).unwrap();
        let limit = free.bits / 8 / 3;
        let tight = CacheConfig { max_memory: Some(limit), ..config(strategy, layout, Some(20_000), 0.5) };
        let few = tight.design(0, 0).unwrap();
        assert!(few.bits / 8 <= limit && few.rate <= free.rate * 1.05, "{strategy} {layout}: {few:?}, {free:?}");
        assert!(few.capacity < 10_000 && few.capacity > 2_500 && !few.at_ceiling, "{strategy} {layout}: {few:?}");
        assert_eq!(tight.build(0, 0).unwrap().occupancy().bits, few.bits, "{strategy} {layout}");
        // Nobody knows how many will come: it takes what it may have.
        let all = CacheConfig { expected_urls: None, ..tight.clone() }.design(0, 0).unwrap();
        assert!(
            all.bits / 8 <= limit && all.bits / 8 > limit * 8 / 10 || strategy == Strategy::Exact,
            "{strategy} {layout}: {all:?}"
        );
        assert!(all.expected_lost <= 0.5, "{strategy} {layout}: {all:?}");
        let nothing = CacheConfig { max_memory: Some(5), ..tight };
        assert!(nothing.build(0, 0).is_err(), "{strategy} {layout}");
    }
}
