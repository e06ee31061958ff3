//! `urlcache tables`: the tables and figures of the thesis, beside theory and beside what we measure.
//!
//! The thesis is T. H. Gøytil and A. Lundberg, "A novel spatio-temporal scheme for reducing the rate of false positives in
//! Bloom Filter based URL-caching", University of Agder, 2010. Owns the command; what it prints is made in `rates` and
//! `costs`.

mod costs;
mod departures;
mod draw;
mod measure;
mod pictures;
mod printed;
mod rates;
mod report;
mod score;
mod table;
mod theory;
mod urls;

use std::{
    collections::HashSet,
    fs,
    io::{IsTerminal, stderr},
    path::PathBuf,
    process::ExitCode,
    thread,
    time::Instant,
};

use anyhow::{Context, Result, bail};
use clap::Args;
use urlcache::HashSeed;

use self::{
    costs::Collections,
    measure::{Effort, measure},
    printed::Printed,
    rates::Counted,
    report::Report,
    table::Table,
    urls::Urls,
};
use crate::{Form, print};

/// URLs of the thesis.
const KEYS: usize = 1_000_000;

/// The fewest URLs for which the theory of a count holds.
const LEAST_KEYS: usize = 1_000;

/// What is said below the flags.
pub(crate) const HELP: &str = "\
Examples:
  urlcache tables --only 5.9,5.16 --runs 100
  urlcache tables --runs 100 --hash-seed 1 --only rates --csv results --svg figures
  urlcache tables --keys 20000 --runs 3 --brief

Tables: 5.1 to 5.21 and A.1 to A.6. Figures: 5.1, and A.1 to A.6.
Published results have --runs 100 and the hash seeds 1, 2, 3 and 4.";

#[derive(Debug, Args)]
pub(crate) struct TablesArgs {
    /// Tables and figures to show, such as 5.9,A.1,"figure 5.1"; 5.1 and A.1 to A.6 are both; rates: all false positives, costs:
    /// all memory and times [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    only: Vec<String>,
    /// Number of runs of each setting, each with hash functions of its own; the thesis has 100
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: u32,
    /// Seed of all hash functions; published results are those of 1, 2, 3 and 4
    #[arg(long, value_name = "S", default_value_t = 1)]
    hash_seed: u64,
    /// Number of URLs that are added, and number that are asked for [default: 1000000, or half the lines of --urls]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1_000..=10_000_000))]
    keys: Option<u32>,
    /// File of URLs, one in each line (.zst is decompressed) [default: generated ones]
    #[arg(long, value_name = "FILE")]
    urls: Option<PathBuf>,
    /// Number of threads that count; times are taken on one [default: number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1_024))]
    threads: Option<u16>,
    /// Write each table to this folder as a CSV file
    #[arg(long, value_name = "DIR")]
    csv: Option<PathBuf>,
    /// Draw the figures into this folder as SVG files
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    form: Form,
}

pub(crate) fn run(args: &TablesArgs) -> Result<ExitCode> {
    let began = Instant::now();
    let all = printed::all()?;
    let chosen = chosen(&all, &args.only)?;
    // Before hours of counting, not after.
    for folder in [&args.csv, &args.svg].into_iter().flatten() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let keys = args.keys.map(|keys| keys as usize);
    let urls = match &args.urls {
        Some(file) => Urls::of_file(file, keys, KEYS, LEAST_KEYS)?,
        None => Urls::generated(keys.unwrap_or(KEYS)),
    };
    let counted = count(args, &chosen, &urls);
    let collections = chosen.iter().any(|printed| !printed.has_rates()).then(|| Collections::measure(&urls));
    let table = |printed: &Printed| match &collections {
        Some(collections) if !printed.has_rates() => costs::table(printed, &urls, collections, &all),
        _ => counted.table(printed),
    };
    let tables: Vec<Table> = chosen.iter().map(|printed| table(printed).summed_up()).collect();
    let report = Report::new(args, urls.keys(), tables, began.elapsed());
    print::answer(args.form, &report, &report.lines(), report::WORDS)?;
    if let Some(folder) = &args.csv {
        report.csv(folder)?;
    }
    if let Some(folder) = &args.svg {
        pictures::draw(&report.tables, folder)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The tables that are asked for.
fn chosen(all: &[Printed], only: &[String]) -> Result<Vec<Printed>> {
    let is = |printed: &Printed, name: &str| match name {
        "rates" => printed.has_rates(),
        "costs" => !printed.has_rates(),
        _ => printed.id == name || printed.id.strip_prefix("figure ").is_some_and(|number| number == name),
    };
    let mut known = HashSet::new();
    for name in only.iter().map(|name| name.trim()) {
        if !all.iter().any(|printed| is(printed, name)) {
            let names: Vec<&str> = all.iter().map(|printed| printed.id.as_str()).collect();
            bail!("there is no table {name:?} in --only: they are {}, rates, costs", names.join(", "));
        }
        known.extend(all.iter().filter(|printed| is(printed, name)).map(|printed| printed.id.as_str()));
    }
    Ok(all.iter().filter(|printed| only.is_empty() || known.contains(printed.id.as_str())).cloned().collect())
}

/// Counts the false positives of all tables of rates.
fn count(args: &TablesArgs, chosen: &[Printed], urls: &Urls) -> Counted {
    let wanted = rates::wanted(chosen);
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    let threads = args.threads.map_or_else(processors, usize::from);
    let effort = Effort { runs: args.runs, seed: HashSeed::new(args.hash_seed), threads };
    let jobs = wanted.len() * args.runs as usize;
    let shows = stderr().is_terminal();
    let counts = measure(&wanted, urls, effort, |done| {
        if shows && done % jobs.div_ceil(100) == 0 {
            eprint!("\r{} % counted ", done * 100 / jobs);
        }
    });
    if shows && jobs > 0 {
        eprintln!();
    }
    Counted::new(&wanted, counts, urls.keys(), args.runs)
}

#[cfg(test)]
mod tests;
