//! Lines of records on stdout, in the form that is asked for.
//!
//! Owns: the three forms, what is escaped in each, and that a table is aligned on a terminal alone. Does not know: what the columns
//! mean.

use std::{
    io::{self, BufWriter, IsTerminal, StdoutLock, Write},
    process::ExitCode,
};

use clap::{
    ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use data_encoding::HEXLOWER;
use jiff::Timestamp;
use serde_json::Value;

use super::Failure;
use crate::{
    observe::{aligned::Aligned, escape, terminal},
    url::WebUrl,
};

/// Columns that hold URLs.
const URLS: [&str; 6] = ["url", "key", "via", "redirect", "from", "to"];

/// Reads one of these by its word.
pub(super) fn one_of<T, const COUNT: usize>(
    all: [T; COUNT],
    word: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let words = PossibleValuesParser::new(all.map(word));
    words.map(move |given| all.into_iter().find(|one| word(*one) == given).expect("one of the possible values"))
}

/// The form of the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Table,
    Jsonl,
    Csv,
}

/// Lines that are being written.
pub(super) struct Listing<'c> {
    out: BufWriter<StdoutLock<'static>>,
    columns: &'c [&'c str],
    format: Format,
    /// Rows of a table that a person looks at.
    aligned: Option<Aligned>,
    written: io::Result<()>,
}

impl<'c> Listing<'c> {
    /// Begins with the names of the columns, where the form has a line for them.
    pub(super) fn begin(columns: &'c [&'c str], format: Format) -> Self {
        let mut out = BufWriter::new(io::stdout().lock());
        let aligned = is_looked_at(format).then(|| Aligned::new(terminal::width(&io::stdout()), columns, &URLS));
        let written = match format {
            Format::Jsonl => Ok(()),
            Format::Csv => writeln!(out, "{}", columns.join(",")),
            Format::Table if aligned.is_some() => Ok(()),
            Format::Table => writeln!(out, "{}", columns.join("\t")),
        };
        Self { out, columns, format, aligned, written }
    }

    /// Writes an object with these columns; whether more can be written.
    pub(super) fn add(&mut self, object: &Value) -> bool {
        let cells = self.columns.iter().map(|column| match &object[*column] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        if let Some(aligned) = &mut self.aligned {
            let lines = aligned.add(cells.map(|cell| escape::text(&cell).into_owned()).collect());
            return lines.iter().all(|line| self.line(line));
        }
        let line = match self.format {
            Format::Jsonl => escape::json(object),
            Format::Csv => cells.map(|cell| escape::csv(&cell)).collect::<Vec<_>>().join(","),
            Format::Table => cells.map(|cell| escape::text(&cell).into_owned()).collect::<Vec<_>>().join("\t"),
        };
        self.line(&line)
    }

    /// Writes a line as it is; whether more can be written.
    pub(super) fn line(&mut self, line: &str) -> bool {
        if self.written.is_ok() {
            self.written = writeln!(self.out, "{line}");
        }
        self.written.is_ok()
    }

    /// Ends. That nobody reads on is no failure.
    pub(super) fn end(mut self) -> Result<ExitCode, Failure> {
        let left = self.aligned.take().map(|mut aligned| aligned.end()).unwrap_or_default();
        for line in left {
            self.line(&line);
        }
        match self.written.and_then(|()| self.out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::System { what: "cannot write to stdout", source: error })
            }
            _ => Ok(ExitCode::SUCCESS),
        }
    }
}

/// Whether lines of this form are for a person at a terminal.
pub(super) fn is_looked_at(format: Format) -> bool {
    format == Format::Table && io::stdout().is_terminal()
}

/// Of an object the members with these names, in this order.
pub(super) fn members(object: &Value, names: &[&str]) -> Value {
    names.iter().map(|name| ((*name).to_owned(), object[*name].clone())).collect::<serde_json::Map<_, _>>().into()
}

/// A URL without user name and password: earlier versions kept those of a start in its row.
pub(super) fn without_login(url: &str) -> String {
    let parsed = url.contains('@').then(|| WebUrl::parse(url).ok()).flatten();
    parsed.map_or_else(|| url.to_owned(), |url| url.without_credentials().as_str().to_owned())
}

/// A digest as it is shown.
pub(super) fn digest(digest: &[u8; 32]) -> String {
    format!("sha256:{}", HEXLOWER.encode(digest))
}

/// A time in milliseconds since 1970 as RFC 3339 writes it; nothing for one that no calendar has.
pub(super) fn time(millis: u64) -> String {
    let at = i64::try_from(millis).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    at.map_or_else(String::new, |at| at.to_string())
}

/// The same without parts of a second.
pub(super) fn seconds(millis: u64) -> String {
    time(millis - millis % 1000)
}

/// Which sequences there are.
pub(super) fn sequences(last: u32) -> String {
    if last == 0 { "only sequence 0".to_owned() } else { format!("the sequences 0 to {last}") }
}
