//! [`FalsePositives`]: the rate of a cache, measured by queries alone.
//!
//! It asks for keys that were never offered, and inserts none of them, so the cache stays as full as it is. It does not know
//! whether the keys were really never offered: that is the caller's business.

use crate::interval::Interval;
use crate::port::{UrlCache, UrlKey};

/// How many of the keys that were asked for were found, though none was ever offered.
///
/// ```
/// use urlcache::{FalsePositives, FilterCache, HashSeed, Plan, UrlCache, UrlKey};
///
/// // A filter of fixed size: 10,000 bits, 7 probes, 1,000 keys.
/// let seed = HashSeed::new(3);
/// let mut cache = FilterCache::single(Plan::new(10_000, 7)?, 1_000, seed)?;
/// let urls: Vec<String> = (0..21_000).map(|index| format!("http://h/{index}")).collect();
/// let keys: Vec<_> = urls.iter().map(|url| UrlKey::new(url.as_bytes(), seed)).collect();
/// keys[..1_000].iter().for_each(|key| cache.refill(*key));
///
/// let measured = FalsePositives::of(&cache, &keys[1_000..]);
/// assert!((measured.rate() / cache.occupancy().expected_rate - 1.0).abs() < 0.3);
/// # Ok::<(), urlcache::BuildError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FalsePositives {
    /// Keys that were asked for.
    pub queried: u64,
    /// Those that were found.
    pub found: u64,
}

impl FalsePositives {
    /// Asks for keys that were never offered.
    pub fn of(cache: &(impl UrlCache + ?Sized), absent: &[UrlKey<'_>]) -> Self {
        let queried = absent.len();
        Self { queried: queried as u64, found: (queried - cache.unknown_among(absent)) as u64 }
    }

    /// Both measurements together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { queried: self.queried + other.queried, found: self.found + other.found }
    }

    /// The share that was found, 0 to 1; 0 where nothing was asked for.
    pub fn rate(self) -> f64 {
        if self.queried == 0 { 0.0 } else { self.found as f64 / self.queried as f64 }
    }

    /// Where the true rate lies, with this confidence.
    pub fn interval(self, confidence: f64) -> Interval {
        Interval::exact(self.found, self.queried, confidence)
    }
}
