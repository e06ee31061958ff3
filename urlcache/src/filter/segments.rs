//! [`Segments`]: the multi-layer filter over path segments, corrected.
//!
//! Each segment of a URL goes into the filter of its layer, and all of them together into one more, the XOR layer (term
//! project on Cen, Xu and Sun 2010). A URL is found if every layer finds its segment and the XOR layer the combination.
//! Corrections of the published form: hashes are salted by the position of the segment, so that `/a/b` and `/b/a`
//! differ and `/a/a` does not cancel itself; the number of segments is mixed in; what is combined are whole hashes, not
//! positions; and the XOR layer is sized as if it stood alone, because every other layer passes a URL made of known
//! segments.
//!
//! An answer *new* is charged only where every layer found its segment, so that the XOR layer alone knew the URL to be new: then
//! the charge is that of the XOR layer. A URL with a new segment is refused with the rate of its layer times that of the
//! XOR layer, and is found by its layer just as often; so the sum of these charges has the expectation of the losses.

use std::collections::TryReserveError;

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::{Answers, CHUNK, Extent, Filter, Offer, Tag, of_plan, read_nested, read_several, write_several};
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
    /// The salt of each layer.
    salts: Vec<HashSeed>,
    /// Fingerprints of segments, for [`Segments::split`].
    scratch: Vec<u128>,
}

/// A URL as the layers see it.
#[derive(Clone, Copy)]
struct Split {
    /// Fingerprint of the combination.
    combination: u128,
    /// Number of segments.
    count: usize,
}

impl Segments {
    /// Empty layers of this plan.
    ///
    /// # Errors
    /// The allocator has no room for them.
    pub(crate) fn new(plan: &LayerPlan, seed: HashSeed) -> Result<Self, TryReserveError> {
        let layers = (0..).zip(plan.layers()).map(|(index, &layer)| of_plan(layer, own(seed, index)));
        let layers = layers.collect::<Result<_, _>>()?;
        Ok(Self::of(layers, of_plan(plan.combined(), own(seed, u32::MAX))?, seed))
    }

    /// Layers that were written down.
    pub(super) fn read(input: &mut SnapshotReader<'_>, depth: u32) -> Result<Self, SnapshotError> {
        let seed = HashSeed::new(input.u64()?);
        Ok(Self::of(read_several(input, depth)?, read_nested(input, depth)?, seed))
    }

    fn of(layers: Vec<Box<dyn Filter>>, combined: Box<dyn Filter>, seed: HashSeed) -> Self {
        let salts = salts(seed, layers.len());
        Self { layers, combined, seed, salts, scratch: Vec::new() }
    }

    /// Appends the fingerprint of each segment under its layer's salt.
    #[inline]
    fn split(&self, url: &[u8], parts: &mut Vec<u128>) -> Split {
        let mut mixed = 0_u128;
        let mut count = 0;
        for (salt, segment) in self.salts.iter().zip(segments(url, self.salts.len())) {
            let hash = xxh3_128_with_seed(segment, salt.value());
            parts.push(hash);
            mixed ^= hash;
            count += 1;
        }
        Split { combination: mixed.wrapping_add(count as u128), count }
    }

    /// Offers a URL whose segments have these fingerprints.
    #[inline]
    fn offer_split(&mut self, combination: u128, parts: &[u128]) -> Offer {
        let offer = self.combined.offer(bare(combination));
        let mut known = true;
        for (layer, part) in self.layers.iter_mut().zip(parts) {
            known &= layer.test_and_set(bare(*part));
        }
        if known { offer } else { Offer::New { charge: 0.0 } }
    }

    fn parts(&self, key: UrlKey<'_>) -> (u128, Vec<u128>) {
        let mut parts = Vec::with_capacity(self.layers.len());
        (self.split(key.bytes, &mut parts).combination, parts)
    }
}

/// A key without its text: what lies below looks at fingerprints alone.
fn bare(hash: u128) -> UrlKey<'static> {
    UrlKey { bytes: b"", hash }
}

/// The salt of a layer, and the seed of its filter.
fn own(seed: HashSeed, layer: u32) -> HashSeed {
    seed.derive(u32::MAX - 2, layer)
}

fn salts(seed: HashSeed, layers: usize) -> Vec<HashSeed> {
    (0..).take(layers).map(|layer| own(seed, layer)).collect()
}

impl Filter for Segments {
    fn test_and_set(&mut self, key: UrlKey<'_>) -> bool {
        self.offer(key).is_found()
    }

    fn offer(&mut self, key: UrlKey<'_>) -> Offer {
        let mut parts = std::mem::take(&mut self.scratch);
        parts.clear();
        let split = self.split(key.bytes, &mut parts);
        let offer = self.offer_split(split.combination, &parts);
        self.scratch = parts;
        offer
    }

    fn look(&self, key: UrlKey<'_>) -> Offer {
        let (combination, parts) = self.parts(key);
        let known = self.layers.iter().zip(parts).all(|(layer, part)| layer.holds(bare(part)));
        if known { self.combined.look(bare(combination)) } else { Offer::New { charge: 0.0 } }
    }

    fn holds(&self, key: UrlKey<'_>) -> bool {
        self.look(key).is_found()
    }

    /// That of the combined layer, with which URLs are refused all of whose segments are known; others are more seldom.
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
        self.salts = salts(seed, self.layers.len());
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
        let (combination, parts) = self.parts(key);
        self.combined.fetch_ahead(bare(combination));
        self.layers.iter().zip(parts).for_each(|(layer, part)| layer.fetch_ahead(bare(part)));
    }

    /// Each URL is split once.
    fn test_and_set_all(&mut self, keys: &[UrlKey<'_>], answers: &mut Answers<'_>) {
        let mut parts = std::mem::take(&mut self.scratch);
        for chunk in keys.chunks(CHUNK) {
            parts.clear();
            let mut splits = [Split { combination: 0, count: 0 }; CHUNK];
            for (split, key) in splits.iter_mut().zip(chunk) {
                let from = parts.len();
                *split = self.split(key.bytes, &mut parts);
                self.combined.fetch_ahead(bare(split.combination));
                self.layers.iter().zip(&parts[from..]).for_each(|(layer, part)| layer.fetch_ahead(bare(*part)));
            }
            let mut rest = &parts[..];
            for split in &splits[..chunk.len()] {
                let (own, after) = rest.split_at(split.count);
                rest = after;
                answers.answer(self.offer_split(split.combination, own));
            }
        }
        self.scratch = parts;
    }
}
