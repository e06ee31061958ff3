//! `pages`: one line per URL in its latest state.

use regex::Regex;
use rusqlite::{Connection, Result, Row, types::ToSql};

/// A URL in its latest state.
#[derive(Debug, Clone, PartialEq)]
pub struct PageLine {
    /// What is fetched; `None` for a lost URL of which only a link's fingerprint is known.
    pub url: Option<String>,
    /// What identifies it, if it differs.
    pub key: Option<String>,
    /// Status of the last answer.
    pub status: Option<u16>,
    /// `stored`, `redirected`, `broken`, `abandoned`, `failed`, `queued` or `lost`.
    pub outcome: String,
    /// Why, where there is a reason; for a lost URL what became of it.
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
    pub depth: Option<u32>,
    /// How it was found.
    pub hop: Option<String>,
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
    /// `audit` or `sweep`, among lost URLs: who found it lost.
    pub found_by: Option<String>,
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
    /// State of this sequence.
    pub sequence: Option<u32>,
    /// It was lost, whatever became of it. An outcome of `lost` asks for these too.
    pub lost: bool,
}

const OUTCOME: &str =
    "CASE url.state WHEN 'finished' THEN coalesce(visit.outcome, 'finished') ELSE coalesce(url.state, 'lost') END";

/// Every admitted URL.
const ADMITTED: &str =
    "SELECT url.url, url.key, visit.status, {outcome}, coalesce(visit.reason, url.reason), visit.content_type,
        visit.bytes, visit.digest, visit.title, url.depth, url.hop, via.url,
        coalesce(visit.sequence, url.admitted_in), visit.fetched_at, visit.redirect, visit.truncated, NULL
    FROM url LEFT JOIN visit ON visit.id = url.visit LEFT JOIN url AS via ON via.id = url.via
    WHERE {conditions} ORDER BY url.id";

/// Every URL that was lost, with its row if it has one now.
const LOST: &str = "SELECT coalesce(url.url, lost.url), url.key, visit.status, {outcome},
        iif(url.id IS NULL, lost.state, coalesce(visit.reason, url.reason)), visit.content_type,
        visit.bytes, visit.digest, visit.title, url.depth, url.hop, via.url,
        coalesce(visit.sequence, url.admitted_in, lost.sequence), visit.fetched_at, visit.redirect, visit.truncated, lost.found_by
    FROM lost LEFT JOIN url ON url.id = lost.admitted LEFT JOIN visit ON visit.id = url.visit
        LEFT JOIN url AS via ON via.id = coalesce(url.via, lost.via)
    WHERE {conditions} ORDER BY lost.id";

/// Shows every line that passes, in the order of admission, to `each` until it answers `false`.
///
/// # Errors
/// `SQLite`'s, when the database cannot be read.
pub fn pages(connection: &Connection, filter: &PageFilter, mut each: impl FnMut(PageLine) -> bool) -> Result<()> {
    let lost = filter.lost || filter.outcome.as_deref() == Some("lost");
    let (select, sequence) = if lost {
        (LOST, "coalesce(visit.sequence, url.admitted_in, lost.sequence) = ?")
    } else {
        (ADMITTED, "coalesce(visit.sequence, url.admitted_in) = ?")
    };
    let mut conditions = vec!["1".to_owned()];
    let mut values: Vec<&dyn ToSql> = Vec::new();
    let filters: [(&str, Option<&dyn ToSql>); 5] = [
        ("visit.status = ?", filter.status.as_ref().map(|value| value as _)),
        (&format!("{OUTCOME} = ?"), filter.outcome.as_ref().map(|value| value as _)),
        ("substr(lower(visit.content_type), 1, length(?1)) = lower(?1)", filter.content_type.as_ref().map(|v| v as _)),
        ("url.depth <= ?", filter.max_depth.as_ref().map(|value| value as _)),
        (sequence, filter.sequence.as_ref().map(|value| value as _)),
    ];
    for (condition, value) in filters {
        if let Some(value) = value {
            values.push(value);
            conditions.push(condition.replace("?1", "?").replace('?', &format!("?{}", values.len())));
        }
    }
    let query = select.replace("{outcome}", OUTCOME).replace("{conditions}", &conditions.join(" AND "));
    let mut select = connection.prepare(&query)?;
    let mut rows = select.query(&*values)?;
    while let Some(row) = rows.next()? {
        let matching = match &filter.matching {
            Some(pattern) => row.get_ref(0)?.as_str_or_null()?.is_some_and(|url| pattern.is_match(url)),
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
        found_by: row.get(16)?,
    })
}
