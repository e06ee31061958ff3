//! `pages`: one line per URL, in its latest state or that of a sequence.

use regex::Regex;
use rusqlite::{Connection, Result, Row, types::ToSql};

/// A URL in its latest state, or that of a sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct PageLine {
    /// What is fetched.
    pub url: String,
    /// What identifies it, if it differs.
    pub key: Option<String>,
    /// Status of the last answer.
    pub status: Option<u16>,
    /// `stored`, `redirected`, `broken`, `gone`, `abandoned`, `failed` or `queued`.
    pub outcome: String,
    /// For a stored page: `new`, `changed` or `unchanged`.
    pub change: Option<String>,
    /// Why, where there is a reason.
    pub reason: Option<String>,
    /// `Content-Type` as sent.
    pub content_type: Option<String>,
    /// Length of the decoded body.
    pub bytes: Option<u64>,
    /// SHA-256 of the decoded body.
    pub digest: Option<[u8; 32]>,
    /// The page's title.
    pub title: Option<String>,
    /// Links followed from a start.
    pub depth: u32,
    /// How it was found.
    pub hop: String,
    /// The URL it was found at first.
    pub via: Option<String>,
    /// The sequence of this state.
    pub sequence: u32,
    /// When it was fetched, in milliseconds since 1970.
    pub fetched_at: Option<u64>,
    /// Target of its redirect.
    pub redirect: Option<String>,
    /// Why its body is cut short.
    pub truncated: Option<String>,
}

/// Which lines are shown: all that pass every filter given.
#[derive(Debug, Clone, Default)]
pub struct PageFilter {
    /// Last status.
    pub status: Option<u16>,
    /// Outcome.
    pub outcome: Option<String>,
    /// The content type begins with this.
    pub content_type: Option<String>,
    /// At most this deep.
    pub max_depth: Option<u32>,
    /// The URL matches.
    pub matching: Option<Regex>,
    /// The URLs of this sequence, in the state that it left them in; otherwise all, in their latest state.
    pub sequence: Option<u32>,
}

const OUTCOME: &str = "CASE stand.state WHEN 'finished' THEN
    CASE visit.change WHEN 'gone' THEN 'gone' ELSE coalesce(visit.outcome, 'finished') END ELSE stand.state END";

/// How every URL stands: its latest state.
const LATEST: &str = "SELECT id, url, key, admitted_in AS sequence, hop, via, depth, state, reason, visit FROM url";

/// How the URLs of a sequence stood at its end, or stand.
const OF_SEQUENCE: &str =
    "SELECT id, url, key, admitted_in AS sequence, hop, via, depth, state, reason, visit FROM url WHERE admitted_in = ?1
     UNION ALL
     SELECT id, url.url, key, past.sequence, past.hop, past.via, past.depth, past.state, past.reason, past.visit
     FROM history AS past JOIN url ON url.id = past.url WHERE past.sequence = ?1";

/// Shows every line that passes, in the order of admission, to `each` until it answers `false`.
///
/// # Errors
/// `SQLite`'s, when the database cannot be read.
pub fn pages(connection: &Connection, filter: &PageFilter, mut each: impl FnMut(PageLine) -> bool) -> Result<()> {
    let (stands, mut values): (&str, Vec<&dyn ToSql>) = match &filter.sequence {
        Some(sequence) => (OF_SEQUENCE, vec![sequence]),
        None => (LATEST, Vec::new()),
    };
    let mut conditions = vec!["1".to_owned()];
    let filters: [(&str, Option<&dyn ToSql>); 4] = [
        ("visit.status = ?", filter.status.as_ref().map(|value| value as _)),
        (&format!("{OUTCOME} = ?"), filter.outcome.as_ref().map(|value| value as _)),
        ("substr(lower(visit.content_type), 1, length(?1)) = lower(?1)", filter.content_type.as_ref().map(|v| v as _)),
        ("stand.depth <= ?", filter.max_depth.as_ref().map(|value| value as _)),
    ];
    for (condition, value) in filters {
        if let Some(value) = value {
            values.push(value);
            conditions.push(condition.replace("?1", "?").replace('?', &format!("?{}", values.len())));
        }
    }
    // What came of a URL is of the sequence it stands in: an older visit says nothing of one that is queued again.
    let mut select = connection.prepare(&format!(
        "SELECT stand.url, stand.key, visit.status, {OUTCOME}, coalesce(visit.reason, stand.reason), visit.content_type,
                visit.bytes, visit.digest, visit.title, stand.depth, stand.hop, via.url, stand.sequence,
                visit.fetched_at, visit.redirect, visit.truncated, nullif(visit.change, 'gone')
         FROM ({stands}) AS stand
              LEFT JOIN visit ON visit.id = stand.visit AND stand.state = 'finished'
              LEFT JOIN url AS via ON via.id = stand.via
         WHERE {} ORDER BY stand.id",
        conditions.join(" AND ")
    ))?;
    let mut rows = select.query(&*values)?;
    while let Some(row) = rows.next()? {
        let matching = match &filter.matching {
            Some(pattern) => pattern.is_match(row.get_ref(0)?.as_str()?),
            None => true,
        };
        if matching && !each(line(row)?) {
            break;
        }
    }
    Ok(())
}

fn line(row: &Row<'_>) -> Result<PageLine> {
    Ok(PageLine {
        url: row.get(0)?,
        key: row.get(1)?,
        status: row.get(2)?,
        outcome: row.get(3)?,
        reason: row.get(4)?,
        content_type: row.get(5)?,
        bytes: row.get(6)?,
        digest: row.get(7)?,
        title: row.get(8)?,
        depth: row.get(9)?,
        hop: row.get(10)?,
        via: row.get(11)?,
        sequence: row.get(12)?,
        fetched_at: row.get(13)?,
        redirect: row.get(14)?,
        truncated: row.get(15)?,
        change: row.get(16)?,
    })
}
