//! Sketches: what can be said of a stream in memory that does not grow with it.
//!
//! | question | sketch | memory | relative standard error |
//! |---|---|---|---|
//! | how many different keys? | [`HyperLogLog`] with m registers | m bytes, less for few keys | 1.04/sqrt(m) |
//! | with how many different partners did each key come? | [`PartnerCounts`] | fixed | few are distinguished, up to a dozen |
//! | what happens to some of the keys? | a set of those that a [`BucketRange`] accepts | the set | that of a sample of keys |
//!
//! Callers can bring their own [`DistinctCount`]. All take keys as 128-bit fingerprints (the `hash` of a [`UrlKey`](crate::UrlKey)) and
//! hash these again under a [`HashSeed`](crate::HashSeed). Without the seed, nobody can choose keys that mislead them.
//!
//! Invariants: the same keys in the same order under the same seed give the same sketch; a distinct count does not depend
//! on the order or on repetitions. Each sketch says beforehand which error to expect ([`Theory`]).
//!
//! It does not know where keys come from, or what a page, a word or a host is.

mod bucket;
mod hyperloglog;
mod partners;
mod registers;

pub use bucket::BucketRange;
pub use hyperloglog::{HyperLogLog, Precision};
pub use partners::{PartnerBits, PartnerCounts};

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
}

/// The fingerprint of key number `key`, for tests.
#[cfg(test)]
fn fingerprint(key: u64) -> u128 {
    xxhash_rust::xxh3::xxh3_128_with_seed(&key.to_le_bytes(), 0x7465_7374)
}
