//! [`CacheConfig`]: turns the user's choices into a cache of the right size.
//!
//! Owns how large a generation is. Invariants: all generations together keep the loss budget; each has a hash seed of
//! its own; a size that memory cannot hold is an error, never an abort.
//!
//! It does not decide when a generation ends: that is the ledger's business.

mod rotation;

use std::collections::TryReserveError;
use std::ops::Range;

use thiserror::Error;

use crate::budget::LossBudget;
use crate::exact::ExactCache;
use crate::family::Hashing;
use crate::filter::LEAST_GROWING;
use crate::filtered::{Blueprint, FilterCache};
use crate::hash::HashSeed;
use crate::port::Cost;
use crate::sizing::{Growth, LayerPlan, MAX_BITS, Plan, Shape, SizingError};
use crate::snapshot::Snapshot;
use crate::strategy::{Layout, ResetPolicy, Strategy};

/// What the first generation has room for when nobody knows how many URLs to expect.
pub const SMALL_START: u64 = 65_536;

/// A cache that is made anew has room for twice the keys there are, as long as these are fewer. Of more than that, memory is
/// dearer than the time of one more rebuild: then for half as many again.
const DOUBLES_UP_TO: u64 = 1 << 22;

/// The choices that make a cache. All but the strategy and the secret have defaults:
///
/// ```
/// use urlcache::{CacheConfig, HashSeed, Strategy};
///
/// let config = CacheConfig::new(Strategy::Single, HashSeed::new(0x5eed));
/// assert_eq!(config.build(0, 0)?.occupancy().capacity, 65_536);
/// assert_eq!(config.build(1, 60_000)?.occupancy().capacity, 120_000);
/// # Ok::<(), urlcache::BuildError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct CacheConfig {
    /// Which cache answers.
    pub strategy: Strategy,
    /// How its bits are arranged (default `auto`); the exact cache has its own.
    pub layout: Layout,
    /// What happens when the budget is about to be overrun (default `rebuild`).
    pub reset: ResetPolicy,
    /// How many URLs may be lost (default an expected 0.5); the exact cache needs none.
    pub budget: LossBudget,
    /// URLs to expect in the sequence; `None` (the default) begins small (65,536) and relies on the reset policy.
    pub expected_urls: Option<u64>,
    /// The secret of the crawl, from which each generation derives its own, and with strategies that rotate each
    /// sequence.
    pub hash_seed: HashSeed,
    /// The crawl sequence, 0 for the first visit.
    pub sequence: u32,
    /// Filters that must all agree under the spatial strategies, 1 to 64 (default 2).
    pub filters: u32,
    /// Layers of the multi-layer strategy, 1 to 63 (default 8): one for scheme and authority, one a path segment.
    pub layers: u32,
    /// Where positions come from (default: the fingerprint). Functions that read the key's bytes are for comparison, with
    /// the strategies `single` and `temporal` and the classic layout.
    pub hashing: Hashing,
    /// Memory the cache may have, in bytes; `None` (the default) is no ceiling.
    pub max_memory: Option<u64>,
}

/// What a cache would be, without making it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Design {
    /// Keys it has room for.
    pub capacity: u64,
    /// Memory, in bits.
    pub bits: u64,
    /// Keys it is expected to lose until it is full, beginning with those that are refilled.
    pub expected_lost: f64,
    /// False-positive rate once it is full.
    pub rate: f64,
    /// The layout that was chosen: `table`, `classic`, `line` or `fingerprint`.
    pub layout: &'static str,
    /// What one test-and-set costs.
    pub cost: Cost,
    /// Whether the memory ceiling made it smaller than the budget asks.
    pub at_ceiling: bool,
    /// With how many keys it keeps the budget: its capacity, unless the ceiling made it smaller.
    pub keeps: u64,
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
    /// The hash functions do not go with the strategy, the layout or the reset policy.
    #[error(
        "hash functions `{hashing}` go with the strategies single and temporal, the layout classic, and not with grow"
    )]
    Hashing {
        /// The functions.
        hashing: Hashing,
    },
    /// The strategy has no form that grows.
    #[error("a {strategy} cache cannot grow: reset it by rebuild, or choose another cache")]
    Growth {
        /// The strategy.
        strategy: Strategy,
    },
    /// Even an almost empty cache would pass the memory ceiling.
    #[error(
        "a URL cache of {keys} URLs does not fit into {limit} bytes{}: allow more memory, choose another cache, or have it rotate",
        needs(*.needed)
    )]
    Ceiling {
        /// Keys it must hold.
        keys: u64,
        /// Bytes that it needs, where that is known.
        needed: Option<u64>,
        /// The ceiling.
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
    /// A cache of this strategy; everything else as by default.
    pub fn new(strategy: Strategy, hash_seed: HashSeed) -> Self {
        Self {
            strategy,
            layout: Layout::Auto,
            reset: ResetPolicy::Rebuild,
            budget: LossBudget::default(),
            expected_urls: None,
            hash_seed,
            sequence: 0,
            filters: 2,
            layers: 8,
            hashing: Hashing::Fingerprint,
            max_memory: None,
        }
    }

    /// Whether the cache looks at the bytes of keys. To one that does not, keys with their hashes alone are the same.
    pub fn reads_text(&self) -> bool {
        let layered = match self.strategy {
            Strategy::Multilayer | Strategy::MultilayerPlain | Strategy::SegmentSet => true,
            Strategy::Exact | Strategy::Single | Strategy::Spatial | Strategy::Temporal | Strategy::SpatioTemporal => {
                false
            }
        };
        layered || self.hashing != Hashing::Fingerprint
    }

    /// The empty cache of generation `generation` (0 is the first), into which `already` keys will be refilled.
    ///
    /// Under [`ResetPolicy::Rebuild`] it has room for as many again, at least for the expected URLs, and is sized to
    /// keep its generation's [share](LossBudget::share) of the budget while that room fills. Count each resumed run as
    /// a generation too. Where a batch waits, [`CacheConfig::build_for`] has room for it.
    ///
    /// Under the other policies there is one size at first: that of the expected URLs, with all of the budget; under
    /// [`ResetPolicy::Grow`] it is enlarged by [`UrlCache::grow`](crate::UrlCache::grow). Under [`ResetPolicy::Rotate`] it
    /// has two generations, which hold the expected URLs together at a rate with which these keep the budget.
    ///
    /// A memory ceiling makes it smaller than the budget asks, if need be: [`CacheConfig::design`] tells. Under
    /// [`ResetPolicy::Stop`] it then has room for the keys with which the budget is kept. One that rotates
    /// keeps its rate under a ceiling, and holds less; if no number of URLs is expected, it takes all the memory it may have.
    ///
    /// # Errors
    /// A senseless budget, or a size beyond [`crate::MAX_BITS`], [`ExactCache::MAX_KEYS`] or the machine's memory; a
    /// memory ceiling that no cache keeps.
    pub fn build(&self, generation: u32, already: u64) -> Result<Box<dyn Snapshot>, BuildError> {
        self.build_for(generation, already, 0)
    }

    /// The same, with room for a batch of so many more keys, however large, under [`ResetPolicy::Rebuild`].
    ///
    /// # Errors
    /// Those of [`CacheConfig::build`].
    pub fn build_for(&self, generation: u32, already: u64, batch: u64) -> Result<Box<dyn Snapshot>, BuildError> {
        let seed = self.hash_seed.derive(generation, 0);
        Ok(match self.sketch(generation, already, batch)? {
            Sketch::Exact { room: Some(room), .. } => Box::new(ExactCache::rotating(room)?),
            Sketch::Exact { keys, room: None } => Box::new(ExactCache::with_capacity(keys)?),
            Sketch::Filters { blueprint, keys, .. } => {
                Box::new(FilterCache::new(self.strategy, &blueprint, keys.end, seed, self.sequence)?)
            }
        })
    }

    /// What [`CacheConfig::build`] would make of the same arguments.
    ///
    /// # Errors
    /// Those of [`CacheConfig::build`], but for want of memory.
    pub fn design(&self, generation: u32, already: u64) -> Result<Design, BuildError> {
        self.design_for(generation, already, 0)
    }

    /// What [`CacheConfig::build_for`] would make of the same arguments.
    ///
    /// # Errors
    /// Those of [`CacheConfig::build`], but for want of memory.
    pub fn design_for(&self, generation: u32, already: u64, batch: u64) -> Result<Design, BuildError> {
        let sketch = self.sketch(generation, already, batch)?;
        let bits = sketch.bits();
        Ok(match sketch {
            Sketch::Exact { keys, room } => {
                let (layout, cost) = ("table", ExactCache::cost_of(if room.is_some() { 2 } else { 1 }));
                Design {
                    capacity: keys,
                    bits,
                    expected_lost: 0.0,
                    rate: 0.0,
                    layout,
                    cost,
                    at_ceiling: false,
                    keeps: keys,
                }
            }
            Sketch::Filters { blueprint, keys, at_ceiling } => Design {
                keeps: if at_ceiling { self.kept_by(&blueprint, keys.end) } else { keys.end },
                capacity: keys.end,
                bits,
                rate: blueprint.rate_at(keys.end),
                expected_lost: blueprint.expected_lost(keys),
                layout: blueprint.plan().shape().layout().name(),
                cost: blueprint.cost(),
                at_ceiling,
            },
        })
    }

    fn sketch(&self, generation: u32, already: u64, batch: u64) -> Result<Sketch, BuildError> {
        if self.hashing != Hashing::Fingerprint && self.strategy != Strategy::Exact && !self.may_hash_otherwise() {
            return Err(BuildError::Hashing { hashing: self.hashing });
        }
        if self.reset == ResetPolicy::Rotate {
            return rotation::sketch(self);
        }
        if self.strategy == Strategy::Exact {
            let keys = already.saturating_add(batch).max(self.expected_urls.unwrap_or(0));
            return match self.max_memory {
                Some(limit) if ExactCache::memory_of(keys) > limit => {
                    Err(BuildError::Ceiling { keys, needed: Some(ExactCache::memory_of(keys)), limit })
                }
                _ => Ok(Sketch::Exact { keys, room: None }),
            };
        }
        if self.reset == ResetPolicy::Grow && self.reads_segments() {
            return Err(BuildError::Growth { strategy: self.strategy });
        }
        let ceiling = self.max_memory.map_or(u64::MAX, |bytes| bytes.saturating_mul(8));
        let (keys, budget) = self.task(generation, already, batch);
        let blueprint = self.blueprint(keys.clone(), &budget)?;
        if blueprint.bits() <= ceiling {
            return Ok(Sketch::Filters { blueprint, keys, at_ceiling: false });
        }
        // The fewest bits may fit where the fastest layout does not.
        let least = Self { layout: Layout::Classic, ..self.clone() };
        if self.layout == Layout::Auto
            && let Ok(blueprint) = least.blueprint(keys.clone(), &budget)
            && blueprint.bits() <= ceiling
        {
            return Ok(Sketch::Filters { blueprint, keys, at_ceiling: false });
        }
        let blueprint = self.squeezed(ceiling, keys.end)?;
        let keys = if self.reset == ResetPolicy::Stop { 0..self.kept_by(&blueprint, keys.end) } else { keys };
        Ok(Sketch::Filters { blueprint, keys, at_ceiling: true })
    }

    /// With how many keys it keeps the budget, `most` at most. One that stops has room for no more: nothing is done when it
    /// errs too often but to end.
    fn kept_by(&self, blueprint: &Blueprint, most: u64) -> u64 {
        let LossBudget { max_lost_urls, max_false_positive_rate } = self.budget;
        let keeps = |keys| {
            max_lost_urls.is_none_or(|losses| blueprint.expected_lost(0..keys) <= losses)
                && max_false_positive_rate.is_none_or(|rate| blueprint.rate_at(keys) <= rate)
        };
        let (mut kept, mut beyond) = (0, most.saturating_add(1));
        while beyond - kept > 1 {
            let middle = kept + (beyond - kept) / 2;
            if keeps(middle) {
                kept = middle;
            } else {
                beyond = middle;
            }
        }
        kept
    }

    /// The keys a generation has room for, from those it begins with, and the losses allowed meanwhile.
    fn task(&self, generation: u32, already: u64, batch: u64) -> (Range<u64>, LossBudget) {
        let expected = self.expected_urls.unwrap_or(SMALL_START).max(1);
        match self.reset {
            ResetPolicy::Rebuild => {
                let room = enlarged(already.max(batch)).max(already.saturating_add(batch));
                (already..expected.max(room), self.budget.share(generation))
            }
            ResetPolicy::Grow => (already..expected.max(already), self.budget),
            ResetPolicy::Rotate | ResetPolicy::Restart | ResetPolicy::Stop | ResetPolicy::None => {
                (0..expected, self.budget)
            }
        }
    }

    fn reads_segments(&self) -> bool {
        matches!(self.strategy, Strategy::Multilayer | Strategy::MultilayerPlain | Strategy::SegmentSet)
    }

    fn may_hash_otherwise(&self) -> bool {
        matches!(self.strategy, Strategy::Single | Strategy::Temporal)
            && matches!(self.layout, Layout::Auto | Layout::Classic)
            && self.reset != ResetPolicy::Grow
    }

    /// The best that fits under a ceiling: classic filters of all the memory there is, with the number of probes that errs
    /// least once they are full.
    fn squeezed(&self, ceiling: u64, keys: u64) -> Result<Blueprint, BuildError> {
        let filters = self.filters_that_agree().max(1);
        let bits = ceiling / u64::from(filters);
        let rate = |probes: &u32| Shape::Classic { probes: *probes }.rate(bits as f64, keys as f64);
        let best = (1..=64).min_by(|a, b| rate(a).total_cmp(&rate(b))).unwrap_or(1);
        let plan = Plan::new(bits, best).ok().filter(|_| !self.reads_segments());
        let plan = plan.ok_or(BuildError::Ceiling { keys, needed: None, limit: ceiling / 8 })?.times(filters);
        Ok(match self.hashing {
            Hashing::Fingerprint => Blueprint::Fixed(plan),
            hashing => Blueprint::Textbook(plan, hashing),
        })
    }

    fn depth(&self) -> Result<u32, SizingError> {
        if (1..=63).contains(&self.layers) { Ok(self.layers) } else { Err(SizingError::Filters(self.layers)) }
    }

    fn blueprint(&self, keys: Range<u64>, budget: &LossBudget) -> Result<Blueprint, SizingError> {
        if self.reset != ResetPolicy::Grow {
            return self.fixed(keys, budget);
        }
        let growth = Growth::new(self.layout, self.filters_that_agree(), keys.end, budget)?;
        let first = growth.slice(0).ok_or(SizingError::Bits { bits: MAX_BITS as f64 })?;
        Ok(Blueprint::Growing(first.with_at_least(LEAST_GROWING), growth))
    }

    fn filters_that_agree(&self) -> u32 {
        if self.strategy.is_spatial() { self.filters } else { 1 }
    }

    /// Filters of one size.
    fn fixed(&self, keys: Range<u64>, budget: &LossBudget) -> Result<Blueprint, SizingError> {
        let classic = || Plan::for_budget(Layout::Classic, keys.clone(), budget);
        Ok(match self.strategy {
            _ if self.hashing != Hashing::Fingerprint => Blueprint::Textbook(classic()?, self.hashing),
            Strategy::MultilayerPlain => {
                // As published: the layers are taken for independent, and all of one size.
                let layers = Plan::spatial(Layout::Classic, self.depth()? + 1, keys, budget)?;
                Blueprint::PlainLayers(layers, self.layers)
            }
            Strategy::SegmentSet => Blueprint::SegmentSet(classic()?, self.depth()?),
            Strategy::Multilayer => Blueprint::Layered(LayerPlan::new(self.layout, self.layers, keys, budget)?),
            _ => Blueprint::Fixed(Plan::spatial(self.layout, self.filters_that_agree(), keys, budget)?),
        })
    }
}

/// How the message of a ceiling says what is needed.
fn needs(needed: Option<u64>) -> String {
    needed.map_or_else(String::new, |bytes| format!(", it needs {bytes}"))
}

/// What is to be made.
enum Sketch {
    /// `room` is that of a generation, if it rotates.
    Exact {
        keys: u64,
        room: Option<u64>,
    },
    Filters {
        blueprint: Blueprint,
        keys: Range<u64>,
        at_ceiling: bool,
    },
}

impl Sketch {
    fn bits(&self) -> u64 {
        match self {
            Self::Exact { room: Some(room), .. } => ExactCache::memory_of(*room) * 16,
            Self::Exact { keys, room: None } => ExactCache::memory_of(*keys) * 8,
            Self::Filters { blueprint, .. } => blueprint.bits(),
        }
    }
}

/// The keys that a cache made anew has room for, when it begins with `already`.
fn enlarged(already: u64) -> u64 {
    let by_half = already.saturating_add(already / 2);
    already.saturating_mul(2).min(by_half.max(2 * DOUBLES_UP_TO))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::UrlKey;

    fn config(reset: ResetPolicy, expected_urls: Option<u64>) -> CacheConfig {
        CacheConfig { reset, expected_urls, ..CacheConfig::new(Strategy::Single, HashSeed::new(1)) }
    }

    fn capacity(config: &CacheConfig, generation: u32, already: u64) -> u64 {
        config.build(generation, already).unwrap().occupancy().capacity
    }

    #[test]
    fn a_generation_has_room_for_as_many_again() {
        let auto = config(ResetPolicy::Rebuild, None);
        assert_eq!([(0, 0), (1, 40_000), (1, 9)].map(|(g, n)| capacity(&auto, g, n)), [65_536, 80_000, 65_536]);
        // Of millions, for half as many.
        assert_eq!([1 << 22, 5_000_000, 10_000_000].map(enlarged), [1 << 23, 1 << 23, 15_000_000]);
        let room = |held, batch| auto.design_for(1, held, batch).unwrap().capacity;
        assert_eq!(
            [room(0, 9), room(9, 100_000), room(8_000_000, 9), room(8_000_000, 6_000_000)],
            [65_536, 200_000, 12_000_000, 14_000_000]
        );
        let expecting = config(ResetPolicy::Rebuild, Some(300));
        assert_eq!([(0, 0), (1, 280), (5, 9)].map(|(g, n)| capacity(&expecting, g, n)), [300, 560, 300]);
        assert_eq!(capacity(&config(ResetPolicy::Rebuild, Some(0)), 0, 0), 1);
    }

    #[test]
    fn without_a_reset_policy_the_size_never_changes() {
        let fixed = config(ResetPolicy::None, Some(1_000));
        let sizes = [(0, 0), (3, 50_000)].map(|(g, n)| fixed.build(g, n).unwrap().occupancy());
        assert_eq!(sizes[0], sizes[1]);
        assert_eq!(sizes[0].bits, Plan::for_budget(Layout::Auto, 0..1_000, &LossBudget::default()).unwrap().bits());
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
    fn who_reads_no_text_needs_none() {
        let all = [Strategy::Exact, Strategy::Single, Strategy::Spatial, Strategy::Temporal, Strategy::SpatioTemporal];
        for strategy in all {
            let config = CacheConfig { strategy, ..config(ResetPolicy::Rebuild, Some(100)) };
            assert!(!config.reads_text());
            let (mut with, mut without) = (config.build(0, 0).unwrap(), config.build(0, 0).unwrap());
            for number in 0..1_000_u128 {
                let text = format!("http://h/{number}");
                let hash = (number % 900).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
                let answer = with.insert(UrlKey { bytes: text.as_bytes(), hash });
                assert_eq!(answer, without.insert(UrlKey { bytes: b"", hash }), "{strategy}");
            }
        }
        let layered = CacheConfig { strategy: Strategy::Multilayer, ..config(ResetPolicy::Rebuild, None) };
        assert!(layered.reads_text());
    }

    #[test]
    fn only_the_exact_cache_needs_no_budget() {
        let budget = LossBudget { max_lost_urls: None, max_false_positive_rate: None };
        let single = CacheConfig { budget, ..config(ResetPolicy::Rebuild, None) };
        assert_eq!(single.build(0, 0).err(), Some(BuildError::Sizing(SizingError::NoLimit)));
        assert!(CacheConfig { strategy: Strategy::Exact, ..single }.build(0, 0).is_ok());
    }

    #[test]
    fn a_memory_ceiling_is_kept_and_reported() {
        let free = config(ResetPolicy::Rebuild, Some(10_000));
        let needed = free.design(0, 0).unwrap().bits / 8;
        for strategy in [Strategy::Single, Strategy::Spatial, Strategy::Temporal] {
            let of = |max_memory| CacheConfig { strategy, max_memory: Some(max_memory), ..free.clone() };
            let (enough, few) = (of(2 * needed).design(0, 0).unwrap(), of(needed / 3).design(0, 0).unwrap());
            assert!(!enough.at_ceiling && enough.expected_lost <= 0.25, "{enough:?}");
            assert!(few.at_ceiling && few.bits <= needed / 3 * 8 && few.expected_lost > 50.0, "{few:?}");
            let cache = of(needed / 3).build(0, 0).unwrap();
            assert_eq!((cache.occupancy().bits, cache.strategy()), (few.bits, strategy.name()));
            // No other number of probes would lose less.
            let better = (1..30).any(|probes| {
                let one = Plan::new(few.bits, probes).unwrap().rate_at(10_000);
                strategy == Strategy::Single && one < few.rate * 0.999
            });
            assert!(!better);
        }
        let none = |strategy| CacheConfig { strategy, max_memory: Some(2_000), ..free.clone() }.build(0, 0).err();
        assert!(matches!(none(Strategy::Multilayer), Some(BuildError::Ceiling { .. })));
        assert!(matches!(none(Strategy::Exact), Some(BuildError::Ceiling { keys: 10_000, limit: 2_000, .. })));
    }

    /// It is not enlarged and must not err more: what it has room for is what it may lose.
    #[test]
    fn under_a_ceiling_a_cache_that_stops_has_room_for_its_budget() {
        for (losses, rate) in [(Some(0.5), None), (None, Some(0.001)), (Some(9.0), Some(0.01))] {
            let budget = LossBudget { max_lost_urls: losses, max_false_positive_rate: rate };
            for max_memory in [64, 1_000, 20_000] {
                let expected_urls = Some(65_536);
                let stop =
                    CacheConfig { budget, max_memory: Some(max_memory), ..config(ResetPolicy::Stop, expected_urls) };
                let design = stop.design(0, 0).unwrap();
                assert!(design.at_ceiling && design.capacity < 65_536, "{budget:?}, {max_memory}: {design:?}");
                let kept = losses.is_none_or(|most| design.expected_lost <= most);
                assert!(kept && rate.is_none_or(|most| design.rate <= most), "{budget:?}, {max_memory}: {design:?}");
                assert_eq!(stop.build(0, 0).unwrap().occupancy().capacity, design.capacity);
            }
        }
    }

    #[test]
    fn printing_it_gives_no_secret_away() {
        let secret = CacheConfig { hash_seed: HashSeed::new(987_654_321), ..config(ResetPolicy::None, None) };
        assert!(!format!("{secret:?}").contains("987654321"));
    }
}
