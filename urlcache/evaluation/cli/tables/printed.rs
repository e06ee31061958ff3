//! [`Printed`]: the tables as they were published.
//!
//! Owns the values of chapter 5 and appendix A of the master thesis of T. H. Gøytil and A. Lundberg (University of Agder,
//! 2010), in `reference.json`, digit for digit, and what the labels of rows and columns say about the filters. The figures of the
//! appendix have no printed values; the ends of their curves are table 5.17. It knows no measurement.

use anyhow::{Context, Result};
use serde::Deserialize;
use urlcache::HashFamily;

use super::measure::Setting;

/// What a table tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Quantity {
    /// The mean rate of false positives while the filters fill ("incremental").
    Filling,
    /// The rate of false positives of the full filters ("non-incremental").
    Full,
    /// Memory.
    Memory,
    /// Time to add URLs.
    Add,
    /// Time to query for absent URLs.
    Query,
}

/// A table, or a figure of which values are printed.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Printed {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) quantity: Quantity,
    filters: u32,
    visits: u32,
    pub(crate) rows: Vec<String>,
    pub(crate) columns: Vec<String>,
    /// Row by row: rates in per cent, memory in kilobytes, times in milliseconds for a million URLs.
    pub(crate) values: Vec<Vec<String>>,
}

/// A cell of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) row: &'a str,
    pub(crate) column: &'a str,
    /// As printed, without the unit.
    pub(crate) text: &'a str,
}

/// The figures of appendix A.1.1: number of filters and bit-size multiplier, as the columns of table 5.17.
pub(crate) const CURVES: [(&str, &str); 6] = [
    ("figure A.1", "1 filter, 1.7 M"),
    ("figure A.2", "1 filter, 2.0 M"),
    ("figure A.3", "2 filters, 1.7 M"),
    ("figure A.4", "2 filters, 2.0 M"),
    ("figure A.5", "3 filters, 1.7 M"),
    ("figure A.6", "3 filters, 2.0 M"),
];

/// The table that has the ends of the curves.
const ENDS: &str = "5.17";

/// Every table and figure, in the order of the thesis.
pub(crate) fn all() -> Result<Vec<Printed>> {
    let mut all: Vec<Printed> =
        serde_json::from_str(include_str!("reference.json")).context("the built-in values of the thesis")?;
    let ends = all.iter().position(|table| table.id == ENDS).context("no ends of curves")?;
    let curves: Vec<_> = CURVES.iter().filter_map(|(id, column)| all[ends].curves(id, column)).collect();
    let tables = all.iter().position(|table| table.id == "A.1").unwrap_or(all.len());
    all.splice(tables..tables, curves);
    Ok(all)
}

impl Printed {
    /// One column of this table, as the ends of the curves of a figure.
    fn curves(&self, id: &str, column: &str) -> Option<Self> {
        let place = self.columns.iter().position(|other| other == column)?;
        Some(Self {
            id: id.to_owned(),
            title: format!("Spatial: {}, while filling", column.replace(", ", ", M = ").trim_end_matches(" M")),
            columns: vec![column.to_owned()],
            values: self.values.iter().map(|row| vec![row[place].clone()]).collect(),
            ..self.clone()
        })
    }

    /// Whether it is drawn, over the URLs added.
    pub(crate) fn is_figure(&self) -> bool {
        self.id.starts_with("figure ")
    }

    /// Whether it tells rates of false positives.
    pub(crate) fn has_rates(&self) -> bool {
        matches!(self.quantity, Quantity::Filling | Quantity::Full)
    }

    /// All cells, row by row.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.rows.iter().zip(&self.values).flat_map(|(row, values)| {
            let cells = self.columns.iter().zip(values);
            cells.map(move |(column, text)| Entry { row, column, text })
        })
    }

    /// The filters of a cell: what the table says, and on top of it the labels of row and column.
    pub(crate) fn setting(&self, entry: Entry<'_>) -> Setting {
        let mut setting =
            Setting { families: Vec::new(), probes: 1, tenths: 20, filters: self.filters, visits: self.visits };
        for part in entry.row.split(", ").chain(entry.column.split(", ")) {
            let (number, unit) = part.split_once(' ').unwrap_or((part, ""));
            match (number.parse::<f64>(), unit) {
                (Ok(probes), "HF") => setting.probes = whole(probes),
                (Ok(multiplier), "M") => setting.tenths = whole(multiplier * 10.0),
                (Ok(filters), _) => setting.filters = whole(filters),
                (Err(_), _) => setting.families = families(part),
            }
        }
        setting
    }
}

impl Entry<'_> {
    /// The value that is printed.
    pub(crate) fn value(&self) -> f64 {
        self.text.parse().unwrap_or(f64::NAN)
    }

    /// Half of the last digit that is printed.
    pub(crate) fn half_digit(&self) -> f64 {
        let decimals = self.text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        0.5 * 0.1_f64.powi(i32::try_from(decimals).unwrap_or(i32::MAX))
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "labels have small numbers")]
fn whole(number: f64) -> u32 {
    number.round() as u32
}

/// Hash functions of the thesis, in one order however they are named. Jenkins' is lookup2.
fn families(names: &str) -> Vec<HashFamily> {
    let is_one = |family: &HashFamily| match family {
        HashFamily::Xxh3 => false,
        HashFamily::Lookup2 => names.contains("Jenkins"),
        HashFamily::Murmur2 => names.contains("MurmurHash"),
        HashFamily::Md5 => names.contains("MD5"),
        HashFamily::Sha1 => names.contains("SHA-1"),
    };
    HashFamily::ALL.into_iter().filter(is_one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(id: &str) -> Printed {
        all().unwrap().into_iter().find(|table| table.id == id).unwrap()
    }

    #[test]
    fn there_are_twenty_one_tables_of_the_chapter_six_of_the_appendix_twice_and_a_figure() {
        let all = all().unwrap();
        let ids = |prefix: &str| all.iter().filter(|table| table.id.starts_with(prefix)).count();
        assert_eq!((ids("5."), ids("A."), ids("figure A."), ids("figure 5.1")), (21, 6, 6, 1));
        for table in &all {
            assert_eq!(table.values.len(), table.rows.len(), "{}", table.id);
            assert!(table.values.iter().all(|row| row.len() == table.columns.len()), "{}", table.id);
            assert!(table.entries().all(|entry| entry.value() >= 0.0), "{}", table.id);
        }
        let chapter = |table: &&Printed| table.id.starts_with("5.") && table.has_rates();
        assert_eq!(all.iter().filter(chapter).map(|table| table.entries().count()).sum::<usize>(), 288);
    }

    #[test]
    fn labels_say_what_the_filters_are() {
        let setting = |id: &str, row: usize, column: usize| {
            let table = table(id);
            let place = row * table.columns.len() + column;
            let setting = table.setting(table.entries().nth(place).unwrap());
            let Setting { families, probes, tenths, filters, visits } = setting;
            (families, (probes, tenths, filters, visits))
        };
        assert_eq!(setting("5.20", 1, 2), (vec![], (3, 25, 2, 2)));
        assert_eq!(setting("5.17", 3, 5), (vec![], (6, 20, 3, 1)));
        assert_eq!(setting("5.4", 2, 1), (vec![HashFamily::Md5], (2, 20, 1, 1)));
        let three = vec![HashFamily::Lookup2, HashFamily::Murmur2, HashFamily::Sha1];
        assert_eq!(setting("5.3", 0, 0), (three, (3, 20, 1, 1)));
        assert_eq!(setting("5.7", 0, 0), setting("5.3", 0, 0));
        assert_eq!(setting("figure A.5", 0, 0), (vec![], (3, 17, 3, 1)));
        // The same runs.
        assert_eq!(setting("5.8", 1, 0), setting("5.6", 2, 0));
    }

    #[test]
    fn half_a_digit_is_that_of_the_text() {
        for (text, half) in [("8.7927", 0.000_05), ("0.00003", 0.000_005), ("660", 0.5), ("0.0", 0.05)] {
            let entry = Entry { row: "", column: "", text };
            assert!((entry.half_digit() / half - 1.0).abs() < 1e-9, "{text}");
        }
    }
}
