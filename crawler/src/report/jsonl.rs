//! A JSON object a row: its members are the columns, in their order.

use std::io::{self, Write};

use serde_json::Map;

use super::row::{Column, RowWriter, Value};
use crate::observe::escape;

pub(super) struct JsonLines<W> {
    out: W,
    columns: Vec<&'static str>,
}

impl<W: Write> JsonLines<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, columns: Vec::new() }
    }
}

impl<W: Write> RowWriter for JsonLines<W> {
    fn begin(&mut self, columns: &[Column]) -> io::Result<()> {
        self.columns = columns.iter().map(|column| column.name).collect();
        Ok(())
    }

    fn row(&mut self, row: &[Value<'_>]) -> io::Result<()> {
        let member = |(name, value): (&&str, &Value<'_>)| ((*name).to_owned(), json(value));
        let object: Map<_, _> = self.columns.iter().zip(row).map(member).collect();
        writeln!(self.out, "{}", escape::json(&object))
    }

    fn end(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn json(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::None => serde_json::Value::Null,
        Value::Number(number) => (*number).into(),
        Value::Flag(so) => (*so).into(),
        Value::Text(text) => text.as_ref().into(),
        Value::Json(text) => serde_json::from_str(text).unwrap_or_default(),
    }
}
