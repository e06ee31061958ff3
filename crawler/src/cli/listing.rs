//! Lines of records on stdout, in the form that is asked for.
//!
//! Owns: the three forms, and what is escaped in each. Does not know: what the columns mean.

use std::{
    io::{self, BufWriter, StdoutLock, Write},
    process::ExitCode,
};

use clap::ValueEnum;
use data_encoding::HEXLOWER;
use jiff::Timestamp;
use serde_json::Value;

use super::Failure;
use crate::observe::escape;

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
    written: io::Result<()>,
}

impl<'c> Listing<'c> {
    /// Begins with the names of the columns, where the form has a line for them.
    pub(super) fn begin(columns: &'c [&'c str], format: Format) -> Self {
        let mut out = BufWriter::new(io::stdout().lock());
        let written = match format {
            Format::Jsonl => Ok(()),
            Format::Csv => writeln!(out, "{}", columns.join(",")),
            Format::Table => writeln!(out, "{}", columns.join("\t")),
        };
        Self { out, columns, format, written }
    }

    /// Writes an object with these columns; whether more can be written.
    pub(super) fn add(&mut self, object: &Value) -> bool {
        let cells = self.columns.iter().map(|column| match &object[*column] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
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
        match self.written.and_then(|()| self.out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::System { what: "cannot write to stdout", source: error })
            }
            _ => Ok(ExitCode::SUCCESS),
        }
    }
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
