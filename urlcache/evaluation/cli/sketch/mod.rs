//! `urlcache sketch`: estimates of what a stream contains, beside the exact answer.
//!
//! Owns the subcommands and what their flags share. It does not know how an estimate is made: that is the library's
//! `sketch`.

mod check;
mod distinct;
mod moment;
mod neighbours;
mod records;
mod report;
mod sample;
mod shape;
mod trial;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Result;
use clap::{Args, Subcommand};
use urlcache::HashSeed;

use crate::{Form, print};

#[derive(Debug, Args)]
pub(crate) struct SketchArgs {
    #[command(subcommand)]
    command: Sketch,
}

#[derive(Debug, Subcommand)]
enum Sketch {
    /// Count distinct values: words of each section, pages that link to each page
    #[command(after_help = distinct::EXAMPLES)]
    Distinct(distinct::DistinctArgs),
    /// Estimate how unevenly values occur (second moment): URLs of each host or folder
    #[command(after_help = moment::EXAMPLES)]
    Moment(moment::MomentArgs),
    /// Count the pages within d links of a page
    #[command(after_help = neighbours::EXAMPLES)]
    Neighbours(neighbours::NeighboursArgs),
    /// Sample lines by the hash of a key, and compare with a sample by position
    #[command(after_help = sample::EXAMPLES)]
    Sample(sample::SampleArgs),
    /// Run each estimator under many hash seeds, and compare its errors with theory
    #[command(after_help = check::EXAMPLES)]
    Check(check::CheckArgs),
}

/// What every subcommand has that reads lines.
#[derive(Debug, Args)]
struct Common {
    /// File of JSON Lines, one object a line [default: standard input]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Number that decides all hashes and draws; other numbers give other errors
    #[arg(long, value_name = "S", default_value_t = 1)]
    hash_seed: u64,
    /// Do not compute the exact answer, so that memory stays small
    #[arg(long)]
    no_exact: bool,
    /// Write all rows to this file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    #[command(flatten)]
    form: Form,
}

impl Common {
    fn seed(&self) -> HashSeed {
        HashSeed::new(self.hash_seed)
    }

    /// Whether the files that are asked for can be written, and are none that is read or written as well.
    fn check_targets(&self, more: Option<&Path>) -> Result<()> {
        // The link of standard input leads to a file that is sent there.
        let mut taken = vec![self.file.as_deref().unwrap_or(Path::new("/dev/stdin"))];
        for target in self.csv.as_deref().into_iter().chain(more) {
            print::check_target(target, &taken)?;
            taken.push(target);
        }
        Ok(())
    }
}

pub(crate) fn run(args: &SketchArgs) -> Result<ExitCode> {
    match &args.command {
        Sketch::Distinct(args) => distinct::run(args),
        Sketch::Moment(args) => moment::run(args),
        Sketch::Neighbours(args) => neighbours::run(args),
        Sketch::Sample(args) => sample::run(args),
        Sketch::Check(args) => check::run(args),
    }
}
