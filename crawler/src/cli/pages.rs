//! `webloom pages`.

use std::{
    io::{self, BufWriter, Write},
    path::PathBuf,
    process::ExitCode,
};

use clap::{Args, ValueEnum};
use data_encoding::HEXLOWER;
use jiff::Timestamp;
use regex::Regex;
use serde_json::{Value, json};

use super::{Failure, directory, outcome};
use crate::{
    observe::escape,
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

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Table,
    Jsonl,
    Csv,
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
    let mut out = BufWriter::new(io::stdout().lock());
    let mut written = match args.format {
        Format::Jsonl => Ok(()),
        Format::Csv => writeln!(out, "{}", COLUMNS.join(",")),
        Format::Table => writeln!(out, "{}", COLUMNS.join("\t")),
    };
    let mut none = true;
    records.pages(&args.filter(), |line| {
        none = false;
        written = written
            .as_mut()
            .map_or_else(|error| Err(io::Error::new(error.kind(), "")), |()| write_line(&mut out, &line, args.format));
        written.is_ok()
    })?;
    if none {
        outcome::tell("no URL matches");
    }
    match written.and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::System { what: "cannot write to stdout", source: error })
        }
        _ => Ok(ExitCode::SUCCESS),
    }
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
        let Some(prefix) = &self.content_type else { return Ok(()) };
        let types = records.content_types(prefix, NAMED)?;
        if types.is_match {
            return Ok(());
        }
        let there = if types.others.is_empty() { "none has any".to_owned() } else { types.others.join(", ") };
        Err(Failure::Usage(format!("--type {prefix:?}: no page is of such a type; there are: {there}")))
    }
}

fn write_line(out: &mut impl Write, line: &PageLine, format: Format) -> io::Result<()> {
    let object = object(line);
    let cells = COLUMNS.iter().map(|column| match &object[*column] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    match format {
        Format::Jsonl => writeln!(out, "{}", escape::json(&object)),
        Format::Csv => writeln!(out, "{}", cells.map(|cell| escape::csv(&cell)).collect::<Vec<_>>().join(",")),
        Format::Table => {
            writeln!(out, "{}", cells.map(|cell| escape::text(&cell).into_owned()).collect::<Vec<_>>().join("\t"))
        }
    }
}

/// A URL without user name and password: earlier versions kept those of a start in its row.
fn without_login(url: Option<&str>) -> Option<String> {
    let text = url?;
    let parsed = text.contains('@').then(|| WebUrl::parse(text).ok()).flatten();
    Some(parsed.map_or_else(|| text.to_owned(), |url| url.without_credentials().as_str().to_owned()))
}

fn object(line: &PageLine) -> Value {
    let digest = line.digest.map(|digest| format!("sha256:{}", HEXLOWER.encode(&digest)));
    let fetched_at = line.fetched_at.and_then(|millis| i64::try_from(millis).ok());
    let fetched_at = fetched_at.and_then(|millis| Timestamp::from_millisecond(millis).ok()).map(|at| at.to_string());
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
