//! Copies of records: what of an archive goes into files of another folder.
//!
//! Owns: that a file of copies begins with what the file of the originals says of itself, and that a record without a body has it where the
//! record with the body is not among the copies. Where the copies are is in a temporary table.
//!
//! Does not know: why records are copied.

use std::{
    fs::File,
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
    path::Path,
};

use rusqlite::{Connection, Row, params};

use super::{
    FIELDS, FOLDER, RESPONSE, RecordCompression, compression, failed, is_kept, private,
    read::{RecordPlace, are_whole, block_of, damaged, header_of},
    record::{Block, RecordHeader},
    unwritable,
};
use crate::{store::StoreError, time::Moment};

/// Where the copies are: rows as those of `archive_record`.
pub(super) const PLACES: &str = "
    CREATE TEMP TABLE IF NOT EXISTS copied (
        visit INTEGER PRIMARY KEY, start INTEGER NOT NULL, length INTEGER NOT NULL, whole INTEGER NOT NULL, given_body INTEGER NOT NULL);
    DELETE FROM temp.copied";

/// The records of a file.
const RECORDS: &str = "
    SELECT record.visit, url.url, record.sequence, record.at, record.start, record.length, record.whole,
           record.body, archive_file.name, body.start, body.length
    FROM archive_record AS record JOIN url ON url.id = record.url LEFT JOIN archive_record AS body ON body.visit = record.body
    LEFT JOIN archive_file ON archive_file.id = body.file WHERE record.file = ?1 ORDER BY record.start";

/// Fields of a record without a body that one with a body does not have, or has anew.
const LEFT_OUT: [&str; 5] = ["WARC-Type", "WARC-Profile", "WARC-Refers-To", "WARC-Block-Digest", "Content-"];

/// An archived answer.
#[derive(Debug)]
pub struct ArchivedVisit<'a> {
    /// What was asked for.
    pub url: &'a str,
    /// In which sequence.
    pub sequence: u32,
    /// When.
    pub at: Moment,
}

/// What was copied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArchiveCopies {
    /// The files, in order.
    pub files: Vec<String>,
    /// Answers in them.
    pub answers: u64,
}

/// Where copies are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CopyUse {
    /// Without the other files: a record gets the body that it has elsewhere.
    Alone,
    /// Beside the other files of the crawl, as private as these.
    Beside,
}

/// A record that is copied.
struct Original {
    visit: i64,
    place: RecordPlace,
    /// With the records of its request and its metadata.
    whole: u64,
    /// Where the body is that it is given.
    body: Option<RecordPlace>,
}

/// Copies what is wanted of the archive of the crawl in `dir` into files of the same names in `out`.
pub(in crate::store::sqlite) fn copy_into(
    (connection, dir): (&Connection, &Path),
    out: &Path,
    mut is_wanted: impl FnMut(&ArchivedVisit<'_>) -> bool,
) -> Result<ArchiveCopies, StoreError> {
    let mut copies = ArchiveCopies::default();
    connection.execute_batch(PLACES).map_err(failed())?;
    if !is_kept(connection).map_err(failed())? {
        return Ok(copies);
    }
    let mut select = connection.prepare("SELECT id, name FROM archive_file ORDER BY id").map_err(failed())?;
    let files = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    let files: Vec<(i64, String)> = files.and_then(Iterator::collect).map_err(failed())?;
    for (id, name) in files {
        let answers = copy_file(
            (connection, &dir.join(FOLDER)),
            (id, &name),
            (&out.join(&name), CopyUse::Alone),
            &mut is_wanted,
        )?;
        if answers > 0 {
            copies.answers += answers;
            copies.files.push(name);
        }
    }
    Ok(copies)
}

/// Copies what is wanted of a file; how many answers that is. Without any, there is no file.
pub(super) fn copy_file(
    (connection, folder): (&Connection, &Path),
    (id, name): (i64, &str),
    (out, usage): (&Path, CopyUse),
    is_wanted: &mut impl FnMut(&ArchivedVisit<'_>) -> bool,
) -> Result<u64, StoreError> {
    let path = folder.join(name);
    let unreadable = |source| StoreError::Archive { path: path.clone(), source };
    let mut file = File::open(&path).map_err(unreadable)?;
    let mut copy: Option<(BufWriter<File>, u64)> = None;
    let mut insert = connection.prepare("INSERT INTO temp.copied VALUES (?, ?, ?, ?, ?)").map_err(failed())?;
    let mut copied = connection.prepare("SELECT 1 FROM temp.copied WHERE visit = ?").map_err(failed())?;
    let mut select = connection.prepare(RECORDS).map_err(failed())?;
    let mut rows = select.query([id]).map_err(failed())?;
    let mut answers = 0;
    while let Some(row) = rows.next().map_err(failed())? {
        let original = wanted(row, name, is_wanted, |visit| Ok(usage == CopyUse::Beside || copied.exists([visit])?));
        let original = original.map_err(failed())?;
        let Some(original) = original else { continue };
        if copy.is_none() {
            let first =
                connection.query_row("SELECT min(start) FROM archive_record WHERE file = ?", [id], |row| row.get(0));
            let info = raw(&mut file, 0, first.map_err(failed())?);
            let info = info.and_then(|info| named(info, (&mut file, name), out)).map_err(unreadable)?;
            let new = match usage {
                CopyUse::Alone => File::create(out),
                CopyUse::Beside => private(out).and_then(|file| file.set_len(0).map(|()| file)),
            };
            let new = BufWriter::new(new.map_err(unwritable(out))?);
            copy = Some((new, 0));
            append(&mut copy, &info).map_err(unwritable(out))?;
        }
        let (records, length) = match &original.body {
            None => raw(&mut file, original.place.start, original.whole)
                .and_then(|records| if usage == CopyUse::Alone { readable(records) } else { Ok(records) })
                .map(|records| (records, original.place.length)),
            Some(body) => with_body(folder, &mut file, &original, body),
        }
        .map_err(unreadable)?;
        let start = append(&mut copy, &records).map_err(unwritable(out))?;
        let is_given = original.body.is_some();
        insert.execute(params![original.visit, start, length, records.len(), is_given]).map_err(failed())?;
        answers += 1;
    }
    if let Some((copy, _)) = copy {
        let file = copy.into_inner().map_err(io::IntoInnerError::into_error).map_err(unwritable(out))?;
        file.sync_data().map_err(unwritable(out))?;
    }
    Ok(answers)
}

fn wanted(
    row: &Row<'_>,
    name: &str,
    is_wanted: &mut impl FnMut(&ArchivedVisit<'_>) -> bool,
    mut is_copied: impl FnMut(i64) -> rusqlite::Result<bool>,
) -> rusqlite::Result<Option<Original>> {
    let at = Moment::from_millis(row.get(3)?);
    let visit = ArchivedVisit { url: row.get_ref(1)?.as_str()?, sequence: row.get(2)?, at };
    if !is_wanted(&visit) {
        return Ok(None);
    }
    let place = RecordPlace { file: name.to_owned(), start: row.get(4)?, length: row.get(5)? };
    let body = match row.get(7)? {
        Some(body) if !is_copied(body)? => {
            Some(RecordPlace { file: row.get(8)?, start: row.get(9)?, length: row.get(10)? })
        }
        _ => None,
    };
    Ok(Some(Original { visit: row.get(0)?, place, whole: row.get(6)?, body }))
}

/// Writes at the end of a copy; where that is.
fn append(copy: &mut Option<(BufWriter<File>, u64)>, bytes: &[u8]) -> io::Result<u64> {
    let (out, end) = copy.as_mut().expect("it was begun");
    out.write_all(bytes)?;
    let start = *end;
    *end += bytes.len() as u64;
    Ok(start)
}

/// A part of a file as it is.
fn raw(file: &mut File, start: u64, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    let read = file.take(length).read_to_end(&mut bytes)?;
    if read as u64 == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Records that can be read: what is damaged is not given away.
fn readable(records: Vec<u8>) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    compression::text(&records[..])?.read_to_end(&mut text)?;
    if are_whole(&text) { Ok(records) } else { Err(damaged()) }
}

fn form_of(name: &str) -> RecordCompression {
    RecordCompression::of_name(name).unwrap_or(RecordCompression::Gzip)
}

/// What a file says of itself, with the name of the copy.
fn named(info: Vec<u8>, (file, name): (&mut File, &str), out: &Path) -> io::Result<Vec<u8>> {
    let new = out.file_name().unwrap_or_default().to_string_lossy();
    if new == name {
        return Ok(info);
    }
    let place = RecordPlace { file: name.to_owned(), start: 0, length: info.len() as u64 };
    let (header, block) = header_of(file, &place)?;
    let is_kept =
        |line: &&str| !LEFT_OUT.iter().any(|name| line.starts_with(name)) && !line.starts_with("WARC-Filename");
    let fields = header.lines().skip(1).filter(is_kept).filter_map(|line| line.split_once(": "));
    let record = fields.fold(RecordHeader::of_kind("warcinfo"), |header, (name, value)| header.with(name, value));
    Ok(record.with("WARC-Filename", &new).over_short(FIELDS, &block, form_of(name)))
}

/// The records of an answer that has its body elsewhere, with it, and the length of the first.
fn with_body(folder: &Path, file: &mut File, original: &Original, body: &RecordPlace) -> io::Result<(Vec<u8>, u64)> {
    let (own_head, _) = block_of(file, &original.place)?;
    let (header, _) = header_of(file, &original.place)?;
    let mut first = File::open(folder.join(&body.file))?;
    let (first_header, _) = header_of(&mut first, body)?;
    let (first_head, body) = block_of(&mut first, body)?;
    let head = if own_head.is_empty() { first_head } else { own_head };
    let is_kept = |line: &&str| !LEFT_OUT.iter().any(|name| line.starts_with(name));
    let fields = header.lines().skip(1).filter(is_kept).filter_map(|line| line.split_once(": "));
    let record = fields.fold(RecordHeader::of_kind("response"), |header, (name, value)| header.with(name, value));
    let truncated = first_header.lines().find_map(|line| line.strip_prefix("WARC-Truncated: "));
    let block = Block::of(&[&head, &body], form_of(&original.place.file));
    let mut records = record.with_some("WARC-Truncated", truncated).over(RESPONSE, &block);
    let length = records.len() as u64;
    let beside = original.place.start + original.place.length;
    records.extend(raw(file, beside, original.whole - original.place.length)?);
    Ok((records, length))
}
