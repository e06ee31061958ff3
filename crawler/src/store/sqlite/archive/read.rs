//! Finding the archived copy of a page, and reading it.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use rusqlite::{Connection, OptionalExtension, Row, params};
use sha1::{Digest as _, Sha1};

use super::{FOLDER, compression, digest, failed, is_kept};
use crate::{
    store::{StoreError, sqlite::resume},
    time::Moment,
    url::WebUrl,
};

/// Which copy of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveMoment {
    /// The last page that was there; where it never was, the last answer.
    Last,
    /// The one of a sequence.
    Sequence(u32),
    /// The last one that was fetched at a time or before.
    At(Moment),
}

/// An archived copy.
#[derive(Debug, Clone)]
pub struct ArchivedCopy {
    /// When it was fetched.
    pub at: Moment,
    /// In which sequence.
    pub sequence: u32,
    /// The row of its visit, if that is kept; a page that was not modified has the text of an earlier one.
    pub visit: i64,
    /// Status line and headers, as far as the client knew them; of a page that was not modified, those with its body.
    pub head: Vec<u8>,
    /// The body as it was sent, with its content codings.
    pub body: Vec<u8>,
    /// Whether it is a page: no redirect, and no error.
    pub is_page: bool,
    /// These codings, as `Content-Encoding` has them.
    pub coding: Option<String>,
    /// `Content-Type` of the body, as sent.
    pub content_type: Option<String>,
}

/// Where a record is.
#[derive(Debug, Clone)]
pub(super) struct RecordPlace {
    pub(super) file: String,
    pub(super) start: u64,
    pub(super) length: u64,
}

/// Pages by their fingerprints: the URL table has no index of them.
const KNOWN: &str = "
    CREATE TABLE temp.archived_url (fingerprint BLOB PRIMARY KEY, url INTEGER NOT NULL) WITHOUT ROWID;
    INSERT INTO temp.archived_url SELECT fingerprint, url.id FROM url JOIN visit ON visit.id = url.visit
     WHERE visit.outcome = 'stored' AND visit.truncated IS NULL AND url.id IN (SELECT url FROM archive_record)";

/// The copy of a page that is there now, and is whole, for whoever asks for many.
pub(in crate::store::sqlite) fn current_copy_of(
    connection: &Connection,
    dir: &Path,
    url: &WebUrl,
) -> Result<Option<ArchivedCopy>, StoreError> {
    let know = || {
        let is_known = "SELECT EXISTS (SELECT 1 FROM temp.sqlite_schema WHERE name = 'archived_url')";
        if is_kept(connection)? && !connection.query_row(is_known, [], |row| row.get(0))? {
            connection.execute_batch(KNOWN)?;
        }
        Ok(())
    };
    know().map_err(failed())?;
    copy_of(connection, dir, (url, ArchiveMoment::Last), "temp.archived_url")
}

/// The copy of a URL; `None` if there is none.
pub(in crate::store::sqlite) fn copy(
    connection: &Connection,
    dir: &Path,
    (url, moment): (&WebUrl, ArchiveMoment),
) -> Result<Option<ArchivedCopy>, StoreError> {
    copy_of(connection, dir, (url, moment), "(SELECT id AS url, fingerprint FROM url)")
}

fn copy_of(
    connection: &Connection,
    dir: &Path,
    (url, moment): (&WebUrl, ArchiveMoment),
    urls: &str,
) -> Result<Option<ArchivedCopy>, StoreError> {
    let find = || {
        if !is_kept(connection)? {
            return Ok(None);
        }
        let Some((rules, seed)) = resume::key_rules(connection)?.zip(resume::fingerprint_seed(connection)?) else {
            return Ok(None);
        };
        let fingerprint = seed.fingerprint(&rules.key(url)).to_bytes();
        found(connection, (&fingerprint, moment), urls)
    };
    let Some((mut copy, own, body)) = find().map_err(failed())? else { return Ok(None) };
    let read = |place: &RecordPlace| {
        let path = dir.join(FOLDER).join(&place.file);
        let read = File::open(&path).and_then(|mut file| block_of(&mut file, place));
        read.map_err(|source| StoreError::Archive { path, source })
    };
    (copy.head, copy.body) = read(&own)?;
    if let Some(place) = body {
        let (head, body) = read(&place)?;
        copy.body = body;
        if copy.head.is_empty() {
            copy.head = head;
        }
    }
    Ok(Some(copy))
}

type Found = (ArchivedCopy, RecordPlace, Option<RecordPlace>);

fn found(
    connection: &Connection,
    (fingerprint, moment): (&[u8], ArchiveMoment),
    urls: &str,
) -> rusqlite::Result<Option<Found>> {
    let select = format!(
        "SELECT record.at, record.sequence, record.visit, iif(record.body IS NULL, record.coding, whole.coding),
             (SELECT name FROM archive_file WHERE id = record.file), record.start, record.length,
             (SELECT name FROM archive_file WHERE id = whole.file), whole.start, whole.length,
             record.status BETWEEN 200 AND 299 OR record.body IS NOT NULL, coalesce(record.content_type, whole.content_type)
         FROM archive_record AS record LEFT JOIN archive_record AS whole ON whole.visit = record.body
         WHERE record.url = (SELECT url FROM {urls} WHERE fingerprint = ?1) AND record.at <= ?2
             AND (?3 IS NULL OR record.sequence = ?3)
         ORDER BY 11 DESC, record.visit DESC LIMIT 1"
    );
    let (until, sequence) = match moment {
        ArchiveMoment::Last => (i64::MAX, None),
        ArchiveMoment::Sequence(sequence) => (i64::MAX, Some(sequence)),
        ArchiveMoment::At(at) => (i64::try_from(at.millis()).unwrap_or(i64::MAX), None),
    };
    let place = |row: &Row<'_>, first| -> rusqlite::Result<_> {
        let Some(file) = row.get(first)? else { return Ok(None) };
        Ok(Some(RecordPlace { file, start: row.get(first + 1)?, length: row.get(first + 2)? }))
    };
    let found = |row: &Row<'_>| {
        let copy = ArchivedCopy {
            at: Moment::from_millis(row.get(0)?),
            sequence: row.get(1)?,
            visit: row.get(2)?,
            head: Vec::new(),
            body: Vec::new(),
            is_page: row.get(10)?,
            coding: row.get(3)?,
            content_type: row.get(11)?,
        };
        Ok((copy, place(row, 4)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?, place(row, 7)?))
    };
    connection.prepare_cached(&select)?.query_row(params![fingerprint, until, sequence], found).optional()
}

/// The head and the body of a record.
pub(super) fn block_of(file: &mut File, place: &RecordPlace) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let (_, mut block) = header_of(file, place)?;
    // That of an answer 304 is empty.
    let head = if block.is_empty() { 0 } else { end_of_head(&block).ok_or_else(damaged)? };
    let body = block.split_off(head);
    Ok((block, body))
}

/// The header of a record, without the empty line at its end, and what follows.
pub(super) fn header_of(file: &mut File, place: &RecordPlace) -> io::Result<(String, Vec<u8>)> {
    let text = members(file, place.start, place.length)?;
    let end = end_of_head(&text).ok_or_else(damaged)?;
    let block = text.get(end..text.len().saturating_sub(4)).ok_or_else(damaged)?.to_vec();
    String::from_utf8(text[..end - 4].to_vec()).map(|header| (header, block)).map_err(|_| damaged())
}

/// The text of the members in a part of a file.
pub(in crate::store::sqlite) fn members(file: &mut File, start: u64, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(start))?;
    let mut text = Vec::new();
    compression::text(file.take(length))?.read_to_end(&mut text)?;
    if text.starts_with(b"WARC/1.1\r\n") { Ok(text) } else { Err(damaged()) }
}

/// Whether the blocks of records have their digests.
pub(in crate::store::sqlite) fn are_whole(mut records: &[u8]) -> bool {
    while !records.is_empty() {
        let Some(end) = end_of_head(records) else { return false };
        let (head, rest) = records.split_at(end);
        let field = |name: &str| {
            let mut lines = head.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
            lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")?.strip_suffix('\r'))
        };
        let length = field("Content-Length").and_then(|length| length.parse::<usize>().ok());
        let Some((block, next)) = length.and_then(|length| rest.split_at_checked(length)) else { return false };
        let has_digest = field("WARC-Block-Digest") == Some(&*digest(Sha1::digest(block).into()));
        let Some(next) = next.strip_prefix(b"\r\n\r\n").filter(|_| has_digest) else { return false };
        records = next;
    }
    true
}

pub(super) fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "there is no record where one was written")
}

/// Where a head ends, with the empty line.
fn end_of_head(bytes: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, b"\r\n\r\n").map(|end| end + 4)
}
