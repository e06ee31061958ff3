//! The `urlcache` program: what a URL cache costs, errs and does a second.

mod inspect;
mod keys;
mod print;
mod rate;
mod size;
mod speed;

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use urlcache::LossBudget;

/// Sizes, measures and describes URL caches that work under a loss budget.
#[derive(Debug, Parser)]
#[command(name = "urlcache", version, max_term_width = 100)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The price list: bits, rate, expected losses and cost of every strategy and layout
    Size(size::SizeArgs),
    /// Measures a cache's false positives and sets them beside the predicted ones
    Rate(rate::RateArgs),
    /// Measures test-and-set against a plain Bloom filter, as ratios in one run
    Speed(speed::SpeedArgs),
    /// Describes a snapshot
    Inspect(inspect::InspectArgs),
}

/// The form of the answer.
#[derive(Debug, Clone, Copy, Args)]
struct Form {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Leave out what the words of the answer mean
    #[arg(long, conflicts_with = "json")]
    brief: bool,
}

/// How many URLs may be lost.
#[derive(Debug, Clone, Copy, Args)]
struct Budget {
    /// URLs that may be expected to be lost while the cache fills [default: 0.5, unless --max-rate is given]
    #[arg(long, value_name = "X")]
    max_lost: Option<f64>,
    /// False-positive rate that the full cache may have
    #[arg(long, value_name = "P")]
    max_rate: Option<f64>,
}

impl Budget {
    fn budget(self) -> LossBudget {
        let default = self.max_rate.is_none().then_some(0.5);
        LossBudget { max_lost_urls: self.max_lost.or(default), max_false_positive_rate: self.max_rate }
    }
}

fn main() -> ExitCode {
    let done = match Program::parse().command {
        Command::Size(args) => size::run(&args),
        Command::Rate(args) => rate::run(&args),
        Command::Speed(args) => speed::run(&args),
        Command::Inspect(args) => inspect::run(&args),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
