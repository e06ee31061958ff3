//! [`BitArray`]: a fixed number of bits that knows how many of them are set.
//!
//! Invariant: `ones` equals the number of set bits. It does not know what the bits mean.

use std::collections::TryReserveError;

use super::processor::fetch_ahead;
use crate::snapshot::{SnapshotError, SnapshotReader};

/// A fixed number of bits, all clear at first.
pub(crate) struct BitArray {
    words: Vec<u64>,
    len: u64,
    ones: u64,
}

impl BitArray {
    /// `len` clear bits.
    ///
    /// # Errors
    /// The allocator has no room for them.
    pub(crate) fn new(len: u64) -> Result<Self, TryReserveError> {
        let count = usize::try_from(len.div_ceil(64)).unwrap_or(usize::MAX);
        let mut words = Vec::new();
        words.try_reserve_exact(count)?;
        words.resize(count, 0);
        Ok(Self { words, len, ones: 0 })
    }

    /// Bits that were written down.
    pub(crate) fn read(input: &mut SnapshotReader<'_>) -> Result<Self, SnapshotError> {
        let len = input.u64()?;
        let words = input.items(u64::from_le_bytes)?;
        let spare = (words.len() as u64 * 64).checked_sub(len).filter(|spare| *spare < 64 && len > 0);
        let spare = spare.ok_or(SnapshotError::Senseless("the number of bits does not fit their words"))?;
        if words.last().is_some_and(|last| u64::from(last.leading_zeros()) < spare) {
            return Err(SnapshotError::Senseless("bits are set beyond the last"));
        }
        let ones = words.iter().map(|word| u64::from(word.count_ones())).sum();
        Ok(Self { words, len, ones })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.len.to_le_bytes());
        out.extend((self.words.len() as u64).to_le_bytes());
        out.extend(self.words.iter().flat_map(|word| word.to_le_bytes()));
    }

    /// Number of bits.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Number of set bits.
    pub(crate) fn ones(&self) -> u64 {
        self.ones
    }

    /// Sets the bit at a position below the length.
    pub(crate) fn set(&mut self, position: u64) {
        let (word, bit) = (&mut self.words[(position / 64) as usize], position % 64);
        self.ones += u64::from(*word >> bit & 1 == 0);
        *word |= 1 << bit;
    }

    /// Begins to fetch the memory of a position: nobody waits for it.
    pub(crate) fn touch(&self, position: u64) {
        fetch_ahead(&self.words[(position / 64) as usize]);
    }

    /// Whether the bit is set.
    pub(crate) fn get(&self, position: u64) -> bool {
        self.words[(position / 64) as usize] >> (position % 64) & 1 == 1
    }

    /// Clears every bit.
    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
        self.ones = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn is_a_set_of_positions(positions in prop::collection::vec(0_u64..100, 0..80)) {
            let mut bits = BitArray::new(100).unwrap();
            for &position in &positions {
                bits.set(position);
            }
            let oracle: BTreeSet<u64> = positions.into_iter().collect();
            prop_assert_eq!(bits.ones(), oracle.len() as u64);
            prop_assert!((0..100).all(|position| bits.get(position) == oracle.contains(&position)));
            bits.clear();
            prop_assert_eq!(bits.ones(), 0);
            prop_assert!((0..100).all(|position| !bits.get(position)));
        }
    }

    /// Ullman's worked example: eleven bits; a number's odd-numbered bits from the right, and its even-numbered ones, each
    /// read as a number modulo 11.
    #[test]
    fn ullmans_example() {
        let every_second = |number: u64, first: u32| {
            let bits = (first..64).step_by(2).map(|at| number >> at & 1);
            bits.enumerate().map(|(place, bit)| bit << place).sum::<u64>() % 11
        };
        let hashes = |number| [every_second(number, 0), every_second(number, 1)];
        let mut bits = BitArray::new(11).unwrap();
        for number in [25, 159, 585] {
            for position in hashes(number) {
                bits.set(position);
            }
        }
        let shown: String = (0..11).map(|position| if bits.get(position) { '1' } else { '0' }).collect();
        assert_eq!(shown, "10100101010");
        assert_eq!(hashes(118).map(|position| bits.get(position)), [false, true]);
    }

    #[test]
    fn refuses_what_does_not_fit_into_memory() {
        assert!(BitArray::new(u64::MAX).is_err());
    }
}
