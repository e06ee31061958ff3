//! [`BucketRange`]: which keys belong to a sample, by their bucket.
//!
//! The bucket is a hash of the fingerprint under a secret seed, by a finaliser of its own: it says nothing of the probes of
//! any filter or of the registers of any sketch, so what happens in the sample is what happens everywhere.
//!
//! Invariants: all occurrences of a key are accepted, or none is; the range only shrinks, so what was refused once is
//! refused ever after.
//!
//! Does not know the sample.

use crate::hash::{HashSeed, mix};

/// The range of buckets, from the first on, whose keys are in the sample. There are 2^64 buckets.
///
/// ```
/// use urlcache::HashSeed;
/// use urlcache::sketch::BucketRange;
///
/// let mut range = BucketRange::all(HashSeed::new(7));
/// assert!(range.accepts(1 << 80) && range.share() == 1.0);
/// range.end_before(range.bucket(1 << 80));
/// assert!(!range.accepts(1 << 80));
/// range.halve();
/// let accepted = (0..10_000_u128).filter(|key| range.accepts(*key)).count();
/// assert!((accepted as f64 / 10_000.0 - range.share()).abs() < 0.02);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BucketRange {
    seed: HashSeed,
    /// Buckets below this; `None`: all of them.
    end: Option<u64>,
}

impl BucketRange {
    /// All buckets; the seed decides which bucket a key has, and is a secret.
    pub const fn all(seed: HashSeed) -> Self {
        Self { seed, end: None }
    }

    /// The bucket of a key.
    pub fn bucket(&self, fingerprint: u128) -> u64 {
        #[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
        let (high, low) = ((fingerprint >> 64) as u64, fingerprint as u64);
        mix(mix(high ^ self.seed.value()).wrapping_add(low))
    }

    /// Whether the bucket of a key lies in the range.
    pub fn accepts(&self, fingerprint: u128) -> bool {
        self.end.is_none_or(|end| self.bucket(fingerprint) < end)
    }

    /// The share of all keys that is accepted, 0 to 1.
    pub fn share(&self) -> f64 {
        self.end.map_or(1.0, |end| end as f64 * 0.5_f64.powi(64))
    }

    /// Gives up the upper half of the range.
    pub fn halve(&mut self) {
        self.end = Some(self.end.map_or(1 << 63, |end| end / 2));
    }

    /// Gives up this bucket and those above it.
    pub fn end_before(&mut self, bucket: u64) {
        self.end = Some(self.end.map_or(bucket, |end| end.min(bucket)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::fingerprint;

    #[test]
    fn a_share_of_the_range_is_a_share_of_the_keys() {
        let mut range = BucketRange::all(HashSeed::new(3));
        for halvings in 0..6 {
            let accepted = (0..64_000).filter(|key| range.accepts(fingerprint(*key))).count() as f64;
            let share = 0.5_f64.powi(halvings);
            assert_eq!(range.share().to_bits(), share.to_bits());
            let deviation = (accepted - 64_000.0 * share) / (64_000.0 * share * (1.0 - share)).sqrt().max(1.0);
            assert!(deviation.abs() < 4.0, "{halvings}: {deviation}");
            range.halve();
        }
    }

    #[test]
    fn a_range_can_become_empty() {
        let mut range = BucketRange::all(HashSeed::new(3));
        (0..80).for_each(|_| range.halve());
        assert!(range.share() == 0.0 && (0..1_000).all(|key| !range.accepts(fingerprint(key))));
        range.end_before(u64::MAX);
        assert!(range.share() == 0.0);
    }
}
