//! [`Lines`]: the layout `line`, a Bloom filter whose key lies within one cache line, or within two.
//!
//! Owns lines of eight 64-bit words (the blocked filter of F. Putze, P. Sanders and J. Singler, "Cache-, hash- and
//! space-efficient Bloom filters", JEA 2009, with one or two bits in each word of a line). A key costs one or two cache
//! misses whatever its number of bits, and batches fetch the lines of many keys at once. Lines fill unevenly, so the
//! rate is not that of the mean fill: it is the mean over lines, kept up to date with every bit set.
//!
//! Invariant: `sum` is the sum over lines of the probability that a key of that line is found.

use std::collections::TryReserveError;
use std::hint::black_box;

use super::{Answers, CHUNK, Extent, Filter};
use crate::hash::{HashSeed, below_len, mix};
use crate::port::UrlKey;
use crate::sizing::LINE_BITS;

/// Eight words that are one cache line.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Line([u64; 8]);

/// A filter that sets `BITS` bits in each word of `LINES` lines.
pub(crate) struct Lines<const LINES: usize, const BITS: usize> {
    table: Vec<Line>,
    seed: HashSeed,
    ones: u64,
    sum: f64,
}

/// Where a key lies: its lines, and per line six bits of hash for each word, as often as it sets bits there.
#[derive(Clone, Copy)]
struct Spot<const LINES: usize, const BITS: usize> {
    line: [usize; LINES],
    bits: [[u64; BITS]; LINES],
}

impl<const LINES: usize, const BITS: usize> Lines<LINES, BITS> {
    /// An empty filter of at least so many bits.
    ///
    /// # Errors
    /// The allocator has no room for them.
    pub(crate) fn new(bits: u64, seed: HashSeed) -> Result<Self, TryReserveError> {
        let count = usize::try_from(bits.div_ceil(LINE_BITS).max(1)).unwrap_or(usize::MAX);
        let mut table = Vec::new();
        table.try_reserve_exact(count)?;
        table.resize(count, Line::default());
        Ok(Self { table, seed, ones: 0, sum: 0.0 })
    }

    #[inline]
    fn spot(&self, fingerprint: u128) -> Spot<LINES, BITS> {
        let (high, low) = self.seed.finish(fingerprint);
        let (mut state, count) = (low, self.table.len());
        let mut next = || {
            state = state.wrapping_add(high | 1);
            mix(state)
        };
        let mut spot = Spot { line: [below_len(high, count); LINES], bits: [[low; BITS]; LINES] };
        for index in 0..LINES {
            if index > 0 {
                spot.line[index] = below_len(next(), count);
            }
            for draw in usize::from(index == 0)..BITS {
                spot.bits[index][draw] = next();
            }
        }
        spot
    }

    #[inline]
    fn touch(&self, spot: &Spot<LINES, BITS>) {
        for &line in &spot.line {
            black_box(self.table[line].0[0]);
        }
    }

    #[inline]
    fn set(&mut self, spot: &Spot<LINES, BITS>) -> bool {
        let mut found = true;
        for (&index, bits) in spot.line.iter().zip(&spot.bits) {
            let (line, mask) = (&mut self.table[index], Line::mask(bits));
            if line.lacks(&mask) {
                found = false;
                let (ones, odds) = line.census::<BITS>();
                line.add(&mask);
                let (more, higher) = line.census::<BITS>();
                self.ones += u64::from(more - ones);
                self.sum += higher - odds;
            }
        }
        found
    }
}

impl Line {
    #[inline]
    fn mask<const BITS: usize>(bits: &[u64; BITS]) -> Self {
        let mut mask = Self::default();
        for draw in bits {
            for (index, word) in mask.0.iter_mut().enumerate() {
                *word |= 1 << ((draw >> (6 * index)) & 63);
            }
        }
        mask
    }

    #[inline]
    fn lacks(&self, mask: &Self) -> bool {
        let missing = self.0.iter().zip(&mask.0).fold(0, |missing, (word, bits)| missing | (bits & !word));
        missing != 0
    }

    #[inline]
    fn add(&mut self, mask: &Self) {
        for (word, bits) in self.0.iter_mut().zip(&mask.0) {
            *word |= bits;
        }
    }

    /// Set bits, and the probability that a key of this line is found: for each word the share of its bits that are
    /// set, to the power of the bits drawn in it.
    #[inline]
    fn census<const BITS: usize>(&self) -> (u32, f64) {
        let (mut ones, mut product) = (0, 1_u64);
        for word in &self.0 {
            ones += word.count_ones();
            product *= u64::from(word.count_ones());
        }
        // At most 64^8 = 2^48.
        let odds = product as f64 * (-48.0_f64).exp2();
        (ones, power::<BITS>(odds))
    }
}

#[inline]
fn power<const EXPONENT: usize>(value: f64) -> f64 {
    [value; EXPONENT].iter().product()
}

impl<const LINES: usize, const BITS: usize> Filter for Lines<LINES, BITS> {
    fn test_and_set(&mut self, key: UrlKey<'_>) -> bool {
        let spot = self.spot(key.hash);
        self.set(&spot)
    }

    fn holds(&self, key: UrlKey<'_>) -> bool {
        let spot = self.spot(key.hash);
        spot.line.iter().zip(&spot.bits).all(|(&line, bits)| !self.table[line].lacks(&Line::mask(bits)))
    }

    /// The mean over lines, to the power of the lines of a key: they are drawn independently.
    fn rate(&self) -> f64 {
        power::<LINES>(self.sum / self.table.len() as f64)
    }

    fn extent(&self) -> Extent {
        let bits = self.table.len() as u64 * LINE_BITS;
        Extent { bits, fill: self.ones as f64 / bits as f64, fill_limit: 0.75 }
    }

    fn clear(&mut self, seed: HashSeed) {
        self.seed = seed;
        self.table.fill(Line::default());
        (self.ones, self.sum) = (0, 0.0);
    }

    fn fetch_ahead(&self, key: UrlKey<'_>) {
        self.touch(&self.spot(key.hash));
    }

    fn test_and_set_all(&mut self, keys: &[UrlKey<'_>], answers: &mut Answers<'_>) {
        let mut spots = [Spot { line: [0; LINES], bits: [[0; BITS]; LINES] }; CHUNK];
        for chunk in keys.chunks(CHUNK) {
            for (spot, key) in spots.iter_mut().zip(chunk) {
                *spot = self.spot(key.hash);
                self.touch(spot);
            }
            for spot in &spots[..chunk.len()] {
                let rate = self.rate();
                answers.answer(self.set(spot), rate);
            }
        }
    }
}
