//! The index of an archive: a line for each answer, by which players find pages (CDXJ).
//!
//! Invariant: it follows from rows alone, and is sorted as bytes are.

use std::{
    io::{self, BufWriter, Write},
    path::Path,
    time::{Duration, SystemTime},
};

use rusqlite::{Connection, Row, functions::FunctionFlags};
use serde_json::Value;

use super::{FOLDER, INDEX, cdx_date, digest, failed, is_kept, unwritable};
use crate::{store::StoreError, time::Moment, url::WebUrl};

/// All answers.
const LINES: &str = "
    SELECT surt(url.url), url.url, at, content_type, status, payload, length, start, archive_file.name, body IS NOT NULL
    FROM archive_record JOIN url ON url.id = archive_record.url JOIN archive_file ON archive_file.id = file
    ORDER BY 1, at, archive_record.visit";

/// Those that were copied into other files.
const COPIED_LINES: &str = "
    SELECT surt(url.url), url.url, record.at, coalesce(record.content_type, body.content_type), coalesce(body.status, record.status),
           record.payload, copied.length, copied.start, archive_file.name, record.body IS NOT NULL AND body.visit IS NULL
    FROM temp.copied JOIN archive_record AS record ON record.visit = copied.visit JOIN url ON url.id = record.url
    JOIN archive_file ON archive_file.id = record.file
    LEFT JOIN archive_record AS body ON body.visit = record.body AND given_body
    ORDER BY 1, record.at, record.visit";

/// Shows each line of the index of what was copied last.
pub(in crate::store::sqlite) fn write_of_copies<E: From<StoreError>>(
    connection: &Connection,
    each: impl FnMut(&str) -> Result<(), E>,
) -> Result<(), E> {
    know_keys(connection).map_err(failed())?;
    lines((connection, COPIED_LINES), each)
}

/// Writes it anew, if there is an archive.
pub(in crate::store::sqlite) fn write(connection: &Connection, dir: &Path) -> Result<(), StoreError> {
    let folder = dir.join(FOLDER);
    if !is_kept(connection).map_err(failed())? || !folder.exists() {
        return Ok(());
    }
    know_keys(connection).map_err(failed())?;
    if is_new(connection, &folder.join(INDEX)).map_err(failed())? {
        return Ok(());
    }
    let (new, path) = (folder.join(format!("{INDEX}.new")), folder.join(INDEX));
    let file = super::private(&new).and_then(|file| file.set_len(0).map(|()| file)).map_err(unwritable(&new))?;
    let mut out = BufWriter::new(file);
    lines((connection, LINES), |line| writeln!(out, "{line}").map_err(unwritable(&new)))?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error).map_err(unwritable(&new))?;
    file.sync_data().and_then(|()| std::fs::rename(&new, &path)).map_err(unwritable(&path))
}

/// Whether the index was written after the last answer.
fn is_new(connection: &Connection, index: &Path) -> rusqlite::Result<bool> {
    let last = "SELECT coalesce((SELECT at FROM archive_record ORDER BY visit DESC LIMIT 1), 0)";
    let last = Duration::from_millis(connection.query_row(last, [], |row| row.get(0))?);
    let written = std::fs::metadata(index).and_then(|index| index.modified()).ok();
    Ok(written.is_some_and(|written| written > SystemTime::UNIX_EPOCH + last))
}

/// Has the database make the keys of lines.
fn know_keys(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    let surt = |url: &str| WebUrl::parse(url).map(|url| url.surt()).unwrap_or_default();
    connection.create_scalar_function("surt", 1, flags, move |context| Ok(surt(context.get_raw(0).as_str()?)))
}

/// Shows each line. What was fetched in one second and has one key is sorted here.
fn lines<E: From<StoreError>>(
    (connection, lines): (&Connection, &str),
    mut write: impl FnMut(&str) -> Result<(), E>,
) -> Result<(), E> {
    let mut select = connection.prepare(lines).map_err(failed())?;
    let mut rows = select.query([]).map_err(failed())?;
    let (mut key, mut equal) = (String::new(), Vec::new());
    while let Some(row) = rows.next().map_err(failed())? {
        let (next, fields) = line(row).map_err(failed())?;
        if next != key {
            flush(&mut equal, &mut write)?;
            key.clone_from(&next);
        }
        equal.push(next + &fields);
    }
    flush(&mut equal, &mut write)
}

fn flush<E>(lines: &mut Vec<String>, write: &mut impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
    lines.sort_unstable();
    lines.drain(..).try_for_each(|line| write(&line))
}

/// Key and time, and what else is in a line.
fn line(row: &Row<'_>) -> rusqlite::Result<(String, String)> {
    let at = Moment::from_millis(row.get(2)?);
    let content_type: Option<String> = row.get(3)?;
    let is_revisit = row.get(9)?;
    let mime = if is_revisit { Some("warc/revisit") } else { content_type.as_deref().map(media_type) };
    let [status, length, start] = [row.get::<_, u64>(4)?, row.get(6)?, row.get(7)?].map(|number| number.to_string());
    let (url, file): (String, String) = (row.get(1)?, row.get(8)?);
    let digest = digest(row.get(5)?);
    let fields = [
        ("url", Some(&*url)),
        ("mime", mime),
        ("status", Some(&*status).filter(|status| !is_revisit || *status != "304")),
        ("digest", Some(&*digest)),
        ("length", Some(&*length)),
        ("offset", Some(&*start)),
        ("filename", Some(&*file)),
    ];
    let fields = fields.into_iter().filter_map(|(name, value)| Some(format!("\"{name}\": {}", Value::from(value?))));
    let fields = fields.collect::<Vec<_>>().join(", ");
    Ok((format!("{} {} ", row.get::<_, String>(0)?, cdx_date(at)), format!("{{{fields}}}")))
}

/// A content type without its parameters.
fn media_type(text: &str) -> &str {
    text.split(';').next().unwrap_or_default().trim()
}
