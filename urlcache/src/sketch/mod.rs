//! Sketches: what can be said of a stream in memory that does not grow with it.
//!
//! | question | sketch | memory | relative standard error |
//! |---|---|---|---|
//! | how many different keys? | [`HyperLogLog`] with m registers | m bytes, less for few keys | 1.04/sqrt(m) |
//! | the same, as it is taught | [`FlajoletMartin`] with k hash functions | k bytes | 2.4/sqrt(k) with groups of 4 |
//! | how unevenly do the keys occur? | [`SecondMoment`] with k variables | about 100 k bytes | by the stream, falls with sqrt(k) |
//! | how many nodes lie within d links of a node? | [`Neighbourhoods`] of either distinct count | two sketches a node | that of the sketch |
//! | any share of the keys | [`KeySample`] | the sample | that of a sample of keys |
//!
//! All of them take keys as 128-bit fingerprints (the `hash` of a [`UrlKey`](crate::UrlKey)) and hash these again under a
//! [`HashSeed`](crate::HashSeed). Who does not know the seed cannot choose keys that mislead them.
//!
//! Invariants: the same keys in the same order under the same seed give the same sketch; a distinct count does not depend
//! on the order or on repetitions. Each sketch says beforehand which error to expect ([`Theory`]).
//!
//! It does not know where keys come from, or what a page, a word or a host is.

mod bucket;
mod graph;
mod hyperloglog;
mod moment;
mod neighbourhood;
mod registers;
mod reservoir;
mod sample;
mod tail_law;
mod tails;
#[cfg(test)]
mod trials;

pub use bucket::BucketRange;
pub use graph::{Direction, LinkGraph, UnknownNode};
pub use hyperloglog::{HyperLogLog, Precision};
pub use moment::{Moment, SecondMoment};
pub use neighbourhood::Neighbourhoods;
pub use reservoir::Reservoir;
pub use sample::KeySample;
pub use tails::{FlajoletMartin, TailShape};

/// A sketch that estimates how many different keys it was given.
///
/// ```
/// use urlcache::HashSeed;
/// use urlcache::sketch::{DistinctCount, Precision};
///
/// let precision = Precision::new(10)?;
/// let (mut odd, mut even) = (precision.sketch(HashSeed::new(7)), precision.sketch(HashSeed::new(7)));
/// for key in (0..5_000_u128).chain(0..5_000) {
///     if key % 2 == 0 { even.insert(key) } else { odd.insert(key) }
/// }
/// odd.unite(&even)?;
/// assert!((odd.estimate() / 5_000.0 - 1.0).abs() < 4.0 * precision.theory(5_000.0).standard_error);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait DistinctCount: Clone + PartialEq {
    /// Takes a key in; a key that was there changes nothing.
    fn insert(&mut self, fingerprint: u128);

    /// Becomes the sketch of the keys of both.
    ///
    /// # Errors
    /// The other sketch has another size or another hash seed; nothing has changed then.
    fn unite(&mut self, other: &Self) -> Result<(), Mismatch>;

    /// How many different keys there were, by estimate; 0 if there was none.
    fn estimate(&self) -> f64;
}

/// What theory says of an estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Theory {
    /// The mean of many estimates (each under a hash seed of its own) divided by the truth, minus 1.
    pub bias: f64,
    /// The standard deviation of many estimates divided by the truth.
    pub standard_error: f64,
    /// By how much the kurtosis of many estimates exceeds that of the normal distribution: it says how far the spread of a
    /// few of them may be off.
    pub excess_kurtosis: f64,
}

/// How far many estimates are off a theory, in standard errors: hardly ever more than 4 if it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deviations {
    /// Of their mean, in standard errors of a mean of so many.
    pub mean: f64,
    /// Of their variance, in standard errors of a variance of so many.
    pub variance: f64,
}

impl Theory {
    /// How far estimates are off, each divided by the truth and made under a hash seed of its own. Two at least, else not a
    /// number.
    ///
    /// ```
    /// use urlcache::HashSeed;
    /// use urlcache::sketch::{DistinctCount, Precision};
    ///
    /// let precision = Precision::new(8)?;
    /// let ratios: Vec<f64> = (0..100)
    ///     .map(|seed| {
    ///         let mut sketch = precision.sketch(HashSeed::new(seed));
    ///         (0..500_u128).for_each(|key| sketch.insert(key));
    ///         sketch.estimate() / 500.0
    ///     })
    ///     .collect();
    /// let off = precision.theory(500.0).deviations(&ratios);
    /// assert!(off.mean.abs() < 4.0 && off.variance.abs() < 4.0);
    /// # Ok::<(), urlcache::sketch::ShapeError>(())
    /// ```
    pub fn deviations(&self, ratios: &[f64]) -> Deviations {
        let count = ratios.len() as f64;
        let mean = ratios.iter().sum::<f64>() / count;
        let variance = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let of_mean = self.standard_error / count.sqrt();
        let of_variance = ((2.0 + self.excess_kurtosis.max(0.0)) / (count - 1.0)).sqrt();
        Deviations {
            mean: (mean - 1.0 - self.bias) / of_mean,
            variance: (variance / self.standard_error.powi(2) - 1.0) / of_variance,
        }
    }
}

/// Two sketches that cannot be united.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the sketches differ in size or hash seed; make both from one shape and one seed")]
pub struct Mismatch;

/// A size that a sketch cannot have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// The precision of a [`HyperLogLog`].
    #[error("the precision {0} is outside 6..=18")]
    Precision(u8),
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
