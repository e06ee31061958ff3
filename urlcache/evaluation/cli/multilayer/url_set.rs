//! [`UrlSet`]: a set of URLs kept in one of the compared ways.
//!
//! Invariant: it finds every URL that it was given. Exact ones refer to the text, which lies elsewhere once; it is counted as
//! their memory, because without it they could not answer.

use std::collections::HashSet;

use anyhow::Result;
use urlcache::{FilterCache, HashSeed, UrlCache, UrlKey};

use super::{
    clock::Clock,
    method::{Filter, Method},
};
use crate::{keys, memory};

/// Comparisons of URLs that linear search may take for the questions of one kind.
const COMPARISONS: usize = 5_000_000;

/// Questions of a kind that an exact set is asked, at most.
const EXACT_QUESTIONS: usize = 16_384;

/// Above so many URLs linear search is not run.
pub(super) const LINEAR_LIMIT: usize = 1_000_000;

/// URLs inserted into a sorted list to time it: each moves all that follow.
const SORTED_INSERTIONS: usize = 256;

/// A set that answers.
pub(super) enum UrlSet<'u> {
    List(Vec<&'u str>),
    Sorted(Vec<&'u str>),
    Hash(HashSet<&'u str>),
    /// A filter that reads the hash of the whole URL.
    Whole(FilterCache),
    /// A filter that hashes segments by itself.
    Segments(FilterCache),
}

impl<'u> UrlSet<'u> {
    /// An exact set of all of these, and what it takes to insert one.
    pub(super) fn exact(method: Method, urls: &'u [Box<str>], others: &[String]) -> (Self, Clock) {
        let text = || urls.iter().map(|url| &**url);
        match method {
            Method::Linear => {
                let mut list = Vec::new();
                let time = Clock::each(urls, |url| list.push(&**url));
                (Self::List(list), time)
            }
            Method::Binary | Method::Sorted => {
                let mut sorted: Vec<&str> = text().collect();
                let mut clock = Clock::default();
                clock.block(urls.len(), || sorted.sort_unstable());
                let time = if method == Method::Binary { clock } else { into_sorted(&sorted, others) };
                (Self::Sorted(sorted), time)
            }
            _ => {
                let mut set = HashSet::new();
                let time = Clock::each(urls, |url| _ = set.insert(&**url));
                (Self::Hash(set), time)
            }
        }
    }

    /// A filter of all of these, and what it takes to insert one.
    pub(super) fn filter(shape: &Filter, urls: &[Box<str>], seed: HashSeed) -> Result<(Self, Clock)> {
        let mut set = Self::empty(shape, urls.len() as u64, seed)?;
        let time = match &mut set {
            Self::Whole(cache) => Clock::each(urls, |url| cache.refill(keys::key(url))),
            Self::Segments(cache) => Clock::each(urls, |url| cache.refill(text_alone(url))),
            Self::List(_) | Self::Sorted(_) | Self::Hash(_) => Clock::default(),
        };
        Ok((set, time))
    }

    fn empty(shape: &Filter, urls: u64, seed: HashSeed) -> Result<Self> {
        Ok(match shape {
            Filter::Whole(plan) => Self::Whole(FilterCache::single(*plan, urls, seed)?),
            Filter::Segments(plan, depth) => Self::Segments(FilterCache::segment_set(*plan, *depth, urls, seed)?),
            Filter::Layers(layer, depth) => Self::Segments(FilterCache::multilayer_plain(*layer, *depth, urls, seed)?),
            Filter::Sized(layers) => Self::Segments(FilterCache::multilayer(layers.clone(), urls, seed)?),
        })
    }

    /// Whether it says that it has the URL.
    pub(super) fn finds(&self, url: &str) -> bool {
        let knows = |cache: &FilterCache, key| cache.unknown_among(&[key]) == 0;
        match self {
            Self::List(list) => list.contains(&url),
            Self::Sorted(sorted) => sorted.binary_search(&url).is_ok(),
            Self::Hash(set) => set.contains(url),
            Self::Whole(cache) => knows(cache, keys::key(url)),
            Self::Segments(cache) => knows(cache, text_alone(url)),
        }
    }

    /// How many questions of a kind are worth their time: an exact set errs on none.
    pub(super) fn patience(&self) -> usize {
        match self {
            Self::List(list) => (COMPARISONS / list.len().max(1)).clamp(1, EXACT_QUESTIONS),
            Self::Sorted(_) | Self::Hash(_) => EXACT_QUESTIONS,
            Self::Whole(_) | Self::Segments(_) => usize::MAX,
        }
    }

    /// Bits, the text of `urls` with those that refer to it.
    pub(super) fn bits(&self, urls: &[Box<str>]) -> u64 {
        let text = || urls.iter().map(|url| url.len() as u64).sum::<u64>();
        let handle = size_of::<&str>() as u64;
        match self {
            Self::List(list) | Self::Sorted(list) => 8 * (text() + handle * list.len() as u64),
            Self::Hash(set) => 8 * (text() + memory::of_hash_set(set)),
            Self::Whole(cache) | Self::Segments(cache) => cache.occupancy().bits,
        }
    }
}

/// A key for a filter that reads text alone.
fn text_alone(url: &str) -> UrlKey<'_> {
    UrlKey { bytes: url.as_bytes(), hash: 0 }
}

/// What it takes to insert one more URL into a sorted list where it belongs, with room for it.
fn into_sorted(sorted: &[&str], others: &[String]) -> Clock {
    let mut list = Vec::with_capacity(sorted.len() + 1);
    list.extend(sorted);
    let mut clock = Clock::default();
    for url in others.iter().take(SORTED_INSERTIONS) {
        let place = clock.block(1, || {
            let place = list.binary_search(&url.as_str()).unwrap_or_else(|place| place);
            list.insert(place, url);
            place
        });
        list.remove(place);
    }
    clock
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multilayer::{method, site};

    #[test]
    fn every_way_finds_what_it_was_given() {
        let urls = site::generated(2_000);
        let others: Vec<String> = (0..9).map(|number| format!("https://h/{number}")).collect();
        let extent = method::Extent { urls: 2_000, segments: vec![50, 24, 24, 24, 800], all_segments: 874 };
        let sizes = method::Sizes { layer_bits: 8.0, hashes: 3, totals: vec![25.0] };
        for spec in method::all(&extent, &sizes).unwrap() {
            let (set, time) = match &spec.shape {
                Some(shape) => UrlSet::filter(shape, &urls, HashSeed::new(1)).unwrap(),
                None => UrlSet::exact(spec.method, &urls, &others),
            };
            assert!(urls.iter().all(|url| set.finds(url)), "{spec:?}");
            assert!(time.time().unwrap().mean > 0.0, "{spec:?}");
            match &spec.shape {
                Some(shape) => assert_eq!(set.bits(&urls), shape.bits(), "{spec:?}"),
                None => assert!(set.bits(&urls) > 2_000 * 8 * 60, "{spec:?}"),
            }
            assert!(spec.shape.is_some() || !others.iter().any(|url| set.finds(url)), "{spec:?}");
        }
    }
}
