//! Reads which changes were reported, and what pages said.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Result, Row, params};

use super::{
    super::{
        batches::{self, BATCH},
        moment::of_one_moment,
        schema,
        words::word,
    },
    texts,
};
use crate::{
    changes::{Change, Doubt},
    store::{ChangeLine, PendingChange, Since},
};

/// What waits for a second look. What does not belong to the crawl any more will have none.
const PENDING: &str = "doubt IN ('missing', 'shrunk', 'mass', 'unsure') AND url.state <> 'abandoned'";

/// Classes of changes, as a report has them.
const CLASSES: [Change; 12] = [
    Change::SiteWide,
    Change::Gone,
    Change::Unreachable,
    Change::ChangedText,
    Change::Reverted,
    Change::New,
    Change::Moved,
    Change::Back,
    Change::Reachable,
    Change::Orphaned,
    Change::Changed,
    Change::Volatile,
];

/// Shows every change asked for to `each` until it answers `false`; with its texts, where these are asked for. Those of a sequence
/// come class by class, and in a class in the order of their importance: pages to which more pages link, to the nearest power of ten,
/// then those that are nearer to the start, then those that changed less often. The newest come in the order in which they were reported.
pub(in crate::store::sqlite) fn changes(
    connection: &Connection,
    since: Since,
    with_texts: bool,
    mut each: impl FnMut(ChangeLine) -> bool,
) -> Result<()> {
    let (alike, link_edits) =
        if schema::has_mask_table(connection)? { ("nullif(alike, 0)", "links") } else { ("NULL", "NULL") };
    let query = format!(
        "SELECT coalesce(url.url, change.address, ''), change.change, change.sequence, change.at, change.before,
                change.after, change.target, change.count, change.before_text, change.after_text, {alike}, {link_edits}
         FROM change LEFT JOIN url ON url.id = change.url WHERE change.id = ?"
    );
    let read = |row: &Row<'_>| Ok((line(row)?, [row.get(8)?, row.get(9)?]));
    for batch in in_order(connection, since)?.chunks(BATCH) {
        let lines = of_one_moment(connection, || {
            let mut select = connection.prepare_cached(&query)?;
            let line = |id: &i64| select.query_row([id], read).optional().transpose();
            batch.iter().filter_map(line).collect::<Result<Vec<_>>>()
        })?;
        for (line, kept) in lines {
            let texts = if with_texts { of_one_moment(connection, || texts(connection, kept))? } else { None };
            if !each(ChangeLine { texts, ..line }) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The numbers of the changes asked for, in the order in which they are shown.
fn in_order(connection: &Connection, since: Since) -> Result<Vec<i64>> {
    let (sequence, moment) = match since {
        Since::Ever => (0, 0),
        Since::Sequence(sequence) => (sequence, 0),
        Since::Moment(moment) => (0, moment.millis()),
        Since::Newest(most) => {
            let newest = "SELECT id FROM (SELECT id FROM change ORDER BY id DESC LIMIT ?) ORDER BY id";
            return connection.prepare(newest)?.query_map([most], |row| row.get(0))?.collect();
        }
    };
    let rank = |(rank, class): (usize, &Change)| format!("WHEN '{}' THEN {rank}", class.as_str());
    let classes: Vec<_> = CLASSES.iter().enumerate().map(rank).collect();
    let in_links = if schema::has_mask_table(connection)? { "in_links" } else { "NULL" };
    let mut select = connection.prepare(&format!(
        "SELECT change.id FROM change LEFT JOIN url ON url.id = change.url
         LEFT JOIN (SELECT url AS changed, count(*) AS times FROM change GROUP BY url) ON changed = change.url
         WHERE change.sequence >= ? AND change.at >= ?
         ORDER BY change.sequence, CASE change.change {} END, length({in_links}) DESC, depth, times, {in_links} DESC, change.id",
        classes.join(" ")
    ))?;
    select.query_map(params![sequence, moment], |row| row.get(0))?.collect()
}

/// Shows every change that waits for a second look to `each` until it answers `false`: that at a page that is not found is due as
/// long after the first as the second of these times, any other as long as the first.
pub(in crate::store::sqlite) fn pending(
    connection: &Connection,
    pauses: [Duration; 2],
    mut each: impl FnMut(PendingChange) -> bool,
) -> Result<()> {
    let [confirm, gone_after] = pauses.map(|pause| u64::try_from(pause.as_millis()).unwrap_or(u64::MAX));
    let query = format!(
        "SELECT url.url, doubt, doubted_since,
                doubted_since + iif(doubt = 'missing' AND last.status IS NOT 410, ?2, ?1) AS look_at
         FROM page_state CROSS JOIN url ON url.id = page_state.url LEFT JOIN visit AS last ON last.id = url.visit
         WHERE {PENDING} ORDER BY look_at, page_state.url"
    );
    batches::of_query(connection, &query, [confirm, gone_after], |row| {
        let doubt = word(row, 1, Doubt::from_word)?;
        Ok(each(PendingChange { url: row.get(0)?, doubt, since: row.get(2)?, due: row.get(3)? }))
    })
}

/// How many changes wait for a second look.
pub(in crate::store::sqlite) fn count_pending(connection: &Connection) -> Result<u64> {
    connection.query_row(
        &format!("SELECT count(*) FROM page_state CROSS JOIN url ON url.id = page_state.url WHERE {PENDING}"),
        [],
        |row| row.get(0),
    )
}

fn line(row: &Row<'_>) -> Result<ChangeLine> {
    Ok(ChangeLine {
        url: row.get(0)?,
        change: word(row, 1, Change::from_word)?,
        sequence: row.get(2)?,
        at: row.get(3)?,
        before: row.get(4)?,
        after: row.get(5)?,
        to: row.get(6)?,
        count: row.get(7)?,
        alike: row.get(10)?,
        texts: None,
        links: row.get_ref(11)?.as_str_or_null()?.and_then(|kept| serde_json::from_str(kept).ok()).unwrap_or_default(),
    })
}

fn texts(connection: &Connection, [before, after]: [Option<i64>; 2]) -> Result<Option<(String, String)>> {
    let (before, after) = (texts::load(connection, before)?, texts::load(connection, after)?);
    let same_rule = before.zip(after).filter(|((before, _), (after, _))| before == after);
    Ok(same_rule.map(|((_, before), (_, after))| (before.into(), after.into())))
}
