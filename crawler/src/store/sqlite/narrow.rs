//! Leaving out what is queued and does not belong to the scope any more.
//!
//! A URL is judged again when it is leased; but nothing is leased on a host that does not answer, and it need not be waited for.

use rusqlite::{Connection, Result, functions::FunctionFlags};

use super::{again::Current, summary};
use crate::{scope::Scope, store::Abandonment, url::WebUrl};

/// Abandons what is queued in the last sequence outside of the scope. A host of which nothing is left is waited for no more.
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
         WHERE {queued} AND NOT in_scope(url)"
    );
    connection.execute(&update, (sequence, Abandonment::Scope.as_str()))?;
    connection.remove_function(name, 1)?;
    // Nobody waits any more for a host of which nothing is left.
    let forget = format!(
        "UPDATE host SET failures = NULL, ailing_since = NULL, cause = NULL, not_before = NULL, wait = NULL, known_good = NULL
         WHERE cause IS NOT NULL AND NOT EXISTS (SELECT 1 FROM url WHERE host = host.id AND {queued})"
    );
    connection.execute(&forget, [sequence]).map(|_| ())
}
