//! [`CacheConfig`]: from what the user chose to a cache of the right size.
//!
//! Owns how large a generation is. Invariants: all generations together keep the loss budget; each has a hash seed of
//! its own; a size that memory cannot hold is an error, never an abort.
//!
//! It does not decide when a generation ends: that is the ledger's business.

use std::collections::TryReserveError;

use thiserror::Error;

use crate::budget::LossBudget;
use crate::exact::ExactCache;
use crate::hash::HashSeed;
use crate::port::UrlCache;
use crate::single::SingleCache;
use crate::sizing::{Plan, SizingError};
use crate::strategy::{ResetPolicy, Strategy};

/// What the first generation has room for when nobody knows how many URLs to expect.
const SMALL_START: u64 = 65_536;

/// The choices that make a cache.
///
/// ```
/// use urlcache::{CacheConfig, HashSeed, LossBudget, ResetPolicy, Strategy};
///
/// let config = CacheConfig {
///     strategy: Strategy::Single,
///     reset: ResetPolicy::Rebuild,
///     budget: LossBudget::default(),
///     expected_urls: None,
///     hash_seed: HashSeed::new(0x5eed),
/// };
/// assert_eq!(config.build(0, 0)?.occupancy().capacity, 65_536);
/// assert_eq!(config.build(1, 60_000)?.occupancy().capacity, 120_000);
/// # Ok::<(), urlcache::BuildError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct CacheConfig {
    /// Which cache answers.
    pub strategy: Strategy,
    /// What happens when the budget is about to be overrun.
    pub reset: ResetPolicy,
    /// How many URLs may be lost; the exact cache needs none.
    pub budget: LossBudget,
    /// URLs to expect in the sequence; `None` begins small (65,536) and relies on the reset policy.
    pub expected_urls: Option<u64>,
    /// The secret of the sequence, from which each generation derives its own.
    pub hash_seed: HashSeed,
}

/// Why a cache cannot be made.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum BuildError {
    /// No filter can keep the budget.
    #[error(transparent)]
    Sizing(#[from] SizingError),
    /// More keys than the exact cache may be asked to hold.
    #[error("an exact cache of {keys} URLs is above its limit of {limit}: expect fewer URLs or choose another cache")]
    TooManyKeys {
        /// Keys asked for.
        keys: u64,
        /// The most it holds.
        limit: u64,
    },
    /// The allocator has no room.
    #[error("no memory for a URL cache of {bytes} bytes: expect fewer URLs or allow more losses")]
    Memory {
        /// Size of the table.
        bytes: u64,
        /// What the allocator said.
        source: TryReserveError,
    },
}

impl CacheConfig {
    /// The empty cache of generation `generation` (0 is the first), into which `already` keys will be refilled.
    ///
    /// Under [`ResetPolicy::Rebuild`] it has room for as many again, at least for the expected URLs, and is sized to
    /// keep its generation's [share](LossBudget::share) of the budget while that room fills. Count each resumed run as
    /// a generation too. A caller with a batch larger than the table so far may give the batch's size as `already`.
    ///
    /// Under [`ResetPolicy::None`] there is one size for ever: that of the expected URLs, with all of the budget.
    ///
    /// # Errors
    /// A senseless budget, or a size beyond [`crate::MAX_BITS`], [`ExactCache::MAX_KEYS`] or the machine's memory.
    pub fn build(&self, generation: u32, already: u64) -> Result<Box<dyn UrlCache>, BuildError> {
        Ok(match self.strategy {
            Strategy::Exact => Box::new(ExactCache::with_capacity(already.max(self.expected_urls.unwrap_or(0)))?),
            Strategy::Single => Box::new(self.single(generation, already)?),
        })
    }

    fn single(&self, generation: u32, already: u64) -> Result<SingleCache, BuildError> {
        let expected = self.expected_urls.unwrap_or(SMALL_START).max(1);
        let (keys, budget) = match self.reset {
            ResetPolicy::Rebuild => (already..expected.max(already.saturating_mul(2)), self.budget.share(generation)),
            ResetPolicy::None => (0..expected, self.budget),
        };
        let plan = Plan::for_budget(keys.clone(), &budget)?;
        SingleCache::new(plan, keys.end, self.hash_seed.derive(generation, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(reset: ResetPolicy, expected_urls: Option<u64>) -> CacheConfig {
        let (budget, hash_seed) = (LossBudget::default(), HashSeed::new(1));
        CacheConfig { strategy: Strategy::Single, reset, budget, expected_urls, hash_seed }
    }

    fn capacity(config: &CacheConfig, generation: u32, already: u64) -> u64 {
        config.build(generation, already).unwrap().occupancy().capacity
    }

    #[test]
    fn a_generation_has_room_for_as_many_again() {
        let auto = config(ResetPolicy::Rebuild, None);
        assert_eq!([(0, 0), (1, 40_000), (1, 9)].map(|(g, n)| capacity(&auto, g, n)), [65_536, 80_000, 65_536]);
        let expecting = config(ResetPolicy::Rebuild, Some(300));
        assert_eq!([(0, 0), (1, 280), (5, 9)].map(|(g, n)| capacity(&expecting, g, n)), [300, 560, 300]);
        assert_eq!(capacity(&config(ResetPolicy::Rebuild, Some(0)), 0, 0), 1);
    }

    #[test]
    fn without_a_reset_policy_the_size_never_changes() {
        let fixed = config(ResetPolicy::None, Some(1_000));
        let sizes = [(0, 0), (3, 50_000)].map(|(g, n)| fixed.build(g, n).unwrap().occupancy());
        assert_eq!(sizes[0], sizes[1]);
        assert_eq!(sizes[0].bits, Plan::for_losses(0..1_000, 0.5).unwrap().bits());
    }

    #[test]
    fn absurd_sizes_are_errors_that_say_what_to_do() {
        for strategy in Strategy::ALL {
            let absurd = CacheConfig { strategy, ..config(ResetPolicy::Rebuild, Some(1_000_000_000_000_000)) };
            let message = absurd.build(0, 0).err().unwrap().to_string();
            assert!(message.contains("expect fewer URLs"), "{message}");
            assert!(absurd.build(1, u64::MAX).is_err());
        }
    }

    #[test]
    fn only_the_exact_cache_needs_no_budget() {
        let budget = LossBudget { max_lost_urls: None, max_false_positive_rate: None };
        let single = CacheConfig { budget, ..config(ResetPolicy::Rebuild, None) };
        assert_eq!(single.build(0, 0).err(), Some(BuildError::Sizing(SizingError::NoLimit)));
        assert!(CacheConfig { strategy: Strategy::Exact, ..single }.build(0, 0).is_ok());
    }

    #[test]
    fn printing_it_gives_no_secret_away() {
        let secret = CacheConfig { hash_seed: HashSeed::new(987_654_321), ..config(ResetPolicy::None, None) };
        assert!(!format!("{secret:?}").contains("987654321"));
    }
}
