//! [`Rotating`]: two filters of which the older is dropped when the younger is full.
//!
//! The aging Bloom filter with two active buffers (M. Yoon, IEEE TKDE 2010): a key is looked for in both, and goes into the younger if that
//! lacks it, so that keys still asked for are not forgotten. Memory and rate are bounded however many keys come; the price is that a key
//! not met for a whole generation may be called new again.

use std::collections::TryReserveError;

use super::{Extent, Filter, Offer, Tag, read_several, write_several};
use crate::hash::HashSeed;
use crate::port::{LossFigure, UrlKey};
use crate::snapshot::{SnapshotError, SnapshotReader};

/// Two generations of one shape.
pub(crate) struct Rotating {
    young: Box<dyn Filter>,
    old: Box<dyn Filter>,
    seed: HashSeed,
    /// Keys that one generation takes.
    room: u64,
    /// Keys that the younger has, and the older.
    held: [u64; 2],
    /// How often the older was dropped.
    rotations: u64,
}

impl Rotating {
    /// Two empty filters, made by `filter` of the seeds they are to have; each takes `room` keys.
    ///
    /// # Errors
    /// The allocator has no room for them.
    pub(crate) fn new(
        filter: impl Fn(HashSeed) -> Result<Box<dyn Filter>, TryReserveError>,
        room: u64,
        seed: HashSeed,
    ) -> Result<Self, TryReserveError> {
        let (young, old) = (filter(own(seed, 0))?, filter(own(seed, 1))?);
        Ok(Self { young, old, seed, room, held: [0, 0], rotations: 0 })
    }

    /// Two filters that were written down.
    pub(super) fn read(input: &mut SnapshotReader<'_>, depth: u32) -> Result<Self, SnapshotError> {
        let seed = HashSeed::new(input.u64()?);
        let room = input.count()?;
        let held = [input.count()?, input.count()?];
        let rotations = input.count()?;
        if room == 0 || held.iter().any(|held| *held > room) {
            return Err(SnapshotError::Senseless("a generation with more keys than it has room for"));
        }
        let parts: Result<[_; 2], _> = read_several(input, depth)?.try_into();
        let [young, old] = parts.map_err(|_| SnapshotError::Senseless("not two generations"))?;
        Ok(Self { young, old, seed, room, held, rotations })
    }
}

/// The seed of one generation.
fn own(seed: HashSeed, generation: u64) -> HashSeed {
    #[expect(clippy::cast_possible_truncation, reason = "after 2^32 generations seeds may come again")]
    let generation = generation as u32;
    seed.derive(u32::MAX - 3, generation)
}

impl Filter for Rotating {
    fn test_and_set(&mut self, key: UrlKey<'_>) -> bool {
        self.offer(key).is_found()
    }

    fn look(&self, key: UrlKey<'_>) -> Offer {
        self.young.look(key).or(self.old.look(key))
    }

    fn offer(&mut self, key: UrlKey<'_>) -> Offer {
        if self.held[0] >= self.room && !self.young.holds(key) {
            self.rotate();
        }
        let young = self.young.offer(key);
        if young.is_found() {
            return young;
        }
        self.held[0] += 1;
        young.or(self.old.look(key))
    }

    fn figure(&self) -> LossFigure {
        self.young.figure()
    }

    fn holds(&self, key: UrlKey<'_>) -> bool {
        self.young.holds(key) || self.old.holds(key)
    }

    fn rate(&self) -> f64 {
        let (young, old) = (self.young.rate(), self.old.rate());
        young + old - young * old
    }

    /// The fill is that of the younger: the older takes nothing any more.
    fn extent(&self) -> Extent {
        let young = self.young.extent();
        Extent { bits: young.bits + self.old.extent().bits, ..young }
    }

    fn clear(&mut self, seed: HashSeed) {
        self.seed = seed;
        self.young.clear(own(seed, 0));
        self.old.clear(own(seed, 1));
        (self.held, self.rotations) = ([0, 0], 0);
    }

    fn fetch_ahead(&self, key: UrlKey<'_>) {
        self.young.fetch_ahead(key);
        self.old.fetch_ahead(key);
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(Tag::Rotating as u8);
        for count in [self.seed.value(), self.room, self.held[0], self.held[1], self.rotations] {
            out.extend(count.to_le_bytes());
        }
        write_several([&self.young, &self.old], out);
    }

    fn held(&self) -> Option<u64> {
        Some(self.held[0] + self.held[1])
    }

    fn rotations(&self) -> u64 {
        self.rotations
    }

    fn rotate(&mut self) -> bool {
        self.rotations += 1;
        std::mem::swap(&mut self.young, &mut self.old);
        self.young.clear(own(self.seed, self.rotations + 1));
        self.held = [0, self.held[0]];
        true
    }
}
