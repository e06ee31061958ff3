//! [`Layer`]: one ribbon that holds most of its keys, and says which it leaves to the next.
//!
//! Owns bumped ribbon retrieval (P. Dillinger, L. Hübschle-Schneider, P. Sanders and S. Walzer, "Fast succinct retrieval
//! and approximate membership using ribbon", SEA 2022) with two bits of thresholds for each bucket, in shards that fit the
//! processor's nearer caches. Invariants: a key whose place in its bucket is below the bucket's threshold belongs to the
//! next layer, any other to this one; whether it does depends on its hash alone.
//!
//! A shard has fewer places than keys, so that nearly every place is used: that is where the memory is saved. Keys go in
//! bucket by bucket, within a bucket from its end on; the first that contradicts takes those before it out with it.

#![expect(
    clippy::cast_possible_truncation,
    reason = "places are those of a table in memory; of a hash the low bits are wanted"
)]

use urlcache::hash::{below, mix};

use super::band::{Band, Fit, Solution, WIDTH};
use crate::cascade::reader::{ReadError, Reader};

/// Places that share a threshold.
pub(super) const BUCKET: usize = 128;

/// What two bits of a threshold say: keys that begin before this place of their bucket are left to the next layer.
const THRESHOLDS: [usize; 4] = [0, 20, 44, BUCKET];

/// Places of a shard when there are many.
const SHARD: u64 = 1 << 14;

/// Places for each 1,000 keys: fewer than keys.
const PLACES_PER_1000: u64 = 965;

/// Below this number of keys another layer would cost more than some empty places.
const FEW: u64 = 300;

/// A key's hash, and the value to be found under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) hash: u64,
    pub(crate) value: u32,
}

/// How keys are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Geometry {
    pub(super) shards: u64,
    /// Of each shard; a multiple of [`BUCKET`].
    pub(super) places: u64,
}

/// Where the equation of a key begins.
#[derive(Clone, Copy)]
struct Spot {
    shard: usize,
    place: usize,
}

impl Geometry {
    /// For so many keys.
    pub(super) fn of_keys(keys: u64) -> Self {
        let wanted =
            if keys < FEW { keys + keys / 8 + WIDTH as u64 } else { keys / 1000 * PLACES_PER_1000 + keys % 1000 };
        let shards = wanted.div_ceil(SHARD).max(1);
        Self { shards, places: wanted.div_ceil(shards).next_multiple_of(BUCKET as u64) }
    }

    /// The shard of a hash: it grows with the hash.
    #[inline]
    pub(super) fn shard(self, hash: u64) -> u64 {
        below(hash, self.shards)
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "both are places of a table in memory; the low half is wanted")]
    fn spot(self, hash: u64) -> Spot {
        let product = u128::from(hash) * u128::from(self.shards);
        let place = below(product as u64, self.places - (WIDTH as u64 - 1));
        Spot { shard: (product >> 64) as usize, place: place as usize }
    }

    /// Buckets of all shards; `None` if there can be no such geometry.
    fn buckets(self) -> Option<u64> {
        let whole = self.shards > 0 && self.places > 0 && self.places.is_multiple_of(BUCKET as u64);
        self.shards.checked_mul(self.places).filter(|_| whole).map(|places| places / BUCKET as u64)
    }
}

/// One ribbon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layer<S> {
    pub(super) geometry: Geometry,
    salt: u64,
    /// Two bits a bucket, the lowest first.
    thresholds: Vec<u8>,
    solution: S,
}

impl<S: Solution> Layer<S> {
    /// A layer that was written down.
    pub(super) fn read(input: &mut Reader<'_>, digits: u32, salt: u64) -> Result<Self, ReadError> {
        let geometry = Geometry { shards: input.u64()?, places: input.u64()? };
        let buckets = geometry.buckets().ok_or(ReadError::Senseless("a ribbon of a size that cannot be"))?;
        let thresholds = input.bytes(buckets.div_ceil(4))?;
        let solution = S::read(input, digits, geometry.shards * geometry.places)?;
        Ok(Self { geometry, salt, thresholds, solution })
    }

    /// Writes it down, for [`Layer::read`].
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.geometry.shards.to_le_bytes());
        out.extend(self.geometry.places.to_le_bytes());
        out.extend(&self.thresholds);
        self.solution.write(out);
    }

    /// Memory, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.thresholds.len() + self.solution.bytes()
    }

    /// The value of a key, or nothing where the key belongs to the next layer.
    #[inline]
    pub(super) fn get(&self, hash: u64) -> Option<u32> {
        let place = self.place(hash);
        let bucket = place / BUCKET;
        let code = self.thresholds[bucket / 4] >> (bucket % 4 * 2) & 3;
        let here = place % BUCKET >= THRESHOLDS[usize::from(code)];
        here.then(|| self.solution.value(place, mix(hash ^ self.salt)))
    }

    /// Begins to fetch the memory that [`Layer::get`] will need.
    #[inline]
    pub(super) fn fetch_ahead(&self, hash: u64) {
        self.solution.fetch_ahead(self.place(hash));
    }

    /// The place among those of all shards.
    #[inline]
    fn place(&self, hash: u64) -> usize {
        let spot = self.geometry.spot(hash);
        spot.shard * (self.geometry.places as usize) + spot.place
    }
}

/// A layer in the making.
pub(super) struct LayerBuilder<S: Solution> {
    layer: Layer<S>,
    band: S::Band,
    /// Places within the bucket, and rows, of the bucket's keys that were placed.
    placed: Vec<(usize, usize)>,
    buckets: usize,
    bumped: Vec<Entry>,
}

impl<S: Solution> LayerBuilder<S> {
    /// Of values of so many digits.
    pub(super) fn new(geometry: Geometry, digits: u32, salt: u64) -> Self {
        let layer = Layer { geometry, salt, thresholds: Vec::new(), solution: S::new(digits) };
        let band = S::Band::new(geometry.places as usize, digits);
        Self { layer, band, placed: Vec::new(), buckets: 0, bumped: Vec::new() }
    }

    pub(super) fn geometry(&self) -> Geometry {
        self.layer.geometry
    }

    /// Adds the next shard: all of its keys, in order of their hashes, which differ.
    pub(super) fn shard(&mut self, entries: &[Entry]) {
        self.band.clear();
        let mut rest = entries;
        for bucket in 1..=self.layer.geometry.places as usize / BUCKET {
            let count = rest.partition_point(|entry| self.place(*entry) < bucket * BUCKET);
            let (here, after) = rest.split_at(count);
            rest = after;
            let code = self.bucket(here);
            self.threshold(code);
        }
        self.layer.solution.append(&self.band);
    }

    /// The layer, and what it leaves to the next.
    pub(super) fn finish(mut self) -> (Layer<S>, Vec<Entry>) {
        self.layer.solution.finish();
        (self.layer, self.bumped)
    }

    fn place(&self, entry: Entry) -> usize {
        self.layer.geometry.spot(entry.hash).place
    }

    /// Places the keys of a bucket; returns the code of its threshold.
    fn bucket(&mut self, entries: &[Entry]) -> u8 {
        self.placed.clear();
        for &entry in entries.iter().rev() {
            let place = self.place(entry);
            match self.band.add(place, mix(entry.hash ^ self.layer.salt), entry.value) {
                Fit::Placed(at) => self.placed.push((place % BUCKET, at)),
                Fit::Implied => {}
                Fit::Contradicted => return self.bump(entries, place % BUCKET),
            }
        }
        0
    }

    /// Leaves the keys before the first threshold beyond a place to the next layer.
    fn bump(&mut self, entries: &[Entry], place: usize) -> u8 {
        let code = THRESHOLDS.partition_point(|&threshold| threshold <= place);
        let threshold = THRESHOLDS[code];
        while let Some((_, at)) = self.placed.pop_if(|(place, _)| *place < threshold) {
            self.band.take_back(at);
        }
        let count = entries.partition_point(|entry| self.place(*entry) % BUCKET < threshold);
        self.bumped.extend_from_slice(&entries[..count]);
        code as u8
    }

    fn threshold(&mut self, code: u8) {
        if self.buckets.is_multiple_of(4) {
            self.layer.thresholds.push(0);
        }
        if let Some(last) = self.layer.thresholds.last_mut() {
            *last |= code << (self.buckets % 4 * 2);
        }
        self.buckets += 1;
    }
}
