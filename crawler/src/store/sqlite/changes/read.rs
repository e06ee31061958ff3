//! What was told, for those who ask.

use rusqlite::{Connection, Result, Row};

use super::texts;
use crate::store::{ChangeLine, Since};

/// Shows every change asked for, in the order it was told, to `each` until it answers `false`; with its texts, where these are
/// asked for.
pub(in crate::store::sqlite) fn changes(
    connection: &Connection,
    since: Since,
    with_texts: bool,
    mut each: impl FnMut(ChangeLine) -> bool,
) -> Result<()> {
    let (sequence, moment) = match since {
        Since::Ever => (0, 0),
        Since::Sequence(sequence) => (sequence, 0),
        Since::Moment(moment) => (0, moment.millis()),
    };
    let mut select = connection.prepare(
        "SELECT coalesce(url.url, change.address, ''), change.change, change.sequence, change.at, change.before,
                change.after, change.target, change.count, change.before_text, change.after_text
         FROM change LEFT JOIN url ON url.id = change.url
         WHERE change.sequence >= ? AND change.at >= ? ORDER BY change.id",
    )?;
    let mut rows = select.query([u64::from(sequence), moment])?;
    while let Some(row) = rows.next()? {
        let texts = if with_texts { texts(connection, row)? } else { None };
        if !each(ChangeLine { texts, ..line(row)? }) {
            break;
        }
    }
    Ok(())
}

fn line(row: &Row<'_>) -> Result<ChangeLine> {
    Ok(ChangeLine {
        url: row.get(0)?,
        change: row.get(1)?,
        sequence: row.get(2)?,
        at: row.get(3)?,
        before: row.get(4)?,
        after: row.get(5)?,
        to: row.get(6)?,
        count: row.get(7)?,
        texts: None,
    })
}

fn texts(connection: &Connection, row: &Row<'_>) -> Result<Option<(String, String)>> {
    let (before, after) = (texts::load(connection, row.get(8)?)?, texts::load(connection, row.get(9)?)?);
    let same_rule = before.zip(after).filter(|((before, _), (after, _))| before == after);
    Ok(same_rule.map(|((_, before), (_, after))| (before.into(), after.into())))
}
