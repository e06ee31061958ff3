//! `urlcache speed`: test-and-set from URL text to answer, against the crate `fastbloom`, in turn on the same keys.
//!
//! All sides get Rust strings, hash them with xxh3, use the same allocator with pages of the same size, and are timed in
//! blocks that alternate, so that what else the machine does falls on all. Bare times carry over to no other machine; the
//! ratios nearly do. The peer comes twice: as one would use it, with xxh3 given as its hasher, and `fastbloom-hashed`,
//! given ready hashes of xxh3's one-shot function, which is its fastest form.

use std::{
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use anyhow::Result;
use clap::Args;
use fastbloom::BloomFilter;
use serde::Serialize;
use urlcache::{FilterCache, HashSeed, Layout, LossBudget, Plan, UrlCache, Verdict};
use xxhash_rust::xxh3::{Xxh3DefaultBuilder, xxh3_64};

use crate::{
    Form,
    keys::{key, url},
    print::{self, Word},
};

/// Keys that are made, and then timed, at a time.
const BLOCK: u64 = 1 << 16;

/// Keys of a batch: the links of a page.
const BATCH: usize = 256;

/// What has glibc put large allocations on huge pages, where the system allows it.
const HUGE_PAGES: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");

#[derive(Debug, Args)]
pub(crate) struct SpeedArgs {
    /// Number of keys of the full filters
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1_000..=1_000_000_000))]
    keys: u64,
    /// Number of rounds; the result is their median
    #[arg(long, value_name = "R", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=99))]
    rounds: u32,
    /// Use memory pages of the ordinary size on both sides
    #[arg(long)]
    small_pages: bool,
    #[command(flatten)]
    form: Form,
}

/// One comparison.
#[derive(Debug, Serialize)]
struct Row {
    op: &'static str,
    against: &'static str,
    keys: u64,
    rate: f64,
    /// Time of the other divided by ours.
    ratio: f64,
    /// Ours, a key.
    ns: f64,
    /// Theirs, a key.
    against_ns: f64,
    bits_per_key: f64,
    against_bits_per_key: f64,
}

/// All of them.
#[derive(Debug, Serialize)]
struct Speeds {
    rows: Vec<Row>,
}

const WORDS: &[Word] = &[
    ("test-and-set", "asks whether one URL was seen, and adds it; new URLs were never offered before, seen ones were"),
    (
        "against",
        "the plain Bloom filter of the crate fastbloom, with xxh3 as its hasher; fastbloom-hashed gets hashes that are computed before",
    ),
    ("rate", "the false-positive rate that both filters are made for"),
    (
        "ratio",
        "the time of the other filter divided by the time of ours: 2.00 means that ours takes half the time, 0.50 twice the time",
    ),
    (
        "ns",
        "nanoseconds per key of our filter, the median of all rounds; they depend on the machine, the ratio hardly does",
    ),
    ("bits/key", "memory of our filter per key"),
];

pub(crate) fn run(args: &SpeedArgs) -> Result<ExitCode> {
    let (variable, value) = HUGE_PAGES;
    if !args.small_pages && std::env::var_os(variable).is_none() {
        // The setting is read when a process starts.
        let again =
            Command::new(std::env::current_exe()?).args(std::env::args_os().skip(1)).env(variable, value).status()?;
        return Ok(ExitCode::from(u8::try_from(again.code().unwrap_or(2)).unwrap_or(2)));
    }
    let mut rows = Vec::new();
    for rate in [1e-2, 1e-4, rate_of_the_default_budget(args.keys)?] {
        rows.extend(compare(args, rate)?);
    }
    let lines = table(&rows);
    print::answer(args.form, &Speeds { rows }, &lines, WORDS)?;
    Ok(ExitCode::SUCCESS)
}

/// The rate at which a full `line` filter has lost half a key.
fn rate_of_the_default_budget(keys: u64) -> Result<f64> {
    Ok(Plan::for_budget(Layout::Line, 0..keys, &LossBudget::default())?.rate_at(keys))
}

/// The names of the peers, as in the rows.
const PEERS: [&str; 2] = ["fastbloom", "fastbloom-hashed"];

/// What is offered: keys never seen, then the same again.
const OPERATIONS: [&str; 2] = ["new", "seen"];

/// Time of all sides: ours, and the peers'.
type Times = [Duration; 3];

/// Filters of one rate.
struct Sides {
    ours: FilterCache,
    batch: Vec<Verdict>,
    hashing: BloomFilter<Xxh3DefaultBuilder>,
    hashed: BloomFilter<Xxh3DefaultBuilder>,
}

fn compare(args: &SpeedArgs, rate: f64) -> Result<Vec<Row>> {
    let budget = LossBudget { max_lost_urls: None, max_false_positive_rate: Some(rate) };
    let plan = Plan::for_budget(Layout::Line, 0..args.keys, &budget)?;
    let mut rounds: Vec<[Times; 2]> = Vec::new();
    let mut their_bits = 0;
    for round in 0..args.rounds {
        let count = usize::try_from(args.keys)?;
        let theirs = || BloomFilter::with_false_pos(rate).hasher(Xxh3DefaultBuilder).expected_items(count);
        let ours = FilterCache::single(plan, args.keys, HashSeed::new(u64::from(round)))?;
        let mut sides = Sides { ours, batch: Vec::new(), hashing: theirs(), hashed: theirs() };
        their_bits = sides.hashing.num_bits();
        rounds.push(OPERATIONS.map(|_| sides.time(args.keys)));
    }
    let keys = args.keys;
    let median = |operation: usize, side: usize| -> f64 {
        let mut times: Vec<f64> = rounds.iter().map(|round| round[operation][side].as_nanos() as f64).collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2] / keys as f64
    };
    let row = |operation: usize, peer: usize| {
        let (ns, against_ns) = (median(operation, 0), median(operation, peer + 1));
        let [bits_per_key, against_bits_per_key] =
            [plan.bits() as f64, their_bits as f64].map(|bits| bits / keys as f64);
        let op = OPERATIONS[operation];
        let against = PEERS[peer];
        let ratio = against_ns / ns;
        Row { op, against, keys, rate, ratio, ns, against_ns, bits_per_key, against_bits_per_key }
    };
    Ok([(0, 0), (1, 0), (0, 1), (1, 1)].map(|(operation, peer)| row(operation, peer)).into())
}

impl Sides {
    /// Offers all keys to every side, block by block; who is first changes with each.
    fn time(&mut self, keys: u64) -> Times {
        let mut times = [Duration::ZERO; 3];
        let starts = (0..keys).step_by(usize::try_from(BLOCK).unwrap_or(usize::MAX));
        for (block, start) in starts.enumerate() {
            let urls: Vec<String> = (start..keys.min(start + BLOCK)).map(url).collect();
            for turn in block..block + times.len() {
                let side = turn % times.len();
                let began = Instant::now();
                std::hint::black_box(self.offer(side, &urls));
                times[side] += began.elapsed();
            }
        }
        times
    }

    /// Offers a block to one side; returns how many it had seen.
    fn offer(&mut self, side: usize, urls: &[String]) -> usize {
        match side {
            0 => self.offer_to_ours(urls),
            1 => urls.iter().filter(|url| self.hashing.insert(url.as_str())).count(),
            _ => urls.iter().filter(|url| self.hashed.insert_hash(xxh3_64(url.as_bytes()))).count(),
        }
    }

    fn offer_to_ours(&mut self, urls: &[String]) -> usize {
        let mut seen = 0;
        let mut batch = Vec::with_capacity(BATCH);
        for page in urls.chunks(BATCH) {
            batch.clear();
            batch.extend(page.iter().map(|url| key(url)));
            self.ours.insert_batch(&batch, &mut self.batch);
            seen += self.batch.iter().filter(|verdict| **verdict == Verdict::Seen).count();
        }
        seen
    }
}

fn table(rows: &[Row]) -> String {
    let verdicts: String = PEERS.iter().map(|peer| verdict(rows, peer)).collect();
    let heading = ["test-and-set", "against", "keys", "rate", "ratio", "ns", "their ns", "bits/key", "their bits/key"];
    let cells = |row: &Row| {
        let [ratio, ns, theirs, bits, their_bits] =
            [row.ratio, row.ns, row.against_ns, row.bits_per_key, row.against_bits_per_key].map(|n| format!("{n:.2}"));
        let (op, against) = (row.op.to_owned(), row.against.to_owned());
        vec![op, against, row.keys.to_string(), print::short(row.rate), ratio, ns, theirs, bits, their_bits]
    };
    print::table(&heading, &rows.iter().map(cells).collect::<Vec<_>>()) + "\n" + &verdicts
}

/// What the ratios against a peer mean, in words.
fn verdict(rows: &[Row], against: &str) -> String {
    let ratios = || rows.iter().filter(|row| row.against == against).map(|row| row.ratio);
    let least = ratios().fold(f64::INFINITY, f64::min);
    let most = ratios().fold(0.0, f64::max);
    format!("against {against}: ours does {least:.2} to {most:.2} times as many keys a second\n")
}
