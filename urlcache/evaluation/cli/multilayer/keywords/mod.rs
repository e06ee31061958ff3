//! `urlcache multilayer --csv`: the multi-layer filter over keywords of records (Sharma 2021).
//!
//! Owns what the document leaves open: its layers are the most keywords of a record divided by the number of hash functions,
//! rounded up; its number of hash functions is that of its error rate, -log2, rounded.

mod contestants;
mod filters;
mod halves;
mod records;
mod report;
mod search;
mod spread;

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Result, ensure};
use clap::Args;
use serde::Serialize;

use super::MultilayerArgs;
use crate::print::{self, Word};
use contestants::Load;
use records::{Delimiter, Record, Records};
use report::{Gain, Row, Test};
use search::Found;

/// What a comparison of keyword filters needs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Keywords of records, in place of URLs")]
pub(super) struct KeywordArgs {
    /// Read records from this CSV file with a heading
    #[arg(long, value_name = "FILE", requires = "column", conflicts_with_all = URL_FLAGS)]
    csv: Option<PathBuf>,
    /// Column with the keywords: its name, or its number from 1
    #[arg(long, value_name = "C", requires = "csv")]
    column: Option<String>,
    /// Text between two keywords; json takes a JSON list of texts, or of objects with a name
    #[arg(long, value_name = "D", default_value = ",", conflicts_with_all = URL_FLAGS)]
    delimiter: String,
    /// Generate so many records instead, of 1 to 15 keywords with frequencies after Zipf
    #[arg(long, value_name = "N", conflicts_with = "csv", conflicts_with_all = URL_FLAGS,
        value_parser = clap::value_parser!(u64).range(4..=1_000_000))]
    generate: Option<u64>,
    /// Error rate of the document's Bloom filter
    #[arg(long, value_name = "P", default_value_t = 0.05, value_parser = error_rate, conflicts_with_all = URL_FLAGS)]
    error_rate: f64,
    /// Number of times that the records are split into halves anew
    #[arg(long, value_name = "R", default_value_t = 20, conflicts_with_all = URL_FLAGS,
        value_parser = clap::value_parser!(u32).range(2..=10_000))]
    rounds: u32,
    /// Number of searches for two keywords, in ten parts with filters of their own
    #[arg(long, value_name = "Q", default_value_t = 300, conflicts_with_all = URL_FLAGS,
        value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    searches: u32,
    /// List the records that hold all of these keywords, and those that filters take for such; --out has them as CSV
    #[arg(long, value_name = "WORD,…", conflicts_with_all = URL_FLAGS, conflicts_with_all = ["layers", "rounds", "searches"])]
    search: Option<String>,
}

/// The flags of the other comparison.
const URL_FLAGS: [&str; 7] = ["urls", "sizes", "bits", "layer_bits", "hashes", "queries", "svg"];

/// What the records are.
#[derive(Debug, Serialize)]
struct Extent {
    records: usize,
    empty: u64,
    repeated: u64,
    keywords: usize,
    different_keywords: usize,
    most_keywords: usize,
    hashes: u32,
    layers: u32,
    /// If all keywords were divided by the number of hash functions.
    literal_layers: usize,
}

/// What was measured.
#[derive(Debug, Serialize)]
struct Comparison {
    #[serde(flatten)]
    extent: Extent,
    rows: Vec<Row>,
    gains: Vec<Gain>,
}

/// What a search found.
#[derive(Debug, Serialize)]
struct Search {
    words: Vec<Box<str>>,
    records: usize,
    found: Vec<Found>,
}

const SEARCH_WORDS: &[Word] = &[
    ("line", "of the file, where the record begins; of generated records their number"),
    ("holds all", "whether the record really holds all keywords"),
    ("Bloom", "whether the record's Bloom filter of the error rate says so"),
    ("multilayer", "whether the record's multi-layer filter says so: m bits in each layer"),
];

impl KeywordArgs {
    /// Whether keywords are asked for, not URLs.
    pub(super) fn is_given(&self) -> bool {
        self.csv.is_some() || self.generate.is_some() || self.search.is_some()
    }

    /// The file that is read, with the flag that names it.
    pub(super) fn file(&self) -> Option<(&'static str, &PathBuf)> {
        Some(("--csv", self.csv.as_ref()?))
    }

    fn records(&self) -> Result<Records> {
        let delimiter = Delimiter::new(&self.delimiter)?;
        match (&self.csv, &self.column, self.generate) {
            (Some(file), Some(column), _) => Records::of_file(file, column, &delimiter),
            (_, _, Some(count)) => Records::generated(count),
            _ => anyhow::bail!("--search needs records: give --csv FILE --column C, or --generate N"),
        }
    }
}

pub(super) fn run(args: &MultilayerArgs) -> Result<ExitCode> {
    let records = args.keywords.records()?;
    match &args.keywords.search {
        Some(question) => find(args, &records.all, question)?,
        None => compare(args, &records)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn compare(args: &MultilayerArgs, records: &Records) -> Result<()> {
    let extent = Extent::of(records, args);
    let (rows, gains) = measure(args, &records.all, &extent)?;
    let lines = format!(
        "{}\n{}\n{}\n{}\n{}\n{}",
        extent.text(),
        format_args!("two halves, {} rounds", args.keywords.rounds),
        report::table(&rows, report::HALVES),
        format_args!("search, {} questions of two keywords", args.keywords.searches),
        report::table(&rows, report::SEARCH),
        report::result(&gains, args.keywords.error_rate),
    );
    let comparison = Comparison { extent, rows, gains };
    print::answer(args.form, &comparison, &lines, report::WORDS)?;
    print::csv(args.out.as_deref(), &comparison.rows)
}

fn measure(args: &MultilayerArgs, records: &[Record], extent: &Extent) -> Result<(Vec<Row>, Vec<Gain>)> {
    let KeywordArgs { error_rate, rounds, searches, .. } = args.keywords;
    let words = halves::words_of_a_half(records, args.hash_seed)?;
    let load = Load { lists: (records.len() / 2) as u64, words, layers: extent.layers, error_rate };
    let counts = halves::run(records, &contestants::all(load)?, rounds, args.hash_seed);
    let worths = search::run(records, searches, error_rate, args.hash_seed)?;
    let tests: Vec<Test> = counts.iter().map(Test::of_halves).chain(worths.iter().map(Test::of_search)).collect();
    Ok((tests.iter().map(report::row).collect(), report::gains(&tests)))
}

fn find(args: &MultilayerArgs, records: &[Record], question: &str) -> Result<()> {
    let words = Delimiter::new(&args.keywords.delimiter)?.words(question);
    ensure!(!words.is_empty(), "--search has no keyword: give some, separated by commas");
    let index = |shown| search::index(records, shown, args.keywords.error_rate, args.hash_seed);
    let indexes = search::SHOWN.into_iter().map(index).collect::<Result<Vec<_>>>()?;
    let found = search::find(records, &indexes, &words);
    let search = Search { words, records: records.len(), found };
    print::answer(args.form, &search, &search.text(), SEARCH_WORDS)?;
    print::csv(args.out.as_deref(), &search.found)
}

impl Extent {
    fn of(records: &Records, args: &MultilayerArgs) -> Self {
        let hashes = contestants::hashes(args.keywords.error_rate);
        let most = records.most_words();
        Self {
            records: records.all.len(),
            empty: records.empty,
            repeated: records.repeated,
            keywords: records.words(),
            different_keywords: records.vocabulary(),
            most_keywords: most,
            hashes,
            layers: args.layers.map_or_else(|| contestants::layers_for(most, hashes), u32::from),
            literal_layers: records.words().div_ceil(hashes as usize),
        }
    }

    fn text(&self) -> String {
        let Self { records, empty, repeated, keywords, different_keywords, .. } = self;
        let Self { most_keywords, hashes, layers, literal_layers, .. } = self;
        format!(
            "{records} different records, {keywords} keywords, {different_keywords} different ones; left out: {empty} without \
             keywords, {repeated} repeated\n{hashes} hash functions; {layers} layers and the XOR layer (a record has up to \
             {most_keywords} keywords; all keywords by hash functions would be {literal_layers} layers)\n"
        )
    }
}

impl Search {
    fn text(&self) -> String {
        let count = |says: fn(&Found) -> bool| self.found.iter().filter(|found| says(found)).count();
        let right = count(|found| found.holds_all);
        let wrong = [count(|found| found.bloom), count(|found| found.multilayer)].map(|all| all - right);
        let yes = |says: bool| if says { "yes" } else { "no" }.to_owned();
        let cells = |found: &Found| {
            let said = [found.holds_all, found.bloom, found.multilayer].map(yes);
            [&[found.line.to_string(), found.keywords.clone()], &said[..]].concat()
        };
        let rows: Vec<Vec<String>> = self.found.iter().map(cells).collect();
        format!(
            "{right} of {} records hold all of: {}; by mistake Bloom finds {} more, multilayer {}\n\n{}",
            self.records,
            print::printable(&self.words.join(", ")),
            wrong[0],
            wrong[1],
            print::table(&["line", "keywords", "holds all", "Bloom", "multilayer"], &rows)
        )
    }
}

/// A probability that a filter can have.
fn error_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| (1e-9..=0.5).contains(rate));
    rate.ok_or_else(|| "give a rate from 1e-9 to 0.5".to_owned())
}
