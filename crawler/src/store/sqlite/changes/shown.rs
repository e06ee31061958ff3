//! Shows what moves by itself, and what was hidden of it.

use rusqlite::{Connection, Result, Row};

use super::{
    super::schema,
    noise::{self, LookedPage, NoiseBook},
};
use crate::{
    changes::{Explained, Ignore},
    store::{MaskLine, MaskedLine, placed_text},
    text::Text,
    time::Moment,
};

/// Shows each mask to `each` until it answers `false`: first those of sections, then those of single pages.
pub(in crate::store::sqlite) fn masks(connection: &Connection, mut each: impl FnMut(MaskLine) -> bool) -> Result<()> {
    if !schema::has_mask_table(connection)? {
        return Ok(());
    }
    let mut select = connection.prepare("SELECT address, mask FROM mask ORDER BY address, id")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let Some(mask) = noise::mask(row.get_ref(1)?.as_str()?) else { continue };
        if !each(MaskLine { address: row.get(0)?, is_page: false, mask }) {
            return Ok(());
        }
    }
    let mut select = connection.prepare(
        "SELECT url.url, masks FROM page_state CROSS JOIN url ON url.id = page_state.url WHERE masks IS NOT NULL ORDER BY url.id",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let address: String = row.get(0)?;
        for mask in noise::page_noise(row.get_ref(1)?.as_str()?).masks {
            if !each(MaskLine { address: address.clone(), is_page: true, mask }) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// A text of a page.
struct KeptText {
    url: i64,
    address: String,
    rule: u64,
    seen: Moment,
    text: Text,
}

/// Shows what the masks of today hide between the kept texts of pages to `each` until it answers `false`, page by page.
pub(in crate::store::sqlite) fn masked(
    connection: &Connection,
    ignore: &Ignore,
    mut each: impl FnMut(MaskedLine) -> bool,
) -> Result<()> {
    if !schema::has_mask_table(connection)? {
        return Ok(());
    }
    let book = NoiseBook::read(connection, false)?;
    let mut select = connection.prepare(
        "SELECT text.url, url.url, rule, body, places,
                (SELECT min(fetched_at) FROM visit WHERE visit.url = text.url AND visit.text = text.id)
         FROM text CROSS JOIN url ON url.id = text.url ORDER BY text.url, text.id",
    )?;
    let mut rows = select.query([])?;
    let mut before: Option<KeptText> = None;
    while let Some(row) = rows.next()? {
        let Some(now) = kept(row, ignore)? else { continue };
        if let Some(before) = before.filter(|before| (before.url, before.rule) == (now.url, now.rule)) {
            let page = LookedPage::of(now.url, &now.address);
            let masks = book.of(connection, page)?;
            for edit in Explained::of(&before.text, &now.text, &masks).masked {
                let [removed, added] = [edit.removed, edit.added].map(|lines| lines.join("\n"));
                if !each(MaskedLine { url: now.address.clone(), at: now.seen, before: removed, after: added }) {
                    return Ok(());
                }
            }
        }
        before = Some(now);
    }
    Ok(())
}

fn kept(row: &Row<'_>, ignore: &Ignore) -> Result<Option<KeptText>> {
    let places = row.get_ref(4)?.as_blob_or_null()?.unwrap_or_default();
    let Some(text) = placed_text(row.get_ref(3)?.as_blob()?, places) else { return Ok(None) };
    let seen = Moment::from_millis(row.get::<_, Option<u64>>(5)?.unwrap_or_default());
    Ok(Some(KeptText { url: row.get(0)?, address: row.get(1)?, rule: row.get(2)?, seen, text: ignore.apply(&text) }))
}
