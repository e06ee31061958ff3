//! [`BitBand`] and [`Bits`]: values of some bits, as that many numbers of GF(2).
//!
//! Owns elimination and storage: for each 64 places a word for each column, side by side, so that a value is read from one
//! or two cache lines.

use urlcache::fetch_ahead;

use super::band::{Band, Fit, Solution};
use crate::cascade::reader::{ReadError, Reader};

/// Bits of a value at most.
pub(crate) const MOST_COLUMNS: u32 = 32;

/// Rows, each at the place of its first coefficient.
pub(crate) struct BitBand {
    /// Bit j of row i is the coefficient of place i + j; 0 where no row begins.
    rows: Vec<u64>,
    values: Vec<u32>,
}

/// Solved columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bits {
    columns: usize,
    /// Finished with as many words of 0 as columns.
    words: Vec<u64>,
}

impl Band for BitBand {
    fn new(places: usize, _digits: u32) -> Self {
        Self { rows: vec![0; places], values: vec![0; places] }
    }

    fn clear(&mut self) {
        self.rows.fill(0);
        self.values.fill(0);
    }

    fn add(&mut self, mut at: usize, random: u64, mut value: u32) -> Fit {
        let mut row = random | 1;
        loop {
            if self.rows[at] == 0 {
                self.rows[at] = row;
                self.values[at] = value;
                return Fit::Placed(at);
            }
            row ^= self.rows[at];
            value ^= self.values[at];
            if row == 0 {
                return if value == 0 { Fit::Implied } else { Fit::Contradicted };
            }
            let zeros = row.trailing_zeros();
            row >>= zeros;
            at += zeros as usize;
        }
    }

    fn take_back(&mut self, at: usize) {
        self.rows[at] = 0;
        self.values[at] = 0;
    }
}

impl Solution for Bits {
    type Band = BitBand;

    fn new(digits: u32) -> Self {
        Self { columns: digits as usize, words: Vec::new() }
    }

    fn append(&mut self, band: &BitBand) {
        let first = self.words.len();
        self.words.resize(first + band.rows.len() / 64 * self.columns, 0);
        // Bit j is the solution of the place j after the one that is solved.
        let mut states = [0_u64; MOST_COLUMNS as usize];
        let states = &mut states[..self.columns];
        for at in (0..band.rows.len()).rev() {
            for (column, state) in states.iter_mut().enumerate() {
                let known = *state << 1;
                let bit = u64::from(band.values[at] >> column & 1) ^ parity(band.rows[at] & known);
                *state = known | bit;
            }
            if at % 64 == 0 {
                let word = first + at / 64 * self.columns;
                self.words[word..word + self.columns].copy_from_slice(states);
            }
        }
    }

    fn finish(&mut self) {
        self.words.resize(self.words.len() + self.columns, 0);
    }

    #[inline]
    fn value(&self, place: usize, random: u64) -> u32 {
        let (first, shift) = (place / 64 * self.columns, place % 64);
        let (low, high) = self.words[first..first + 2 * self.columns].split_at(self.columns);
        let mut value = 0;
        for (column, (low, high)) in low.iter().zip(high).enumerate() {
            let window = low >> shift | high << 1 << (63 - shift);
            value |= u32::from(parity(window & (random | 1)) == 1) << column;
        }
        value
    }

    #[inline]
    fn fetch_ahead(&self, place: usize) {
        let first = place / 64 * self.columns;
        fetch_ahead(&self.words[first]);
        fetch_ahead(&self.words[first + 2 * self.columns - 1]);
    }

    fn bytes(&self) -> usize {
        self.words.len() * 8
    }

    fn write(&self, out: &mut Vec<u8>) {
        let words = &self.words[..self.words.len() - self.columns];
        out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }

    fn read(input: &mut Reader<'_>, digits: u32, places: u64) -> Result<Self, ReadError> {
        let count = (places / 64).checked_mul(u64::from(digits));
        let words = input.words(count.ok_or(ReadError::Senseless("a ribbon beyond all bounds"))?)?;
        let mut read = Self { columns: digits as usize, words };
        read.finish();
        Ok(read)
    }
}

/// Whether the number of ones is odd.
#[inline]
fn parity(word: u64) -> u64 {
    u64::from(word.count_ones() & 1)
}
