//! The figures of the last sequence, from rows.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};

use super::{changes, checked_ends::CheckedEnds, current::Current, freshness, lost, resume};
use crate::{
    queue::Counts,
    revisit::{PageRates, SiteLooks},
    store::{
        CheckedRevisits, Counters, LinkCheckCounts, LostCounts, NoiseFigures, PageCounts, StoredSummary, UnhealthyHost,
        UrlCounts,
    },
    time::Moment,
};

/// Hosts that are named at most.
const MOST_HOSTS: usize = 100;

/// The number of the last sequence; `None` when no crawl has begun.
pub(super) fn last_sequence(connection: &Connection) -> Result<Option<u32>> {
    connection.query_row("SELECT max(n) FROM sequence", [], |row| row.get(0))
}

/// What sequences from this one on have counted, in their order.
pub(super) fn counters(connection: &Connection, from: u32) -> Result<Vec<(u32, Counters)>> {
    let mut select = connection.prepare("SELECT n, counters FROM sequence WHERE n >= ? ORDER BY n")?;
    let counted =
        |row: &Row<'_>| Ok((row.get(0)?, serde_json::from_str(row.get_ref(1)?.as_str()?).unwrap_or_default()));
    select.query_map([from], counted)?.collect()
}

/// Reads the summary of the last sequence; `None` when no crawl has begun.
pub(super) fn stored_summary(connection: &Connection) -> Result<Option<StoredSummary>> {
    let sequence = connection
        .query_row(
            "SELECT n, end, seconds, cpu_seconds, peak_memory, runs, counters, cache, (SELECT settings FROM crawl), began_at
             FROM sequence ORDER BY n DESC LIMIT 1",
            [],
            |row| {
                let counters: String = row.get(6)?;
                Ok(StoredSummary {
                    sequence: row.get(0)?,
                    began_at: Moment::from_millis(row.get(9)?),
                    end: row.get(1)?,
                    seconds: row.get(2)?,
                    cpu_seconds: row.get(3)?,
                    peak_memory: row.get(4)?,
                    runs: row.get(5)?,
                    counters: serde_json::from_str(&counters).unwrap_or_default(),
                    counts: Counts::default(),
                    pages: PageCounts::default(),
                    abandoned: UrlCounts::new(),
                    cache: row.get(7)?,
                    lost: LostCounts::default(),
                    link_checks: LinkCheckCounts::default(),
                    reported: 0,
                    pending: 0,
                    noise: NoiseFigures::default(),
                    checked: CheckedRevisits::default(),
                    kept_looks: SiteLooks::default(),
                    page_rates: PageRates::default(),
                    settings: row.get(8)?,
                    hosts: Vec::new(),
                    unhealthy_hosts: 0,
                    paused_hosts: 0,
                    known_hosts: 0,
                })
            },
        )
        .optional()?;
    let Some(mut summary) = sequence else { return Ok(None) };
    let current = Current::of(connection, summary.sequence)?;
    (summary.counts, summary.pages) = counts(connection, current)?;
    if summary.counts.abandoned > 0 {
        summary.abandoned = abandoned(connection, summary.sequence)?;
    }
    summary.lost = lost::counts(connection, summary.sequence)?;
    summary.link_checks = CheckedEnds::of(connection, summary.sequence)?.counts()?;
    let query = "SELECT count(*) FROM change WHERE sequence = ?";
    summary.reported = connection.query_row(query, [summary.sequence], |row| row.get(0))?;
    summary.pending = changes::count_pending(connection)?;
    summary.noise = changes::figures(connection, summary.sequence)?;
    summary.checked = checked_revisits(connection, summary.sequence)?;
    summary.kept_looks = freshness::kept(connection)?;
    summary.page_rates = freshness::page_rates(connection, &summary.kept_looks)?;
    summary.hosts = unhealthy_hosts(connection, current)?;
    let count = "SELECT count(cause), count(*) FILTER (WHERE wait = 'paused'), count(*) FROM host";
    (summary.unhealthy_hosts, summary.paused_hosts, summary.known_hosts) =
        connection.query_row(count, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(Some(summary))
}

/// The expression for how many URLs of the sequence `?1` are queued on the host `h`.
pub(super) fn queued_on_host(current: Current) -> String {
    // Each part has an index of its own.
    let queued = |due| {
        format!(
            "(SELECT count(*) FROM url WHERE state = 'queued' AND due IS {due} AND admitted_in = ?1 AND host = h.id)"
        )
    };
    let known =
        if current.known_first { "(SELECT count(*) FROM url WHERE host = h.id AND admitted_in < ?1)" } else { "0" };
    format!("{} + {} + {known}", queued("NULL"), queued("NOT NULL"))
}

fn unhealthy_hosts(connection: &Connection, current: Current) -> Result<Vec<UnhealthyHost>> {
    let mut select = connection.prepare(&format!(
        "SELECT origin, {}, failures, ailing_since, cause, not_before, wait, known_good
         FROM host AS h WHERE cause IS NOT NULL ORDER BY 2 DESC, id LIMIT {MOST_HOSTS}",
        queued_on_host(current)
    ))?;
    let host = |row: &Row<'_>| {
        let health = resume::health(row, 2)?;
        Ok(health.map(|health| Ok(UnhealthyHost { origin: row.get(0)?, health, waiting: row.get(1)? })))
    };
    select.query_map([current.sequence], host)?.filter_map(Result::transpose).map(Result::flatten).collect()
}

/// The URLs and the pages of the last sequence, in one pass.
fn counts(connection: &Connection, current: Current) -> Result<(Counts, PageCounts)> {
    connection.query_row(
        "SELECT count(*) FILTER (WHERE admitted_in = ?1 OR ?2),
                count(*) FILTER (WHERE admitted_in = ?1 AND state = 'finished'),
                count(*) FILTER (WHERE admitted_in = ?1 AND state = 'abandoned'),
                count(*) FILTER (WHERE outcome = 'stored'),
                count(*) FILTER (WHERE outcome = 'stored' AND html),
                count(*) FILTER (WHERE outcome = 'stored' AND truncated IS NOT NULL),
                count(*) FILTER (WHERE outcome = 'broken' AND state = 'finished'),
                count(*) FILTER (WHERE outcome = 'failed' AND state = 'finished'),
                count(*) FILTER (WHERE change = 'new'),
                count(*) FILTER (WHERE change = 'changed'),
                count(*) FILTER (WHERE change = 'unchanged'),
                count(*) FILTER (WHERE change = 'gone' AND state = 'finished'),
                count(*) FILTER (WHERE outcome = 'stored' AND needs_js)
         FROM url LEFT JOIN visit ON visit.id = url.visit AND visit.sequence = ?1",
        params![current.sequence, current.known_first],
        |row| {
            let [admitted, finished, abandoned]: [u64; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
            let queued = admitted - finished - abandoned;
            let pages = PageCounts {
                stored: row.get(3)?,
                html: row.get(4)?,
                truncated: row.get(5)?,
                broken: row.get(6)?,
                failed: row.get(7)?,
                new: row.get(8)?,
                changed: row.get(9)?,
                unchanged: row.get(10)?,
                gone: row.get(11)?,
                needs_js: row.get(12)?,
            };
            Ok((Counts { admitted, queued, finished, abandoned, ..Counts::default() }, pages))
        },
    )
}

fn checked_revisits(connection: &Connection, sequence: u32) -> Result<CheckedRevisits> {
    connection.query_row(
        "SELECT count(*), count(*) FILTER (WHERE change = 'changed') FROM visit WHERE sequence = ? AND audited",
        [sequence],
        |row| Ok(CheckedRevisits { audited: row.get(0)?, wrong: row.get(1)? }),
    )
}

fn abandoned(connection: &Connection, sequence: u32) -> Result<UrlCounts> {
    let query = "SELECT coalesce(reason, '') FROM url WHERE state = 'abandoned' AND admitted_in = ?";
    let mut select = connection.prepare(query)?;
    let mut rows = select.query([sequence])?;
    let mut counts = UrlCounts::new();
    while let Some(row) = rows.next()? {
        let reason = row.get_ref(0)?.as_str()?;
        match counts.get_mut(reason) {
            Some(count) => *count += 1,
            None => drop(counts.insert(reason.to_owned(), 1)),
        }
    }
    Ok(counts)
}
