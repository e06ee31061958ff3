//! Columns separated by tabs; where a person reads along, they are aligned.

use std::io::{self, Write};

use super::row::{Column, Kind, RowWriter, Value};
use crate::observe::{aligned::Aligned, escape};

pub(super) struct Table<W> {
    out: W,
    width: Option<usize>,
    columns: Vec<Column>,
    aligned: Option<Aligned>,
}

impl<W: Write> Table<W> {
    /// Aligned for a terminal so wide, if there is one.
    pub(super) fn new(out: W, width: Option<usize>) -> Self {
        Self { out, width, columns: Vec::new(), aligned: None }
    }

    fn lines(&mut self, lines: &[String]) -> io::Result<()> {
        lines.iter().try_for_each(|line| writeln!(self.out, "{line}"))
    }

    /// Writes the rows that are held back to measure the columns.
    fn flush(&mut self) -> io::Result<()> {
        let held = self.aligned.as_mut().map(Aligned::end).unwrap_or_default();
        self.lines(&held)
    }
}

impl<W: Write> RowWriter for Table<W> {
    fn begin(&mut self, columns: &[Column]) -> io::Result<()> {
        self.columns = columns.to_vec();
        let names = |wanted: fn(Kind) -> bool| -> Vec<_> {
            columns.iter().filter(|column| wanted(column.kind)).map(|column| column.name).collect()
        };
        let (shown, urls) = (names(|kind| kind != Kind::Below), names(|kind| kind == Kind::Url));
        self.aligned = self.width.map(|width| Aligned::new(width, &shown, &urls));
        if self.aligned.is_none() {
            writeln!(self.out, "{}", shown.join("\t"))?;
        }
        Ok(())
    }

    fn row(&mut self, row: &[Value<'_>]) -> io::Result<()> {
        let (below, cells): (Vec<_>, Vec<_>) =
            self.columns.iter().zip(row).partition(|(column, _)| column.kind == Kind::Below);
        let cells: Vec<_> = cells.iter().map(|(_, value)| escape::text(&value.text()).into_owned()).collect();
        let below: Vec<_> = below.iter().map(|(_, value)| value.text()).collect();
        let lines = match &mut self.aligned {
            Some(aligned) => aligned.add(cells),
            None => vec![cells.join("\t")],
        };
        self.lines(&lines)?;
        for line in below.iter().flat_map(|text| text.lines()) {
            self.flush()?;
            writeln!(self.out, "    {}", escape::text(line))?;
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        self.flush()?;
        self.out.flush()
    }
}
