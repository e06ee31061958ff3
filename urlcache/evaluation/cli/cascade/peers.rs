//! Static filters of the same keys without their classes: what a specialist compares a cascade's filters with.
//!
//! Owns which there are, and how they are measured: all are built from the same 64-bit hashes of the keys, and asked for
//! members and for as many keys that are none.

use std::ops::Range;

use anyhow::{Context, Result, anyhow, bail};
use clap::ValueEnum;
use pleat::filter::{Ribbon, StdRibbon};
use serde::{Deserialize, Serialize};
use urlcache_evaluation::cascade::RibbonFilter;
use xorf::{BinaryFuse8, BinaryFuse16, Filter, Xor8, Xor16};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{
    measure::BLOCK,
    sample::Sample,
    stopwatch::{Stopwatch, Took},
};
use crate::memory;

/// Keys at most that are asked for, of members and others each.
const MOST_ASKED: u64 = 10_000_000;

/// A static filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Peer {
    /// Xor filter of 8-bit fingerprints (crate xorf)
    Xor8,
    /// Xor filter of 16-bit fingerprints (crate xorf)
    Xor16,
    /// Binary fuse filter of 8-bit fingerprints (crate xorf)
    Fuse8,
    /// Binary fuse filter of 16-bit fingerprints (crate xorf)
    Fuse16,
    /// Homogeneous ribbon filter of width 64 and 8 bits (crate pleat)
    HomogeneousRibbon8,
    /// Standard ribbon filter of width 128 and 8 bits (crate pleat)
    StandardRibbon8,
    /// Bumped ribbon filter of width 64 and 8 bits (ours)
    BumpedRibbon8,
    /// Bumped ribbon filter of width 64 and 16 bits (ours)
    BumpedRibbon16,
}

/// What a filter costs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Filtered {
    pub(super) bytes: u64,
    /// From hashes to the filter.
    pub(super) build: Took,
    /// The hashes of the keys included.
    pub(super) peak_bytes: Option<u64>,
    /// From hash to answer, members and as many others.
    pub(super) members: Took,
    pub(super) others: Took,
    pub(super) asked: u64,
    /// Others that were found.
    pub(super) found: u64,
}

impl Peer {
    /// As it is called on the command line, and where it comes from.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Xor8 => "xor8",
            Self::Xor16 => "xor16",
            Self::Fuse8 => "fuse8",
            Self::Fuse16 => "fuse16",
            Self::HomogeneousRibbon8 => "homogeneous-ribbon8",
            Self::StandardRibbon8 => "standard-ribbon8",
            Self::BumpedRibbon8 => "bumped-ribbon8",
            Self::BumpedRibbon16 => "bumped-ribbon16",
        }
    }

    pub(super) fn source(self) -> &'static str {
        match self {
            Self::Xor8 | Self::Xor16 | Self::Fuse8 | Self::Fuse16 => "crate xorf",
            Self::HomogeneousRibbon8 | Self::StandardRibbon8 => "crate pleat",
            Self::BumpedRibbon8 | Self::BumpedRibbon16 => "urlcache",
        }
    }
}

/// Builds a filter of the keys of a sample, and asks it.
pub(super) fn measure(peer: Peer, sample: &Sample, hash_seed: u64) -> Result<Filtered> {
    let keys = Keys { sample, hash_seed };
    let hashes = keys.hashes(0..sample.keys());
    match peer {
        Peer::Xor8 => {
            time(hashes, keys, |h: Vec<u64>| Ok(Xor8::from(h)), |f: &Xor8| f.fingerprints.len(), |f, h| f.contains(&h))
        }
        Peer::Xor16 => time(
            hashes,
            keys,
            |h: Vec<u64>| Ok(Xor16::from(h)),
            |f: &Xor16| 2 * f.fingerprints.len(),
            |f, h| f.contains(&h),
        ),
        Peer::Fuse8 => {
            let build = |hashes: Vec<u64>| BinaryFuse8::try_from(hashes).map_err(|error| anyhow!(error));
            time(hashes, keys, build, |f: &BinaryFuse8| f.fingerprints.len(), |f, h| f.contains(&h))
        }
        Peer::Fuse16 => {
            let build = |hashes: Vec<u64>| BinaryFuse16::try_from(hashes).map_err(|error| anyhow!(error));
            time(hashes, keys, build, |f: &BinaryFuse16| 2 * f.fingerprints.len(), |f, h| f.contains(&h))
        }
        Peer::HomogeneousRibbon8 => {
            let build = |hashes: Vec<u64>| Ok(Ribbon::<8>::from_keys_pleated(&hashes));
            time(hashes, keys, build, Ribbon::size_bytes, Ribbon::contains)
        }
        Peer::StandardRibbon8 => {
            let build = |hashes: Vec<u64>| {
                StdRibbon::<8>::from_keys_pleated(&hashes).map_err(|error| anyhow!("no standard ribbon: {error:?}"))
            };
            time(hashes, keys, build, StdRibbon::size_bytes, StdRibbon::contains)
        }
        Peer::BumpedRibbon8 => time(hashes, keys, |h| bumped(h, 8), RibbonFilter::bytes, RibbonFilter::holds),
        Peer::BumpedRibbon16 => time(hashes, keys, |h| bumped(h, 16), RibbonFilter::bytes, RibbonFilter::holds),
    }
}

fn bumped(hashes: Vec<u64>, bits: u32) -> Result<RibbonFilter> {
    RibbonFilter::build(hashes, bits).context("no ribbon filter of these keys")
}

fn time<F>(
    hashes: Vec<u64>,
    keys: Keys<'_>,
    build: impl Fn(Vec<u64>) -> Result<F>,
    bytes: impl Fn(&F) -> usize,
    holds: impl Fn(&F, u64) -> bool,
) -> Result<Filtered> {
    let watch = Stopwatch::start();
    let filter = build(hashes)?;
    let build = watch.took();
    let peak_bytes = memory::peak();
    let count = keys.sample.keys();
    let asked = count.min(MOST_ASKED);
    let (found_members, members) = keys.ask(&filter, 0..asked, &holds);
    let (found, others) = keys.ask(&filter, count..count + asked, &holds);
    if found_members != asked {
        bail!("a filter misses {} of its keys", asked - found_members);
    }
    Ok(Filtered { bytes: bytes(&filter) as u64, build, peak_bytes, members, others, asked, found })
}

/// Where hashes come from.
#[derive(Clone, Copy)]
struct Keys<'a> {
    sample: &'a Sample,
    hash_seed: u64,
}

impl Keys<'_> {
    fn hashes(self, keys: Range<u64>) -> Vec<u64> {
        keys.map(|key| xxh3_64_with_seed(&self.sample.text(key), self.hash_seed)).collect()
    }

    /// How many of these keys are found, and the time of asking for them.
    fn ask<F>(self, filter: &F, keys: Range<u64>, holds: impl Fn(&F, u64) -> bool) -> (u64, Took) {
        let (mut found, mut took) = (0, Took::default());
        for start in keys.clone().step_by(usize::try_from(BLOCK).unwrap_or(usize::MAX)) {
            let hashes = self.hashes(start..keys.end.min(start + BLOCK));
            let watch = Stopwatch::start();
            found += hashes.iter().filter(|hash| holds(filter, **hash)).count() as u64;
            took += watch.took();
        }
        (found, took)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_filter_finds_its_keys_and_errs_as_its_bits_say() {
        let sample = Sample::new("30000,1".parse().unwrap(), 0.0, 3);
        for peer in Peer::value_variants() {
            let measured = measure(*peer, &sample, 4).unwrap();
            let bits = if peer.name().ends_with("16") { 16 } else { 8 };
            let expected = 30_000.0 * 0.5_f64.powi(bits);
            let found = measured.found as f64;
            // Rows without equations make some homogeneous ribbons err more often than their bits say.
            let most = if matches!(peer, Peer::HomogeneousRibbon8) { 2.0 * expected } else { expected };
            assert!(
                found > expected - 5.0 * expected.sqrt() && found < most + 5.0 * expected.sqrt(),
                "{peer:?}: {measured:?}"
            );
        }
    }
}
