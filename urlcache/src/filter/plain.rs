//! [`PlainLayers`] and [`SegmentSet`]: the multi-layer filter as published, and the baseline that it was published
//! against. Both are kept for comparison: neither keeps a loss budget.
//!
//! The plain form (term project on Cen, Xu and Sun 2010) puts segment i into layer filter i, and combines the segments'
//! positions by XOR, function by function, into one more filter of the same size. It cannot tell `/a/b` from `/b/a`,
//! forgets `/a/a` altogether, and passes most URLs made of known segments. The baseline, the documents' "classic Bloom
//! filter" of segments, is one filter into which every segment goes: every recombination passes.
//!
//! The rate that they state is the published estimate, the product over the layers as if they were independent: true for
//! strangers, not for neighbours. So they give no figure of their losses.

use std::collections::TryReserveError;

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::bits::BitArray;
use super::{Extent, Filter, Tag};
use crate::hash::HashSeed;
use crate::port::{LossFigure, UrlKey};
use crate::segment::segments;
use crate::snapshot::{SnapshotError, SnapshotReader};

/// The published multi-layer filter.
pub(crate) struct PlainLayers {
    /// The layers of the segments, and last the XOR layer; each a power of two of bits, so that XOR stays within.
    layers: Vec<BitArray>,
    probes: u32,
    seed: HashSeed,
}

/// One filter of all segments.
pub(crate) struct SegmentSet {
    bits: BitArray,
    depth: u32,
    probes: u32,
    seed: HashSeed,
}

/// The positions of a segment: the same in every layer.
fn positions(segment: &[u8], seed: HashSeed, probes: u32, size: u64) -> impl Iterator<Item = u64> {
    let mut drawn = seed.probes(xxh3_128_with_seed(segment, seed.value()));
    (0..probes).map(move |_| drawn.next_below(size))
}

impl PlainLayers {
    /// Empty layers, each of at least so many bits.
    ///
    /// # Errors
    /// The allocator has no room for them.
    pub(crate) fn new(bits: u64, depth: u32, probes: u32, seed: HashSeed) -> Result<Self, TryReserveError> {
        let layers = (0..=depth).map(|_| BitArray::new(bits.next_power_of_two())).collect::<Result<_, _>>()?;
        Ok(Self { layers, probes, seed })
    }

    /// Layers that were written down.
    pub(super) fn read(input: &mut SnapshotReader<'_>) -> Result<Self, SnapshotError> {
        let seed = HashSeed::new(input.u64()?);
        let probes = input.u32()?;
        let depth = input.u32()?;
        if probes == 0 || probes > 64 || depth == 0 || depth > 64 {
            return Err(SnapshotError::Senseless("probes or layers are outside 1..=64"));
        }
        let layers: Vec<BitArray> = (0..=depth).map(|_| BitArray::read(input)).collect::<Result<_, _>>()?;
        let size = layers[0].len();
        if !size.is_power_of_two() || layers.iter().any(|layer| layer.len() != size) {
            return Err(SnapshotError::Senseless("layers of different sizes"));
        }
        Ok(Self { layers, probes, seed })
    }

    /// The layer and position of every bit of a key.
    fn places(&self, key: UrlKey<'_>) -> Vec<(usize, u64)> {
        let (depth, size) = (self.layers.len() - 1, self.layers[0].len());
        let mut combined = vec![0; self.probes as usize];
        let mut places = Vec::new();
        for (layer, segment) in segments(key.bytes, depth).enumerate() {
            for (sum, position) in combined.iter_mut().zip(positions(segment, self.seed, self.probes, size)) {
                *sum ^= position;
                places.push((layer, position));
            }
        }
        places.extend(combined.into_iter().map(|position| (depth, position)));
        places
    }

    fn fills(&self) -> impl Iterator<Item = f64> {
        self.layers.iter().map(|layer| layer.ones() as f64 / layer.len() as f64)
    }
}

impl Filter for PlainLayers {
    fn test_and_set(&mut self, key: UrlKey<'_>) -> bool {
        let found = self.holds(key);
        for (layer, position) in self.places(key) {
            self.layers[layer].set(position);
        }
        found
    }

    fn holds(&self, key: UrlKey<'_>) -> bool {
        self.places(key).into_iter().all(|(layer, position)| self.layers[layer].get(position))
    }

    fn rate(&self) -> f64 {
        self.fills().filter(|fill| *fill > 0.0).product::<f64>().powi(self.probes.cast_signed())
            * f64::from(u8::from(self.fills().any(|fill| fill > 0.0)))
    }

    fn figure(&self) -> LossFigure {
        LossFigure::Unknown
    }

    fn extent(&self) -> Extent {
        let bits = self.layers.iter().map(BitArray::len).sum();
        let ones: u64 = self.layers.iter().map(BitArray::ones).sum();
        let steepness = f64::from(self.probes) * self.layers.len() as f64;
        Extent { bits, fill: ones as f64 / bits as f64, fill_limit: 0.75, steepness }
    }

    fn clear(&mut self, seed: HashSeed) {
        self.seed = seed;
        self.layers.iter_mut().for_each(BitArray::clear);
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(Tag::PlainLayers as u8);
        out.extend(self.seed.value().to_le_bytes());
        out.extend(self.probes.to_le_bytes());
        out.extend(u32::try_from(self.layers.len() - 1).unwrap_or(u32::MAX).to_le_bytes());
        for layer in &self.layers {
            layer.write(out);
        }
    }

    fn fetch_ahead(&self, _key: UrlKey<'_>) {}
}

impl SegmentSet {
    /// An empty filter for URLs of up to `depth` parts.
    ///
    /// # Errors
    /// The allocator has no room for it.
    pub(crate) fn new(bits: u64, depth: u32, probes: u32, seed: HashSeed) -> Result<Self, TryReserveError> {
        Ok(Self { bits: BitArray::new(bits)?, depth, probes, seed })
    }

    /// A filter that was written down.
    pub(super) fn read(input: &mut SnapshotReader<'_>) -> Result<Self, SnapshotError> {
        let seed = HashSeed::new(input.u64()?);
        let probes = input.u32()?;
        let depth = input.u32()?;
        if probes == 0 || probes > 64 || depth == 0 || depth > 64 {
            return Err(SnapshotError::Senseless("probes or layers are outside 1..=64"));
        }
        Ok(Self { bits: BitArray::read(input)?, depth, probes, seed })
    }

    fn places<'k>(&self, key: UrlKey<'k>) -> impl Iterator<Item = u64> + use<'k> {
        let seed = self.seed;
        let probes = self.probes;
        let size = self.bits.len();
        segments(key.bytes, self.depth as usize).flat_map(move |segment| positions(segment, seed, probes, size))
    }
}

impl Filter for SegmentSet {
    fn test_and_set(&mut self, key: UrlKey<'_>) -> bool {
        let before = self.bits.ones();
        for position in self.places(key) {
            self.bits.set(position);
        }
        self.bits.ones() == before
    }

    fn holds(&self, key: UrlKey<'_>) -> bool {
        self.places(key).all(|position| self.bits.get(position))
    }

    fn rate(&self) -> f64 {
        (self.bits.ones() as f64 / self.bits.len() as f64).powi(self.probes.cast_signed())
    }

    fn figure(&self) -> LossFigure {
        LossFigure::Unknown
    }

    fn extent(&self) -> Extent {
        let fill = self.bits.ones() as f64 / self.bits.len() as f64;
        Extent { bits: self.bits.len(), fill, fill_limit: 0.75, steepness: f64::from(self.probes * self.depth) }
    }

    fn clear(&mut self, seed: HashSeed) {
        self.seed = seed;
        self.bits.clear();
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(Tag::SegmentSet as u8);
        out.extend(self.seed.value().to_le_bytes());
        out.extend(self.probes.to_le_bytes());
        out.extend(self.depth.to_le_bytes());
        self.bits.write(out);
    }

    fn fetch_ahead(&self, key: UrlKey<'_>) {
        self.places(key).for_each(|position| self.bits.touch(position));
    }
}
