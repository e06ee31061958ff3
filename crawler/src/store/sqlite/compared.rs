//! What is compared of pages, between two crawls.

use rusqlite::{Connection, Result, Row};

use super::current_copy::current_copy;
use crate::store::ComparedPage;

/// Pages and redirects.
const PAGES: &str = concat!(
    "SELECT url.url, iif(copy.outcome = 'redirected', coalesce(copy.redirect, ''), NULL), copy.digest, copy.title, text.digest
     FROM url JOIN visit AS last ON last.id = url.visit LEFT JOIN page_state ON page_state.url = url.id
     JOIN visit AS copy ON copy.id = iif(last.outcome = 'redirected', last.id, ",
    current_copy!(),
    ") LEFT JOIN text ON text.id = copy.text"
);

/// Shows each.
pub(super) fn pages(connection: &Connection, mut each: impl FnMut(ComparedPage)) -> Result<()> {
    let mut select = connection.prepare(PAGES)?;
    let page = |row: &Row<'_>| {
        let [redirect, title] = [row.get(1)?, row.get(3)?];
        Ok(ComparedPage { url: row.get(0)?, redirect, digest: row.get(2)?, title, text: row.get(4)? })
    };
    select.query_map([], page)?.try_for_each(|page| page.map(&mut each))
}
