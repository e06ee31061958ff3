//! [`RibbonFilter`]: a static filter of a set, from the same structure as a compact classifier.
//!
//! Owns nothing but fingerprints as values. It is here as the measure of what the classifiers are built from.

use super::compact::{Fingerprints, fingerprint, fingerprint_salt};
use super::ribbon::{Bits, Entry, RetrievalBuilder};

/// A set that never changes, in about 1.01 r bits a key for a false-positive rate of 2^-r.
///
/// ```
/// use urlcache_evaluation::cascade::RibbonFilter;
///
/// let filter = RibbonFilter::build((0..1000).map(|i| i << 54).collect(), 8).expect("hashes fit");
/// assert!((0..1000).all(|i| filter.holds(i << 54)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RibbonFilter(Fingerprints);

impl RibbonFilter {
    /// A filter of keys by their 64-bit hashes, with fingerprints of 1 to 32 bits. `None` for other numbers of bits, and
    /// where the hashes are such that they do not fit, which well-mixed ones always do.
    pub fn build(mut hashes: Vec<u64>, bits: u32) -> Option<Self> {
        if !(1..=32).contains(&bits) {
            return None;
        }
        hashes.sort_unstable();
        hashes.dedup();
        let salt = fingerprint_salt(0);
        let mut builder = RetrievalBuilder::<Bits>::new(hashes.len() as u64, bits, 0);
        let mut rest = &hashes[..];
        let mut entries = Vec::new();
        for shard in 0..builder.shards() {
            let (here, after) = rest.split_at(rest.partition_point(|hash| builder.shard_of(*hash) <= shard));
            entries.clear();
            entries.extend(here.iter().map(|&hash| Entry { hash, value: fingerprint(hash, salt, bits) }));
            builder.shard(&mut entries).ok()?;
            rest = after;
        }
        builder.finish().map(|values| Self(Fingerprints::new(values, 0)))
    }

    /// Whether the key is in the set, perhaps by mistake.
    #[inline]
    pub fn holds(&self, hash: u64) -> bool {
        self.0.holds(hash)
    }

    /// Memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.0.values.bytes()
    }
}
