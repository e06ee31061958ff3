//! [`measure`]: runs of the experiments on all processors.
//!
//! Owns what one run of a setting is: the first half of the URLs is added to its filters, each URL asked for just before;
//! then the second half is asked for. Invariant: the counts depend on the settings, the URLs, the number of runs and the
//! hash seed alone, not on the number of threads nor on the other settings. It knows neither tables nor theory.

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

/// A setting, and which counts of it are wanted.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) setting: Setting,
    /// Those while the filters fill.
    pub(crate) filling: bool,
    /// Those of the full filters.
    pub(crate) full: bool,
}

/// False positives, of all runs together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// While the filters filled, of each tenth of the URLs.
    pub(crate) filling: [u64; TENTHS],
    /// Of the full filters.
    pub(crate) full: u64,
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
        keys as u64 * u64::from(self.probes) * u64::from(self.tenths) / 10
    }

    /// Filters of all visits.
    pub(crate) fn together(&self) -> u32 {
        self.filters * self.visits
    }

    /// The seed of a filter: another for each setting, run and filter.
    fn seed(&self, root: HashSeed, run: u32, filter: u32) -> HashSeed {
        let families = self.families.iter().fold(0, |number, family| {
            let place = HashFamily::ALL.iter().position(|other| other == family).unwrap_or(0);
            number * 8 + place as u32 + 1
        });
        let filters = self.probes << 24 | self.tenths << 12 | self.filters << 6 | self.visits;
        root.derive(filters, families).derive(run, filter)
    }
}

/// The first URL of a tenth.
pub(crate) fn tenth(keys: usize, number: usize) -> usize {
    keys * number / TENTHS
}

/// Runs all settings, and tells how many runs of a setting are done each time that one is.
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
        self.full += other.full;
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
        let Setting { families, probes, .. } = &wanted.setting;
        let (keys, probes) = (urls.keys(), *probes);
        let bits = wanted.setting.bits(keys);
        self.seen.clear();
        self.seen.resize(if wanted.filling { keys } else { 0 }, true);
        self.survivors.clear();
        self.survivors.extend(if wanted.full { keys..2 * keys } else { 0..0 });
        for filter in 0..wanted.setting.together() {
            let seed = wanted.setting.seed(root, run, filter);
            self.bits.clear(bits);
            if families.is_empty() {
                self.filter(&OneHash { urls, seed, probes, bits }, keys);
            } else {
                self.filter(&ManyHashes::new(urls, families, seed, probes, bits), keys);
            }
        }
        let count = |range: &[bool]| range.iter().filter(|seen| **seen).count() as u64;
        let mut counts = Counts { full: self.survivors.len() as u64, ..Counts::default() };
        if wanted.filling {
            for (number, sum) in counts.filling.iter_mut().enumerate() {
                *sum = count(&self.seen[tenth(keys, number)..tenth(keys, number + 1)]);
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
        self.survivors.retain(|&key| self.bits.has(draw.positions(key)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(families: &[HashFamily], filters: u32, visits: u32) -> Wanted {
        let setting = Setting { families: families.to_vec(), probes: 2, tenths: 17, filters, visits };
        Wanted { setting, filling: true, full: true }
    }

    #[test]
    fn counts_depend_neither_on_the_threads_nor_on_the_other_settings() {
        let urls = Urls::generated(1_000);
        let all = [wanted(&[], 1, 1), wanted(&[], 2, 1), wanted(&[HashFamily::Murmur2], 1, 1)];
        let effort = |threads| Effort { runs: 5, seed: HashSeed::new(1), threads };
        let one = measure(&all, &urls, effort(1), |_| ());
        assert_eq!(measure(&all, &urls, effort(3), |_| ()), one);
        assert_eq!(measure(&all[1..2], &urls, effort(2), |_| ()), one[1..2]);
        assert!(one[0].full > one[1].full && one[0].filling[9] > one[0].filling[2], "{one:?}");
        let only = [Wanted { filling: false, ..all[0].clone() }, Wanted { full: false, ..all[1].clone() }];
        let part = measure(&only, &urls, effort(2), |_| ());
        assert_eq!((part[0].full, part[0].filling), (one[0].full, [0; TENTHS]));
        assert_eq!((part[1].full, part[1].filling), (0, one[1].filling));
    }

    #[test]
    fn seeds_of_settings_runs_and_filters_differ() {
        let mut seeds = std::collections::HashSet::new();
        let families: [&[HashFamily]; 3] = [&[], &[HashFamily::Md5], &[HashFamily::Md5, HashFamily::Sha1]];
        for families in families {
            for (filters, visits) in [(1, 1), (2, 1), (1, 2), (3, 2)] {
                let setting = wanted(families, filters, visits).setting;
                for (run, filter) in [(0, 0), (0, 1), (1, 0)] {
                    seeds.insert(setting.seed(HashSeed::new(1), run, filter).value());
                }
            }
        }
        assert_eq!(seeds.len(), 36);
    }
}
