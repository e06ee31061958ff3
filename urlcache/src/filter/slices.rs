//! [`Slices`]: a filter that grows by further filters, each larger and stricter than the one before.
//!
//! The scalable Bloom filter of P. Almeida, C. Baquero, N. Preguiça and D. Hutchison (IPL 2007): slice i has room for
//! 4^i times the keys of the first, and a rate of `r^i` times its rate, r = 0.8; the first has `1 - r` of the target, so
//! all slices together stay below it however many there will be. That bounds a rate, not a number of losses: slices
//! that are full go on charging their end rate to every later key.

use std::collections::TryReserveError;

use super::{Extent, Filter, Offer, Tag, of_plan, read_several, write_several};
use crate::hash::HashSeed;
use crate::port::UrlKey;
use crate::sizing::{Growth, Plan};
use crate::snapshot::{SnapshotError, SnapshotReader};

/// Filters of which the last takes what is new.
pub(crate) struct Slices {
    parts: Vec<Box<dyn Filter>>,
    growth: Growth,
    seed: HashSeed,
}

impl Slices {
    /// The first slice.
    ///
    /// # Errors
    /// The allocator has no room for it.
    pub(crate) fn new(first: Plan, growth: Growth, seed: HashSeed) -> Result<Self, TryReserveError> {
        Ok(Self { parts: vec![of_plan(first, own(seed, 0))?], growth, seed })
    }

    /// Slices that were written down.
    pub(super) fn read(input: &mut SnapshotReader<'_>, depth: u32) -> Result<Self, SnapshotError> {
        let (seed, growth) = (HashSeed::new(input.u64()?), Growth::read(input)?);
        Ok(Self { parts: read_several(input, depth)?, growth, seed })
    }

    fn count(&self) -> u32 {
        u32::try_from(self.parts.len()).unwrap_or(u32::MAX)
    }

    fn older(&self) -> &[Box<dyn Filter>] {
        &self.parts[..self.parts.len() - 1]
    }

    fn newest(&mut self) -> &mut Box<dyn Filter> {
        self.parts.last_mut().expect("there is always a slice")
    }
}

/// Whether one of them finds the key, without setting anything.
fn looked_up(slices: &[Box<dyn Filter>], key: UrlKey<'_>) -> Offer {
    slices.iter().fold(
        Offer::New { charge: 0.0 },
        |offer, slice| {
            if offer.is_found() { offer } else { offer.or(slice.look(key)) }
        },
    )
}

/// The seed of one slice.
fn own(seed: HashSeed, index: u32) -> HashSeed {
    seed.derive(u32::MAX - 1, index)
}

impl Filter for Slices {
    fn test_and_set(&mut self, key: UrlKey<'_>) -> bool {
        self.offer(key).is_found()
    }

    fn holds(&self, key: UrlKey<'_>) -> bool {
        self.parts.iter().any(|slice| slice.holds(key))
    }

    fn look(&self, key: UrlKey<'_>) -> Offer {
        looked_up(&self.parts, key)
    }

    fn offer(&mut self, key: UrlKey<'_>) -> Offer {
        let older = looked_up(self.older(), key);
        if older.is_found() { older } else { older.or(self.newest().offer(key)) }
    }

    fn rate(&self) -> f64 {
        self.parts.iter().map(Filter::rate).fold(0.0, |any, rate| any + rate - any * rate)
    }

    /// The fill is that of the newest slice: the others take nothing any more.
    fn extent(&self) -> Extent {
        let newest = self.parts[self.parts.len() - 1].extent();
        Extent { bits: self.parts.iter().map(|slice| slice.extent().bits).sum(), ..newest }
    }

    fn clear(&mut self, seed: HashSeed) {
        self.seed = seed;
        self.parts.truncate(1);
        self.parts[0].clear(own(seed, 0));
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(Tag::Slices as u8);
        out.extend(self.seed.value().to_le_bytes());
        self.growth.write(out);
        write_several(&self.parts, out);
    }

    fn fetch_ahead(&self, key: UrlKey<'_>) {
        self.parts.iter().for_each(|slice| slice.fetch_ahead(key));
    }

    fn growing_bits(&self) -> Option<u64> {
        Some(self.extent().bits + self.growth.slice(self.count())?.bits())
    }

    fn grow(&mut self) -> Result<Option<u64>, TryReserveError> {
        let index = self.count();
        let Some(plan) = self.growth.slice(index) else { return Ok(None) };
        self.parts.push(of_plan(plan, own(self.seed, index))?);
        Ok(Some(Growth::room(self.count())))
    }
}
