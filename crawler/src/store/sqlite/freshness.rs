//! What looks at known pages say of freshness: summed up at the end of each run, and read later.
//!
//! Owns: which visits are looks, and the look before each.
//!
//! Invariants: a visit is summed up once, in the transaction that reports changes; the first visit of a page, of which nothing was known,
//! costs nothing. The sums include visits that were pruned since.
//!
//! Does not know: what freshness and age are (the pure core does), and what is expected of a schedule.

use std::time::Duration;

use rusqlite::{Connection, Result, Row};

use super::{current::Current, revisits};
use crate::{
    revisit::{Found, Look, PageRates, SiteLooks, Span},
    store::Counters,
    time::Moment,
};

/// Sequences from whose looks rates are estimated, the last ones.
const SEQUENCES: u32 = 10;

/// A page that was modified so shortly before it was sent was made for the asking.
const MADE_FOR_ASKING: Duration = Duration::from_secs(2);

/// The look before a visit. The index is there from the second sequence on, and in a first one that was revisited.
const BEFORE: &str = "SELECT id FROM visit AS earlier INDEXED BY visit_of_url
    WHERE earlier.url = visit.url AND earlier.sequence <= visit.sequence AND earlier.id < visit.id
      AND (earlier.outcome IN ('stored', 'redirected') OR earlier.status IN (404, 410))
    ORDER BY earlier.sequence DESC, earlier.id DESC LIMIT 1";

/// Sums up the looks among the visits behind one, up to another.
pub(super) fn looks(connection: &Connection, current: Current, (from, to): (i64, i64)) -> Result<SiteLooks> {
    let mut looks = SiteLooks::default();
    if current.is_without_copies() || from >= to {
        return Ok(looks);
    }
    let prior = kept(connection)?.prior();
    // That a page was cut short by the network says nothing of it.
    let mut select = connection.prepare(&format!(
        "SELECT copy.fetched_at, visit.fetched_at, visit.change IS 'unchanged', url.host, visit.last_modified,
                revisit.class, revisit.state
         FROM visit CROSS JOIN visit AS copy ON copy.id = ({BEFORE}) CROSS JOIN url ON url.id = visit.url
         LEFT JOIN revisit ON revisit.url = visit.url
         WHERE visit.id > ? AND visit.id <= ? AND copy.outcome = 'stored'
           AND (visit.change IN ('changed', 'unchanged', 'gone') OR visit.outcome = 'redirected')
           AND 'disconnect' NOT IN (coalesce(visit.truncated, ''), coalesce(copy.truncated, ''))
           AND 'time' NOT IN (coalesce(visit.truncated, ''), coalesce(copy.truncated, ''))
           AND 'slow' NOT IN (coalesce(visit.truncated, ''), coalesce(copy.truncated, ''))"
    ))?;
    let mut rows = select.query([from, to])?;
    while let Some(row) = rows.next()? {
        looks.add(row.get(3)?, look(row, prior)?);
    }
    Ok(looks)
}

fn look(row: &Row<'_>, prior: Option<f64>) -> Result<Look> {
    let [before, now] = [Moment::from_millis(row.get(0)?), Moment::from_millis(row.get(1)?)];
    let found = if row.get(2)? {
        Found::Unchanged
    } else {
        Found::Changed(modified(row.get_ref(4)?.as_blob_or_null()?, [before, now]))
    };
    let state = row.get_ref(5)?.as_i64_or_null()?.map(|_| revisits::state(row, 5)).transpose()?;
    let own = state.filter(|page| page.visits >= 1.0);
    let rate = own.zip(prior).map(|(page, prior)| page.rate_in(prior));
    Ok(Look { seconds: now.since(before).as_secs_f64(), found, rate })
}

/// How long after the look before a page says that it was modified, if that can be.
fn modified(header: Option<&[u8]>, [before, now]: [Moment; 2]) -> Option<f64> {
    let date = httpdate::parse_http_date(std::str::from_utf8(header?).ok()?).ok()?;
    let at = Moment::EPOCH + date.duration_since(std::time::SystemTime::UNIX_EPOCH).ok()?;
    (before <= at && at + MADE_FOR_ASKING < now).then(|| at.since(before).as_secs_f64())
}

/// The looks of the last sequences.
pub(super) fn kept(connection: &Connection) -> Result<SiteLooks> {
    let mut select = connection.prepare(
        "SELECT json_object('looks', json(counters -> '$.looks')) FROM sequence
         WHERE counters ->> '$.looks' IS NOT NULL ORDER BY n DESC LIMIT ?",
    )?;
    let mut rows = select.query([SEQUENCES])?;
    let mut kept = SiteLooks::default();
    while let Some(row) = rows.next()? {
        kept.add_all(&parsed(row.get_ref(0)?.as_str()?));
    }
    Ok(kept)
}

/// The times before the looks of a sequence with these sums, if there were any.
pub(super) fn measured(counters: &str, kept: &SiteLooks) -> Option<Span> {
    let looks = parsed(counters);
    (!looks.is_empty()).then(|| looks.measured(kept))
}

fn parsed(counters: &str) -> SiteLooks {
    serde_json::from_str::<Counters>(counters).unwrap_or_default().looks
}

/// How often each page changes of which a policy of revisits knows.
pub(super) fn page_rates(connection: &Connection, kept: &SiteLooks) -> Result<PageRates> {
    let mut rates = PageRates::default();
    let Some(prior) = kept.prior() else { return Ok(rates) };
    let mut select = connection.prepare("SELECT class, state FROM revisit")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        rates.add(&revisits::state(row, 0)?, prior);
    }
    Ok(rates)
}
