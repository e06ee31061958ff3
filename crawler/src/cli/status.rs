//! `webloom status`.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;

use super::{
    CommandFailure, directory,
    flags::ColorChoice,
    listing, no_start,
    outcome::{self, Voice},
    summary::{self, SummaryView},
};
use crate::{
    config::Layers,
    engine::RunEnd,
    observe::{escape, figures, summary::freshness},
    session::machine,
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

pub(super) fn run(args: &StatusArgs) -> Result<ExitCode, CommandFailure> {
    let summary = directory::summary(&args.dir)?;
    if args.json {
        outcome::document(&summary::document(&summary))?;
        return Ok(ExitCode::SUCCESS);
    }
    let failed = summary.end.as_deref() == Some(RunEnd::Failed.as_str());
    let no_start = failed.then(|| no_start::why(&args.dir, false)).transpose()?;
    let missing = no_start.as_ref().and_then(|found| found.flag);
    let mut lines = summary::lines(&summary, &SummaryView { dir: &args.dir, ended: None, next: true, missing });
    let losses = directory::records(&args.dir)?.losses(SHOWN)?;
    if losses.len() > 1 {
        lines.text += &sequences(&losses);
    }
    if let Some((free, least)) = lacking_disk(&args.dir, summary.settings.as_deref()) {
        let [free, least] = [free, least].map(figures::size);
        let why = format!("{free} are free, less than {least} (machine.min_free_disk): nothing is fetched");
        lines.text += &format!("{:<12}{why}\n", "disk");
    }
    Voice::default().print_summary(&lines, args.color)?;
    if let Some(no_start) = no_start {
        outcome::tell(&format!("no start URL could be fetched: {}", no_start.why));
    }
    Ok(ExitCode::SUCCESS)
}

/// Bytes free on the disk of a crawl, and those that must be, if there are fewer.
fn lacking_disk(dir: &Path, settings: Option<&str>) -> Option<(u64, u64)> {
    let settings = Layers::new().stored(settings?).resolve().ok()?.settings;
    let (free, least) = machine::gauge(dir).read().disk(settings.machine.min_free_disk?)?;
    (free < least).then_some((free, least))
}

/// When each sequence began and how it ended, how fresh copies were before it, and what it lost and found again.
fn sequences(losses: &[SequenceLosses]) -> String {
    let mut text = "\n".to_owned();
    for losses in losses {
        let end = escape::text(losses.end.as_deref().unwrap_or("not finished"));
        text += &format!(
            "{:<12}began {}, {end}",
            format!("sequence {}", losses.sequence),
            listing::seconds(losses.began_at)
        );
        if let Some((fresh, age)) = losses.measured.and_then(|span| Some((span.freshness()?, span.mean_age()?))) {
            text += &format!(", {} fresh, age {}", freshness::percent(fresh), freshness::age(age));
        }
        let swept = losses.swept.map_or("not swept".to_owned(), |swept| format!("{} swept", figures::count(swept)));
        let [audited, recovered] = [losses.audited, losses.recovered].map(figures::count);
        let expected = figures::expected(losses.expected);
        text +=
            &format!("\n{:12}lost URLs: {expected} expected, {audited} audited, {swept}, {recovered} recovered\n", "");
    }
    text
}
