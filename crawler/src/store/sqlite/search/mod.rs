//! The full-text index of pages (FTS5), and what links say of their importance.
//!
//! Owns: which pages are in it, when it is brought up to date, and how it is asked.
//!
//! Invariants: the index follows from visits and texts; it has the current copy of each page that is there and has a text, up to
//! `crawl.indexed_to`. It is brought up to date between runs, so many visits in a transaction.
//!
//! Does not know: what users ask for, and how answers are ordered.

mod ask;
mod expression;
mod importance;
mod past;
mod update;

use rusqlite::{Connection, Result};

pub(super) use ask::search;
pub use update::index_pages;

/// The index. It holds no texts: they are in `text`.
const TABLE: &str = "
    CREATE VIRTUAL TABLE IF NOT EXISTS page_words USING fts5(
        title, heading, address, body, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2');
    INSERT INTO page_words (page_words, rank) VALUES ('automerge', 16);
    INSERT INTO page_words (page_words, rank) VALUES ('crisismerge', 64);
    INSERT INTO page_words (page_words, rank) VALUES ('hashsize', 16777216)";

/// Whether there are rows of it: in a database that no program has written to since, there are none.
pub(super) fn has_table(connection: &Connection) -> Result<bool> {
    let any = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'indexed_page')";
    connection.query_row(any, [], |row| row.get(0))
}

/// Up to which visit it is brought up; `None` where there is no index.
pub(super) fn indexed_to(connection: &Connection) -> Result<Option<i64>> {
    if !has_table(connection)? {
        return Ok(None);
    }
    connection.query_row("SELECT indexed_to FROM crawl", [], |row| row.get(0))
}
