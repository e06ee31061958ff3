//! What is deleted with a URL, and what other rows say of it.

use rusqlite::{Connection, Result};

use crate::{store::sqlite::resume, url::WebUrl};

/// What goes with the URLs in `temp.removed`.
const DELETED: [&str; 23] = [
    "UPDATE page_state SET moved_from = NULL WHERE moved_from IN temp.removed",
    "UPDATE page_state SET moved_to = NULL WHERE moved_to IN temp.removed",
    "UPDATE change SET change = 'gone', target = NULL WHERE change = 'moved' AND target IN temp.removed_name",
    "UPDATE visit SET canonical = NULL WHERE canonical IN temp.removed_name",
    "UPDATE visit SET redirect = 'http://removed.invalid/' WHERE redirect IN temp.removed_name",
    "UPDATE host SET known_good = NULL WHERE known_good IN temp.removed_name",
    "DELETE FROM change WHERE url IN temp.removed",
    // They may name what is removed.
    "UPDATE change SET links = '[]' WHERE links <> '[]'",
    "UPDATE lost SET via = NULL WHERE via IN temp.removed",
    "DELETE FROM lost WHERE admitted IN temp.removed
         OR substr(fingerprint, 1, 8) IN (SELECT substr(fingerprint, 1, 8) FROM url WHERE id IN temp.removed)",
    "DELETE FROM page_state WHERE url IN temp.removed",
    "DELETE FROM second_look WHERE url IN temp.removed",
    // They have lines of pages, and are found again.
    "DELETE FROM mask",
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
const AFTER: [&str; 8] = [
    "UPDATE crawl SET looked_at = min(looked_at, last), pruned_to = min(pruned_to, last), learnt = min(learnt, last),
         forgotten_to = min(forgotten_to, last), indexed_to = min(indexed_to, last), classed_by = NULL
     FROM (SELECT coalesce(max(id), 0) AS last FROM visit)",
    "UPDATE items_file SET visit = min(visit, (SELECT coalesce(max(id), 0) FROM visit))",
    "UPDATE sequence SET audit_lost = min(audit_lost, (SELECT coalesce(max(id), 0) FROM lost)),
         audit_urls = min(audit_urls, (SELECT coalesce(max(ticket), 0) FROM url))",
    "UPDATE refetch SET up_to = min(up_to, (SELECT coalesce(max(id), 0) FROM lost))",
    "UPDATE revisit_class SET pages = (SELECT count(*) FROM revisit WHERE revisit.class = revisit_class.class)",
    "DELETE FROM revisit_class WHERE pages = 0",
    "DELETE FROM revisit_section",
    "DELETE FROM sheet_part WHERE sheet NOT IN (SELECT id FROM link_check)",
];

/// What was only checked.
const CHECKED: [&str; 2] = [
    "DELETE FROM link_check WHERE url IN temp.removed_name OR target IN temp.removed_name",
    "DELETE FROM sheet_part WHERE url IN temp.removed_name",
];

/// Deletes them; how many URLs that are. Foreign keys are off.
pub(super) fn remove(transaction: &Connection) -> Result<u64> {
    let has_index = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'page_words')";
    if transaction.query_row(has_index, [], |row| row.get(0))? {
        transaction.execute("DELETE FROM page_words WHERE rowid IN temp.removed", [])?;
    }
    let checked = forbid_checked(transaction)?;
    let mut removed = 0;
    for deleted in DELETED {
        removed = transaction.execute(deleted, [])?;
    }
    for others in CHECKED.iter().chain(&AFTER) {
        transaction.execute(others, [])?;
    }
    Ok(removed as u64 + checked)
}

/// Has what was only checked not be asked for again; how many URLs that are.
fn forbid_checked(transaction: &Connection) -> Result<u64> {
    let Some((rules, seed)) = resume::key_rules(transaction)?.zip(resume::fingerprint_seed(transaction)?) else {
        return Ok(0);
    };
    let checked = "SELECT url FROM link_check WHERE url IN temp.removed_name UNION SELECT url FROM sheet_part WHERE url IN temp.removed_name";
    let mut select = transaction.prepare(checked)?;
    let urls: Vec<String> = select.query_map([], |row| row.get(0))?.collect::<Result<_>>()?;
    let mut insert = transaction.prepare("INSERT OR IGNORE INTO removed_url VALUES (?)")?;
    let mut forbidden = 0;
    for url in urls {
        if let Ok(url) = WebUrl::parse(&url) {
            forbidden += insert.execute([rules.fingerprint(&url, seed).to_bytes()])?;
        }
    }
    Ok(forbidden as u64)
}
