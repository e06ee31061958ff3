//! The figures: those of the thesis, and what its tables say when they are drawn.
//!
//! Owns which tables make which figure. Dots and rings are what we measured, thin lines theory, crosses what the thesis
//! printed; those of one name have one colour. A figure whose tables were not asked for is left out. It does not know how
//! figures look.

use std::path::Path;

use anyhow::Result;

use super::{
    report::file_name,
    table::{Cell, Table},
};
use crate::figure::{Axis, Curve, Figure, Stroke};

/// The tables of the figure of strategies, and their names there.
const STRATEGIES: [(&str, &str); 6] = [
    ("5.9", "single"),
    ("5.18", "spatial: 2 filters"),
    ("5.19", "spatial: 3 filters"),
    ("5.16", "temporal: 2 visits"),
    ("5.20", "spatio-temporal: 2 filters, 2 visits"),
    ("5.21", "spatio-temporal: 3 filters, 2 visits"),
];

/// The bit-size multiplier of that figure, which most tables have.
const MULTIPLIER: &str = "2.0 M";

/// What the marks are, below each title.
const MARKS: &str = "dots and rings: measured, lines: theory, crosses: thesis";

/// Hits below which theory is not drawn: no measurement is near it, and its line would leave the others no room.
const FAINTEST: f64 = 0.1;

/// Draws every figure of which there are tables.
pub(crate) fn draw(tables: &[Table], folder: &Path) -> Result<()> {
    let find = |id: &str| tables.iter().find(|table| table.id == id);
    for table in tables.iter().filter(|table| table.id.starts_with("figure ")) {
        filling(table).write(folder, &file_name(&table.id))?;
    }
    if let Some(table) = find("5.9") {
        by_multiplier(table).write(folder, "by-multiplier")?;
        at_equal_bits(table).write(folder, "at-equal-bits")?;
    }
    let strategies: Vec<_> = STRATEGIES.iter().filter_map(|(id, name)| Some((find(id)?, *name))).collect();
    if strategies.len() > 1 {
        by_strategy(&strategies).write(folder, "by-strategy")?;
    }
    for (ids, name, what) in
        [(["A.1", "A.2", "A.3"], "times-to-query", "query"), (["A.4", "A.5", "A.6"], "times-to-add", "add")]
    {
        let filters: Vec<_> = ids.iter().filter_map(|id| find(id)).collect();
        if !filters.is_empty() {
            times(&filters, what).write(folder, name)?;
        }
    }
    Ok(())
}

/// One value of the cells of a row or column, over another.
fn points(cells: &[&Cell], x: impl Fn(&Cell) -> Option<f64>, y: impl Fn(&Cell) -> Option<f64>) -> Vec<(f64, f64)> {
    cells.iter().filter_map(|cell| Some((x(cell)?, y(cell)?))).collect()
}

/// The three curves of a row: measured, expected and printed.
fn three(name: &str, cells: &[&Cell], x: impl Fn(&Cell) -> Option<f64> + Copy) -> [Curve; 3] {
    let curve =
        |stroke, y: fn(&Cell) -> Option<f64>| Curve { name: name.to_owned(), points: points(cells, x, y), stroke };
    [
        curve(Stroke::Measured, |cell| cell.ours),
        curve(Stroke::Theory, |cell| drawn(cell, cell.theory)),
        curve(Stroke::Published, |cell| cell.thesis),
    ]
}

/// Whether a rate in per cent is drawn that was tried so often.
fn is_drawn(rate: f64, trials: u64) -> bool {
    rate / 100.0 * trials as f64 >= FAINTEST
}

/// The rate, if it is drawn.
fn drawn(cell: &Cell, rate: Option<f64>) -> Option<f64> {
    rate.filter(|rate| is_drawn(*rate, cell.trials.unwrap_or(0)))
}

/// The number at the start of a label such as `3 HF`, or at the end of one such as `1 filter, 1.7 M`.
fn number(label: &str) -> Option<f64> {
    let last = label.rsplit(", ").next()?;
    last.split(' ').next()?.parse().ok()
}

fn rows(table: &Table) -> Vec<(&str, Vec<&Cell>)> {
    let mut rows: Vec<(&str, Vec<&Cell>)> = Vec::new();
    for cell in &table.cells {
        match rows.last_mut().filter(|(name, _)| *name == cell.row) {
            Some((_, cells)) => cells.push(cell),
            None => rows.push((&cell.row, vec![cell])),
        }
    }
    rows
}

/// The share of false positives among the URLs so far, as curves of the number of hash functions; the thesis printed where
/// they end.
fn filling(table: &Table) -> Figure {
    let mut curves = Vec::new();
    for (name, cells) in rows(table) {
        let (tenths, all) = cells.split_at(cells.len() - 1);
        let so_far = |value: fn(&Cell) -> Option<f64>| {
            let sums = tenths.iter().scan((0.0, 0), move |(sum, trials), cell| {
                *sum += value(cell)?;
                *trials += cell.trials?;
                Some((*sum, *trials))
            });
            let means = (1_u32..).zip(sums).map(|(count, (sum, trials))| (count, sum / f64::from(count), trials));
            let drawn = means.filter(|(_, mean, trials)| is_drawn(*mean, *trials));
            drawn.map(|(count, mean, _)| (f64::from(count * 10), mean)).collect()
        };
        let end = all.iter().filter_map(|cell| Some((100.0, cell.thesis?))).collect();
        let kinds = [
            (Stroke::Measured, so_far(|cell| cell.ours)),
            (Stroke::Theory, so_far(|cell| cell.theory)),
            (Stroke::Published, end),
        ];
        curves.extend(kinds.map(|(stroke, points)| Curve { name: name.to_owned(), points, stroke }));
    }
    Figure {
        title: format!("{} ({MARKS})", table.title),
        x: Axis::linear("URLs added, per cent of those the filters are made for"),
        y: Axis::logarithmic("false positives so far, per cent"),
        curves,
    }
}

/// Rates of one full filter by M, as curves of k.
fn by_multiplier(table: &Table) -> Figure {
    let rows = rows(table);
    let curves = rows.iter().flat_map(|(name, cells)| three(name, cells, |cell| number(&cell.column)));
    Figure {
        title: format!("One full filter by M and k ({MARKS})"),
        x: Axis::close("bit-size multiplier M"),
        y: Axis::logarithmic("false positives, per cent"),
        curves: curves.collect(),
    }
}

/// The same rates by memory, above the best that the memory can do.
fn at_equal_bits(table: &Table) -> Figure {
    let bits = |cell: &Cell| Some(number(&cell.row)? * number(&cell.column)?);
    let rows = rows(table);
    let measured = rows.iter().map(|(name, cells)| {
        let points = points(cells, bits, |cell| cell.ours);
        Curve { name: (*name).to_owned(), points, stroke: Stroke::Measured }
    });
    let all: Vec<&Cell> = table.cells.iter().collect();
    let mut best = points(&all, bits, |cell| drawn(cell, cell.best));
    best.sort_by(|one, other| one.0.total_cmp(&other.0));
    let best = Curve { name: "best k".to_owned(), points: best, stroke: Stroke::Theory };
    Figure {
        title: "One full filter by memory: the k of the thesis, and the best k".to_owned(),
        x: Axis::linear("bits a URL"),
        y: Axis::logarithmic("false positives, per cent"),
        curves: measured.chain([best]).collect(),
    }
}

/// Rates of full filters by k, as curves of strategies.
fn by_strategy(tables: &[(&Table, &str)]) -> Figure {
    let curves = tables.iter().flat_map(|(table, name)| {
        let cells: Vec<&Cell> = table.cells.iter().filter(|cell| cell.column == MULTIPLIER).collect();
        three(name, &cells, |cell| number(&cell.row))
    });
    Figure {
        title: format!("Full filters by strategy, M = 2.0 ({MARKS})"),
        x: Axis::close("hash functions of each filter (k)"),
        y: Axis::logarithmic("false positives, per cent"),
        curves: curves.collect(),
    }
}

/// Times by k at one M, as curves of the number of filters.
fn times(tables: &[&Table], what: &str) -> Figure {
    let curves = tables.iter().flat_map(|table| {
        let cells: Vec<&Cell> = table.cells.iter().filter(|cell| cell.column == MULTIPLIER).collect();
        let name = table.title.rsplit(' ').take(2).collect::<Vec<_>>();
        let name = name.into_iter().rev().collect::<Vec<_>>().join(" ");
        let curve = |stroke, value: fn(&Cell) -> Option<f64>| Curve {
            name: name.clone(),
            points: points(&cells, |cell| number(&cell.row), value),
            stroke,
        };
        [
            curve(Stroke::Measured, |cell| cell.ours),
            curve(Stroke::Theory, |cell| cell.one_hash),
            curve(Stroke::Published, |cell| cell.thesis),
        ]
    });
    Figure {
        title: format!(
            "Time to {what}, M = 2.0 (crosses: thesis; ours: dots and rings with k salts, thin lines with one hash)"
        ),
        x: Axis::close("hash functions of each filter (k)"),
        y: Axis::logarithmic("milliseconds for a million URLs"),
        curves: curves.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::printed;

    fn tables() -> Vec<Table> {
        let all = printed::all().unwrap();
        let filled = |printed: &printed::Printed| {
            let mut table = Table::new(printed, "");
            for entry in printed.entries() {
                let value = Some(entry.value());
                table.cells.push(Cell {
                    ours: value,
                    thesis: value,
                    best: value,
                    ..Cell::new(entry.row, entry.column)
                });
            }
            table
        };
        all.iter().map(filled).collect()
    }

    #[test]
    fn every_figure_is_drawn_of_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let drawn = |tables: &[Table], name: &str| {
            let folder = folder.path().join(name);
            draw(tables, &folder).unwrap();
            std::fs::read_dir(folder).map_or(0, Iterator::count)
        };
        assert_eq!(drawn(&tables(), "all"), 12);
        assert_eq!(drawn(&[], "none"), 0);
        let some: Vec<Table> =
            tables().into_iter().filter(|table| ["5.9", "A.2"].contains(&table.id.as_str())).collect();
        assert_eq!(drawn(&some, "some"), 3);
    }

    #[test]
    fn numbers_are_read_from_labels() {
        assert_eq!(
            ["3 HF", "1.7 M", "1 filter, 2.0 M", "Jenkins"].map(number),
            [Some(3.0), Some(1.7), Some(2.0), None]
        );
    }

    #[test]
    fn what_no_measurement_is_near_is_not_drawn() {
        let cell = |theory: f64| Cell { theory: Some(theory), trials: Some(1_000), ..Cell::new("3 HF", "1.7 M") };
        let cells = [cell(1.0), cell(0.011), cell(0.009)];
        let [_, theory, _] = three("3 HF", &cells.each_ref(), |cell| number(&cell.column));
        assert_eq!(theory.points, [(1.7, 1.0), (1.7, 0.011)]);
    }

    #[test]
    fn the_share_so_far_is_the_mean_of_the_tenths() {
        let mut table = Table::new(&printed::all().unwrap()[0], "");
        let cell = |ours: f64| Cell { ours: Some(ours), trials: Some(100), ..Cell::new("3 HF", "") };
        table.cells = vec![cell(1.0), cell(3.0), Cell { thesis: Some(2.0), ..cell(2.0) }];
        let figure = filling(&table);
        assert_eq!(figure.curves[0].points, [(10.0, 1.0), (20.0, 2.0)]);
        assert_eq!(figure.curves[2].points, [(100.0, 2.0)]);
    }
}
