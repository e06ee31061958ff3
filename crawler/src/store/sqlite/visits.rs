//! Writing the row of a visit.
//!
//! Owns: what is kept of a visit that found nothing new: its own row, without the links, which the earlier visit has; and what changed
//! since the copy before it.
//!
//! Does not know: what becomes of the URL.

use std::sync::OnceLock;

use rusqlite::{Connection, Result, ToSql, params};
use xxhash_rust::xxh3::xxh3_64;

use super::{changes, current::Current};
use crate::{
    queue::KnownCopy,
    store::{VisitOutcome, VisitRow},
};

/// What was written.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Written {
    pub(super) visit: Option<i64>,
    /// The visit that has the page's latest copy, where this one has none of its own.
    pub(super) copy: Option<i64>,
}

/// What the copy says of a page that was not modified.
const INSERT_NOT_MODIFIED: &str =
    "INSERT INTO visit (url, sequence, fetched_at, outcome, status, content_type, html, bytes, wire_bytes, digest, title,
                        description, canonical, needs_js, language, h1, robots, words, truncated, links, change, etag, last_modified, same, text, steady)
     SELECT ?1, ?2, ?3, outcome, ?4, content_type, html, bytes, ?5, digest, title, description, canonical, needs_js, language, h1, robots, words, truncated, x'', 'unchanged',
            coalesce(?6, etag), coalesce(?7, last_modified), id, text, ?9
     FROM visit WHERE id = ?8";

/// Writes the visit of a URL, whose latest copy from an earlier one this is.
pub(super) fn write(
    connection: &Connection,
    row: &VisitRow,
    (url, copy): (u64, Option<&KnownCopy>),
    current: Current,
) -> Result<Written> {
    match copy {
        Some(copy) if row.is_not_modified() => {
            let visit = not_modified(connection, row, (url, copy), current)?;
            Ok(Written { visit: Some(visit), copy: Some(copy.visit) })
        }
        _ => insert(connection, row, (url, copy), current),
    }
}

fn insert(
    connection: &Connection,
    row: &VisitRow,
    (url, copy): (u64, Option<&KnownCopy>),
    current: Current,
) -> Result<Written> {
    let text = text(connection, row, (url, copy))?;
    let links: Vec<u8> = row.links.iter().flat_map(|link| link.to_be_bytes()).collect();
    let hash = links_hash(&links);
    let change = change(row, copy);
    let before = copy.map(|copy| copy.visit);
    let same = before.filter(|_| copy.is_some_and(|copy| is_same(row, copy, hash)));
    let is_stored = row.outcome == VisitOutcome::Stored;
    let own = same.is_none();
    let values: [(&str, &dyn ToSql); _] = [
        ("url", &url),
        ("sequence", &current.sequence),
        ("fetched_at", &row.at.millis()),
        ("outcome", &row.outcome.as_str()),
        ("status", &row.status),
        ("reason", &row.reason),
        ("content_type", &row.content_type),
        ("html", &row.html),
        ("bytes", &row.bytes),
        ("wire_bytes", &row.wire_bytes),
        ("digest", &row.digest),
        ("title", &row.head.title),
        ("description", &row.head.description),
        ("canonical", &row.head.canonical),
        ("needs_js", &row.head.needs_js),
        ("language", &row.head.language),
        ("h1", &row.head.heading),
        ("robots", &row.head.robots.as_str()),
        ("words", &row.head.words),
        ("redirect", &row.redirect),
        ("truncated", &row.truncated),
        ("change", &change),
        ("same", &same),
        ("before", &before.filter(|_| change != Some("unchanged"))),
        ("etag", &row.etag),
        ("last_modified", &row.last_modified),
        ("audited", &row.audited),
        ("text", &text),
        ("steady", &row.steady),
        ("links_hash", &(own && is_stored).then_some(hash)),
        ("links", if own { &links } else { &NO_LINKS }),
        ("labels", if own { &row.labels } else { &NO_LABELS }),
    ];
    let statement = INSERT.get_or_init(|| insertion(&values.map(|(column, _)| column)));
    let visit = connection.prepare_cached(statement)?.insert(&values.map(|(_, value)| value)[..])?;
    if row.audited && change == Some("changed") {
        note_wrong_host(connection, row, url)?;
    }
    Ok(Written { visit: Some(visit), copy: if is_stored { same } else { before } })
}

static INSERT: OnceLock<String> = OnceLock::new();

const NO_LINKS: [u8; 0] = [];
const NO_LABELS: Option<Vec<u8>> = None;

fn insertion(columns: &[&str]) -> String {
    let places = vec!["?"; columns.len()].join(", ");
    format!("INSERT INTO visit ({}) VALUES ({places})", columns.join(", "))
}

/// Where the text of a page is: that of the copy, if it is the same.
fn text(connection: &Connection, row: &VisitRow, (url, copy): (u64, Option<&KnownCopy>)) -> Result<Option<i64>> {
    let Some(text) = &row.text else { return Ok(None) };
    match copy.and_then(|copy| copy.text) {
        Some(known) if text.is_of(known) => Ok(Some(known.row)),
        _ => changes::insert_text(connection, url, text).map(Some),
    }
}

/// Whether a visit leaves its links to the copy: if that is equal to the last byte, and to the last link. A page that says in its headers
/// that its links are not to be followed has other links than before, and the same digest. What was kept under another scope, or came with
/// other validators, is written anew: it is known to hold under this scope then, and the next sequence asks by validators of today. So is
/// what the copy has no text of, or another one: the next copy is compared with that of today. So is what the copy does not tell of its
/// links.
fn is_same(row: &VisitRow, copy: &KnownCopy, links: u32) -> bool {
    let has_text = row.text.as_ref().is_none_or(|text| copy.text.is_some_and(|known| text.is_of(known)));
    let validators = (&row.etag, &row.last_modified) == (&copy.validators.etag, &copy.validators.last_modified);
    row.digest == Some(copy.digest)
        && links == copy.links
        && validators
        && has_text
        && (row.labels.is_none() || copy.has_labels)
        && copy.links_hold
}

/// 31 bits, which `SQLite` keeps in four bytes; 0 for none, which takes no byte.
pub(super) fn links_hash(links: &[u8]) -> u32 {
    let hash = u32::try_from(xxh3_64(links) >> 33).expect("31 bits are fewer than 32");
    if links.is_empty() { 0 } else { hash }
}

/// What a visit changed against the copy before it: `new`, `changed` or `unchanged` for a stored page, `gone` for one that was
/// stored before and is not there any more.
pub(super) fn change(visit: &VisitRow, copy: Option<&KnownCopy>) -> Option<&'static str> {
    match (visit.outcome, copy) {
        (VisitOutcome::Stored, Some(_)) if visit.is_not_modified() => Some("unchanged"),
        (VisitOutcome::Stored, None) => Some("new"),
        (VisitOutcome::Stored, Some(copy)) if visit.digest == Some(copy.digest) => Some("unchanged"),
        (VisitOutcome::Stored, Some(_)) => Some("changed"),
        (VisitOutcome::Broken, Some(_)) if matches!(visit.status, Some(404 | 410)) => Some("gone"),
        _ => None,
    }
}

/// Its host has said of a page that it was not modified, when it was.
fn note_wrong_host(connection: &Connection, row: &VisitRow, url: u64) -> Result<()> {
    let update =
        "UPDATE host SET wrong_since = coalesce(wrong_since, ?) WHERE id = (SELECT host FROM url WHERE id = ?)";
    connection.execute(update, params![row.at.millis(), url]).map(|_| ())
}

fn not_modified(
    connection: &Connection,
    row: &VisitRow,
    (url, copy): (u64, &KnownCopy),
    current: Current,
) -> Result<i64> {
    connection.prepare_cached(INSERT_NOT_MODIFIED)?.insert(params![
        url,
        current.sequence,
        row.at.millis(),
        row.status,
        row.wire_bytes,
        row.etag,
        row.last_modified,
        copy.visit,
        row.steady,
    ])
}
