//! What is compared of pages, between two crawls.

use rusqlite::{Connection, Result, Row};

use crate::store::ComparedPage;

/// Pages and redirects; of those that did not answer when they were asked last, the last copy.
const PAGES: &str = "
    SELECT url.url, iif(copy.outcome = 'redirected', coalesce(copy.redirect, ''), NULL), copy.digest, copy.title, text.digest
    FROM url JOIN visit AS last ON last.id = url.visit
    JOIN visit AS copy ON copy.id = iif(last.outcome = 'failed' OR last.status >= 500, url.copy, last.id)
    LEFT JOIN text ON text.id = copy.text WHERE copy.outcome = 'stored' OR copy.outcome = 'redirected'";

/// Shows each.
pub(super) fn pages(connection: &Connection, mut each: impl FnMut(ComparedPage)) -> Result<()> {
    let mut select = connection.prepare(PAGES)?;
    let page = |row: &Row<'_>| {
        let [redirect, title] = [row.get(1)?, row.get(3)?];
        Ok(ComparedPage { url: row.get(0)?, redirect, digest: row.get(2)?, title, text: row.get(4)? })
    };
    select.query_map([], page)?.try_for_each(|page| page.map(&mut each))
}
