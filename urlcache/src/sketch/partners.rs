//! [`PartnerCounts`]: of each of very many keys, with how many different partners it came, up to about a dozen.
//!
//! A grid of bitmaps (Q. Zhao, A. Kumar and J. Xu, "Joint data streaming and sampling techniques for detection of super sources and
//! destinations", IMC 2005, section 4), in lines of 64 bytes: a key chooses a line and three bitmaps of 16 bits in it, its partner a bit,
//! which is set in all three. What is set in all three was set by partners of the key, or by chance by those of others in each of them. So
//! an update or a question costs one place in memory.
//!
//! Errors: with b bits set the estimate is -16 ln(1 - b/16), linear counting (K.-Y. Whang, B. Vander-Zanden and H. Taylor, "A linear-time
//! probabilistic counting algorithm for database applications", ACM TODS 15 (1990)). Two partners have the same bit with probability 1/16;
//! for n = 2, 4, 8 the standard deviation of b is 0.24, 0.53, 0.93. Other keys add to this: where a share f of the bits of the grid is
//! set, a bit is there by mistake with probability f^3, about twice that because lines are not filled evenly. In 16 MiB (8.4 million
//! bitmaps) a million keys with eight partners each fill 13 %: a mistaken bit for one key in ten. Five million fill half of it, which
//! makes two or three mistaken bits for each key. No key is counted as having fewer
//! partners because of others.
//!
//! Invariant: a bit that is set stays set, so order and repetition change nothing.

use crate::hash::{HashSeed, below, mix};

/// Bitmaps in a line.
const LINE: usize = 32;

/// Bitmaps of a key.
const ROWS: usize = 3;

/// Bits of a bitmap.
const BITS: u32 = u16::BITS;

/// How many different partners keys had, in memory that does not grow.
///
/// ```
/// use urlcache::{HashSeed, sketch::PartnerCounts};
///
/// let mut links = PartnerCounts::new(1 << 20, HashSeed::new(7));
/// for page in (0..8).chain(0..8) {
///     links.insert(1 << 80, page);
/// }
/// assert!((links.estimate(1 << 80) - 8.0).abs() < 4.0);
/// assert_eq!(links.bits(2 << 80), 0);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartnerCounts {
    seed: HashSeed,
    bitmaps: Vec<u16>,
}

/// What an update changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartnerBits {
    /// The bits of the key before, 0 to 16.
    pub before: u32,
    /// The same now: as many, or one more.
    pub after: u32,
}

impl PartnerCounts {
    /// A sketch of no keys in so many bytes, rounded down to lines of 64; one line at least.
    pub fn new(bytes: usize, seed: HashSeed) -> Self {
        let lines = (bytes / (LINE * size_of::<u16>())).max(1);
        Self { seed, bitmaps: vec![0; lines * LINE] }
    }

    /// Takes a key in with a partner; a pair that was there changes nothing.
    pub fn insert(&mut self, key: u128, partner: u64) -> PartnerBits {
        let (places, low) = self.places(key);
        let before = self.common(places).count_ones();
        let bit = 1 << (mix(mix(partner).wrapping_add(low)) % u64::from(BITS));
        for place in places {
            self.bitmaps[place] |= bit;
        }
        PartnerBits { before, after: self.common(places).count_ones() }
    }

    /// How many bits a key has, 0 to 16.
    pub fn bits(&self, key: u128) -> u32 {
        self.common(self.places(key).0).count_ones()
    }

    /// How many different partners a key had, by estimate; 0 if it had none. Beyond a dozen it says little but that there were many.
    pub fn estimate(&self, key: u128) -> f64 {
        let unset = f64::from(BITS - self.bits(key).min(BITS - 1)) / f64::from(BITS);
        -f64::from(BITS) * unset.ln()
    }

    /// Memory, in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.bitmaps)
    }

    fn common(&self, places: [usize; ROWS]) -> u16 {
        places.iter().fold(u16::MAX, |common, place| common & self.bitmaps[*place])
    }

    /// The bitmaps of a key, all in one line, and what remains of its hash.
    fn places(&self, key: u128) -> ([usize; ROWS], u64) {
        let (high, low) = self.seed.finish(key);
        let line = below(high, (self.bitmaps.len() / LINE) as u64);
        // Three different ones: any of them, and two others by how they differ from it.
        let one = low % 32;
        let [second, third] = [1 + (low >> 5) % 31, 1 + (low >> 16) % 30];
        let apart = [0, second, third + u64::from(third >= second)];
        #[expect(clippy::cast_possible_truncation, reason = "below the length of a vector")]
        let places = apart.map(|apart| (line * LINE as u64 + (one ^ apart)) as usize);
        (places, low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::fingerprint;

    #[test]
    fn what_is_repeated_counts_once() {
        let mut counts = PartnerCounts::new(1 << 16, HashSeed::new(3));
        let first = counts.insert(fingerprint(1), 5);
        assert_eq!(first, PartnerBits { before: 0, after: 1 });
        for _ in 0..100 {
            assert_eq!(counts.insert(fingerprint(1), 5), PartnerBits { before: 1, after: 1 });
        }
        assert_eq!((counts.bits(fingerprint(1)), counts.bits(fingerprint(2))), (1, 0));
        assert_eq!(counts.bytes(), 1 << 16);
    }

    #[test]
    fn estimates_are_as_good_as_the_theory_says() {
        for partners in [1_u64, 2, 4, 8, 12] {
            let mut counts = PartnerCounts::new(1 << 22, HashSeed::new(partners));
            let keys = 20_000;
            for key in 0..keys {
                for partner in 0..partners {
                    counts.insert(fingerprint(key), partner);
                }
            }
            let bits: Vec<_> = (0..keys).map(|key| f64::from(counts.bits(fingerprint(key)))).collect();
            let mean = bits.iter().sum::<f64>() / keys as f64;
            let deviation = (bits.iter().map(|bits| (bits - mean).powi(2)).sum::<f64>() / keys as f64).sqrt();
            let (free, pairs) = ((15.0_f64 / 16.0).powf(partners as f64), (14.0_f64 / 16.0).powf(partners as f64));
            let variance = 16.0 * free + 240.0 * pairs - 256.0 * free * free;
            assert!((mean - 16.0 * (1.0 - free)).abs() < 0.03, "{partners}: {mean}");
            assert!((deviation - variance.max(0.0).sqrt()).abs() < 0.03, "{partners}: {deviation}, {variance}");
        }
    }

    #[test]
    fn a_full_sketch_counts_too_many_and_never_too_few() {
        // As many keys as an eighth of the bitmaps: a million in 16 MiB.
        let mut counts = PartnerCounts::new(1 << 17, HashSeed::new(9));
        let mut alone = PartnerCounts::new(1 << 23, HashSeed::new(9));
        let keys = (1 << 16) / 8;
        for key in 0..keys {
            for partner in 0..8 {
                counts.insert(fingerprint(key), partner);
                alone.insert(fingerprint(key), partner);
            }
        }
        let set: u32 = counts.bitmaps.iter().map(|bitmap| bitmap.count_ones()).sum();
        let filled = f64::from(set) / (16.0 * 65_536.0);
        assert!((0.11..0.15).contains(&filled), "{filled}");
        let never_seen: u32 = (keys..2 * keys).map(|key| counts.bits(fingerprint(key))).sum();
        let mistaken = f64::from(never_seen) / keys as f64;
        assert!((1.5..3.0).contains(&(mistaken / (16.0 * filled.powi(3)))), "{mistaken}");
        let few = (0..keys).filter(|key| counts.bits(fingerprint(*key)) < alone.bits(fingerprint(*key))).count();
        assert_eq!(few, 0);
    }
}
