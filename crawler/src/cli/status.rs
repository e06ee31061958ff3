//! `webloom status`.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;

use super::{
    Failure, directory,
    flags::ColorChoice,
    listing, no_start, outcome,
    summary::{self, View},
};
use crate::{
    engine::End,
    observe::{escape, figures, summary::freshness},
    store::{ReadSide, SequenceLosses},
};

/// Sequences that are shown, the last ones.
const SHOWN: u32 = 20;

/// Arguments of `status`.
#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// Crawl directory
    dir: PathBuf,
    /// Print the summary as one JSON document
    #[arg(long)]
    json: bool,
    /// When to use colour
    #[arg(long, value_enum, value_name = "auto|always|never", default_value_t = ColorChoice::Auto)]
    color: ColorChoice,
}

pub(super) fn run(args: &StatusArgs) -> Result<ExitCode, Failure> {
    let summary = directory::summary(&args.dir)?;
    if args.json {
        outcome::document(&summary::document(&summary))?;
        return Ok(ExitCode::SUCCESS);
    }
    let failed = summary.end.as_deref() == Some(End::Failed.as_str());
    let no_start = failed.then(|| no_start::why(&args.dir, false)).transpose()?;
    let missing = no_start.as_ref().and_then(|found| found.flag);
    let mut lines = summary::lines(&summary, &View { dir: &args.dir, ended: None, next: true, missing });
    let losses = directory::records(&args.dir)?.losses(SHOWN)?;
    if losses.len() > 1 {
        lines.text += &table(&losses);
    }
    outcome::print_summary(&lines, args.color)?;
    if let Some(no_start) = no_start {
        outcome::tell(&format!("no start URL could be fetched: {}", no_start.why));
    }
    Ok(ExitCode::SUCCESS)
}

/// What each sequence lost and found again, and how fresh copies were before it.
fn table(losses: &[SequenceLosses]) -> String {
    let mut text = format!(
        "\n{:<8}  {:<20}  {:<11}  {:>13}  {:>7}  {:>7}  {:>9}  {:>7}  {:>8}\n",
        "sequence", "began", "end", "expected lost", "audited", "swept", "recovered", "fresh", "age"
    );
    for losses in losses {
        text += &format!(
            "{:>8}  {:<20}  {:<11}  {:>13}  {:>7}  {:>7}  {:>9}  {:>7}  {:>8}\n",
            losses.sequence,
            listing::seconds(losses.began_at),
            escape::text(losses.end.as_deref().unwrap_or("-")),
            figures::expected(losses.expected),
            losses.audited,
            shown(losses.swept.map(|swept| swept.to_string())),
            losses.recovered,
            shown(losses.measured.and_then(|span| span.freshness()).map(freshness::percent)),
            shown(losses.measured.and_then(|span| span.mean_age()).map(freshness::age)),
        );
    }
    text
}

/// A figure that does not exist is a dash.
fn shown(figure: Option<String>) -> String {
    figure.unwrap_or_else(|| "-".to_owned())
}
