//! Forgetting old visits that found nothing new.
//!
//! Owns: which visits are deleted, and how far that was done, so that each is looked at once.
//!
//! Invariants: visits stay that say what a page is, what it was before its last change, or what it is compared with; so does every visit
//! that found something new. The file stays as large as the sequences that are kept whole make it.

use rusqlite::{Connection, Result, params};

use super::fields;

/// Forgets visits of sequences that began with what is known: those to which nothing refers, and which found what
/// the visit before had found: their copy unchanged, or the same status as then. Of a sequence that found its pages by links all are kept: what it admitted follows from them.
const OLD: &str = "
    DELETE FROM visit WHERE id IN (
        SELECT visit.id FROM visit CROSS JOIN url ON url.id = visit.url
        WHERE visit.id > ?1 AND visit.id <= ?2
          AND (visit.same IS NOT NULL OR (visit.outcome, visit.status, visit.reason, visit.redirect) IS (
                  SELECT earlier.outcome, earlier.status, earlier.reason, earlier.redirect
                  FROM visit AS earlier INDEXED BY visit_of_url
                  WHERE earlier.url = url.id AND earlier.sequence < visit.sequence AND visit.outcome <> 'stored'
                  ORDER BY earlier.sequence DESC, earlier.id DESC LIMIT 1))
          AND url.visit <> visit.id AND url.copy IS NOT visit.id
          AND (SELECT revisit FROM sequence WHERE n = visit.sequence) IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM page_state WHERE page_state.url = url.id AND visit.id IN (good, earlier))
          AND NOT EXISTS (SELECT 1 FROM visit AS later INDEXED BY visit_of_url
                          WHERE later.url = url.id AND visit.id IN (later.same, later.before)))";

/// Keeps so many sequences whole, the last ones, of which this is the last.
pub(super) fn prune(connection: &Connection, sequence: u32, keep: u32) -> Result<()> {
    let Some(last) = sequence.checked_sub(keep) else { return Ok(()) };
    let any = "SELECT EXISTS (SELECT 1 FROM sequence WHERE n <= ? AND revisit IS NOT NULL)";
    if !connection.query_row(any, [last], |row| row.get::<_, bool>(0))? {
        return Ok(());
    }
    let from: i64 = connection.query_row("SELECT coalesce(pruned_to, 0) FROM crawl", [], |row| row.get(0))?;
    // Sequences do not overlap.
    let to: Option<i64> = connection.query_row(
        "SELECT (SELECT id FROM visit WHERE id > ?1 AND sequence > ?2 ORDER BY id LIMIT 1) - 1",
        params![from, last],
        |row| row.get(0),
    )?;
    let Some(to) = to.filter(|to| *to > from) else { return Ok(()) };
    // For each visit that goes, all tables would be read for rows that refer to it. There are none.
    connection.pragma_update(None, "foreign_keys", false)?;
    let forgotten = forget(connection, (from, to), last);
    connection.pragma_update(None, "foreign_keys", true)?;
    forgotten
}

/// Forgets those of the visits behind one, up to another, which are of sequences up to `last`.
fn forget(connection: &Connection, (from, to): (i64, i64), last: u32) -> Result<()> {
    let transaction = connection.unchecked_transaction()?;
    transaction.execute(OLD, [from, to])?;
    transaction.execute(fields::FORGET, [from, to])?;
    transaction.execute("UPDATE sequence SET pruned = 1 WHERE n <= ? AND revisit IS NOT NULL", [last])?;
    transaction.execute("UPDATE crawl SET pruned_to = ?", [to])?;
    transaction.commit()
}

/// Whether of a sequence only the visits are kept that found something new.
pub(super) fn is_pruned(connection: &Connection, sequence: u32) -> Result<bool> {
    let pruned = "SELECT EXISTS (SELECT 1 FROM sequence WHERE n = ? AND pruned)";
    connection.query_row(pruned, [sequence], |row| row.get(0))
}
