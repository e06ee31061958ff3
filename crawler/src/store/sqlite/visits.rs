//! Writing the row of a visit.
//!
//! Owns: what is kept of a visit that found nothing new: its own row, without the links, which the earlier visit has.
//!
//! Does not know: what becomes of the URL.

use rusqlite::{Connection, Result, params};

use super::{
    again::{self, Copied, Current, StoredUrl},
    changes,
};
use crate::store::{VisitOutcome, VisitRow};

/// What was written.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Written {
    pub(super) visit: Option<i64>,
    /// The visit that has the page's latest copy, where this one has none of its own.
    pub(super) copy: Option<i64>,
}

/// The row of a visit. It has its links itself, unless the copy has them: if that is equal to the last byte, and to the last
/// link. A page that says in its headers that its links are not to be followed has other links than before, and the same
/// digest. What was kept under another scope, or came with other validators, is written anew: it is known to hold under this
/// scope then, and the next sequence asks by validators of today. So is what the copy has no text of, or one by another
/// rule: the next copy is compared with that of today. So is what the copy does not tell of its links.
const INSERT: &str =
    "INSERT INTO visit (url, sequence, fetched_at, outcome, status, reason, content_type, html, bytes, wire_bytes,
                        digest, title, redirect, truncated, links, change, etag, last_modified, same, audited, text, before,
                        steady, labels)
     SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, iif(same IS NULL, ?15, x''), ?16, ?17, ?18, same, ?20, ?21,
            iif(?16 IS 'unchanged', NULL, ?19), ?22, iif(same IS NULL, ?23, NULL)
     FROM (SELECT (SELECT id FROM visit WHERE id = ?19 AND digest = ?11 AND links = ?15 AND etag IS ?17 AND last_modified IS ?18
                       AND (?21 IS NULL OR text IS ?21) AND (?23 IS NULL OR labels IS NOT NULL) AND sequence >= (SELECT links_since FROM sequence WHERE n = ?2)) AS same) RETURNING same";

/// What the copy says of a page that was not modified.
const INSERT_NOT_MODIFIED: &str =
    "INSERT INTO visit (url, sequence, fetched_at, outcome, status, content_type, html, bytes, wire_bytes, digest, title,
                        truncated, links, change, etag, last_modified, same, text, steady)
     SELECT ?1, ?2, ?3, outcome, ?4, content_type, html, bytes, ?5, digest, title, truncated, x'', 'unchanged',
            coalesce(?6, etag), coalesce(?7, last_modified), id, text, ?9
     FROM visit WHERE id = ?8";

/// Writes it.
pub(super) fn write(connection: &Connection, row: &VisitRow, url: StoredUrl, current: Current) -> Result<Written> {
    match url.copy {
        Some(copy) if row.is_not_modified() => not_modified(connection, row, (url.id, copy), current),
        _ => {
            let same = insert(connection, row, url, current)?;
            let has_copy = row.outcome == VisitOutcome::Stored;
            let copy = if has_copy { same } else { url.copy.map(|copy| copy.visit) };
            Ok(Written { visit: Some(connection.last_insert_rowid()), copy })
        }
    }
}

/// Returns the visit that has its links, if that is the copy.
fn insert(connection: &Connection, row: &VisitRow, url: StoredUrl, current: Current) -> Result<Option<i64>> {
    let copy = url.copy.map(|copy| copy.visit);
    let text =
        row.text.as_ref().map(|text| changes::insert_text(connection, url.id, copy, text)).transpose()?.flatten();
    let values = params![
        url.id,
        current.sequence,
        row.at.millis(),
        row.outcome.as_str(),
        row.status,
        row.reason,
        row.content_type,
        row.html,
        row.bytes,
        row.wire_bytes,
        row.digest,
        row.title,
        row.redirect,
        row.truncated,
        links(row),
        again::change(row, url.copy.map(|copy| copy.digest)),
        row.etag,
        row.last_modified,
        copy,
        row.audited.then_some(true),
        text,
        row.steady,
        row.labels,
    ];
    connection.prepare_cached(INSERT)?.query_row(values, |row| row.get(0))
}

fn not_modified(
    connection: &Connection,
    row: &VisitRow,
    (url, copy): (u64, Copied),
    current: Current,
) -> Result<Written> {
    let visit = connection.prepare_cached(INSERT_NOT_MODIFIED)?.insert(params![
        url,
        current.sequence,
        row.at.millis(),
        row.status,
        row.wire_bytes,
        row.etag,
        row.last_modified,
        copy.visit,
        row.steady,
    ])?;
    Ok(Written { visit: Some(visit), copy: Some(copy.visit) })
}

fn links(row: &VisitRow) -> Vec<u8> {
    row.links.iter().flat_map(|link| link.to_be_bytes()).collect()
}
