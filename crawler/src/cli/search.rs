//! `webloom search`.

use std::{
    io::{self, BufWriter, IsTerminal, Write},
    path::PathBuf,
    process::ExitCode,
};

use super::{CommandFailure, directory, listing::without_login, outcome};
use crate::{
    observe::{escape, found},
    search::Query,
    store::{ReadSide, SearchResults, StoreError},
    time::Moment,
};
use clap::{Args, value_parser};
use jiff::Timestamp;

/// Arguments of `search`.
#[derive(Debug, Args)]
pub(super) struct SearchArgs {
    /// Crawl directory
    dir: PathBuf,
    /// Words, all of which a page must have
    ///
    /// "a phrase", a word that goes on (conf*), title:word and url:word are known; anything else is a word.
    #[arg(required = true)]
    words: Vec<String>,
    /// Show so many pages
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = value_parser!(u32).range(1..=1000))]
    limit: u32,
    /// Search the pages as they were then
    ///
    /// Such as 2026-11-27T12:00:00Z. It takes as long as it takes to read what has changed since.
    #[arg(long, value_name = "TIME")]
    at: Option<Timestamp>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &SearchArgs) -> Result<ExitCode, CommandFailure> {
    let records = directory::records(&args.dir)?;
    records.last_sequence()?.ok_or_else(|| StoreError::Empty { path: args.dir.clone() })?;
    let words = args.words.join(" ");
    let Some(results) = records.search(&Query::parse(&words), args.limit as usize, args.at.map(Moment::from))? else {
        let hint = "crawl it again with `--archive warc`, or set `search.index` to \"on\"";
        outcome::tell(&format!("{}: its pages are not indexed; {hint}", args.dir.display()));
        return Ok(ExitCode::FAILURE);
    };
    if results.waiting > 0 {
        let what = "visits are not in the index yet: the end of the next run adds them";
        outcome::tell(&format!("{} {what}", results.waiting));
    }
    if results.forgotten > 0 {
        let what = "pages of that time have no text any more: `change.texts` says how many of a page are kept";
        outcome::tell(&format!("{} {what}", results.forgotten));
    }
    if results.hits.is_empty() && !args.json {
        outcome::tell("no page has all of these words");
    }
    let mut out = BufWriter::new(io::stdout().lock());
    let written =
        if args.json { writeln!(out, "{}", found::document(&words, &results)) } else { write_text(&mut out, &results) };
    match written.and_then(|()| out.flush()) {
        // A reader that has gone away (`| head`) is no failure.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CommandFailure::system("cannot write")(error)),
        _ => Ok(ExitCode::SUCCESS),
    }
}

fn write_text(out: &mut impl Write, found: &SearchResults) -> io::Result<()> {
    for hit in &found.hits {
        let url = without_login(&hit.url);
        writeln!(out, "{}\n  {}", escape::text(hit.title.as_deref().unwrap_or(&url)), escape::text(&url))?;
        if !hit.snippet.is_empty() {
            writeln!(out, "  {}", escape::text(&hit.snippet))?;
        }
        writeln!(out)?;
    }
    if io::stdout().is_terminal() {
        writeln!(out, "{} of {} pages", found.hits.len(), found.total)?;
    }
    Ok(())
}
