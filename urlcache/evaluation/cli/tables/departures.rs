//! [`departure`]: where the thesis says something else than theory, and why.
//!
//! Owns the list of cells that chance and rounding do not explain, each with its cause, and what is wrong in the text around
//! the tables. A test holds the list to the values: no cell beyond three standard errors is missing, none is named in vain.
//! It knows nothing of what we measure.

use serde::Serialize;

use super::{printed::Entry, score::Score};

/// URLs that the thesis asked for, for each cell: 100 runs of a million.
pub(crate) const TRIALS: f64 = 1e8;

/// Runs of the thesis.
pub(crate) const RUNS: f64 = 100.0;

/// URLs of one run of the thesis.
pub(crate) const KEYS: usize = 1_000_000;

/// Relative differences up to this are no departure, unless they are beyond three standard errors.
const SMALL: f64 = 0.02;

/// Standard errors up to which chance explains a difference.
const CHANCE: f64 = 3.0;

/// Why a printed value is not that of theory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Cause {
    /// A wrong digit.
    Misprint,
    /// A hit in a cell where none was to be expected.
    LuckyHit,
    /// More than three standard errors of 100 independent runs, with nothing else wrong.
    Scatter,
    /// Half of the last digit covers it.
    Rounded,
    /// Nothing was hit.
    NoHit,
    /// Few hits, within three standard errors.
    Chance,
}

impl Cause {
    /// As it is shown.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Misprint => "misprint",
            Self::LuckyHit => "lucky-hit",
            Self::Scatter => "scatter",
            Self::Rounded => "rounded",
            Self::NoHit => "no-hit",
            Self::Chance => "chance",
        }
    }
}

/// A difference, and what it comes from.
#[derive(Debug, Clone)]
pub(crate) struct Departure {
    pub(crate) cause: Cause,
    pub(crate) reason: String,
}

/// Cells with a cause of their own: table, row, column.
const NAMED: &[(&str, &str, &str, Cause, &str)] = &[
    (
        "5.10",
        "8 HF",
        "2.5 M",
        Cause::Misprint,
        "2479 is meant: m / 8 bytes and 38 kB, as in every other cell of the table; 4 HF with 5.0 M has the same m",
    ),
    ("5.18", "9 HF", "1.7 M", Cause::Misprint, "probably 0.00005 is meant: 15 to 25 hits are printed"),
    ("5.16", "7 HF", "4.0 M", Cause::LuckyHit, "one hit among 10^8 URLs"),
];

/// Cells that are off by more than their 100 runs explain, if these were independent: table, rows and columns.
const SCATTERED: &[(&str, &[(&str, &str)])] = &[
    ("5.1", &[("MD5", "1 HF"), ("SHA-1", "1 HF")]),
    ("5.2", &[("MurmurHash (seeded)", "2 HF")]),
    ("5.4", &[("MurmurHash", "2 HF"), ("MD5", "1 HF"), ("SHA-1", "1 HF")]),
    ("5.5", &[("Jenkins", "1 HF"), ("MurmurHash", "1 HF"), ("SHA-1", "1 HF")]),
    (
        "5.6",
        &[
            ("Jenkins (seeded)", "2 HF"),
            ("MurmurHash (seeded)", "2 HF"),
            ("MD5 (seeded)", "2 HF"),
            ("SHA-1 (seeded)", "2 HF"),
        ],
    ),
    ("5.7", &[("Jenkins (seeded)", "3 HF")]),
    ("5.8", &[("Jenkins", "2 HF"), ("Jenkins", "3 HF"), ("MurmurHash", "2 HF"), ("MD5", "2 HF"), ("SHA-1", "2 HF")]),
    ("5.9", &[("3 HF", "2.0 M"), ("3 HF", "4.0 M"), ("4 HF", "5.0 M")]),
    ("5.16", &[("3 HF", "1.7 M")]),
    ("5.17", &[("3 HF", "1 filter, 2.0 M")]),
    ("figure A.2", &[("3 HF", "1 filter, 2.0 M")]),
];

/// What else is to be said about a table.
const NOTES: &[(&str, &str)] = &[
    ("5.6", "The thesis prints 15.497 here and 15.496 in table 5.8 for the same runs (MurmurHash)."),
    ("5.8", "The thesis prints 15.496 here and 15.497 in table 5.6 for the same runs (MurmurHash)."),
    (
        "5.10",
        "The thesis measured 37 to 42 kB more than m / 8 bytes in every cell of tables 5.10 to 5.12: the Java objects around the bits.",
    ),
    (
        "5.15",
        "The time of the list is extrapolated from single queries here as in the thesis: from 20 here, from 100 there.",
    ),
    (
        "5.16",
        "The text of the thesis says 0.0000001 % where the table says 0.000001 % (7 HF, 4.0 M): less than one hit in 10^8 is no count. It says 0.3 % where the table says 0.00003 % (8 HF, 2.0 M).",
    ),
    (
        "5.18",
        "The text of the thesis sees a slight increase from 0.7730 % (5.9, 6 HF) to 0.7736 % (here, 3 HF, 1.7 M). Both are the same number of hash functions over the same total of bits, so both have the rate 0.7733 %.",
    ),
    (
        "A.1",
        "The thesis' queries took as long as its adds: it computed all hashes before it looked at the first bit. Ours stop at the first bit that is not set. Each of our hashes has 64 bits, from two of Jenkins' side by side.",
    ),
    (
        "A.4",
        "The text of the thesis gives 3213 ms for adding with 3 HF; that is the time of a query (table A.1, 2.0 M). Table A.4 says 3130 ms.",
    ),
];

/// The notes of a table.
pub(crate) fn notes(id: &str) -> Vec<&'static str> {
    NOTES.iter().filter(|(table, _)| *table == id).map(|(_, note)| *note).collect()
}

/// How far a printed rate is from theory in standard errors, beyond what rounding explains; and the departure, if it is
/// one. `score` is that of the thesis: its rate and error belong to [`TRIALS`].
pub(crate) fn departure(id: &str, entry: Entry<'_>, score: Score) -> (f64, Option<Departure>) {
    let expected = score.expected();
    let half = if score.hits == 0.0 { 0.0 } else { entry.half_digit() / 100.0 * TRIALS };
    let rounded = (expected - score.hits).abs() <= half;
    let nearest = if expected < score.hits { (score.hits - half).ceil() } else { (score.hits + half).floor() };
    let beyond = if rounded { 0.0 } else { Score { hits: nearest, ..score }.deviation() };
    let relative = score.hits / expected - 1.0;
    let percent = relative * 100.0;
    let found = |cause, reason: String| (beyond, Some(Departure { cause, reason }));
    if let Some((.., cause, why)) = named(id, entry) {
        return found(*cause, format!("{why}, {} to be expected, {beyond:+.1} standard errors", hits(expected)));
    }
    if scattered(id, entry) {
        let why = "more than 100 independent runs scatter";
        return found(Cause::Scatter, format!("{percent:+.2} %, {beyond:+.1} standard errors: {why}"));
    }
    match () {
        () if relative.abs() <= SMALL || beyond.abs() > CHANCE => (beyond, None),
        () if score.hits == 0.0 => found(Cause::NoHit, format!("no hit in 10^8, {} to be expected", hits(expected))),
        () if rounded => found(Cause::Rounded, format!("{percent:+.0} %, within half of the last digit")),
        () => found(Cause::Chance, format!("{percent:+.0} % of few hits, {beyond:+.1} standard errors")),
    }
}

/// The same for a value that is no rate: only named ones.
pub(crate) fn misprint(id: &str, entry: Entry<'_>) -> Option<Departure> {
    named(id, entry).map(|(.., cause, why)| Departure { cause: *cause, reason: (*why).to_owned() })
}

fn named(
    id: &str,
    entry: Entry<'_>,
) -> Option<&'static (&'static str, &'static str, &'static str, Cause, &'static str)> {
    NAMED.iter().find(|(table, row, column, ..)| (*table, *row, *column) == (id, entry.row, entry.column))
}

fn scattered(id: &str, entry: Entry<'_>) -> bool {
    SCATTERED.iter().any(|(table, cells)| *table == id && cells.contains(&(entry.row, entry.column)))
}

fn hits(expected: f64) -> String {
    if expected < 10.0 { format!("{expected:.2}") } else { format!("{expected:.0}") }
}
