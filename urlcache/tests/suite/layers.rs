//! The trap of the multi-layer filter, measured: URLs made of known segments.
//!
//! At equal memory: one filter of whole URLs, the multi-layer filter as published, the same corrected, and the published
//! baseline. Absent URLs of four kinds are offered to each; the share that is called seen is its error.

use urlcache::{Answer, CacheConfig, HashSeed, Layout, LossBudget, ResetPolicy, Strategy, UrlCache, UrlKey};
use xxhash_rust::xxh3::xxh3_128_with_seed;

const URLS: u64 = 20_000;

/// A site in which every folder has every third page, so that most combinations of known segments are absent.
fn known(index: u64) -> String {
    let (folder, page) = (index % 200, index / 200);
    format!("http://h{}/f{folder}/p{}", folder % 4, page * 3 + folder % 3)
}

fn offer(cache: &mut dyn UrlCache, url: &str) -> Answer {
    cache.insert(UrlKey { bytes: url.as_bytes(), hash: xxh3_128_with_seed(url.as_bytes(), 5) })
}

/// A full cache of this strategy.
fn full(strategy: Strategy) -> Box<dyn UrlCache> {
    let budget = LossBudget { max_lost_urls: None, max_false_positive_rate: Some(1e-4) };
    let config = CacheConfig { budget, layers: 4, ..CacheConfig::new(strategy, HashSeed::new(77)) };
    let config = CacheConfig { expected_urls: Some(URLS), reset: ResetPolicy::None, layout: Layout::Auto, ..config };
    let mut cache: Box<dyn UrlCache> = config.build(0, 0).unwrap();
    for index in 0..URLS {
        let url = known(index);
        cache.refill(UrlKey { bytes: url.as_bytes(), hash: xxh3_128_with_seed(url.as_bytes(), 5) });
    }
    cache
}

/// The share of these absent URLs that a full cache calls seen: a few are offered to each of several caches, so that they
/// do not fill it.
fn error(strategy: Strategy, absent: impl Fn(u64) -> String) -> f64 {
    let mut cache = full(strategy);
    let seen = (0..400).filter(|&index| offer(&mut *cache, &absent(index)) == Answer::Seen).count();
    seen as f64 / 400.0
}

/// Known host, known folder, known name of a page, and yet no such page.
fn recombined(index: u64) -> String {
    let folder = index % 200;
    format!("http://h{}/f{folder}/p{}", folder % 4, (index / 200) * 3 + (folder + 1) % 3)
}

#[test]
fn only_the_combined_layer_rejects_known_segments() {
    let of = |strategy| error(strategy, recombined);
    let (single, corrected) = (of(Strategy::Single), of(Strategy::Multilayer));
    let (plain, baseline) = (of(Strategy::MultilayerPlain), of(Strategy::SegmentSet));
    println!("recombined: single {single}, corrected {corrected}, plain {plain}, baseline {baseline}");
    assert!(single <= 0.01 && corrected <= 0.01, "{single} {corrected}");
    assert!(plain > 0.02, "the published form has no trap: {plain}");
    assert!(baseline > 0.99, "{baseline}");
}

#[test]
fn order_and_repetition_are_distinguished() {
    let swapped = |index: u64| {
        let (folder, page) = (index % 200, index / 200);
        format!("http://h{}/p{}/f{folder}", folder % 4, page * 3 + folder % 3)
    };
    let (single, corrected) = (error(Strategy::Single, swapped), error(Strategy::Multilayer, swapped));
    assert!(single <= 0.01 && corrected <= 0.01, "{single} {corrected}");
    assert!(error(Strategy::SegmentSet, swapped) > 0.99);
    for (strategy, second) in [(Strategy::Multilayer, Answer::New), (Strategy::SegmentSet, Answer::Seen)] {
        let mut cache = full(strategy);
        assert_eq!(offer(&mut *cache, "http://h/x/x"), Answer::New);
        assert_eq!(offer(&mut *cache, "http://h/x/x/x"), second, "{strategy}");
    }
}

#[test]
fn strangers_are_new_to_all() {
    let stranger = |index: u64| format!("http://elsewhere{index}/a{index}/b{index}");
    for strategy in [Strategy::Single, Strategy::Multilayer, Strategy::MultilayerPlain, Strategy::SegmentSet] {
        assert!(error(strategy, stranger) <= 0.02, "{strategy}");
    }
}

/// However many layers there are: URLs of known segments are mistaken at the rate of the combined layer, which is stated.
#[test]
fn known_segments_are_mistaken_at_the_stated_rate() {
    for (layers, layout) in [(1, Layout::Classic), (2, Layout::Line), (3, Layout::Classic), (8, Layout::Line)] {
        let (mut found, mut stated) = (0.0, 0.0);
        for world in 0..30 {
            let budget = LossBudget { max_lost_urls: None, max_false_positive_rate: Some(0.03) };
            let seed = HashSeed::new(world);
            let config = CacheConfig { layout, layers, budget, ..CacheConfig::new(Strategy::Multilayer, seed) };
            let config = CacheConfig { expected_urls: Some(2_000), reset: ResetPolicy::None, ..config };
            let mut cache: Box<dyn UrlCache> = config.build(0, 0).unwrap();
            for index in 0..2_000 {
                offer(&mut *cache, &known(index));
            }
            for index in 0..100 {
                stated += cache.occupancy().expected_rate;
                found += f64::from(u8::from(offer(&mut *cache, &recombined(index)) == Answer::Seen));
            }
        }
        let deviation = (found - stated) / stated.sqrt();
        println!("{layers} layers of {layout}: {found} found, {stated:.1} stated, {deviation:.2} standard errors");
        // One layer holds whole URLs beside the combined one: a new URL must pass both.
        assert!(stated > 60.0 && deviation < 3.5 && (layers == 1 || deviation > -3.5), "{layers} layers: {deviation}");
    }
}
