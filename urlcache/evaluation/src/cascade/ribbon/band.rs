//! [`Band`] and [`Solution`]: what a ribbon is built and asked with, whichever field its values are numbers of.
//!
//! Owns the two interfaces. A *band* takes the equations of one shard, eliminated as they come: Gauss's elimination of rows
//! whose coefficients lie within [`WIDTH`] places (P. Dillinger and S. Walzer, "Ribbon filter: practically smaller than
//! Bloom and Xor", 2021, algorithm 1). Its solution is appended to those of the shards before it. Invariants: a row that is
//! held begins at its own place; the last row that was placed can be taken back without touching any other. Neither knows
//! keys: an equation is a place and 64 random bits, from which its coefficients are drawn.

use std::fmt::Debug;

use crate::cascade::reader::{ReadError, Reader};

/// Places that a row reaches over.
pub(super) const WIDTH: usize = 64;

/// What became of an equation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It is the row that begins here.
    Placed(usize),
    /// Those before it say the same.
    Implied,
    /// It contradicts those before it.
    Contradicted,
}

/// The equations of a shard.
pub(crate) trait Band {
    /// No equations over so many places, for values of so many digits.
    fn new(places: usize, digits: u32) -> Self;

    /// Forgets all equations.
    fn clear(&mut self);

    /// Adds an equation that begins at a place.
    fn add(&mut self, at: usize, random: u64, value: u32) -> Fit;

    /// Takes back the row at a place: the one that was placed last of those still there.
    fn take_back(&mut self, at: usize);
}

/// The solutions of all shards.
pub(crate) trait Solution: Debug + Clone + PartialEq + Eq {
    /// Of a shard.
    type Band: Band;

    /// Values of so many digits over no places.
    fn new(digits: u32) -> Self;

    /// Appends the solution of the next shard. A place where no row begins is 0.
    fn append(&mut self, band: &Self::Band);

    /// No shard comes any more: every window may be read.
    fn finish(&mut self);

    /// The left side of an equation that begins at a place.
    fn value(&self, place: usize, random: u64) -> u32;

    /// Begins to fetch the memory that [`Solution::value`] will need.
    fn fetch_ahead(&self, place: usize);

    /// Memory, in bytes.
    fn bytes(&self) -> usize;

    /// Writes down the solution.
    fn write(&self, out: &mut Vec<u8>);

    /// A finished solution over so many places that was written down.
    fn read(input: &mut Reader<'_>, digits: u32, places: u64) -> Result<Self, ReadError>;
}
