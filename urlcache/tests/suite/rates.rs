//! The rate a cache states, and the one its plan foretells, against keys that are really mistaken.

use urlcache::{
    Answer, CacheConfig, FilterCache, HashFamily, HashSeed, Hashing, Layout, LineShape, LossBudget, Plan, ResetPolicy,
    Shape, Strategy, UrlCache, restore,
};

use crate::keys::nth;

/// New keys called seen of `offered` offered, and how many the stated rates foretold, summed over caches that are thrown
/// away before the offers fill them up.
struct Measured {
    found: f64,
    stated: f64,
    offered: f64,
}

/// Fills caches with `keys` keys, then offers each a hundredth as many new ones.
fn measure(make: impl Fn(HashSeed) -> Box<dyn UrlCache>, keys: u64, worlds: u64) -> Measured {
    let mut sum = Measured { found: 0.0, stated: 0.0, offered: 0.0 };
    for world in 0..worlds {
        let mut cache = make(HashSeed::new(world).derive(7, 7));
        (0..keys).for_each(|index| cache.refill(nth(world, index)));
        for index in keys..keys + (keys / 100).max(20) {
            sum.stated += cache.occupancy().expected_rate;
            sum.found += f64::from(u8::from(cache.insert(nth(world, index)) == Answer::Seen));
            sum.offered += 1.0;
        }
    }
    sum
}

fn assert_close(found: f64, expected: f64, errors: f64, what: &str) {
    let deviation = (found - expected) / expected.sqrt();
    println!("{what}: {found} found, {expected:.1} expected, {deviation:.2} standard errors");
    assert!(expected > 40.0, "{what}: only {expected} expected, the test says nothing");
    assert!(deviation.abs() < errors, "{what}: {found} found, {expected:.1} expected, {deviation:.2} standard errors");
}

const SHAPES: [Shape; 6] = [
    Shape::Classic { probes: 4 },
    Shape::Classic { probes: 9 },
    Shape::Line(LineShape::OneBitInOneLine),
    Shape::Line(LineShape::TwoBitsInOneLine),
    Shape::Line(LineShape::OneBitInTwoLines),
    Shape::Line(LineShape::TwoBitsInTwoLines),
];

#[test]
fn the_rate_is_the_one_stated_and_the_one_planned() {
    for shape in SHAPES {
        for (keys, bits_a_key, worlds) in [(3_000, 7, 60), (40_000, 9, 12)] {
            let plan = Plan::with_shape(shape, keys * bits_a_key).unwrap();
            let make = |seed| -> Box<dyn UrlCache> { Box::new(FilterCache::single(plan, keys, seed).unwrap()) };
            let measured = measure(make, keys, worlds);
            let what = format!("{shape:?}, {keys} keys of {bits_a_key} bits");
            assert_close(measured.found, measured.stated, 3.5, &what);
            let planned = plan.rate_at(keys + keys / 200) * measured.offered;
            assert_close(measured.found, planned, 4.5, &format!("{what}, planned"));
        }
    }
}

#[test]
fn several_filters_together_err_as_their_product() {
    for (shape, filters, bits) in [(Shape::Classic { probes: 2 }, 3, 2_u64), (SHAPES[2], 2, 4)] {
        let keys = 4_000;
        let rate = Plan::with_shape(shape, keys * bits).unwrap().rate_at(keys).powi(filters);
        let budget = LossBudget { max_lost_urls: None, max_false_positive_rate: Some(rate) };
        let layout = if shape == SHAPES[2] { Layout::Line } else { Layout::Classic };
        let plan = Plan::spatial(layout, filters.unsigned_abs(), 0..keys, &budget).unwrap();
        let make = |seed| -> Box<dyn UrlCache> { Box::new(FilterCache::single(plan, keys, seed).unwrap()) };
        let measured = measure(make, keys, 100);
        assert_close(measured.found, measured.stated, 3.5, &format!("{filters} filters of {shape:?}"));
        assert_close(measured.found, rate * measured.offered, 5.0, &format!("{filters} filters, planned"));
    }
}

/// Tags of 32 bits are too good for counting: after doublings that leave few bits of them they are not. However many keys
/// the first table was for, none of the rounds that it falls into is full before the whole is.
#[test]
fn tags_err_as_stated_after_many_doublings() {
    let (mut stated, mut found) = (0.0, 0.0);
    for (world, first) in [100, 3_481].into_iter().enumerate() {
        let budget = LossBudget { max_lost_urls: None, max_false_positive_rate: Some(1e-4) };
        let single = CacheConfig::new(Strategy::Single, HashSeed::new(world as u64));
        let layout = Layout::Fingerprint;
        let reset = ResetPolicy::Grow;
        let expected_urls = Some(first);
        let mut cache = CacheConfig { layout, reset, budget, expected_urls, ..single }.build(0, 0).unwrap();
        (0..first).for_each(|index| cache.refill(nth(world as u64, index)));
        while cache.occupancy().capacity < 4_000_000 {
            assert!(cache.grow().unwrap());
        }
        for index in first..cache.occupancy().capacity {
            stated += cache.occupancy().expected_rate;
            found += f64::from(u8::from(cache.insert(nth(world as u64, index)) == Answer::Seen));
        }
        assert!((0..first).all(|index| cache.insert(nth(world as u64, index)) == Answer::Seen));
        let grown = cache.snapshot();
        assert!(restore(&grown).is_ok_and(|again| again.occupancy() == cache.occupancy()));
    }
    assert_close(found, stated, 3.5, "tables grown to four million keys");
}

/// A table that is full to its last slot finds everything, says so, and has forgotten nothing.
#[test]
fn a_full_table_of_tags_says_that_it_is() {
    let plan = Plan::with_shape(Shape::Fingerprints, 40 * 512).unwrap();
    let mut cache = FilterCache::single(plan, 500, HashSeed::new(1)).unwrap();
    let new = (0..2_000).filter(|&index| cache.insert(nth(1, index)) == Answer::New).count();
    assert_eq!((new, cache.occupancy().expected_rate.to_bits()), (640, 1.0_f64.to_bits()));
    assert!((0..2_000).all(|index| cache.insert(nth(1, index)) == Answer::Seen));
}

#[test]
fn slices_stay_below_the_target_rate_and_err_as_stated() {
    let budget = LossBudget { max_lost_urls: None, max_false_positive_rate: Some(0.02) };
    for (layout, strategy) in [(Layout::Classic, Strategy::Single), (Layout::Line, Strategy::Spatial)] {
        let mut stated = 0.0;
        let mut found = 0.0;
        let mut slices = 1;
        for world in 0..6 {
            let single = CacheConfig::new(strategy, HashSeed::new(world));
            let config = CacheConfig { layout, budget, reset: ResetPolicy::Grow, expected_urls: Some(200), ..single };
            let mut cache = config.build(0, 0).unwrap();
            for index in 0..20_000 {
                if cache.occupancy().items == cache.occupancy().capacity {
                    assert!(cache.grow().unwrap());
                    slices += u32::from(world == 0);
                }
                let rate = cache.occupancy().expected_rate;
                assert!(rate < 0.022, "{rate}");
                stated += rate;
                found += f64::from(u8::from(cache.insert(nth(world, index)) == Answer::Seen));
            }
        }
        assert_eq!(slices, 5);
        assert_close(found, stated, 3.5, &format!("{strategy} slices of {layout}"));
    }
}

/// Of 300 new keys offered to a full cache of one sequence: whether each is lost, and the rate at its moment.
fn lost_in(strategy: Strategy, layout: Layout, hashing: Hashing, (world, sequence): (u64, u32)) -> Vec<(bool, f64)> {
    let (keys, count) = (3_000, 300);
    let budget = LossBudget { max_lost_urls: None, max_false_positive_rate: Some(0.1) };
    let config = CacheConfig { layout, hashing, budget, sequence, ..CacheConfig::new(strategy, HashSeed::new(world)) };
    let mut cache = CacheConfig { expected_urls: Some(keys), reset: ResetPolicy::None, ..config }.build(0, 0).unwrap();
    (0..keys).for_each(|index| cache.refill(nth(world, index)));
    let mut offer = |index| {
        let rate = cache.occupancy().expected_rate;
        (cache.insert(nth(world, index)) == Answer::Seen, rate)
    };
    (keys..keys + count).map(&mut offer).collect()
}

/// By salts, by other functions, and in several filters.
#[test]
fn a_key_lost_in_two_sequences_is_lost_by_two_accidents() {
    for (strategy, layout, hashing) in [
        (Strategy::Temporal, Layout::Classic, Hashing::Fingerprint),
        (Strategy::Temporal, Layout::Line, Hashing::Fingerprint),
        (Strategy::Temporal, Layout::Classic, Hashing::Functions),
        (Strategy::Temporal, Layout::Classic, Hashing::Salts(HashFamily::Murmur2)),
        (Strategy::SpatioTemporal, Layout::Line, Hashing::Fingerprint),
    ] {
        let (mut both, mut expected) = (0.0, 0.0);
        for world in 0..40 {
            let visit = |sequence| lost_in(strategy, layout, hashing, (world, sequence));
            for ((first, p), (second, q)) in visit(0).into_iter().zip(visit(1)) {
                both += f64::from(u8::from(first && second));
                expected += p * q;
            }
        }
        assert_close(both, expected, 3.5, &format!("lost twice, {strategy} {layout} {hashing}"));
    }
    // Without rotation the same accident comes again.
    let visit = |sequence| lost_in(Strategy::Single, Layout::Classic, Hashing::Fingerprint, (1, sequence));
    assert!(visit(0) == visit(1) && visit(0).iter().any(|(lost, _)| *lost));
}

/// What a cache promises of the rate before a batch holds after it.
#[test]
fn no_rate_rises_more_steeply_than_is_said() {
    for shape in SHAPES.into_iter().chain([Shape::Fingerprints]) {
        let plan = Plan::with_shape(shape, 4_000 * 512).unwrap();
        let mut cache = FilterCache::single(plan, 1_000_000, HashSeed::new(5)).unwrap();
        let mut states = Vec::new();
        for index in 0..300_000 {
            cache.insert(nth(3, index));
            if index % 1_000 == 999 && index > 3_000 {
                states.push(cache.occupancy());
            }
            if cache.occupancy().fill > cache.occupancy().fill_limit {
                break;
            }
        }
        for (number, now) in states.iter().enumerate() {
            for then in states[number..].iter().take_while(|then| then.items <= 2 * now.items) {
                let growth = (then.items as f64 / now.items as f64).powf(now.steepness);
                assert!(then.expected_rate <= 1.05 * now.expected_rate * growth, "{shape:?}: {now:?}, {then:?}");
            }
        }
        assert!(states.len() > 5, "{shape:?}");
    }
}
