//! For tests: an estimator under 100 seeds, held against its theory.

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::Theory;
use crate::hash::HashSeed;

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

/// Asserts that estimates divided by the truth have the mean of the theory within 4 standard errors, and its variance
/// within 4 standard errors of a variance.
pub(super) fn check(theory: Theory, ratio: impl Fn(HashSeed) -> f64) {
    let ratios: Vec<f64> = (0..SEEDS).map(|index| ratio(seed(index))).collect();
    let count = f64::from(SEEDS);
    let mean = ratios.iter().sum::<f64>() / count;
    let spread = (ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt();
    let of_mean = theory.standard_error / count.sqrt();
    assert!((mean - 1.0 - theory.bias).abs() <= 4.0 * of_mean, "mean {mean}: {theory:?}");
    let of_variance = ((2.0 + theory.excess_kurtosis.max(0.0)) / (count - 1.0)).sqrt();
    let excess = (spread / theory.standard_error).powi(2) - 1.0;
    assert!(excess.abs() <= 4.0 * of_variance, "spread {spread}: {theory:?}");
}
