//! What rows are made of, and what takes them.

use std::{borrow::Cow, io};

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
    /// Whether something is so.
    Flag(bool),
    /// A text.
    Text(Cow<'a, str>),
    /// JSON.
    Json(Cow<'a, str>),
}

impl Value<'_> {
    /// As it is written where values have no types.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::None => "".into(),
            Self::Number(number) => number.to_string().into(),
            Self::Flag(so) => if *so { "yes" } else { "no" }.into(),
            Self::Text(text) | Self::Json(text) => text.as_ref().into(),
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

/// Writes rows in a form. Each row has a value for each column.
pub trait RowWriter {
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
