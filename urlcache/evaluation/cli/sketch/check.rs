//! `urlcache sketch check`: each estimator under many hash seeds, its errors held against their theory.
//!
//! Owns what is drawn and when a row passes; the data are in `trial`.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use urlcache::{HashSeed, sketch::Theory};

use super::trial::{self, Trial};
use crate::{
    Form,
    print::{self, Word},
};

pub(super) const EXAMPLES: &str = "\
Example:
  urlcache sketch check --seeds 100 --csv check.csv

The exit code is 1 if a row is not within its theory. With other numbers for --hash-seed that\nhappens by chance in about one run of twenty, because spreads are not normally distributed.";

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Hash seeds of each row
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    seeds: u32,
    /// Number from which the hash seeds are made
    #[arg(long, value_name = "S", default_value_t = 1)]
    hash_seed: u64,
    /// Largest number of distinct keys of a row
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    largest: u64,
    /// Write all rows to this file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    #[command(flatten)]
    form: Form,
}

/// Standard errors that a mean or a spread may be off.
const ALLOWED: f64 = 4.0;

const WORDS: &[Word] = &[
    ("exact", "the true answer: different keys, second moment, pages within d links, or share of unique keys"),
    ("std error", "the standard deviation of estimates divided by the exact answer, as theory gives it"),
    ("observed", "the same over the hash seeds; the CSV has its 95 % interval"),
    ("bias", "the mean of the estimates divided by the exact answer, minus 1; theory: what it should be"),
    (
        "off",
        "observed bias minus that of theory, in standard errors of a mean of so many estimates, and observed divided by theoretical variance minus 1, in standard errors of such a variance",
    ),
    (
        "pass",
        "yes if both are off by at most 4 standard errors; where theory gives bounds (<=), yes if the bias is within its bound and the spread exceeds its bound by at most 4 standard errors",
    ),
];

/// One experiment.
#[derive(Debug, Serialize)]
struct Row {
    estimator: String,
    data: String,
    seeds: usize,
    exact: f64,
    mean: f64,
    standard_error: f64,
    observed: f64,
    observed_low: f64,
    observed_high: f64,
    bias: f64,
    theory_bias: f64,
    /// Both of theory are bounds.
    theory_is_bound: bool,
    bias_off_se: f64,
    spread_off_se: f64,
    pass: bool,
}

/// All of them.
#[derive(Debug, Serialize)]
struct Checked {
    seeds: u32,
    passed: bool,
    rows: Vec<Row>,
}

pub(super) fn run(args: &CheckArgs) -> Result<ExitCode> {
    if let Some(path) = &args.csv {
        print::check_target(path, &[])?;
    }
    let root = HashSeed::new(args.hash_seed);
    let rows: Vec<Row> = (0..)
        .zip(trial::all(args.largest)?)
        .map(|(number, trial)| {
            let estimate = |index| (trial.run)(root.derive(index, number)) / trial.exact;
            row(&trial, &(0..args.seeds).map(estimate).collect::<Vec<_>>())
        })
        .collect();
    let text = lines(&rows, args.seeds);
    let checked = Checked { seeds: args.seeds, passed: rows.iter().all(|row| row.pass), rows };
    print::answer(args.form, &checked, &text, WORDS)?;
    print::csv(args.csv.as_deref(), &checked.rows)?;
    Ok(if checked.passed { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Of estimates divided by the exact answer.
fn row(trial: &Trial, ratios: &[f64]) -> Row {
    let count = ratios.len() as f64;
    let mean = ratios.iter().sum::<f64>() / count;
    let observed = (ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt();
    let Theory { bias, standard_error, excess_kurtosis } = trial.theory;
    // Of a sample variance divided by the variance.
    let of_variance = ((2.0 + excess_kurtosis.max(0.0)) / (count - 1.0)).sqrt();
    let bias_off = (mean - 1.0 - if trial.at_most { 0.0 } else { bias }) / (standard_error / count.sqrt());
    let spread_off = ((observed / standard_error).powi(2) - 1.0) / of_variance;
    let pass = if trial.at_most {
        (mean - 1.0).abs() <= bias && spread_off <= ALLOWED
    } else {
        bias_off.abs() <= ALLOWED && spread_off.abs() <= ALLOWED
    };
    let margin = 1.96 * of_variance;
    Row {
        estimator: trial.estimator.clone(),
        data: trial.data.clone(),
        seeds: ratios.len(),
        exact: trial.exact,
        mean: mean * trial.exact,
        standard_error,
        observed,
        observed_low: observed * (1.0 - margin).max(0.0).sqrt(),
        observed_high: observed * (1.0 + margin).sqrt(),
        bias: mean - 1.0,
        theory_bias: bias,
        theory_is_bound: trial.at_most,
        bias_off_se: bias_off,
        spread_off_se: spread_off,
        pass,
    }
}

fn lines(rows: &[Row], seeds: u32) -> String {
    let heading =
        ["estimator", "data", "exact", "std error", "observed", "bias", "theory", "bias off", "spread off", "pass"];
    let percent = |value: f64| format!("{:.2} %", value * 100.0);
    let signed = |value: f64| format!("{:+.2} %", value * 100.0);
    let cells = rows.iter().map(|row| {
        vec![
            row.estimator.clone(),
            row.data.clone(),
            super::report::number(row.exact),
            format!("{}{}", if row.theory_is_bound { "<= " } else { "" }, percent(row.standard_error)),
            percent(row.observed),
            signed(row.bias),
            if row.theory_is_bound { format!("<= {}", percent(row.theory_bias)) } else { signed(row.theory_bias) },
            format!("{:+.1}", row.bias_off_se),
            format!("{:+.1}", row.spread_off_se),
            if row.pass { "yes" } else { "NO" }.to_owned(),
        ]
    });
    let failed = rows.iter().filter(|row| !row.pass).count();
    let result = match failed {
        0 => format!("all {} rows are within their theory", rows.len()),
        _ => format!("{failed} of {} rows are not within their theory", rows.len()),
    };
    format!("{seeds} hash seeds a row: {result}\n\n{}", print::table(&heading, &cells.collect::<Vec<_>>()))
}
