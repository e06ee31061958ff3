//! [`FilterCache`]: every strategy but `exact`, over filters composed for it.
//!
//! Owns the count of keys, the charges for what was probably lost, and the hash seed of the sequence. Invariants: no
//! false *new*; the charge of an answer is taken from the bits that were really set just before it. It does not know the
//! budget, nor when it ends.

use std::collections::TryReserveError;
use std::ops::Range;

use crate::config::BuildError;
use crate::family::Hashing;
use crate::filter::{
    self, Answers, Classic, Filter, FromBytes, Offer, PlainLayers, Rotating, SegmentSet, Segments, Slices, of_plan,
};
use crate::hash::HashSeed;
use crate::port::{Answer, Cost, ErrorSide, LossFigure, Occupancy, UrlCache, UrlKey};
use crate::sizing::{Growth, LayerPlan, Plan, SizingError};
use crate::snapshot::{SnapshotError, SnapshotReader, named, number};
use crate::strategy::{Layout, Strategy};

/// A cache that may call a new URL seen.
///
/// ```
/// use urlcache::{Answer, FilterCache, HashSeed, Plan, UrlCache, UrlKey};
///
/// let plan = Plan::for_losses(0..100_000, 0.5)?;
/// let mut cache = FilterCache::single(plan, 100_000, HashSeed::new(9))?;
/// assert_eq!(cache.insert(UrlKey { bytes: b"http://h/", hash: 1 << 90 }), Answer::New);
/// assert!(cache.occupancy().bits < 21 * 100_000);
/// # Ok::<(), urlcache::BuildError>(())
/// ```
pub struct FilterCache {
    filter: Box<dyn Filter>,
    strategy: Strategy,
    plan: Plan,
    cost: Cost,
    grows: bool,
    seed: HashSeed,
    items: u64,
    first_capacity: u64,
    capacity: u64,
    charged: f64,
    /// Mean charge of the answers *new* of the latest batch that had one.
    latest_charge: f64,
}

/// The rate from which on the sum of the charges is carried by so few answers *new* that most filters have lost more.
const SATURATED: f64 = 0.99;

/// What the filters of a cache are to be.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Blueprint {
    /// One filter, or several that must all agree.
    Fixed(Plan),
    /// The same, enlarged when it is full.
    Growing(Plan, Growth),
    /// A filter a path segment and one for the combination.
    Layered(LayerPlan),
    /// One filter whose positions are drawn from the key's bytes.
    Textbook(Plan, Hashing),
    /// The published multi-layer filter: so many layers and one more, which are the plan's filters.
    PlainLayers(Plan, u32),
    /// Its baseline.
    SegmentSet(Plan, u32),
    /// Two of another, of which the older is dropped when the younger has so many keys.
    Rotating(Box<Blueprint>, u64),
}

impl FilterCache {
    /// One filter of this plan, or as many as it says; `capacity` is the number of keys the plan was made for.
    ///
    /// # Errors
    /// [`BuildError::Memory`] if the allocator has no room for the plan's bits.
    pub fn single(plan: Plan, capacity: u64, seed: HashSeed) -> Result<Self, BuildError> {
        let strategy = if plan.filters() > 1 { Strategy::Spatial } else { Strategy::Single };
        Self::new(strategy, &Blueprint::Fixed(plan), capacity, seed, 0)
    }

    /// A filter for each layer of path segments, and one for their combination.
    ///
    /// # Errors
    /// [`BuildError::Memory`] if the allocator has no room for the plan's bits.
    pub fn multilayer(plan: LayerPlan, capacity: u64, seed: HashSeed) -> Result<Self, BuildError> {
        Self::new(Strategy::Multilayer, &Blueprint::Layered(plan), capacity, seed, 0)
    }

    /// The multi-layer filter as published, for comparison: `depth` layers (1 to 63) and the XOR layer, each of this classic
    /// plan's bits, rounded up to a power of two so that XOR stays within.
    ///
    /// # Errors
    /// A depth outside 1 to 63; [`BuildError::Memory`] if the allocator has no room for the bits.
    pub fn multilayer_plain(layer: Plan, depth: u32, capacity: u64, seed: HashSeed) -> Result<Self, BuildError> {
        let layers = layer.times(of_layers(depth)? + 1);
        Self::new(Strategy::MultilayerPlain, &Blueprint::PlainLayers(layers, depth), capacity, seed, 0)
    }

    /// The filter that the multi-layer one was published against, for comparison: the parts of each URL, `depth` at most
    /// (1 to 63), all in one classic filter of this plan.
    ///
    /// # Errors
    /// A depth outside 1 to 63; [`BuildError::Memory`] if the allocator has no room for the bits.
    pub fn segment_set(plan: Plan, depth: u32, capacity: u64, seed: HashSeed) -> Result<Self, BuildError> {
        Self::new(Strategy::SegmentSet, &Blueprint::SegmentSet(plan, of_layers(depth)?), capacity, seed, 0)
    }

    /// A cache that was written down.
    pub(crate) fn read(input: &mut SnapshotReader<'_>) -> Result<Self, SnapshotError> {
        let strategy = named(&Strategy::ALL, input.u8()?)?;
        if strategy == Strategy::Exact {
            return Err(SnapshotError::Senseless("an exact cache of filters"));
        }
        Ok(Self {
            strategy,
            plan: Plan::read(input)?,
            cost: Cost { hashes: input.u32()?, cache_lines: input.u32()? },
            grows: input.u8()? == 1,
            seed: HashSeed::new(input.u64()?),
            items: input.count()?,
            first_capacity: input.count()?,
            capacity: input.count()?,
            charged: input.f64()?,
            latest_charge: 0.0,
            filter: filter::read(input)?,
        })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.push(number(&Strategy::ALL, self.strategy));
        self.plan.write(out);
        out.extend(self.cost.hashes.to_le_bytes());
        out.extend(self.cost.cache_lines.to_le_bytes());
        out.push(u8::from(self.grows));
        for count in [self.seed.value(), self.items, self.first_capacity, self.capacity] {
            out.extend(count.to_le_bytes());
        }
        out.extend(self.charged.to_le_bytes());
        self.filter.write(out);
    }

    /// The cache of a strategy in a sequence.
    pub(crate) fn new(
        strategy: Strategy,
        blueprint: &Blueprint,
        capacity: u64,
        seed: HashSeed,
        sequence: u32,
    ) -> Result<Self, BuildError> {
        let memory = |source| BuildError::Memory { bytes: blueprint.bits() / 8, source };
        let filter = blueprint.filter(strategy.seed_of(seed, sequence)).map_err(memory)?;
        let (plan, cost) = (blueprint.plan(), blueprint.cost());
        let (first_capacity, grows) = (capacity, matches!(blueprint, Blueprint::Growing(..)));
        Ok(Self {
            filter,
            strategy,
            plan,
            cost,
            grows,
            seed,
            items: 0,
            first_capacity,
            capacity,
            charged: 0.0,
            latest_charge: 0.0,
        })
    }

    fn figure(&self, rate: f64) -> LossFigure {
        let figure = self.filter.figure();
        if rate >= SATURATED { figure.max(LossFigure::AtLeast) } else { figure }
    }
}

/// A number of layers that can be built.
fn of_layers(depth: u32) -> Result<u32, SizingError> {
    if (1..=63).contains(&depth) { Ok(depth) } else { Err(SizingError::Filters(depth)) }
}

impl Blueprint {
    /// The filters, empty.
    fn filter(&self, seed: HashSeed) -> Result<Box<dyn Filter>, TryReserveError> {
        Ok(match self {
            Self::Growing(plan, growth) if growth.layout() == Layout::Fingerprint => of_plan(*plan, seed)?,
            Self::Growing(plan, growth) => Box::new(Slices::new(*plan, *growth, seed)?),
            Self::Layered(plan) => Box::new(Segments::new(plan, seed)?),
            Self::Fixed(plan) => of_plan(*plan, seed)?,
            Self::Textbook(plan, hashing) => {
                let draw = FromBytes { hashing: *hashing, seed };
                Box::new(Classic::new(plan.bits(), plan.shape().hashes(), draw)?)
            }
            Self::PlainLayers(plan, depth) => {
                Box::new(PlainLayers::new(plan.filter_bits(), *depth, plan.shape().hashes(), seed)?)
            }
            Self::SegmentSet(plan, depth) => {
                Box::new(SegmentSet::new(plan.bits(), *depth, plan.shape().hashes(), seed)?)
            }
            Self::Rotating(one, room) => Box::new(Rotating::new(|seed| one.filter(seed), *room, seed)?),
        })
    }

    /// The plan of the filter that keeps the budget.
    pub(crate) fn plan(&self) -> Plan {
        match self {
            Self::Layered(layers) => layers.combined(),
            Self::Fixed(plan)
            | Self::Growing(plan, _)
            | Self::Textbook(plan, _)
            | Self::PlainLayers(plan, _)
            | Self::SegmentSet(plan, _) => *plan,
            Self::Rotating(one, _) => one.plan(),
        }
    }

    /// The false-positive rate with so many keys.
    pub(crate) fn rate_at(&self, keys: u64) -> f64 {
        let at = |keys| self.plan().rate_at(keys);
        match self {
            Self::Rotating(_, room) => {
                let (young, old) = (at(keys.min(*room)), at(keys.saturating_sub(*room).min(*room)));
                young + old - young * old
            }
            _ => at(keys),
        }
    }

    /// The keys it is expected to lose while it goes from the start of the range to its end: the integral of the rate.
    pub(crate) fn expected_lost(&self, keys: Range<u64>) -> f64 {
        let (plan, width) = (self.plan(), keys.end - keys.start);
        match self {
            // Both generations are filled, the second while the first is full.
            Self::Rotating(_, room) if width == 2 * room => {
                2.0 * plan.expected_lost(0..*room) + *room as f64 * plan.rate_at(*room)
            }
            _ => plan.expected_lost(keys),
        }
    }

    pub(crate) fn bits(&self) -> u64 {
        match self {
            Self::Layered(layers) => layers.bits(),
            Self::PlainLayers(plan, depth) => plan.filter_bits().next_power_of_two() * u64::from(depth + 1),
            Self::Rotating(one, _) => one.bits().saturating_mul(2),
            Self::Fixed(_) | Self::Growing(..) | Self::Textbook(..) | Self::SegmentSet(..) => self.plan().bits(),
        }
    }

    pub(crate) fn cost(&self) -> Cost {
        let of = |plan: &Plan| Cost {
            hashes: plan.filters() * plan.shape().hashes(),
            cache_lines: plan.filters() * plan.shape().cache_lines(),
        };
        let layers = match self {
            Self::Rotating(one, _) => {
                let one = one.cost();
                return Cost { cache_lines: 2 * one.cache_lines, ..one };
            }
            Self::Layered(layers) => layers.layers().to_vec(),
            Self::SegmentSet(plan, depth) => vec![*plan; *depth as usize - 1],
            Self::Fixed(_) | Self::Growing(..) | Self::Textbook(..) | Self::PlainLayers(..) => Vec::new(),
        };
        layers.iter().map(of).fold(of(&self.plan()), |sum, layer| Cost {
            hashes: sum.hashes + layer.hashes,
            cache_lines: sum.cache_lines + layer.cache_lines,
        })
    }
}

impl UrlCache for FilterCache {
    fn insert(&mut self, key: UrlKey<'_>) -> Answer {
        let Offer::New { charge } = self.filter.offer(key) else { return Answer::Seen };
        self.charged += charge;
        self.items += 1;
        self.latest_charge = charge;
        Answer::New
    }

    fn insert_batch(&mut self, keys: &[UrlKey<'_>], answers: &mut Vec<Answer>) {
        answers.clear();
        answers.resize(keys.len(), Answer::Seen);
        let mut answers = Answers::new(answers, self.charged);
        self.filter.test_and_set_all(keys, &mut answers);
        let Answers { new, charged, .. } = answers;
        if new > 0 {
            self.latest_charge = (charged - self.charged) / new as f64;
        }
        (self.charged, self.items) = (charged, self.items + new);
    }

    fn refill(&mut self, key: UrlKey<'_>) {
        self.filter.test_and_set(key);
        self.items += 1;
    }

    fn rotate(&mut self) -> bool {
        self.filter.rotate()
    }

    fn rotations(&self) -> u64 {
        self.filter.rotations()
    }

    fn forgot(&mut self, keys: u64) {
        self.charged = (self.charged - keys as f64 * self.latest_charge).max(0.0);
    }

    fn unknown_among(&self, keys: &[UrlKey<'_>]) -> usize {
        if let [key] = keys {
            return usize::from(!self.filter.holds(*key));
        }
        let unknown = |chunk: &[UrlKey<'_>]| {
            for &key in chunk {
                self.filter.fetch_ahead(key);
            }
            chunk.iter().filter(|key| !self.filter.holds(**key)).count()
        };
        keys.chunks(filter::CHUNK).map(unknown).sum()
    }

    fn occupancy(&self) -> Occupancy {
        let (extent, rate) = (self.filter.extent(), self.filter.rate());
        Occupancy {
            items: self.filter.held().unwrap_or(self.items),
            capacity: self.capacity,
            bits: extent.bits,
            fill: extent.fill,
            fill_limit: extent.fill_limit,
            steepness: extent.steepness,
            expected_rate: rate,
            expected_lost: self.charged,
            figure: self.figure(rate),
        }
    }

    fn error_side(&self) -> ErrorSide {
        if self.filter.held().is_some() { ErrorSide::Both } else { ErrorSide::MayMistakeNewForSeen }
    }

    /// The hash seed rotates with the sequence in strategies that say so; in the others it stays.
    fn begin_sequence(&mut self, sequence: u32) {
        self.filter.clear(self.strategy.seed_of(self.seed, sequence));
        self.items = 0;
        self.charged = 0.0;
        self.latest_charge = 0.0;
        self.capacity = self.first_capacity;
    }

    fn strategy(&self) -> &'static str {
        self.strategy.name()
    }

    fn layout(&self) -> &'static str {
        self.plan.shape().layout().name()
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn growing_bits(&self) -> Option<u64> {
        self.filter.growing_bits().filter(|_| self.grows)
    }

    fn grow(&mut self) -> Result<bool, BuildError> {
        if !self.grows {
            return Ok(false);
        }
        let bytes = self.filter.growing_bits().unwrap_or(0) / 8;
        let grown = self.filter.grow().map_err(|source| BuildError::Memory { bytes, source })?;
        self.capacity = grown.map_or(self.capacity, |times| self.first_capacity.saturating_mul(times));
        Ok(grown.is_some())
    }
}
