//! Dates that change day by day.

use rusqlite::Result;

use super::{Finder, texts};
use crate::{
    changes::{Mask, moving_dates},
    text::Text,
};

/// The places of dates that were others at each of the last three visits of a page.
pub(super) fn moving(finder: &Finder<'_>, (url, visit): (i64, i64), now: &Text, masks: &[Mask]) -> Result<Vec<Mask>> {
    let connection = finder.connection;
    let mut select =
        connection.prepare_cached("SELECT text FROM visit WHERE url = ? AND id <= ? ORDER BY id DESC LIMIT 3")?;
    let texts = select.query_map([url, visit], |row| row.get(0))?.collect::<Result<Vec<Option<i64>>>>()?;
    let [_, Some(second), Some(first)] = texts[..] else { return Ok(Vec::new()) };
    let [first, second] = [texts::placed(connection, Some(first))?, texts::placed(connection, Some(second))?];
    let Some(((rule, first), (other_rule, second))) = first.zip(second) else { return Ok(Vec::new()) };
    if rule != other_rule {
        return Ok(Vec::new());
    }
    let [first, second] = [first, second].map(|text| finder.rules.ignore.apply(&text));
    Ok(moving_dates([&first, &second, now], masks, finder.current.sequence))
}
