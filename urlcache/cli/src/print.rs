//! Tables for people, documents for programs.

use std::io::{ErrorKind, Write};

use anyhow::Result;
use serde::Serialize;

/// Prints one JSON document.
pub(crate) fn json(document: &impl Serialize) -> Result<()> {
    text(&serde_json::to_string(document)?)
}

/// Prints lines; a reader who has seen enough may leave.
pub(crate) fn text(lines: &str) -> Result<()> {
    match writeln!(std::io::stdout(), "{}", lines.trim_end()) {
        Err(gone) if gone.kind() != ErrorKind::BrokenPipe => Err(gone.into()),
        _ => Ok(()),
    }
}

/// Rows under a heading as text, columns aligned: the first two to the left, the others to the right.
pub(crate) fn table(heading: &[&str], rows: &[Vec<String>]) -> String {
    let heading: Vec<String> = heading.iter().map(ToString::to_string).collect();
    let all = || std::iter::once(&heading).chain(rows);
    let width = |column: usize| all().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let mut text = String::new();
    for row in all() {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let width = width(column).unwrap_or(0);
            if column < 2 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Three significant digits.
pub(crate) fn short(value: f64) -> String {
    if value == 0.0 || (1e-3..1e4).contains(&value) { format!("{value:.3}") } else { format!("{value:.2e}") }
}
