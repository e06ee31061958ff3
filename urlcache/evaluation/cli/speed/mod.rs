//! `urlcache speed`: our cache against other filters and sets, in turn on the same keys.
//!
//! All sides get Rust strings, use the same allocator with pages of the same size, and are timed in blocks that alternate,
//! so that what else the machine does falls on all. Bare times carry over to no other machine; the ratios nearly do.

mod layouts;
mod peers;
mod sides;

use std::{
    path::PathBuf,
    process::{Command, ExitCode},
    sync::Barrier,
};

use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;
use urlcache::{FalsePositives, Layout, LossBudget, Plan};

use crate::{
    Form,
    print::{self, Word},
};
use peers::{Kind, Unfit};
use sides::{Operation, SIDES, Sides, Times};

/// What has glibc put large allocations on huge pages, where the system allows it.
const HUGE_PAGES: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");

/// Of the interval of a measured rate.
const CONFIDENCE: f64 = 0.95;

#[derive(Debug, Args)]
pub(crate) struct SpeedArgs {
    /// Number of keys of the full filters
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1_000..=1_000_000_000))]
    keys: u64,
    /// Number of rounds; the result is their median
    #[arg(long, value_name = "R", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=99))]
    rounds: u32,
    /// False-positive rates, with commas [default: 0.01, 0.0001 and that of the default loss budget]
    #[arg(long, value_name = "P,…", value_delimiter = ',')]
    rates: Vec<f64>,
    /// Peers, with commas [default: all]: fastbloom, fastbloom-hashed, sbbf, quotient, cuckoo, hashbrown, hashset
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    against: Vec<String>,
    /// Number of threads, each with a filter of its own for its part of the keys
    #[arg(long, value_name = "T", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    threads: u32,
    /// Time our layouts instead: what a cache line costs
    #[arg(long, conflicts_with_all = ["against", "threads", "csv"])]
    layouts: bool,
    /// Write the rows to this file too
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Use memory pages of the ordinary size on all sides
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
    /// Whether ours takes one key or a batch at a time.
    mode: &'static str,
    threads: u32,
    keys: u64,
    rate: f64,
    /// Time of the other divided by ours: of the medians of the rounds, and in the round with the least and the greatest.
    ratio: f64,
    ratio_low: f64,
    ratio_high: f64,
    /// Ours, divided by the keys of all threads.
    ns: f64,
    /// Theirs, the same.
    against_ns: f64,
    bits_per_key: f64,
    against_bits_per_key: f64,
    /// Share of keys that were never offered and were found, with its interval.
    actual_rate: f64,
    actual_rate_low: f64,
    actual_rate_high: f64,
    against_actual_rate: f64,
    against_actual_rate_low: f64,
    against_actual_rate_high: f64,
}

/// All of them.
#[derive(Debug, Serialize)]
struct Speeds<R> {
    rows: Vec<R>,
}

const WORDS: &[Word] = &[
    (
        "operation",
        "insert: test-and-set of URLs that were never offered; duplicate: of URLs that were; hit and miss: a look at URLs that were inserted, and at others",
    ),
    ("ours", "the layout line: a batch of 256 keys at a time, as the crawler does, or a single key"),
    ("against", "the peer; --help names all, the documentation says what they are"),
    ("rate", "the false-positive rate that both are made for; actual: what was measured"),
    (
        "ratio",
        "the time of the other divided by the time of ours: 2.00 means that ours takes half the time, 0.50 twice the time",
    ),
    (
        "ns",
        "nanoseconds of ours divided by the keys of all threads, the median of the rounds; it depends on the machine, the ratio hardly does",
    ),
    ("bits/key", "memory per key"),
];

const WORDS_OF_LAYOUTS: &[Word] = &[
    ("shape", "how many bits of a key lie in how many cache lines of 64 bytes"),
    (
        "insert ns",
        "nanoseconds per test-and-set of a new key in batches of 256, its hash at hand; duplicate: of a seen one",
    ),
    ("price", "bits/key plus 4 for each cache line; the layout auto takes the lowest"),
];

pub(crate) fn run(args: &SpeedArgs) -> Result<ExitCode> {
    let (variable, value) = HUGE_PAGES;
    if !args.small_pages && std::env::var_os(variable).is_none() {
        // The setting is read when a process starts.
        let again =
            Command::new(std::env::current_exe()?).args(std::env::args_os().skip(1)).env(variable, value).status()?;
        return Ok(ExitCode::from(u8::try_from(again.code().unwrap_or(2)).unwrap_or(2)));
    }
    let rates = match &args.rates[..] {
        [] => vec![1e-2, 1e-4, rate_of_the_default_budget(args.keys)?],
        rates => rates.to_vec(),
    };
    if args.layouts {
        let rows = layouts::rows(args.keys, &rates, args.rounds)?;
        let lines = layouts::table(&rows);
        print::answer(args.form, &Speeds { rows }, &lines, WORDS_OF_LAYOUTS)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(path) = &args.csv {
        print::check_target(path, &[])?;
    }
    for rate in &rates {
        Plan::for_budget(Layout::Line, 0..args.keys, &LossBudget::rate(*rate))?;
    }
    let (mut rows, mut unfit) = (Vec::new(), Vec::new());
    let kinds = chosen(args)?;
    for (rate, kind) in rates.into_iter().flat_map(|rate| kinds.iter().map(move |kind| (rate, kind))) {
        if args.keys > kind.most_keys {
            eprintln!("{} is left out: {} keys would take too much memory", kind.name, args.keys);
            continue;
        }
        match compare(args, rate, kind) {
            // What was measured until then took long.
            Err(error) if error.is::<Unfit>() => unfit.push(error.context(format!("left out at {rate:e}"))),
            more => rows.extend(more?),
        }
    }
    if rows.is_empty() {
        unfit.pop().map_or(Ok(()), Err)?;
    }
    for error in unfit {
        eprintln!("{error:#}");
    }
    let (lines, speeds) = (table(&rows), Speeds { rows });
    print::answer(args.form, &speeds, &lines, WORDS)?;
    print::csv(args.csv.as_deref(), &speeds.rows)?;
    Ok(ExitCode::SUCCESS)
}

/// The rate at which a full `line` filter has lost half a key.
fn rate_of_the_default_budget(keys: u64) -> Result<f64> {
    Ok(Plan::for_budget(Layout::Line, 0..keys, &LossBudget::default())?.rate_at(keys))
}

fn chosen(args: &SpeedArgs) -> Result<Vec<&'static Kind>> {
    let all: &'static [Kind] = &peers::ALL;
    if args.against.is_empty() {
        return Ok(all.iter().collect());
    }
    let mut chosen = Vec::new();
    for name in &args.against {
        let Some(kind) = all.iter().find(|kind| kind.name == name) else {
            let names: Vec<_> = all.iter().map(|kind| kind.name).collect();
            bail!("unknown peer `{name}`, use one of: {}", names.join(", "));
        };
        chosen.push(kind);
    }
    Ok(chosen)
}

/// What was measured against one peer at one rate.
struct Measured {
    /// By round and operation.
    rounds: Vec<[Times; 4]>,
    bits: [u64; 2],
}

fn compare(args: &SpeedArgs, rate: f64, kind: &'static Kind) -> Result<Vec<Row>> {
    let keys_each = args.keys / u64::from(args.threads);
    let plan = Plan::for_budget(Layout::Line, 0..keys_each, &LossBudget::rate(rate))?;
    let mut measured = Measured { rounds: Vec::new(), bits: [0; 2] };
    for round in 0..args.rounds {
        let threads = 0..args.threads;
        let sides = threads.map(|thread| Sides::new(plan, keys_each, rate, kind, u64::from(round << 8 | thread)));
        let mut sides: Vec<Sides> = sides.collect::<Result<_>>()?;
        // Keys of their own: a filter whose hashes are always the same would answer each round as it did the first.
        let first = u64::from(round) * args.keys;
        measured.rounds.push(Operation::ALL.map(|operation| time(&mut sides, operation, first, keys_each)));
        let bits = sides.iter().map(Sides::bits);
        measured.bits = bits.fold([0; 2], |[ours, theirs], [one, other]| [ours + one, theirs + other]);
    }
    let rows = (0..Operation::ALL.len()).flat_map(|operation| [0, 1].map(|side| (operation, side)));
    Ok(rows.map(|(operation, side)| row(args, rate, kind, &measured, (operation, side))).collect())
}

/// Every thread does the operation with its own keys and filters.
fn time(sides: &mut [Sides], operation: Operation, first: u64, keys_each: u64) -> Times {
    let barrier = Barrier::new(sides.len());
    let times: Vec<Times> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..)
            .zip(sides.iter_mut())
            .map(|(thread, sides)| {
                let barrier = &barrier;
                scope.spawn(move || sides.time(operation, first + thread * keys_each, keys_each, barrier))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread that times does not panic")).collect()
    });
    let mut sum = Times::default();
    for side in 0..SIDES {
        // They run at the same time: what counts is the mean of them.
        sum.spent[side] = times.iter().map(|times| times.spent[side]).sum::<std::time::Duration>()
            / u32::try_from(times.len()).unwrap_or(u32::MAX);
        sum.found[side] = times.iter().map(|times| times.found[side]).sum();
    }
    sum
}

fn row(
    args: &SpeedArgs,
    rate: f64,
    kind: &'static Kind,
    measured: &Measured,
    (operation, side): (usize, usize),
) -> Row {
    let keys = args.keys / u64::from(args.threads) * u64::from(args.threads);
    let peer = SIDES - 1;
    let spent = |round: &[Times; 4], side: usize| round[operation].spent[side].as_nanos() as f64 / keys as f64;
    let sorted = |figure: &dyn Fn(&[Times; 4]) -> f64| {
        let mut figures: Vec<f64> = measured.rounds.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        figures
    };
    let median = |figures: &[f64]| figures[figures.len() / 2];
    let ratios = sorted(&|round| spent(round, peer) / spent(round, side));
    let misses = |side: usize| {
        let found = measured.rounds.iter().map(|round| round[2].found[side]).sum();
        let measured = FalsePositives { queried: keys * measured.rounds.len() as u64, found };
        (measured.rate(), measured.interval(CONFIDENCE))
    };
    let (ours, theirs) = (misses(side), misses(peer));
    let [bits_per_key, against_bits_per_key] = measured.bits.map(|bits| bits as f64 / keys as f64);
    Row {
        op: Operation::ALL[operation].name(),
        against: kind.name,
        mode: if side == 0 { "batch" } else { "single" },
        threads: args.threads,
        keys,
        rate,
        ratio: median(&sorted(&|round| spent(round, peer))) / median(&sorted(&|round| spent(round, side))),
        ratio_low: ratios[0],
        ratio_high: ratios[ratios.len() - 1],
        ns: median(&sorted(&|round| spent(round, side))),
        against_ns: median(&sorted(&|round| spent(round, peer))),
        bits_per_key,
        against_bits_per_key,
        actual_rate: ours.0,
        actual_rate_low: ours.1.low,
        actual_rate_high: ours.1.high,
        against_actual_rate: theirs.0,
        against_actual_rate_low: theirs.1.low,
        against_actual_rate_high: theirs.1.high,
    }
}

fn table(rows: &[Row]) -> String {
    let mut against: Vec<_> = rows.iter().map(|row| row.against).collect();
    against.dedup();
    against.sort_by_key(|name| peers::ALL.iter().position(|kind| kind.name == *name));
    against.dedup();
    let results: String =
        against.iter().flat_map(|peer| ["batch", "single"].map(|mode| result(rows, peer, mode))).collect();
    let heading = [
        "operation",
        "ours",
        "against",
        "keys",
        "rate",
        "ratio",
        "ns",
        "their ns",
        "bits/key",
        "their bits/key",
        "actual",
        "their actual",
    ];
    let cells = |row: &Row| {
        let [ratio, ns, theirs, bits, their_bits] =
            [row.ratio, row.ns, row.against_ns, row.bits_per_key, row.against_bits_per_key].map(|n| format!("{n:.2}"));
        let [rate, actual, their_actual] = [row.rate, row.actual_rate, row.against_actual_rate].map(print::short);
        let [op, mode, against] = [row.op, row.mode, row.against].map(str::to_owned);
        vec![op, mode, against, row.keys.to_string(), rate, ratio, ns, theirs, bits, their_bits, actual, their_actual]
    };
    print::table(&heading, &rows.iter().map(cells).collect::<Vec<_>>()) + "\n" + &results
}

/// What the ratios against a peer mean, in words.
fn result(rows: &[Row], against: &str, mode: &str) -> String {
    let ratios = || rows.iter().filter(|row| row.against == against && row.mode == mode).map(|row| row.ratio);
    let least = ratios().fold(f64::INFINITY, f64::min);
    let most = ratios().fold(0.0, f64::max);
    let how = if mode == "batch" { "in batches" } else { "one key at a time" };
    let what = peers::ALL.iter().find(|kind| kind.name == against).map_or("", |kind| kind.what);
    format!("against {against}, {how}: ours does {least:.2} to {most:.2} times as many keys a second ({what})\n")
}
