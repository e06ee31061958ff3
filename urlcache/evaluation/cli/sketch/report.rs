//! Rows: an estimate beside the exact answer and what theory says of its error.

use anyhow::Result;
use serde::{Serialize, Serializer};

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
    /// Where the truth lies in 95 of 100 cases; without an upper limit if theory gives none.
    low: f64,
    high: Option<f64>,
    exact: Option<f64>,
    /// Estimate divided by exact, minus 1.
    relative_error: Option<f64>,
    /// What theory says of it.
    #[serde(serialize_with = "if_known")]
    standard_error: f64,
    bias: f64,
    /// Both are bounds, and the bias may be up or down.
    theory_is_bound: bool,
    /// The relative error less the bias, in standard errors; none if theory gives bounds alone.
    deviation_se: Option<f64>,
}

/// What theory says of an estimate divided by the truth.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected {
    /// Its mean, less 1.
    pub(super) bias: f64,
    /// Its standard deviation.
    pub(super) standard_error: f64,
    /// Both are bounds, and the bias may be up or down.
    pub(super) at_most: bool,
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

/// Infinite is what nobody knows: empty in CSV, null in JSON.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn if_known<S: Serializer>(error: &f64, to: S) -> Result<S::Ok, S::Error> {
    if error.is_finite() { to.serialize_f64(*error) } else { to.serialize_none() }
}

/// How far the estimates of a sketch are from the exact answers, all together.
#[derive(Debug, Serialize)]
struct Deviation {
    sketch: &'static str,
    rows: usize,
    root_mean_square_se: f64,
}

/// Words of every report.
pub(super) const WORDS: [Word; 5] = [
    (
        "estimate",
        "what the sketch says; the interval to its right holds the truth in 95 of 100 cases, by theory: the estimate divided by 1 + bias + 1.96 and by 1 + bias - 1.96 standard errors (by 1 + both and by 1 - both, where the bias is a bound)",
    ),
    ("error", "estimate divided by the exact answer, minus 1"),
    (
        "std error",
        "the standard deviation of estimates divided by the truth, as theory gives it; <= if that is a bound",
    ),
    (
        "bias",
        "the mean of estimates divided by the truth, minus 1, as theory gives it; <= if that is a bound, up or down",
    ),
    (
        "deviation",
        "the error less the bias, in standard errors; if theory is right, the root of the mean square over many groups is about 1, unless the groups have many values in common; empty if theory gives bounds alone",
    ),
];

impl Expected {
    /// Of an estimate without a bias.
    pub(super) fn unbiased(standard_error: f64) -> Self {
        Self { bias: 0.0, standard_error, at_most: false }
    }

    /// Between which truths an estimate lies in 95 of 100 cases.
    fn limits(self, estimate: f64) -> (f64, Option<f64>) {
        let Self { bias, standard_error, at_most } = self;
        if standard_error.is_infinite() {
            return (0.0, None);
        }
        let (middle, margin) = if at_most { (1.0, bias) } else { (1.0 + bias, 0.0) };
        let margin = margin + NORMAL_95 * standard_error;
        (estimate / (middle + margin), (margin < middle).then(|| estimate / (middle - margin)))
    }
}

impl Row {
    pub(super) fn new(
        group: String,
        sketch: &'static str,
        elements: u64,
        (estimate, expected): (f64, Expected),
        exact: Option<f64>,
    ) -> Self {
        let relative_error = exact.filter(|exact| *exact > 0.0).map(|exact| estimate / exact - 1.0);
        let Expected { bias, standard_error, at_most } = expected;
        let (low, high) = expected.limits(estimate);
        let deviation = |error: f64| (error - bias) / standard_error;
        Self {
            group,
            sketch,
            elements,
            estimate,
            low,
            high,
            exact,
            relative_error,
            standard_error,
            bias,
            theory_is_bound: at_most,
            deviation_se: relative_error
                .filter(|_| standard_error > 0.0 && standard_error.is_finite() && !at_most)
                .map(deviation),
        }
    }

    /// With another interval: of a share, which knows its own.
    pub(super) fn within(self, low: f64, high: f64) -> Self {
        Self { low, high: Some(high), ..self }
    }

    /// With an interval inside these limits, which the truth cannot pass; an estimate can.
    pub(super) fn between(self, least: f64, most: f64) -> Self {
        let high = self.high.unwrap_or(f64::INFINITY).min(most).max(self.estimate);
        Self { low: self.low.max(least).min(self.estimate), high: Some(high), ..self }
    }

    fn cells(&self) -> Vec<String> {
        let percent = |value: f64| {
            if value.is_finite() { format!("{:.2} %", value * 100.0) } else { "unknown".to_owned() }
        };
        let signed = |value: f64| format!("{:+.2} %", value * 100.0);
        let bound = |value: f64| format!("<= {}", percent(value));
        let [error, bias] = if self.theory_is_bound {
            [bound(self.standard_error), bound(self.bias)]
        } else {
            [percent(self.standard_error), signed(self.bias)]
        };
        let high = self.high.map_or_else(|| "any".to_owned(), number);
        vec![
            printable(&self.group),
            self.sketch.to_owned(),
            self.elements.to_string(),
            number(self.estimate),
            format!("{} to {high}", number(self.low)),
            self.exact.map_or_else(String::new, number),
            self.relative_error.map_or_else(String::new, signed),
            error,
            bias,
            self.deviation_se.map_or_else(String::new, |deviation| format!("{deviation:+.1}")),
        ]
    }
}

impl Report {
    /// Of rows in the order in which they are to be shown, so many of each group.
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
        let heading = [
            "of",
            "sketch",
            "elements",
            "estimate",
            "95 % interval",
            "exact",
            "error",
            "std error",
            "bias",
            "deviation",
        ];
        let cells: Vec<_> = self.rows.iter().take(most).map(Row::cells).collect();
        let mut text = format!("{title}\n\n{}", print::table(&heading, &cells));
        if self.rows.len() > most {
            text += &format!("... and {} more rows (--top shows more, --csv writes all)\n", self.rows.len() - most);
        }
        for Deviation { sketch, rows, root_mean_square_se } in &self.deviations {
            text += &format!("\n{sketch}: root mean square of {rows} deviations {root_mean_square_se:.2}");
        }
        print::answer(common.form, self, &text, &[words, &WORDS].concat())?;
        print::csv(common.csv.as_deref(), &self.rows)
    }
}

/// So many of them.
pub(super) fn count(number: usize, of: &str) -> String {
    format!("{number} {of}{}", if number == 1 { "" } else { "s" })
}

/// A text of a file for a terminal: what would steer it is escaped, and the end of a long one is left out.
pub(super) fn printable(text: &str) -> String {
    const MOST: usize = 100;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => print::printable(&text[..end]) + "...",
        None => print::printable(text),
    }
}

/// Whole numbers in full, others short.
pub(super) fn number(value: f64) -> String {
    if value >= 100.0 || value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}
