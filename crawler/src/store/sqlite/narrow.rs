//! Leaving out what is queued and does not belong to the scope any more.
//!
//! A URL is judged again when it is leased; but nothing is leased on a host that does not answer, and it need not be waited for.

use std::collections::BTreeSet;

use rusqlite::{Connection, Result, functions::FunctionFlags};

use super::{again::Current, summary};
use crate::{scope::Scope, store::Abandonment, url::WebUrl};

/// Abandons what is queued in the last sequence outside of the scope. Nobody waits any more for a host of which nothing is left,
/// unless the host itself has asked for a pause.
pub(super) fn leave_out(connection: &Connection, scope: &Scope) -> Result<()> {
    let Some(sequence) = summary::last_sequence(connection)? else { return Ok(()) };
    let (name, scope) = ("in_scope", scope.clone());
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function(name, 1, flags, move |row| {
        // What is no URL is found by those who look for faults.
        Ok(WebUrl::parse(row.get_raw(0).as_str()?).map_or(true, |url| scope.judge(&url).is_ok()))
    })?;
    let queued = Current::of(connection, sequence)?.queued();
    let update = format!(
        "UPDATE url SET admitted_in = ?1, state = 'abandoned', attempts = 0, due = NULL, failed_at = NULL, reason = ?2
         WHERE {queued} AND NOT in_scope(url) RETURNING host"
    );
    let mut hosts = BTreeSet::new();
    let mut update = connection.prepare(&update)?;
    let mut left_out = update.query((sequence, Abandonment::Scope.as_str()))?;
    while let Some(row) = left_out.next()? {
        hosts.insert(row.get::<_, u64>(0)?);
    }
    connection.remove_function(name, 1)?;
    // A crawl that leaves out many hosts reads the table once.
    let has_more = format!("SELECT DISTINCT host FROM url WHERE {queued}");
    if !hosts.is_empty() {
        let mut select = connection.prepare(&has_more)?;
        let mut rows = select.query([sequence])?;
        while let Some(row) = rows.next()? {
            hosts.remove(&row.get(0)?);
        }
    }
    let mut forget = connection.prepare(
        "UPDATE host SET failures = NULL, ailing_since = NULL, cause = NULL, not_before = NULL, wait = NULL, known_good = NULL
         WHERE id = ? AND wait = 'back_off'",
    )?;
    hosts.iter().try_for_each(|host| forget.execute([host]).map(|_| ()))
}

/// Whether the last sequence has no visit yet.
pub(super) fn is_untouched(connection: &Connection) -> Result<bool> {
    let query = "SELECT NOT EXISTS (SELECT 1 FROM visit WHERE sequence = (SELECT max(n) FROM sequence))";
    connection.query_row(query, [], |row| row.get(0))
}
