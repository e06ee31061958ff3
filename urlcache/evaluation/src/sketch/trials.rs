//! For tests: an estimator under 100 seeds, held against its theory.

use urlcache::{HashSeed, sketch::Theory};
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// Number of seeds.
const SEEDS: u32 = 100;

/// The fingerprint of key number `key`.
pub(super) fn fingerprint(key: u64) -> u128 {
    xxh3_128_with_seed(&key.to_le_bytes(), 0x7465_7374)
}

/// Seed number `index`.
pub(super) fn seed(index: u32) -> HashSeed {
    HashSeed::new(2_024).derive(index, 0)
}

/// Asserts that estimates divided by the truth have the mean and the variance of the theory within 4 standard errors.
pub(super) fn check(theory: Theory, ratio: impl Fn(HashSeed) -> f64) {
    let ratios: Vec<f64> = (0..SEEDS).map(|index| ratio(seed(index))).collect();
    let off = theory.deviations(&ratios);
    assert!(off.mean.abs() <= 4.0 && off.variance.abs() <= 4.0, "{off:?}: {theory:?}");
}
