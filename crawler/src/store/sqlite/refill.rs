//! Reading queued rows for the frontier.

use std::sync::LazyLock;

use rusqlite::{CachedStatement, Connection, OptionalExtension, Result, Row, params};

use super::again::Current;
use crate::{
    candidate::{HostId, Ticket},
    purpose::Purpose,
    queue::{NOT_MODIFIED, Place, RefillAnswer, RefillKind, RefillRequest, Validators, WorkItem},
    time::Moment,
    url::WebUrl,
};

const COLUMNS: &str = "ticket, host, url, hop, depth, redirects, attempts, due, rank,
     iif(reason IS 'not_modified', NULL, coalesce(failed_at, due)), NULL, NULL, 0, reason";

/// The same of a URL that an earlier sequence has left: it is begun anew. What it says of its copy is that of a whole one, with
/// the links that this sequence would keep, none of which is lost, from a host that was not found wrong, and of HTML with a text
/// made by the rule of today, where texts are kept.
const KNOWN_COLUMNS: &str =
    "ticket, host, url.url, hop, depth, redirects, 0, NULL, rank, NULL, stored.etag, stored.last_modified, 1, NULL";

const COPY: &str = "visit AS stored ON stored.id = coalesce(url.copy, url.visit) AND stored.outcome = 'stored'
    AND stored.truncated IS NULL AND stored.sequence >= (SELECT links_since FROM sequence WHERE n = ?1)
    AND NOT EXISTS (SELECT 1 FROM lost WHERE lost.via = url.id AND lost.admitted IS NULL AND lost.state <> 'no_longer_linked')
    AND (SELECT wrong_since FROM host WHERE id = ?2) IS NULL
    AND (NOT stored.html OR (SELECT text_rule FROM sequence WHERE n = ?1) IS NULL
         OR (SELECT rule FROM text WHERE text.id = stored.text) IS (SELECT text_rule FROM sequence WHERE n = ?1))";

/// A row as it was queued at first in its latest sequence, whatever its state.
pub(super) fn one(connection: &Connection, row: u64) -> Result<WorkItem> {
    let mut select = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM url WHERE id = ?"))?;
    select.query_row([row], found).map(|found| WorkItem { attempts: 0, due: None, failed: None, ..found.item })
}

/// A row that has its answer in a sequence, as it is visited once more, with what is known of its copy.
pub(super) fn due_again(connection: &Connection, row: i64, sequence: u32) -> Result<Option<WorkItem>> {
    let mut select = connection.prepare_cached(&DUE_AGAIN)?;
    let found = select.query_row(params![sequence, row], found).optional()?;
    Ok(found.map(|found| WorkItem { purpose: Purpose::Due, ..found.item }))
}

static DUE_AGAIN: LazyLock<String> = LazyLock::new(|| {
    let copy = COPY.replace("?2", "url.host");
    format!(
        "SELECT {KNOWN_COLUMNS} FROM url LEFT JOIN {copy}
         WHERE url.id = ?2 AND state = 'finished' AND admitted_in = ?1"
    )
});

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
    collect(statement, params![current.sequence, host.0, place.rank, id, most, limit])
}

/// What the sequence has admitted.
static BEYOND: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {COLUMNS} FROM url INDEXED BY url_queue
         WHERE state = 'queued' AND due IS NULL AND admitted_in = ?1 AND host = ?2 AND (rank, ticket) > (?3, ?4)
           AND depth <= ?5
         ORDER BY rank, ticket LIMIT ?6"
    )
});

/// The same with what is known and not touched yet. Both have the order of an index: they are merged, and not sorted.
pub(super) static BEYOND_WITH_KNOWN: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {COLUMNS} FROM url INDEXED BY url_queue
         WHERE state = 'queued' AND due IS NULL AND admitted_in = ?1 AND host = ?2 AND (rank, ticket) > (?3, ?4)
           AND depth <= ?5
         UNION ALL SELECT {KNOWN_COLUMNS} FROM url INDEXED BY url_known LEFT JOIN {COPY}
         WHERE url.host = ?2 AND (rank, ticket) > (?3, ?4) AND admitted_in < ?1 AND depth <= ?5
         ORDER BY rank, ticket LIMIT ?6"
    )
});

/// What waits to be fetched again.
static DUE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {COLUMNS} FROM url INDEXED BY url_retry
         WHERE state = 'queued' AND due IS NOT NULL AND admitted_in = ?1 AND host = ?2 AND (due, ticket) > (?3, ?4)
           AND depth <= ?5
         ORDER BY due, ticket LIMIT ?6"
    )
});

/// The same with what is known of its copy: that its first request failed makes no page another one. What is fetched to check an
/// answer is fetched whole.
pub(super) static DUE_WITH_COPIES: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT ticket, host, url.url, hop, depth, redirects, attempts, due, rank,
                iif(url.reason IS '{NOT_MODIFIED}', NULL, coalesce(failed_at, due)), stored.etag, stored.last_modified, 0, url.reason
         FROM url INDEXED BY url_retry LEFT JOIN {COPY} AND url.reason IS NOT '{NOT_MODIFIED}'
         WHERE state = 'queued' AND due IS NOT NULL AND admitted_in = ?1 AND url.host = ?2 AND (due, ticket) > (?3, ?4)
           AND depth <= ?5
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
    let statement = connection.prepare_cached(if current.is_with_copies() { &DUE_WITH_COPIES } else { &DUE })?;
    collect(statement, params![current.sequence, host.0, read.0.millis(), read.1.0, most, limit])
}

fn collect(mut statement: CachedStatement<'_>, params: impl rusqlite::Params) -> Result<Vec<StoredRow>> {
    statement.query_map(params, found)?.collect()
}

fn found(row: &Row<'_>) -> Result<StoredRow> {
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
            Some(_) if is_audit(row)? => Purpose::Audit,
            Some(_) => Purpose::Retry,
            None if row.get(12)? => Purpose::Revisit,
            None => Purpose::Discover,
        },
        validators: validators(row)?,
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

fn is_audit(row: &Row<'_>) -> Result<bool> {
    Ok(row.get_ref(13)?.as_str_or_null()? == Some(NOT_MODIFIED))
}

/// What is known of the copy of a page that is visited once more.
fn validators(row: &Row<'_>) -> Result<Option<Box<Validators>>> {
    let validators = Validators { etag: row.get(10)?, last_modified: row.get(11)? };
    Ok((validators != Validators::default()).then(|| Box::new(validators)))
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
