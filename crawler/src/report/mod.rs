//! Rows for people and programs: each command says which columns it has, and a [`RowWriter`] gives them a form.
//!
//! Owns: the forms ([`Format`]), what is escaped in each, and that a table on a terminal is aligned. A new form takes a file beside these,
//! a word of [`Format`] and a line of [`writer`].
//!
//! Does not know: what the columns mean, and where their values come from.

mod csv;
mod jsonl;
mod row;
mod table;

use std::io::Write;

pub use row::{Column, Kind, RowWriter, Value};

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

/// What writes this form; `width` is that of the terminal, where a person reads along.
pub fn writer(format: Format, out: impl Write + 'static, width: Option<usize>) -> Box<dyn RowWriter> {
    match format {
        Format::Table => Box::new(table::Table::new(out, width)),
        Format::Jsonl => Box::new(jsonl::JsonLines::new(out)),
        Format::Csv => Box::new(csv::Csv::new(out)),
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, io, rc::Rc};

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
