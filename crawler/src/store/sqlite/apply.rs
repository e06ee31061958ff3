//! Writing one [`Step`].
//!
//! Invariants: a page takes two statements, a third where its copy did not come with it, and one more for each URL that it admits. What
//! else a step holds (hosts first seen, their health, a robots.txt, lost URLs) is rare, and takes statements of its own.

use rusqlite::{Connection, Result, params};

use super::{
    again::{self, Tickets},
    changes,
    current::Current,
    held, link_checks, lost, ranks,
    step_context::{StepContext, StepRows},
    visits::{self, Written},
};
use crate::{
    candidate::{HostId, Ticket},
    health::HealthRow,
    store::{Abandonment, AreaRow, HostRow, RobotsRow, SitemapsRow, Step, UrlChange, UrlRow},
};

impl StepContext {
    /// That of a crawl as it is.
    pub(super) fn of(connection: &Connection, current: Current, rows: StepRows) -> Result<Self> {
        let readmits = again::readmits(connection, current)?;
        Ok(Self { current, rows, readmits, lost: lost::any(connection)? })
    }
}

/// What was written of a step.
#[derive(Debug, Default)]
pub(super) struct Applied {
    /// The URLs that were admitted already, of which nothing is written.
    pub(super) known: Vec<Ticket>,
    /// The rows of the URL that was visited, and of its visit.
    pub(super) visit: Option<(u64, i64)>,
}

/// Writes the rows of a step; its counters are the writer's.
pub(super) fn step(connection: &Connection, step: &Step, context: StepContext) -> Result<Applied> {
    let current = context.current;
    let mut tickets = Tickets::new(connection, context);
    let copy = step.visit.as_ref().map(|visit| tickets.copy(visit)).transpose()?.flatten();
    step.hosts.iter().try_for_each(|row| host(connection, row))?;
    step.areas.iter().try_for_each(|row| area(connection, row))?;
    let mut known = Vec::new();
    for row in &step.rows {
        if !admit(connection, row, &mut tickets, context)? {
            known.push(row.id);
        }
    }
    let (mut visit, mut visited) = (None, None);
    if let Some(row) = &step.visit {
        let url = tickets.url(row.url)?;
        let written = visits::write(connection, row, (url, copy.as_deref()), current)?;
        (visit, visited) = (Some(written), written.visit.map(|visit| (url, visit)));
    }
    if let Some((ticket, new)) = &step.change {
        change(connection, tickets.url(*ticket)?, new, visit, current)?;
    }
    // After the page's own rows, whose ticket is the last that was looked up until then.
    step.lost.iter().try_for_each(|row| lost::audited(connection, row, &mut tickets))?;
    step.rescue.iter().try_for_each(|row| lost::fetched_again(connection, row, &mut tickets))?;
    step.health.iter().try_for_each(|(id, row)| health(connection, *id, row.as_ref()))?;
    if let Some((id, row)) = &step.robots {
        robots(connection, *id, row)?;
    }
    if let Some(row) = step.sitemaps {
        sitemaps(connection, row, current)?;
    }
    if let Some(learnt) = &step.ranks {
        ranks::write(connection, learnt, current)?;
    }
    step.checked.iter().try_for_each(|checked| link_checks::write(connection, checked, current))?;
    if let Some(look) = &step.second_look {
        changes::write_second_look(connection, tickets.url(look.page)?, look)?;
    }
    if let Some((id, why)) = step.closed {
        close(connection, id, why, current)?;
    }
    Ok(Applied { known, visit: visited })
}

fn host(connection: &Connection, row: &HostRow) -> Result<()> {
    let mut insert = connection.prepare_cached("INSERT INTO host (id, origin) VALUES (?, ?)")?;
    insert.execute(params![row.id.0, row.origin.as_str()]).map(|_| ())
}

pub(super) fn area(connection: &Connection, row: &AreaRow) -> Result<()> {
    let is_new = !connection.prepare_cached("SELECT 1 FROM area WHERE url = ?")?.exists([&row.url])?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO area (url, source) VALUES (?1, ?2)
         ON CONFLICT DO UPDATE SET source = ?2 WHERE ?3 AND source NOT IN ('start', 'guessed')",
    )?;
    // What the user gives is trusted from then on, though a server had led to it before.
    insert.execute(params![row.url, row.source.as_str(), row.source.is_given()])?;
    if is_new { note_other_reading(connection) } else { Ok(()) }
}

/// Links to a new part of the scope, or fields by other rules, are kept from now on alone, where pages were read before.
pub(super) fn note_other_reading(connection: &Connection) -> Result<()> {
    let update = "UPDATE sequence SET links_since = n + 1
        WHERE n = (SELECT max(n) FROM sequence) AND EXISTS (SELECT 1 FROM visit WHERE outcome = 'stored')";
    connection.execute(update, []).map(|_| ())
}

/// Whether it was new to the sequence.
fn admit(connection: &Connection, row: &UrlRow, tickets: &mut Tickets<'_>, context: StepContext) -> Result<bool> {
    let via = row.via.map(|via| tickets.url(via)).transpose()?;
    let written = connection.prepare_cached(again::admission(context))?.execute(params![
        row.id.0,
        row.host.0,
        row.url.as_str(),
        row.own_key(),
        row.fingerprint.to_bytes(),
        row.hop.as_str(),
        via,
        row.depth,
        row.redirects,
        row.rank,
        context.current.sequence,
        row.state(),
        row.abandoned.map(Abandonment::as_str),
    ])?;
    if context.lost && written > 0 {
        lost::found(connection, row, context.current.sequence)?;
    }
    Ok(written > 0)
}

/// What a URL that has its answer becomes.
const FINISH: &str = "UPDATE url SET state = 'finished', due = NULL, failed_at = NULL, reason = NULL, visit = ?1, copy = ?2 WHERE id = ?3";

/// The same where it may have been known before the sequence `?4`: it belongs to that from now on.
const FINISH_KNOWN: &str =
    "UPDATE url SET attempts = iif(admitted_in < ?4, 0, attempts), admitted_in = ?4, state = 'finished',
        due = NULL, failed_at = NULL, reason = NULL, visit = ?1, copy = ?2 WHERE id = ?3";

fn change(
    connection: &Connection,
    id: u64,
    change: &UrlChange,
    visit: Option<Written>,
    current: Current,
) -> Result<()> {
    let sequence = current.sequence;
    let changed = match change {
        UrlChange::Finished => {
            let Written { visit, copy } = visit.unwrap_or_default();
            if current.known_first {
                connection.prepare_cached(FINISH_KNOWN)?.execute(params![visit, copy, id, sequence])?
            } else {
                connection.prepare_cached(FINISH)?.execute(params![visit, copy, id])?
            }
        }
        UrlChange::Retry { attempts, due, failed, reason } => connection
            .prepare_cached(
                "UPDATE url SET admitted_in = ?, state = 'queued', attempts = ?, due = ?, failed_at = ?, reason = ? WHERE id = ?",
            )?
            .execute(params![sequence, attempts, due.millis(), failed.millis(), reason, id])?,
        UrlChange::Held => held::hold(connection, id, current)?,
        UrlChange::Abandoned(why) => connection
            .prepare_cached(
                "UPDATE url SET admitted_in = ?, state = 'abandoned', due = NULL, failed_at = NULL, reason = ? WHERE id = ?",
            )?
            .execute(params![sequence, why.as_str(), id])?,
    };
    debug_assert_eq!(changed, 1, "a change names an admitted URL");
    Ok(())
}

fn robots(connection: &Connection, id: HostId, row: &RobotsRow) -> Result<()> {
    let mut update = connection.prepare_cached(
        "UPDATE host SET robots_status = iif(?4 IS NULL OR coalesce(robots_status, 500) >= 500, ?1, robots_status),
                         robots_body = ?2, robots_fetched_at = ?3, robots_first_failed = ?4,
                         crawl_delay = iif(?4 IS NULL, ?5, crawl_delay), address = coalesce(?7, address) WHERE id = ?6",
    )?;
    let first_failed = row.first_failed.map(crate::time::Moment::millis);
    let address = row.address.map(|address| address.to_string());
    let values =
        params![row.status, row.body, row.fetched.millis(), first_failed, row.crawl_delay_millis, id.0, address];
    update.execute(values).map(|_| ())
}

fn sitemaps(connection: &Connection, row: SitemapsRow, current: Current) -> Result<()> {
    let mut update = connection.prepare_cached(
        "UPDATE host SET sitemaps_in = ?1, sitemap_guessed = coalesce(sitemap_guessed, ?2) WHERE id = ?3",
    )?;
    update.execute(params![current.sequence, row.is_guessed.then_some(true), row.host.0]).map(|_| ())
}

fn health(connection: &Connection, id: HostId, row: Option<&HealthRow>) -> Result<()> {
    let mut update = connection.prepare_cached(
        "UPDATE host SET failures = ?, ailing_since = ?, cause = ?, not_before = ?, wait = ?, known_good = ? WHERE id = ?",
    )?;
    let values = params![
        row.map(|row| row.failures),
        row.map(|row| row.since.millis()),
        row.map(|row| row.cause.to_string()),
        row.map(|row| row.not_before.millis()),
        row.map(|row| row.wait.as_str()),
        row.and_then(|row| row.known_good.as_deref()),
        id.0
    ];
    update.execute(values).map(|_| ())
}

/// What is queued on a host is abandoned. Each part of its queue has an index: without their help the whole table is read.
const CLOSE: [&str; 2] = [
    "UPDATE url INDEXED BY url_queue SET state = 'abandoned', reason = ?
     WHERE host = ? AND state = 'queued' AND due IS NULL AND admitted_in = ?",
    "UPDATE url INDEXED BY url_retry SET state = 'abandoned', due = NULL, failed_at = NULL, reason = ?
     WHERE host = ? AND state = 'queued' AND due IS NOT NULL AND admitted_in = ?",
];

/// The same of what was known before the sequence.
const CLOSE_KNOWN: &str = "UPDATE url INDEXED BY url_known
    SET admitted_in = ?3, state = 'abandoned', attempts = 0, due = NULL, failed_at = NULL, reason = ?1
    WHERE host = ?2 AND admitted_in < ?3";

fn close(connection: &Connection, id: HostId, why: Abandonment, current: Current) -> Result<()> {
    let known = current.known_first.then_some(CLOSE_KNOWN);
    for part in CLOSE.into_iter().chain(known) {
        connection.prepare_cached(part)?.execute(params![why.as_str(), id.0, current.sequence])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_closed_without_reading_the_table() {
        let mut connection = Connection::open_in_memory().unwrap();
        super::super::schema::migrate(&mut connection, 0).unwrap();
        for part in CLOSE {
            let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {part}")).unwrap();
            let steps: Result<Vec<String>> = plan.query_map(["", "0", "0"], |row| row.get(3)).unwrap().collect();
            assert!(steps.unwrap().iter().all(|step| step.starts_with("SEARCH") && step.contains("host=?")), "{part}");
        }
        connection
            .execute_batch(
                "INSERT INTO sequence (n, began_at, hash_seed, counters) VALUES (0, 0, 0, '{}');
                 INSERT INTO host (id, origin) VALUES (0, 'http://h'), (1, 'http://i');
                 INSERT INTO url (id, host, url, fingerprint, hop, depth, rank, admitted_in, state, attempts, due)
                 VALUES (1, 0, 'http://h/1', x'', 'link', 0, 0, 0, 'queued', 0, NULL),
                        (2, 0, 'http://h/2', x'', 'link', 0, 0, 0, 'queued', 1, 5),
                        (3, 0, 'http://h/3', x'', 'link', 0, 0, 0, 'finished', 0, NULL),
                        (4, 1, 'http://i/4', x'', 'link', 0, 0, 0, 'queued', 0, NULL)",
            )
            .unwrap();
        close(&connection, HostId(0), Abandonment::Address, Current::by_links(0)).unwrap();
        let mut select = connection.prepare("SELECT id FROM url WHERE reason = 'address' AND due IS NULL").unwrap();
        let closed: Result<Vec<u64>> = select.query_map([], |row| row.get(0)).unwrap().collect();
        assert_eq!(closed, Ok(vec![1, 2]));
    }
}
