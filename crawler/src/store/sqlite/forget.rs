//! Forgetting what lies further back than the history that is kept.
//!
//! Owns: which sequences that are, and what is deleted of them.
//!
//! Invariants: what is known of each page now stays, and what it will be compared with; the last row of a table stays, so that no number is
//! given twice; each sequence is forgotten once, whole, or in the next try. The file stays as large as the history makes it.

use rusqlite::{Connection, Result, params};

use super::schema::INDEX_OF_VISITS;
use crate::store::KeptHistory;

/// Visits of URLs of which a visit is forgotten now: those of forgotten sequences to which nothing refers. What is unchanged refers to its
/// copy, so copies follow in a second round.
const UNUSED: &str = "
    INSERT OR IGNORE INTO temp.unused
    SELECT old.id FROM visit AS going CROSS JOIN visit AS old INDEXED BY visit_of_url ON old.url = going.url AND old.sequence <= ?3
    CROSS JOIN url ON url.id = old.url
    WHERE going.id > ?1 AND going.id <= ?2 AND url.visit IS NOT old.id AND url.copy IS NOT old.id
      AND NOT EXISTS (SELECT 1 FROM page_state WHERE page_state.url = url.id AND old.id IN (good, earlier))
      AND NOT EXISTS (SELECT 1 FROM refetch WHERE refetch.visit = old.id)
      AND NOT EXISTS (SELECT 1 FROM visit AS later INDEXED BY visit_of_url WHERE later.url = url.id AND old.id IN (later.same, later.before)
                      AND later.id NOT IN (SELECT visit FROM temp.unused))";

/// Rows of other tables that belong to forgotten sequences. Of URLs that are still lost, it stays that they are. What the
/// last of them wanted to be checked may be wanted again by the one that runs.
const OTHERS: [&str; 6] = [
    "DELETE FROM change WHERE sequence <= ?1 AND id < (SELECT max(id) FROM change)",
    "DELETE FROM past WHERE sequence <= ?1",
    "DELETE FROM lost WHERE sequence <= ?1 AND state <> 'lost' AND id < (SELECT max(id) FROM lost)",
    "DELETE FROM sheet_part WHERE sheet IN (SELECT id FROM link_check WHERE wanted_in < ?1)",
    "DELETE FROM link_check WHERE wanted_in < ?1",
    "UPDATE sequence SET pruned = 1, counters = json_remove(counters, '$.looks')
     WHERE n <= ?1 AND (pruned IS NULL OR counters ->> '$.looks' IS NOT NULL)",
];

/// Keeps so much history of a crawl, whose last sequence this is and came to its end at this time (milliseconds since 1970).
pub(super) fn forget(connection: &Connection, sequence: u32, at: u64, keep: KeptHistory) -> Result<()> {
    let Some(last) = last_forgotten(connection, sequence, at, keep)? else { return Ok(()) };
    let from: u64 = connection.query_row("SELECT coalesce(forgotten_to, 0) FROM crawl", [], |row| row.get(0))?;
    // Sequences do not overlap.
    let to: Option<u64> = connection.query_row(
        "SELECT (SELECT id FROM visit WHERE id > ?1 AND sequence > ?2 ORDER BY id LIMIT 1) - 1",
        params![from, last],
        |row| row.get(0),
    )?;
    let Some(to) = to.filter(|to| *to > from) else { return Ok(()) };
    connection.execute_batch(INDEX_OF_VISITS)?;
    connection.execute_batch("CREATE TEMP TABLE IF NOT EXISTS unused (visit INTEGER PRIMARY KEY)")?;
    // For each visit that goes, all tables would be read for rows that refer to it. There are none.
    connection.pragma_update(None, "foreign_keys", false)?;
    let forgotten = forget_up_to(connection, (from, to), last);
    connection.pragma_update(None, "foreign_keys", true)?;
    forgotten
}

/// The last sequence that is not kept, if there is one.
fn last_forgotten(connection: &Connection, sequence: u32, at: u64, keep: KeptHistory) -> Result<Option<u32>> {
    match keep {
        KeptHistory::All => Ok(None),
        KeptHistory::Sequences(most) => Ok(sequence.checked_sub(most.get())),
        KeptHistory::Days(most) => {
            let before = at.saturating_sub(u64::from(most.get()) * 86_400_000);
            let ended = "SELECT max(n) FROM sequence WHERE n < ?1 AND coalesce(ended_at, began_at) < ?2";
            connection.query_row(ended, params![sequence, before], |row| row.get(0))
        }
    }
}

fn forget_up_to(connection: &Connection, (from, to): (u64, u64), last: u32) -> Result<()> {
    let transaction = connection.unchecked_transaction()?;
    // Nothing is compared with what was before them any more, but where a copy was cut short.
    let alone =
        "UPDATE visit SET before = NULL WHERE id > ?1 AND id <= ?2 AND before IS NOT NULL AND truncated IS NULL";
    transaction.execute(alone, [from, to])?;
    transaction.execute("DELETE FROM temp.unused", [])?;
    for _ in 0..2 {
        transaction.execute(UNUSED, params![from, to, last])?;
    }
    transaction.execute("DELETE FROM page_field WHERE visit IN (SELECT visit FROM temp.unused)", [])?;
    transaction.execute("DELETE FROM visit WHERE id IN (SELECT visit FROM temp.unused)", [])?;
    for others in OTHERS {
        transaction.execute(others, [last])?;
    }
    let pointers = "UPDATE crawl SET forgotten_to = ?1, pruned_to = max(coalesce(pruned_to, 0), ?1)";
    transaction.execute(pointers, [to])?;
    transaction.commit()
}
