//! [`Aligned`]: rows in columns that fit a terminal.
//!
//! Invariants: a row is one line, no wider than the terminal where the columns can be made to fit; memory holds the first rows
//! alone, by which the columns are measured. Does not know: what the cells mean, and who writes the lines.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Rows by which the columns are measured.
const MEASURED: usize = 200;

/// Between two columns.
const GAP: usize = 2;

/// No column is made narrower.
const NARROWEST: usize = 6;

/// Marks the place where something was cut out.
const CUT: char = '…';

/// Rows that become lines.
#[derive(Debug)]
pub struct Aligned {
    terminal: usize,
    held: Vec<Vec<String>>,
    columns: Vec<Column>,
    measured: bool,
}

#[derive(Debug)]
struct Column {
    width: usize,
    is_number: bool,
    /// Whether its cells are URLs, which tell most by their ends.
    is_url: bool,
}

impl Aligned {
    /// For a terminal so wide; the names of the columns are the first row. `urls` names those that hold URLs.
    pub fn new(terminal: usize, names: &[&str], urls: &[&str]) -> Self {
        let column = |name: &&str| Column { width: 0, is_number: false, is_url: urls.contains(name) };
        Self {
            terminal,
            held: vec![names.iter().map(|name| (*name).to_owned()).collect()],
            columns: names.iter().map(column).collect(),
            measured: false,
        }
    }

    /// Takes a row, whose cells must be on one line each; the lines that can be written now.
    pub fn add(&mut self, row: Vec<String>) -> Vec<String> {
        if self.measured {
            return vec![self.line(&row)];
        }
        self.held.push(row);
        if self.held.len() > MEASURED { self.end() } else { Vec::new() }
    }

    /// The lines that are left.
    pub fn end(&mut self) -> Vec<String> {
        self.measure();
        let held = std::mem::take(&mut self.held);
        held.iter().map(|row| self.line(row)).collect()
    }

    fn measure(&mut self) {
        if std::mem::replace(&mut self.measured, true) {
            return;
        }
        for (place, column) in self.columns.iter_mut().enumerate() {
            let cells = || self.held.iter().filter_map(|row| row.get(place));
            column.width = cells().map(|cell| cell.width()).max().unwrap_or_default();
            let mut values = cells().skip(1).filter(|cell| !cell.is_empty()).peekable();
            column.is_number = values.peek().is_some() && values.all(|cell| cell.parse::<f64>().is_ok());
        }
        self.fit();
    }

    /// Makes the widest columns narrower until all fit.
    fn fit(&mut self) {
        let room = self.terminal.saturating_sub(GAP * self.columns.len().saturating_sub(1));
        let fits = |most: usize, columns: &[Column]| {
            columns.iter().map(|column| column.width.min(most.max(NARROWEST))).sum::<usize>() <= room
        };
        let widest = self.columns.iter().map(|column| column.width).max().unwrap_or_default();
        let most = (NARROWEST..=widest).rev().find(|most| fits(*most, &self.columns)).unwrap_or(NARROWEST);
        for column in &mut self.columns {
            column.width = column.width.min(most);
        }
        self.give_away(room);
    }

    /// What rounding left goes to the first column that was cut.
    fn give_away(&mut self, room: usize) {
        let taken: usize = self.columns.iter().map(|column| column.width).sum();
        let cut = |place: &usize| {
            self.held.iter().any(|row| row.get(*place).is_some_and(|cell| cell.width() > self.columns[*place].width))
        };
        let first = (0..self.columns.len()).find(cut);
        if let Some(column) = first.and_then(|place| self.columns.get_mut(place)) {
            column.width += room.saturating_sub(taken);
        }
    }

    fn line(&self, row: &[String]) -> String {
        let mut line = String::new();
        for (place, (cell, column)) in row.iter().zip(&self.columns).enumerate() {
            if place > 0 {
                line.push_str(&" ".repeat(GAP));
            }
            let shown =
                if column.is_url { without_middle(cell, column.width) } else { without_end(cell, column.width) };
            let blank = " ".repeat(column.width.saturating_sub(shown.width()));
            let [before, behind] = if column.is_number { [&*blank, ""] } else { ["", &*blank] };
            line.extend([before, &shown, behind]);
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// A text cut to a width at its end.
pub fn without_end(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut shown = beginning(text.chars(), width.saturating_sub(1));
    shown.push(CUT);
    shown
}

/// A text cut to a width in its middle: of what is left, a third is its beginning.
fn without_middle(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(1);
    let mut shown = beginning(text.chars(), room / 3);
    let left = room - shown.width();
    shown.push(CUT);
    let end = beginning(text.chars().rev(), left);
    shown.extend(end.chars().rev());
    shown
}

/// As many characters as fit.
fn beginning(characters: impl Iterator<Item = char>, width: usize) -> String {
    let mut taken = 0;
    let fits = |c: &char| {
        taken += c.width().unwrap_or_default();
        taken <= width
    };
    characters.take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(terminal: usize, rows: &[[&str; 3]]) -> Vec<String> {
        let mut table = Aligned::new(terminal, &["status", "url", "title"], &["url"]);
        let mut lines = Vec::new();
        for row in rows {
            lines.extend(table.add(row.map(str::to_owned).to_vec()));
        }
        lines.extend(table.end());
        lines
    }

    #[test]
    fn columns_are_as_wide_as_their_cells_and_numbers_end_together() {
        let lines = table(80, &[["200", "http://h/", "One"], ["", "http://h/two", ""]]);
        assert_eq!(lines, ["status  url           title", "   200  http://h/     One", "        http://h/two"]);
    }

    #[test]
    fn what_is_too_wide_is_cut_and_a_url_keeps_its_end() {
        let url = format!("http://h.example/{}/page.html", "deep/".repeat(20));
        let title = "A title that goes on for longer than any terminal is wide, for no good reason at all";
        for terminal in [40, 60, 80] {
            let lines = table(terminal, &[["200", &url, title]]);
            assert_eq!(lines[1].width(), terminal, "{}", lines[1]);
            assert!(lines[1].contains("…") && lines[1].contains("page.html") || terminal == 40, "{}", lines[1]);
            assert!(lines[1].ends_with('…'), "{}", lines[1]);
        }
    }

    #[test]
    fn wide_characters_take_two_places_and_no_width_panics() {
        let lines = table(24, &[["200", "http://h/", "日本語の題名がここにあります"]]);
        assert!(lines[1].width() <= 24, "{}", lines[1]);
        for terminal in 0..30 {
            assert_eq!(table(terminal, &[["200", "http://h/日本語/🎉", "é\u{301}"]]).len(), 2);
        }
    }

    #[test]
    fn rows_beyond_those_that_are_measured_come_at_once() {
        let mut table = Aligned::new(40, &["n"], &[]);
        let early: usize = (0..MEASURED - 1).map(|row| table.add(vec![row.to_string()]).len()).sum();
        assert_eq!((early, table.add(vec!["1".to_owned()]).len()), (0, MEASURED + 1));
        assert_eq!((table.add(vec!["1".to_owned()]).len(), table.end().len()), (1, 0));
    }
}
