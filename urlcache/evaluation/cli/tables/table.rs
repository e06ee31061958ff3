//! [`Table`] and [`Cell`]: what is shown, whatever was measured.
//!
//! Owns the form of the document and of the files; it computes nothing but what sums up its cells.

use serde::Serialize;

use super::{
    departures::{Cause, notes},
    printed::{Printed, Quantity},
    score::Fit,
};

/// A cell: rates in per cent, memory in kilobytes of 1024 bytes, times in milliseconds for a million URLs.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Cell {
    pub(crate) row: String,
    pub(crate) column: String,
    /// What the thesis printed.
    pub(crate) thesis: Option<f64>,
    /// What is to be expected.
    pub(crate) theory: Option<f64>,
    /// What we measured.
    pub(crate) ours: Option<f64>,
    /// Ours minus theory, in standard errors.
    pub(crate) deviation_se: Option<f64>,
    /// Ends of an interval of ours: of 95 % for rates, the fastest and the slowest repetition for times.
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    /// Counted false positives, and the URLs asked for.
    pub(crate) hits: Option<u64>,
    pub(crate) trials: Option<u64>,
    /// Number of hash functions and rate of one filter of the same bits with the best number.
    pub(crate) best_k: Option<u32>,
    pub(crate) best: Option<f64>,
    /// The thesis minus theory in standard errors of 100 runs of a million, beyond what rounding explains.
    pub(crate) thesis_deviation_se: Option<f64>,
    pub(crate) departure: Option<Cause>,
    pub(crate) reason: Option<String>,
    /// With one hash of each URL in place of k; times only.
    pub(crate) one_hash: Option<f64>,
    /// Divided by the value of the hash set.
    pub(crate) thesis_by_hash_set: Option<f64>,
    pub(crate) ours_by_hash_set: Option<f64>,
}

/// A table or figure of the thesis.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Table {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) unit: &'static str,
    pub(crate) cells: Vec<Cell>,
    pub(crate) chi_square: Option<f64>,
    pub(crate) degrees_of_freedom: Option<u32>,
    pub(crate) p_value: Option<f64>,
    pub(crate) worst_deviation_se: Option<f64>,
    /// The root mean square of the thesis' own deviations, of cells with many hits.
    #[serde(rename = "thesis_scatter_se")]
    pub(crate) scatter: Option<f64>,
    pub(crate) notes: Vec<&'static str>,
    #[serde(skip)]
    pub(crate) quantity: Quantity,
}

impl Cell {
    pub(crate) fn new(row: &str, column: &str) -> Self {
        Self { row: row.to_owned(), column: column.to_owned(), ..Self::default() }
    }
}

impl Table {
    /// Without cells.
    pub(crate) fn new(printed: &Printed, unit: &'static str) -> Self {
        Self {
            id: printed.id.clone(),
            title: printed.title.clone(),
            unit,
            cells: Vec::new(),
            chi_square: None,
            degrees_of_freedom: None,
            p_value: None,
            worst_deviation_se: None,
            scatter: None,
            notes: notes(&printed.id),
            quantity: printed.quantity,
        }
    }

    /// How it fits its theory.
    pub(crate) fn fit(&mut self, fit: Fit) {
        self.chi_square = Some(fit.chi_square);
        self.degrees_of_freedom = Some(fit.degrees);
        self.p_value = Some(fit.p_value);
    }

    /// Computes what its cells come to.
    pub(crate) fn summed_up(mut self) -> Self {
        let deviations = self.cells.iter().filter_map(|cell| cell.deviation_se);
        self.worst_deviation_se = deviations.max_by(|one, other| one.abs().total_cmp(&other.abs()));
        self
    }
}
