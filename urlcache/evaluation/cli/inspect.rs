//! `urlcache inspect`: what a snapshot holds.

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;
use urlcache::{ErrorSide, LossFigure, Snapshot, restore};

use crate::{
    Form,
    print::{self, Word},
};

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// File with a snapshot of a URL cache
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    form: Form,
}

/// What is said of a snapshot; the hash seed is not.
#[derive(Debug, Serialize)]
struct Description {
    file: String,
    bytes: usize,
    strategy: &'static str,
    layout: &'static str,
    items: u64,
    capacity: u64,
    bits: u64,
    bits_per_url: Option<f64>,
    fill: f64,
    expected_rate: f64,
    /// None where the strategy keeps no account.
    expected_lost: Option<f64>,
    /// What that is: expected, `at_least` or unknown.
    expected_lost_is: &'static str,
    hashes: u32,
    cache_lines: u32,
    errs: &'static str,
}

const WORDS: &[Word] = &[
    ("URLs held", "how many URLs the cache took as new"),
    ("room", "how many URLs it was made for; with more, its rate is higher than planned"),
    ("in use", "the share of the bits that are set"),
    (
        "errs",
        "which wrong answers it may give: a new URL that it calls seen is lost; a seen URL that it calls new costs a look-up",
    ),
    ("rate", "the probability that the cache now calls a new URL seen"),
    (
        "expected lost",
        "the sum of rate / (1 - rate) over all URLs that it took as new: how many other URLs it has probably called seen by mistake",
    ),
    ("test-and-set", "asks whether one URL was seen, and adds it"),
    ("cache line", "64 bytes of memory that a processor reads at once"),
];

pub(crate) fn run(args: &InspectArgs) -> Result<ExitCode> {
    let name = args.file.display().to_string();
    let bytes = std::fs::read(&args.file).with_context(|| format!("cannot read {name}"))?;
    let cache = restore(&bytes).with_context(|| name.clone())?;
    let description = describe(name, bytes.len(), &*cache);
    print::answer(args.form, &description, &lines(&description), WORDS)?;
    Ok(ExitCode::SUCCESS)
}

fn describe(file: String, bytes: usize, cache: &dyn Snapshot) -> Description {
    let (now, cost) = (cache.occupancy(), cache.cost());
    Description {
        file,
        bytes,
        strategy: cache.strategy(),
        layout: cache.layout(),
        items: now.items,
        capacity: now.capacity,
        bits: now.bits,
        bits_per_url: (now.items > 0).then(|| now.bits as f64 / now.items as f64),
        fill: now.fill,
        expected_rate: now.expected_rate,
        expected_lost: (now.figure != LossFigure::Unknown).then_some(now.expected_lost),
        expected_lost_is: now.figure.name(),
        hashes: cost.hashes,
        cache_lines: cost.cache_lines,
        errs: match cache.error_side() {
            ErrorSide::MayMistakeNewForSeen => "new called seen",
            ErrorSide::MayForget => "seen called new",
            ErrorSide::Both => "new called seen, seen called new",
            ErrorSide::Exact => "never",
        },
    }
}

fn lines(description: &Description) -> String {
    let Description { file, bytes, strategy, layout, items, capacity, bits, errs, hashes, cache_lines, .. } =
        description;
    let fill = description.fill * 100.0;
    let rate = print::short(description.expected_rate);
    let lost = match description.expected_lost.map(print::short) {
        None => "no figure of what is lost".to_owned(),
        Some(lost) if description.expected_lost_is == LossFigure::AtLeast.name() => {
            format!("at least {lost} lost so far")
        }
        Some(lost) => format!("expected lost so far {lost}"),
    };
    format!(
        "{file}: a URL cache of {bytes} bytes, {strategy} ({layout})\n\
         {items} URLs held, room for {capacity}; {bits} bits, {fill:.1} % in use\n\
         errs: {errs}; rate now {rate}, {lost}\n\
         a test-and-set sets {hashes} bits and touches {cache_lines} cache lines"
    )
}
