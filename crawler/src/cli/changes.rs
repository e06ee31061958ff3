//! `webloom changes`.

use std::{path::PathBuf, process::ExitCode, str::FromStr};

use clap::Args;
use jiff::Timestamp;
use regex::Regex;
use serde_json::{Value, json};

use super::{
    Failure, directory,
    listing::{self, Format, Listing},
    outcome,
};
use crate::{
    changes::{Change, KeptTexts, Suggestion, Suggestions, unified},
    config::Layers,
    observe::escape,
    store::{ChangeLine, ReadSide, Since, StoreError},
    text::Text,
    time::Moment,
};

/// Lines around an edit that are shown with it.
const CONTEXT: usize = 3;

/// Arguments of `changes`.
#[derive(Debug, Args)]
pub(super) struct ChangesArgs {
    /// Crawl directory
    dir: PathBuf,
    /// Format of the list
    ///
    /// Each format escapes characters that could steer a terminal or disguise text. In csv, a cell that a spreadsheet
    /// would read as a formula begins with '.
    #[arg(long, value_enum, value_name = "table|jsonl|csv", hide_possible_values = true, default_value_t = Format::Table)]
    format: Format,
    /// Only changes since this sequence or this time
    ///
    /// The number of a crawl sequence, which is included, or a time such as 2026-03-01T00:00:00Z.
    #[arg(long, value_name = "N|TIME", value_parser = since)]
    since: Option<Since>,
    /// Only changes of this kind
    #[arg(long, value_parser = Change::ALL.map(Change::as_str))]
    change: Option<String>,
    /// Only URLs that match this regular expression
    #[arg(long = "match", value_name = "REGEX")]
    matching: Option<Regex>,
    /// Show how the text of each page has changed
    ///
    /// Webloom shows a diff if it has kept both texts.
    #[arg(long)]
    diff: bool,
    /// Suggest rules for --ignore instead
    ///
    /// The rules match lines that were different each time Webloom fetched a page, such as counters, dates and tokens,
    /// and nothing else in the kept texts. The list has the number of pages for each rule, and an example.
    #[arg(long, conflicts_with_all = ["since", "change", "matching", "diff"])]
    suggest_ignore: bool,
}

const COLUMNS: [&str; 8] = ["at", "sequence", "change", "url", "to", "count", "before", "after"];

/// What a table has on a terminal.
const SHORT: [&str; 5] = ["at", "change", "count", "url", "to"];

pub(super) fn run(args: &ChangesArgs) -> Result<ExitCode, Failure> {
    let records = directory::records(&args.dir)?;
    records.last_sequence()?.ok_or_else(|| StoreError::Empty { path: args.dir.clone() })?;
    if args.suggest_ignore {
        return suggest_ignore(&records, args.format);
    }
    let columns: &[&str] = if listing::is_looked_at(args.format) { &SHORT } else { &COLUMNS };
    let mut listing = Listing::begin(columns, args.format);
    let mut none = true;
    records.changes(args.since.unwrap_or_default(), args.diff, |line| {
        if !args.wants(&line) {
            return true;
        }
        none = false;
        show(&mut listing, &line, args)
    })?;
    if none {
        outcome::tell("no change matches");
    }
    listing.end()
}

impl ChangesArgs {
    fn wants(&self, line: &ChangeLine) -> bool {
        self.change.as_ref().is_none_or(|change| *change == line.change)
            && self.matching.as_ref().is_none_or(|pattern| pattern.is_match(&line.url))
    }
}

/// Lists rules for what rotates and is not ignored yet.
fn suggest_ignore(records: &impl ReadSide, format: Format) -> Result<ExitCode, Failure> {
    let stored = records.settings()?.unwrap_or_default();
    let ignore = Layers::new().stored(&stored).resolve()?.settings.change.ignored();
    let compared = |mut page: KeptTexts| {
        page.texts.iter_mut().for_each(|(_, text)| *text = ignore.apply(text));
        page.texts.dedup_by(|one, before| one.1 == before.1);
        page
    };
    let mut suggestions = Suggestions::default();
    records.kept_texts(|page| suggestions.add(&compared(page)))?;
    let mut trial = suggestions.try_out();
    records.kept_texts(|page| trial.add(&compared(page)))?;
    let offered = trial.offered();
    if offered.is_empty() {
        outcome::tell("no rule to suggest: in the texts that are kept, no line differs each time its page is fetched");
    }
    let mut listing = Listing::begin(&["rule", "pages", "url", "before", "after"], format);
    let line = |one: &Suggestion| json!({"rule": one.rule, "pages": one.pages, "url": one.url, "before": one.before, "after": one.after});
    offered.iter().map(line).all(|line| listing.add(&line));
    listing.end()
}

/// A sequence, or a time.
fn since(text: &str) -> Result<Since, String> {
    if let Ok(sequence) = u32::from_str(text) {
        return Ok(Since::Sequence(sequence));
    }
    let time = Timestamp::from_str(text)
        .map_err(|_| "give the number of a sequence, or a time such as 2024-05-01T00:00:00Z")?;
    Ok(Since::Moment(Moment::from_millis(u64::try_from(time.as_millisecond()).unwrap_or_default())))
}

/// Whether more can be shown.
fn show(listing: &mut Listing<'_>, line: &ChangeLine, args: &ChangesArgs) -> bool {
    let diff = line.texts.as_ref().map(|(before, after)| {
        let [before, after] = [before, after].map(|text| Text::from_stored(text));
        unified(&before, &after, CONTEXT)
    });
    let mut object = object(line);
    if args.diff && args.format == Format::Jsonl {
        object["diff"] = diff.clone().into();
    }
    let more = listing.add(&object);
    let shown = diff.filter(|_| args.format == Format::Table);
    more && shown.iter().flat_map(|diff| diff.lines()).all(|line| listing.line(&format!("    {}", escape::text(line))))
}

fn object(line: &ChangeLine) -> Value {
    let [before, after] = [line.before, line.after].map(|digest| digest.as_ref().map(listing::digest));
    json!({
        "url": line.url, "change": line.change, "sequence": line.sequence, "at": listing::time(line.at),
        "before": before, "after": after, "to": line.to, "count": line.count,
    })
}
