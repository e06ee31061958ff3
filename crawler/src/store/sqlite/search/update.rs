//! Bringing the index up to date.

use std::path::Path;

use percent_encoding::percent_decode_str;
use rusqlite::{Connection, OptionalExtension, Result, Transaction, TransactionBehavior, params};
use xxhash_rust::xxh3::xxh3_64;

use super::{
    super::{
        current_copy::current_copy,
        directory::{DATABASE, DirectoryLock},
        error::Fault,
        schema,
    },
    TABLE, importance, indexed_to,
};
use crate::{
    search::{similarity_hash, words},
    store::{StoreError, words_of},
};

/// Visits of a transaction.
const VISITS: u32 = 2_000;

/// A page, and the copy by which it is found.
const COPY: &str = concat!(
    "SELECT url.url, coalesce(copy.title, ''), coalesce(copy.h1, ''), text.body FROM url JOIN visit AS last ON last.id = url.visit
     LEFT JOIN page_state ON page_state.url = url.id JOIN visit AS copy ON copy.id = ",
    current_copy!(),
    " JOIN text ON text.id = copy.text WHERE url.id = ?"
);

/// Has the index know all visits, until it is to stop. What is done by then stays.
///
/// # Errors
/// [`StoreError`] when the database cannot be read or written.
pub fn index_pages(lock: &DirectoryLock, is_stopped: impl Fn() -> bool) -> std::result::Result<(), StoreError> {
    let dir = lock.directory()?;
    let database = dir.join(DATABASE);
    let update = || {
        let mut connection = Connection::open(&database)?;
        schema::prepare(&connection)?;
        schema::prepare_writing(&connection)?;
        let mut any = false;
        while !is_stopped() {
            if !index_some(&mut connection)? {
                return if any { weigh(&mut connection, &dir) } else { Ok(()) };
            }
            any = true;
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        }
        Ok(())
    };
    update().map_err(|fault: Fault| fault.of(&database))
}

fn weigh(connection: &mut Connection, dir: &Path) -> std::result::Result<(), Fault> {
    importance::weigh(connection, dir)?;
    Ok(connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?)
}

/// Takes in some visits; whether there were any.
fn index_some(connection: &mut Connection) -> std::result::Result<bool, Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let known = indexed_to(&transaction)?;
    if known.is_none() {
        transaction.execute_batch(TABLE)?;
    }
    let urls: Vec<(i64, i64)> = {
        let mut select = transaction.prepare("SELECT id, url FROM visit WHERE id > ? ORDER BY id LIMIT ?")?;
        let rows = select.query_map(params![known.unwrap_or(0), VISITS], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect::<Result<_>>()?
    };
    let mut pages: Vec<i64> = urls.iter().map(|(_, url)| *url).collect();
    pages.sort_unstable();
    pages.dedup();
    pages.into_iter().try_for_each(|url| index_page(&transaction, url))?;
    let last = urls.last().map_or(known.unwrap_or(0), |(visit, _)| *visit);
    transaction.execute("UPDATE crawl SET indexed_to = ? WHERE indexed_to IS NOT ?1", [last])?;
    transaction.commit()?;
    Ok(!urls.is_empty())
}

/// What is indexed of a page.
pub(super) struct IndexedWords {
    pub(super) title: String,
    pub(super) heading: String,
    pub(super) address: String,
    pub(super) body: String,
    similarity: Option<i64>,
}

impl IndexedWords {
    pub(super) fn read(url: &str, title: &str, heading: &str, body: &[u8]) -> Option<Self> {
        let path = url.split_once("://").map_or(url, |(_, rest)| rest);
        let address = percent_decode_str(path).decode_utf8_lossy();
        let text = words_of(body)?;
        let [title, heading, address, body] = [title, heading, &address, &text].map(|text| words(text).into_owned());
        let similarity = similarity_hash(&body);
        Some(Self { title, heading, address, body, similarity })
    }

    /// A number that is another for other words.
    fn hash(&self) -> i64 {
        let hashes =
            [&self.title, &self.heading, &self.address, &self.body].map(|text| xxh3_64(text.as_bytes()).to_le_bytes());
        xxh3_64(&hashes.concat()).cast_signed()
    }
}

/// Has the index hold the page as it is now, or not hold it if it is not there.
fn index_page(transaction: &Transaction<'_>, url: i64) -> Result<()> {
    let mut select = transaction.prepare_cached(COPY)?;
    let read = |row: &rusqlite::Row<'_>| {
        let [address, title, heading] =
            [row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str()?, row.get_ref(2)?.as_str()?];
        Ok(IndexedWords::read(address, title, heading, row.get_ref(3)?.as_blob()?))
    };
    let page = select.query_row([url], read).optional()?.flatten();
    let hash = page.as_ref().map(IndexedWords::hash);
    let mut known = transaction.prepare_cached("SELECT words FROM indexed_page WHERE url = ?")?;
    let known: Option<i64> = known.query_row([url], |row| row.get(0)).optional()?;
    if known == hash {
        return Ok(());
    }
    if known.is_some() {
        transaction.prepare_cached("DELETE FROM page_words WHERE rowid = ?")?.execute([url])?;
        transaction.prepare_cached("DELETE FROM indexed_page WHERE url = ?")?.execute([url])?;
    }
    let Some((page, hash)) = page.zip(hash) else { return Ok(()) };
    let insert = "INSERT INTO page_words (rowid, title, heading, address, body) VALUES (?, ?, ?, ?, ?)";
    let IndexedWords { title, heading, address, body, similarity } = page;
    transaction.prepare_cached(insert)?.execute(params![url, title, heading, address, body])?;
    let row = "INSERT INTO indexed_page (url, words, links, importance, similarity) VALUES (?, ?, 0, 0, ?)";
    transaction.prepare_cached(row)?.execute(params![url, hash, similarity]).map(|_| ())
}
