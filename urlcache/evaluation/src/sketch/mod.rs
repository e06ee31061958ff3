//! Sketches that no crawl needs: estimators that are taught, and their exact counterparts.
//!
//! | question | sketch | memory | relative standard error |
//! |---|---|---|---|
//! | how many different keys, as it is taught? | [`FlajoletMartin`] with k hash functions | k bytes | 2.4/sqrt(k) with groups of 4 |
//! | how unevenly do the keys occur? | [`SecondMoment`] with k variables | about 100 k bytes | by the stream, falls with sqrt(k) |
//! | how many nodes lie within d links of a node? | [`Neighbourhoods`] of either distinct count | two sketches a node | that of the sketch |
//! | any share of the keys | [`KeySample`] | the sample | that of a sample of keys |
//!
//! The other distinct count is the library's [`HyperLogLog`](urlcache::sketch::HyperLogLog), and what holds for the
//! [sketches there](urlcache::sketch) holds for these.

mod graph;
mod moment;
mod neighbourhood;
mod reservoir;
mod sample;
mod tail_law;
mod tails;
#[cfg(test)]
mod trials;

pub use graph::{Direction, LinkGraph, UnknownNode};
pub use moment::{Moment, SecondMoment};
pub use neighbourhood::Neighbourhoods;
pub use reservoir::Reservoir;
pub use sample::KeySample;
pub use tails::{FlajoletMartin, TailShape};

/// A size that a sketch cannot have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// The number of groups of a [`FlajoletMartin`].
    #[error("{0} groups are not an odd number in 5..=127")]
    Groups(u8),
    /// The hash functions of a group of a [`FlajoletMartin`].
    #[error("groups of {0} hash functions are outside 1..=64")]
    GroupSize(u8),
    /// The variables and groups of a [`SecondMoment`].
    #[error("{variables} variables cannot be put into {groups} groups of equal size")]
    Variables {
        /// How many variables.
        variables: usize,
        /// How many groups.
        groups: usize,
    },
}
