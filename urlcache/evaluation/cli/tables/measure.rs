//! [`measure`]: runs of the experiments on all processors.
//!
//! Owns what one run is: the first half of the URLs is added to the filters of a chain, each URL asked for just before;
//! then the second half is asked for. Two filters that must agree are the first two of a chain of three, and so on, so one
//! run of a chain of full filters serves all their numbers. While filters fill, each number has a chain of its own.
//! Invariant: the counts depend on the chains, the URLs, the number of runs and the hash seed alone, not on the number of
//! threads nor on what else is counted. It knows neither tables nor theory.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use urlcache::{HashFamily, HashSeed};

use super::{
    draw::{Bits, Draw, ManyHashes, OneHash},
    urls::Urls,
};

/// Parts of a run, each with a count of its own.
pub(crate) const TENTHS: usize = 10;

/// The filters of an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Setting {
    /// Hash functions that read the text, in turn; none: positions are drawn from the fingerprint.
    pub(crate) families: Vec<HashFamily>,
    /// Bits that a key sets in each filter (k).
    pub(crate) probes: u32,
    /// Bits of a filter for each bit that a key sets (M), in tenths.
    pub(crate) tenths: u32,
    /// Filters that must agree on one visit.
    pub(crate) filters: u32,
    /// Visits, each with filters of its own.
    pub(crate) visits: u32,
}

/// Filters of one size, each with hash functions of its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Chain {
    families: Vec<HashFamily>,
    probes: u32,
    tenths: u32,
    visits: u32,
    /// The number of filters it is for, if it is for one number alone.
    filters: Option<u32>,
}

/// A chain, and which counts of it are wanted.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) chain: Chain,
    /// How many filters it has.
    pub(crate) length: u32,
    /// Counts while the filters fill.
    pub(crate) filling: bool,
    /// Counts of the full filters.
    pub(crate) full: bool,
}

/// The longest chain: three filters on two visits.
pub(crate) const LONGEST: usize = 6;

/// False positives, of all runs together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// While the filters filled, of each tenth of the URLs: of all filters of the chain.
    pub(crate) filling: [u64; TENTHS],
    /// Of the full filters: of the first one, the first two, and so on.
    pub(crate) full: [u64; LONGEST],
}

/// How often, and with what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) runs: u32,
    pub(crate) seed: HashSeed,
    pub(crate) threads: usize,
}

impl Setting {
    /// Bits of each filter: `n k M`.
    pub(crate) fn bits(&self, keys: usize) -> u64 {
        bits(keys, self.probes, self.tenths)
    }

    /// Filters of all visits.
    pub(crate) fn together(&self) -> u32 {
        self.filters * self.visits
    }

    /// The chain that is counted for it. That of full filters is shared, unless they are counted while they fill too, as
    /// those of hash functions are.
    pub(crate) fn chain(&self, filling: bool) -> Chain {
        let Self { families, probes, tenths, filters, visits } = self.clone();
        let own = filling || !families.is_empty();
        Chain { families, probes, tenths, visits, filters: own.then_some(filters) }
    }
}

fn bits(keys: usize, probes: u32, tenths: u32) -> u64 {
    keys as u64 * u64::from(probes) * u64::from(tenths) / 10
}

impl Chain {
    /// The seed of a filter: another for each chain, run and filter.
    fn seed(&self, root: HashSeed, run: u32, filter: u32) -> HashSeed {
        let families = self.families.iter().fold(0, |number, family| {
            let mut numbers = (1..).zip(HashFamily::ALL);
            number * 8 + numbers.find(|(_, other)| other == family).map_or(0, |(own, _)| own)
        });
        let filters = self.probes << 24 | self.tenths << 12 | self.filters.unwrap_or(0) << 6 | self.visits;
        root.derive(filters, families).derive(run, filter)
    }
}

/// The first URL of a tenth.
pub(crate) fn tenth(keys: usize, number: usize) -> usize {
    keys * number / TENTHS
}

/// Runs all chains, and tells how many runs are done each time that one is.
pub(crate) fn measure(wanted: &[Wanted], urls: &Urls, effort: Effort, done: impl Fn(usize) + Sync) -> Vec<Counts> {
    let runs = effort.runs as usize;
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let mut counts = vec![Counts::default(); wanted.len()];
        let mut run = Run::default();
        loop {
            let job = next.fetch_add(1, Ordering::Relaxed);
            let (Some(wanted), Ok(number)) = (wanted.get(job / runs), u32::try_from(job % runs)) else { break counts };
            counts[job / runs].add(run.once(wanted, urls, effort.seed, number));
            done(finished.fetch_add(1, Ordering::Relaxed) + 1);
        }
    };
    let mut all = vec![Counts::default(); wanted.len()];
    thread::scope(|scope| {
        let threads: Vec<_> = (0..effort.threads).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            let part = thread.join().expect("counting does not panic");
            all.iter_mut().zip(part).for_each(|(sum, part)| sum.add(part));
        }
    });
    all
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.filling.iter_mut().zip(other.filling).for_each(|(sum, part)| *sum += part);
        self.full.iter_mut().zip(other.full).for_each(|(sum, part)| *sum += part);
    }
}

/// One run, and the memory that the next takes over: a filter at a time, and which URLs all filters so far have called
/// seen.
#[derive(Default)]
struct Run {
    bits: Bits,
    seen: Vec<bool>,
    survivors: Vec<usize>,
}

impl Run {
    fn once(&mut self, wanted: &Wanted, urls: &Urls, root: HashSeed, run: u32) -> Counts {
        let Wanted { chain, length, filling, full } = wanted;
        let (keys, probes) = (urls.keys(), chain.probes);
        let bits = bits(keys, probes, chain.tenths);
        self.seen.clear();
        self.seen.resize(if *filling { keys } else { 0 }, true);
        self.survivors.clear();
        self.survivors.extend(if *full { keys..2 * keys } else { 0..0 });
        let mut counts = Counts::default();
        for (filter, count) in (0..*length).zip(&mut counts.full) {
            let seed = chain.seed(root, run, filter);
            self.bits.clear(bits);
            if chain.families.is_empty() {
                self.filter(&OneHash { urls, seed, probes, bits }, keys);
            } else {
                self.filter(&ManyHashes::new(urls, &chain.families, seed, probes, bits), keys);
            }
            *count = self.survivors.len() as u64;
        }
        if *filling {
            for (number, count) in counts.filling.iter_mut().enumerate() {
                let part = &self.seen[tenth(keys, number)..tenth(keys, number + 1)];
                *count = part.iter().filter(|seen| **seen).count() as u64;
            }
        }
        counts
    }

    /// Fills one filter, and asks it about the URLs that the filters before it have called seen.
    fn filter(&mut self, draw: &impl Draw, keys: usize) {
        if self.seen.is_empty() {
            (0..keys).for_each(|key| self.bits.add(draw.positions(key)));
        } else {
            for (key, seen) in self.seen.iter_mut().enumerate() {
                *seen &= self.bits.test_and_add(draw.positions(key));
            }
        }
        self.bits.retain(draw, &mut self.survivors);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(families: &[HashFamily], filters: u32, filling: bool) -> Wanted {
        let setting = Setting { families: families.to_vec(), probes: 2, tenths: 17, filters, visits: 1 };
        Wanted { chain: setting.chain(filling), length: setting.together(), filling, full: true }
    }

    #[test]
    fn counts_depend_neither_on_the_threads_nor_on_what_else_is_counted() {
        let urls = Urls::generated(1_000);
        let all = [wanted(&[], 3, false), wanted(&[], 2, true), wanted(&[HashFamily::Murmur2], 1, true)];
        let effort = |threads| Effort { runs: 5, seed: HashSeed::new(1), threads };
        let one = measure(&all, &urls, effort(1), |_| ());
        assert_eq!(measure(&all, &urls, effort(3), |_| ()), one);
        assert_eq!(measure(&all[1..2], &urls, effort(2), |_| ()), one[1..2]);
        let [first, second, third, ..] = one[0].full;
        assert!(first > 2 * second && second > 2 * third && third > 0, "{one:?}");
        assert!(one[1].filling[9] > one[1].filling[2], "{one:?}");
        let shorter = measure(&[wanted(&[], 2, false)], &urls, effort(2), |_| ());
        assert_eq!(shorter[0].full[..2], one[0].full[..2]);
        let only = measure(&[Wanted { full: false, ..all[1].clone() }], &urls, effort(2), |_| ());
        assert_eq!((only[0].full, only[0].filling), ([0; LONGEST], one[1].filling));
    }

    #[test]
    fn seeds_of_chains_runs_and_filters_differ() {
        let mut seeds = std::collections::HashSet::new();
        let families: [&[HashFamily]; 3] = [&[], &[HashFamily::Md5], &[HashFamily::Md5, HashFamily::Sha1]];
        for families in families {
            for (filters, filling) in [(1, true), (2, true), (3, true)] {
                let chain = wanted(families, filters, filling).chain;
                for (run, filter) in [(0, 0), (0, 1), (1, 0)] {
                    seeds.insert(chain.seed(HashSeed::new(1), run, filter).value());
                }
            }
        }
        seeds.insert(wanted(&[], 1, false).chain.seed(HashSeed::new(1), 0, 0).value());
        assert_eq!(seeds.len(), 28);
    }
}
