//! Pages that no page links to any more, and how many link to those that changed.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::{Finder, reported, standings};
use crate::{
    changes::Standing,
    store::sqlite::{
        error::Fault,
        runs::{self, Sorter},
    },
    time::Moment,
};

/// Memory for the links, and again for the URLs.
const MEMORY: usize = 8 << 20;

/// Changed pages of which links are counted, at most.
const MOST_COUNTED: u32 = 100_000;

/// The links of every page as it was seen last: a page that gave no answer, or is not found and not reported to be gone, has those
/// of its copy. One that was cut short has those of the copy before as well, and one that cannot be seen, or is doubted, those of its
/// last good copy.
const LINKS: &str = "
    SELECT kept.links, substr(url.fingerprint, 1, 8) FROM url
    LEFT JOIN page_state ON page_state.url = url.id
    JOIN visit AS last ON last.id = url.visit
    JOIN visit AS seen ON seen.id = iif(last.outcome IN ('stored', 'redirected'), last.id, url.copy)
                       OR (last.truncated IS NOT NULL AND seen.id = last.before)
                       OR ((condition = 'unreachable' OR doubt IS NOT NULL) AND seen.id = page_state.good)
    JOIN visit AS kept ON kept.id = coalesce(seen.same, seen.id)
    WHERE condition IS NOT 'gone'";

/// Pages that only links lead to: no starts, and no sitemaps that robots.txt or a setting names.
const PAGES: &str = "
    SELECT substr(url.fingerprint, 1, 8) FROM url JOIN visit ON visit.id = url.visit
    WHERE url.hop <> 'start' AND (url.hop <> 'sitemap' OR url.via IS NOT NULL) AND visit.outcome = 'stored' AND url.url NOT IN (SELECT area.url FROM area)";

/// Reports which pages nobody links to, each once.
pub(super) fn report(finder: &Finder<'_>) -> Result<(), Fault> {
    let connection = finder.connection;
    let sorter = || Sorter::new(&[finder.folder], MEMORY);
    let (mut links, mut pages) = (sorter(), sorter());
    let mut in_links = changed_pages(finder)?;
    each(connection, LINKS, |row| {
        let own = row.get_ref(1)?.as_blob().unwrap_or_default();
        let kept = row.get_ref(0)?.as_blob().unwrap_or_default();
        for link in kept.chunks_exact(8).filter(|link| *link != own).map(number) {
            if let Some(pages) = in_links.get_mut(&link) {
                *pages += 1;
            }
            links.push(link)?;
        }
        Ok(())
    })?;
    note_in_links(finder, &in_links)?;
    each(connection, PAGES, |row| Ok(pages.push(number(row.get_ref(0)?.as_blob().unwrap_or_default()))?))?;
    let mut orphans = HashMap::new();
    runs::subtract(pages.sorted()?, links.sorted()?, |page| {
        if let Some((url, good)) = find(connection, page)? {
            orphans.insert(url, good);
        }
        Ok::<(), Fault>(())
    })?;
    for (url, good) in linked_again(connection, &orphans)? {
        orphan(finder, url, good, true)?;
    }
    let mut orphans: Vec<_> = orphans.into_iter().collect();
    orphans.sort_unstable();
    orphans.into_iter().try_for_each(|(url, good)| orphan(finder, url, Some(good), false))
}

/// Pages of which something was reported, by the first eight bytes of their fingerprints, with no links yet.
fn changed_pages(finder: &Finder<'_>) -> Result<HashMap<u64, u32>, Fault> {
    let mut pages = HashMap::new();
    let mut select = finder.connection.prepare(
        "SELECT DISTINCT substr(fingerprint, 1, 8) FROM change JOIN url ON url.id = change.url WHERE sequence = ? LIMIT ?",
    )?;
    let mut rows = select.query(params![finder.current.sequence, MOST_COUNTED])?;
    while let Some(row) = rows.next()? {
        pages.insert(number(row.get_ref(0)?.as_blob().unwrap_or_default()), 0);
    }
    Ok(pages)
}

/// Notes how many pages link to each.
fn note_in_links(finder: &Finder<'_>, pages: &HashMap<u64, u32>) -> Result<(), Fault> {
    let mut update = finder.connection.prepare("UPDATE change SET in_links = ? WHERE url = ? AND sequence = ?")?;
    for (page, links) in pages {
        if let Some((url, _)) = find(finder.connection, *page)? {
            update.execute(params![links, url, finder.current.sequence])?;
        }
    }
    Ok(())
}

fn orphan(finder: &Finder<'_>, url: i64, good: Option<i64>, linked: bool) -> Result<(), Fault> {
    let connection = finder.connection;
    let mut standing = standings::load(connection, url)?.unwrap_or(Standing::of(good));
    let Some(orphaned) = standing.linked(linked) else { return Ok(standings::save(connection, url, &standing)?) };
    standings::save(connection, url, &standing)?;
    // When the last page was looked at that might have linked to it.
    let at = "SELECT max(at) FROM temp.look";
    let at = Moment::from_millis(connection.prepare_cached(at)?.query_row([], |row| row.get(0))?);
    Ok(reported::write(finder, Some(url), at, orphaned, None)?)
}

/// Pages that were reported as orphans and are none.
fn linked_again(connection: &Connection, orphans: &HashMap<i64, i64>) -> Result<Vec<(i64, Option<i64>)>, Fault> {
    let mut select = connection.prepare("SELECT url, good FROM page_state WHERE orphaned")?;
    let all = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let all: Vec<(i64, Option<i64>)> = all.collect::<Result<_, _>>()?;
    Ok(all.into_iter().filter(|(url, _)| !orphans.contains_key(url)).collect())
}

/// The page with a fingerprint, and its copy.
fn find(connection: &Connection, page: u64) -> Result<Option<(i64, i64)>, Fault> {
    let mut select =
        connection.prepare_cached("SELECT id, visit FROM url WHERE fingerprint BETWEEN ? AND ? LIMIT 1")?;
    let [least, most] = [0, u64::MAX].map(|rest| [page.to_be_bytes(), rest.to_be_bytes()].concat());
    Ok(select.query_row([least, most], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

fn each(
    connection: &Connection,
    query: &str,
    mut each: impl FnMut(&rusqlite::Row<'_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut select = connection.prepare(query)?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        each(row)?;
    }
    Ok(())
}

fn number(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_be_bytes)
}
