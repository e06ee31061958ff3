//! The pages as they were at a time, for a search of that time.
//!
//! Invariant: what is as it was is found in the index; words of what is not are counted anew, in a temporary table, and weigh there what
//! they weigh in the index.

use std::collections::HashMap;

use rusqlite::{Connection, Result};

use super::{super::current_copy::current_copy, expression::expression, update::IndexedWords};
use crate::{search::Term, time::Moment};

/// The copy of each URL at a time, none if there was no page, and whether its words are not those of the index.
const THEN: &str = "
    DROP TABLE IF EXISTS temp.page_then;
    DROP TABLE IF EXISTS temp.words_then;
    CREATE TABLE temp.page_then (url INTEGER PRIMARY KEY, copy INTEGER, is_other INTEGER NOT NULL);
    CREATE VIRTUAL TABLE temp.words_then USING fts5(
        title, heading, address, body, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2')";

/// What was reported since is not known of a page that has been visited since.
const COPIES: &str = concat!(
    "INSERT INTO temp.page_then
    SELECT seen.url,
           CASE WHEN seen.last = url.visit THEN ",
    current_copy!(),
    "           WHEN last.outcome = 'stored' THEN last.id
                WHEN last.outcome = 'redirected' OR last.status = 404 OR last.status = 410 THEN NULL
                ELSE seen.copy END, 0
    FROM (SELECT url, max(id) AS last, max(iif(outcome = 'stored', id, NULL)) AS copy
          FROM visit WHERE fetched_at <= ?1 GROUP BY url) AS seen
    JOIN visit AS last ON last.id = seen.last JOIN url ON url.id = seen.url LEFT JOIN page_state ON page_state.url = url.id"
);

const OTHERS: &str = concat!(
    "UPDATE temp.page_then SET is_other = 1
     WHERE url IN (SELECT url FROM visit WHERE id > ?1) OR NOT EXISTS (
        SELECT 1 FROM url JOIN visit AS last ON last.id = url.visit LEFT JOIN page_state ON page_state.url = url.id
        JOIN visit AS now ON now.id = ",
    current_copy!(),
    " JOIN indexed_page ON indexed_page.url = url.id JOIN visit AS copy ON copy.id = page_then.copy
        WHERE url.id = page_then.url AND (now.text, now.title, now.h1) IS (copy.text, copy.title, copy.h1))"
);

const TEXTS: &str =
    "SELECT url.id, url.url, coalesce(copy.title, ''), coalesce(copy.h1, ''), text.body FROM temp.page_then AS page
     JOIN url ON url.id = page.url JOIN visit AS copy ON copy.id = page.copy LEFT JOIN text ON text.id = copy.text
     WHERE is_other AND copy.text IS NOT NULL";

/// Those that are as the index has them, as for a search of now. (Without the plus, the index would be asked once for each page.)
pub(super) const MATCHING: &str = "
    SELECT id, relevance FROM (
        SELECT rowid AS id, -bm25(page_words, 10.0, 8.0, 4.0, 1.0) AS relevance FROM page_words WHERE page_words MATCH ?1
            AND +rowid IN (SELECT url FROM temp.page_then WHERE copy IS NOT NULL AND NOT is_other) LIMIT ?3)
    ORDER BY relevance DESC, id LIMIT ?2";
pub(super) const TOTAL: &str = "SELECT count(*) FROM page_words WHERE page_words MATCH ?
    AND +rowid IN (SELECT url FROM temp.page_then WHERE copy IS NOT NULL AND NOT is_other)";

/// A page as it was.
pub(super) const PAGE: &str = "
    SELECT url.url, copy.title, copy.sequence, copy.text, coalesce(indexed_page.links, 0) FROM temp.page_then AS page
    JOIN url ON url.id = page.url JOIN visit AS copy ON copy.id = page.copy
    LEFT JOIN indexed_page ON indexed_page.url = url.id WHERE page.url = ?";

/// Finds the pages of a time; how many of them have no text any more.
pub(super) fn read(connection: &Connection, at: Moment, indexed_to: i64) -> Result<u64> {
    connection.execute_batch(THEN)?;
    connection.execute(COPIES, [i64::try_from(at.millis()).unwrap_or(i64::MAX)])?;
    connection.execute(OTHERS, [indexed_to])?;
    let insert = "INSERT INTO temp.words_then (rowid, title, heading, address, body) VALUES (?, ?, ?, ?, ?)";
    let mut insert = connection.prepare(insert)?;
    let mut select = connection.prepare(TEXTS)?;
    let mut rows = select.query([])?;
    let mut forgotten = 0;
    while let Some(row) = rows.next()? {
        let [url, title, heading]: [String; 3] = [row.get(1)?, row.get(2)?, row.get(3)?];
        let body = row.get_ref(4)?.as_blob_or_null()?;
        let words = body.and_then(|body| IndexedWords::read(&url, &title, &heading, body));
        match words {
            Some(words) => insert
                .execute((row.get::<_, i64>(0)?, words.title, words.heading, words.address, words.body))
                .map(|_| ())?,
            None => forgotten += 1,
        }
    }
    Ok(forgotten)
}

/// The pages that are not as the index has them, and match, with how well they do.
pub(super) fn matches(connection: &Connection, matching: &str, terms: &[Term]) -> Result<Vec<(i64, f64)>> {
    let mut found: HashMap<i64, f64> = HashMap::new();
    let all = "SELECT rowid FROM temp.words_then WHERE words_then MATCH ?";
    for row in connection.prepare(all)?.query_map([matching], |row| row.get(0))? {
        found.insert(row?, 0.0);
    }
    for term in terms {
        let term = expression(std::slice::from_ref(term));
        // A word weighs what it weighs in the index, and not what it would among these pages.
        let [index, here] = [weight(connection, "page_words", &term)?, weight(connection, "words_then", &term)?];
        let each = "SELECT rowid, -bm25(words_then, 10.0, 8.0, 4.0, 1.0) FROM temp.words_then WHERE words_then MATCH ?";
        for row in connection.prepare(each)?.query_map([&term], |row| Ok((row.get(0)?, row.get::<_, f64>(1)?)))? {
            let (url, relevance) = row?;
            if let Some(sum) = found.get_mut(&url) {
                *sum += relevance / here * index;
            }
        }
    }
    Ok(found.into_iter().collect())
}

/// What a term weighs in a table (inverse document frequency, as FTS5 computes it).
fn weight(connection: &Connection, table: &str, term: &str) -> Result<f64> {
    let count = |sql: String, term: &[&str]| {
        connection.query_row(&sql, rusqlite::params_from_iter(term), |row| row.get::<_, f64>(0))
    };
    let all = count(format!("SELECT CAST(count(*) AS REAL) FROM {table}"), &[])?;
    let with = count(format!("SELECT CAST(count(*) AS REAL) FROM {table} WHERE {table} MATCH ?"), &[term])?;
    Ok(((all - with + 0.5) / (with + 0.5)).ln().max(1e-6))
}
