//! `urlcache rate`: false positives, counted beside the predicted ones.

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;
use urlcache::{
    CacheConfig, FalsePositives, HashSeed, Hashing, Interval, Layout, LossFigure, ResetPolicy, Strategy, UrlCache,
    UrlKey,
};

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
    /// Number of URLs to ask each full cache for, none of which was offered; they are not inserted
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=10_000_000_000))]
    query: u64,
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
    /// The sum of the charges, of one round; none where the strategy keeps no account.
    charged: Option<f64>,
    /// What that sum is: expected, `at_least` or unknown.
    charged_is: &'static str,
    /// What the plan foretold, where it can.
    planned: Option<f64>,
    /// Standard errors between the counted and the charged losses.
    deviation_se: Option<f64>,
    /// What the cache says of itself when it is full.
    final_rate: f64,
    /// URLs that full caches were asked for, and how many they found.
    queried: u64,
    found: u64,
}

/// What came of the caches, all together.
#[derive(Default)]
struct Sums {
    lost: u64,
    charged: f64,
    /// Of the difference of the two: the sum of p/(1-p) over the offered URLs, p being the rate at each.
    variance: f64,
    final_rate: f64,
    queries: FalsePositives,
    figure: Option<LossFigure>,
}

/// URLs that are offered at a time: the links of a page.
const PAGE: usize = 256;

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
    ("no figure", "the strategy keeps no account of its losses: what it states of them does not hold"),
    ("queried", "the share of other URLs that the full caches found, without inserting them (--query)"),
    ("rate at the end", "the probability that the cache calls the next new URL seen, after all were offered"),
];

pub(crate) fn run(args: &RateArgs) -> Result<ExitCode> {
    let offered = args.offer.unwrap_or(args.urls);
    let mut config = config(args);
    let design = config.design(0, 0)?;
    if let Some(file) = &args.save {
        print::check_target(file, &[])?;
    }
    let (mut sums, mut snapshot) = (Sums::default(), None);
    for round in 0..args.rounds {
        config.hash_seed = HashSeed::new(round).derive(1, 1);
        let mut cache = config.build(0, 0)?;
        let first = round * (offered + args.query);
        sums.fill(&mut *cache, first, offered);
        sums.query(&*cache, first + offered, args.query);
        snapshot = args.save.as_ref().filter(|_| round + 1 == args.rounds).map(|file| (file, cache.snapshot()));
    }
    let rounds = args.rounds as f64;
    let figure = sums.figure.unwrap_or(LossFigure::Expected);
    let is_known = figure != LossFigure::Unknown;
    let measured = Measured {
        strategy: args.strategy.name(),
        layout: design.layout,
        urls: args.urls,
        offered,
        rounds: args.rounds,
        bits_per_url: design.bits as f64 / args.urls as f64,
        lost: sums.lost as f64 / rounds,
        charged: is_known.then_some(sums.charged / rounds),
        charged_is: figure.name(),
        planned: is_known.then_some(design.expected_lost),
        deviation_se: sums.deviation().filter(|_| figure == LossFigure::Expected),
        final_rate: sums.final_rate / rounds,
        queried: sums.queries.queried,
        found: sums.queries.found,
    };
    print::answer(args.form, &measured, &lines(&measured, &sums), WORDS)?;
    if let Some((file, bytes)) = snapshot {
        std::fs::write(file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Sums {
    /// Offers different URLs.
    fn fill(&mut self, cache: &mut dyn UrlCache, from: u64, count: u64) {
        let mut answers = Vec::new();
        let mut charged = 0.0;
        for_pages(from, count, |keys| {
            cache.insert_batch(keys, &mut answers);
            let new = answers.iter().filter(|answer| answer.is_new()).count();
            self.lost += (keys.len() - new) as u64;
            // An answer new at the rate p is one of 1/(1-p) offers, each with p/(1-p).
            let after = cache.occupancy().expected_lost;
            if new > 0 {
                let charge = (after - charged) / new as f64;
                self.variance += new as f64 * charge * (1.0 + charge);
            }
            charged = after;
        });
        let now = cache.occupancy();
        self.charged += now.expected_lost;
        self.final_rate += now.expected_rate;
        self.figure = self.figure.max(Some(now.figure));
    }

    /// Asks for URLs that were never offered.
    fn query(&mut self, cache: &dyn UrlCache, from: u64, count: u64) {
        for_pages(from, count, |keys| self.queries = self.queries.and(FalsePositives::of(cache, keys)));
    }

    /// Counted minus charged losses, in standard errors.
    fn deviation(&self) -> Option<f64> {
        (self.variance > 0.0).then(|| (self.lost as f64 - self.charged) / self.variance.sqrt())
    }
}

/// So many URLs from a number on, some hundred at a time.
fn for_pages(from: u64, count: u64, mut take: impl FnMut(&[UrlKey<'_>])) {
    for start in (from..from + count).step_by(PAGE) {
        let urls: Vec<String> = (start..(from + count).min(start + PAGE as u64)).map(url).collect();
        let keys: Vec<_> = urls.iter().map(|url| key(url)).collect();
        take(&keys);
    }
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

fn lines(measured: &Measured, sums: &Sums) -> String {
    let Measured { strategy, layout, urls, offered, rounds, bits_per_url, .. } = measured;
    let (lost, trials) = (sums.lost, offered * rounds);
    let interval = Interval::exact(lost, trials, CONFIDENCE);
    let [rate, low, high] = [lost as f64 / trials as f64, interval.low, interval.high].map(print::short);
    let figure = |figure: Option<f64>| figure.map_or_else(|| "no figure".to_owned(), print::short);
    let predicted = figure(measured.charged.map(|charged| charged / *offered as f64));
    let at_least = if measured.charged_is == LossFigure::AtLeast.name() { "at least " } else { "" };
    let [charged, planned] = [measured.charged, measured.planned].map(figure);
    let [counted, final_rate] = [measured.lost, measured.final_rate].map(print::short);
    let deviation = measured.deviation_se.map_or_else(|| "none".to_owned(), |se| format!("{se:+.1} standard errors"));
    let text = format!(
        "{strategy} ({layout}) for {urls} URLs, {bits_per_url:.2} bits a URL; {offered} URLs offered, {rounds} rounds\n\n\
         measured rate    {rate}  ({lost} of {trials} new URLs called seen)\n\
         interval         {low} to {high}  (95 %)\n\
         predicted rate   {at_least}{predicted}\n\
         deviation        {deviation}\n\
         lost a round     {counted} counted, {at_least}{charged} predicted; {planned} planned for {urls} URLs\n\
         rate at the end  {final_rate}"
    );
    text + &query_line(sums.queries)
}

/// What queries of the full caches came to, if there were any.
fn query_line(queries: FalsePositives) -> String {
    let FalsePositives { queried, found } = queries;
    if queried == 0 {
        return String::new();
    }
    let interval = queries.interval(CONFIDENCE);
    let [rate, low, high] = [queries.rate(), interval.low, interval.high].map(print::short);
    format!("\nqueried          {rate}  ({found} of {queried} URLs found; {low} to {high} with 95 %)")
}
