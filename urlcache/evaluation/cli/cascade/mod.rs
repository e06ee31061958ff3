//! `urlcache cascade`: classifiers of a closed universe of keys, trained, asked and measured.
//!
//! Owns the subcommands and what they share: which algorithm is meant, and sizes as people read them.

mod bench;
mod classify;
mod labelled;
mod measure;
mod peers;
mod sample;
mod spread;
mod stopwatch;
mod train;

use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::{Args, Subcommand, ValueEnum};
use urlcache_evaluation::cascade::Algorithm;

#[derive(Debug, Args)]
pub(crate) struct CascadeArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Train a classifier on a file of keys with their classes
    #[command(
        after_help = "Example:\n  printf 'http://h/\\tdaily\\nhttp://h/a\\tgone\\n' > pages.tsv\n  urlcache cascade train pages.tsv -o pages.class\n  urlcache cascade train pages.tsv -a compact -o pages.class --hash-seed 7\n  urlcache cascade train pages.csv --delimiter , -a 0 --format document"
    )]
    Train(train::TrainArgs),
    /// Ask a classifier for the classes of keys
    #[command(
        after_help = "Examples:\n  urlcache cascade classify pages.class http://h/ http://h/a\n  cut -f 1 pages.tsv | urlcache cascade classify pages.class\n  urlcache cascade classify pages.class --check pages.tsv"
    )]
    Classify(classify::ClassifyArgs),
    /// Measure size, time, memory and errors of all algorithms on generated keys
    #[command(
        after_help = "Examples:\n  urlcache cascade bench --size small\n  urlcache cascade bench --size 1000000,4 --skew 1 --seed 7 --csv cascade.csv --filters-csv filters.csv\n  urlcache cascade bench --size large -a 1 -a compact --no-filters --rounds 3"
    )]
    Bench(bench::BenchArgs),
    /// Do one measurement of `bench`, in a process of its own
    #[command(hide = true)]
    Measure(measure::MeasureArgs),
}

/// How classes are distinguished, as the document numbers its algorithms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Choice {
    /// Algorithm 1.0: a Bloom filter of the other classes in each step
    #[value(name = "0", alias = "1.0")]
    One,
    /// Algorithm 2.0: a Bloom filter of the class before that of the others
    #[value(name = "1", alias = "2.0")]
    Two,
    /// A Huffman code in ribbon retrieval structures, near the entropy
    #[value(name = "compact")]
    Compact,
}

/// A cascade of more classes than this is bounded.
const FEW_CLASSES: u64 = 64;

/// Its classes times keys at most: each of its steps goes through all other keys, at some 10 to 20 nanoseconds each.
const MOST_STEPS: u128 = 10_000_000_000;

impl Choice {
    pub(super) const ALL: [Self; 3] = [Self::One, Self::Two, Self::Compact];

    /// With the document's numbers of hash functions.
    pub(super) fn algorithm(self) -> Algorithm {
        match self {
            Self::One => Algorithm::ONE,
            Self::Two => Algorithm::TWO,
            Self::Compact => Algorithm::Compact,
        }
    }

    /// An error if a cascade of so many classes and keys would take longer than some minutes.
    pub(super) fn check(self, classes: u64, keys: u64) -> Result<()> {
        ensure!(
            self == Self::Compact || classes <= FEW_CLASSES || u128::from(classes) * u128::from(keys) <= MOST_STEPS,
            "{classes} classes of {keys} keys: algorithms 1.0 and 2.0 go through all keys for each class, and take at most \
             {FEW_CLASSES} classes, or classes times keys up to {MOST_STEPS}; use -a compact, and if these are not the \
             classes, see --delimiter"
        );
        Ok(())
    }

    /// As it is written after `-a`.
    pub(super) fn flag(self) -> &'static str {
        match self {
            Self::One => "0",
            Self::Two => "1",
            Self::Compact => "compact",
        }
    }
}

pub(crate) fn run(args: &CascadeArgs) -> Result<ExitCode> {
    match &args.command {
        Command::Train(args) => train::run(args),
        Command::Classify(args) => classify::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Measure(args) => measure::run(args),
    }
}

/// A number of bytes in KiB or MiB.
pub(super) fn size(bytes: f64) -> String {
    if bytes < f64::from(1 << 20) {
        format!("{:.1} KiB", bytes / 1024.0)
    } else {
        format!("{:.2} MiB", bytes / f64::from(1 << 20))
    }
}
