//! Asking the index.

use rusqlite::{Connection, Result, Row, params};

use super::{
    super::current_copy::current_copy,
    expression::{expression, in_titles},
    indexed_to, past,
};
use crate::{
    search::{Matched, Query, definitions, snippet},
    store::{SearchHit, SearchResults, text_of},
    text::Text,
    time::Moment,
};

/// Pages that are put in order by more than their words.
const LOOKED_AT: usize = 200;

/// Pages whose texts are read for that.
const READ: usize = 60;

/// Pages that match of which it is computed how well: those that were found first, and all with the words in their titles. So words
/// that nearly all of very many pages have take no longer.
const WEIGHED: u64 = 5_000;

/// The weights of title, heading, address and body.
const MATCHING: &str = "
    SELECT id, relevance FROM (
        SELECT rowid AS id, -bm25(page_words, 10.0, 8.0, 4.0, 1.0) AS relevance FROM page_words WHERE page_words MATCH ?1 LIMIT ?3)
    ORDER BY relevance DESC, id LIMIT ?2";
const TOTAL: &str = "SELECT count(*) FROM page_words WHERE page_words MATCH ?";

const PAGE: &str = concat!(
    "SELECT url.url, copy.title, copy.sequence, copy.text, indexed_page.links FROM url JOIN visit AS last ON last.id = url.visit
     LEFT JOIN page_state ON page_state.url = url.id JOIN visit AS copy ON copy.id = ",
    current_copy!(),
    " JOIN indexed_page ON indexed_page.url = url.id WHERE url.id = ?"
);

/// A page that matches.
struct Page {
    relevance: f64,
    url: String,
    title: Option<String>,
    sequence: u32,
    text: Option<i64>,
    links: u64,
}

/// The index, and what is asked of it.
struct Asked<'a> {
    connection: &'a Connection,
    matching: &'static str,
    total: &'static str,
    page: &'static str,
}

/// The best pages, so many at most, as they are or as they were at a time; `None` where there is no index.
pub(in crate::store::sqlite) fn search(
    connection: &Connection,
    query: &Query,
    (limit, at): (usize, Option<Moment>),
) -> Result<Option<SearchResults>> {
    let Some(indexed_to) = indexed_to(connection)? else { return Ok(None) };
    let waiting = "SELECT count(*) FROM visit WHERE id > ?";
    let waiting = if at.is_some() { 0 } else { connection.query_row(waiting, [indexed_to], |row| row.get(0))? };
    if query.terms().is_empty() {
        return Ok(Some(SearchResults { waiting, ..SearchResults::default() }));
    }
    let asked = match at {
        None => Asked { connection, matching: MATCHING, total: TOTAL, page: PAGE },
        Some(_) => Asked { connection, matching: past::MATCHING, total: past::TOTAL, page: past::PAGE },
    };
    let past = at.map(|at| past::read(connection, at, indexed_to)).transpose()?;
    let matching = expression(query.terms());
    let mut total = connection.query_row(asked.total, [&matching], |row| row.get(0))?;
    let mut found = asked.matches(&matching, limit.max(LOOKED_AT))?;
    if total > WEIGHED {
        let titled = asked.matches(&in_titles(&matching), limit.max(LOOKED_AT))?;
        found.retain(|(url, _)| titled.iter().all(|(other, _)| other != url));
        found.extend(titled);
    }
    if past.is_some() {
        let others = past::matches(connection, &matching, query.terms())?;
        total += others.len() as u64;
        found.extend(others);
    }
    found.sort_by(|(one, relevance), (other, more)| more.total_cmp(relevance).then(one.cmp(other)));
    found.truncate(2 * limit.max(LOOKED_AT));
    let pages = asked.pages(found)?;
    let best = pages.first().map_or(0.0, |page| page.relevance);
    let mut scored = Vec::new();
    for (place, page) in pages.into_iter().enumerate() {
        let text = if place < READ { text(connection, page.text)? } else { None };
        let definitions = text.map_or(0, |text| definitions(&text, query));
        let title = page.title.as_deref().unwrap_or_default();
        let matched = Matched { relevance: page.relevance, links: page.links, url: &page.url, title, definitions };
        let score = matched.score(query, best);
        scored.push((score, page));
    }
    // What is equal stays in the order of relevance.
    scored.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    scored.truncate(limit);
    let hit = |(score, page): (f64, Page)| {
        let snippet = snippet(&text(connection, page.text)?.unwrap_or_default(), query);
        Ok(SearchHit { url: page.url, title: page.title, score, snippet, sequence: page.sequence })
    };
    let hits = scored.into_iter().map(hit).collect::<Result<_>>()?;
    Ok(Some(SearchResults { total, hits, waiting, forgotten: past.unwrap_or(0) }))
}

impl Asked<'_> {
    /// The rows that fit best, with how well they do.
    fn matches(&self, matching: &str, most: usize) -> Result<Vec<(i64, f64)>> {
        let mut select = self.connection.prepare_cached(self.matching)?;
        let found = select.query_map(params![matching, most, WEIGHED], |row| Ok((row.get(0)?, row.get(1)?)))?;
        found.collect()
    }

    fn pages(&self, found: Vec<(i64, f64)>) -> Result<Vec<Page>> {
        let mut select = self.connection.prepare_cached(self.page)?;
        let mut pages = Vec::new();
        for (url, relevance) in found {
            let page = |row: &Row<'_>| {
                let [url, title] = [row.get(0)?, row.get::<_, Option<String>>(1)?.unwrap_or_default()];
                let title = Some(title).filter(|title| !title.is_empty());
                Ok(Page { relevance, url, title, sequence: row.get(2)?, text: row.get(3)?, links: row.get(4)? })
            };
            pages.extend(select.query_map([url], page)?.next().transpose()?);
        }
        Ok(pages)
    }
}

fn text(connection: &Connection, text: Option<i64>) -> Result<Option<Text>> {
    let mut select = connection.prepare_cached("SELECT body FROM text WHERE id = ?")?;
    let body = select.query_map([text], |row| row.get::<_, Vec<u8>>(0))?.next().transpose()?;
    Ok(body.and_then(|body| text_of(&body)))
}
