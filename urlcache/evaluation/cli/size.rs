//! `urlcache size`: the price list.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use urlcache::{BuildError, CacheConfig, HashSeed, Layout, LossFigure, ResetPolicy, SizingError, Strategy};

use crate::{
    Budget, Form,
    print::{self, Word},
};

#[derive(Debug, Args)]
pub(crate) struct SizeArgs {
    /// Number of URLs that the cache must hold
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    urls: u64,
    #[command(flatten)]
    budget: Budget,
    /// What to do with more URLs: none, stop, restart and rebuild begin with this size; grow adds to it; rotate forgets the oldest
    #[arg(long, value_name = "POLICY", default_value = "none")]
    reset: ResetPolicy,
    /// Number of filters of the spatial strategies
    #[arg(long, value_name = "F", default_value_t = 2)]
    filters: u32,
    /// Number of layers of the strategy multilayer
    #[arg(long, value_name = "L", default_value_t = 8)]
    layers: u32,
    #[command(flatten)]
    form: Form,
}

/// What one choice costs.
#[derive(Debug, Serialize)]
struct Row {
    strategy: &'static str,
    /// As chosen.
    layout: &'static str,
    /// What it came to.
    uses: &'static str,
    bits: u64,
    bits_per_url: f64,
    memory_bytes: u64,
    /// Of the full cache; none where what a cache states is not what it loses.
    rate: Option<f64>,
    expected_lost: Option<f64>,
    /// What that is: expected, `at_most` where URLs with unknown segments lose less, or unknown.
    expected_lost_is: &'static str,
    hashes: u32,
    cache_lines: u32,
    errs: &'static str,
}

/// The price list as a document.
#[derive(Debug, Serialize)]
struct PriceList {
    urls: u64,
    max_lost: Option<f64>,
    max_rate: Option<f64>,
    rows: Vec<Row>,
}

/// What is said of losses that are those of the worst URLs.
const AT_MOST: &str = "at_most";

const WORDS: &[Word] = &[
    ("strategy", "which filters are combined; exact is a hash set and loses nothing"),
    ("layout", "how a filter arranges its bits; auto takes the cheapest layout, which follows in brackets"),
    ("bits/URL", "memory for each of the URLs that the cache is made for; MiB: all memory"),
    ("rate when full", "the probability that the full cache calls a new URL seen"),
    ("expected lost", "how many new URLs the cache calls seen by mistake while it fills, on average"),
    ("at most", "the losses if every URL consists of known segments; of others fewer are lost"),
    ("unbounded", "the strategy keeps no budget; its losses depend on the URLs"),
    ("bits set", "how many bits each URL sets or reads"),
    ("cache lines", "pieces of 64 bytes of memory that are read for each URL; fewer are faster"),
];

pub(crate) fn run(args: &SizeArgs) -> Result<ExitCode> {
    let (mut rows, mut too_large) = (Vec::new(), 0);
    for strategy in Strategy::ALL {
        let one = strategy == Strategy::Exact || !strategy.keeps_a_budget();
        let layouts = if one { &[Layout::Auto][..] } else { &Layout::ALL };
        for &layout in layouts {
            match row(args, strategy, layout) {
                Ok(row) => rows.push(row),
                // One that is too large leaves room for the others.
                Err(BuildError::Sizing(SizingError::Bits { .. }) | BuildError::TooManyKeys { .. }) => too_large += 1,
                Err(BuildError::Growth { .. }) => {}
                Err(other) => return Err(other.into()),
            }
        }
    }
    if too_large > 0 {
        eprintln!("{too_large} of the choices are left out because they would be too large");
    }
    let budget = args.budget.budget();
    let (max_lost, max_rate) = (budget.max_lost_urls, budget.max_false_positive_rate);
    let lines = table(args, &rows);
    print::answer(args.form, &PriceList { urls: args.urls, max_lost, max_rate, rows }, &lines, WORDS)?;
    Ok(ExitCode::SUCCESS)
}

fn row(args: &SizeArgs, strategy: Strategy, layout: Layout) -> Result<Row, BuildError> {
    let config = CacheConfig {
        layout,
        reset: args.reset,
        budget: args.budget.budget(),
        expected_urls: Some(args.urls),
        filters: args.filters,
        layers: args.layers,
        ..CacheConfig::new(strategy, HashSeed::new(0))
    };
    let design = config.design(0, 0)?;
    Ok(Row {
        strategy: strategy.name(),
        layout: layout.name(),
        uses: design.layout,
        bits: design.bits,
        bits_per_url: design.bits as f64 / args.urls as f64,
        memory_bytes: design.bits / 8,
        rate: strategy.keeps_a_budget().then_some(design.rate),
        expected_lost: strategy.keeps_a_budget().then_some(design.expected_lost),
        expected_lost_is: match strategy {
            Strategy::Multilayer => AT_MOST,
            Strategy::MultilayerPlain | Strategy::SegmentSet => LossFigure::Unknown.name(),
            _ => LossFigure::Expected.name(),
        },
        hashes: design.cost.hashes,
        cache_lines: design.cost.cache_lines,
        errs: match (strategy, args.reset) {
            (Strategy::Exact, ResetPolicy::Rotate) => "seen called new",
            (Strategy::Exact, _) => "never",
            _ if !strategy.keeps_a_budget() => "new called seen, above all URLs that consist of known segments",
            (_, ResetPolicy::Rotate) => "new called seen, and seen called new",
            _ => "new called seen",
        },
    })
}

fn table(args: &SizeArgs, rows: &[Row]) -> String {
    let budget = args.budget.budget();
    let limit = |limit: Option<f64>, what: &str| limit.map(|limit| format!("{what} {}", print::short(limit)));
    let limits =
        [limit(budget.max_lost_urls, "an expected loss of"), limit(budget.max_false_positive_rate, "a rate of")];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    let limits = limits.join(" and ");
    let first = format!("{} URLs, within {limits}; expected losses are those of one crawl sequence\n", args.urls);
    let heading =
        ["strategy", "layout", "bits/URL", "MiB", "rate when full", "expected lost", "bits set", "cache lines"];
    let cells = |row: &Row| {
        let layout = if row.layout == "auto" { format!("auto ({})", row.uses) } else { row.layout.to_owned() };
        let mebibytes = row.memory_bytes as f64 / f64::from(1 << 20);
        let figure = |figure: Option<f64>| figure.map_or_else(|| "unbounded".to_owned(), print::short);
        let [rate, lost] = [row.rate, row.expected_lost].map(figure);
        let lost = if row.expected_lost_is == AT_MOST { format!("at most {lost}") } else { lost };
        let (bits, mebibytes) = (format!("{:.2}", row.bits_per_url), print::short(mebibytes));
        vec![
            row.strategy.to_owned(),
            layout,
            bits,
            mebibytes,
            rate,
            lost,
            row.hashes.to_string(),
            row.cache_lines.to_string(),
        ]
    };
    first + &print::table(&heading, &rows.iter().map(cells).collect::<Vec<_>>())
}
