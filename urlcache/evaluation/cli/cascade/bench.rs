//! `urlcache cascade bench`: the three algorithms beside the document's figures, and static filters of the same keys.
//!
//! Owns the tables. Each measurement is a process of its own (see `measure`), so that peaks of memory do not add up.

use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use serde::{Serialize, de::DeserializeOwned};
use urlcache::Interval;
use urlcache_evaluation::cascade::entropy;

use super::{
    Choice,
    measure::Classified,
    peers::{Filtered, Peer},
    sample::{Sample, Size},
    size,
    spread::Spread,
    stopwatch::Took,
};
use crate::{
    Form,
    print::{self, Word},
};

/// Of all intervals.
const CONFIDENCE: f64 = 0.95;

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Number of keys and classes: small (226556,3), medium (4898932,6), large (25000000,10), or KEYS,CLASSES; may be
    /// given again [default: small, medium and large, which takes some minutes, and 3.5 GiB of memory for the xor filters]
    #[arg(long, value_name = "SIZE")]
    size: Vec<Size>,
    /// Inequality of the classes: class i has a share in proportion to i^-S; 0 makes them equal
    #[arg(long, value_name = "S", default_value_t = 0.0, allow_negative_numbers = true)]
    skew: f64,
    /// Seed of the generated keys: another seed makes other keys
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Seed of the keys' hash, for classifiers and filters alike
    #[arg(long, value_name = "S", default_value_t = 0)]
    hash_seed: u64,
    /// Measure these algorithms alone; may be given again
    #[arg(short, long, value_enum, value_name = "ALGORITHM")]
    algorithm: Vec<Choice>,
    /// Leave out the static filters
    #[arg(long)]
    no_filters: bool,
    /// Number of times that each measurement is repeated; times and memory are the medians, and the files of --csv and
    /// --filters-csv have the fastest (low) and the slowest (high) of each time as well
    #[arg(long, value_name = "R", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=99))]
    rounds: u32,
    /// Write the table of the classifiers to this file, as CSV, with intervals
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write the table of the static filters to this file, as CSV, with intervals
    #[arg(long, value_name = "FILE")]
    filters_csv: Option<PathBuf>,
    #[command(flatten)]
    form: Form,
}

/// What the document prints.
struct Published {
    size: &'static str,
    algorithm: Choice,
    file: &'static str,
    seconds: f64,
    peak_mib: f64,
}

const PUBLISHED: [Published; 6] = [
    Published { size: "small", algorithm: Choice::One, file: "128 KB", seconds: 0.413, peak_mib: 6.5 },
    Published { size: "small", algorithm: Choice::Two, file: "156 KB", seconds: 0.410, peak_mib: 5.8 },
    Published { size: "medium", algorithm: Choice::One, file: "6.3 MB", seconds: 1.360, peak_mib: 153.5 },
    Published { size: "medium", algorithm: Choice::Two, file: "3.9 MB", seconds: 1.340, peak_mib: 150.4 },
    Published { size: "large", algorithm: Choice::One, file: "53 MB", seconds: 6.969, peak_mib: 645.5 },
    Published { size: "large", algorithm: Choice::Two, file: "22 MB", seconds: 6.432, peak_mib: 673.1 },
];

/// One classifier.
#[derive(Debug, Serialize)]
struct Row {
    size: &'static str,
    keys: u64,
    classes: u32,
    skew: f64,
    seed: u64,
    hash_seed: u64,
    algorithm: &'static str,
    rounds: u64,
    bytes: u64,
    bits_per_key: f64,
    entropy_bits_per_key: f64,
    /// Size divided by the entropy of all keys; none if that is 0.
    over_entropy: Option<f64>,
    /// Of all times the median, the fastest and the slowest of the repetitions.
    seconds: f64,
    seconds_low: f64,
    seconds_high: f64,
    cpu_seconds: f64,
    cpu_seconds_low: f64,
    cpu_seconds_high: f64,
    /// The median.
    peak_bytes: Option<u64>,
    batch_ns: f64,
    batch_ns_low: f64,
    batch_ns_high: f64,
    batch_cpu_ns: f64,
    batch_cpu_ns_low: f64,
    batch_cpu_ns_high: f64,
    single_ns: f64,
    single_ns_low: f64,
    single_ns_high: f64,
    single_cpu_ns: f64,
    single_cpu_ns_low: f64,
    single_cpu_ns_high: f64,
    errors: u64,
    /// Interval of the share of errors.
    error_low: f64,
    error_high: f64,
    document_size: Option<&'static str>,
    document_seconds: Option<f64>,
    document_peak_mib: Option<f64>,
}

/// One static filter.
#[derive(Debug, Serialize)]
struct FilterRow {
    filter: &'static str,
    source: &'static str,
    keys: u64,
    seed: u64,
    hash_seed: u64,
    bytes: u64,
    bits_per_key: f64,
    /// Of all times the median, the fastest and the slowest of the repetitions.
    build_seconds: f64,
    build_seconds_low: f64,
    build_seconds_high: f64,
    build_cpu_seconds: f64,
    build_cpu_seconds_low: f64,
    build_cpu_seconds_high: f64,
    /// The median.
    peak_bytes: Option<u64>,
    member_ns: f64,
    member_ns_low: f64,
    member_ns_high: f64,
    member_cpu_ns: f64,
    member_cpu_ns_low: f64,
    member_cpu_ns_high: f64,
    other_ns: f64,
    other_ns_low: f64,
    other_ns_high: f64,
    other_cpu_ns: f64,
    other_cpu_ns_low: f64,
    other_cpu_ns_high: f64,
    asked: u64,
    found: u64,
    rate: f64,
    rate_low: f64,
    rate_high: f64,
    /// Bits a key divided by the least that any filter of this rate takes, log2(1 / rate).
    over_bound: Option<f64>,
}

/// All of it.
#[derive(Debug, Serialize)]
struct Measurements {
    rows: Vec<Row>,
    filters: Vec<FilterRow>,
}

const WORDS: &[Word] = &[
    ("algorithm", "1.0 and 2.0 are the document's cascades, compact is a Huffman code in ribbon retrieval structures"),
    ("size", "of the written classifier; beside it what the document prints for its own files of as many keys"),
    ("bits/key", "size in bits, divided by the keys"),
    (
        "x entropy",
        "size divided by the entropy of the classes: below 1 none can be without errors; - if the entropy is 0",
    ),
    ("seconds", "training: from key text, which is made meanwhile, to the written bytes, on one thread"),
    (
        "CPU",
        "processor time of the same: what it costs where other programs use the machine as well; of filters, to build them",
    ),
    ("peak", "the most memory of the training process"),
    ("repetitions", "times and peaks are the medians of --rounds measurements, each in a process of its own"),
    ("ns/key", "asking, from key text to class, in batches of 262,144 keys"),
    ("one by one", "processor time of the same in nanoseconds, each key for itself"),
    ("errors", "keys that get a wrong class in batches or one by one, whichever are more, of all keys"),
    (
        "ns",
        "of filters: processor time to ask for a key, from its hash, one by one; member: one of the set; other: not",
    ),
    ("filter", "a static filter of the same keys without their classes: is this key one of them?"),
    (
        "rate",
        "the share of other keys that a filter finds by mistake; the interval holds the true one in 95 of 100 cases",
    ),
    ("x bound", "bits/key divided by log2(1/rate), the least that any filter of this rate takes"),
    ("document", "N. Van Steenbrugge, Bloomfilter cascade; its MB are taken as MiB, its times are of its own machine"),
];

pub(super) fn run(args: &BenchArgs) -> Result<ExitCode> {
    ensure!(args.skew.is_finite() && args.skew >= 0.0, "--skew {}: must be 0 or more", args.skew);
    let sizes = if args.size.is_empty() { Size::NAMED.map(|(_, size)| size).to_vec() } else { args.size.clone() };
    let choices = if args.algorithm.is_empty() { Choice::ALL.to_vec() } else { args.algorithm.clone() };
    for (size, choice) in sizes.iter().flat_map(|size| choices.iter().map(move |choice| (size, choice))) {
        choice.check(size.classes.into(), size.keys)?;
    }
    let targets: Vec<&Path> = [&args.csv, &args.filters_csv].into_iter().flatten().map(PathBuf::as_path).collect();
    for (number, target) in targets.iter().enumerate() {
        print::check_target(target, &targets[..number])?;
    }
    let mut measurements = Measurements { rows: Vec::new(), filters: Vec::new() };
    for size in sizes {
        for choice in &choices {
            measurements.rows.push(classifier(args, size, *choice)?);
        }
        for peer in Peer::value_variants().iter().filter(|_| !args.no_filters) {
            measurements.filters.push(filter(args, size, *peer)?);
        }
    }
    let mut lines = table(&measurements.rows);
    if !measurements.filters.is_empty() {
        lines += &format!("\n{}", filter_table(&measurements.filters));
    }
    print::answer(args.form, &measurements, &lines, WORDS)?;
    print::csv(args.csv.as_deref(), &measurements.rows)?;
    print::csv(args.filters_csv.as_deref(), &measurements.filters)?;
    Ok(ExitCode::SUCCESS)
}

/// The same measurement in as many processes.
fn measure<T: DeserializeOwned>(args: &BenchArgs, size: Size, what: [&str; 2]) -> Result<Vec<T>> {
    let of = format!("{},{}", size.keys, size.classes);
    let [skew, seed, hash_seed] = [args.skew.to_string(), args.seed.to_string(), args.hash_seed.to_string()];
    let one = |_| {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["cascade", "measure", "--size", &of, "--skew", &skew, "--seed", &seed]);
        command.args(["--hash-seed", &hash_seed]).args(what);
        let output = command.output().context("cannot start a measurement")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "the measurement of {} failed: {}", what[1], said.trim());
        serde_json::from_slice(&output.stdout).context("a measurement says something else")
    };
    (0..args.rounds).map(one).collect()
}

/// Of all repetitions, on the clock and of the processor, times a factor.
fn spreads<T>(measured: &[T], factor: f64, what: fn(&T) -> Took) -> Result<[Spread; 2]> {
    let of = |part: fn(&Took) -> f64| Spread::of(measured.iter().map(|one| part(&what(one)) * factor));
    Ok([of(|took| took.seconds)?, of(|took| took.cpu_seconds)?])
}

/// The median of the peaks of memory, where they are known.
fn peak<T>(measured: &[T], what: fn(&T) -> Option<u64>) -> Option<u64> {
    let mut peaks: Vec<u64> = measured.iter().filter_map(what).collect();
    peaks.sort_unstable();
    let middle = peaks.get(peaks.len() / 2)?;
    Some(u64::midpoint(peaks[(peaks.len() - 1) / 2], *middle))
}

fn classifier(args: &BenchArgs, size: Size, choice: Choice) -> Result<Row> {
    let measured: Vec<Classified> = measure(args, size, ["--algorithm", choice.flag()])?;
    let first = measured.first().context("no measurement")?;
    let [seconds, cpu_seconds] = spreads(&measured, 1.0, |one| {
        let mut all = one.keys;
        all += one.build;
        all
    })?;
    let to_ns = 1e9 / size.keys as f64;
    let [batch_ns, batch_cpu_ns] = spreads(&measured, to_ns, |one| one.batch)?;
    let [single_ns, single_cpu_ns] = spreads(&measured, to_ns, |one| one.single)?;
    let bits_per_key = first.bytes as f64 * 8.0 / size.keys as f64;
    let entropy_bits_per_key = entropy(&Sample::new(size, args.skew, args.seed).counts());
    let errors = measured.iter().map(|one| one.errors).max().unwrap_or_default();
    let interval = Interval::exact(errors, size.keys, CONFIDENCE);
    let name = size.name().unwrap_or_default();
    let published = PUBLISHED.iter().find(|published| published.size == name && published.algorithm == choice);
    Ok(Row {
        size: name,
        keys: size.keys,
        classes: size.classes,
        skew: args.skew,
        seed: args.seed,
        hash_seed: args.hash_seed,
        algorithm: choice.algorithm().name(),
        rounds: first.rounds,
        bytes: first.bytes,
        bits_per_key,
        entropy_bits_per_key,
        over_entropy: (entropy_bits_per_key > 0.0).then(|| bits_per_key / entropy_bits_per_key),
        seconds: seconds.median,
        seconds_low: seconds.low,
        seconds_high: seconds.high,
        cpu_seconds: cpu_seconds.median,
        cpu_seconds_low: cpu_seconds.low,
        cpu_seconds_high: cpu_seconds.high,
        peak_bytes: peak(&measured, |one| one.peak_bytes),
        batch_ns: batch_ns.median,
        batch_ns_low: batch_ns.low,
        batch_ns_high: batch_ns.high,
        batch_cpu_ns: batch_cpu_ns.median,
        batch_cpu_ns_low: batch_cpu_ns.low,
        batch_cpu_ns_high: batch_cpu_ns.high,
        single_ns: single_ns.median,
        single_ns_low: single_ns.low,
        single_ns_high: single_ns.high,
        single_cpu_ns: single_cpu_ns.median,
        single_cpu_ns_low: single_cpu_ns.low,
        single_cpu_ns_high: single_cpu_ns.high,
        errors,
        error_low: interval.low,
        error_high: interval.high,
        document_size: published.map(|published| published.file),
        document_seconds: published.map(|published| published.seconds),
        document_peak_mib: published.map(|published| published.peak_mib),
    })
}

fn filter(args: &BenchArgs, size: Size, peer: Peer) -> Result<FilterRow> {
    let measured: Vec<Filtered> = measure(args, size, ["--filter", peer.name()])?;
    let first = measured.first().context("no measurement")?;
    let [build_seconds, build_cpu_seconds] = spreads(&measured, 1.0, |one| one.build)?;
    let to_ns = 1e9 / first.asked as f64;
    let [member_ns, member_cpu_ns] = spreads(&measured, to_ns, |one| one.members)?;
    let [other_ns, other_cpu_ns] = spreads(&measured, to_ns, |one| one.others)?;
    let bits_per_key = first.bytes as f64 * 8.0 / size.keys as f64;
    let rate = first.found as f64 / first.asked as f64;
    let interval = Interval::exact(first.found, first.asked, CONFIDENCE);
    Ok(FilterRow {
        filter: peer.name(),
        source: peer.source(),
        keys: size.keys,
        seed: args.seed,
        hash_seed: args.hash_seed,
        bytes: first.bytes,
        bits_per_key,
        build_seconds: build_seconds.median,
        build_seconds_low: build_seconds.low,
        build_seconds_high: build_seconds.high,
        build_cpu_seconds: build_cpu_seconds.median,
        build_cpu_seconds_low: build_cpu_seconds.low,
        build_cpu_seconds_high: build_cpu_seconds.high,
        peak_bytes: peak(&measured, |one| one.peak_bytes),
        member_ns: member_ns.median,
        member_ns_low: member_ns.low,
        member_ns_high: member_ns.high,
        member_cpu_ns: member_cpu_ns.median,
        member_cpu_ns_low: member_cpu_ns.low,
        member_cpu_ns_high: member_cpu_ns.high,
        other_ns: other_ns.median,
        other_ns_low: other_ns.low,
        other_ns_high: other_ns.high,
        other_cpu_ns: other_cpu_ns.median,
        other_cpu_ns_low: other_cpu_ns.low,
        other_cpu_ns_high: other_cpu_ns.high,
        asked: first.asked,
        found: first.found,
        rate,
        rate_low: interval.low,
        rate_high: interval.high,
        over_bound: (first.found > 0).then(|| bits_per_key / -rate.log2()),
    })
}

/// Bytes as people read them.
fn shown(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "unknown".to_owned(), |bytes| size(bytes as f64))
}

fn table(rows: &[Row]) -> String {
    let heading = [
        "keys / classes",
        "algorithm",
        "size",
        "document",
        "bits/key",
        "x entropy",
        "seconds",
        "CPU s",
        "document",
        "peak",
        "document",
        "ns/key",
        "CPU ns",
        "one by one",
        "errors",
    ];
    let cells = |row: &Row| {
        let seconds = row.document_seconds.map_or_else(String::new, |seconds| format!("{seconds:.2}"));
        let peak = row.document_peak_mib.map_or_else(String::new, |peak| format!("{peak:.1} MiB"));
        vec![
            format!("{} / {}", row.keys, row.classes),
            row.algorithm.to_owned(),
            size(row.bytes as f64),
            row.document_size.unwrap_or_default().to_owned(),
            format!("{:.3}", row.bits_per_key),
            row.over_entropy.map_or_else(|| "-".to_owned(), |over| format!("{over:.3}")),
            format!("{:.2}", row.seconds),
            format!("{:.2}", row.cpu_seconds),
            seconds,
            shown(row.peak_bytes),
            peak,
            format!("{:.1}", row.batch_ns),
            format!("{:.1}", row.batch_cpu_ns),
            format!("{:.1}", row.single_cpu_ns),
            row.errors.to_string(),
        ]
    };
    print::table(&heading, &rows.iter().map(cells).collect::<Vec<_>>())
}

fn filter_table(rows: &[FilterRow]) -> String {
    let heading =
        ["filter", "from", "keys", "bits/key", "CPU s", "peak", "ns member", "ns other", "rate", "interval", "x bound"];
    let cells = |row: &FilterRow| {
        let [rate, low, high] = [row.rate, row.rate_low, row.rate_high].map(|rate| format!("{rate:.3e}"));
        vec![
            row.filter.to_owned(),
            row.source.to_owned(),
            row.keys.to_string(),
            format!("{:.3}", row.bits_per_key),
            format!("{:.2}", row.build_cpu_seconds),
            shown(row.peak_bytes),
            format!("{:.1}", row.member_cpu_ns),
            format!("{:.1}", row.other_cpu_ns),
            rate,
            format!("{low} to {high}"),
            row.over_bound.map_or_else(String::new, |over| format!("{over:.3}")),
        ]
    };
    print::table(&heading, &rows.iter().map(cells).collect::<Vec<_>>())
}
