//! The archive, against its rows.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, Result, Row};

use crate::{
    store::{
        Finding,
        sqlite::{
            archive::{self, FOLDER},
            resume,
        },
    },
    url::{Canonicalizer, WebUrl},
};

/// What is checked.
pub(super) const ARCHIVED: &str = "the archive has the records that rows name";

/// The same of the rows alone, where there is an archive.
pub(super) const ARCHIVE_RULES: &[(&str, &str)] = &[
    (
        "an archived answer is that of its visit",
        "SELECT 'visit ' || visit.id FROM archive_record AS record JOIN visit ON visit.id = record.visit
         WHERE (record.url, record.sequence, record.at, record.status) IS NOT (visit.url, visit.sequence, fetched_at, visit.status)
             OR (visit.outcome = 'stored' AND visit.status <> 304 AND record.content_type IS NOT visit.content_type)",
    ),
    (
        "the records of an archive file follow one another, and those without a body name one that has it",
        "SELECT 'visit ' || visit FROM (
             SELECT visit, start, start + whole AS end, length, whole, bytes,
                    lag(start + whole, 1, 0) OVER (PARTITION BY file ORDER BY start) AS before
             FROM archive_record JOIN archive_file ON archive_file.id = file)
         WHERE start < before OR end > bytes OR length > whole
         UNION ALL SELECT 'visit ' || record.visit FROM archive_record AS record LEFT JOIN archive_record AS other ON other.visit = record.body
         WHERE record.body IS NOT NULL AND ((other.url, other.payload) IS NOT (record.url, record.payload)
             OR other.body IS NOT NULL OR other.visit >= record.visit)",
    ),
];

struct Named {
    visit: i64,
    url: String,
    kind: &'static str,
    start: u64,
    /// Of all its records.
    whole: u64,
}

/// Each record is read. A copy of the database alone has neither an archive nor anything else beside it.
pub(super) fn finding(connection: &Connection) -> Result<Option<Finding>> {
    let dir = connection.path().and_then(|database| Path::new(database).parent()).unwrap_or(Path::new(""));
    let folder = dir.join(FOLDER);
    if !archive::is_kept(connection)? || !(folder.exists() || dir.join("crawl.toml").exists()) {
        return Ok(None);
    }
    let mut finding: Option<Finding> = None;
    let mut found = |example: String| match &mut finding {
        Some(finding) => finding.count += 1,
        None => finding = Some(Finding { invariant: ARCHIVED, count: 1, example }),
    };
    let files = connection
        .prepare("SELECT id, name, bytes FROM archive_file ORDER BY id")?
        .query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?, row.get(2)?)))?
        .collect::<Result<Vec<_>>>()?;
    for (id, name, bytes) in files {
        match open(&folder.join(&name), bytes) {
            Ok(mut file) => records(connection, (id, &mut file), |named| {
                found(format!("{name}: visit {} of {}", named.visit, named.url));
            })?,
            Err(why) => found(format!("{name}: {why}")),
        }
    }
    Ok(finding)
}

fn open(path: &PathBuf, bytes: u64) -> Result<File, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let length = file.metadata().map_err(|error| error.to_string())?.len();
    if length < bytes { Err(format!("has {length} bytes of {bytes}")) } else { Ok(file) }
}

/// Shows the records of a file that are not where they are to be.
fn records(connection: &Connection, (id, file): (i64, &mut File), mut found: impl FnMut(Named)) -> Result<()> {
    let mut select = connection.prepare(
        "SELECT archive_record.visit, url.url, body IS NULL, start, whole FROM archive_record JOIN url ON url.id = archive_record.url
         WHERE file = ? ORDER BY start",
    )?;
    let named = |row: &Row<'_>| {
        let kind = if row.get(2)? { "response" } else { "revisit" };
        Ok(Named { visit: row.get(0)?, url: row.get(1)?, kind, start: row.get(3)?, whole: row.get(4)? })
    };
    let rules = resume::key_rules(connection)?.unwrap_or_default();
    for named in select.query_map([id], named)? {
        let named = named?;
        let header = format!("WARC/1.1\r\nWARC-Type: {}\r\n", named.kind);
        let is_there = archive::members(file, named.start, named.whole).is_ok_and(|text| {
            text.starts_with(header.as_bytes())
                && archive::are_whole(&text)
                && target(&text).is_some_and(|url| is_one_page(&rules, url, &named.url))
        });
        if !is_there {
            found(named);
        }
    }
    Ok(())
}

/// The URL of a record.
fn target(record: &[u8]) -> Option<&str> {
    let field = b"\r\nWARC-Target-URI: ";
    let start = memchr::memmem::find(record, field)? + field.len();
    let length = memchr::memchr(b'\r', &record[start..])?;
    std::str::from_utf8(&record[start..start + length]).ok()
}

/// Whether two URLs are one page: since it was archived, its row may have got another spelling.
fn is_one_page(rules: &Canonicalizer, one: &str, other: &str) -> bool {
    let key = |url: &str| WebUrl::parse(url).map(|url| rules.key(&url)).ok();
    one == other || key(one).is_some_and(|one| key(other) == Some(one))
}
