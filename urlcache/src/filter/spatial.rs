//! [`Spatial`]: several filters, each with a hash seed of its own; a key is found only if all of them find it.
//!
//! It ties with one filter of the same bits and hashes; its use is to spread the memory over machines, to grow it, and
//! to lose a part of it without losing all (Goytil and Lundberg 2010, chapter 4).

use std::collections::TryReserveError;

use super::{Extent, Filter, Tag, one, read_several, write_several};
use crate::hash::HashSeed;
use crate::port::UrlKey;
use crate::sizing::Plan;
use crate::snapshot::{SnapshotError, SnapshotReader};

/// Filters that must all agree.
pub(crate) struct Spatial {
    filters: Vec<Box<dyn Filter>>,
}

impl Spatial {
    /// As many filters as the plan says.
    ///
    /// # Errors
    /// The allocator has no room for them.
    pub(crate) fn new(plan: Plan, seed: HashSeed) -> Result<Self, TryReserveError> {
        let filters = (0..plan.filters()).map(|index| one(plan, own(seed, index)));
        Ok(Self { filters: filters.collect::<Result<_, _>>()? })
    }

    /// Filters that were written down.
    pub(super) fn read(input: &mut SnapshotReader<'_>, depth: u32) -> Result<Self, SnapshotError> {
        Ok(Self { filters: read_several(input, depth)? })
    }
}

/// The seed of one of them. Generations and sequences use [`HashSeed::derive`] with small numbers.
fn own(seed: HashSeed, index: u32) -> HashSeed {
    seed.derive(u32::MAX, index)
}

impl Filter for Spatial {
    fn test_and_set(&mut self, key: UrlKey<'_>) -> bool {
        self.filters.iter_mut().fold(true, |found, filter| filter.test_and_set(key) & found)
    }

    fn holds(&self, key: UrlKey<'_>) -> bool {
        self.filters.iter().all(|filter| filter.holds(key))
    }

    /// The product: the seeds make them independent.
    fn rate(&self) -> f64 {
        self.filters.iter().map(Filter::rate).product()
    }

    fn extent(&self) -> Extent {
        let extents: Vec<Extent> = self.filters.iter().map(Filter::extent).collect();
        let bits = extents.iter().map(|extent| extent.bits).sum();
        let used: f64 = extents.iter().map(|extent| extent.fill * extent.bits as f64).sum();
        let steepness = extents.iter().map(|extent| extent.steepness).sum();
        Extent { bits, fill: used / bits as f64, fill_limit: extents[0].fill_limit, steepness }
    }

    fn clear(&mut self, seed: HashSeed) {
        for (index, filter) in (0..).zip(&mut self.filters) {
            filter.clear(own(seed, index));
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(Tag::Spatial as u8);
        write_several(&self.filters, out);
    }

    fn fetch_ahead(&self, key: UrlKey<'_>) {
        self.filters.iter().for_each(|filter| filter.fetch_ahead(key));
    }

    fn growing_bits(&self) -> Option<u64> {
        self.filters.iter().map(Filter::growing_bits).sum()
    }

    fn grow(&mut self) -> Result<Option<u64>, TryReserveError> {
        let grown: Vec<Option<u64>> = self.filters.iter_mut().map(Filter::grow).collect::<Result<_, _>>()?;
        Ok(grown.into_iter().min().flatten())
    }
}
