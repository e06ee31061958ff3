//! [`Bits`], and the positions that are drawn in them.
//!
//! Owns the filters of the experiments: m bits, k positions a key, drawn from the key's fingerprint as the layout `classic`
//! of the library draws them, or by hash functions that read the key's text. A test holds them to the library's answers.
//! It knows neither rates nor tables.

use urlcache::{HashFamily, HashSeed};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::urls::Urls;

/// Keys that are looked up together.
const BLOCK: usize = 512;

/// Where the salts of hash functions begin among what is derived from a seed.
const SALTS: u32 = 0x5a17;

/// What draws the positions of keys.
pub(crate) trait Draw {
    /// A key of which some positions are drawn.
    type Drawn: Copy;

    /// URL number `key`, of which no position is drawn.
    fn start(&self, key: usize) -> Self::Drawn;

    /// The next position of a key.
    fn next(&self, drawn: &mut Self::Drawn) -> u64;

    /// How many positions a key has (k).
    fn probes(&self) -> u32;

    /// The positions of URL number `key`.
    #[inline]
    fn positions(&self, key: usize) -> impl Iterator<Item = u64> {
        let mut drawn = self.start(key);
        (0..self.probes()).map(move |_| self.next(&mut drawn))
    }
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

/// The state of a `SplitMix64` generator and its increment.
pub(crate) type Generator = (u64, u64);

impl OneHash<'_> {
    /// The positions of a key with this fingerprint.
    #[inline]
    pub(crate) fn positions_of(&self, fingerprint: u128) -> impl Iterator<Item = u64> {
        let mut generator = self.generator(fingerprint);
        (0..self.probes).map(move |_| self.next(&mut generator))
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the halves of the hash are wanted")]
    fn generator(&self, fingerprint: u128) -> Generator {
        let hash = xxh3_128_with_seed(&fingerprint.to_le_bytes(), self.seed.value());
        (hash as u64, (hash >> 64) as u64 | 1)
    }
}

impl Draw for OneHash<'_> {
    type Drawn = Generator;

    #[inline]
    fn start(&self, key: usize) -> Generator {
        self.generator(self.urls.fingerprint(key))
    }

    #[inline]
    fn next(&self, (state, increment): &mut Generator) -> u64 {
        *state = state.wrapping_add(*increment);
        below(mix(*state), self.bits)
    }

    fn probes(&self) -> u32 {
        self.probes
    }
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
    /// The key, and the function that is next.
    type Drawn = (usize, usize);

    #[inline]
    fn start(&self, key: usize) -> (usize, usize) {
        (key, 0)
    }

    #[inline]
    fn next(&self, (key, place): &mut (usize, usize)) -> u64 {
        let (family, salt) = self.functions[*place];
        *place += 1;
        below(family.hash(self.urls.bytes(*key), salt), self.bits)
    }

    fn probes(&self) -> u32 {
        u32::try_from(self.functions.len()).unwrap_or(u32::MAX)
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
        positions.all(|position| self.get(position))
    }

    /// Leaves those of the keys of which all bits are set.
    ///
    /// It looks at one position of many keys in turn, without a branch: processors foretell no random bit.
    pub(crate) fn retain<D: Draw>(&self, draw: &D, keys: &mut Vec<usize>) {
        let mut block: Vec<(usize, D::Drawn)> = Vec::with_capacity(BLOCK);
        let mut left = 0;
        for start in (0..keys.len()).step_by(BLOCK) {
            let end = keys.len().min(start + BLOCK);
            block.clear();
            block.extend(keys[start..end].iter().map(|&key| (key, draw.start(key))));
            for _ in 0..draw.probes() {
                let mut kept = 0;
                for place in 0..block.len() {
                    let (key, mut drawn) = block[place];
                    let set = self.get(draw.next(&mut drawn));
                    block[kept] = (key, drawn);
                    kept += usize::from(set);
                }
                block.truncate(kept);
            }
            for (key, _) in &block {
                keys[left] = *key;
                left += 1;
            }
        }
        keys.truncate(left);
    }

    #[inline]
    fn get(&self, position: u64) -> bool {
        self.0[word(position)] & mask(position) != 0
    }
}

#[inline]
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

    use urlcache::{Answer, FilterCache, Plan, UrlCache, UrlKey};

    use super::*;

    #[test]
    fn answers_are_those_of_the_layout_classic() {
        let urls = Urls::generated(2_000);
        let (probes, bits) = (3, 7_000);
        let seed = HashSeed::new(11);
        let draw = OneHash { urls: &urls, seed, probes, bits };
        let mut library = FilterCache::single(Plan::new(bits, probes).unwrap(), 2_000, seed).unwrap();
        let mut ours = Bits::default();
        ours.clear(bits);
        let mut known = 0;
        for key in 0..urls.keys() {
            let answer = library.insert(UrlKey { bytes: urls.bytes(key), hash: urls.fingerprint(key) });
            assert_eq!(ours.test_and_add(draw.positions(key)), answer == Answer::Seen, "URL {key}");
            known += u64::from(answer == Answer::Seen);
        }
        assert!((50..300).contains(&known), "{known}");
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
        let found: Vec<usize> = (500..1_000).filter(|&key| bits.has(draw.positions(key))).collect();
        assert!((3..60).contains(&found.len()), "{found:?}");
        let mut left: Vec<usize> = (500..1_000).collect();
        bits.retain(&draw, &mut left);
        assert_eq!(left, found);
        let salts: HashSet<u64> = draw.functions.iter().map(|(_, salt)| *salt).collect();
        assert_eq!((salts.len(), draw.functions[2].0), (3, HashFamily::Lookup2));
        bits.clear(4_000);
        assert!(!bits.has(draw.positions(0)) && bits.bytes() >= 500);
    }
}
