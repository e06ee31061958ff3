//! `webloom export`.

use std::{num::NonZeroU32, path::PathBuf, process::ExitCode, str::FromStr};

use clap::Args;
use jiff::Timestamp;
use regex::Regex;

use super::{
    CommandFailure,
    directory::{self, ChangedSince},
    listing::one_of,
    outcome,
};
use crate::{
    export::{self, Export, ExportError, ExportFormat},
    observe::figures::counted,
    store::{ReadSide, StoreError},
};

/// Arguments of `export`.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Crawl directory
    dir: PathBuf,
    /// Form of the export
    ///
    /// `markdown` and `text` write a folder with a file for each page; `jsonl` and `csv` write one file with a line for each page; `warc`
    /// a folder with WARC files, `wacz` one file that players of archives open; `mirror` a folder that browsers open.
    #[arg(long, value_parser = one_of(ExportFormat::ALL, ExportFormat::as_str), default_value = "markdown")]
    format: ExportFormat,
    /// Folder or file to be written
    #[arg(short, long, value_name = "OUT")]
    out: PathBuf,
    /// Only what has changed since then
    ///
    /// `last` for those of the last crawl sequence, a number for those of the sequences after that one, or a time such as
    /// 2026-03-01T00:00:00Z.
    #[arg(long, value_name = "last|N|TIME")]
    since: Option<ExportSince>,
    /// Only URLs that match this regular expression
    #[arg(long = "match", value_name = "REGEX")]
    matching: Option<Regex>,
    /// Write parts of about N tokens too (chunks.jsonl)
    #[arg(long, value_name = "N")]
    chunks: Option<NonZeroU32>,
}

/// Since when, as it was given.
#[derive(Debug, Clone, Copy)]
enum ExportSince {
    Last,
    After(u32),
    Time(Timestamp),
}

impl FromStr for ExportSince {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "last" {
            return Ok(Self::Last);
        }
        let number = text.parse().ok().map(Self::After);
        let time = || text.parse().ok().map(Self::Time);
        number
            .or_else(time)
            .ok_or_else(|| "give last, the number of a sequence, or a time such as 2026-03-01T00:00:00Z".to_owned())
    }
}

pub(super) fn run(args: &ExportArgs) -> Result<ExitCode, CommandFailure> {
    let is_folder = matches!(args.format, ExportFormat::Markdown | ExportFormat::Text);
    if args.chunks.is_some() && !is_folder {
        return Err(CommandFailure::Usage("--chunks goes with --format markdown and text".to_owned()));
    }
    let records = directory::records(&args.dir)?;
    let last = records.last_sequence()?.ok_or_else(|| StoreError::Empty { path: args.dir.clone() })?;
    let since = match args.since {
        None => ChangedSince::Ever,
        Some(ExportSince::Last) => last.checked_sub(1).map_or(ChangedSince::Ever, ChangedSince::After),
        Some(ExportSince::After(sequence)) => ChangedSince::After(sequence),
        Some(ExportSince::Time(time)) => ChangedSince::Moment(time.into()),
    };
    let wanted = Export {
        dir: &args.dir,
        records: &records,
        out: args.out.clone(),
        format: args.format,
        since,
        matching: args.matching.clone(),
        chunks: args.chunks.map(|tokens| tokens.get() as usize),
    };
    let exported = export::export(&wanted).map_err(|error| match error {
        ExportError::Store(error) => error.into(),
        ExportError::Read(error) => error.into(),
        ExportError::Write { path, source } => {
            CommandFailure::Usage(format!("cannot write {}: {source}; give another place with -o", path.display()))
        }
        error @ (ExportError::Foreign { .. } | ExportError::Compression) => CommandFailure::Usage(error.to_string()),
    })?;
    let [one, more] = if args.format.has_all_answers() { ["answer", "answers"] } else { ["page", "pages"] };
    let pages = counted(exported.pages, one, more);
    let deleted = if exported.deleted > 0 { format!(", {} deleted", exported.deleted) } else { String::new() };
    let first = exported.first.map(|first| format!("; begin with {}", first.display())).unwrap_or_default();
    outcome::print(&format!("wrote {pages}{deleted} to {}{first}\n", args.out.display()))?;
    if exported.without_body > 0 {
        let what = "without an archived body left out; `--archive warc` keeps bodies";
        outcome::tell(&format!("{} {what}", counted(exported.without_body, "page", "pages")));
    }
    let has_nothing = args.format.has_all_answers() && args.since.is_none() && args.matching.is_none();
    if exported.pages == 0 && has_nothing {
        outcome::tell("there is no archive: `--archive warc` keeps what servers answer");
    }
    let is_empty = exported.pages == 0 && (exported.without_body > 0 || has_nothing);
    Ok(if is_empty { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
