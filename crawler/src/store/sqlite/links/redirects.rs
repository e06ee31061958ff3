//! URLs that redirect, and where each of them leads by its last answer.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};

use super::super::current::Current;
use crate::url::WebUrl;

/// A URL that redirects.
#[derive(Debug)]
pub(super) struct Redirecting {
    pub(super) id: u64,
    pub(super) url: String,
    pub(super) target: WebUrl,
    /// Whether its target was within the scope.
    pub(super) is_taken: bool,
}

const QUERY: &str = "SELECT url.id, url.url, visit.redirect, length(visit.links) > 0
    FROM url JOIN visit ON visit.id = url.visit WHERE visit.outcome = 'redirected' AND url.state <> 'abandoned'";

/// Shows each of them to `each`, in the order of their rows.
pub(super) fn all<E: From<rusqlite::Error>>(
    connection: &Connection,
    current: Current,
    mut each: impl FnMut(Redirecting) -> Result<(), E>,
) -> Result<(), E> {
    let mut select = connection.prepare(&format!("{QUERY} AND {} ORDER BY url.id", current.rows()))?;
    let mut rows = select.query([current.sequence])?;
    while let Some(row) = rows.next()? {
        redirecting(row)?.map_or(Ok(()), &mut each)?;
    }
    Ok(())
}

/// The one of this number.
pub(super) fn one(connection: &Connection, current: Current, id: u64) -> Result<Option<Redirecting>> {
    let mut select = connection.prepare_cached(&format!("{QUERY} AND {} AND url.id = ?2", current.rows()))?;
    Ok(select.query_row(params![current.sequence, id], redirecting).optional()?.flatten())
}

fn redirecting(row: &Row<'_>) -> Result<Option<Redirecting>> {
    let target = row.get_ref(2)?.as_str_or_null()?.and_then(|target| WebUrl::parse(target).ok());
    let Some(target) = target.map(WebUrl::without_credentials) else { return Ok(None) };
    Ok(Some(Redirecting { id: row.get(0)?, url: row.get(1)?, target, is_taken: row.get(3)? }))
}
