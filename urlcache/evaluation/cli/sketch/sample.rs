//! `urlcache sketch sample`: all lines of some of the keys, and what can be said from them.

use std::{collections::HashMap, fmt::Write as _, fs, num::NonZeroUsize, path::PathBuf, process::ExitCode};

use anyhow::{Context, Result, ensure};
use clap::Args;
use urlcache::Interval;
use urlcache_evaluation::sketch::{KeySample, Reservoir};

use super::{
    Common, records,
    report::{self, Expected, Report, Row},
};
use crate::{keys::key, print::Word};

pub(super) const EXAMPLES: &str = "\
Examples:
  urlcache sketch sample --key to --most 5000 links.jsonl
  urlcache sketch sample --key section --value bytes --out sample.jsonl pages.jsonl

A line is a JSON object: {\"section\": \"/manual/\", \"bytes\": 1234}.";

#[derive(Debug, Args)]
pub(crate) struct SampleArgs {
    /// Field with the key: the sample has all lines of a key, or none
    #[arg(long, value_name = "FIELD")]
    key: String,
    /// Field with a number, whose range within a key is estimated (the highest minus the lowest, mean over the keys)
    #[arg(long, value_name = "FIELD")]
    value: Option<String>,
    /// Most lines of the sample
    #[arg(long, value_name = "N", default_value = "1000")]
    most: NonZeroUsize,
    /// Write the lines of the sample to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

const WORDS: &[Word] = &[
    ("unique keys", "the share of the keys that occur in one line only; its interval is that of Clopper and Pearson"),
    ("distinct keys", "how many keys there are: those of the sample divided by the share of the keys it accepts"),
    ("mean range", "the highest minus the lowest value of a key, mean over the keys"),
    ("by key", "from the sample by the hash of the key, which has all lines of a key or none"),
    (
        "by position",
        "from a sample of as many lines, each line with equal probability; the standard error is what it would be if that were right",
    ),
    ("elements", "keys of the sample"),
];

/// Values at most, up or down: the squares of the ranges of 2^40 keys have a finite sum.
const MOST_VALUE: f64 = 1e140;

/// A line of the sample.
#[derive(Debug, Clone)]
struct Pair {
    value: f64,
    line: Option<Box<str>>,
}

/// What is known of a key.
#[derive(Debug, Clone, Copy)]
struct Known {
    lines: u64,
    low: f64,
    high: f64,
}

/// Shares and means over the keys of some lines.
#[derive(Debug, Clone, Copy)]
struct Figures {
    keys: f64,
    unique: f64,
    /// Of the share of unique keys, as of independent keys (Clopper and Pearson).
    interval: Interval,
    range: f64,
    /// Standard deviation of the range of a key.
    deviation: f64,
}

pub(super) fn run(args: &SampleArgs) -> Result<ExitCode> {
    args.common.check_targets(args.out.as_deref())?;
    let mut by_key = KeySample::new(args.most, args.common.seed());
    let mut by_position = Reservoir::new(args.most, args.common.seed().derive(1, 0));
    let mut exact = (!args.common.no_exact).then(HashMap::new);
    let lines = records::for_each(args.common.file.as_deref(), |record| {
        let name = record.text(&args.key)?;
        let fingerprint = key(&name).hash;
        let value = args.value.as_ref().map_or(Ok(0.0), |field| record.number(field))?;
        ensure!(
            value.abs() <= MOST_VALUE,
            "the value {value:e} of the key `{}` is outside -1e140 to 1e140: ranges of such values have no finite mean",
            report::printable(&name)
        );
        by_key.offer(fingerprint, Pair { value, line: args.out.is_some().then(|| record.line.into()) });
        by_position.offer((fingerprint, value));
        if let Some(exact) = &mut exact {
            add(exact, fingerprint, value);
        }
        Ok(())
    })?;
    let truth = exact.map(|exact| Figures::of(&exact));
    let rows = rows(args, &by_key, &by_position, truth);
    let share = by_key.share() * 100.0;
    let [held, keys] = [(by_key.pairs(), "line"), (by_key.len(), "key")].map(|(count, of)| report::count(count, of));
    let title =
        format!("{lines} lines read; the sample by key has {held} of {keys} and accepts {share:.2} % of all keys");
    Report::new(lines, 1, rows).answer(&args.common, &title, usize::MAX, WORDS)?;
    if let Some(path) = &args.out {
        write(path, &by_key)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn rows(
    args: &SampleArgs,
    by_key: &KeySample<Pair>,
    by_position: &Reservoir<(u128, f64)>,
    truth: Option<Figures>,
) -> Vec<Row> {
    let mut known = [HashMap::new(), HashMap::new()];
    for (fingerprint, pairs) in by_key.keys() {
        for pair in pairs {
            add(&mut known[0], fingerprint, pair.value);
        }
    }
    for (fingerprint, value) in by_position.held() {
        add(&mut known[1], *fingerprint, *value);
    }
    let elements = known.each_ref().map(|known| known.len() as u64);
    let figures = known.map(|known| Figures::of(&known));
    let mut rows = Vec::new();
    for ((kind, figures), elements) in ["by key", "by position"].into_iter().zip(figures).zip(elements) {
        let seen = if kind == "by key" { by_key.share() } else { 0.0 };
        let row = |name: &str, estimate: f64, error: f64, exact: Option<f64>| {
            Row::new(name.to_owned(), kind, elements, (estimate, Expected::unbiased(error)), exact)
        };
        let basis = truth.unwrap_or(figures);
        let of_mean = |deviation: f64, mean: f64| relative(deviation * ((1.0 - seen) / figures.keys).sqrt(), mean);
        let spread = (basis.unique * (1.0 - basis.unique)).sqrt();
        let unique = row("unique keys", figures.unique, of_mean(spread, basis.unique), truth.map(|truth| truth.unique));
        rows.push(unique.within(figures.interval.low, figures.interval.high));
        if args.value.is_some() {
            // Keys without a range, and keys that are all alike, do not show how much others differ.
            let differs = figures.range > 0.0 && (truth.is_some() || figures.deviation > 0.0);
            let error = if differs || seen >= 1.0 { of_mean(basis.deviation, basis.range) } else { f64::INFINITY };
            rows.push(row("mean range", figures.range, error, truth.map(|truth| truth.range)));
        }
        if kind == "by key" && seen > 0.0 {
            let error = ((1.0 - seen) / (figures.keys - 1.0).max(1.0)).sqrt();
            rows.push(row("distinct keys", figures.keys / seen, error, truth.map(|truth| truth.keys)));
        }
    }
    rows
}

fn relative(error: f64, of: f64) -> f64 {
    if of > 0.0 && error.is_finite() { error / of } else { 0.0 }
}

fn add(known: &mut HashMap<u128, Known>, fingerprint: u128, value: f64) {
    let known = known.entry(fingerprint).or_insert(Known { lines: 0, low: value, high: value });
    known.lines += 1;
    known.low = known.low.min(value);
    known.high = known.high.max(value);
}

impl Figures {
    fn of(known: &HashMap<u128, Known>) -> Self {
        let keys = known.len() as f64;
        let of_keys = |value: &dyn Fn(&Known) -> f64| {
            let mut values: Vec<f64> = known.values().map(value).collect();
            // In an order that does not depend on the hash map.
            values.sort_unstable_by(f64::total_cmp);
            // The sum of no numbers is -0.
            (0.0 + values.iter().sum::<f64>()) / keys.max(1.0)
        };
        let range = of_keys(&|known| known.high - known.low);
        let unique = known.values().filter(|known| known.lines == 1).count() as u64;
        Self {
            keys,
            unique: unique as f64 / keys.max(1.0),
            interval: Interval::exact(unique, known.len() as u64, 0.95),
            range,
            deviation: of_keys(&|known| (known.high - known.low - range).powi(2)).sqrt(),
        }
    }
}

fn write(path: &PathBuf, sample: &KeySample<Pair>) -> Result<()> {
    let mut text = String::new();
    for line in sample.keys().flat_map(|(_, pairs)| pairs).filter_map(|pair| pair.line.as_deref()) {
        writeln!(text, "{line}")?;
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
