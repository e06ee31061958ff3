//! The search index, against its rows.

use rusqlite::{Connection, Result};

use crate::store::sqlite::search;

/// What its rows say, where there is an index.
pub(super) const SEARCH_RULES: &[(&str, &str)] = &[(
    "the search index has the pages that its rows name",
    "SELECT 'page ' || coalesce(url, id) FROM indexed_page FULL JOIN page_words_docsize ON id = url
         WHERE url IS NULL OR id IS NULL",
)];

/// The same where there is none.
const NO_SEARCH_RULES: &[(&str, &str)] =
    &[("the search index has the pages that its rows name", "SELECT 'page ' || url FROM indexed_page")];

/// What is known of texts that are nearly the same, where there is a column for that.
pub(super) const SIMILAR_RULES: &[(&str, &str)] = &[(
    "a page is nearly the same as one before it whose text is long enough",
    "SELECT 'page ' || url FROM indexed_page AS page WHERE similar IS NOT NULL AND (similarity IS NULL OR similar >= url
         OR NOT EXISTS (SELECT 1 FROM indexed_page AS other WHERE other.url = page.similar AND other.similarity IS NOT NULL))",
)];

/// Those of this database.
pub(super) fn rules(connection: &Connection) -> Result<&'static [(&'static str, &'static str)]> {
    Ok(match search::indexed_to(connection)? {
        Some(_) => SEARCH_RULES,
        None if search::has_table(connection)? => NO_SEARCH_RULES,
        None => &[],
    })
}
