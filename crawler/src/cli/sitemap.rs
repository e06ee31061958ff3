//! `webloom sitemap`.

use std::{collections::BTreeMap, path::PathBuf, process::ExitCode};

use clap::Args;

use super::{
    CommandFailure, directory,
    listing::{FormatArg, Listing, time, without_login},
    outcome,
};
use crate::{
    report::{Column, Value},
    store::{ReadSide, SitemapFinding, SitemapLine, StoreError},
    time::Moment,
};

/// Arguments of `sitemap`.
#[derive(Debug, Args)]
pub(super) struct SitemapArgs {
    /// Crawl directory
    dir: PathBuf,
    /// List only URLs with a finding
    #[arg(long)]
    findings: bool,
    #[command(flatten)]
    format: FormatArg,
}

const COLUMNS: [Column; 7] = [
    Column::plain("finding"),
    Column::plain("in_sitemap"),
    Column::plain("linked"),
    Column::plain("status"),
    Column::plain("outcome"),
    Column::plain("lastmod"),
    Column::url("url"),
];

/// What a table has on a terminal.
const SHORT: [&str; 4] = ["finding", "status", "lastmod", "url"];

pub(super) fn run(args: &SitemapArgs) -> Result<ExitCode, CommandFailure> {
    let records = directory::records(&args.dir)?;
    records.last_sequence()?.ok_or_else(|| StoreError::Empty { path: args.dir.clone() })?;
    let begin = || Listing::begin(&COLUMNS, &args.format.shown(&COLUMNS, &SHORT), &args.format);
    let mut listing = None;
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let any = records.sitemaps(|line| {
        *counts.entry(line.finding.map_or("none", SitemapFinding::as_str)).or_default() += 1;
        let is_shown = !args.findings || line.finding.is_some();
        !is_shown || listing.get_or_insert_with(begin).add(&row(&line))
    })?;
    let ended = listing.unwrap_or_else(begin).end()?;
    if !any {
        outcome::tell("the crawl has read no sitemap: its hosts name none, or `sources.sitemaps` is off");
    } else if args.format.is_looked_at() {
        outcome::tell(&summed(&counts));
    }
    Ok(ended)
}

/// How many URLs have which finding.
fn summed(counts: &BTreeMap<&str, u64>) -> String {
    let all = SitemapFinding::ALL.map(SitemapFinding::as_str).into_iter().chain(["none"]);
    let counted = all.filter_map(|word| counts.get(word).map(|count| format!("{count} {}", word.replace('_', " "))));
    format!("URLs by finding: {}", counted.collect::<Vec<_>>().join(", "))
}

fn row(line: &SitemapLine) -> [Value<'_>; COLUMNS.len()] {
    [
        line.finding.map(SitemapFinding::as_str).into(),
        Value::Flag(line.in_sitemap),
        Value::Flag(line.linked),
        line.status.into(),
        line.outcome.as_deref().into(),
        line.lastmod.map(Moment::millis).map(time).into(),
        without_login(&line.url).into(),
    ]
}
