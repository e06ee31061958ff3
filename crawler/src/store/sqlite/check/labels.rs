//! What is kept of links beside their targets.

use rusqlite::{Connection, Result};

use super::super::checked_ends::{self, LinkCheckColumns};
use crate::store::{Finding, Labels, take_names};

/// What is checked.
pub(super) const LABELS: &str = "the kept links of a page can be read, and their number is right";

/// The same of what was checked.
pub(super) const NAMES: &str = "the kept names of a checked page can be read";

/// Each is unpacked, one at a time.
pub(super) fn finding(connection: &Connection) -> Result<Option<Finding>> {
    let mut select = connection.prepare("SELECT id, length(links), labels FROM visit WHERE labels IS NOT NULL")?;
    let mut rows = select.query([])?;
    let mut count = 0;
    let mut example = None;
    while let Some(row) = rows.next()? {
        let bytes: usize = row.get(1)?;
        let labels = row.get_ref(2)?.as_blob().ok().and_then(Labels::read);
        if labels.is_none_or(|labels| labels.kept.len() != bytes / 8) {
            count += 1;
            let visit: i64 = row.get(0)?;
            example.get_or_insert_with(|| format!("visit {visit}"));
        }
    }
    Ok(example.map(|example| Finding { invariant: LABELS, count, example }))
}

/// Each is read, one at a time.
pub(super) fn finding_of_names(connection: &Connection) -> Result<Option<Finding>> {
    if checked_ends::columns(connection)? < Some(LinkCheckColumns::WithNames) {
        return Ok(None);
    }
    let mut select = connection.prepare("SELECT id, names FROM link_check WHERE names IS NOT NULL")?;
    let mut rows = select.query([])?;
    let mut count = 0;
    let mut example = None;
    while let Some(row) = rows.next()? {
        let mut names = row.get_ref(1)?.as_blob().unwrap_or_default();
        if take_names(&mut names).is_none() || !names.is_empty() {
            count += 1;
            let id: i64 = row.get(0)?;
            example.get_or_insert_with(|| format!("link_check {id}"));
        }
    }
    Ok(example.map(|example| Finding { invariant: NAMES, count, example }))
}
