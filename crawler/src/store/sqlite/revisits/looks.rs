//! Which pages wait for a second look, and when it is due: once, a set time after the first. A second look that settles nothing (the server
//! failed) is not repeated before the next sequence, which looks at every page.

use rusqlite::{Connection, Result, params};

use crate::{
    store::{
        DuePages, SecondLooks,
        sqlite::{current::Current, refill},
    },
    time::Moment,
};

/// The pages that were handed out for a second look, and when that was due: what was not visited since is in memory.
const HANDED: &str = "CREATE TEMP TABLE IF NOT EXISTS handed (url INTEGER PRIMARY KEY, look_at INTEGER NOT NULL)";

/// The pages in doubt whose last visit was before their second look is due, with the time of that, in the order of these times.
/// Where the server says that a page is gone for good, only that too many are may be doubted.
const WAITING: &str = "
    SELECT page_state.url, doubted_since + iif(doubt = 'missing' AND last.status IS NOT 410, ?2, ?1) AS look_at
    FROM page_state CROSS JOIN url ON url.id = page_state.url CROSS JOIN visit AS last ON last.id = url.visit
    WHERE doubt IN ('missing', 'shrunk', 'mass') AND url.state = 'finished' AND url.admitted_in = ?3
      AND last.fetched_at < look_at
      AND NOT EXISTS (SELECT 1 FROM temp.handed WHERE handed.url = page_state.url AND handed.look_at >= look_at)
    ORDER BY look_at LIMIT ?4";

/// Hands out the pages of a sequence whose second look is due.
pub(super) fn hand_out(
    connection: &Connection,
    looks: &SecondLooks,
    current: Current,
    found: &mut DuePages,
) -> Result<()> {
    connection.execute_batch(HANDED)?;
    let [confirm, gone_after] = [looks.confirm, looks.gone_after].map(|time| i64::try_from(time.as_millis()).ok());
    let mut select = connection.prepare_cached(WAITING)?;
    let page = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, Moment::from_millis(row.get(1)?)));
    let waiting = select.query_map(params![confirm, gone_after, current.sequence, looks.most + 1], page)?;
    // What is handed out is not read on.
    let waiting: Vec<(i64, Moment)> = waiting.collect::<Result<_>>()?;
    let mut hand = connection.prepare_cached("INSERT OR REPLACE INTO temp.handed VALUES (?, ?)")?;
    for (page, due) in waiting {
        if due > looks.at || found.looks >= looks.most {
            found.next_look = Some(due);
            break;
        }
        hand.execute(params![page, due.millis()])?;
        let Some(item) = refill::due_again(connection, page, current.sequence)? else { continue };
        if found.items.iter().all(|other| other.id != item.id) {
            found.items.push(item);
        }
        found.looks += 1;
    }
    Ok(())
}
