//! The two that are timed in turn: our cache, one key or a batch at a time, and a peer.

use std::{
    sync::Barrier,
    time::{Duration, Instant},
};

use anyhow::Result;
use urlcache::{Answer, FilterCache, HashSeed, Plan, UrlCache, UrlKey};

use super::peers::{Kind, Peer};
use crate::keys::{key, url};

/// Keys that are made, and then timed, at a time.
const BLOCK: u64 = 1 << 16;

/// Keys of a batch: the links of a page.
const BATCH: usize = 256;

/// What is done with the keys. Each comes after the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// Test-and-set of keys that were never offered.
    Insert,
    /// A look at keys that were inserted.
    Hit,
    /// A look at keys that never were.
    Miss,
    /// Test-and-set of keys that were inserted.
    Duplicate,
}

impl Operation {
    pub(super) const ALL: [Self; 4] = [Self::Insert, Self::Hit, Self::Miss, Self::Duplicate];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Hit => "hit",
            Self::Miss => "miss",
            Self::Duplicate => "duplicate",
        }
    }
}

/// Sides that are timed: ours by batches, ours one by one, the peer.
pub(super) const SIDES: usize = 3;

/// Times of one operation, and what it found, by side.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Times {
    pub(super) spent: [Duration; SIDES],
    pub(super) found: [u64; SIDES],
}

/// Both sides, of one thread.
pub(super) struct Sides {
    batched: FilterCache,
    single: FilterCache,
    peer: Box<dyn Peer>,
    answers: Vec<Answer>,
}

impl Sides {
    /// Empty ones for so many keys.
    pub(super) fn new(plan: Plan, keys: u64, rate: f64, kind: &Kind, seed: u64) -> Result<Self> {
        let ours = || FilterCache::single(plan, keys, HashSeed::new(seed));
        Ok(Self { batched: ours()?, single: ours()?, peer: kind.make(keys, rate)?, answers: Vec::new() })
    }

    /// Memory of ours and of the peer's, in bits.
    pub(super) fn bits(&self) -> [u64; 2] {
        [self.batched.occupancy().bits, self.peer.bits()]
    }

    /// Offers all keys of an operation to every side, block by block; who is first changes with each. At the barrier threads
    /// wait for each other, so that all time the same side.
    pub(super) fn time(&mut self, operation: Operation, first: u64, keys: u64, barrier: &Barrier) -> Times {
        let mut times = Times::default();
        // Keys that were never offered are those after the others.
        let first = if operation == Operation::Miss { first + (1 << 40) } else { first };
        let starts = (first..first + keys).step_by(usize::try_from(BLOCK).unwrap_or(usize::MAX));
        for (block, start) in starts.enumerate() {
            let urls: Vec<String> = (start..(first + keys).min(start + BLOCK)).map(url).collect();
            for turn in block..block + SIDES {
                let side = turn % SIDES;
                barrier.wait();
                let began = Instant::now();
                let found = self.offer(side, operation, &urls);
                times.spent[side] += began.elapsed();
                times.found[side] += std::hint::black_box(found) as u64;
            }
        }
        times
    }

    /// Offers a block to one side; returns how many it found.
    fn offer(&mut self, side: usize, operation: Operation, urls: &[String]) -> usize {
        let looks = matches!(operation, Operation::Hit | Operation::Miss);
        match side {
            0 if looks => pages(urls, |keys| keys.len() - self.batched.unknown_among(keys)),
            0 => pages(urls, |keys| {
                self.batched.insert_batch(keys, &mut self.answers);
                self.answers.iter().filter(|answer| !answer.is_new()).count()
            }),
            1 if looks => urls.iter().filter(|url| self.single.unknown_among(&[key(url)]) == 0).count(),
            1 => urls.iter().filter(|url| !self.single.insert(key(url)).is_new()).count(),
            _ if looks => urls.iter().filter(|url| self.peer.contains(url)).count(),
            _ => urls.iter().filter(|url| self.peer.insert(url)).count(),
        }
    }
}

/// Makes the keys of each page, and takes them together.
fn pages(urls: &[String], mut take: impl FnMut(&[UrlKey<'_>]) -> usize) -> usize {
    let mut keys = Vec::with_capacity(BATCH);
    let mut found = 0;
    for page in urls.chunks(BATCH) {
        keys.clear();
        keys.extend(page.iter().map(|url| key(url)));
        found += take(&keys);
    }
    found
}
