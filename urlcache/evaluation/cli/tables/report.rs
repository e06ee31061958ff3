//! [`Report`]: all tables as lines, as a document, and as files.

use std::{path::Path, time::Duration};

use anyhow::Result;
use serde::Serialize;

use super::{
    TablesArgs,
    departures::Cause,
    printed::Quantity,
    table::{Cell, Table},
};
use crate::print::{self, Word};

pub(crate) const WORDS: &[Word] = &[
    ("HF", "number of hash functions of a filter (k), or bits that a URL sets in it"),
    ("M", "bit-size multiplier: a filter for n URLs has n x HF x M bits"),
    ("filters", "a URL counts as seen if all filters of a visit, and the filters of all visits, have all of its bits"),
    ("while filling", "each URL is asked for just before it is added (\"incremental\" in the thesis); all are new"),
    ("full", "as many other URLs are asked for after all were added (\"non-incremental\" in the thesis)"),
    (
        "Jenkins, ...",
        "Jenkins' lookup2, MurmurHash2, MD5, SHA-1, each with a salt for each hash function; where none is named, the bits are drawn from one hash of the URL (the thesis has salts of lookup2)",
    ),
    ("0-10 %, ...", "the rate among these URLs, in the order in which they are added; all: among all of them"),
    ("thesis", "what Gøytil and Lundberg printed in 2010; rates in per cent, the mean of 100 runs of a million URLs"),
    (
        "theory",
        "the expected value, computed for the number of URLs that were used here; of memory: m / 8 bytes a filter",
    ),
    ("ours", "what was measured here"),
    (
        "deviation",
        "ours minus theory in standard errors; for less than 1000 expected hits the normal quantile of their probability",
    ),
    (
        "low, high",
        "an interval that holds the true rate in 95 of 100 measurements; of times: the fastest and slowest of 25 blocks",
    ),
    (
        "best HF, best",
        "the rate that one filter with the same total of bits has with the best number of hash functions",
    ),
    (
        "chi-square",
        "the sum of the squared deviations; p: how probable a sum as large or larger is, if the theory is right",
    ),
    (
        "scatter",
        "the root mean square of the thesis' own deviations from theory, in standard errors of 100 runs: 1.0 if its runs were independent",
    ),
    (
        "misprint, ...",
        "why the thesis departs from theory: misprint and lucky-hit as listed; scatter: more than 3 standard errors",
    ),
    (
        "rounded, ...",
        "the same: more than 2 % off, but within half of the last printed digit, or no hit at all, or chance with few hits",
    ),
    (
        "one hash",
        "time with one hash of the URL's text (xxh3) from which all positions are drawn, in place of HF x filters hashes",
    ),
    ("/ HashSet", "divided by the value of the hash set: in the thesis Java's, here that of Rust's standard library"),
];

/// How far a rate may be from theory, in standard errors: less than one in 100,000 is, if the theory is right.
const DEVIATION_LIMIT: f64 = 4.5;

/// How improbable the counts of a table may be.
const P_LIMIT: f64 = 0.001;

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    runs: u32,
    keys: usize,
    hash_seed: u64,
    /// The file of URLs, if they were not generated.
    urls: Option<String>,
    seconds: f64,
    worst_deviation_se: Option<f64>,
    least_p_value: Option<f64>,
    /// Whether every rate is within [`DEVIATION_LIMIT`] of theory; nothing where there are no rates.
    deviations_fit: Option<bool>,
    /// Whether the p of every table is above [`P_LIMIT`]; nothing where no table has one.
    tables_fit: Option<bool>,
    pub(crate) tables: Vec<Table>,
}

impl Report {
    pub(crate) fn new(args: &TablesArgs, keys: usize, tables: Vec<Table>, took: Duration) -> Self {
        let worst = tables.iter().filter_map(|table| table.worst_deviation_se);
        let worst = worst.max_by(|one, other| one.abs().total_cmp(&other.abs()));
        let least = tables.iter().filter_map(|table| table.p_value).min_by(f64::total_cmp);
        Self {
            runs: args.runs,
            keys,
            hash_seed: args.hash_seed,
            urls: args.urls.as_ref().map(|file| file.display().to_string()),
            seconds: took.as_secs_f64(),
            worst_deviation_se: worst,
            least_p_value: least,
            deviations_fit: worst.map(|worst| worst.abs() <= DEVIATION_LIMIT),
            tables_fit: least.map(|least| least > P_LIMIT),
            tables,
        }
    }

    /// A file for each table, in a folder that is there.
    pub(crate) fn csv(&self, folder: &Path) -> Result<()> {
        for table in &self.tables {
            print::csv(Some(&folder.join(format!("{}.csv", file_name(&table.id)))), &table.cells)?;
        }
        Ok(())
    }

    /// For people.
    pub(crate) fn lines(&self) -> String {
        let Self { runs, keys, hash_seed, seconds, .. } = self;
        let urls = self.urls.as_deref().unwrap_or("generated URLs");
        let mut text = format!("{runs} runs of {keys} URLs ({urls}), hash seed {hash_seed}; {seconds:.0} seconds\n\n");
        for table in &self.tables {
            let name = table
                .id
                .strip_prefix("figure ")
                .map_or_else(|| format!("Table {}", table.id), |id| format!("Figure {id}"));
            text += &format!("{name}: {} ({})\n", table.title, table.unit);
            text += &lines(table);
            text += "\n";
        }
        text + &self.summary()
    }

    /// The two results.
    fn summary(&self) -> String {
        let result = |fits: Option<bool>| if fits == Some(true) { "kept" } else { "broken" };
        let mut text = String::new();
        if let Some(worst) = self.worst_deviation_se {
            let rates = self.tables.iter().flat_map(|table| &table.cells).filter(|cell| cell.deviation_se.is_some());
            let (count, result) = (rates.count(), result(self.deviations_fit));
            text += &format!(
                "worst of {count} rates: {worst:+.2} standard errors from theory; limit {DEVIATION_LIMIT}: {result}\n"
            );
        }
        if let Some(least) = self.least_p_value {
            let count = self.tables.iter().filter(|table| table.p_value.is_some()).count();
            let result = result(self.tables_fit);
            text += &format!("least p of {count} tables: {least:.4}; limit {P_LIMIT}: {result}\n");
        }
        text
    }
}

/// The name of a table's files.
pub(crate) fn file_name(id: &str) -> String {
    if id.starts_with("figure ") { id.replace(' ', "-") } else { format!("table-{id}") }
}

fn lines(table: &Table) -> String {
    let is_rate = matches!(table.quantity, Quantity::Filling | Quantity::Full);
    let mut text = if is_rate { rates(&table.cells) } else { costs(table) };
    if let (Some(chi), Some(degrees), Some(p)) = (table.chi_square, table.degrees_of_freedom, table.p_value) {
        text += &format!("chi-square {chi:.1} of {degrees} counts, p = {p:.3}");
        text += &table.scatter.map_or_else(String::new, |scatter| format!("; scatter of the thesis {scatter:.1}"));
        text += "\n";
    }
    let explained = |cell: &&Cell| matches!(cell.departure, Some(Cause::Misprint | Cause::LuckyHit | Cause::Scatter));
    for cell in table.cells.iter().filter(explained) {
        let cause = cell.departure.map_or("", Cause::name);
        text += &format!("{}, {}: {cause}: {}\n", cell.row, cell.column, cell.reason.as_deref().unwrap_or(""));
    }
    for note in &table.notes {
        text += &format!("{note}\n");
    }
    text
}

fn rates(cells: &[Cell]) -> String {
    let heading = ["", "", "thesis", "theory", "ours", "deviation", "low", "high", "best HF", "best", ""];
    let row = |cell: &Cell| {
        let [thesis, theory, ours, low, high, best] =
            [cell.thesis, cell.theory, cell.ours, cell.low, cell.high, cell.best].map(figure);
        let deviation = cell.deviation_se.map_or_else(String::new, |se| format!("{se:+.2}"));
        let best_k = cell.best_k.map_or_else(String::new, |probes| probes.to_string());
        let cause = cell.departure.map_or("", Cause::name).to_owned();
        vec![cell.row.clone(), cell.column.clone(), thesis, theory, ours, deviation, low, high, best_k, best, cause]
    };
    print::table(&heading, &cells.iter().map(row).collect::<Vec<_>>())
}

fn costs(table: &Table) -> String {
    let memory = table.quantity == Quantity::Memory;
    let third = if memory { "theory" } else { "one hash" };
    let heading = ["", "", "thesis", third, "ours", "low", "high", "thesis / HashSet", "ours / HashSet", ""];
    let row = |cell: &Cell| {
        let third = if memory { cell.theory } else { cell.one_hash };
        let [thesis, third, ours, low, high] = [cell.thesis, third, cell.ours, cell.low, cell.high].map(figure);
        let [theirs, by_set] = [cell.thesis_by_hash_set, cell.ours_by_hash_set].map(figure);
        let cause = cell.departure.map_or("", Cause::name).to_owned();
        vec![cell.row.clone(), cell.column.clone(), thesis, third, ours, low, high, theirs, by_set, cause]
    };
    print::table(&heading, &table.cells.iter().map(row).collect::<Vec<_>>())
}

/// Five significant digits; nothing where there is no value.
fn figure(value: Option<f64>) -> String {
    let Some(value) = value else { return String::new() };
    if value == 0.0 {
        return "0".to_owned();
    }
    #[expect(clippy::cast_possible_truncation, reason = "a power of ten")]
    let power = value.abs().log10().floor() as i32;
    if power < -4 {
        return format!("{value:.3e}");
    }
    let decimals = usize::try_from(4 - power).unwrap_or(0);
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_five_digits() {
        let shown = [0.0, 39.3469, 0.000_123_456, 1.5e-9, 22_000_000.0].map(|value| figure(Some(value)));
        assert_eq!(shown, ["0", "39.347", "0.00012346", "1.500e-9", "22000000"]);
        assert_eq!(figure(None), "");
    }

    #[test]
    fn files_are_named_after_tables_and_figures() {
        assert_eq!((file_name("5.9"), file_name("figure A.1")), ("table-5.9".to_owned(), "figure-A.1".to_owned()));
    }
}
