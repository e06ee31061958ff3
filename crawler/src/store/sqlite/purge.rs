//! Forgetting URLs that have been gone for longer than history is kept.
//!
//! Owns: which these are, and what is deleted with them.
//!
//! Invariants: what anything kept names stays: a link, a report, a lost URL, a start, the way to another URL. So do the last rows, so that
//! no number is given twice. It is done where a sequence begins: what earlier ones have admitted is not counted any more then.

use std::collections::HashMap;

use rusqlite::{Connection, Result};

/// So many are looked at, where one sequence begins.
const MOST_AT_A_TIME: u64 = 65_536;

/// What was not there at any look that is kept, and what nothing but links can name: its last good copy is older, and so is the URL.
const GONE: &str = "
    SELECT url.id, substr(fingerprint, 1, 8) FROM crawl JOIN url JOIN visit ON visit.id = url.visit
    WHERE url.state = 'finished' AND visit.outcome = 'broken' AND visit.status IN (404, 410)
      AND coalesce(url.copy, 0) <= forgotten_to
      AND url.id <= (SELECT max(old.url) FROM visit AS old WHERE old.id <= (SELECT other.forgotten_to FROM crawl AS other))
      AND NOT EXISTS (SELECT 1 FROM visit AS kept INDEXED BY visit_of_url WHERE kept.url = url.id AND kept.id > forgotten_to
                      AND (kept.outcome <> 'broken' OR kept.status NOT IN (404, 410)))
      AND url.hop <> 'start' AND url.url NOT IN (SELECT url FROM area)
      AND url.id <> (SELECT max(id) FROM url) AND url.id <> (SELECT url FROM visit ORDER BY id DESC LIMIT 1)
      AND (readmission IS NULL OR readmission <> (SELECT max(readmission) FROM url))
      AND NOT EXISTS (SELECT 1 FROM page_state WHERE page_state.url = url.id AND doubt IS NOT NULL)
      AND NOT EXISTS (SELECT 1 FROM revisit WHERE revisit.url = url.id)
      AND NOT EXISTS (SELECT 1 FROM indexed_page WHERE indexed_page.url = url.id)
      AND url.id IS NOT (SELECT url FROM text ORDER BY id DESC LIMIT 1) AND url.id > ?1
    ORDER BY url.id LIMIT ?2";

/// Other rows that name URLs.
const NAMES: &str = "
    SELECT via FROM url WHERE via IS NOT NULL UNION ALL SELECT url FROM change WHERE url IS NOT NULL
    UNION ALL SELECT url FROM archive_record UNION ALL SELECT via FROM lost WHERE via IS NOT NULL
    UNION ALL SELECT admitted FROM lost WHERE admitted IS NOT NULL";

/// What goes with a URL.
const DELETED: [&str; 8] = [
    "UPDATE page_state SET moved_from = NULL WHERE moved_from IN temp.purged",
    "UPDATE page_state SET moved_to = NULL WHERE moved_to IN temp.purged",
    "DELETE FROM page_state WHERE url IN temp.purged",
    "DELETE FROM second_look WHERE url IN temp.purged",
    "DELETE FROM past WHERE url IN temp.purged",
    "DELETE FROM page_field WHERE visit IN (SELECT visit.id FROM temp.purged CROSS JOIN visit ON visit.url = purged.url)",
    "DELETE FROM visit WHERE url IN temp.purged",
    "DELETE FROM text WHERE url IN temp.purged",
];

/// Forgets them; how many there were. Foreign keys are off: for each row that goes, all tables would be read otherwise.
pub(super) fn purge(transaction: &Connection) -> Result<usize> {
    let kept_by_links = "SELECT EXISTS (SELECT 1 FROM sequence WHERE revisit IS NULL AND pruned IS NULL)
        OR (SELECT forgotten_to IS NULL FROM crawl)";
    if transaction.query_row(kept_by_links, [], |row| row.get(0))? {
        return Ok(0);
    }
    let mut gone = gone(transaction)?;
    if gone.is_empty() {
        return Ok(0);
    }
    unnamed(transaction, &mut gone)?;
    let gone = unlinked(transaction, gone)?;
    transaction.execute_batch("CREATE TEMP TABLE purged (url INTEGER PRIMARY KEY)")?;
    let mut insert = transaction.prepare("INSERT INTO temp.purged VALUES (?)")?;
    gone.iter().try_for_each(|url| insert.execute([url]).map(|_| ()))?;
    for deleted in DELETED {
        transaction.execute(deleted, [])?;
    }
    let purged = transaction.execute("DELETE FROM url WHERE id IN temp.purged", [])?;
    drop(insert);
    transaction.execute_batch("DROP TABLE temp.purged")?;
    Ok(purged)
}

/// The leading halves of their fingerprints by their rows. Where there are very many URLs, each sequence begins with others: those that
/// something names stay.
fn gone(connection: &Connection) -> Result<HashMap<i64, [u8; 8]>> {
    let last: u64 = connection.query_row("SELECT coalesce(max(id), 0) FROM url", [], |row| row.get(0))?;
    let sequence: u64 = connection.query_row("SELECT coalesce(max(n), 0) FROM sequence", [], |row| row.get(0))?;
    let after = if last <= MOST_AT_A_TIME { 0 } else { sequence.wrapping_mul(0x9e37_79b9) % last };
    let mut select = connection.prepare(GONE)?;
    let rows = select.query_map([after, MOST_AT_A_TIME], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// Leaves those of them that no other row names.
fn unnamed(connection: &Connection, gone: &mut HashMap<i64, [u8; 8]>) -> Result<()> {
    let mut select = connection.prepare(NAMES)?;
    let mut names = select.query([])?;
    while let Some(name) = names.next()?.filter(|_| !gone.is_empty()) {
        gone.remove(&name.get(0)?);
    }
    Ok(())
}

/// Those of them to which no page links, nor has linked in the history that is kept. What a page was still earlier is kept to be
/// compared with alone.
fn unlinked(connection: &Connection, gone: HashMap<i64, [u8; 8]>) -> Result<Vec<i64>> {
    let mut gone: HashMap<[u8; 8], i64> = gone.into_iter().map(|(url, link)| (link, url)).collect();
    let mut select = connection.prepare(
        "SELECT links FROM crawl CROSS JOIN visit WHERE length(links) > 0 AND (visit.id > forgotten_to
             OR EXISTS (SELECT 1 FROM url WHERE url.id = visit.url AND visit.id IN (url.visit, url.copy))
             OR visit.id IN (SELECT later.same FROM crawl CROSS JOIN visit AS later WHERE later.id > forgotten_to))",
    )?;
    let mut visits = select.query([])?;
    while let Some(visit) = visits.next()?.filter(|_| !gone.is_empty()) {
        for link in visit.get_ref(0)?.as_blob()?.chunks_exact(8) {
            gone.remove(link);
        }
    }
    Ok(gone.into_values().collect())
}
