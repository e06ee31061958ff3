//! RFC 4180, as spreadsheets read it.

use std::io::{self, Write};

use super::row::{Column, Kind, RowWriter, Value};
use crate::observe::escape;

pub(super) struct Csv<W> {
    out: W,
    /// Which columns it has.
    shown: Vec<bool>,
}

impl<W: Write> Csv<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, shown: Vec::new() }
    }
}

impl<W: Write> RowWriter for Csv<W> {
    fn begin(&mut self, columns: &[Column]) -> io::Result<()> {
        self.shown = columns.iter().map(|column| column.kind != Kind::Below).collect();
        let names = columns.iter().filter(|column| column.kind != Kind::Below).map(|column| column.name);
        writeln!(self.out, "{}", names.collect::<Vec<_>>().join(","))
    }

    fn row(&mut self, row: &[Value<'_>]) -> io::Result<()> {
        let cells = row.iter().zip(&self.shown).filter(|(_, shown)| **shown);
        let cells = cells.map(|(value, _)| escape::csv(&value.text()));
        writeln!(self.out, "{}", cells.collect::<Vec<_>>().join(","))
    }

    fn end(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
