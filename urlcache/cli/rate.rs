//! `urlcache rate`: false positives, counted beside the predicted ones.

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;
use urlcache::{CacheConfig, HashSeed, Hashing, Interval, Layout, ResetPolicy, Strategy, UrlCache, Verdict};

use crate::{
    Budget, Form,
    keys::{key, url},
    print::{self, Word},
};

#[derive(Debug, Args)]
pub(crate) struct RateArgs {
    /// Number of URLs that the cache is made for
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    urls: u64,
    /// Number of URLs to offer [default: as many as the cache is made for]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000_000))]
    offer: Option<u64>,
    /// Number of caches to fill, each with its own hash seed
    #[arg(long, value_name = "R", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    rounds: u64,
    /// Strategy: exact, single, spatial, temporal, spatio-temporal, multilayer, multilayer-plain or segment-set
    #[arg(long, value_name = "STRATEGY", default_value = "single")]
    strategy: Strategy,
    /// Layout: auto, classic, line or fingerprint
    #[arg(long, value_name = "LAYOUT", default_value = "auto")]
    layout: Layout,
    /// Hash functions: fingerprint, xxh3, lookup2, murmur2, md5, sha1 or functions
    #[arg(long, value_name = "HASHING", default_value = "fingerprint")]
    hashing: Hashing,
    /// What to do with more URLs: none goes on, rotate forgets the oldest
    #[arg(long, value_name = "POLICY", default_value = "none", value_parser = ["none", "rotate"])]
    reset: String,
    /// Number of filters of the spatial strategies
    #[arg(long, value_name = "F", default_value_t = 2)]
    filters: u32,
    /// Number of layers of the strategy multilayer
    #[arg(long, value_name = "L", default_value_t = 8)]
    layers: u32,
    #[command(flatten)]
    budget: Budget,
    /// Write a snapshot of the last cache to this file
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    #[command(flatten)]
    form: Form,
}

/// What was counted, and what was to be expected.
#[derive(Debug, Serialize)]
struct Measured {
    strategy: &'static str,
    layout: &'static str,
    urls: u64,
    offered: u64,
    rounds: u64,
    bits_per_url: f64,
    /// URLs lost while filling, of one round.
    lost: f64,
    /// The sum of the charges, of one round.
    charged: f64,
    /// What the plan foretold.
    planned: f64,
    /// Standard errors between the counted and the charged losses.
    deviation_se: Option<f64>,
    /// What the cache says of itself when it is full.
    final_rate: f64,
}

/// Of the interval of the measured rate.
const CONFIDENCE: f64 = 0.95;

const WORDS: &[Word] = &[
    (
        "measured rate",
        "the share of the offered URLs that the cache called seen; all were new, so each of these is lost",
    ),
    ("interval", "holds the true rate in 95 of 100 such measurements (Clopper and Pearson)"),
    ("predicted rate", "the same share as the cache computes it, from the bits that were set when each URL came"),
    (
        "deviation",
        "measured minus predicted rate, in standard errors; if the prediction is right, 3 of 1000 such measurements are above 3 or below -3",
    ),
    ("lost a round", "lost URLs of one filled cache: as counted, as the cache computes them, and as it was sized for"),
    ("rate at the end", "the probability that the cache calls the next new URL seen, after all were offered"),
];

pub(crate) fn run(args: &RateArgs) -> Result<ExitCode> {
    let offered = args.offer.unwrap_or(args.urls);
    let mut lost = 0;
    let mut charged = 0.0;
    let mut final_rate = 0.0;
    let mut config = config(args);
    let design = config.design(0, 0)?;
    for round in 0..args.rounds {
        config.hash_seed = HashSeed::new(round).derive(1, 1);
        let mut cache = config.build(0, 0)?;
        lost += fill(&mut *cache, round * offered, offered);
        charged += cache.occupancy().expected_lost;
        final_rate += cache.occupancy().expected_rate;
        if let Some(file) = args.save.as_ref().filter(|_| round + 1 == args.rounds) {
            std::fs::write(file, cache.snapshot()).with_context(|| format!("cannot write {}", file.display()))?;
        }
    }
    let rounds = args.rounds as f64;
    let measured = Measured {
        strategy: args.strategy.name(),
        layout: design.layout,
        urls: args.urls,
        offered,
        rounds: args.rounds,
        bits_per_url: design.bits as f64 / args.urls as f64,
        lost: lost as f64 / rounds,
        charged: charged / rounds,
        planned: design.expected_lost,
        deviation_se: (charged > 0.0).then(|| (lost as f64 - charged) / charged.sqrt()),
        final_rate: final_rate / rounds,
    };
    print::answer(args.form, &measured, &lines(&measured, lost), WORDS)?;
    Ok(ExitCode::SUCCESS)
}

fn config(args: &RateArgs) -> CacheConfig {
    CacheConfig {
        layout: args.layout,
        reset: if args.reset == "rotate" { ResetPolicy::Rotate } else { ResetPolicy::None },
        budget: args.budget.budget(),
        expected_urls: Some(args.urls),
        hashing: args.hashing,
        filters: args.filters,
        layers: args.layers,
        ..CacheConfig::new(args.strategy, HashSeed::new(0))
    }
}

/// Offers different URLs; returns how many of them were called seen.
fn fill(cache: &mut dyn UrlCache, from: u64, count: u64) -> u64 {
    let mut verdicts = Vec::new();
    let mut lost = 0;
    for start in (from..from + count).step_by(256) {
        let urls: Vec<String> = (start..(from + count).min(start + 256)).map(url).collect();
        let keys: Vec<_> = urls.iter().map(|url| key(url)).collect();
        cache.insert_batch(&keys, &mut verdicts);
        lost += verdicts.iter().filter(|verdict| **verdict == Verdict::Seen).count() as u64;
    }
    lost
}

fn lines(measured: &Measured, lost: u64) -> String {
    let Measured { strategy, layout, urls, offered, rounds, bits_per_url, .. } = measured;
    let trials = offered * rounds;
    let interval = Interval::exact(lost, trials, CONFIDENCE);
    let predicted = measured.charged / *offered as f64;
    let [rate, low, high, predicted] =
        [lost as f64 / trials as f64, interval.low, interval.high, predicted].map(print::short);
    let [counted, charged, planned, final_rate] =
        [measured.lost, measured.charged, measured.planned, measured.final_rate].map(print::short);
    let deviation = measured.deviation_se.map_or_else(|| "none".to_owned(), |se| format!("{se:+.1} standard errors"));
    format!(
        "{strategy} ({layout}) for {urls} URLs, {bits_per_url:.2} bits a URL; {offered} URLs offered, {rounds} rounds\n\n\
         measured rate    {rate}  ({lost} of {trials} new URLs called seen)\n\
         interval         {low} to {high}  (95 %)\n\
         predicted rate   {predicted}\n\
         deviation        {deviation}\n\
         lost a round     {counted} counted, {charged} predicted; {planned} planned for {urls} URLs\n\
         rate at the end  {final_rate}"
    )
}
