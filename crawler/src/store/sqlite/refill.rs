//! Reading queued rows for the frontier.
//!
//! Owns: which rows are queued in a sequence, and the copy of each page, which is read with its row. So nothing is looked up when the
//! visit is written.
//!
//! Invariants: rows come in the order of an index, and nothing is sorted. Where known URLs are due, two indices are merged: rows that the
//! sequence has admitted, and rows that it has not touched yet.
//!
//! Does not know: how many rows memory holds, and when they are leased.

use std::sync::{Arc, LazyLock};

use rusqlite::{CachedStatement, Connection, OptionalExtension, Result, Row, params};

use super::{current::Current, held::HELD};
use crate::{
    candidate::{HostId, Ticket},
    purpose::Purpose,
    queue::{KnownCopy, KnownText, NOT_MODIFIED, Place, RefillAnswer, RefillKind, RefillRequest, Validators, WorkItem},
    time::Moment,
    url::WebUrl,
};

/// A row as its sequence has it.
const ROW: &str = "ticket, url.host, url.url, hop, depth, redirects, attempts, due, url.rank,
     iif(url.reason IS 'not_modified', NULL, coalesce(failed_at, due)), url.reason, 0";

/// The same of a URL that an earlier sequence has left: it is begun anew.
const KNOWN_ROW: &str = "ticket, url.host, url.url, hop, depth, redirects, 0, NULL, url.rank, NULL, NULL, 1";

/// What is known of its copy.
const COPY: &str =
    "stored.id, stored.digest, stored.links_hash, typeof(stored.labels) = 'blob', stored.etag, stored.last_modified,
     text.id, text.rule, text.digest, stored.sequence >= (SELECT links_since FROM sequence WHERE n = ?1), url.id";

/// What makes it one that the server may be asked about.
const MAY_304: &str = "stored.id IS NOT NULL AND stored.truncated IS NULL AND (SELECT wrong_since FROM host WHERE host.id = url.host) IS NULL
     AND (NOT stored.html OR coalesce((SELECT text_rule FROM sequence WHERE n = ?1), text.rule) IS text.rule)
     AND coalesce((SELECT archive = 1 AND (EXISTS (
                 SELECT 1 FROM archive_record WHERE archive_record.url = url.id AND visit >= stored.id AND body IS NULL
                     AND archive_record.status BETWEEN 200 AND 299)
             OR NOT EXISTS (SELECT 1 FROM json_each(coalesce(archive_types, '[\"*\"]'))
                            WHERE lower(coalesce(stored.content_type, '')) GLOB value))
         FROM crawl WHERE id = 1 AND archive IS NOT NULL), 1)
     AND NOT EXISTS (SELECT 1 FROM lost WHERE lost.via = url.id AND lost.admitted IS NULL AND lost.state <> 'no_longer_linked')";

/// Where that is.
const OF_COPY: &str =
    "LEFT JOIN visit AS stored ON stored.id = coalesce(url.copy, url.visit) AND stored.outcome = 'stored'
     LEFT JOIN text ON text.id = stored.text";

/// Whether the server may be asked about copies.
#[derive(Clone, Copy)]
enum Asks {
    /// It may.
    Yes,
    /// The links of each page are to be read.
    No,
}

impl Asks {
    fn of(current: Current) -> Self {
        if current.known_first { Self::Yes } else { Self::No }
    }
}

/// A row as it was queued at first in its latest sequence, whatever its state.
pub(super) fn one(connection: &Connection, row: u64, current: Current) -> Result<WorkItem> {
    let mut select = connection.prepare_cached(&ONE)?;
    let found = select.query_row(params![current.sequence, row, false], |row| found(row, Asks::No))?;
    Ok(WorkItem { attempts: 0, due: None, failed: None, ..found.item })
}

/// A row that has its answer in a sequence, as it is visited once more.
pub(super) fn due_again(connection: &Connection, row: i64, sequence: u32) -> Result<Option<WorkItem>> {
    let mut select = connection.prepare_cached(&ONE)?;
    let found = select.query_row(params![sequence, row, true], |row| found(row, Asks::Yes)).optional()?;
    let begun = |item| WorkItem { purpose: Purpose::Due, attempts: 0, due: None, failed: None, ..item };
    Ok(found.map(|found| begun(found.item)))
}

static ONE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {ROW}, {COPY}, {MAY_304} FROM url {OF_COPY}
         WHERE url.id = ?2 AND (NOT ?3 OR (state = 'finished' AND admitted_in = ?1))"
    )
});

/// The copy of the page of a ticket that is no row's number, with that number.
pub(super) fn copy_of(
    connection: &Connection,
    ticket: Ticket,
    current: Current,
) -> Result<Option<(u64, Option<Arc<KnownCopy>>)>> {
    let mut select = connection.prepare_cached(&READMITTED)?;
    let found = |row: &Row<'_>| Ok((row.get(10)?, copy(row, 0, Asks::No)?));
    select.query_row(params![current.sequence, ticket.0], found).optional()
}

/// The page through which the URL of a ticket was found, if it was found on one.
pub(super) fn via(connection: &Connection, ticket: Ticket) -> Result<Option<Box<str>>> {
    let mut select = connection.prepare_cached(
        "SELECT page.url FROM url JOIN url AS page ON page.id = url.via WHERE url.id = ?1
         UNION ALL SELECT page.url FROM url JOIN url AS page ON page.id = url.via WHERE url.readmission = ?1",
    )?;
    select.query_row([ticket.0], |row| row.get(0)).optional()
}

static READMITTED: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {COPY}, 0 FROM url {OF_COPY} WHERE readmission = ?2"));

/// The rows a request asks for; one more is read to know whether there are more.
pub(super) fn answer(connection: &Connection, request: &RefillRequest, current: Current) -> Result<RefillAnswer> {
    let most = request.max_depth.unwrap_or(u32::MAX);
    let limit = i64::try_from(request.limit).unwrap_or(i64::MAX).saturating_add(1);
    let queue = (current, request.host);
    let found = match request.kind {
        RefillKind::Beyond(place) => beyond(connection, queue, place, most, limit)?,
        RefillKind::Due { after, id, .. } => due(connection, queue, (after, id), most, limit)?,
    };
    Ok(cut(found, request))
}

/// Whose queue, in which sequence.
type Queue = (Current, HostId);

struct StoredRow {
    item: WorkItem,
    due: Option<Moment>,
}

fn beyond(
    connection: &Connection,
    (current, host): Queue,
    place: Place,
    most: u32,
    limit: i64,
) -> Result<Vec<StoredRow>> {
    let statement = connection.prepare_cached(if current.known_first { &BEYOND_WITH_KNOWN } else { &BEYOND })?;
    let id = i64::try_from(place.id.0).unwrap_or(i64::MAX);
    collect(statement, params![current.sequence, host.0, place.rank, id, most, limit], current)
}

/// What the sequence has admitted.
pub(super) static BEYOND: LazyLock<String> = LazyLock::new(|| format!("{} ORDER BY rank, ticket LIMIT ?6", own()));

fn own() -> String {
    format!(
        "SELECT {ROW}, {COPY}, {MAY_304} FROM url INDEXED BY url_queue {OF_COPY}
         WHERE state = 'queued' AND due IS NULL AND admitted_in = ?1 AND url.host = ?2 AND (rank, ticket) > (?3, ?4)
           AND depth <= ?5"
    )
}

/// The same with what is known and not touched yet. Both have the order of an index: they are merged, and not sorted.
pub(super) static BEYOND_WITH_KNOWN: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{} UNION ALL SELECT {KNOWN_ROW}, {COPY}, {MAY_304} FROM url INDEXED BY url_known {OF_COPY}
         WHERE url.host = ?2 AND (rank, ticket) > (?3, ?4) AND admitted_in < ?1 AND depth <= ?5
         ORDER BY rank, ticket LIMIT ?6",
        own()
    )
});

/// What waits to be fetched again: that its first request failed makes no page another one.
pub(super) static DUE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {ROW}, {COPY}, {MAY_304} FROM url INDEXED BY url_retry {OF_COPY}
         WHERE state = 'queued' AND due IS NOT NULL AND admitted_in = ?1 AND url.host = ?2 AND (due, ticket) > (?3, ?4)
           AND due < {HELD} AND depth <= ?5
         ORDER BY due, ticket LIMIT ?6"
    )
});

fn due(
    connection: &Connection,
    (current, host): Queue,
    read: (Moment, Ticket),
    most: u32,
    limit: i64,
) -> Result<Vec<StoredRow>> {
    let statement = connection.prepare_cached(&DUE)?;
    collect(statement, params![current.sequence, host.0, read.0.millis(), read.1.0, most, limit], current)
}

fn collect(
    mut statement: CachedStatement<'_>,
    params: impl rusqlite::Params,
    current: Current,
) -> Result<Vec<StoredRow>> {
    statement.query_map(params, |row| found(row, Asks::of(current)))?.collect()
}

fn found(row: &Row<'_>, asks: Asks) -> Result<StoredRow> {
    let text: String = row.get(2)?;
    let hop: String = row.get(3)?;
    let unreadable = |error| rusqlite::Error::FromSqlConversionFailure(2, rusqlite::types::Type::Text, error);
    let due = row.get::<_, Option<u64>>(7)?.map(Moment::from_millis);
    let failed = row.get::<_, Option<u64>>(9)?.map(Moment::from_millis);
    let item = WorkItem {
        id: Ticket(row.get(0)?),
        host: HostId(row.get(1)?),
        url: WebUrl::parse(&text).map_err(|error| unreadable(Box::new(error)))?,
        of: None,
        purpose: match due {
            Some(_) if row.get_ref(10)?.as_str_or_null()? == Some(NOT_MODIFIED) => Purpose::Audit,
            Some(_) => Purpose::Retry,
            None if row.get(11)? => Purpose::Revisit,
            None => Purpose::Discover,
        },
        copy: copy(row, FIRST_OF_COPY, asks)?,
        rank: row.get(8)?,
        due,
        failed,
        hop: hop.parse().map_err(|error| unreadable(Box::new(error)))?,
        depth: row.get(4)?,
        redirects: row.get(5)?,
        attempts: row.get(6)?,
    };
    Ok(StoredRow { item, due })
}

/// The first column of [`COPY`].
const FIRST_OF_COPY: usize = 12;

fn copy(row: &Row<'_>, first: usize, asks: Asks) -> Result<Option<Arc<KnownCopy>>> {
    let Some(visit) = row.get(first)? else { return Ok(None) };
    let text = match row.get(first + 6)? {
        Some(text) => Some(KnownText { row: text, rule: row.get(first + 7)?, digest: row.get(first + 8)? }),
        None => None,
    };
    let copy = KnownCopy {
        visit,
        digest: row.get(first + 1)?,
        links: row.get(first + 2)?,
        has_labels: row.get(first + 3)?,
        validators: Validators { etag: row.get(first + 4)?, last_modified: row.get(first + 5)? },
        text,
        links_hold: row.get(first + 9)?,
        url: row.get(first + 10)?,
        may_304: matches!(asks, Asks::Yes) && row.get(first + 11)?,
    };
    Ok(Some(Arc::new(copy)))
}

fn cut(mut found: Vec<StoredRow>, request: &RefillRequest) -> RefillAnswer {
    let ripe = match request.kind {
        RefillKind::Due { until, .. } => found.iter().take_while(|row| row.due <= Some(until)).count(),
        RefillKind::Beyond(_) => found.len(),
    };
    let rest = found.split_off(ripe.min(request.limit));
    RefillAnswer {
        last_due: found.last().and_then(|row| row.due),
        next_due: rest.first().and_then(|row| row.due),
        more: !rest.is_empty(),
        rows: found.into_iter().map(|row| row.item).collect(),
    }
}
