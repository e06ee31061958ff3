//! Tables for people, documents for programs.

use std::{
    io::{ErrorKind, Write},
    path::Path,
};

use anyhow::{Context, Result};
use serde::Serialize;

use crate::Form;

/// A word of an answer, and what it means.
pub(crate) type Word = (&'static str, &'static str);

/// Characters of a line of a footer.
const WIDTH: usize = 100;

/// Prints an answer in the form that is asked for: as a document, or as lines for people with their words explained below.
pub(crate) fn answer(form: Form, document: &impl Serialize, lines: &str, words: &[Word]) -> Result<()> {
    match form {
        Form { json: true, .. } => json(document),
        Form { brief: true, .. } => text(lines),
        Form { .. } => text(&format!("{}\n\n{}", lines.trim_end(), footer(words))),
    }
}

/// What words mean: each on a line of its own, or on several with their beginnings below each other.
fn footer(words: &[Word]) -> String {
    let width = words.iter().map(|(word, _)| word.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (word, meaning) in words {
        let mut line = format!("{word:<width$} ");
        for part in meaning.split(' ') {
            if line.chars().count() + 1 + part.chars().count() > WIDTH {
                text += &format!("{}\n", line.trim_end());
                line = format!("{:<width$} ", "");
            }
            line += &format!(" {part}");
        }
        text += &format!("{line}\n");
    }
    text
}

/// Prints one JSON document.
fn json(document: &impl Serialize) -> Result<()> {
    text(&serde_json::to_string(document)?)
}

/// Prints lines; a reader who has seen enough may leave.
fn text(lines: &str) -> Result<()> {
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

/// Writes rows under a heading into a file, for programs that draw and count.
pub(crate) fn csv(path: &Path, rows: &[impl Serialize]) -> Result<()> {
    let what = || format!("cannot write {}", path.display());
    let mut file = csv::Writer::from_path(path).with_context(what)?;
    for row in rows {
        file.serialize(row).with_context(what)?;
    }
    file.flush().with_context(what)
}

/// Three significant digits.
pub(crate) fn short(value: f64) -> String {
    if value == 0.0 || (1e-3..1e4).contains(&value) { format!("{value:.3}") } else { format!("{value:.2e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_footer_has_its_meanings_below_each_other() {
        const LONG: &str = "word word word word word word word word word word word word word word word word word word word \
                            word word word word word word word word word word word word word word word word word word";
        let text = footer(&[("rate", "how often"), ("deviation", LONG)]);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "rate       how often");
        assert!(lines[1].starts_with("deviation  word word") && lines[2].starts_with("           word word"), "{text}");
        assert!(lines.len() == 4 && lines.iter().all(|line| line.len() <= WIDTH), "{text}");
    }
}
