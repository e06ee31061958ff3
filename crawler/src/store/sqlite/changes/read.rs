//! Reads which changes were reported, and what pages said.

use std::time::Duration;

use rusqlite::{Connection, Result, Row};

use super::{
    super::{
        batches::{self, BATCH},
        moment::of_one_moment,
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

/// Shows every change asked for, in the order it was reported, to `each` until it answers `false`; with its texts, where these are
/// asked for.
pub(in crate::store::sqlite) fn changes(
    connection: &Connection,
    since: Since,
    with_texts: bool,
    mut each: impl FnMut(ChangeLine) -> bool,
) -> Result<()> {
    let (sequence, moment, first) = match since {
        Since::Ever => (0, 0, 0),
        Since::Sequence(sequence) => (sequence, 0, 0),
        Since::Moment(moment) => (0, moment.millis(), 0),
        Since::Newest(most) => (0, 0, first_of_newest(connection, most)?),
    };
    let mut select = connection.prepare(&format!(
        "SELECT coalesce(url.url, change.address, ''), change.change, change.sequence, change.at, change.before,
                change.after, change.target, change.count, change.before_text, change.after_text, change.id
         FROM change LEFT JOIN url ON url.id = change.url
         WHERE change.sequence >= ? AND change.at >= ? AND change.id >= ? AND change.id > ? ORDER BY change.id LIMIT {BATCH}",
    ))?;
    let read = |row: &Row<'_>| Ok((row.get(10)?, (line(row)?, [row.get(8)?, row.get(9)?])));
    let batch = |behind| select.query_map([u64::from(sequence), moment, first, behind], read)?.collect();
    batches::by_key(connection, batch, |(line, kept)| {
        let texts = if with_texts { of_one_moment(connection, || texts(connection, kept))? } else { None };
        Ok(each(ChangeLine { texts, ..line }))
    })
}

/// The first of so many rows, the last ones.
fn first_of_newest(connection: &Connection, most: u32) -> Result<u64> {
    let first = "SELECT coalesce(min(id), 0) FROM (SELECT id FROM change ORDER BY id DESC LIMIT ?)";
    connection.query_row(first, [most], |row| row.get(0))
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
        texts: None,
    })
}

fn texts(connection: &Connection, [before, after]: [Option<i64>; 2]) -> Result<Option<(String, String)>> {
    let (before, after) = (texts::load(connection, before)?, texts::load(connection, after)?);
    let same_rule = before.zip(after).filter(|((before, _), (after, _))| before == after);
    Ok(same_rule.map(|((_, before), (_, after))| (before.into(), after.into())))
}
