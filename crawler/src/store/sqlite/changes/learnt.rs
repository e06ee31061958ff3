//! What is learnt from several looks at a page.
//!
//! Does not know: which masks count for a page, and how they are kept.

use rusqlite::{Connection, OptionalExtension, Result};

use super::{
    Finder,
    noise::{LookedPage, NoiseBook},
    standings, texts,
};
use crate::{
    changes::{Mask, MaskKind},
    store::placed_text,
    text::Text,
};

/// A second look at a page.
#[derive(Clone)]
pub(super) struct SecondLook {
    /// Its body, if it was a page.
    pub(super) digest: Option<[u8; 32]>,
    /// Its text, with the rule that made it.
    pub(super) text: Option<(u64, Text)>,
    /// The texts of links that led elsewhere.
    pub(super) links: Vec<String>,
}

/// The second look that followed a visit shortly.
pub(super) fn second_look(connection: &Connection, url: i64, visit: i64) -> Result<Option<SecondLook>> {
    let mut select = connection.prepare_cached(
        "SELECT second.digest, second.rule, second.body, second.places, visit.text, second.links FROM second_look AS second
         JOIN visit ON visit.id = second.visit WHERE second.url = ? AND second.visit = ?",
    )?;
    let mut rows = select.query([url, visit])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let own = texts::placed(connection, row.get(4)?)?;
    let text = match (row.get::<_, Option<u64>>(1)?, row.get_ref(2)?.as_blob_or_null()?) {
        (Some(rule), Some(body)) => {
            let places = row.get_ref(3)?.as_blob_or_null()?.unwrap_or_default();
            placed_text(body, places).map(|text| (rule, text))
        }
        (Some(_), None) => own,
        _ => None,
    };
    let links = row.get_ref(5)?.as_str_or_null()?.and_then(|kept| serde_json::from_str(kept).ok()).unwrap_or_default();
    Ok(Some(SecondLook { digest: row.get(0)?, text, links }))
}

/// Learns what moves from all second looks: those that followed a visit shortly, and visits after `from`, up to `to`, that a change of
/// their page waited for. What is again as it was before that change moves no more than it did then. So what is common to the pages of a
/// section is known before any of them is judged.
pub(super) fn learn(finder: &Finder<'_>, (from, to): (i64, i64)) -> Result<()> {
    let connection = finder.connection;
    let mut select = connection.prepare(
        "SELECT second_look.url, visit.text, visit.digest, url.url, visit.id, NULL, visit.before FROM second_look JOIN visit ON visit.id = second_look.visit
         JOIN url ON url.id = second_look.url
         UNION ALL
         SELECT page_state.url, visit.text, visit.digest, url.url, visit.id, unsure, visit.before FROM page_state JOIN url ON url.id = page_state.url
         JOIN visit ON visit.id = url.visit JOIN visit AS good ON good.id = page_state.good
         WHERE doubt = 'unsure' AND unsure IS NOT NULL AND visit.id > ? AND visit.id <= ? AND visit.digest IS NOT good.digest
         ORDER BY 1",
    )?;
    let mut rows = select.query([from, to])?;
    let mut book: Option<NoiseBook> = None;
    while let Some(row) = rows.next()? {
        let (url, visit) = (row.get(0)?, row.get(4)?);
        let address = row.get_ref(3)?.as_str()?;
        let page = LookedPage::of(url, address);
        // What nothing was remembered of has the copy before this look; in the first sequence this one.
        let before = if finder.current.is_without_copies() { Some(visit) } else { row.get(6)? };
        let standing = standings::of(connection, url, before)?;
        let unsure: Option<i64> = row.get(5)?;
        let second = match unsure {
            Some(unsure) => earlier_look(connection, unsure)?,
            None => second_look(connection, url, visit)?,
        };
        let first = texts::placed(connection, row.get(1)?)?;
        let Some(second) = second else { continue };
        let Some(((rule, first), (other_rule, other))) = first.zip(second.text) else { continue };
        if rule != other_rule {
            continue;
        }
        let [first, other] = [first, other].map(|text| finder.rules.ignore.apply(&text));
        let book = match &mut book {
            Some(book) => book,
            None => book.insert(NoiseBook::read(connection, true)?),
        };
        let sequence = finder.current.sequence;
        let mut masks = if first == other { Vec::new() } else { Mask::between(&first, &other, sequence) };
        // Between two sequences texts are edited, again and again: prices, headlines. There an order alone is believed to move by itself.
        masks.retain(|mask| unsure.is_none() || mask.kind() == MaskKind::Reorders);
        masks.extend(Mask::of_links(&second.links, sequence));
        if !masks.is_empty() {
            book.learn_from(finder, page, &standing, masks)?;
        }
        if first == other && second.digest.is_some() && second.digest != row.get(2)? {
            book.bytes_move(finder, page, &standing)?;
        }
    }
    if let Some(mut book) = book {
        book.learn_common(connection)?;
    }
    Ok(())
}

/// The look that waits for another one.
fn earlier_look(connection: &Connection, visit: i64) -> Result<Option<SecondLook>> {
    let mut select = connection.prepare_cached("SELECT digest, text FROM visit WHERE id = ?")?;
    let found = select.query_row([visit], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((digest, text)) = found else { return Ok(None) };
    Ok(Some(SecondLook { digest, text: texts::placed(connection, text)?, links: Vec::new() }))
}
