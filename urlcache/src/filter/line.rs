//! [`Lines`]: the layout `line`, a Bloom filter whose key lies within one cache line, or within two.
//!
//! Owns lines of eight 64-bit words (the blocked filter of F. Putze, P. Sanders and J. Singler, "Cache-, hash- and
//! space-efficient Bloom filters", JEA 2009, with one or two bits in each word of a line). A key costs one or two cache
//! misses whatever its number of bits, and batches fetch the lines of many keys at once. Lines fill unevenly, so the
//! rate is not that of the mean fill: it is the mean over lines, kept up to date with every bit set.
//!
//! Invariant: `sum` is the sum over lines of the probability that a key of that line is found.

use std::collections::TryReserveError;

use super::processor::{WordByWord, Words, Work, fetch_ahead, widely};
use super::{Answers, CHUNK, Extent, Filter, Offer, Tag, charge};
use crate::hash::{HashSeed, below_len, mix};
use crate::port::UrlKey;
use crate::sizing::LINE_BITS;
use crate::snapshot::{SnapshotError, SnapshotReader};

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
    /// One divided by the number of lines.
    share: f64,
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
        let share = 1.0 / table.len() as f64;
        Ok(Self { table, seed, ones: 0, sum: 0.0, share })
    }

    fn read(input: &mut SnapshotReader<'_>) -> Result<Self, SnapshotError> {
        let seed = HashSeed::new(input.u64()?);
        let table = input.items(Line::from_bytes)?;
        if table.is_empty() {
            return Err(SnapshotError::Senseless("a filter without a line"));
        }
        let mut ones = 0;
        let mut sum = 0.0;
        let share = 1.0 / table.len() as f64;
        for line in &table {
            let change = WordByWord::change(&[0; 8], &line.0);
            (ones, sum) = (ones + change.added, sum + odds::<BITS>(change.after));
        }
        Ok(Self { table, seed, ones, sum, share })
    }

    #[expect(clippy::inline_always, reason = "see `Work`")]
    #[inline(always)]
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

    #[expect(clippy::inline_always, reason = "see `Work`")]
    #[inline(always)]
    fn touch(&self, spot: &Spot<LINES, BITS>) {
        for &line in &spot.line {
            fetch_ahead(&self.table[line]);
        }
    }

    #[expect(clippy::inline_always, reason = "see `Work`")]
    #[inline(always)]
    fn set<C: Words>(&mut self, spot: &Spot<LINES, BITS>) -> bool {
        let mut found = true;
        for (&index, bits) in spot.line.iter().zip(&spot.bits) {
            let (line, mask) = (&mut self.table[index], Line::mask::<C, BITS>(bits));
            if line.lacks(&mask) {
                found = false;
                let before = *line;
                line.add(&mask);
                let change = C::change(&before.0, &line.0);
                self.ones += change.added;
                self.sum += odds::<BITS>(change.after) - odds::<BITS>(change.before);
            }
        }
        found
    }
}

/// A filter that was written down: its shape decides of which type it is.
pub(super) fn read(input: &mut SnapshotReader<'_>) -> Result<Box<dyn Filter>, SnapshotError> {
    Ok(match (input.u8()?, input.u8()?) {
        (1, 1) => Box::new(Lines::<1, 1>::read(input)?),
        (1, 2) => Box::new(Lines::<1, 2>::read(input)?),
        (2, 1) => Box::new(Lines::<2, 1>::read(input)?),
        (2, 2) => Box::new(Lines::<2, 2>::read(input)?),
        _ => return Err(SnapshotError::Senseless("unknown shape of lines")),
    })
}

impl Line {
    fn from_bytes(bytes: [u8; 64]) -> Self {
        let mut words = [0; 8];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        Self(words)
    }

    #[expect(clippy::inline_always, reason = "see `Work`")]
    #[inline(always)]
    fn mask<C: Words, const BITS: usize>(draws: &[u64; BITS]) -> Self {
        let mut mask = Self::default();
        for draw in draws {
            mask.add(&Self(C::mask(*draw)));
        }
        mask
    }

    #[expect(clippy::inline_always, reason = "see `Work`")]
    #[inline(always)]
    fn lacks(&self, mask: &Self) -> bool {
        let missing = self.0.iter().zip(&mask.0).fold(0, |missing, (word, bits)| missing | (bits & !word));
        missing != 0
    }

    #[expect(clippy::inline_always, reason = "see `Work`")]
    #[inline(always)]
    fn add(&mut self, mask: &Self) {
        for (word, bits) in self.0.iter_mut().zip(&mask.0) {
            *word |= bits;
        }
    }
}

/// The probability that a key of a line is found, from the product of the numbers of set bits of its words: for each word the
/// share of its bits that are set, to the power of the bits drawn in it.
#[expect(clippy::inline_always, reason = "see `Work`")]
#[inline(always)]
fn odds<const BITS: usize>(product: f64) -> f64 {
    power::<BITS>(product * (1.0 / (1_u64 << 48) as f64))
}

#[expect(clippy::inline_always, reason = "see `Work`")]
#[inline(always)]
fn power<const EXPONENT: usize>(value: f64) -> f64 {
    [value; EXPONENT].iter().product()
}

impl<const LINES: usize, const BITS: usize> Filter for Lines<LINES, BITS> {
    fn test_and_set(&mut self, key: UrlKey<'_>) -> bool {
        self.offer(key).is_found()
    }

    fn offer(&mut self, key: UrlKey<'_>) -> Offer {
        widely(One { filter: self, fingerprint: key.hash })
    }

    fn holds(&self, key: UrlKey<'_>) -> bool {
        widely(Search { filter: self, fingerprint: key.hash })
    }

    /// The mean over lines, to the power of the lines of a key: they are drawn independently.
    fn rate(&self) -> f64 {
        power::<LINES>(self.sum * self.share)
    }

    fn extent(&self) -> Extent {
        let bits = self.table.len() as u64 * LINE_BITS;
        Extent { bits, fill: self.ones as f64 / bits as f64, fill_limit: 0.75, steepness: (8 * LINES * BITS) as f64 }
    }

    fn clear(&mut self, seed: HashSeed) {
        self.seed = seed;
        self.table.fill(Line::default());
        (self.ones, self.sum) = (0, 0.0);
    }

    fn write(&self, out: &mut Vec<u8>) {
        let small = |number: usize| u8::try_from(number).unwrap_or(0);
        out.extend([Tag::Lines as u8, small(LINES), small(BITS)]);
        out.extend(self.seed.value().to_le_bytes());
        out.extend((self.table.len() as u64).to_le_bytes());
        out.extend(self.table.iter().flat_map(|line| line.0).flat_map(u64::to_le_bytes));
    }

    fn fetch_ahead(&self, key: UrlKey<'_>) {
        self.touch(&self.spot(key.hash));
    }

    fn test_and_set_all(&mut self, keys: &[UrlKey<'_>], answers: &mut Answers<'_>) {
        widely(Batch { filter: self, keys, answers });
    }
}

/// A key that is to be answered.
struct One<'b, const LINES: usize, const BITS: usize> {
    filter: &'b mut Lines<LINES, BITS>,
    fingerprint: u128,
}

/// A key that is to be looked for.
struct Search<'b, const LINES: usize, const BITS: usize> {
    filter: &'b Lines<LINES, BITS>,
    fingerprint: u128,
}

impl<const LINES: usize, const BITS: usize> Work for One<'_, LINES, BITS> {
    type Output = Offer;

    #[expect(clippy::inline_always, reason = "see `Work`")]
    #[inline(always)]
    fn work<C: Words>(self) -> Offer {
        let spot = self.filter.spot(self.fingerprint);
        self.filter.answer::<C>(&spot)
    }
}

impl<const LINES: usize, const BITS: usize> Work for Search<'_, LINES, BITS> {
    type Output = bool;

    #[expect(clippy::inline_always, reason = "see `Work`")]
    #[inline(always)]
    fn work<C: Words>(self) -> bool {
        let spot = self.filter.spot(self.fingerprint);
        spot.line
            .iter()
            .zip(&spot.bits)
            .all(|(&line, bits)| !self.filter.table[line].lacks(&Line::mask::<C, BITS>(bits)))
    }
}

/// A batch that is to be answered.
struct Batch<'b, 'k, 'a, const LINES: usize, const BITS: usize> {
    filter: &'b mut Lines<LINES, BITS>,
    keys: &'b [UrlKey<'k>],
    answers: &'b mut Answers<'a>,
}

impl<const LINES: usize, const BITS: usize> Work for Batch<'_, '_, '_, LINES, BITS> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "see `Work`")]
    #[inline(always)]
    fn work<C: Words>(self) {
        self.filter.all::<C>(self.keys, self.answers);
    }
}

impl<const LINES: usize, const BITS: usize> Lines<LINES, BITS> {
    /// The answer to a key that lies there.
    #[expect(clippy::inline_always, reason = "see `Work`")]
    #[inline(always)]
    fn answer<C: Words>(&mut self, spot: &Spot<LINES, BITS>) -> Offer {
        let rate = power::<LINES>(self.sum * self.share);
        if self.set::<C>(spot) { Offer::Found } else { Offer::New { charge: charge(rate) } }
    }

    /// The batch's work, compiled once for every processor and once for wide instructions.
    #[expect(clippy::inline_always, reason = "see `Work`")]
    #[inline(always)]
    fn all<C: Words>(&mut self, keys: &[UrlKey<'_>], answers: &mut Answers<'_>) {
        let mut spots = [Spot { line: [0; LINES], bits: [[0; BITS]; LINES] }; CHUNK];
        for chunk in keys.chunks(CHUNK) {
            for (spot, key) in spots.iter_mut().zip(chunk) {
                *spot = self.spot(key.hash);
                self.touch(spot);
            }
            for spot in &spots[..chunk.len()] {
                answers.answer(self.answer::<C>(spot));
            }
        }
    }
}
