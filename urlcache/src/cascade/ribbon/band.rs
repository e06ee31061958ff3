//! [`Band`]: the equations of one shard, eliminated as they come, and solved at the end.
//!
//! Owns Gauss's elimination over GF(2) of rows whose coefficients lie within [`WIDTH`] places (P. Dillinger and S. Walzer,
//! "Ribbon filter: practically smaller than Bloom and Xor", 2021, algorithm 1). Invariants: a row that is held begins at
//! its own place; the last row that was placed can be taken back without touching any other. Does not know keys.

/// Places that a row reaches over.
pub(super) const WIDTH: usize = 64;

/// Bits of a value at most.
pub(super) const MOST_COLUMNS: usize = 32;

/// Rows, each at the place of its first coefficient.
pub(super) struct Band {
    /// Bit j of row i is the coefficient of place i + j; 0 where no row begins.
    rows: Vec<u64>,
    values: Vec<u32>,
}

/// What became of an equation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// It is the row that begins here.
    Placed(usize),
    /// Those before it say the same.
    Implied,
    /// It contradicts those before it.
    Contradicted,
}

impl Band {
    /// No equations over so many places.
    pub(super) fn new(places: usize) -> Self {
        Self { rows: vec![0; places], values: vec![0; places] }
    }

    /// Forgets all equations.
    pub(super) fn clear(&mut self) {
        self.rows.fill(0);
        self.values.fill(0);
    }

    /// Adds an equation. Bit 0 of its coefficients belongs to the place `at`, and is set.
    pub(super) fn add(&mut self, mut at: usize, mut row: u64, mut value: u32) -> Fit {
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

    /// Takes back the row at a place: the one that was placed last of those still there.
    pub(super) fn take_back(&mut self, at: usize) {
        self.rows[at] = 0;
        self.values[at] = 0;
    }

    /// Appends the solution: for each 64 places a word for each column. A place where no row begins is 0.
    pub(super) fn solve(&self, columns: usize, words: &mut Vec<u64>) {
        let first = words.len();
        words.resize(first + self.rows.len() / 64 * columns, 0);
        // Bit j is the solution of the place j after the one that is solved.
        let mut states = [0_u64; MOST_COLUMNS];
        let states = &mut states[..columns];
        for at in (0..self.rows.len()).rev() {
            for (column, state) in states.iter_mut().enumerate() {
                let known = *state << 1;
                let bit = u64::from(self.values[at] >> column & 1) ^ parity(self.rows[at] & known);
                *state = known | bit;
            }
            if at % 64 == 0 {
                let word = first + at / 64 * columns;
                words[word..word + columns].copy_from_slice(states);
            }
        }
    }
}

/// Whether the number of ones is odd.
#[inline]
pub(super) fn parity(word: u64) -> u64 {
    u64::from(word.count_ones() & 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    #[test]
    fn what_was_placed_is_solved_and_what_was_taken_back_is_not_missed() {
        let mut band = Band::new(256);
        let equation = |index: u64| {
            let random = mix(index + 1);
            (usize::try_from(random % 193).unwrap(), mix(random) | 1, (random >> 40) as u32 & 7)
        };
        let mut held = Vec::new();
        for index in 0..150 {
            let (at, row, value) = equation(index);
            match band.add(at, row, value) {
                Fit::Placed(place) if index % 3 == 0 => band.take_back(place),
                Fit::Placed(_) | Fit::Implied => held.push(index),
                Fit::Contradicted => {}
            }
        }
        assert!(held.len() > 60);
        let mut words = Vec::new();
        band.solve(3, &mut words);
        let bit = |place: usize, column: usize| words[place / 64 * 3 + column] >> (place % 64) & 1;
        for index in held {
            let (at, row, value) = equation(index);
            for column in 0..3 {
                let sum = (0..WIDTH).filter(|j| row >> j & 1 == 1).map(|j| bit(at + j, column)).sum::<u64>();
                assert_eq!(sum & 1, u64::from(value >> column & 1), "equation {index}");
            }
        }
        band.clear();
        assert_eq!(band.add(3, 1, 5), Fit::Placed(3));
        assert_eq!(band.add(3, 1, 5), Fit::Implied);
        assert_eq!(band.add(3, 1, 4), Fit::Contradicted);
    }
}
