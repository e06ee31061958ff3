//! [`Fingerprints`]: the layout `fingerprint`, lines of sixteen 32-bit tags, for very low rates.
//!
//! Owns a hash table of tags with linear probing by cache lines: a key has a home line and a tag; a full line sends it on to the next, and
//! is marked, so that a look-up of the key follows. Nothing is ever moved except by [`Filter::grow`], which doubles the table in place: the
//! next bit of the tag says to which half of its line a tag goes (as in the quotient filter of M. Bender et al., "Don't thrash: how to
//! cache your hash on flash", VLDB 2012). Each doubling takes a bit from what tells keys apart, so the rate of a full table doubles.
//!
//! Invariants: tags fill a line from its first slot on, and 0 is no tag; a line is marked if and only if a key went past
//! it; `pressure` is the sum over home lines of the tags a new key of that line is compared with.

use std::collections::TryReserveError;

use super::processor::fetch_ahead;
use super::{Extent, Filter, Tag};
use crate::hash::{HashSeed, below_len};
use crate::port::UrlKey;
use crate::sizing::LINE_BITS;
use crate::snapshot::{SnapshotError, SnapshotReader};

/// Slots of a line.
const SLOTS: usize = 16;

/// Doublings after which too little of a tag would be left.
const MOST_DOUBLINGS: u32 = 20;

/// Lines of the shortest round that may be split by a doubling: each half of it keeps a line's worth of lines to itself
/// from then on, and among fewer of them some would be full long before the table is.
pub(crate) const LEAST_GROWING: u64 = 256;

/// Sixteen tags that are one cache line.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Tags([u32; SLOTS]);

/// A table of tags.
pub(crate) struct Fingerprints {
    lines: Vec<Tags>,
    /// A bit a line: a key went past it.
    passed: Vec<u64>,
    seed: HashSeed,
    doublings: u32,
    stored: u64,
    pressure: u64,
}

/// Where a search begins, and what it looks for.
#[derive(Clone, Copy)]
struct Spot {
    home: usize,
    tag: u32,
}

impl Fingerprints {
    /// An empty table of at least so many bits.
    ///
    /// # Errors
    /// The allocator has no room for them.
    pub(crate) fn new(bits: u64, seed: HashSeed) -> Result<Self, TryReserveError> {
        let count = usize::try_from(bits.div_ceil(LINE_BITS).max(1)).unwrap_or(usize::MAX);
        let (mut lines, mut passed) = (Vec::new(), Vec::new());
        lines.try_reserve_exact(count)?;
        lines.resize(count, Tags::default());
        passed.try_reserve_exact(count.div_ceil(64))?;
        passed.resize(count.div_ceil(64), 0);
        Ok(Self { lines, passed, seed, doublings: 0, stored: 0, pressure: 0 })
    }

    /// A table that was written down.
    pub(super) fn read(input: &mut SnapshotReader<'_>) -> Result<Self, SnapshotError> {
        let (seed, doublings) = (HashSeed::new(input.u64()?), input.u32()?);
        let (passed, lines) = (input.items(u64::from_le_bytes)?, input.items(Tags::from_bytes)?);
        let fits = doublings <= MOST_DOUBLINGS && lines.len().is_multiple_of(1 << doublings);
        if !fits || lines.is_empty() || passed.len() != lines.len().div_ceil(64) {
            return Err(SnapshotError::Senseless("the number of lines does not fit"));
        }
        if !lines.iter().all(Tags::is_filled_in_order) {
            return Err(SnapshotError::Senseless("a line has a gap"));
        }
        let stored = lines.iter().map(|line| line.len() as u64).sum();
        let mut table = Self { lines, passed, seed, doublings, stored, pressure: 0 };
        table.pressure = table.count_pressure();
        Ok(table)
    }

    #[inline]
    fn spot(&self, fingerprint: u128) -> Spot {
        let (high, low) = self.seed.finish(fingerprint);
        let tag = ((low >> 32) as u32).max(1);
        let base = below_len(high, self.round());
        // The leading bits of the tag say in which of a line's descendants it lies.
        let descendant = (u64::from(tag) << self.doublings >> 32) as usize;
        Spot { home: base << self.doublings | descendant, tag }
    }

    /// The line after this one on every path that comes by it.
    fn next(&self, line: usize) -> usize {
        let next = line + (1 << self.doublings);
        if next < self.lines.len() { next } else { next - self.lines.len() }
    }

    fn previous(&self, line: usize) -> usize {
        let step = 1 << self.doublings;
        if line >= step { line - step } else { line + self.lines.len() - step }
    }

    #[inline]
    fn is_passed(&self, line: usize) -> bool {
        self.passed[line / 64] >> (line % 64) & 1 == 1
    }

    /// Lines of the longest path.
    fn round(&self) -> usize {
        self.lines.len() >> self.doublings
    }

    /// How many home lines have this line on their path.
    fn reach(&self, line: usize) -> u64 {
        let before = std::iter::successors(Some(self.previous(line)), |&at| Some(self.previous(at)));
        1 + before.take(self.round() - 1).take_while(|&at| self.is_passed(at)).count() as u64
    }

    /// Marks a full line: whoever comes by it has the lines after it to search as well.
    fn pass(&mut self, line: usize) {
        let reach = self.reach(line);
        self.passed[line / 64] |= 1 << (line % 64);
        let mut at = line;
        for _ in 1..self.round() {
            if !self.is_passed(at) {
                break;
            }
            at = self.next(at);
            self.pressure = self.pressure.saturating_add(reach * self.lines[at].len() as u64);
        }
    }

    /// Looks along the path of a key.
    #[inline]
    fn search(&self, spot: Spot) -> Search {
        let (mut at, mut free) = (spot.home, None);
        for _ in 0..self.round() {
            let line = &self.lines[at];
            if line.has(spot.tag) {
                return Search::Found;
            }
            if free.is_none() && !line.is_full() {
                free = Some(at);
            }
            if !self.is_passed(at) {
                return Search::Absent { store: free.unwrap_or(at) };
            }
            at = self.next(at);
        }
        free.map_or(Search::NoRoom, |store| Search::Absent { store })
    }

    #[inline]
    fn set(&mut self, spot: Spot) -> bool {
        match self.search(spot) {
            Search::Absent { store } => self.store(store, spot.tag),
            Search::Found | Search::NoRoom => true,
        }
    }

    /// Stores a tag in the line, or in the first after it that has room; true if none has.
    fn store(&mut self, line: usize, tag: u32) -> bool {
        let mut at = line;
        for _ in 0..self.round() {
            if !self.lines[at].is_full() {
                self.lines[at].push(tag);
                self.stored += 1;
                self.pressure = self.pressure.saturating_add(self.reach(at));
                return false;
            }
            if !self.is_passed(at) {
                self.pass(at);
            }
            at = self.next(at);
        }
        true
    }

    fn fill(&self) -> f64 {
        self.stored as f64 / (self.lines.len() * SLOTS) as f64
    }

    /// Spreads the tags of each of the first `count` lines over two: the last first, so that none lands on one not yet
    /// spread.
    fn spread(&mut self, count: usize) {
        for index in (0..count).rev() {
            let old = std::mem::take(&mut self.lines[index]);
            for &tag in &old.0[..old.len()] {
                let half = tag << self.doublings >> 31;
                self.lines[2 * index + half as usize].push(tag);
            }
        }
    }

    /// A round whose lines were all gone past counts as compared with whole.
    fn count_pressure(&self) -> u64 {
        (0..1 << self.doublings).map(|first| self.pressure_of_round(first)).fold(0, u64::saturating_add)
    }

    fn pressure_of_round(&self, first: usize) -> u64 {
        let mut round = std::iter::successors(Some(first), |&at| Some(self.next(at))).take(self.round());
        let Some(start) = round.find(|&at| !self.is_passed(at)) else {
            let lines = self.round() as u64;
            return lines.saturating_mul(lines).saturating_mul(SLOTS as u64);
        };
        let mut at = start;
        let mut reach = 1;
        let mut pressure = 0_u64;
        for _ in 0..self.round() {
            at = self.next(at);
            pressure = pressure.saturating_add(reach * self.lines[at].len() as u64);
            reach = if self.is_passed(at) { reach + 1 } else { 1 };
        }
        pressure
    }
}

/// What a search came to.
enum Search {
    Found,
    /// Not there; it belongs into this line, or after it.
    Absent {
        store: usize,
    },
    /// Not there, and every line of the path is full.
    NoRoom,
}

impl Tags {
    fn from_bytes(bytes: [u8; 64]) -> Self {
        let mut tags = [0; SLOTS];
        for (tag, bytes) in tags.iter_mut().zip(bytes.as_chunks().0) {
            *tag = u32::from_le_bytes(*bytes);
        }
        Self(tags)
    }

    fn is_filled_in_order(&self) -> bool {
        self.0[self.len()..].iter().all(|&tag| tag == 0)
    }

    #[inline]
    fn has(&self, tag: u32) -> bool {
        self.0.iter().fold(0, |found, &slot| found | u32::from(slot == tag)) != 0
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.0[SLOTS - 1] != 0
    }

    /// Into the first free slot.
    fn push(&mut self, tag: u32) {
        let slot = self.len();
        self.0[slot] = tag;
    }

    #[inline]
    fn len(&self) -> usize {
        self.0.iter().map(|&slot| usize::from(slot != 0)).sum()
    }
}

impl Filter for Fingerprints {
    fn test_and_set(&mut self, key: UrlKey<'_>) -> bool {
        self.set(self.spot(key.hash))
    }

    fn holds(&self, key: UrlKey<'_>) -> bool {
        matches!(self.search(self.spot(key.hash)), Search::Found)
    }

    /// Tags compared on average, each equal by accident with the probability of the bits that are left of it.
    fn rate(&self) -> f64 {
        if self.stored == (self.lines.len() * SLOTS) as u64 {
            return 1.0;
        }
        let compared = self.pressure as f64 / self.lines.len() as f64;
        (compared * (f64::from(self.doublings) - 32.0).exp2()).min(1.0)
    }

    /// Steeper the longer the paths are. The bounds are those of the compared tags over loads, on the way to twice the load or
    /// to the limit: a batch may be as large as what is held.
    fn extent(&self) -> Extent {
        let fill = self.fill();
        let bounds = [(0.3, 1.6), (0.375, 2.2), (0.45, 4.7), (0.6, 6.9), (0.75, 11.0), (0.9, 15.0)];
        let steepness = bounds.into_iter().find_map(|(load, bound)| (fill < load).then_some(bound)).unwrap_or(30.0);
        Extent { bits: self.lines.len() as u64 * LINE_BITS, fill, fill_limit: 0.9, steepness }
    }

    /// The first size is back.
    fn clear(&mut self, seed: HashSeed) {
        self.seed = seed;
        self.lines.truncate(self.round());
        self.lines.fill(Tags::default());
        self.passed.truncate(self.lines.len().div_ceil(64));
        self.passed.fill(0);
        self.doublings = 0;
        self.stored = 0;
        self.pressure = 0;
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(Tag::Fingerprints as u8);
        out.extend(self.seed.value().to_le_bytes());
        out.extend(self.doublings.to_le_bytes());
        out.extend((self.passed.len() as u64).to_le_bytes());
        out.extend(self.passed.iter().flat_map(|word| word.to_le_bytes()));
        out.extend((self.lines.len() as u64).to_le_bytes());
        out.extend(self.lines.iter().flat_map(|line| line.0).flat_map(u32::to_le_bytes));
    }

    fn fetch_ahead(&self, key: UrlKey<'_>) {
        fetch_ahead(&self.lines[self.spot(key.hash).home]);
    }

    fn growing_bits(&self) -> Option<u64> {
        let grows = self.doublings < MOST_DOUBLINGS && self.round() as u64 >= LEAST_GROWING;
        // The allocator may have to move it.
        grows.then(|| 3 * self.extent().bits)
    }

    fn grow(&mut self) -> Result<Option<u64>, TryReserveError> {
        if self.growing_bits().is_none() {
            return Ok(None);
        }
        let count = self.lines.len();
        self.lines.try_reserve_exact(count)?;
        let mut passed: Vec<u64> = Vec::new();
        passed.try_reserve_exact((2 * count).div_ceil(64))?;
        passed.resize((2 * count).div_ceil(64), 0);
        for line in (0..count).filter(|&line| self.is_passed(line)) {
            passed[line / 32] |= 3 << (2 * line % 64);
        }
        self.lines.resize(2 * count, Tags::default());
        self.spread(count);
        self.passed = passed;
        self.doublings += 1;
        self.pressure = self.count_pressure();
        Ok(Some(1 << self.doublings))
    }
}
