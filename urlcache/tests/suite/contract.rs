//! The contract of the port, as functions that every implementation is put through.
//!
//! A new cache joins by one line in [`subjects`]; what it may get wrong follows from its own `error_side`.

use std::collections::HashSet;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use urlcache::{
    Answer, BuildError, CacheConfig, ErrorSide, ExactCache, FilterCache, HashFamily, HashSeed, Hashing, Layout,
    LineShape, LossBudget, Occupancy, Plan, ResetPolicy, Shape, Strategy, UrlCache, UrlKey,
};

use crate::keys::nth;

/// A cache under test: how a fresh one is made, and what it calls itself.
struct Subject {
    make: fn() -> Box<dyn UrlCache>,
    strategy: &'static str,
    layout: &'static str,
}

/// A filter so small that it errs within a few hundred keys.
fn tiny_single() -> Box<dyn UrlCache> {
    Box::new(FilterCache::single(Plan::new(1_500, 3).unwrap(), 200, HashSeed::new(11)).unwrap())
}

fn large_single() -> Box<dyn UrlCache> {
    Box::new(FilterCache::single(Plan::for_losses(0..10_000, 1e-6).unwrap(), 10_000, HashSeed::new(12)).unwrap())
}

/// A cache as the configuration makes it, too small for what is offered here.
fn of(strategy: Strategy, layout: Layout) -> Box<dyn UrlCache> {
    let budget = LossBudget { max_lost_urls: Some(3.0), max_false_positive_rate: None };
    let config =
        CacheConfig { layout, budget, expected_urls: Some(250), ..CacheConfig::new(strategy, HashSeed::new(13)) };
    config.build(0, 0).unwrap()
}

/// A cache that was grown twice before anything was offered, so that its later parts are used.
fn grown(layout: Layout) -> Box<dyn UrlCache> {
    let budget = LossBudget { max_lost_urls: None, max_false_positive_rate: Some(0.01) };
    let (reset, expected_urls) = (ResetPolicy::Grow, Some(100));
    let single = CacheConfig::new(Strategy::Single, HashSeed::new(14));
    let mut cache = CacheConfig { layout, budget, reset, expected_urls, ..single }.build(0, 0).unwrap();
    assert!(cache.grow().unwrap() && cache.grow().unwrap());
    cache
}

fn subjects() -> [Subject; 26] {
    let subject = |strategy, layout, make| Subject { make, strategy, layout };
    [
        subject("exact", "table", || Box::new(ExactCache::new())),
        subject("exact", "table", || Box::new(ExactCache::with_capacity(500).unwrap())),
        subject("single", "classic", tiny_single),
        subject("single", "classic", large_single),
        subject("single", "line", || of(Strategy::Single, Layout::Line)),
        subject("single", "line", || line(LineShape::TwoBitsInOneLine)),
        subject("single", "line", || line(LineShape::OneBitInTwoLines)),
        subject("single", "line", || line(LineShape::TwoBitsInTwoLines)),
        subject("single", "fingerprint", || of(Strategy::Single, Layout::Fingerprint)),
        subject("spatial", "classic", || of(Strategy::Spatial, Layout::Classic)),
        subject("temporal", "line", || of(Strategy::Temporal, Layout::Line)),
        subject("spatio-temporal", "fingerprint", || of(Strategy::SpatioTemporal, Layout::Fingerprint)),
        subject("multilayer", "classic", || of(Strategy::Multilayer, Layout::Classic)),
        subject("multilayer-plain", "classic", || of(Strategy::MultilayerPlain, Layout::Auto)),
        subject("segment-set", "classic", || of(Strategy::SegmentSet, Layout::Auto)),
        subject("temporal", "classic", || hashed(Hashing::Functions)),
        subject("temporal", "classic", || hashed(Hashing::Salts(HashFamily::Lookup2))),
        subject("temporal", "classic", || hashed(Hashing::Salts(HashFamily::Murmur2))),
        subject("temporal", "classic", || hashed(Hashing::Salts(HashFamily::Md5))),
        subject("temporal", "classic", || hashed(Hashing::Salts(HashFamily::Sha1))),
        subject("single", "line", || grown(Layout::Line)),
        subject("single", "fingerprint", || grown(Layout::Fingerprint)),
        subject("exact", "table", || rotating(Strategy::Exact, Layout::Auto)),
        subject("single", "line", || rotating(Strategy::Single, Layout::Line)),
        subject("spatio-temporal", "fingerprint", || rotating(Strategy::SpatioTemporal, Layout::Fingerprint)),
        subject("multilayer", "classic", || rotating(Strategy::Multilayer, Layout::Classic)),
    ]
}

/// A cache that holds what is offered in some of these tests, and forgets some of it in others.
fn rotating(strategy: Strategy, layout: Layout) -> Box<dyn UrlCache> {
    let budget = LossBudget { max_lost_urls: Some(3.0), max_false_positive_rate: None };
    let (reset, expected_urls) = (ResetPolicy::Rotate, Some(600));
    let config = CacheConfig { layout, budget, reset, expected_urls, ..CacheConfig::new(strategy, HashSeed::new(17)) };
    config.build(0, 0).unwrap()
}

/// A cache whose positions are drawn from the keys' bytes.
fn hashed(hashing: Hashing) -> Box<dyn UrlCache> {
    let budget = LossBudget { max_lost_urls: Some(3.0), max_false_positive_rate: None };
    let config = CacheConfig { hashing, budget, ..CacheConfig::new(Strategy::Temporal, HashSeed::new(16)) };
    CacheConfig { expected_urls: Some(250), ..config }.build(0, 0).unwrap()
}

/// Forty lines.
fn line(shape: LineShape) -> Box<dyn UrlCache> {
    let plan = Plan::with_shape(Shape::Line(shape), 40 * 512).unwrap();
    Box::new(FilterCache::single(plan, 500, HashSeed::new(15)).unwrap())
}

/// Runs the property on a fresh cache of every kind and random batches of keys, many of which repeat.
fn for_all_batches(property: impl Fn(&Subject, &[Vec<u64>]) -> Result<(), TestCaseError>) {
    let batches = prop::collection::vec(prop::collection::vec(0_u64..400, 0..60), 0..12);
    for subject in subjects() {
        let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) };
        TestRunner::new(config).run(&batches, |batches| property(&subject, &batches)).unwrap();
    }
}

fn may_lose(cache: &dyn UrlCache) -> bool {
    matches!(cache.error_side(), ErrorSide::MayMistakeNewForSeen | ErrorSide::Both)
}

fn may_forget(cache: &dyn UrlCache) -> bool {
    matches!(cache.error_side(), ErrorSide::MayForget | ErrorSide::Both)
}

fn offer(cache: &mut dyn UrlCache, indices: &[u64]) -> Vec<Answer> {
    let keys: Vec<_> = indices.iter().map(|&index| nth(1, index)).collect();
    let mut answers = vec![Answer::New; 3]; // left over from an earlier batch
    cache.insert_batch(&keys, &mut answers);
    answers
}

#[test]
fn answers_as_a_hash_set_but_for_false_positives() {
    for_all_batches(|subject, batches| {
        let (mut cache, mut oracle) = ((subject.make)(), HashSet::new());
        let mut mistakes = 0_u64;
        for batch in batches {
            let answers = offer(&mut *cache, batch);
            prop_assert_eq!(answers.len(), batch.len());
            for (index, answer) in batch.iter().zip(answers) {
                let new = oracle.insert(index);
                prop_assert!(new || answer == Answer::Seen || may_forget(&*cache), "{} was forgotten", index);
                mistakes += u64::from(new && answer == Answer::Seen);
            }
        }
        prop_assert!(mistakes == 0 || may_lose(&*cache));
        if !may_forget(&*cache) {
            prop_assert_eq!(cache.occupancy().items, oracle.len() as u64 - mistakes);
        }
        Ok(())
    });
}

#[test]
fn a_batch_answers_as_its_keys_one_by_one() {
    for_all_batches(|subject, batches| {
        let (mut batched, mut single) = ((subject.make)(), (subject.make)());
        for batch in batches {
            let one_by_one: Vec<_> = batch.iter().map(|&index| single.insert(nth(1, index))).collect();
            prop_assert_eq!(offer(&mut *batched, batch), one_by_one);
        }
        prop_assert_eq!(batched.occupancy(), single.occupancy());
        Ok(())
    });
}

#[test]
fn a_forecast_is_what_a_batch_comes_to_and_changes_nothing() {
    for_all_batches(|subject, batches| {
        let mut cache = (subject.make)();
        for batch in batches {
            let keys: Vec<_> = batch.iter().map(|&index| nth(1, index)).collect();
            let (before, forecast) = (cache.occupancy(), cache.unknown_among(&keys));
            prop_assert_eq!(cache.occupancy(), before);
            let new = offer(&mut *cache, batch).iter().filter(|answer| **answer == Answer::New).count();
            let distinct: HashSet<_> = batch.iter().collect();
            let twice = batch.len() - distinct.len();
            prop_assert!(forecast >= new || may_forget(&*cache), "{} foretold, {} came", forecast, new);
            prop_assert!(may_lose(&*cache) || forecast <= new + twice);
        }
        Ok(())
    });
}

#[test]
fn what_was_inserted_is_never_new_again() {
    for subject in subjects() {
        let mut cache = (subject.make)();
        if may_forget(&*cache) {
            continue;
        }
        for index in 0..5_000 {
            cache.insert(nth(1, index));
        }
        let again = (0..5_000).map(|index| cache.insert(nth(1, index)));
        assert_eq!(again.filter(|answer| *answer == Answer::New).count(), 0, "{}", subject.strategy);
    }
}

/// The figures of two moments, the later one after an answer *new* or *seen*. An answer *new* is free where segments are
/// looked at and one of them was new.
fn assert_step(before: &Occupancy, after: &Occupancy, answer: Answer, may_be_free: bool) {
    if answer == Answer::Seen {
        assert_eq!(before, after);
        return;
    }
    assert_eq!(after.items, before.items + 1);
    assert!(after.expected_rate >= before.expected_rate && after.expected_rate <= 1.0);
    let charge = before.expected_rate / (1.0 - before.expected_rate);
    let charged = after.expected_lost - before.expected_lost;
    let is_charged = (charged - charge).abs() <= 1e-9 * after.expected_lost;
    assert!(is_charged || (charged <= 0.0 && may_be_free), "{charged} charged instead of {charge}");
}

#[test]
fn occupancy_counts_keys_and_charges_answers_that_are_new() {
    for subject in subjects() {
        let mut cache = (subject.make)();
        for index in 0..1_000_u64 {
            let before = cache.occupancy();
            let answer = cache.insert(nth(1, index % 700));
            if may_forget(&*cache) {
                assert!(cache.occupancy().items <= cache.occupancy().capacity);
                continue;
            }
            assert_step(&before, &cache.occupancy(), answer, cache.strategy() == "multilayer");
        }
        let full = cache.occupancy();
        assert!(full.bits > 0 && full.fill > 0.0 && full.fill <= 1.0 && full.capacity > 0);
        assert_eq!(full.expected_lost > 0.0, may_lose(&*cache));
    }
}

#[test]
fn a_refill_is_held_counted_and_not_charged() {
    for subject in subjects() {
        let mut cache = (subject.make)();
        (0..300).for_each(|index| cache.refill(nth(1, index)));
        let refilled = cache.occupancy();
        assert_eq!((refilled.items, refilled.expected_lost.to_bits()), (300, 0.0_f64.to_bits()));
        let answers = offer(&mut *cache, &(0..300).collect::<Vec<_>>());
        assert!(answers.iter().all(|answer| *answer == Answer::Seen));
        assert_eq!(cache.occupancy(), refilled);
    }
}

#[test]
fn a_refill_leaves_the_cache_as_inserting_would() {
    let (mut inserted, mut refilled) = (large_single(), large_single());
    for index in 0..5_000 {
        assert_eq!(inserted.insert(nth(1, index)), Answer::New);
        refilled.refill(nth(1, index));
    }
    let uncharged = Occupancy { expected_lost: 0.0, ..inserted.occupancy() };
    assert_eq!(refilled.occupancy(), uncharged);
}

#[test]
fn a_sequence_begins_empty() {
    for subject in subjects() {
        let (mut cache, mut fresh) = ((subject.make)(), (subject.make)());
        offer(&mut *cache, &(0..500).collect::<Vec<_>>());
        cache.begin_sequence(1);
        let empty = cache.occupancy();
        assert_eq!((empty.items, empty.expected_lost.to_bits()), (0, 0.0_f64.to_bits()));
        fresh.begin_sequence(1);
        // A hash set keeps its memory.
        assert!(subject.strategy == "exact" || empty == fresh.occupancy(), "{}", subject.strategy);
        let all: Vec<_> = (0..500).collect();
        assert_eq!(offer(&mut *cache, &all), offer(&mut *fresh, &all), "{}", subject.strategy);
    }
}

#[test]
fn a_sequence_after_growth_begins_with_the_first_room() {
    for layout in [Layout::Line, Layout::Fingerprint] {
        let mut cache = grown(layout);
        let large = cache.occupancy();
        offer(&mut *cache, &(0..1_000).collect::<Vec<_>>());
        cache.begin_sequence(1);
        let small = cache.occupancy();
        assert!(small.capacity == 100 && small.bits < large.bits, "{small:?}");
        assert!(cache.grow().unwrap() && cache.occupancy().capacity > 100);
        assert!(offer(&mut *cache, &(0..150).collect::<Vec<_>>()).iter().all(|answer| *answer == Answer::New));
    }
}

#[test]
fn only_what_is_made_to_grow_grows() {
    for layout in [Layout::Classic, Layout::Line, Layout::Fingerprint] {
        let mut cache = of(Strategy::Single, layout);
        assert_eq!((cache.growing_bits(), cache.grow()), (None, Ok(false)));
        let mut growing = grown(layout);
        let (before, promised) = (growing.occupancy().bits, growing.growing_bits());
        assert!(growing.grow().unwrap());
        // A table may be moved, and is there twice then.
        let moved = if layout == Layout::Fingerprint { before } else { 0 };
        assert_eq!(promised, Some(growing.occupancy().bits + moved), "{layout}");
    }
    let multilayer =
        CacheConfig { reset: ResetPolicy::Grow, ..CacheConfig::new(Strategy::Multilayer, HashSeed::new(1)) };
    assert_eq!(multilayer.build(0, 0).err(), Some(BuildError::Growth { strategy: Strategy::Multilayer }));
}

#[test]
fn says_what_it_is_and_errs_as_it_says() {
    for subject in subjects() {
        let cache = (subject.make)();
        assert_eq!((cache.strategy(), cache.layout()), (subject.strategy, subject.layout));
        assert_eq!(may_lose(&*cache), subject.strategy != "exact");
        assert_eq!(may_forget(&*cache), cache.rotations() == 0 && (subject.make)().rotate());
    }
    let mut tiny = tiny_single();
    let new = (0..2_000).filter(|&index| tiny.insert(nth(1, index)) == Answer::New).count();
    assert!(new < 1_900, "a filter this small must err");
}

#[test]
fn the_empty_and_the_extreme_fingerprint_are_keys_like_others() {
    for subject in subjects() {
        let mut cache = (subject.make)();
        for (bytes, hash) in [(&b""[..], 0), (b"x/", 1), (b"\xff", u128::MAX), (b"http://h?/", 1 << 127)] {
            let key = UrlKey { bytes, hash };
            assert_eq!((cache.insert(key), cache.insert(key)), (Answer::New, Answer::Seen));
        }
    }
}
