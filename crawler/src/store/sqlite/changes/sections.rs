//! The boilerplate of sections, from the texts of a sample of their pages.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Result};

use super::{Finder, samples, texts};
use crate::changes::{Boilerplate, BoilerplateSample};

/// The boilerplate of sections.
pub(super) type SectionBoilerplate = HashMap<i64, Boilerplate>;

/// That of the sections in which a text is another, or a page is new or not found, from the copies before.
pub(super) fn boilerplate(finder: &Finder<'_>) -> Result<SectionBoilerplate> {
    let mut found = HashMap::new();
    for (section, pages) in samples::of_looks(finder)? {
        let mut sample = BoilerplateSample::default();
        for url in pages {
            if let Some((_, text)) = texts::load(finder.connection, before(finder.connection, url)?)? {
                sample.add(&finder.rules.ignore.apply(&text));
            }
        }
        found.insert(section, sample.boilerplate());
    }
    Ok(found)
}

/// The text of a page before it was looked at.
fn before(connection: &Connection, url: i64) -> Result<Option<i64>> {
    let text = "SELECT text FROM visit WHERE id = coalesce(
            (SELECT good FROM page_state WHERE page_state.url = ?1),
            (SELECT coalesce(before, id) FROM visit WHERE id = (SELECT coalesce(copy, visit) FROM url WHERE url.id = ?1)))";
    connection.prepare_cached(text)?.query_row([url], |row| row.get(0)).optional().map(Option::flatten)
}
