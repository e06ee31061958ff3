//! `webloom pages`.

use std::{path::PathBuf, process::ExitCode};

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use regex::Regex;

use super::{
    CommandFailure, directory,
    listing::{self, FormatArg, Listing, StatusRange, one_of, without_login},
    outcome,
};
use crate::{
    candidate::Hop,
    report::{Column, Value},
    store::{PageChange, PageColumn, PageFilter, PageLine, PageOrder, PageOutcome, ReadSide, StoreError},
};

/// Arguments of `pages`.
#[derive(Debug, Args)]
pub(super) struct PagesArgs {
    /// Crawl directory
    dir: PathBuf,
    #[command(flatten)]
    format: FormatArg,
    /// Only URLs with this status: 404, or 4xx
    #[arg(long, value_name = "CODE", value_parser = listing::status)]
    status: Option<StatusRange>,
    /// Only URLs with this outcome, such as broken
    #[arg(long, value_parser = one_of(PageOutcome::ALL, PageOutcome::as_str))]
    outcome: Option<PageOutcome>,
    /// Only new, changed or unchanged pages
    ///
    /// This is what the last visit found.
    #[arg(long, value_parser = one_of(PageChange::ALL, PageChange::as_str))]
    change: Option<PageChange>,
    /// Only URLs of this type, such as text/html
    ///
    /// The content type begins with this text.
    #[arg(long = "type", value_name = "TYPE")]
    content_type: Option<String>,
    /// Only URLs that are at most N links from a start URL
    #[arg(long, value_name = "N")]
    max_depth: Option<u32>,
    /// Only URLs that match this regular expression
    #[arg(long = "match", value_name = "REGEX")]
    matching: Option<Regex>,
    /// Show the state after this crawl sequence
    ///
    /// Without it, all URLs are listed in their latest state.
    #[arg(long, value_name = "N")]
    sequence: Option<u32>,
    /// Only URLs that the last sequence lost
    ///
    /// The URL cache refused them by mistake. With --sequence, the list has those that this sequence lost. It has all
    /// of them, whether they were found again or not.
    #[arg(long)]
    lost: bool,
    /// Only URLs that the last sequence recovered
    ///
    /// An earlier sequence had lost them. With --sequence, the list has those that this sequence recovered.
    #[arg(long, conflicts_with = "lost")]
    recovered: bool,
    /// Columns to show, separated by commas
    ///
    /// [default: all; in a table on a terminal: status,outcome,title,url]
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = PossibleValuesParser::new(COLUMNS.map(|column| column.name)))]
    columns: Vec<String>,
    /// Sort by this column; -COLUMN reverses
    ///
    /// Write --sort=-bytes to have the greatest first. [default: the order in which the URLs were found]
    #[arg(long, value_name = "COLUMN", value_parser = order(), allow_hyphen_values = true)]
    sort: Option<PageOrder>,
    /// Show at most N lines
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Print only the number of URLs
    #[arg(long, conflicts_with_all = ["columns", "sort", "limit"])]
    count: bool,
}

/// Content types that are named at most.
const NAMED: usize = 5;

/// What a table has on a terminal.
const SHORT: [&str; 4] = ["status", "outcome", "title", "url"];

/// What lines can be ordered by.
const ORDERS: [&str; 24] = [
    "url",
    "-url",
    "status",
    "-status",
    "outcome",
    "-outcome",
    "change",
    "-change",
    "content_type",
    "-content_type",
    "bytes",
    "-bytes",
    "title",
    "-title",
    "depth",
    "-depth",
    "sequence",
    "-sequence",
    "fetched_at",
    "-fetched_at",
    "in_links",
    "-in_links",
    "importance",
    "-importance",
];

const COLUMNS: [Column; 29] = [
    Column::url("url"),
    Column::url("key"),
    Column::plain("status"),
    Column::plain("outcome"),
    Column::plain("reason"),
    Column::plain("change"),
    Column::plain("content_type"),
    Column::plain("bytes"),
    Column::plain("digest"),
    Column::plain("title"),
    Column::plain("description"),
    Column::url("canonical"),
    Column::plain("needs_js"),
    Column::plain("language"),
    Column::plain("h1"),
    Column::plain("robots"),
    Column::plain("words"),
    Column::plain("depth"),
    Column::plain("hop"),
    Column::url("via"),
    Column::plain("sequence"),
    Column::plain("fetched_at"),
    Column::url("redirect"),
    Column::plain("truncated"),
    Column::plain("fields"),
    Column::plain("found_by"),
    Column::plain("in_links"),
    Column::plain("importance"),
    Column::url("similar_to"),
];

pub(super) fn run(args: &PagesArgs) -> Result<ExitCode, CommandFailure> {
    let records = directory::records(&args.dir)?;
    args.check(&records)?;
    if args.count {
        return count(args, &records);
    }
    let mut listing = Listing::begin(&COLUMNS, &args.columns(), &args.format);
    let (most, mut shown) = (args.limit.unwrap_or(u64::MAX), 0);
    if most > 0 {
        records.pages(&args.filter(), |line| {
            shown += 1;
            listing.add(&row(&line)) && shown < most
        })?;
    }
    if shown == 0 && most > 0 {
        outcome::tell(NONE);
    }
    listing.end()
}

/// What is said where nothing passes the filters.
const NONE: &str = "no URL matches";

fn count(args: &PagesArgs, records: &impl ReadSide) -> Result<ExitCode, CommandFailure> {
    let mut number = 0_u64;
    records.pages(&args.filter(), |_| {
        number += 1;
        true
    })?;
    if number == 0 {
        outcome::tell(NONE);
    }
    outcome::print(&format!("{number}\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// Reads a column, and whether the order is reversed.
fn order() -> impl TypedValueParser<Value = PageOrder> {
    PossibleValuesParser::new(ORDERS).map(|text: String| {
        let name = text.trim_start_matches('-');
        let by = PageColumn::ALL.into_iter().find(|column| column.as_str() == name).unwrap_or(PageColumn::Url);
        PageOrder { by, reversed: text.starts_with('-') }
    })
}

impl PagesArgs {
    fn columns(&self) -> Vec<&str> {
        if !self.columns.is_empty() {
            return self.columns.iter().map(String::as_str).collect();
        }
        self.format.shown(&COLUMNS, &SHORT)
    }

    fn filter(&self) -> PageFilter {
        PageFilter {
            status: self.status.clone(),
            outcome: self.outcome,
            change: self.change,
            content_type: self.content_type.clone(),
            max_depth: self.max_depth,
            matching: self.matching.clone(),
            sequence: self.sequence,
            lost: self.lost,
            recovered: self.recovered,
            order: self.sort,
        }
    }

    /// What the crawl does not have is a slip; that nothing of what it has passes all filters is an answer.
    fn check(&self, records: &impl ReadSide) -> Result<(), CommandFailure> {
        let last = records.last_sequence()?.ok_or_else(|| StoreError::Empty { path: self.dir.clone() })?;
        if let Some(asked) = self.sequence.filter(|asked| *asked > last) {
            let there = listing::sequences(last);
            return Err(CommandFailure::Usage(format!("--sequence {asked}: {} has {there}", self.dir.display())));
        }
        if let Some(old) = self.sequence.filter(|_| !self.lost && !self.recovered)
            && records.is_pruned(old)?
        {
            outcome::tell(&format!("sequence {old} is kept only in part (store.keep_sequences and store.keep)"));
        }
        let Some(prefix) = &self.content_type else { return Ok(()) };
        let types = records.content_types(prefix, NAMED)?;
        if types.is_match {
            return Ok(());
        }
        let there = if types.others.is_empty() { "none".to_owned() } else { types.others.join(", ") };
        Err(CommandFailure::Usage(format!("--type {prefix:?}: no page has this type; the types are: {there}")))
    }
}

fn row(line: &PageLine) -> [Value<'_>; COLUMNS.len()] {
    let [url, key, via, redirect] =
        [&line.url, &line.key, &line.via, &line.redirect].map(|url| url.as_deref().map(without_login).into());
    let canonical = line.head.canonical.as_deref().map(without_login).into();
    [
        url,
        key,
        line.status.into(),
        line.outcome.as_str().into(),
        line.reason.as_deref().into(),
        line.change.map(PageChange::as_str).into(),
        line.content_type.as_deref().into(),
        line.bytes.into(),
        line.digest.as_ref().map(listing::digest).into(),
        line.head.title.as_deref().into(),
        line.head.description.as_deref().into(),
        canonical,
        if line.head.needs_js { Value::Flag(true) } else { Value::None },
        line.head.language.as_deref().into(),
        line.head.heading.as_deref().into(),
        line.head.robots.as_str().into(),
        line.head.words.map(u64::from).into(),
        line.depth.into(),
        line.hop.map(Hop::as_str).into(),
        via,
        line.sequence.into(),
        line.fetched_at.map(listing::time).into(),
        redirect,
        line.truncated.as_deref().into(),
        line.fields.as_deref().map_or(Value::None, |fields| Value::Json(fields.into())),
        line.found_by.as_deref().into(),
        line.in_links.into(),
        line.importance.map_or(Value::None, |importance| Value::Json(importance.to_string().into())),
        line.similar_to.as_deref().map(without_login).into(),
    ]
}
