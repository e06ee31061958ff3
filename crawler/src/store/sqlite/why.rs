//! What is known of one URL: its row, what leads to it, its host, and that it was lost.
//!
//! Invariant: memory does not grow with the crawl. In a first sequence no index finds a fingerprint, so the URL table is read once.
//!
//! Does not know: whether the URL is in the scope, and what its host's robots.txt says of it.

use rusqlite::{Connection, OptionalExtension, Result, Row, params, types::ToSql};

use super::{
    checked_ends::CheckedEnds,
    current::Current,
    error::Fault,
    held::HELD,
    links::{self, SoughtUrl},
    pages, resume, schema, summary,
};
use crate::{
    store::{HostFacts, LostFacts, RobotsRow, UrlFacts, UrlRecord},
    time::Moment,
    url::{Fingerprint, WebUrl},
};

/// A row, and the numbers in it.
struct FoundRow {
    host: u32,
    via: Option<u64>,
    record: UrlRecord,
}

/// What is known of a URL, with so many of what leads to it; `None` before the crawl has begun.
pub(super) fn facts(connection: &Connection, url: &WebUrl, most: usize) -> Result<Option<UrlFacts>, Fault> {
    let Some(last) = resume::last_sequence(connection)? else { return Ok(None) };
    let Some((rules, seed)) = resume::key_rules(connection)?.zip(resume::fingerprint_seed(connection)?) else {
        return Ok(None);
    };
    let current = Current::of(connection, last.number)?;
    let key = rules.key(url);
    let fingerprint = seed.fingerprint(&key);
    let found = row(connection, fingerprint, current)?;
    let first = found.as_ref().and_then(|found| Some((found.via, found.record.line.hop?)));
    let sought = SoughtUrl { url, key: &key, link: fingerprint.short(), rules: &rules, first };
    let proposers = links::proposers(connection, current, &sought, most)?;
    let host = match &found {
        Some(found) => host(connection, current, "id", &found.host)?,
        None => host(connection, current, "origin", &url.origin().as_str())?,
    };
    let missing = if found.is_none() { lost(connection, fingerprint)? } else { None };
    let checked = CheckedEnds::of(connection, last.number)?.end(url.as_str(), |_| Ok(None))?;
    let link_check = checked.filter(|_| found.is_none());
    let (rules, record) = (rules.changing(url), found.map(|found| found.record));
    let is_removed = schema::has_removed_table(connection)?
        && connection.prepare("SELECT 1 FROM removed_url WHERE fingerprint = ?")?.exists([fingerprint.to_bytes()])?;
    Ok(Some(UrlFacts { key, rules, record, link_check, lost: missing, is_removed, proposers, host, last }))
}

fn row(connection: &Connection, fingerprint: Fingerprint, current: Current) -> Result<Option<FoundRow>> {
    let query = "SELECT id, host, via, attempts, due, state = 'queued' OR (?2 AND admitted_in < ?3) FROM url
                 WHERE fingerprint = ?1";
    let values = params![fingerprint.to_bytes(), current.known_first, current.sequence];
    let found = |row: &Row<'_>| {
        let line = pages::one(connection, row.get(0)?)?;
        let due = row.get::<_, Option<i64>>(4)?.filter(|due| *due < HELD);
        let due = due.map(|due| Moment::from_millis(due.unsigned_abs()));
        let record = UrlRecord { line, is_queued: row.get(5)?, attempts: row.get(3)?, due };
        Ok(FoundRow { host: row.get(1)?, via: row.get(2)?, record })
    };
    connection.query_row(query, values, found).optional()
}

fn lost(connection: &Connection, fingerprint: Fingerprint) -> Result<Option<LostFacts>> {
    let query = "SELECT state, found_by, sequence FROM lost
                 WHERE substr(fingerprint, 1, 8) = ? AND admitted IS NULL ORDER BY sequence DESC LIMIT 1";
    let lost = |row: &Row<'_>| Ok(LostFacts { state: row.get(0)?, found_by: row.get(1)?, sequence: row.get(2)? });
    connection.query_row(query, [fingerprint.short().to_be_bytes()], lost).optional()
}

/// The host that has this in a column.
fn host(connection: &Connection, current: Current, column: &str, value: &dyn ToSql) -> Result<Option<HostFacts>> {
    let query = format!(
        "SELECT origin, {}, failures, ailing_since, cause, not_before, wait, known_good,
                robots_fetched_at, robots_first_failed, robots_status, robots_body, crawl_delay
         FROM host AS h WHERE h.{column} = ?2",
        summary::queued_on_host(current)
    );
    let host = |row: &Row<'_>| {
        let robots = row.get::<_, Option<u64>>(8)?.map(|fetched| robots(row, fetched)).transpose()?;
        Ok(HostFacts { origin: row.get(0)?, health: resume::health(row, 2)?, waiting: row.get(1)?, robots })
    };
    connection.query_row(&query, params![current.sequence, value], host).optional()
}

fn robots(row: &Row<'_>, fetched: u64) -> Result<RobotsRow> {
    let first_failed = row.get::<_, Option<u64>>(9)?.map(Moment::from_millis);
    let fetched = Moment::from_millis(fetched);
    let crawl_delay_millis = row.get(12)?;
    let (status, body) = (row.get(10)?, row.get(11)?);
    Ok(RobotsRow { status, body, fetched, first_failed, crawl_delay_millis, ..RobotsRow::default() })
}
