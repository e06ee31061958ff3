//! How many pages link to each page, from which the importance of pages is computed.
//!
//! Invariants: the links of a sequence that has ended are counted once, and only where importance matters; memory holds neither all links
//! nor all URLs.

use std::path::Path;

use rusqlite::Connection;

use super::{
    super::{
        error::Fault,
        runs::{Sorted, Sorter},
        schema,
    },
    book::{Book, Remembered},
};
use crate::revisit::{Class, Importance};

/// Memory for the links.
const MEMORY: usize = 8 << 20;

/// More links than the highest level of importance needs, of one run of the sorter.
const MOST: usize = 64;

/// How many levels of importance there are.
const LEVELS: u64 = 4;

/// Counts the links of the last sequence, unless that has been done or it has not come to its end; the temporary file is made in
/// `folder`.
pub(super) fn count(book: &mut Book<'_>, folder: &Path) -> Result<(), Fault> {
    let connection = book.connection;
    if book.policy.weigh(Class::default(), Importance::default()).is_none() {
        return Ok(());
    }
    let last = "SELECT n FROM sequence, crawl
        WHERE n = (SELECT max(n) FROM sequence) AND end IN ('drained', 'budget', 'unreachable') AND weighed IS NOT n";
    let mut select = connection.prepare_cached(last)?;
    let Some(sequence) = select.query_map([], |row| row.get::<_, u32>(0))?.next().transpose()? else {
        return Ok(());
    };
    connection.execute_batch(schema::INDEX_OF_KEYS)?;
    let level = |url, pages| url * LEVELS + u64::from(Importance::of_links(pages).level());
    weigh(book, linking_pages(connection, &[folder], level)?)?;
    connection.execute("UPDATE crawl SET weighed = ?", [sequence])?;
    Ok(())
}

/// A number for each URL from its own and from how many pages link to it, by all pages' latest visits; the numbers ascend with those
/// of the URLs. The index of keys is there.
pub(in super::super) fn linking_pages(
    connection: &Connection,
    folders: &[&Path],
    number: impl Fn(u64, u64) -> u64,
) -> Result<Sorted, Fault> {
    numbers(connection, links(connection, folders)?, folders, number)
}

/// The links of all pages' latest visits in ascending order, each as often as pages have it.
fn links(connection: &Connection, folders: &[&Path]) -> Result<Sorted, Fault> {
    let mut sorter = Sorter::new(folders, MEMORY).counting(MOST);
    let mut select = connection.prepare(
        "SELECT kept.links FROM url CROSS JOIN visit ON visit.id = url.visit AND visit.outcome = 'stored'
                                    CROSS JOIN visit AS kept ON kept.id = coalesce(visit.same, visit.id)",
    )?;
    let mut visits = select.query([])?;
    let mut of_page = Vec::new();
    while let Some(visit) = visits.next()? {
        let links = visit.get_ref(0)?.as_blob().unwrap_or_default().chunks_exact(8);
        of_page.clear();
        of_page.extend(links.map(|link| u64::from_be_bytes(link.try_into().expect("chunks of 8 bytes"))));
        of_page.sort_unstable();
        of_page.dedup();
        of_page.iter().try_for_each(|link| sorter.push(*link))?;
    }
    Ok(sorter.sorted()?)
}

/// Keys are read in their order, as the links are, and rows in theirs: neither table is read here and there.
fn numbers(
    connection: &Connection,
    mut links: Sorted,
    folders: &[&Path],
    number: impl Fn(u64, u64) -> u64,
) -> Result<Sorted, Fault> {
    let mut sorter = Sorter::new(folders, MEMORY);
    let mut select = connection
        .prepare("SELECT substr(fingerprint, 1, 8), id FROM url INDEXED BY url_fingerprint ORDER BY fingerprint")?;
    let mut keys = select.query([])?;
    let mut next = links.next()?;
    while let Some(key) = keys.next()? {
        let (fingerprint, url) = (u64::from_be_bytes(key.get(0)?), key.get::<_, u64>(1)?);
        let mut times = 0;
        while let Some(link) = next.filter(|link| *link <= fingerprint) {
            times += u64::from(link == fingerprint);
            next = links.next()?;
        }
        sorter.push(number(url, times))?;
    }
    Ok(sorter.sorted()?)
}

/// Gives each page the importance that its links make.
fn weigh(book: &mut Book<'_>, mut levels: Sorted) -> Result<(), Fault> {
    let mut select = book.connection.prepare("SELECT url, class, state, weight FROM revisit ORDER BY url")?;
    let mut rows = select.query([])?;
    let mut next = levels.next()?;
    while let Some(row) = rows.next()? {
        let mut page = Remembered::of(row)?;
        let url = page.url.cast_unsigned();
        while next.is_some_and(|level| level / LEVELS < url) {
            next = levels.next()?;
        }
        let level = next.filter(|level| level / LEVELS == url).map_or(0, |level| level % LEVELS);
        let importance = Importance::of_level(u8::try_from(level).unwrap_or(u8::MAX));
        if page.importance == importance {
            continue;
        }
        let before = page.class;
        page.importance = importance;
        if page.is_divided()
            && let Some(class) = book.policy.weigh(page.page.class, importance)
        {
            page.class = class.0.into();
        }
        book.reclass(&page, before)?;
    }
    Ok(())
}
