//! [`Segments`]: the multi-layer filter over path segments, corrected.
//!
//! Each segment of a URL goes into the filter of its layer, and all of them together into one more, the XOR layer (term
//! project on Cen, Xu and Sun 2010). A URL is found if every layer finds its segment and the XOR layer the combination.
//! Corrections of the published form: hashes are salted by the position of the segment, so that `/a/b` and `/b/a`
//! differ and `/a/a` does not cancel itself; the number of segments is mixed in; what is combined are whole hashes, not
//! positions; and the XOR layer is sized as if it stood alone, because every other layer passes a URL made of known
//! segments.
//!
//! Beside the question "this URL?" it can answer "this host?" and "this directory?" from its first layers.

use std::collections::TryReserveError;

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::{Extent, Filter, Tag, of_plan, read_nested, read_several, write_several};
use crate::hash::HashSeed;
use crate::port::UrlKey;
use crate::segment::segments;
use crate::sizing::LayerPlan;
use crate::snapshot::{SnapshotError, SnapshotReader};

/// One filter a layer, and one for their combination.
pub(crate) struct Segments {
    layers: Vec<Box<dyn Filter>>,
    combined: Box<dyn Filter>,
    seed: HashSeed,
}

impl Segments {
    /// Empty layers of this plan.
    ///
    /// # Errors
    /// The allocator has no room for them.
    pub(crate) fn new(plan: &LayerPlan, seed: HashSeed) -> Result<Self, TryReserveError> {
        let layers = (0..).zip(plan.layers()).map(|(index, &layer)| of_plan(layer, own(seed, index)));
        let layers = layers.collect::<Result<_, _>>()?;
        Ok(Self { layers, combined: of_plan(plan.combined(), own(seed, u32::MAX))?, seed })
    }

    /// Layers that were written down.
    pub(super) fn read(input: &mut SnapshotReader<'_>, depth: u32) -> Result<Self, SnapshotError> {
        let seed = HashSeed::new(input.u64()?);
        Ok(Self { layers: read_several(input, depth)?, combined: read_nested(input, depth)?, seed })
    }

    /// The fingerprint of each segment under its layer's salt, with the layer's number.
    fn parts<'k>(&self, key: UrlKey<'k>) -> impl Iterator<Item = (usize, UrlKey<'k>)> + use<'k> {
        let seed = self.seed;
        let parts = (0_u32..).zip(segments(key.bytes, self.layers.len()));
        parts.map(move |(layer, bytes)| {
            let hash = xxh3_128_with_seed(bytes, own(seed, layer).value());
            (layer as usize, UrlKey { bytes, hash })
        })
    }

    /// The combination of a URL's segments as a key of its own.
    fn combination<'k>(&self, key: UrlKey<'k>) -> UrlKey<'k> {
        let mixed = self.parts(key).fold((0_u128, 0_u128), |(mixed, arity), (_, part)| (mixed ^ part.hash, arity + 1));
        UrlKey { hash: mixed.0.wrapping_add(mixed.1), ..key }
    }
}

/// The salt of a layer, and the seed of its filter.
fn own(seed: HashSeed, layer: u32) -> HashSeed {
    seed.derive(u32::MAX - 2, layer)
}

impl Filter for Segments {
    fn test_and_set(&mut self, key: UrlKey<'_>) -> bool {
        let mut found = self.combined.test_and_set(self.combination(key));
        for (layer, part) in self.parts(key) {
            found &= self.layers[layer].test_and_set(part);
        }
        found
    }

    fn holds(&self, key: UrlKey<'_>) -> bool {
        self.combined.holds(self.combination(key))
            && self.parts(key).all(|(layer, part)| self.layers[layer].holds(part))
    }

    /// That of the combined layer: a bound, reached by URLs all of whose segments are known.
    fn rate(&self) -> f64 {
        self.combined.rate()
    }

    fn extent(&self) -> Extent {
        let layers: u64 = self.layers.iter().map(|layer| layer.extent().bits).sum();
        let combined = self.combined.extent();
        Extent { bits: layers + combined.bits, ..combined }
    }

    fn clear(&mut self, seed: HashSeed) {
        self.seed = seed;
        for (index, layer) in (0..).zip(&mut self.layers) {
            layer.clear(own(seed, index));
        }
        self.combined.clear(own(seed, u32::MAX));
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(Tag::Segments as u8);
        out.extend(self.seed.value().to_le_bytes());
        write_several(&self.layers, out);
        self.combined.write(out);
    }

    fn fetch_ahead(&self, key: UrlKey<'_>) {
        self.combined.fetch_ahead(self.combination(key));
    }
}
