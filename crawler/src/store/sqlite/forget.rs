//! Forgetting what lies further back than the history that is kept.
//!
//! Owns: which sequences that are, and what is deleted of them.
//!
//! Invariants: what is known of each page now stays, and what it will be compared with; so does the last row of a table, so that no number
//! is given twice. Each sequence is forgotten once, whole; few are at a time, so that a history that was long takes a while to become short.
//! The file stays as large as the history makes it.

use std::num::NonZeroU32;

use rusqlite::{Connection, OptionalExtension, Result, params};

use super::schema::INDEX_OF_VISITS;
use crate::store::KeptHistory;

/// So many sequences are forgotten at the end of one.
const MOST_AT_A_TIME: u32 = 10;

/// Visits of forgotten sequences that nothing needs, of the URLs of which a visit is forgotten now. What is unchanged needs its copy, and
/// each visit what it was compared with.
const UNUSED: &str = "
    WITH RECURSIVE needed (id) AS (
        SELECT visit.id FROM temp.going CROSS JOIN visit INDEXED BY visit_of_url ON visit.url = going.url
        CROSS JOIN url ON url.id = going.url LEFT JOIN page_state ON page_state.url = going.url
        WHERE visit.sequence > ?1 OR visit.id IN (url.visit, url.copy) OR visit.id IN (good, earlier, unsure)
           OR EXISTS (SELECT 1 FROM refetch WHERE refetch.visit = visit.id)
        UNION
        SELECT earlier.id FROM needed CROSS JOIN visit ON visit.id = needed.id CROSS JOIN visit AS earlier
        ON earlier.id IN (visit.same, visit.before))
    INSERT INTO temp.unused SELECT visit.id FROM temp.going
    CROSS JOIN visit INDEXED BY visit_of_url ON visit.url = going.url WHERE visit.sequence <= ?1 AND visit.id NOT IN needed";

/// Rows of other tables that belong to forgotten sequences. What the last of them wanted to be checked may be wanted again by the one that
/// runs.
const OTHERS: [&str; 5] = [
    "DELETE FROM change WHERE sequence <= ?1 AND id < (SELECT max(id) FROM change)",
    "DELETE FROM past WHERE sequence <= ?1",
    "DELETE FROM sheet_part WHERE sheet IN (SELECT id FROM link_check WHERE wanted_in < ?1)",
    "DELETE FROM link_check WHERE wanted_in < ?1",
    "UPDATE sequence SET pruned = 1, counters = json_remove(counters, '$.looks'), noise = NULL
     WHERE n <= ?1 AND (pruned IS NULL OR noise IS NOT NULL OR counters ->> '$.looks' IS NOT NULL)",
];

/// How much is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct HistoryRule {
    pub(super) history: KeptHistory,
    /// Sequences that are kept whole, whatever their age; `None` is all.
    pub(super) whole: Option<NonZeroU32>,
}

/// Keeps so much of a crawl, whose last sequence this is and came to its end at this time (milliseconds since 1970).
pub(super) fn forget(connection: &Connection, sequence: u32, at: u64, keep: HistoryRule) -> Result<()> {
    let Some(last) = last_forgotten(connection, sequence, at, keep)? else { return Ok(()) };
    let from: u64 = connection.query_row("SELECT coalesce(forgotten_to, 0) FROM crawl", [], |row| row.get(0))?;
    let first = "SELECT sequence FROM visit WHERE id > ? ORDER BY id LIMIT 1";
    let first: Option<u32> = connection.query_row(first, [from], |row| row.get(0)).optional()?;
    let Some(last) = first.map(|first| last.min(first + MOST_AT_A_TIME - 1)) else { return Ok(()) };
    // Sequences do not overlap.
    let to: Option<u64> = connection.query_row(
        "SELECT (SELECT id FROM visit WHERE id > ?1 AND sequence > ?2 ORDER BY id LIMIT 1) - 1",
        params![from, last],
        |row| row.get(0),
    )?;
    let Some(to) = to.filter(|to| *to > from) else { return Ok(()) };
    connection.execute_batch(INDEX_OF_VISITS)?;
    connection.execute_batch(
        "CREATE TEMP TABLE IF NOT EXISTS going (url INTEGER PRIMARY KEY);
         CREATE TEMP TABLE IF NOT EXISTS unused (visit INTEGER PRIMARY KEY)",
    )?;
    // For each visit that goes, all tables would be read for rows that refer to it. There are none.
    connection.pragma_update(None, "foreign_keys", false)?;
    let forgotten = forget_up_to(connection, (from, to), last);
    connection.pragma_update(None, "foreign_keys", true)?;
    let visits = forgotten?;
    tracing::info!(up_to_sequence = last, visits, "history that is older than is kept was forgotten (store.keep)");
    Ok(())
}

/// The last sequence that is not kept, if there is one.
fn last_forgotten(connection: &Connection, sequence: u32, at: u64, keep: HistoryRule) -> Result<Option<u32>> {
    let Some(newest) = keep.whole.and_then(|whole| sequence.checked_sub(whole.get())) else { return Ok(None) };
    match keep.history {
        KeptHistory::All => Ok(None),
        KeptHistory::Sequences(most) => Ok(sequence.checked_sub(most.get()).map(|last| last.min(newest))),
        KeptHistory::Days(most) => {
            let before = at.saturating_sub(u64::from(most.get()) * 86_400_000);
            let ended = "SELECT max(n) FROM sequence WHERE n <= ?1 AND coalesce(ended_at, began_at) < ?2";
            connection.query_row(ended, params![newest, before], |row| row.get(0))
        }
    }
}

/// Forgets those of the visits behind one, up to another, which are of sequences up to `last`; how many went.
fn forget_up_to(connection: &Connection, (from, to): (u64, u64), last: u32) -> Result<usize> {
    let transaction = connection.unchecked_transaction()?;
    // Nothing is compared with what was before them any more, but where a copy was cut short.
    let alone =
        "UPDATE visit SET before = NULL WHERE id > ?1 AND id <= ?2 AND before IS NOT NULL AND truncated IS NULL";
    transaction.execute(alone, [from, to])?;
    transaction.execute_batch("DELETE FROM temp.going; DELETE FROM temp.unused")?;
    transaction
        .execute("INSERT INTO temp.going SELECT DISTINCT url FROM visit WHERE id > ?1 AND id <= ?2", [from, to])?;
    transaction.execute(UNUSED, [last])?;
    transaction.execute("DELETE FROM page_field WHERE visit IN (SELECT visit FROM temp.unused)", [])?;
    let visits = transaction.execute("DELETE FROM visit WHERE id IN (SELECT visit FROM temp.unused)", [])?;
    for others in OTHERS {
        transaction.execute(others, [last])?;
    }
    let pointers = "UPDATE crawl SET forgotten_to = ?1, pruned_to = max(coalesce(pruned_to, 0), ?1)";
    transaction.execute(pointers, [to])?;
    transaction.commit()?;
    Ok(visits)
}
