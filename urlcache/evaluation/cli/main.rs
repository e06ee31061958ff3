//! The `urlcache` program: what a URL cache costs, errs and does a second.

mod cascade;
mod figure;
mod inspect;
mod keys;
mod lines;
mod memory;
mod multilayer;
mod print;
mod rate;
mod size;
mod sketch;
mod speed;
mod tables;

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use urlcache::LossBudget;

/// Computes, measures and describes URL caches that keep a loss budget.
#[derive(Debug, Parser)]
#[command(name = "urlcache", version, max_term_width = 100)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List memory, rate and expected losses of every strategy and layout
    #[command(after_help = "Example:\n  urlcache size --urls 1000000 --max-lost 0.5")]
    Size(size::SizeArgs),
    /// Measure the false positives of a cache, and compare them with the prediction
    #[command(after_help = "Example:\n  urlcache rate --urls 100000 --layout line")]
    Rate(rate::RateArgs),
    /// Measure the speed of a cache, and compare it with a plain Bloom filter
    #[command(after_help = "Example:\n  urlcache speed --keys 1000000")]
    Speed(speed::SpeedArgs),
    /// Describe a snapshot of a cache
    #[command(after_help = "Example:\n  urlcache inspect cache.bin")]
    Inspect(inspect::InspectArgs),
    /// Repeat every table and figure of the thesis of Gøytil and Lundberg (2010), beside theory
    #[command(after_help = tables::HELP)]
    Tables(tables::TablesArgs),
    /// Compare the multi-layer filter with lists, a hash set and Bloom filters, on URLs or on keywords
    #[command(after_help = multilayer::EXAMPLES)]
    Multilayer(multilayer::MultilayerArgs),
    /// Train, ask and measure exact classifiers of a closed set of keys
    Cascade(cascade::CascadeArgs),
    /// Estimate what a stream of JSON Lines contains, beside the exact answer
    #[command(after_help = "Example:\n  urlcache sketch distinct --of from --by to links.jsonl")]
    Sketch(sketch::SketchArgs),
}

/// The form of the answer.
#[derive(Debug, Clone, Copy, Args)]
struct Form {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Leave out the explanation of the words
    #[arg(long, conflicts_with = "json")]
    brief: bool,
}

/// How many URLs may be lost.
#[derive(Debug, Clone, Copy, Args)]
struct Budget {
    /// Loss budget: how many URLs may be expected to be lost while the cache fills [default: 0.5, unless --max-rate is given]
    #[arg(long, value_name = "X")]
    max_lost: Option<f64>,
    /// Highest false-positive rate of the full cache
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
        Command::Tables(args) => tables::run(&args),
        Command::Multilayer(args) => multilayer::run(&args),
        Command::Cascade(args) => cascade::run(&args),
        Command::Sketch(args) => sketch::run(&args),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
