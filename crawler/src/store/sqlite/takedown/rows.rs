//! What is deleted with a URL, and what other rows say of it.

use regex::Regex;
use rusqlite::{Connection, Result};

/// What goes with the URLs in `temp.removed`.
const DELETED: [&str; 19] = [
    "UPDATE page_state SET moved_from = NULL WHERE moved_from IN temp.removed",
    "UPDATE page_state SET moved_to = NULL WHERE moved_to IN temp.removed",
    "UPDATE change SET change = 'gone', target = NULL WHERE change = 'moved' AND target IN (SELECT url FROM url WHERE id IN temp.removed)",
    "UPDATE visit SET canonical = NULL WHERE canonical IN (SELECT url FROM url WHERE id IN temp.removed)",
    "UPDATE visit SET redirect = 'http://removed.invalid/' WHERE redirect IN (SELECT url FROM url WHERE id IN temp.removed)",
    "UPDATE host SET known_good = NULL WHERE known_good IN (SELECT url FROM url WHERE id IN temp.removed)",
    "DELETE FROM change WHERE url IN temp.removed",
    "DELETE FROM lost WHERE admitted IN temp.removed OR via IN temp.removed
         OR substr(fingerprint, 1, 8) IN (SELECT substr(fingerprint, 1, 8) FROM url WHERE id IN temp.removed)",
    "DELETE FROM page_state WHERE url IN temp.removed",
    "DELETE FROM past WHERE url IN temp.removed",
    "DELETE FROM refetch WHERE visit IN (SELECT id FROM visit WHERE url IN temp.removed)",
    "DELETE FROM page_field WHERE visit IN (SELECT id FROM visit WHERE url IN temp.removed)",
    "DELETE FROM revisit WHERE url IN temp.removed",
    "DELETE FROM indexed_page WHERE url IN temp.removed",
    "UPDATE indexed_page SET similar = NULL WHERE similar IN temp.removed",
    "DELETE FROM text WHERE url IN temp.removed",
    "DELETE FROM visit WHERE url IN temp.removed",
    "UPDATE url SET via = NULL WHERE via IN temp.removed",
    "DELETE FROM url WHERE id IN temp.removed",
];

/// What follows from rows that went. Numbers are given again, so nothing may be known of what comes behind the last one.
const AFTER: [&str; 7] = [
    "UPDATE crawl SET looked_at = min(looked_at, last), pruned_to = min(pruned_to, last), learnt = min(learnt, last),
         forgotten_to = min(forgotten_to, last), indexed_to = min(indexed_to, last), classed_by = NULL
     FROM (SELECT coalesce(max(id), 0) AS last FROM visit)",
    "UPDATE items_file SET visit = min(visit, (SELECT coalesce(max(id), 0) FROM visit))",
    "UPDATE sequence SET audit_lost = min(audit_lost, (SELECT coalesce(max(id), 0) FROM lost)),
         audit_urls = min(audit_urls, (SELECT coalesce(max(ticket), 0) FROM url))",
    "UPDATE revisit_class SET pages = (SELECT count(*) FROM revisit WHERE revisit.class = revisit_class.class)",
    "DELETE FROM revisit_class WHERE pages = 0",
    "DELETE FROM revisit_section",
    "DELETE FROM sheet_part WHERE sheet NOT IN (SELECT id FROM link_check)",
];

/// Deletes them; how many URLs that are. What was only checked goes by its address. Foreign keys are off.
pub(super) fn remove(transaction: &Connection, pattern: &Regex) -> Result<u64> {
    let has_index = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'page_words')";
    if transaction.query_row(has_index, [], |row| row.get(0))? {
        transaction.execute("DELETE FROM page_words WHERE rowid IN temp.removed", [])?;
    }
    let mut removed = 0;
    for deleted in DELETED {
        removed = transaction.execute(deleted, [])?;
    }
    checked(transaction, pattern)?;
    AFTER.into_iter().try_for_each(|after| transaction.execute(after, []).map(|_| ()))?;
    Ok(removed as u64)
}

/// Deletes what matches of the URLs that are none of the crawl.
fn checked(transaction: &Connection, pattern: &Regex) -> Result<()> {
    let matches = |text: Option<&str>| text.is_some_and(|text| pattern.is_match(text));
    let mut select = transaction.prepare("SELECT id, url, target FROM link_check")?;
    let mut rows = select.query([])?;
    let mut delete = transaction.prepare("DELETE FROM link_check WHERE id = ?")?;
    while let Some(row) = rows.next()? {
        if matches(row.get_ref(1)?.as_str_or_null()?) || matches(row.get_ref(2)?.as_str_or_null()?) {
            delete.execute([row.get::<_, i64>(0)?])?;
        }
    }
    let mut select = transaction.prepare("SELECT sheet, url FROM sheet_part")?;
    let mut rows = select.query([])?;
    let mut delete = transaction.prepare("DELETE FROM sheet_part WHERE sheet = ? AND url = ?")?;
    while let Some(row) = rows.next()? {
        let (sheet, url): (i64, String) = (row.get(0)?, row.get(1)?);
        if pattern.is_match(&url) {
            delete.execute((sheet, url))?;
        }
    }
    Ok(())
}
