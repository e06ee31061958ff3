//! [`ExactCache`]: the strategy `exact`, a hash set of fingerprints; the oracle of the others.
//!
//! Invariant: it is never wrong, except for two keys with one 128-bit fingerprint. Its memory grows with what it holds.
//!
//! The standard `HashSet` does it: its table (16 bytes and one control byte a slot, 7/8 full at most) is the same as
//! `hashbrown`'s. Only the hasher is ours, and it does nothing: a fingerprint is a keyed hash already, so hashing it
//! again with `SipHash` would add no protection and cost more than the look-up.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use crate::config::BuildError;
use crate::port::{Answer, Cost, ErrorSide, LossFigure, Occupancy, UrlCache, UrlKey};
use crate::snapshot::{SnapshotError, SnapshotReader};

/// A hash set of fingerprints: 19 to 39 bytes a key, no losses.
///
/// ```
/// use urlcache::{ExactCache, UrlCache, UrlKey};
///
/// let mut cache = ExactCache::with_capacity(1_000)?;
/// cache.insert(UrlKey { bytes: b"http://h/", hash: 1 << 90 });
/// assert_eq!(cache.occupancy().expected_lost, 0.0);
/// # Ok::<(), urlcache::BuildError>(())
/// ```
#[derive(Default)]
pub struct ExactCache {
    seen: Table,
    rotation: Option<Rotation>,
}

type Table = HashSet<u128, BuildHasherDefault<LeadingHalf>>;

/// What a set needs that forgets: an older generation, which is dropped when the younger has so many keys.
struct Rotation {
    older: Table,
    room: usize,
    rotations: u64,
}

impl ExactCache {
    /// The most keys it may be asked to hold: 2^32, about 150 GB.
    pub const MAX_KEYS: u64 = 1 << 32;

    /// Of each table it may be the control bytes, and the fingerprint.
    pub(crate) const fn cost_of(tables: u32) -> Cost {
        Cost { hashes: 1, cache_lines: 2 * tables }
    }

    /// An empty set that has no memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A set that was written down.
    pub(crate) fn read(input: &mut SnapshotReader<'_>) -> Result<Self, SnapshotError> {
        Ok(Self { seen: read_table(input)?, rotation: None })
    }

    /// A set that forgets, as it was written down.
    pub(crate) fn read_rotating(input: &mut SnapshotReader<'_>) -> Result<Self, SnapshotError> {
        let (room, rotations) = (input.count()?, input.count()?);
        let (seen, older) = (read_table(input)?, read_table(input)?);
        let room = usize::try_from(room).ok().filter(|_| (1..=Self::MAX_KEYS).contains(&room));
        let room = room.filter(|room| seen.len().max(older.len()) <= *room);
        let room = room.ok_or(SnapshotError::Senseless("a generation's room does not fit its keys"))?;
        Ok(Self { seen, rotation: Some(Rotation { older, room, rotations }) })
    }

    /// Sorted: equal sets give equal bytes.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        if let Some(rotation) = &self.rotation {
            out.extend((rotation.room as u64).to_le_bytes());
            out.extend(rotation.rotations.to_le_bytes());
        }
        for table in [Some(&self.seen), self.rotation.as_ref().map(|rotation| &rotation.older)].into_iter().flatten() {
            let mut fingerprints: Vec<u128> = table.iter().copied().collect();
            fingerprints.sort_unstable();
            out.extend((fingerprints.len() as u64).to_le_bytes());
            out.extend(fingerprints.iter().flat_map(|fingerprint| fingerprint.to_le_bytes()));
        }
    }

    fn older_has(&self, key: UrlKey<'_>) -> bool {
        self.rotation.as_ref().is_some_and(|rotation| rotation.older.contains(&key.hash))
    }

    /// Whether it forgets.
    pub(crate) fn rotates(&self) -> bool {
        self.rotation.is_some()
    }

    /// Memory of a set of so many keys, in bytes.
    pub fn memory_of(keys: u64) -> u64 {
        table_bytes(usize::try_from(keys).unwrap_or(usize::MAX))
    }

    /// The most keys whose set has so many bytes.
    pub(crate) fn keys_in(bytes: u64) -> u64 {
        let slots = bytes / SLOT_BYTES;
        let slots = if slots == 0 { 0 } else { 1 << slots.ilog2() };
        slots * 7 / 8
    }

    /// An empty set of fixed memory: it holds two generations of at most `room` keys, and when the younger is full, the older
    /// is dropped. It loses nothing, but may call a key new that it has forgotten.
    ///
    /// # Errors
    /// Those of [`ExactCache::with_capacity`].
    pub fn rotating(room: u64) -> Result<Self, BuildError> {
        let (younger, older) = (Self::with_capacity(room)?, Self::with_capacity(room)?.seen);
        let rotation = Rotation { older, room: usize::try_from(room).unwrap_or(usize::MAX).max(1), rotations: 0 };
        Ok(Self { rotation: Some(rotation), ..younger })
    }

    /// An empty set with memory for this many keys.
    ///
    /// # Errors
    /// [`BuildError::TooManyKeys`] above [`ExactCache::MAX_KEYS`]; [`BuildError::Memory`] if the allocator has no room.
    pub fn with_capacity(keys: u64) -> Result<Self, BuildError> {
        let count = usize::try_from(keys).ok().filter(|_| keys <= Self::MAX_KEYS);
        let count = count.ok_or(BuildError::TooManyKeys { keys, limit: Self::MAX_KEYS })?;
        let mut cache = Self::new();
        let memory = |source| BuildError::Memory { bytes: table_bytes(count), source };
        cache.seen.try_reserve(count).map_err(memory)?;
        Ok(cache)
    }
}

impl UrlCache for ExactCache {
    fn insert(&mut self, key: UrlKey<'_>) -> Answer {
        let full = self.rotation.as_ref().is_some_and(|rotation| self.seen.len() >= rotation.room);
        if full && !self.seen.contains(&key.hash) {
            self.rotate();
        }
        let in_younger = !self.seen.insert(key.hash);
        if in_younger || self.older_has(key) { Answer::Seen } else { Answer::New }
    }

    fn refill(&mut self, key: UrlKey<'_>) {
        self.insert(key);
    }

    fn unknown_among(&self, keys: &[UrlKey<'_>]) -> usize {
        keys.iter().filter(|key| !self.seen.contains(&key.hash) && !self.older_has(**key)).count()
    }

    /// The capacity is [`ExactCache::MAX_KEYS`], because the table grows by itself, and the fill that of its present slots;
    /// if it rotates, both are those it was made with.
    fn occupancy(&self) -> Occupancy {
        let (items, slots) = (self.seen.len(), self.seen.capacity());
        let (items, capacity, bits, slots) = match &self.rotation {
            None => (items, Self::MAX_KEYS, table_bytes(slots) * 8, slots),
            Some(Rotation { older, room, .. }) => {
                (items + older.len(), 2 * *room as u64, table_bytes(*room) * 16, *room)
            }
        };
        Occupancy {
            items: items as u64,
            capacity,
            bits,
            fill: self.seen.len() as f64 / slots.max(1) as f64,
            fill_limit: 1.0,
            steepness: 1.0,
            expected_rate: 0.0,
            expected_lost: 0.0,
            figure: LossFigure::Expected,
        }
    }

    fn error_side(&self) -> ErrorSide {
        if self.rotates() { ErrorSide::MayForget } else { ErrorSide::Exact }
    }

    fn begin_sequence(&mut self, _sequence: u32) {
        self.seen.clear();
        if let Some(rotation) = &mut self.rotation {
            rotation.older.clear();
            rotation.rotations = 0;
        }
    }

    fn rotate(&mut self) -> bool {
        let Some(rotation) = &mut self.rotation else { return false };
        std::mem::swap(&mut self.seen, &mut rotation.older);
        self.seen.clear();
        rotation.rotations += 1;
        true
    }

    fn rotations(&self) -> u64 {
        self.rotation.as_ref().map_or(0, |rotation| rotation.rotations)
    }

    fn strategy(&self) -> &'static str {
        "exact"
    }

    fn layout(&self) -> &'static str {
        "table"
    }

    fn cost(&self) -> Cost {
        Self::cost_of(if self.rotates() { 2 } else { 1 })
    }
}

fn read_table(input: &mut SnapshotReader<'_>) -> Result<Table, SnapshotError> {
    let fingerprints = input.items(u128::from_le_bytes)?;
    let mut table = Table::default();
    table.try_reserve(fingerprints.len()).map_err(|_| SnapshotError::Memory { bytes: fingerprints.len() * 16 })?;
    table.extend(&fingerprints);
    if table.len() == fingerprints.len() { Ok(table) } else { Err(SnapshotError::Senseless("a key twice")) }
}

/// Bytes of a table with room for so many keys: a power of two of slots, 7/8 of them usable, 17 bytes each.
fn table_bytes(keys: usize) -> u64 {
    if keys == 0 {
        return 0;
    }
    (keys as u64).saturating_mul(8).div_ceil(7).next_power_of_two().saturating_mul(SLOT_BYTES)
}

/// A fingerprint and its control byte.
const SLOT_BYTES: u64 = 17;

/// The leading half of a fingerprint as its hash.
#[derive(Default)]
pub(crate) struct LeadingHalf(u64);

impl Hasher for LeadingHalf {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u128(&mut self, fingerprint: u128) {
        self.0 = (fingerprint >> 64) as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_that_of_the_table() {
        assert_eq!(ExactCache::new().occupancy().bits, 0);
        let cache = ExactCache::with_capacity(1_000).unwrap();
        assert_eq!(cache.occupancy().bits, 2_048 * 17 * 8);
        assert!(cache.seen.capacity() >= 1_000);
    }

    #[test]
    fn absurd_sizes_are_errors() {
        let many = ExactCache::with_capacity(1_000_000_000_000_000).err().unwrap();
        assert!(matches!(many, BuildError::TooManyKeys { .. }), "{many}");
    }

    #[test]
    fn fingerprints_that_share_a_half_are_different() {
        let mut cache = ExactCache::new();
        let key = |hash| UrlKey { bytes: b"", hash };
        for hash in [7, 7 << 64, 7 | (7 << 64), 0] {
            assert_eq!(cache.insert(key(hash)), Answer::New);
            assert_eq!(cache.insert(key(hash)), Answer::Seen);
        }
    }
}
