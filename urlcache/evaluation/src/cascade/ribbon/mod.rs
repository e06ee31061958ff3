//! [`Retrieval`]: values of a few bits, or numbers of GF(3), for the keys of a fixed set, in hardly more memory than the values take.
//!
//! Owns the layers: what a ribbon cannot hold, the next one holds, under another hash. Invariant: each key of the set
//! gets its value; any other key gets some value. Does not hold the keys, and cannot tell them from others.

#![expect(clippy::cast_possible_truncation, reason = "numbers of columns and layers are small")]

mod band;
mod bits;
mod layer;
#[cfg(test)]
mod tests;
mod trits;

use urlcache::hash::mix;

use super::reader::{ReadError, Reader};
pub(crate) use band::Solution;
pub(crate) use bits::{Bits, MOST_COLUMNS};
pub(crate) use layer::Entry;
use layer::{Geometry, Layer, LayerBuilder};
pub(crate) use trits::Trits;

/// Layers at most: each is a thirtieth of the one before, or at least different from it.
const MOST_LAYERS: usize = 64;

/// Two keys of the same hash have different values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Contradiction {
    pub(crate) hash: u64,
}

/// A static function from hashes to values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Retrieval<S> {
    layers: Vec<Layer<S>>,
    /// Bits of a value, or 1 for a number of GF(3).
    digits: u32,
}

impl<S: Solution> Retrieval<S> {
    /// The value of a key of the set; some value for any other.
    #[inline]
    pub(crate) fn get(&self, hash: u64) -> u32 {
        let mut hash = hash;
        for layer in &self.layers {
            if let Some(value) = layer.get(hash) {
                return value;
            }
            hash = rehash(hash);
        }
        0
    }

    /// Begins to fetch the memory that [`Retrieval::get`] will most likely need.
    #[inline]
    pub(crate) fn fetch_ahead(&self, hash: u64) {
        if let Some(layer) = self.layers.first() {
            layer.fetch_ahead(hash);
        }
    }

    /// Bits of a value, or 1 for a number of GF(3).
    pub(crate) fn digits(&self) -> u32 {
        self.digits
    }

    /// Memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.layers.iter().map(Layer::bytes).sum()
    }

    /// Writes it down, for [`Retrieval::read`].
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.push(self.digits as u8);
        out.push(self.layers.len() as u8);
        self.layers.iter().for_each(|layer| layer.write(out));
    }

    /// The structure of this number that was written down.
    pub(crate) fn read(input: &mut Reader<'_>, structure: u64) -> Result<Self, ReadError> {
        let digits = u32::from(input.u8()?);
        let count = usize::from(input.u8()?);
        if digits == 0 || digits > MOST_COLUMNS || count == 0 || count > MOST_LAYERS {
            return Err(ReadError::Senseless("a structure of no layers or no bits, or of too many"));
        }
        let mut layers = Vec::new();
        for number in 0..count {
            layers.push(Layer::read(input, digits, salt(structure, number))?);
        }
        Ok(Self { layers, digits })
    }
}

/// The hash of a key in the next layer.
#[inline]
fn rehash(hash: u64) -> u64 {
    mix(hash ^ 0x6a09_e667_f3bc_c909)
}

/// The salt of a layer's equations.
fn salt(structure: u64, layer: usize) -> u64 {
    mix(structure << 8 | layer as u64 | 1 << 63)
}

/// A retrieval structure in the making. Its keys come shard by shard, so that never more than those of one are in memory
/// beside what the caller has.
pub(crate) struct RetrievalBuilder<S: Solution> {
    first: LayerBuilder<S>,
    structure: u64,
    digits: u32,
}

impl<S: Solution> RetrievalBuilder<S> {
    /// For about so many keys with values of so many digits; `structure` is a number that differs from those of the other structures
    /// over the same hashes.
    pub(crate) fn new(keys: u64, digits: u32, structure: u64) -> Self {
        let first = LayerBuilder::new(Geometry::of_keys(keys), digits, salt(structure, 0));
        Self { first, structure, digits }
    }

    /// Shards to be added.
    pub(crate) fn shards(&self) -> u64 {
        self.first.geometry().shards
    }

    /// The shard that a hash belongs to; it grows with the hash.
    pub(crate) fn shard_of(&self, hash: u64) -> u64 {
        self.first.geometry().shard(hash)
    }

    /// Adds the next shard: all of its keys, in any order.
    ///
    /// # Errors
    /// Two of them have the same hash and different values.
    pub(crate) fn shard(&mut self, entries: &mut Vec<Entry>) -> Result<(), Contradiction> {
        sorted(entries)?;
        self.first.shard(entries);
        Ok(())
    }

    /// The structure, once all shards are added; `None` if its last keys will not fit, which does not happen to hashes.
    pub(crate) fn finish(self) -> Option<Retrieval<S>> {
        let (layer, mut rest) = self.first.finish();
        let mut layers = vec![layer];
        while !rest.is_empty() {
            if layers.len() == MOST_LAYERS {
                return None;
            }
            let (layer, bumped) = next_layer(rest, self.digits, salt(self.structure, layers.len()));
            layers.push(layer);
            rest = bumped;
        }
        Some(Retrieval { layers, digits: self.digits })
    }
}

/// Puts the keys that a layer left into the next.
fn next_layer<S: Solution>(mut rest: Vec<Entry>, digits: u32, salt: u64) -> (Layer<S>, Vec<Entry>) {
    for entry in &mut rest {
        entry.hash = rehash(entry.hash);
    }
    rest.sort_unstable_by_key(|entry| entry.hash);
    let geometry = Geometry::of_keys(rest.len() as u64);
    let mut builder = LayerBuilder::new(geometry, digits, salt);
    let mut rest = &rest[..];
    for shard in 0..geometry.shards {
        let (here, after) = rest.split_at(rest.partition_point(|entry| geometry.shard(entry.hash) <= shard));
        builder.shard(here);
        rest = after;
    }
    builder.finish()
}

/// Sorts by hash, and keeps one of those that are the same.
fn sorted(entries: &mut Vec<Entry>) -> Result<(), Contradiction> {
    // Not the unstable sort: this one is fast where sorted parts follow each other.
    entries.sort_by_key(|entry| entry.hash);
    let same = entries.windows(2).find(|pair| pair[0].hash == pair[1].hash && pair[0].value != pair[1].value);
    if let Some(pair) = same {
        return Err(Contradiction { hash: pair[0].hash });
    }
    entries.dedup();
    Ok(())
}
