//! `webloom pages`.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use regex::Regex;
use serde_json::{Value, json};

use super::{
    Failure, directory,
    listing::{self, Format, Listing},
    outcome,
};
use crate::{
    store::{PageFilter, PageLine, ReadSide, StoreError},
    url::WebUrl,
};

/// Arguments of `pages`.
#[derive(Debug, Args)]
pub(super) struct PagesArgs {
    /// Crawl directory
    dir: PathBuf,
    /// Form of the lines; in each of them, characters that could steer a terminal or disguise text are escaped, and in csv a
    /// cell that a spreadsheet would take for a formula begins with '
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Only URLs whose last answer had this status
    #[arg(long, value_name = "CODE", value_parser = clap::value_parser!(u16).range(100..=999))]
    status: Option<u16>,
    /// Only URLs in this state
    #[arg(long, value_parser = OUTCOMES)]
    outcome: Option<String>,
    /// Only URLs whose content type begins with this, such as text/html
    #[arg(long = "type", value_name = "TYPE")]
    content_type: Option<String>,
    /// Only URLs at most so many links from a start
    #[arg(long, value_name = "N")]
    max_depth: Option<u32>,
    /// Only URLs that match this regular expression
    #[arg(long = "match", value_name = "RE")]
    matching: Option<Regex>,
    /// The URLs of this crawl sequence, in the state it left them in, instead of all in their latest state
    #[arg(long, value_name = "N")]
    sequence: Option<u32>,
    /// Only URLs that the URL cache refused by mistake in the last sequence, or in that of --sequence, whatever became of them
    #[arg(long)]
    lost: bool,
    /// Only URLs lost in an earlier sequence and found in the last one, or in that of --sequence
    #[arg(long, conflicts_with = "lost")]
    recovered: bool,
}

/// Content types that are named at most.
const NAMED: usize = 5;

const OUTCOMES: [&str; 8] = ["stored", "redirected", "broken", "gone", "failed", "abandoned", "queued", "lost"];

const COLUMNS: [&str; 19] = [
    "url",
    "key",
    "status",
    "outcome",
    "reason",
    "change",
    "content_type",
    "bytes",
    "digest",
    "title",
    "depth",
    "hop",
    "via",
    "sequence",
    "fetched_at",
    "redirect",
    "truncated",
    "fields",
    "found_by",
];

pub(super) fn run(args: &PagesArgs) -> Result<ExitCode, Failure> {
    let records = directory::records(&args.dir)?;
    args.check(&records)?;
    let mut listing = Listing::begin(&COLUMNS, args.format);
    let mut none = true;
    records.pages(&args.filter(), |line| {
        none = false;
        listing.add(&object(&line))
    })?;
    if none {
        outcome::tell("no URL matches");
    }
    listing.end()
}

impl PagesArgs {
    fn filter(&self) -> PageFilter {
        PageFilter {
            status: self.status,
            outcome: self.outcome.clone(),
            content_type: self.content_type.clone(),
            max_depth: self.max_depth,
            matching: self.matching.clone(),
            sequence: self.sequence,
            lost: self.lost,
            recovered: self.recovered,
        }
    }

    /// What the crawl does not have is a slip; that nothing of what it has passes all filters is an answer.
    fn check(&self, records: &impl ReadSide) -> Result<(), Failure> {
        let last = records.last_sequence()?.ok_or_else(|| StoreError::Empty { path: self.dir.clone() })?;
        if let Some(asked) = self.sequence.filter(|asked| *asked > last) {
            let there = if last == 0 { "only sequence 0".to_owned() } else { format!("the sequences 0 to {last}") };
            return Err(Failure::Usage(format!("--sequence {asked}: {} has {there}", self.dir.display())));
        }
        if let Some(old) = self.sequence.filter(|_| !self.lost && !self.recovered)
            && records.is_pruned(old)?
        {
            outcome::tell(&format!(
                "of sequence {old} only those pages are kept that were not as before (store.keep_sequences)"
            ));
        }
        let Some(prefix) = &self.content_type else { return Ok(()) };
        let types = records.content_types(prefix, NAMED)?;
        if types.is_match {
            return Ok(());
        }
        let there = if types.others.is_empty() { "none has any".to_owned() } else { types.others.join(", ") };
        Err(Failure::Usage(format!("--type {prefix:?}: no page is of such a type; there are: {there}")))
    }
}

/// A URL without user name and password: earlier versions kept those of a start in its row.
fn without_login(url: Option<&str>) -> Option<String> {
    let text = url?;
    let parsed = text.contains('@').then(|| WebUrl::parse(text).ok()).flatten();
    Some(parsed.map_or_else(|| text.to_owned(), |url| url.without_credentials().as_str().to_owned()))
}

fn object(line: &PageLine) -> Value {
    let digest = line.digest.as_ref().map(listing::digest);
    let fetched_at = line.fetched_at.map(listing::time);
    let [url, key, via, redirect] =
        [&line.url, &line.key, &line.via, &line.redirect].map(|url| without_login(url.as_deref()));
    json!({
        "url": url, "key": key, "status": line.status, "outcome": line.outcome, "reason": line.reason,
        "change": line.change, "content_type": line.content_type, "bytes": line.bytes,
        "digest": digest, "title": line.title, "depth": line.depth, "hop": line.hop, "via": via,
        "sequence": line.sequence, "fetched_at": fetched_at, "redirect": redirect, "truncated": line.truncated,
        "fields": null, "found_by": line.found_by,
    })
}
