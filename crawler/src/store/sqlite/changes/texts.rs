//! The texts of pages.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};

use super::Finder;
use crate::{
    store::{TextRow, placed_text, text_of},
    text::Text,
};

/// Keeps the text of a page; where it is.
pub(in crate::store::sqlite) fn insert(connection: &Connection, url: u64, row: &TextRow) -> Result<i64> {
    let mut insert =
        connection.prepare_cached("INSERT INTO text (url, rule, digest, body, places) VALUES (?, ?, ?, ?, ?)")?;
    insert.insert(params![url, row.rule, row.digest, row.body, row.places])
}

/// A text with the rule that made it; `None` where it is not kept any more, or cannot be read.
pub(super) fn load(connection: &Connection, text: Option<i64>) -> Result<Option<(u64, Text)>> {
    let mut select = connection.prepare_cached("SELECT rule, body FROM text WHERE id = ?")?;
    let read = |row: &Row<'_>| Ok((row.get(0)?, text_of(row.get_ref(1)?.as_blob()?)));
    let found = select.query_row([text], read).optional()?;
    Ok(found.and_then(|(rule, text)| Some((rule, text?))))
}

/// The same with the places of its lines.
pub(super) fn placed(connection: &Connection, text: Option<i64>) -> Result<Option<(u64, Text)>> {
    let mut select = connection.prepare_cached("SELECT rule, body, places FROM text WHERE id = ?")?;
    let read = |row: &Row<'_>| {
        let places = row.get_ref(2)?.as_blob_or_null()?.unwrap_or_default();
        Ok((row.get(0)?, placed_text(row.get_ref(1)?.as_blob()?, places)))
    };
    let found = select.query_row([text], read).optional()?;
    Ok(found.and_then(|(rule, text)| Some((rule, text?))))
}

/// The texts of pages that were looked at, but for the last ones of each, and those that they are compared with.
pub(super) fn prune(finder: &Finder<'_>) -> Result<()> {
    let prune = "DELETE FROM text WHERE url IN (SELECT url FROM temp.look)
         AND id NOT IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY url ORDER BY id DESC) AS age FROM text
                                        WHERE url IN (SELECT url FROM temp.look)) WHERE age <= ?)
         AND id NOT IN (SELECT text FROM visit JOIN page_state ON visit.id IN (good, earlier, unsure)
                        WHERE page_state.url IN (SELECT url FROM temp.look) AND text IS NOT NULL)";
    finder.connection.execute(prune, [finder.rules.texts]).map(|_| ())
}
