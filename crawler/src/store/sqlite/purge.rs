//! Forgetting URLs that have been gone for longer than history is kept.
//!
//! Owns: which these are, and what is deleted with them.
//!
//! Invariants: what anything kept names stays: a link, a report, a lost URL, a start, the way to another URL. So do the last rows, so that
//! no number is given twice. It is done where a sequence begins: what earlier ones have admitted is not counted any more then.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, Result};

/// So many are looked at, where one sequence begins.
const MOST_AT_A_TIME: usize = 65_536;

/// What was not there at any look that is kept, and what nothing but links can name: its last good copy is older, and so is the URL.
const GONE: &str = "
    SELECT url.id, substr(fingerprint, 1, 8) FROM crawl JOIN url JOIN visit ON visit.id = url.visit
    WHERE url.state = 'finished' AND visit.outcome = 'broken' AND visit.status IN (404, 410)
      AND coalesce(url.copy, 0) <= forgotten_to AND url.id <= (SELECT max(url) FROM visit WHERE id <= forgotten_to)
      AND NOT EXISTS (SELECT 1 FROM visit AS kept INDEXED BY visit_of_url WHERE kept.url = url.id AND kept.id > forgotten_to
                      AND (kept.outcome <> 'broken' OR kept.status NOT IN (404, 410)))
      AND url.hop <> 'start' AND url.url NOT IN (SELECT url FROM area)
      AND url.id <> (SELECT max(id) FROM url) AND url.id <> (SELECT url FROM visit ORDER BY id DESC LIMIT 1)
      AND (readmission IS NULL OR readmission <> (SELECT max(readmission) FROM url))
      AND NOT EXISTS (SELECT 1 FROM page_state WHERE page_state.url = url.id AND doubt IS NOT NULL)
      AND NOT EXISTS (SELECT 1 FROM revisit WHERE revisit.url = url.id)
    LIMIT ?";

/// Other rows that name URLs.
const NAMES: &str = "
    SELECT via FROM url WHERE via IS NOT NULL UNION SELECT url FROM change WHERE url IS NOT NULL UNION SELECT url FROM archive_record
    UNION SELECT via FROM lost WHERE via IS NOT NULL UNION SELECT admitted FROM lost WHERE admitted IS NOT NULL";

/// What goes with a URL.
const DELETED: [&str; 7] = [
    "UPDATE page_state SET moved_from = NULL WHERE moved_from IN temp.purged",
    "UPDATE page_state SET moved_to = NULL WHERE moved_to IN temp.purged",
    "DELETE FROM page_state WHERE url IN temp.purged",
    "DELETE FROM past WHERE url IN temp.purged",
    "DELETE FROM page_field WHERE visit IN (SELECT visit.id FROM temp.purged CROSS JOIN visit ON visit.url = purged.url)",
    "DELETE FROM visit WHERE url IN temp.purged",
    "DELETE FROM text WHERE url IN temp.purged AND id < (SELECT max(id) FROM text)",
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
    let named: HashSet<i64> = transaction.prepare(NAMES)?.query_map([], |row| row.get(0))?.collect::<Result<_>>()?;
    gone.retain(|_, url| !named.contains(url));
    unlinked(transaction, &mut gone)?;
    transaction.execute_batch("CREATE TEMP TABLE purged (url INTEGER PRIMARY KEY)")?;
    let mut insert = transaction.prepare("INSERT INTO temp.purged VALUES (?)")?;
    gone.values().try_for_each(|url| insert.execute([url]).map(|_| ()))?;
    for deleted in DELETED {
        transaction.execute(deleted, [])?;
    }
    let purged = transaction.execute("DELETE FROM url WHERE id IN temp.purged", [])?;
    drop(insert);
    transaction.execute_batch("DROP TABLE temp.purged")?;
    Ok(purged)
}

/// Their rows by the leading half of their fingerprints.
fn gone(connection: &Connection) -> Result<HashMap<[u8; 8], i64>> {
    let mut select = connection.prepare(GONE)?;
    let rows = select.query_map([MOST_AT_A_TIME], |row| Ok((row.get(1)?, row.get(0)?)))?;
    rows.collect()
}

/// Leaves those of them to which no page links, nor has linked in the history that is kept. What a page was still earlier is kept to be
/// compared with alone.
fn unlinked(connection: &Connection, gone: &mut HashMap<[u8; 8], i64>) -> Result<()> {
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
    Ok(())
}
