//! Links of other pages to what is removed.

use rusqlite::{Connection, Result, params};

use super::wanted::Takedown;
use crate::store::{LabelPacker, Labels, sqlite::visits::links_hash};

/// Leaves them out of what is kept of pages; how many copies of pages had one.
pub(super) fn strip(transaction: &Connection, takedown: &Takedown<'_>) -> Result<u64> {
    let mut select = transaction.prepare(
        "SELECT id, links, labels FROM visit WHERE url NOT IN temp.removed AND (length(links) > 0 OR labels IS NOT NULL)",
    )?;
    let mut update = transaction.prepare(
        "UPDATE visit SET links = ?2, labels = ?3, links_hash = iif(links_hash IS NULL, NULL, ?4) WHERE id = ?1",
    )?;
    let mut changed = 0;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let links: Vec<&[u8]> = row.get_ref(1)?.as_blob()?.chunks(8).collect();
        let labels = row.get_ref(2)?.as_blob_or_null()?;
        let is_kept: Vec<bool> = links.iter().map(|link| takedown.keeps(link)).collect();
        let labels = match stripped(labels, &is_kept, takedown) {
            NewLabels::AsTheyAre => continue,
            NewLabels::None => None,
            NewLabels::Packed(labels) => Some(labels),
        };
        let links: Vec<&[u8]> =
            links.into_iter().zip(&is_kept).filter_map(|(link, kept)| kept.then_some(link)).collect();
        let links = links.concat();
        update.execute(params![row.get::<_, i64>(0)?, links, labels, links_hash(&links)])?;
        changed += 1;
    }
    Ok(changed)
}

impl Takedown<'_> {
    fn keeps(&self, link: &[u8]) -> bool {
        <[u8; 8]>::try_from(link).map_or(true, |link| !self.links.contains(&link))
    }
}

/// What becomes of the labels of a page.
enum NewLabels {
    /// Nothing is left out, also of the links.
    AsTheyAre,
    /// There are none.
    None,
    Packed(Vec<u8>),
}

/// Leaves out the labels of links that are not kept, and refused links that match.
fn stripped(bytes: Option<&[u8]>, is_kept: &[bool], takedown: &Takedown<'_>) -> NewLabels {
    let is_whole = is_kept.iter().all(|kept| *kept);
    let Some(bytes) = bytes else { return if is_whole { NewLabels::AsTheyAre } else { NewLabels::None } };
    if is_whole && !Labels::may_have_refused(bytes) {
        return NewLabels::AsTheyAre;
    }
    // What cannot be read may name anything.
    let Some(labels) = Labels::read(bytes) else { return NewLabels::None };
    let stays = |url: &str| !takedown.is_named(url);
    if is_whole && labels.refused.iter().all(|link| stays(&link.url)) {
        return NewLabels::AsTheyAre;
    }
    let mut packer = LabelPacker::default();
    for (label, _) in labels.kept.iter().zip(is_kept).filter(|(_, kept)| **kept) {
        packer.keep(label.as_label());
    }
    for link in labels.refused.iter().filter(|link| stays(&link.url)) {
        packer.refuse(&link.url, &link.reason, link.label.as_label());
    }
    if let Some(names) = &labels.names {
        packer.name(names);
    }
    NewLabels::Packed(packer.finish())
}
