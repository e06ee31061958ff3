//! [`TritBand`] and [`Trits`]: values 0, 1 and 2, as numbers of GF(3).
//!
//! Owns elimination and storage. A binary code spends 1.67 bits on one of three equal classes, where there are 1.585 bits
//! to tell; a number of GF(3) takes 1.6 here, five of them in a byte. A row of numbers is two words, one with a bit for
//! each 1, one for each 2.

use urlcache::fetch_ahead;
use urlcache::hash::mix;

use super::band::{Band, Fit, Solution};
use crate::cascade::reader::{ReadError, Reader};

/// Numbers in a byte.
const PACKED: usize = 5;

/// Bytes that a window may touch.
const WINDOW: usize = 14;

/// What a number is worth, by its place in the byte.
const WORTH: [u8; PACKED] = [1, 3, 9, 27, 81];

/// The numbers of a byte.
const UNPACKED: [Row; 256] = unpacked();

/// Numbers of 64 places, or some of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Row {
    ones: u64,
    twos: u64,
}

impl Row {
    /// Coefficients, the first of which is 1.
    #[inline]
    fn drawn(random: u64) -> Self {
        let sign = mix(random);
        Self { ones: random & sign | 1, twos: random & !sign & !1 }
    }

    fn negative(self) -> Self {
        Self { ones: self.twos, twos: self.ones }
    }

    fn plus(self, other: Self) -> Self {
        let (none, no_other) = (!(self.ones | self.twos), !(other.ones | other.twos));
        Self {
            ones: self.ones & no_other | none & other.ones | self.twos & other.twos,
            twos: self.twos & no_other | none & other.twos | self.ones & other.ones,
        }
    }

    fn is_zero(self) -> bool {
        self.ones | self.twos == 0
    }

    /// The sum of the products, place by place.
    #[inline]
    fn times(self, other: Self) -> u32 {
        let plus = (self.ones & other.ones | self.twos & other.twos).count_ones();
        let minus = (self.ones & other.twos | self.twos & other.ones).count_ones();
        (plus + 2 * minus) % 3
    }
}

const fn unpacked() -> [Row; 256] {
    let mut all = [Row { ones: 0, twos: 0 }; 256];
    let mut byte = 0;
    while byte < 243 {
        let mut place = 0;
        while place < PACKED {
            match byte / WORTH[place] as usize % 3 {
                1 => all[byte].ones |= 1 << place,
                2 => all[byte].twos |= 1 << place,
                _ => {}
            }
            place += 1;
        }
        byte += 1;
    }
    all
}

/// Rows, each at the place of its first coefficient, which is 1.
pub(crate) struct TritBand {
    rows: Vec<Row>,
    values: Vec<u8>,
}

/// Solved numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trits {
    places: usize,
    /// Finished with [`WINDOW`] bytes of 0.
    bytes: Vec<u8>,
}

impl Band for TritBand {
    fn new(places: usize, _digits: u32) -> Self {
        Self { rows: vec![Row::default(); places], values: vec![0; places] }
    }

    fn clear(&mut self) {
        self.rows.fill(Row::default());
        self.values.fill(0);
    }

    fn add(&mut self, mut at: usize, random: u64, value: u32) -> Fit {
        let mut row = Row::drawn(random);
        let mut value = value % 3;
        loop {
            // The first coefficient becomes 1.
            if row.twos & 1 == 1 {
                row = row.negative();
                value = 2 * value % 3;
            }
            if self.rows[at].is_zero() {
                self.rows[at] = row;
                self.values[at] = u8::try_from(value).unwrap_or_default();
                return Fit::Placed(at);
            }
            row = row.plus(self.rows[at].negative());
            value = (value + 2 * u32::from(self.values[at])) % 3;
            if row.is_zero() {
                return if value == 0 { Fit::Implied } else { Fit::Contradicted };
            }
            let zeros = (row.ones | row.twos).trailing_zeros();
            row = Row { ones: row.ones >> zeros, twos: row.twos >> zeros };
            at += zeros as usize;
        }
    }

    fn take_back(&mut self, at: usize) {
        self.rows[at] = Row::default();
        self.values[at] = 0;
    }
}

impl Solution for Trits {
    type Band = TritBand;

    fn new(_digits: u32) -> Self {
        Self { places: 0, bytes: Vec::new() }
    }

    fn append(&mut self, band: &TritBand) {
        let first = self.places;
        self.places += band.rows.len();
        self.bytes.resize(self.places.div_ceil(PACKED), 0);
        let mut known = Row::default();
        for at in (0..band.rows.len()).rev() {
            known = Row { ones: known.ones << 1, twos: known.twos << 1 };
            let number = match (u32::from(band.values[at]) + 2 * band.rows[at].times(known)) % 3 {
                _ if band.rows[at].is_zero() => 0,
                number => number,
            };
            known.ones |= u64::from(number == 1);
            known.twos |= u64::from(number == 2);
            let place = first + at;
            self.bytes[place / PACKED] += WORTH[place % PACKED] * u8::try_from(number).unwrap_or_default();
        }
    }

    fn finish(&mut self) {
        self.bytes.resize(self.bytes.len() + WINDOW, 0);
    }

    #[inline]
    fn value(&self, place: usize, random: u64) -> u32 {
        let (first, skipped) = (place / PACKED, place % PACKED);
        let (mut ones, mut twos) = (0_u128, 0_u128);
        for (index, byte) in self.bytes[first..first + WINDOW].iter().enumerate() {
            let numbers = UNPACKED[usize::from(*byte)];
            ones |= u128::from(numbers.ones) << (PACKED * index);
            twos |= u128::from(numbers.twos) << (PACKED * index);
        }
        let window = |numbers: u128| (numbers >> skipped & u128::from(u64::MAX)) as u64;
        Row { ones: window(ones), twos: window(twos) }.times(Row::drawn(random))
    }

    #[inline]
    fn fetch_ahead(&self, place: usize) {
        fetch_ahead(&self.bytes[place / PACKED]);
        fetch_ahead(&self.bytes[place / PACKED + WINDOW - 1]);
    }

    fn bytes(&self) -> usize {
        self.bytes.len()
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend(&self.bytes[..self.bytes.len() - WINDOW]);
    }

    fn read(input: &mut Reader<'_>, _digits: u32, places: u64) -> Result<Self, ReadError> {
        let bytes = input.bytes(places.div_ceil(PACKED as u64))?;
        let places = usize::try_from(places).map_err(|_| ReadError::Senseless("a ribbon beyond all bounds"))?;
        let mut read = Self { places, bytes };
        read.finish();
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_products_are_those_of_three() {
        let number = |row: Row| row.ones & 1 | (row.twos & 1) << 1;
        let rows = [Row::default(), Row { ones: 1, twos: 0 }, Row { ones: 0, twos: 1 }];
        for (a, one) in (0_u32..).zip(rows) {
            for (b, other) in (0_u32..).zip(rows) {
                assert_eq!(number(one.plus(other)), u64::from((a + b) % 3));
                assert_eq!(one.times(other), a * b % 3);
            }
        }
    }
}
