//! Tables for people, documents for programs.

use std::{
    fs,
    io::{ErrorKind, Write},
    path::Path,
};

use anyhow::{Context, Result, ensure};
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
    let heading = heading.iter().map(ToString::to_string).collect();
    let all = std::iter::once(&heading).chain(rows);
    let all: Vec<Vec<String>> = all.map(|row| row.iter().map(|cell| printable(cell)).collect()).collect();
    let mut widths = Vec::new();
    for row in &all {
        widths.resize(row.len().max(widths.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for row in &all {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            if column < 2 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Text of a file for a terminal: what could steer it is escaped.
pub(crate) fn printable(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || turns(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    shown
}

/// Whether a file can be written, and is none that is read: better asked before a long measurement than after.
///
/// # Errors
/// It cannot be written, or is one of `inputs` under whatever name.
pub(crate) fn check_target(target: &Path, inputs: &[&Path]) -> Result<()> {
    let is = |input: &Path| {
        input == target
            || input.canonicalize().is_ok_and(|input| target.canonicalize().is_ok_and(|target| target == input))
    };
    ensure!(
        !inputs.iter().any(|input| is(input)),
        "{} is read as well: name another file to write to",
        target.display()
    );
    let opened = fs::OpenOptions::new().create(true).append(true).open(target);
    opened.map(drop).with_context(|| format!("cannot write {}", target.display()))
}

/// Writes rows under a heading into a file if there is to be one, for programs that draw and count. Callers print their answer first:
/// a full disk then costs the file alone.
pub(crate) fn csv(target: Option<&Path>, rows: &[impl Serialize]) -> Result<()> {
    let Some(path) = target else { return Ok(()) };
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
    fn a_table_is_aligned_and_steers_no_terminal() {
        let rows = [vec!["a".to_owned(), "\u{1b}[31m".to_owned(), "1".to_owned()], vec!["bcd".to_owned()]];
        assert_eq!(table(&["name", "of", "n"], &rows), "name  of          n\na     \\u{1b}[31m  1\nbcd\n");
    }

    #[test]
    fn what_is_read_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let [input, other] = ["input.txt", "other.txt"].map(|name| folder.path().join(name));
        fs::write(&input, "text").unwrap();
        assert!(
            check_target(&folder.path().join("./input.txt"), &[&input]).unwrap_err().to_string().contains("is read")
        );
        assert!(check_target(&folder.path().join("none/other.txt"), &[]).is_err());
        check_target(&other, &[&input]).unwrap();
        assert_eq!(fs::read_to_string(&input).unwrap(), "text");
    }

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
