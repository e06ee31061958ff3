//! Rows of records on stdout, in the format that the user chose.
//!
//! Owns: the flag, which columns are shown where, and that a reader who closes the pipe is no failure; how times, digests and URLs are
//! shown.
//!
//! Does not know: what a format looks like (`report` does), and what the columns mean.

use std::{
    io::{self, BufWriter, IsTerminal},
    ops::RangeInclusive,
    process::ExitCode,
};

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use data_encoding::HEXLOWER;

use super::CommandFailure;
use crate::{
    observe::{figures, terminal},
    report::{self, Column, Format, RowWriter, Value},
    time::Moment,
    url::WebUrl,
};

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

/// Statuses, from the first to the last.
pub(super) type StatusRange = RangeInclusive<u16>;

/// Reads a status, or all that begin with a digit.
pub(super) fn status(text: &str) -> Result<StatusRange, String> {
    let hundred = text.strip_suffix("xx").and_then(|digit| digit.parse::<u16>().ok()).filter(|digit| *digit < 10);
    let one = text.parse::<u16>().ok().map(|code| code..=code);
    let range = hundred.map(|digit| digit * 100..=digit * 100 + 99).or(one);
    range
        .filter(|range| *range.start() >= 100 && *range.end() <= 999)
        .ok_or_else(|| "give a status from 100 to 999, such as 404, or 4xx".to_owned())
}

/// The form of the rows of a command.
#[derive(Debug, Args)]
pub(super) struct FormatArg {
    /// Format of the list
    ///
    /// Each format escapes characters that could steer a terminal or disguise text. In csv, a cell that a spreadsheet
    /// would read as a formula begins with '.
    #[arg(long, value_parser = one_of(Format::ALL, Format::as_str), value_name = "table|jsonl|csv", hide_possible_values = true, default_value = "table")]
    pub(super) format: Format,
}

impl FormatArg {
    /// The columns that are shown where none are asked for: on a terminal a table has the short ones alone.
    pub(super) fn shown<'c>(&self, all: &'c [Column], short: &'c [&'c str]) -> Vec<&'c str> {
        if self.is_looked_at() { short.to_vec() } else { all.iter().map(|column| column.name).collect() }
    }

    /// Whether a person looks at the rows.
    pub(super) fn is_looked_at(&self) -> bool {
        self.format == Format::Table && io::stdout().is_terminal()
    }
}

/// Rows that are being written to stdout.
pub(super) struct Listing {
    writer: Box<dyn RowWriter>,
    /// The places of the columns that are shown, among all.
    places: Vec<usize>,
    written: io::Result<()>,
}

impl Listing {
    /// Begins with those of the columns that are shown, in their order.
    pub(super) fn begin(all: &[Column], shown: &[&str], format: &FormatArg) -> Self {
        let out = BufWriter::new(io::stdout().lock());
        let mut writer =
            report::writer(format.format, out, format.is_looked_at().then(|| terminal::width(&io::stdout())));
        let place = |name: &&str| all.iter().position(|column| column.name == *name);
        let places: Vec<_> = shown.iter().filter_map(place).collect();
        let columns: Vec<_> = places.iter().map(|place| all[*place]).collect();
        let written = writer.begin(&columns);
        Self { writer, places, written }
    }

    /// Writes a row with a value for each column; whether more can be written.
    pub(super) fn add(&mut self, row: &[Value<'_>]) -> bool {
        if self.written.is_ok() {
            let shown: Vec<_> = self.places.iter().map(|place| row[*place].clone()).collect();
            self.written = self.writer.row(&shown);
        }
        self.written.is_ok()
    }

    /// Ends. That nobody reads on is no failure.
    pub(super) fn end(mut self) -> Result<ExitCode, CommandFailure> {
        match self.written.and_then(|()| self.writer.end()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(CommandFailure::System { what: "cannot write to stdout", source: error })
            }
            _ => Ok(ExitCode::SUCCESS),
        }
    }
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
    figures::rfc3339(Moment::from_millis(millis))
}

/// The same without parts of a second.
pub(super) fn seconds(millis: u64) -> String {
    figures::rfc3339(Moment::from_millis(millis).whole_second())
}

/// Which sequences there are.
pub(super) fn sequences(last: u32) -> String {
    if last == 0 { "only sequence 0".to_owned() } else { format!("the sequences 0 to {last}") }
}
