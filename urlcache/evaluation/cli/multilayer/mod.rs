//! `urlcache multilayer`: the multi-layer filter of the documents, beside what it was compared with and what it was not.
//!
//! Without records it compares methods that keep URLs; with `--csv` or `--generate`, filters of keywords.

mod clock;
mod contest;
mod figures;
mod keywords;
mod method;
mod report;
mod site;
mod url_set;

use std::{fs, path::PathBuf, process::ExitCode};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::Serialize;
use urlcache::HashSeed;

use crate::{Form, print};
use contest::Order;
use keywords::KeywordArgs;
use method::Sizes;
use report::{Round, Row};

/// How it is called, for its help.
pub(crate) const EXAMPLES: &str = "Examples:
  urlcache multilayer --sizes 1000,1000000 --out rows.csv --svg figures
  urlcache multilayer --sizes 15625 --bits 25 --queries 4000000
  urlcache multilayer --urls urls.txt --sizes 1000,100000
  urlcache multilayer --csv titles.csv --column listed_in --delimiter ', '
  urlcache multilayer --csv titles.csv --column listed_in --search 'Dramas,Comedies' --out found.csv";

#[derive(Debug, Args)]
pub(crate) struct MultilayerArgs {
    /// Number of layers; the XOR layer comes on top [default: of URLs 5, of keywords the most of a record by hash functions]
    #[arg(long, value_name = "L", value_parser = clap::value_parser!(u8).range(1..=62))]
    layers: Option<u8>,
    /// Number from which all hash functions follow; the same number repeats a run
    #[arg(long, value_name = "S", default_value_t = 1)]
    hash_seed: u64,
    /// Write all rows to this CSV file, with 95 % intervals
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    form: Form,
    #[command(flatten)]
    urls: UrlArgs,
    #[command(flatten)]
    keywords: KeywordArgs,
}

/// What a comparison of URLs needs.
#[derive(Debug, Args)]
#[command(next_help_heading = "URLs")]
struct UrlArgs {
    /// Numbers of URLs in the set, up to 50000000; linear search is run on 1000000 at most
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [1_000, 16_000, 250_000, 1_000_000],
        value_parser = clap::value_parser!(u64).range(1..=50_000_000))]
    sizes: Vec<u64>,
    /// Take the URLs from this file, one a line (.zst: compressed), not from a generated site
    #[arg(long, value_name = "FILE")]
    urls: Option<PathBuf>,
    /// Bits a URL of each filter at equal totals; the nearest total is taken whose layers are powers of two
    #[arg(long, value_name = "B,…", value_delimiter = ',', default_values_t = [25.0, 12.6], value_parser = bits)]
    bits: Vec<f64>,
    /// Bits a URL of one layer with the memory of the documents; the nearest power of two is taken
    #[arg(long, value_name = "B", default_value_t = 8.0, value_parser = bits)]
    layer_bits: f64,
    /// Number of hash functions with the memory of the documents
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=64))]
    hashes: u32,
    /// Number of questions of each kind, at most
    #[arg(long, value_name = "Q", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    queries: u64,
    /// Draw the documents' figures 3 to 5 into this folder, as SVG
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
}

/// Everything that was measured.
#[derive(Debug, Serialize)]
struct Comparison {
    layers: usize,
    rows: Vec<Row>,
}

pub(crate) fn run(args: &MultilayerArgs) -> Result<ExitCode> {
    args.check_targets()?;
    if args.keywords.is_given() {
        return keywords::run(args);
    }
    let rounds = compare(args)?;
    let rows: Vec<Row> = rounds.iter().flat_map(report::rows).collect();
    let lines: String = rounds.iter().map(report::text).collect();
    let comparison = Comparison { layers: args.url_layers(), rows };
    print::answer(args.form, &comparison, &lines, report::WORDS)?;
    print::csv(args.out.as_deref(), &comparison.rows)?;
    if let Some(folder) = &args.urls.svg {
        figures::write(folder, &rounds)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn compare(args: &MultilayerArgs) -> Result<Vec<Round>> {
    let UrlArgs { sizes, urls: file, bits, layer_bits, hashes, queries, .. } = &args.urls;
    let order = Order {
        sizes: Sizes { layer_bits: *layer_bits, hashes: *hashes, totals: bits.clone() },
        layers: args.url_layers(),
        questions: *queries,
        seed: HashSeed::new(args.hash_seed),
    };
    let lines = file.as_ref().map(|file| site::of_file(file)).transpose()?;
    let mut rounds = Vec::new();
    for &size in sizes {
        let made = if lines.is_some() { Vec::new() } else { site::generated(size) };
        let (urls, count) = (lines.as_ref().unwrap_or(&made), usize::try_from(size)?);
        ensure!(
            count <= urls.len(),
            "--sizes {size}: there are {} different URLs; give smaller sizes, or a larger file",
            urls.len()
        );
        let (extent, outcomes) = contest::run(urls, count, &order)?;
        rounds.push(Round { extent, outcomes });
    }
    Ok(rounds)
}

impl MultilayerArgs {
    /// Whether results can be written: better asked before a long measurement than after.
    fn check_targets(&self) -> Result<()> {
        if let Some(file) = &self.out {
            let read = self.urls.urls.iter().map(|path| ("--urls", path)).chain(self.keywords.file());
            for (flag, path) in read {
                let same =
                    path == file || path.canonicalize().ok().is_some_and(|path| file.canonicalize().ok() == Some(path));
                ensure!(!same, "--out is the file that {flag} reads: {}; name another", file.display());
            }
            let opened = fs::OpenOptions::new().create(true).append(true).open(file);
            opened.with_context(|| format!("cannot write {}", file.display()))?;
        }
        if let Some(folder) = &self.urls.svg {
            fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        Ok(())
    }

    fn url_layers(&self) -> usize {
        self.layers.map_or(5, usize::from)
    }
}

/// Bits a URL.
fn bits(text: &str) -> Result<f64, String> {
    let bits = text.parse::<f64>().ok().filter(|bits| (0.01..=10_000.0).contains(bits));
    bits.ok_or_else(|| "give a number of bits from 0.01 to 10000".to_owned())
}
