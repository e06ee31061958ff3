use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::{Answer, CacheConfig, HashSeed, Hashing, Layout, LossBudget, Occupancy, ResetPolicy, Strategy, UrlKey};

/// A small cache of every kind, some of them grown, with three hundred keys.
fn samples() -> Vec<(String, Box<dyn Snapshot>)> {
    let budget = LossBudget { max_lost_urls: Some(2.0), max_false_positive_rate: None };
    let mut caches = Vec::new();
    for strategy in Strategy::ALL {
        for layout in [Layout::Classic, Layout::Line, Layout::Fingerprint] {
            let segments = [Strategy::Multilayer, Strategy::MultilayerPlain, Strategy::SegmentSet];
            let resets = if segments.contains(&strategy) { 1 } else { 2 };
            for reset in [ResetPolicy::None, ResetPolicy::Grow].into_iter().take(resets) {
                let config =
                    CacheConfig { layout, reset, budget, layers: 3, ..CacheConfig::new(strategy, HashSeed::new(9)) };
                let config = CacheConfig { expected_urls: Some(60), sequence: 2, ..config };
                let mut cache = config.build(1, 0).unwrap();
                for index in 0..300 {
                    if cache.occupancy().items >= cache.occupancy().capacity {
                        cache.grow().unwrap();
                    }
                    offer(&mut *cache, index);
                }
                caches.push((format!("{strategy}-{layout}-{reset}"), cache));
            }
        }
    }
    for hashing in Hashing::ALL {
        let config =
            CacheConfig { hashing, layout: Layout::Classic, ..CacheConfig::new(Strategy::Temporal, HashSeed::new(9)) };
        let mut cache = CacheConfig { expected_urls: Some(60), ..config }.build(0, 0).unwrap();
        for index in 0..100 {
            offer(&mut *cache, index);
        }
        caches.push((format!("hashing-{hashing}"), cache));
    }
    for strategy in Strategy::ALL {
        let layout = Layout::Classic;
        let config =
            CacheConfig { layout, reset: ResetPolicy::Rotate, budget, ..CacheConfig::new(strategy, HashSeed::new(9)) };
        let mut cache = CacheConfig { expected_urls: Some(60), layers: 3, ..config }.build(0, 0).unwrap();
        for index in 0..100 {
            offer(&mut *cache, index);
        }
        caches.push((format!("{strategy}-rotate"), cache));
    }
    caches
}

fn offer(cache: &mut dyn Snapshot, index: u64) -> Answer {
    let url = format!("http://h{}/d{}/{index}", index % 2, index % 7);
    cache.insert(UrlKey { bytes: url.as_bytes(), hash: xxhash_rust::xxh3::xxh3_128(url.as_bytes()) })
}

/// The sums of floating-point numbers may differ in their last digits: they were added in another order.
fn assert_same(a: &Occupancy, b: &Occupancy, what: &str) {
    let exact = |o: &Occupancy| (o.items, o.capacity, o.bits, o.fill.to_bits(), o.expected_lost.to_bits());
    assert_eq!(exact(a), exact(b), "{what}");
    assert!((a.expected_rate - b.expected_rate).abs() <= 1e-12 * a.expected_rate, "{what}");
}

#[test]
fn what_is_read_answers_as_what_was_written() {
    for (what, mut cache) in samples() {
        let bytes = cache.snapshot();
        let mut again = restore(&bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(again.snapshot(), bytes, "{what}");
        assert_eq!((again.strategy(), again.layout(), again.cost()), (cache.strategy(), cache.layout(), cache.cost()));
        assert_same(&again.occupancy(), &cache.occupancy(), &what);
        for index in 0..2_000 {
            assert_eq!(offer(&mut *again, index), offer(&mut *cache, index), "{what}: {index}");
        }
        assert_same(&again.occupancy(), &cache.occupancy(), &what);
        assert_eq!(again.grow().unwrap(), cache.grow().unwrap(), "{what}");
        again.begin_sequence(3);
        cache.begin_sequence(3);
        assert!((0..500).all(|index| offer(&mut *again, index) == offer(&mut *cache, index)), "{what}");
    }
}

/// Files of version 1, as they were first written: they are read, mean what they meant, and are written as they were.
/// `GOLDEN=write` makes those that are missing.
#[test]
fn the_format_does_not_change() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for (what, cache) in samples() {
        let path = folder.join(format!("{what}.v1"));
        if std::env::var("GOLDEN").is_ok_and(|order| order == "write") && !path.exists() {
            std::fs::write(&path, cache.snapshot()).unwrap();
        }
        let golden = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut again = restore(&golden).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(again.snapshot() == golden, "{what}: the bytes are others than those of its first version");
        assert_eq!((again.strategy(), again.layout()), (cache.strategy(), cache.layout()), "{what}");
        let keys = match () {
            () if what.ends_with("rotate") => 70..100,
            () if what.starts_with("hashing") => 0..100,
            () => 0..300,
        };
        assert!(keys.into_iter().all(|index| offer(&mut *again, index) == Answer::Seen), "{what}: a key is forgotten");
    }
}

#[test]
fn every_changed_byte_and_every_cut_is_noticed() {
    let (_, cache) = samples().swap_remove(12);
    let bytes = cache.snapshot();
    for at in (0..bytes.len()).step_by(7).chain(0..40) {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        assert!(restore(&changed).is_err(), "byte {at}");
        assert!(restore(&bytes[..at]).is_err(), "cut at {at}");
    }
    assert_eq!(restore(b"").err(), Some(SnapshotError::Foreign));
    assert_eq!(restore(b"URLCACHE").err(), Some(SnapshotError::Damaged));
    let newer = [b"URLCACHE", &2_u32.to_le_bytes()[..], &[0; 20]].concat();
    assert_eq!(restore(&newer).err(), Some(SnapshotError::Newer { found: 2 }));
}

/// The checksum keeps accidents out, not a forger: his bytes are read.
fn forged(body: &[u8]) -> Result<Box<dyn Snapshot>, SnapshotError> {
    restore(&framed(body[0], |out| out.extend(&body[1..])))
}

/// What fuzzing found: counts that overflow once a key comes.
#[test]
fn a_forged_number_of_items_is_refused() {
    let (_, cache) = samples().swap_remove(6);
    let bytes = cache.snapshot();
    let mut body = bytes[FRAME.0..bytes.len() - FRAME.1].to_vec();
    let items = cache.occupancy().items.to_le_bytes();
    let at = body.windows(8).position(|window| window == items).unwrap();
    body[at..at + 8].copy_from_slice(&u64::MAX.to_le_bytes());
    assert_eq!(forged(&body).err(), Some(SnapshotError::Senseless("a count beyond all bounds")));
}

#[test]
fn a_forged_count_allocates_nothing() {
    let huge = [&[EXACT][..], &u64::MAX.to_le_bytes()].concat();
    assert!(matches!(forged(&huge), Err(SnapshotError::Senseless(_))));
    let nearly = [&[EXACT][..], &(1_u64 << 60).to_le_bytes(), &[0; 64]].concat();
    assert!(matches!(forged(&nearly), Err(SnapshotError::Senseless(_))));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn forged_bytes_are_an_error_or_a_cache_that_works(which in 0_usize..54, edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        static BODIES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
            let snapshots = samples().into_iter().map(|(_, cache)| cache.snapshot());
            snapshots.map(|bytes| bytes[FRAME.0..bytes.len() - FRAME.1].to_vec()).collect()
        });
        let mut body = BODIES[which].clone();
        // Most of a snapshot is bits, in which nothing can be wrong: change what comes before them.
        let head = body.len().min(120);
        for (at, value) in edits {
            body[at.index(head)] = value;
        }
        if let Ok(mut cache) = forged(&body) {
            for index in 0..50 {
                offer(&mut *cache, index);
            }
            let now = cache.occupancy();
            prop_assert!((0.0..=1.0).contains(&now.expected_rate), "{now:?}");
        }
    }
}
