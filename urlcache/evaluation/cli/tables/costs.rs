//! Tables of memory and time, beside a list and a hash set of strings.
//!
//! Owns how memory is counted (deep, as the thesis did: everything that the structure refers to, without what the allocator
//! adds) and how time is taken (the median of 25 blocks of URLs, on one processor). It does not know how tables are shown.

use std::{collections::HashSet, hint::black_box, ops::Range, time::Instant};

use urlcache::{HashFamily, HashSeed};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::{
    departures::misprint,
    draw::{Bits, Draw, ManyHashes, OneHash},
    measure::Setting,
    printed::{Printed, Quantity},
    table::{Cell, Table},
    urls::Urls,
};
use crate::memory;

/// URLs that are added to a full filter, or that it is asked about, to take the time.
const TIMED: usize = 100_000;

/// Parts of these, each timed by itself.
const BLOCKS: usize = 25;

/// URLs that a list is asked about.
const LIST_QUERIES: usize = 20;

/// Kilobytes of the thesis.
const KILOBYTE: f64 = 1_024.0;

/// The row of the tables of a list and a hash set.
const HASH_SET: &str = "HashSet";

/// A time, in milliseconds for a million URLs: the median of the blocks, and the least and the greatest.
#[derive(Debug, Clone, Copy)]
struct Spread {
    low: f64,
    median: f64,
    high: f64,
}

/// A list and a hash set of the URLs.
pub(crate) struct Collections {
    /// In kilobytes.
    list_memory: f64,
    set_memory: f64,
    list_add: Spread,
    set_add: Spread,
    list_query: Spread,
    set_query: Spread,
}

impl Collections {
    /// Fills them with the first half of the URLs, and asks for some of the second.
    pub(crate) fn measure(urls: &Urls) -> Self {
        let keys = urls.keys();
        let (mut list, mut set) = (Vec::new(), HashSet::new());
        let mut one = urls.strings(0..keys).into_iter();
        let list_add = Spread::of(0..keys, |_| list.extend(one.next()));
        let mut other = urls.strings(0..keys).into_iter();
        let set_add = Spread::of(0..keys, |_| set.extend(other.next()));
        let asked = urls.strings(keys..keys + TIMED.min(keys));
        let set_query = Spread::of(0..asked.len(), |place| {
            black_box(set.contains(&asked[place]));
        });
        let list_query = Spread::of(0..LIST_QUERIES.min(keys), |place| {
            black_box(list.contains(&asked[place]));
        });
        let text: usize = list.iter().map(String::capacity).sum();
        let kilobytes = |bytes: u64| (text as u64 + bytes) as f64 / KILOBYTE;
        Self {
            list_memory: kilobytes((list.capacity() * size_of::<String>()) as u64),
            set_memory: kilobytes(memory::of_hash_set(&set)),
            list_add,
            set_add,
            list_query,
            set_query,
        }
    }

    fn of(&self, quantity: Quantity, row: &str) -> Spread {
        let set = row == HASH_SET;
        match (quantity, set) {
            (Quantity::Add, true) => self.set_add,
            (Quantity::Add, false) => self.list_add,
            (Quantity::Query, true) => self.set_query,
            (Quantity::Query, false) => self.list_query,
            (_, true) => Spread::exactly(self.set_memory),
            (_, false) => Spread::exactly(self.list_memory),
        }
    }
}

/// A table of memory or times with all its cells; `sets` are what the thesis printed for the hash set.
pub(crate) fn table(printed: &Printed, urls: &Urls, collections: &Collections, sets: &[Printed]) -> Table {
    let unit = if printed.quantity == Quantity::Memory { "kilobytes" } else { "milliseconds for a million URLs" };
    let mut table = Table::new(printed, unit);
    let theirs = of_the_hash_set(sets, printed.quantity);
    let ours = collections.of(printed.quantity, HASH_SET).median;
    let is_filter = !printed.rows.iter().any(|row| row == HASH_SET);
    for entry in printed.entries() {
        let mut cell = Cell::new(entry.row, entry.column);
        if is_filter {
            measure(&mut cell, printed.quantity, &printed.setting(entry), urls);
        } else {
            cell.measured(collections.of(printed.quantity, entry.row));
        }
        cell.thesis = Some(entry.value());
        cell.thesis_by_hash_set = theirs.map(|theirs| entry.value() / theirs);
        cell.ours_by_hash_set = cell.ours.map(|value| value / ours);
        if let Some(found) = misprint(&printed.id, entry) {
            cell.departure = Some(found.cause);
            cell.reason = Some(found.reason);
        }
        table.cells.push(cell);
    }
    table
}

/// What the thesis printed for the hash set.
fn of_the_hash_set(tables: &[Printed], quantity: Quantity) -> Option<f64> {
    let same = tables.iter().filter(|table| table.quantity == quantity);
    same.flat_map(Printed::entries).find(|entry| entry.row == HASH_SET).map(|entry| entry.value())
}

impl Cell {
    fn measured(&mut self, spread: Spread) {
        (self.ours, self.low, self.high) = (Some(spread.median), Some(spread.low), Some(spread.high));
    }
}

/// Measures a filter.
fn measure(cell: &mut Cell, quantity: Quantity, setting: &Setting, urls: &Urls) {
    let bits = setting.bits(urls.keys());
    if quantity == Quantity::Memory {
        let mut one = Bits::default();
        one.clear(bits);
        let filters = f64::from(setting.filters);
        cell.theory = Some(filters * bits as f64 / 8.0 / KILOBYTE);
        cell.measured(Spread::exactly(filters * one.bytes() as f64 / KILOBYTE));
        return;
    }
    let mut filters = Filters::full(setting, urls);
    let (probes, seeds) = (setting.probes, filters.seeds.clone());
    let salted = |&seed: &HashSeed| ManyHashes::new(urls, &[HashFamily::Lookup2], seed, probes, bits);
    let salted: Vec<_> = seeds.iter().map(salted).collect();
    let hashed: Vec<_> = seeds.iter().map(|&seed| OneHash { urls, seed, probes, bits }).collect();
    let [many, one] = match quantity {
        Quantity::Add => [filters.time_to_add(urls, &salted), filters.time_to_add_hashed_once(urls, &hashed)],
        _ => [filters.time_to_query(urls, &salted), filters.time_to_query_hashed_once(urls, &hashed)],
    };
    cell.measured(many);
    cell.one_hash = Some(one.median);
}

/// Filters that hold the first half of the URLs.
struct Filters {
    bits: Vec<Bits>,
    seeds: Vec<HashSeed>,
}

impl Filters {
    fn full(setting: &Setting, urls: &Urls) -> Self {
        let (probes, size) = (setting.probes, setting.bits(urls.keys()));
        let seeds: Vec<_> = (0..setting.filters).map(|filter| HashSeed::new(filter.into())).collect();
        let fill = |&seed: &HashSeed| {
            let mut bits = Bits::default();
            bits.clear(size);
            let draw = OneHash { urls, seed, probes, bits: size };
            (0..urls.keys()).for_each(|key| bits.add(draw.positions(key)));
            bits
        };
        Self { bits: seeds.iter().map(fill).collect(), seeds }
    }

    fn time_to_query(&self, urls: &Urls, draws: &[impl Draw]) -> Spread {
        Spread::of(timed(urls), |key| {
            black_box(self.bits.iter().zip(draws).all(|(bits, draw)| bits.has(draw.positions(key))));
        })
    }

    fn time_to_query_hashed_once(&self, urls: &Urls, draws: &[OneHash<'_>]) -> Spread {
        Spread::of(timed(urls), |key| {
            let hash = xxh3_128_with_seed(urls.bytes(key), 1);
            black_box(self.bits.iter().zip(draws).all(|(bits, draw)| bits.has(draw.positions_of(hash))));
        })
    }

    fn time_to_add(&mut self, urls: &Urls, draws: &[impl Draw]) -> Spread {
        Spread::of(timed(urls), |key| {
            self.bits.iter_mut().zip(draws).for_each(|(bits, draw)| bits.add(draw.positions(key)));
        })
    }

    fn time_to_add_hashed_once(&mut self, urls: &Urls, draws: &[OneHash<'_>]) -> Spread {
        Spread::of(timed(urls), |key| {
            let hash = xxh3_128_with_seed(urls.bytes(key), 1);
            self.bits.iter_mut().zip(draws).for_each(|(bits, draw)| bits.add(draw.positions_of(hash)));
        })
    }
}

/// URLs that no filter holds.
fn timed(urls: &Urls) -> Range<usize> {
    urls.keys()..urls.keys() + TIMED.min(urls.keys())
}

impl Spread {
    /// What is no matter of chance.
    fn exactly(value: f64) -> Self {
        Self { low: value, median: value, high: value }
    }

    /// The time of something that is done with each of these URLs.
    fn of(range: Range<usize>, mut each: impl FnMut(usize)) -> Self {
        let block = range.len().div_ceil(BLOCKS).max(1);
        let mut times: Vec<f64> = Vec::new();
        for start in range.clone().step_by(block) {
            let end = range.end.min(start + block);
            let began = Instant::now();
            (start..end).for_each(&mut each);
            // Nanoseconds for one are milliseconds for a million.
            times.push(began.elapsed().as_nanos() as f64 / (end - start) as f64);
        }
        times.sort_by(f64::total_cmp);
        let at = |place: usize| times.get(place).copied().unwrap_or(0.0);
        Self { low: at(0), median: at(times.len() / 2), high: at(times.len().saturating_sub(1)) }
    }
}
