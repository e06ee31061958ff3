//! Rows: an estimate beside the exact answer and what theory says of its error.

use anyhow::Result;
use serde::Serialize;

use super::Common;
use crate::print::{self, Word};

/// Standard errors on either side of an estimate within which the truth lies in 95 of 100 cases.
const NORMAL_95: f64 = 1.96;

/// One estimate.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    /// Of what.
    group: String,
    /// By which sketch.
    sketch: &'static str,
    /// Elements of the stream that were taken in.
    elements: u64,
    estimate: f64,
    /// Where the truth lies in 95 of 100 cases.
    low: f64,
    high: f64,
    exact: Option<f64>,
    /// Estimate divided by exact, minus 1.
    relative_error: Option<f64>,
    /// What theory says of it.
    standard_error: f64,
    /// The relative error in standard errors.
    deviation_se: Option<f64>,
}

/// An answer as a document.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// Lines read.
    lines: u64,
    /// Groups of rows.
    groups: usize,
    /// Root of the mean square of the deviations, by sketch.
    deviations: Vec<Deviation>,
    rows: Vec<Row>,
}

/// How far the estimates of a sketch are from the exact answers, all together.
#[derive(Debug, Serialize)]
struct Deviation {
    sketch: &'static str,
    rows: usize,
    root_mean_square_se: f64,
}

/// Words of every report.
pub(super) const WORDS: [Word; 4] = [
    ("estimate", "what the sketch says; the interval to its right holds the truth in 95 of 100 cases, by theory"),
    ("error", "estimate divided by the exact answer, minus 1"),
    (
        "std error",
        "the error that theory gives: two of three estimates are less far from the truth, if theory is right",
    ),
    (
        "deviation",
        "the error in standard errors; if theory is right, 3 of 1000 estimates are above 3 or below -3, and the root of the mean square is about 1, unless the groups have many values in common",
    ),
];

impl Row {
    /// The standard error is relative.
    pub(super) fn new(
        group: String,
        sketch: &'static str,
        elements: u64,
        (estimate, standard_error): (f64, f64),
        exact: Option<f64>,
    ) -> Self {
        let relative_error = exact.filter(|exact| *exact > 0.0).map(|exact| estimate / exact - 1.0);
        let margin = NORMAL_95 * standard_error;
        Self {
            group,
            sketch,
            elements,
            estimate,
            low: estimate * (1.0 - margin).max(0.0),
            high: estimate * (1.0 + margin),
            exact,
            relative_error,
            standard_error,
            deviation_se: relative_error.filter(|_| standard_error > 0.0).map(|error| error / standard_error),
        }
    }

    /// With another interval: of a share, which knows its own.
    pub(super) fn within(self, low: f64, high: f64) -> Self {
        Self { low, high, ..self }
    }

    fn cells(&self) -> Vec<String> {
        let percent = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{:+.2} %", value * 100.0));
        vec![
            printable(&self.group),
            self.sketch.to_owned(),
            self.elements.to_string(),
            number(self.estimate),
            format!("{} to {}", number(self.low), number(self.high)),
            self.exact.map_or_else(String::new, number),
            percent(self.relative_error),
            format!("{:.2} %", self.standard_error * 100.0),
            self.deviation_se.map_or_else(String::new, |deviation| format!("{deviation:+.1}")),
        ]
    }
}

impl Report {
    /// Of rows that stand in the order in which they are to be shown, so many of each group.
    pub(super) fn new(lines: u64, groups: usize, rows: Vec<Row>) -> Self {
        let mut sketches: Vec<&'static str> = Vec::new();
        for row in &rows {
            if !sketches.contains(&row.sketch) {
                sketches.push(row.sketch);
            }
        }
        let deviations = sketches.into_iter().filter_map(|sketch| {
            let of = rows.iter().filter(|row| row.sketch == sketch).filter_map(|row| row.deviation_se);
            let squares: Vec<f64> = of.map(|deviation| deviation * deviation).collect();
            let root_mean_square_se = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
            (squares.len() > 1).then_some(Deviation { sketch, rows: squares.len(), root_mean_square_se })
        });
        Self { lines, groups, deviations: deviations.collect(), rows }
    }

    /// Prints it under a title, `most` rows of it as text; writes all of them as CSV if that is asked for.
    pub(super) fn answer(&self, common: &Common, title: &str, most: usize, words: &[Word]) -> Result<()> {
        if let Some(path) = &common.csv {
            print::csv(path, &self.rows)?;
        }
        let heading =
            ["of", "sketch", "elements", "estimate", "95 % interval", "exact", "error", "std error", "deviation"];
        let cells: Vec<_> = self.rows.iter().take(most).map(Row::cells).collect();
        let mut text = format!("{title}\n\n{}", print::table(&heading, &cells));
        if self.rows.len() > most {
            text += &format!("... and {} more rows (--top shows more, --csv writes all)\n", self.rows.len() - most);
        }
        for Deviation { sketch, rows, root_mean_square_se } in &self.deviations {
            text += &format!("\n{sketch}: root mean square of {rows} deviations {root_mean_square_se:.2}");
        }
        print::answer(common.form, self, &text, &[words, &WORDS].concat())
    }
}

/// So many of them.
pub(super) fn count(number: usize, of: &str) -> String {
    format!("{number} {of}{}", if number == 1 { "" } else { "s" })
}

/// A text of a file for a terminal: what would steer it or turn the order of its letters is escaped, and the end of a long
/// one is left out.
pub(super) fn printable(text: &str) -> String {
    const MOST: usize = 100;
    let turns = |c: char| matches!(c, '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut shown = String::new();
    for (place, c) in text.chars().enumerate() {
        match c {
            _ if place == MOST => return shown + "...",
            _ if c.is_control() || turns(c) => shown.extend(c.escape_unicode()),
            _ => shown.push(c),
        }
    }
    shown
}

/// Whole numbers in full, others short.
pub(super) fn number(value: f64) -> String {
    if value >= 100.0 || value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}
