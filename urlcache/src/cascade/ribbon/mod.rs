//! [`Retrieval`]: values of a few bits for the keys of a fixed set, in hardly more memory than the values take.
//!
//! Owns the layers: what a ribbon cannot hold, the next one holds, under another hash. Invariant: each key of the set
//! gets its value; any other key gets some value. Does not hold the keys, and cannot tell them from others.

#![expect(clippy::cast_possible_truncation, reason = "numbers of columns and layers are small")]

mod band;
mod layer;

use super::reader::{ReadError, Reader};
use crate::hash::mix;
pub(crate) use layer::Entry;
use layer::{Geometry, Layer, LayerBuilder};

/// Bits of a value at most.
pub(crate) const MOST_COLUMNS: u32 = band::MOST_COLUMNS as u32;

/// Layers at most: each is a thirtieth of the one before, or at least different from it.
const MOST_LAYERS: usize = 64;

/// Two keys of the same hash have different values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Contradiction {
    pub(crate) hash: u64,
}

/// A static function from hashes to values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Retrieval {
    layers: Vec<Layer>,
    columns: u32,
}

impl Retrieval {
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

    /// Bits of a value.
    pub(crate) fn columns(&self) -> u32 {
        self.columns
    }

    /// Memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.layers.iter().map(|layer| layer.thresholds.len() + layer.words.len() * 8).sum()
    }
}

impl Retrieval {
    /// Writes it down, for [`Retrieval::read`].
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.push(self.columns as u8);
        out.push(self.layers.len() as u8);
        for layer in &self.layers {
            out.extend(layer.geometry.shards.to_le_bytes());
            out.extend(layer.geometry.places.to_le_bytes());
            out.extend(&layer.thresholds);
            out.extend(layer.words[..layer.words.len() - layer.columns].iter().flat_map(|word| word.to_le_bytes()));
        }
    }

    /// The structure of this number that was written down.
    pub(crate) fn read(input: &mut Reader<'_>, structure: u64) -> Result<Self, ReadError> {
        let columns = u32::from(input.u8()?);
        let count = usize::from(input.u8()?);
        if columns == 0 || columns > MOST_COLUMNS || count == 0 || count > MOST_LAYERS {
            return Err(ReadError::Senseless("a structure of no layers or no bits, or of too many"));
        }
        let mut layers = Vec::new();
        for number in 0..count {
            let geometry = Geometry { shards: input.u64()?, places: input.u64()? };
            layers.push(Layer::read(input, geometry, columns as usize, salt(structure, number))?);
        }
        Ok(Self { layers, columns })
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
pub(crate) struct RetrievalBuilder {
    first: LayerBuilder,
    structure: u64,
    columns: u32,
}

impl RetrievalBuilder {
    /// For about so many keys with values of so many bits; `structure` is a number that differs from those of the other structures
    /// over the same hashes.
    pub(crate) fn new(keys: u64, columns: u32, structure: u64) -> Self {
        let first = LayerBuilder::new(Geometry::of_keys(keys), columns as usize, salt(structure, 0));
        Self { first, structure, columns }
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
    pub(crate) fn finish(self) -> Option<Retrieval> {
        let (layer, mut rest) = self.first.finish();
        let mut layers = vec![layer];
        while !rest.is_empty() {
            if layers.len() == MOST_LAYERS {
                return None;
            }
            let (layer, bumped) = next_layer(rest, self.columns, salt(self.structure, layers.len()));
            layers.push(layer);
            rest = bumped;
        }
        Some(Retrieval { layers, columns: self.columns })
    }
}

/// Puts the keys that a layer left into the next.
fn next_layer(mut rest: Vec<Entry>, columns: u32, salt: u64) -> (Layer, Vec<Entry>) {
    for entry in &mut rest {
        entry.hash = rehash(entry.hash);
    }
    rest.sort_unstable_by_key(|entry| entry.hash);
    let geometry = Geometry::of_keys(rest.len() as u64);
    let mut builder = LayerBuilder::new(geometry, columns as usize, salt);
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
