//! Reads words of the database as the values that they mean.

use rusqlite::{Error, Result, Row, types::Type};

/// What a word means; the row cannot be read where the word is unknown.
pub(super) fn word<T>(row: &Row<'_>, column: usize, read: impl Fn(&str) -> Option<T>) -> Result<T> {
    let word = row.get_ref(column)?.as_str()?;
    read(word)
        .ok_or_else(|| Error::FromSqlConversionFailure(column, Type::Text, format!("unknown word {word:?}").into()))
}

/// The same where there may be none.
pub(super) fn word_or_none<T>(row: &Row<'_>, column: usize, read: impl Fn(&str) -> Option<T>) -> Result<Option<T>> {
    row.get_ref(column)?.as_str_or_null()?.map(|_| word(row, column, read)).transpose()
}
