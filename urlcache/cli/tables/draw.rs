//! [`Bits`], and the positions that are drawn in them.
//!
//! Owns the filters of the experiments: m bits, k positions a key, drawn from the key's fingerprint as the layout `classic`
//! of the library draws them, or by hash functions that read the key's text. A test holds them to the library's answers.
//! It knows neither rates nor tables.

use urlcache::{HashFamily, HashSeed};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::urls::Urls;

/// Where the salts of hash functions begin among what is derived from a seed.
const SALTS: u32 = 0x5a17;

/// What draws the positions of a key.
pub(crate) trait Draw {
    /// The positions of URL number `key`.
    fn positions(&self, key: usize) -> impl Iterator<Item = u64>;
}

/// One hash of the fingerprint, and k positions from it.
pub(crate) struct OneHash<'a> {
    pub(crate) urls: &'a Urls,
    pub(crate) seed: HashSeed,
    pub(crate) probes: u32,
    pub(crate) bits: u64,
}

/// k hashes of the text, a position from each.
pub(crate) struct ManyHashes<'a> {
    urls: &'a Urls,
    functions: Vec<(HashFamily, u64)>,
    bits: u64,
}

impl Draw for OneHash<'_> {
    #[inline]
    fn positions(&self, key: usize) -> impl Iterator<Item = u64> {
        positions(self.urls.fingerprint(key), self.seed, self.probes, self.bits)
    }
}

/// The positions of a key with this fingerprint under a seed, in a filter of so many bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the halves of the hash are wanted")]
pub(crate) fn positions(fingerprint: u128, seed: HashSeed, probes: u32, bits: u64) -> impl Iterator<Item = u64> {
    let hash = xxh3_128_with_seed(&fingerprint.to_le_bytes(), seed.value());
    let (mut state, increment) = (hash as u64, (hash >> 64) as u64 | 1);
    (0..probes).map(move |_| {
        state = state.wrapping_add(increment);
        below(mix(state), bits)
    })
}

impl<'a> ManyHashes<'a> {
    /// As many salted functions as probes: those of the families in turn.
    pub(crate) fn new(urls: &'a Urls, families: &[HashFamily], seed: HashSeed, probes: u32, bits: u64) -> Self {
        let functions = (0..probes).zip(families.iter().cycle());
        let functions = functions.map(|(index, &family)| (family, seed.derive(SALTS, index).value())).collect();
        Self { urls, functions, bits }
    }
}

impl Draw for ManyHashes<'_> {
    #[inline]
    fn positions(&self, key: usize) -> impl Iterator<Item = u64> {
        let bytes = self.urls.bytes(key);
        self.functions.iter().map(move |(family, salt)| below(family.hash(bytes, *salt), self.bits))
    }
}

/// A hash reduced to `0..size` by multiply and shift (D. Lemire, "Fast random integer generation in an interval", 2019).
#[inline]
fn below(hash: u64, size: u64) -> u64 {
    ((u128::from(hash) * u128::from(size)) >> 64) as u64
}

/// The finaliser of `SplitMix64` (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[inline]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The bits of one filter.
#[derive(Default)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    /// As many bits as said, none of them set.
    pub(crate) fn clear(&mut self, bits: u64) {
        self.0.clear();
        self.0.resize(usize::try_from(bits.div_ceil(64)).unwrap_or(usize::MAX), 0);
    }

    /// Memory, in bytes, with what surrounds the bits.
    pub(crate) fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<u64>() + size_of::<Self>()
    }

    /// Adds a key.
    #[inline]
    pub(crate) fn add(&mut self, positions: impl Iterator<Item = u64>) {
        for position in positions {
            self.0[word(position)] |= mask(position);
        }
    }

    /// Adds a key; says whether all of its bits were set before.
    #[inline]
    pub(crate) fn test_and_add(&mut self, positions: impl Iterator<Item = u64>) -> bool {
        let mut unset = 0;
        for position in positions {
            let word = &mut self.0[word(position)];
            unset |= !*word & mask(position);
            *word |= mask(position);
        }
        unset == 0
    }

    /// Whether all bits of a key are set.
    #[inline]
    pub(crate) fn has(&self, mut positions: impl Iterator<Item = u64>) -> bool {
        positions.all(|position| self.0[word(position)] & mask(position) != 0)
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the filter has so many words")]
fn word(position: u64) -> usize {
    (position / 64) as usize
}

#[inline]
fn mask(position: u64) -> u64 {
    1 << (position % 64)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use urlcache::{FilterCache, Plan, UrlCache, UrlKey, Verdict};

    use super::*;

    #[test]
    fn answers_are_those_of_the_layout_classic() {
        let urls = Urls::generated(2_000);
        let (seed, probes, bits) = (HashSeed::new(11), 3, 7_000);
        let draw = OneHash { urls: &urls, seed, probes, bits };
        let mut library = FilterCache::single(Plan::new(bits, probes).unwrap(), 2_000, seed).unwrap();
        let mut ours = Bits::default();
        ours.clear(bits);
        let mut seen = 0;
        for key in 0..urls.keys() {
            let verdict = library.insert(UrlKey { bytes: urls.bytes(key), hash: urls.fingerprint(key) });
            assert_eq!(ours.test_and_add(draw.positions(key)), verdict == Verdict::Seen, "URL {key}");
            seen += u64::from(verdict == Verdict::Seen);
        }
        assert!((50..300).contains(&seen), "{seen}");
    }

    #[test]
    fn what_was_added_is_found_by_every_draw() {
        let urls = Urls::generated(500);
        let families = [HashFamily::Lookup2, HashFamily::Murmur2];
        let draw = ManyHashes::new(&urls, &families, HashSeed::new(1), 3, 4_000);
        let mut bits = Bits::default();
        bits.clear(4_000);
        (0..500).for_each(|key| bits.add(draw.positions(key)));
        assert!((0..500).all(|key| bits.has(draw.positions(key))));
        let found = (500..1_000).filter(|&key| bits.has(draw.positions(key))).count();
        assert!((3..60).contains(&found), "{found}");
        let salts: HashSet<u64> = draw.functions.iter().map(|(_, salt)| *salt).collect();
        assert_eq!((salts.len(), draw.functions[2].0), (3, HashFamily::Lookup2));
        bits.clear(4_000);
        assert!(!bits.has(draw.positions(0)) && bits.bytes() >= 500);
    }
}
