//! The texts of pages.

use rusqlite::{Connection, OptionalExtension, Result, params};

use super::Finder;
use crate::{
    store::{TextRow, text_of},
    text::Text,
};

/// Keeps the text of a page; where it is.
pub(in crate::store::sqlite) fn insert(connection: &Connection, url: u64, row: &TextRow) -> Result<i64> {
    let mut insert = connection.prepare_cached("INSERT INTO text (url, rule, digest, body) VALUES (?, ?, ?, ?)")?;
    insert.insert(params![url, row.rule, row.digest, row.body])
}

/// A text with the rule that made it; `None` where it is not kept any more, or cannot be read.
pub(super) fn load(connection: &Connection, text: Option<i64>) -> Result<Option<(u64, Text)>> {
    let Some(text) = text else { return Ok(None) };
    let mut select = connection.prepare_cached("SELECT rule, body FROM text WHERE id = ?")?;
    let found = select.query_row([text], |row| Ok((row.get(0)?, row.get::<_, Vec<u8>>(1)?))).optional()?;
    Ok(found.and_then(|(rule, body)| Some((rule, text_of(&body)?))))
}

/// What is compared of the text of a visit; `None` where it is not kept.
pub(super) fn of_visit(finder: &Finder<'_>, visit: Option<i64>) -> Result<Option<Text>> {
    let mut select = finder.connection.prepare_cached("SELECT text FROM visit WHERE id = ?")?;
    let text = select.query_row([visit], |row| row.get(0)).optional()?.flatten();
    Ok(load(finder.connection, text)?.map(|(_, text)| finder.rules.ignore.apply(&text)))
}

/// The texts of pages that were looked at, but for the last ones of each, and those that they are compared with.
pub(super) fn prune(finder: &Finder<'_>) -> Result<()> {
    let prune = "DELETE FROM text WHERE url IN (SELECT url FROM temp.look)
         AND id NOT IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY url ORDER BY id DESC) AS age FROM text
                                        WHERE url IN (SELECT url FROM temp.look)) WHERE age <= ?)
         AND id NOT IN (SELECT text FROM visit JOIN page_state ON visit.id IN (good, earlier)
                        WHERE page_state.url IN (SELECT url FROM temp.look) AND text IS NOT NULL)";
    finder.connection.execute(prune, [finder.rules.texts]).map(|_| ())
}
