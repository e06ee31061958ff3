//! What a crawl needs to go on.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, Result};

use super::current::{Current, OF_SEQUENCE, STATE_IN_SEQUENCE};
use crate::{
    candidate::HostId,
    health::{HealthRow, Wait},
    queue::Counts,
    sections::SectionUse,
    store::{AreaRow, AreaSource, Counters, HostSitemaps, HostState, LastSequence, Resumed},
    time::Moment,
    url::{Canonicalizer, Fingerprint, FingerprintSeed},
};

pub(super) fn settings(connection: &Connection) -> Result<Option<String>> {
    connection.query_row("SELECT settings FROM crawl", [], |row| row.get(0)).optional()
}

pub(super) fn last_sequence(connection: &Connection) -> Result<Option<LastSequence>> {
    let last = |row: &rusqlite::Row<'_>| {
        let admitted = to_expect(&parsed(row.get_ref(2)?.as_str()?)?);
        let began = Moment::from_millis(row.get(3)?);
        Ok(LastSequence { number: row.get(0)?, began, end: row.get(1)?, admitted })
    };
    connection.query_row("SELECT n, end, counters, began_at FROM sequence ORDER BY n DESC LIMIT 1", [], last).optional()
}

pub(super) fn fingerprint_seed(connection: &Connection) -> Result<Option<FingerprintSeed>> {
    let seed = connection.query_row("SELECT fingerprint_seed FROM crawl", [], |row| row.get::<_, i64>(0)).optional()?;
    Ok(seed.map(|seed| FingerprintSeed::new(seed.cast_unsigned())))
}

/// The rules of its keys.
pub(super) fn key_rules(connection: &Connection) -> Result<Option<Canonicalizer>> {
    let rules = |row: &rusqlite::Row<'_>| {
        let named = Canonicalizer::named(row.get_ref(0)?.as_str()?);
        named.map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, error.into()))
    };
    connection.query_row("SELECT key_rules FROM crawl", [], rules).optional()
}

/// The last sequence with all that is needed to go on, but for what the URL table says.
pub(super) fn without_urls(connection: &Connection) -> Result<Option<(Current, Resumed)>> {
    let Some(fingerprint_seed) = fingerprint_seed(connection)? else { return Ok(None) };
    let Some(key_rules) = key_rules(connection)? else { return Ok(None) };
    let (sequence, hash_seed, end, counters, audit_sample, swept) = connection.query_row(
        "SELECT n, hash_seed, end, counters, audit_sample, swept FROM sequence ORDER BY n DESC LIMIT 1",
        [],
        |row| {
            let hash_seed = row.get::<_, i64>(1)?.cast_unsigned();
            Ok((row.get(0)?, hash_seed, row.get(2)?, row.get::<_, String>(3)?, row.get(4)?, row.get(5)?))
        },
    )?;
    let resumed = Resumed {
        fingerprint_seed,
        key_rules,
        sequence,
        hash_seed,
        end,
        audit_sample,
        swept,
        counters: parsed(&counters)?,
        admitted_before: admitted_in(connection, sequence.checked_sub(1))?,
        counts: Counts::default(),
        areas: areas(connection)?,
        hosts: Vec::new(),
        last_url: last_ticket(connection)?,
        pending_starts: Vec::new(),
        section_use: SectionUse::default(),
        removed: removed(connection)?,
    };
    Ok(Some((Current::of(connection, sequence)?, resumed)))
}

/// URLs that were removed.
pub(super) fn removed(connection: &Connection) -> Result<HashSet<Fingerprint>> {
    let mut select = connection.prepare("SELECT fingerprint FROM removed_url")?;
    let fingerprint = |row: &rusqlite::Row<'_>| Ok(Fingerprint::from_bytes(row.get(0)?));
    select.query_map([], fingerprint)?.collect()
}

fn parsed(counters: &str) -> Result<Counters> {
    serde_json::from_str(counters)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(3, rusqlite::types::Type::Text, Box::new(error)))
}

fn admitted_in(connection: &Connection, sequence: Option<u32>) -> Result<Option<u64>> {
    let query = "SELECT counters FROM sequence WHERE n = ?";
    let counters: Option<String> = connection.query_row(query, [sequence], |row| row.get(0)).optional()?;
    counters.map(|counters| parsed(&counters).map(|counters| to_expect(&counters))).transpose()
}

/// The URLs of a sequence that the next must reckon with.
fn to_expect(counters: &Counters) -> u64 {
    counters.admitted() + counters.unjudged()
}

/// The last number that was given: a row's own is the first that it got.
pub(super) fn last_ticket(connection: &Connection) -> Result<u64> {
    let query = "SELECT max(coalesce((SELECT max(id) FROM url), 0),
                            coalesce((SELECT max(readmission) FROM url WHERE readmission IS NOT NULL), 0))";
    connection.query_row(query, [], |row| row.get(0))
}

/// The counts of a sequence that is the last, or was once.
pub(super) fn counts(connection: &Connection, sequence: u32) -> Result<Counts> {
    if Current::of(connection, sequence)?.known_first {
        return counts_of_known(connection, sequence);
    }
    // Sums in one pass: groups would be sorted first.
    let query = format!(
        "SELECT count(*), count(*) FILTER (WHERE {STATE_IN_SEQUENCE} = 'finished'),
                count(*) FILTER (WHERE {STATE_IN_SEQUENCE} = 'abandoned') FROM {OF_SEQUENCE}"
    );
    sums(connection, &query, sequence)
}

/// The same of a sequence in which every known URL is due: what it has not touched is queued. Of one that was followed by
/// another this is what it would be had it gone on until now.
fn counts_of_known(connection: &Connection, sequence: u32) -> Result<Counts> {
    let query = "SELECT count(*), count(*) FILTER (WHERE admitted_in = ?1 AND state = 'finished'),
                        count(*) FILTER (WHERE admitted_in = ?1 AND state = 'abandoned') FROM url";
    sums(connection, query, sequence)
}

/// The counts that a query sums up: what is admitted, finished and abandoned.
fn sums(connection: &Connection, query: &str, sequence: u32) -> Result<Counts> {
    let sums = |row: &rusqlite::Row<'_>| Ok([row.get(0)?, row.get(1)?, row.get(2)?]);
    let [admitted, finished, abandoned]: [u64; 3] = connection.query_row(query, [sequence], sums)?;
    Ok(Counts { admitted, finished, abandoned, queued: admitted - finished - abandoned, ..Counts::default() })
}

pub(super) fn areas(connection: &Connection) -> Result<Vec<AreaRow>> {
    let mut select = connection.prepare("SELECT url, source FROM area")?;
    let area = |row: &rusqlite::Row<'_>| {
        Ok(AreaRow { url: row.get(0)?, source: AreaSource::from_word(row.get_ref(1)?.as_str()?) })
    };
    select.query_map([], area)?.collect()
}

/// Every host, without its queue and its visits.
pub(super) fn hosts(connection: &Connection) -> Result<Vec<HostState>> {
    let mut select = connection.prepare(
        "SELECT id, origin, robots_fetched_at IS NOT NULL, crawl_delay, coalesce(robots_status < 500, 0),
                iif(robots_first_failed IS NULL AND robots_status <> 401, robots_fetched_at, NULL),
                failures, ailing_since, cause, not_before, wait, known_good,
                coalesce(sitemaps_in = (SELECT max(n) FROM sequence), 0), coalesce(sitemap_guessed, 0)
         FROM host ORDER BY id",
    )?;
    let host = |row: &rusqlite::Row<'_>| {
        Ok(HostState {
            id: HostId(row.get(0)?),
            origin: row.get(1)?,
            asked: row.get(2)?,
            crawl_delay: row.get(3)?,
            answered: row.get(4)?,
            robots_fetched: row.get::<_, Option<u64>>(5)?.map(Moment::from_millis),
            health: health(row, 6)?.map(Box::new),
            sitemaps: HostSitemaps { are_asked: row.get(12)?, is_guessed: row.get(13)? },
            known_good: None,
            tried: 0,
            plain: 0,
            waiting: 0,
            held: 0,
            next_due: None,
            stored: 0,
            fetched: 0,
            by_depth: Vec::new(),
        })
    };
    select.query_map([], host)?.collect()
}

/// A host's health, in six columns from `first`; `None` when it is well.
pub(super) fn health(row: &rusqlite::Row<'_>, first: usize) -> Result<Option<HealthRow>> {
    let Some(cause) = row.get::<_, Option<String>>(first + 2)?.and_then(|word| word.parse().ok()) else {
        return Ok(None);
    };
    let moment = |column| row.get::<_, Option<u64>>(column).map(|millis| Moment::from_millis(millis.unwrap_or(0)));
    Ok(Some(HealthRow {
        failures: row.get::<_, Option<u32>>(first)?.unwrap_or(1),
        since: moment(first + 1)?,
        cause,
        not_before: moment(first + 3)?,
        wait: Wait::from_word(&row.get::<_, Option<String>>(first + 4)?.unwrap_or_default()),
        known_good: row.get::<_, Option<Box<str>>>(first + 5)?,
    }))
}

/// The one of a number.
pub(super) fn host_of(hosts: &mut [HostState], id: u32) -> Option<&mut HostState> {
    let position = hosts.binary_search_by_key(&id, |host| host.id.0).ok()?;
    Some(&mut hosts[position])
}
