//! [`SingleCache`]: the strategy `single`, one Bloom filter for everything.
//!
//! Owns the count of keys and the charges for what was probably lost. Invariants: no false *new*; the charge of an
//! answer is taken from the bits that were really set just before it. It does not know the budget, nor when it ends.

use crate::classic::Classic;
use crate::config::BuildError;
use crate::hash::HashSeed;
use crate::port::{ErrorSide, Occupancy, UrlCache, UrlKey, Verdict};
use crate::sizing::Plan;

/// One Bloom filter in the classic layout: k probes anywhere in m bits, so up to k cache lines a key.
///
/// ```
/// use urlcache::{HashSeed, Plan, SingleCache, UrlCache, UrlKey, Verdict};
///
/// let plan = Plan::for_losses(0..100_000, 0.5)?;
/// let mut cache = SingleCache::new(plan, 100_000, HashSeed::new(9))?;
/// assert_eq!(cache.insert(UrlKey { bytes: b"http://h/", hash: 1 << 90 }), Verdict::New);
/// assert!(cache.occupancy().bits < 21 * 100_000);
/// # Ok::<(), urlcache::BuildError>(())
/// ```
pub struct SingleCache {
    filter: Classic,
    items: u64,
    capacity: u64,
    expected_lost: f64,
}

impl SingleCache {
    /// An empty filter of this plan; `capacity` is the number of keys the plan was made for.
    ///
    /// # Errors
    /// [`BuildError::Memory`] if the allocator has no room for the plan's bits.
    pub fn new(plan: Plan, capacity: u64, seed: HashSeed) -> Result<Self, BuildError> {
        let memory = |source| BuildError::Memory { bytes: plan.bits() / 8, source };
        let filter = Classic::new(plan, seed).map_err(memory)?;
        Ok(Self { filter, items: 0, capacity, expected_lost: 0.0 })
    }
}

impl UrlCache for SingleCache {
    fn insert(&mut self, key: UrlKey<'_>) -> Verdict {
        let fill = self.filter.fill();
        if self.filter.test_and_set(key.hash) {
            return Verdict::Seen;
        }
        let rate = self.filter.rate_at(fill);
        self.expected_lost += rate / (1.0 - rate);
        self.items += 1;
        Verdict::New
    }

    fn refill(&mut self, key: UrlKey<'_>) {
        self.filter.test_and_set(key.hash);
        self.items += 1;
    }

    fn occupancy(&self) -> Occupancy {
        let fill = self.filter.fill();
        Occupancy {
            items: self.items,
            capacity: self.capacity,
            bits: self.filter.bits(),
            fill,
            expected_rate: self.filter.rate_at(fill),
            expected_lost: self.expected_lost,
        }
    }

    fn error_side(&self) -> ErrorSide {
        ErrorSide::MayMistakeNewForSeen
    }

    /// The hash seed stays: rotating it with the sequence is another strategy.
    fn begin_sequence(&mut self, _sequence: u32) {
        self.filter.clear();
        (self.items, self.expected_lost) = (0, 0.0);
    }

    fn strategy(&self) -> &'static str {
        "single"
    }

    fn layout(&self) -> &'static str {
        "classic"
    }
}
