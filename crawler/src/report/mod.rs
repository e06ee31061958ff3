//! Rows for people and programs: each command says which columns it has, and a [`Writer`] gives them a form.
//!
//! Owns: the forms ([`Format`]), what is escaped in each, and that a table on a terminal is aligned. One more form is a file beside these,
//! a word of [`Format`] and a line of [`writer`].
//!
//! Does not know: what the columns mean, and where their values come from.

mod csv;
mod jsonl;
mod table;

use std::{
    borrow::Cow,
    io::{self, Write},
};

/// A column of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What its values are.
    pub kind: Kind,
}

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Numbers or text.
    Plain,
    /// URLs, whose ends say most.
    Url,
    /// Lines that belong to a row: a table has them below it, and CSV leaves them out.
    Below,
}

impl Column {
    /// A column of numbers or text.
    pub const fn plain(name: &'static str) -> Self {
        Self { name, kind: Kind::Plain }
    }

    /// A column of URLs.
    pub const fn url(name: &'static str) -> Self {
        Self { name, kind: Kind::Url }
    }

    /// Lines below a row.
    pub const fn below(name: &'static str) -> Self {
        Self { name, kind: Kind::Below }
    }
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value<'a> {
    /// There is none.
    None,
    /// A number.
    Number(u64),
    /// A text.
    Text(Cow<'a, str>),
}

impl Value<'_> {
    /// As it is written where values have no types.
    fn text(&self) -> Cow<'_, str> {
        match self {
            Self::None => "".into(),
            Self::Number(number) => number.to_string().into(),
            Self::Text(text) => text.as_ref().into(),
        }
    }
}

impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for Value<'_> {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<u16> for Value<'_> {
    fn from(number: u16) -> Self {
        Self::Number(number.into())
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value<'_> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}

/// The form of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Columns separated by tabs, and aligned on a terminal.
    Table,
    /// A JSON object a row.
    Jsonl,
    /// RFC 4180.
    Csv,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Table, Self::Jsonl, Self::Csv];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
        }
    }
}

/// Writes rows in a form. Each row has a value for each column.
pub trait Writer {
    /// Begins, with the columns in their order.
    ///
    /// # Errors
    /// When nothing can be written.
    fn begin(&mut self, columns: &[Column]) -> io::Result<()>;

    /// Takes the next row.
    ///
    /// # Errors
    /// When nothing can be written.
    fn row(&mut self, row: &[Value<'_>]) -> io::Result<()>;

    /// Writes what is left.
    ///
    /// # Errors
    /// When nothing can be written.
    fn end(&mut self) -> io::Result<()>;
}

/// What writes this form; `width` is that of the terminal, where a person reads along.
pub fn writer(format: Format, out: impl Write + 'static, width: Option<usize>) -> Box<dyn Writer> {
    match format {
        Format::Table => Box::new(table::Table::new(out, width)),
        Format::Jsonl => Box::new(jsonl::JsonLines::new(out)),
        Format::Csv => Box::new(csv::Csv::new(out)),
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, rc::Rc};

    use super::*;

    #[derive(Clone, Default)]
    struct Out(Rc<RefCell<Vec<u8>>>);

    impl Write for Out {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Two rows, the first one with lines below it.
    fn written(format: Format, width: Option<usize>) -> String {
        let out = Out::default();
        let mut writer = writer(format, out.clone(), width);
        writer.begin(&[Column::url("url"), Column::plain("count"), Column::below("diff")]).unwrap();
        writer.row(&["http://h/=a,b\u{1b}".into(), 12_u64.into(), "-x\n+y\u{1b}".into()]).unwrap();
        writer.row(&["=1".into(), Value::None, None::<&str>.into()]).unwrap();
        writer.end().unwrap();
        String::from_utf8(out.0.take()).unwrap()
    }

    #[test]
    fn each_form_escapes_what_misleads_and_says_what_is_below_a_row_in_its_way() {
        assert_eq!(written(Format::Table, None), "url\tcount\nhttp://h/=a,b\\u{1b}\t12\n    -x\n    +y\\u{1b}\n=1\t\n");
        assert_eq!(
            written(Format::Jsonl, None),
            "{\"url\":\"http://h/=a,b\\u001b\",\"count\":12,\"diff\":\"-x\\n+y\\u001b\"}\n{\"url\":\"=1\",\"count\":null,\"diff\":null}\n"
        );
        assert_eq!(written(Format::Csv, None), "url,count\n\"http://h/=a,b\\u{1b}\",12\n'=1,\n");
    }

    #[test]
    fn a_table_on_a_terminal_has_the_lines_below_their_row() {
        let lines = written(Format::Table, Some(80));
        let places = ["url", "http://h/", "    -x", "    +y", "=1"].map(|text| lines.find(text).unwrap());
        assert!(places.is_sorted(), "{lines}");
    }
}
