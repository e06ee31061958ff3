//! [`HashSeed`], and what it draws from a fingerprint: also for sketches and filters of one's own.
//!
//! Owns: how a 128-bit fingerprint becomes any number of positions in a filter. Other structures take what they need from
//! [`HashSeed::finish`], [`mix`] and [`below`]. Invariants: under one seed equal
//! fingerprints give equal probes; the probes of a key are independent of each other, of those of other keys, and of
//! those under another seed, as far as statistics can tell; without the seed they cannot be foretold.
//!
//! Does not know what is done at the positions.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};

use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128_with_seed};

/// The secret that turns fingerprints into positions. Its `Debug` form never shows the value.
///
/// ```
/// use urlcache::HashSeed;
///
/// let seed = HashSeed::new(42);
/// assert_ne!(seed.derive(0, 0), seed.derive(1, 0));
/// assert_eq!(format!("{seed:?}"), "HashSeed(secret)");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct HashSeed(u64);

impl HashSeed {
    /// A seed with this value, from a source of randomness (or fixed, to repeat an experiment).
    pub const fn new(value: u64) -> Self {
        Self(value)
    }

    /// A seed that nobody can foretell: the standard library's random state, which the system's randomness seeds.
    ///
    /// ```
    /// use urlcache::HashSeed;
    ///
    /// assert_ne!(HashSeed::random(), HashSeed::random());
    /// ```
    pub fn random() -> Self {
        Self(RandomState::new().build_hasher().finish())
    }

    /// The value, for whoever stores it.
    pub const fn value(self) -> u64 {
        self.0
    }

    /// The seed of one generation of one crawl sequence: different for each pair.
    ///
    /// xxh3-64 of the pair under this seed; on eight bytes that is a bijection, so no two pairs share a seed.
    #[must_use]
    pub fn derive(self, generation: u32, sequence: u32) -> Self {
        let pair = (u64::from(generation) << 32) | u64::from(sequence);
        Self(xxh3_64_with_seed(&pair.to_le_bytes(), self.0))
    }

    /// The fingerprint finished under the seed with xxh3-128: two independent halves, high and low.
    ///
    /// ```
    /// use urlcache::{HashSeed, hash::below};
    ///
    /// // A Bloom filter of two probes.
    /// let mut bits = [false; 1_000];
    /// let probes = |key| {
    ///     let (high, low) = HashSeed::new(42).finish(key);
    ///     [high, low].map(|half| below(half, 1_000) as usize)
    /// };
    /// (0..100).for_each(|key| probes(key).iter().for_each(|place| bits[*place] = true));
    /// let found = (0..10_100).filter(|key| probes(*key).iter().all(|place| bits[*place])).count();
    /// assert!((330..530).contains(&found)); // 100, and 3.3 % of 10,000
    /// ```
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
    pub fn finish(self, fingerprint: u128) -> (u64, u64) {
        let finished = xxh3_128_with_seed(&fingerprint.to_le_bytes(), self.0);
        ((finished >> 64) as u64, finished as u64)
    }

    /// The probes of a key with this fingerprint.
    ///
    /// The two halves of the finished fingerprint start a `SplitMix64`
    /// generator (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): one is its
    /// state, the other its odd increment. Unlike double hashing (Kirsch and Mitzenmacher 2006) the positions lie on no
    /// arithmetic progression, which would add false positives that show in small filters of low rates.
    pub(crate) fn probes(self, fingerprint: u128) -> Probes {
        let (high, low) = self.finish(fingerprint);
        Probes { state: low, increment: high | 1 }
    }
}

impl fmt::Debug for HashSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HashSeed(secret)")
    }
}

/// An endless sequence of pseudo-random positions that belongs to one key and one seed.
pub(crate) struct Probes {
    state: u64,
    increment: u64,
}

impl Probes {
    /// The next position, uniform in `0..size` but for a bias of at most `size / 2^64`.
    pub(crate) fn next_below(&mut self, size: u64) -> u64 {
        self.state = self.state.wrapping_add(self.increment);
        below(mix(self.state), size)
    }
}

/// A hash reduced to `0..size` by multiply and shift (D. Lemire, "Fast random integer generation in an interval", 2019).
///
/// ```
/// use urlcache::hash::below;
///
/// assert_eq!([0, 1 << 63, u64::MAX].map(|hash| below(hash, 10)), [0, 5, 9]);
/// ```
#[inline]
pub fn below(hash: u64, size: u64) -> u64 {
    ((u128::from(hash) * u128::from(size)) >> 64) as u64
}

/// The same for the length of a table.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the result is below a usize")]
pub fn below_len(hash: u64, len: usize) -> usize {
    below(hash, len as u64) as usize
}

/// The finaliser of `SplitMix64` (Stafford's variant 13 of `MurmurHash3`'s): a bijection, each bit of which depends on all.
///
/// ```
/// use urlcache::hash::mix;
///
/// assert_eq!(mix(0x9e37_79b9_7f4a_7c15), 16_294_208_416_658_607_535); // the generator's first number after 0
/// assert_eq!(mix(0), 0);
/// ```
#[inline]
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Pearson's statistic of the counts against equal shares, in standard deviations from its mean.
    fn unevenness(counts: &[u64]) -> f64 {
        let share = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
        let chi2: f64 = counts.iter().map(|&count| (count as f64 - share).powi(2) / share).sum();
        let freedom = counts.len() as f64 - 1.0;
        (chi2 - freedom) / (2.0 * freedom).sqrt()
    }

    #[test]
    fn splitmix_gives_its_published_numbers() {
        let mut probes = Probes { state: 1_234_567, increment: 0x9e37_79b9_7f4a_7c15 };
        let mut next = || {
            probes.state = probes.state.wrapping_add(probes.increment);
            mix(probes.state)
        };
        assert_eq!((next(), next()), (6_457_827_717_110_365_317, 3_203_168_211_198_807_973));
    }

    #[test]
    fn seeds_of_generations_and_sequences_differ() {
        let root = HashSeed::new(7);
        let pairs = (0..64).flat_map(|generation| (0..64).map(move |sequence| root.derive(generation, sequence).0));
        assert_eq!(pairs.chain([root.0]).collect::<HashSet<_>>().len(), 64 * 64 + 1);
    }

    #[test]
    fn positions_are_even_one_by_one_and_in_pairs_even_of_counted_fingerprints() {
        let seed = HashSeed::new(3);
        let (mut single, mut pairs) = (vec![0_u64; 64], vec![0_u64; 64 * 64]);
        for fingerprint in 0..50_000_u128 {
            let mut probes = seed.probes(fingerprint);
            let drawn: Vec<usize> = (0..8).map(|_| usize::try_from(probes.next_below(64)).unwrap()).collect();
            for pair in drawn.windows(2) {
                single[pair[0]] += 1;
                pairs[pair[0] * 64 + pair[1]] += 1;
            }
        }
        assert!(unevenness(&single).abs() < 4.0, "{}", unevenness(&single));
        assert!(unevenness(&pairs).abs() < 4.0, "{}", unevenness(&pairs));
    }

    #[test]
    fn positions_under_neighbouring_seeds_are_independent() {
        for other in [2, 3, 1 ^ (1 << 63), HashSeed::new(1).derive(0, 0).0] {
            let mut pairs = vec![0_u64; 64 * 64];
            for fingerprint in 0..200_000_u128 {
                let (mut a, mut b) = (HashSeed::new(1).probes(fingerprint), HashSeed::new(other).probes(fingerprint));
                pairs[usize::try_from(a.next_below(64) * 64 + b.next_below(64)).unwrap()] += 1;
            }
            assert!(unevenness(&pairs).abs() < 4.0, "seed {other}: {}", unevenness(&pairs));
        }
    }
}
