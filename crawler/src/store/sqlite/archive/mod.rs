//! [`ArchiveTaker`]: writes the answers of visits into WARC files.
//!
//! Owns: the files, the order of records in them, and where each is. The length up to which a file is good is kept in the transaction of the
//! visits: what a kill left behind it is cut off, so that each visit has its records once.
//!
//! Invariant: a page that was not modified, or that is as it was, has a record that names the one with its body, which lies in the same
//! folder; where that is not there, its body is written.
//!
//! Does not know: how a record is compressed, and who reads it.

mod compression;
mod copies;
mod current;
mod index;
mod read;
mod record;
mod rewritten;

use std::{
    fs::File,
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use rusqlite::{Connection, OptionalExtension, Result, Row, params};
use sha2::{Digest as _, Sha256};

use super::{
    directory::{DATABASE, private, sync_folder},
    error::database_error,
    takers::{Taken, Taker},
};
use crate::{store::StoreError, time::Moment};

pub use compression::RecordCompression;
pub(super) use copies::copy_into;
pub use copies::{ArchiveCopies, ArchivedVisit};
pub use current::{ArchivedBodies, ChangedSince, CurrentPage};
pub(super) use current::{deleted, file_names, pages as current_pages, redirects, urls};
pub(super) use index::{write as write_index, write_of_copies};
pub use read::{ArchiveMoment, ArchivedCopy};
pub(super) use read::{are_whole, copy, current_copy_of, members};
pub use record::ArchivedAnswer;
use record::{PayloadDigest, RecordHeader, cdx_date, date, digest};
pub(super) use rewritten::{RewrittenFile, delete_others, forget_records, rewrite, verify};

/// The folder of the files.
pub(super) const FOLDER: &str = "archive";

/// The index of them.
const INDEX: &str = "index.cdxj";

/// What a run begins with, until it is said otherwise.
pub(super) const NONE: &str = "UPDATE crawl SET archive = NULL, archive_types = NULL WHERE archive IS NOT NULL";

/// The content types of records.
const RESPONSE: &str = "application/http;msgtype=response";
const REQUEST: &str = "application/http;msgtype=request";
const FIELDS: &str = "application/warc-fields";

/// What is written, and how.
#[derive(Debug, Clone)]
pub struct ArchiveRule {
    /// Whether each copy of a page is written whole, though an earlier record has the same body.
    pub whole: bool,
    /// Media types of the pages that are written; all, if it is empty.
    pub types: Vec<String>,
    /// A file that has so many bytes gets no more records.
    pub file_bytes: u64,
    /// How records are compressed.
    pub compression: RecordCompression,
    /// What each file says of itself: names and values.
    pub about: Vec<(&'static str, String)>,
}

/// Writes what is archived of visits.
pub struct ArchiveTaker {
    rule: ArchiveRule,
    folder: PathBuf,
    /// Secret, so that nobody knows the names of records in advance.
    seed: i64,
    created: Moment,
    file: Option<ArchiveFile>,
}

/// The file that gets records.
struct ArchiveFile {
    id: i64,
    path: PathBuf,
    file: File,
    bytes: u64,
}

/// What rows say of a visit.
struct About {
    url: String,
    via: Option<String>,
    /// A letter for each step from the start, as Heritrix has them.
    hops: String,
    sequence: u32,
    /// The visit that has the same body.
    same: Option<i64>,
}

/// The record that has the body of a visit.
struct Original {
    visit: i64,
    at: Moment,
    payload: PayloadDigest,
    coding: Option<String>,
}

impl ArchiveTaker {
    /// One that writes by this rule into the folder of a crawl.
    pub fn new(dir: &Path, rule: ArchiveRule) -> Self {
        Self { rule, folder: dir.join(FOLDER), seed: 0, created: Moment::EPOCH, file: None }
    }

    fn id(&self, kind: &str, number: i64) -> String {
        let hash =
            Sha256::new().chain_update(self.seed.to_le_bytes()).chain_update(kind).chain_update(number.to_le_bytes());
        let hash: [u8; 16] = hash.finalize().first_chunk().copied().unwrap_or_default();
        let mut hash = u128::from_be_bytes(hash);
        // Version 8 of RFC 9562: the other bits are ours.
        hash = hash & !(0xf << 76) & !(0x3 << 62) | (0x8 << 76) | (0x2 << 62);
        let hex = format!("{hash:032x}");
        let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &hex[part]);
        format!("<urn:uuid:{}>", parts.join("-"))
    }

    /// The file for the next records: a new one where the last is full.
    fn open(&mut self, connection: &Connection, at: Moment) -> Result<&mut ArchiveFile, StoreError> {
        let compression = self.rule.compression;
        let is_full = |file: &ArchiveFile| {
            file.bytes >= self.rule.file_bytes
                || RecordCompression::of_name(&file.path.to_string_lossy()) != Some(compression)
        };
        if self.file.as_ref().is_none_or(is_full) {
            let next = "SELECT coalesce(max(id), 0) + 1 FROM archive_file";
            let id: i64 = connection.query_row(next, [], |row| row.get(0)).map_err(failed())?;
            // Files of several crawls may be put together.
            let crawl = &self.id("crawl", 0)[10..18];
            let name = format!("webloom-{}-{crawl}-{id:05}{}", cdx_date(self.created), compression.suffix());
            let path = self.folder.join(&name);
            // What a kill left of one of the other form has no rows.
            for form in RecordCompression::ALL.into_iter().filter(|form| *form != compression) {
                let stem = name.strip_suffix(compression.suffix()).unwrap_or(&name);
                let _ = std::fs::remove_file(self.folder.join(stem.to_owned() + form.suffix()));
            }
            let opened = private(&path).and_then(|file| file.set_len(0).map(|()| file));
            let file = opened.map_err(unwritable(&path))?;
            sync_folder(&self.folder)?;
            let insert = "INSERT INTO archive_file (id, name, bytes) VALUES (?, ?, 0)";
            connection.execute(insert, params![id, name]).map_err(failed())?;
            if let Some(full) = self.file.replace(ArchiveFile { id, path, file, bytes: 0 }) {
                full.file.sync_data().map_err(unwritable(&full.path))?;
            }
            let lines: Vec<_> = self.rule.about.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
            let header = RecordHeader::new("warcinfo", &self.id("warcinfo", id), at).with("WARC-Filename", &name);
            let info = header.over_short(FIELDS, lines.concat().as_bytes(), compression);
            self.file.as_mut().expect("it was made").append(&info)?;
        }
        Ok(self.file.as_mut().expect("it was there, or was made"))
    }

    /// The records of a visit, and the length of the first.
    fn records(
        &self,
        visit: &Taken<'_>,
        (answer, about): (&ArchivedAnswer, &About),
        original: Option<&Original>,
        info: &str,
    ) -> (Vec<u8>, usize) {
        let (at, id) = (visit.row.at, self.id("response", visit.visit));
        let header = |kind, id: &str| {
            RecordHeader::new(kind, id, at).with("WARC-Target-URI", &about.url).with("WARC-Warcinfo-ID", info)
        };
        let first = match original {
            None => answer.describe(header("response", &id)).over(RESPONSE, answer.whole()),
            Some(original) => {
                // A player would show an answer 304 with nothing in it, where a record without a head has it show what that names.
                let (profile, head) = if visit.row.is_not_modified() {
                    ("server-not-modified", &[][..])
                } else {
                    ("identical-payload-digest", answer.head())
                };
                header("revisit", &id)
                    .with("WARC-Profile", &format!("http://netpreserve.org/warc/1.1/revisit/{profile}"))
                    .with("WARC-Refers-To", &self.id("response", original.visit))
                    .with("WARC-Refers-To-Target-URI", &about.url)
                    .with("WARC-Refers-To-Date", &date(original.at))
                    .with("WARC-Payload-Digest", &digest(original.payload))
                    .over_short(RESPONSE, head, self.rule.compression)
            }
        };
        let length = first.len();
        let beside = |kind, content_type, block: &[u8]| {
            let header = header(kind, &self.id(kind, visit.visit)).with("WARC-Concurrent-To", &id);
            header.over_short(content_type, block, self.rule.compression)
        };
        let via = about.via.as_ref().map(|via| format!("via: {via}\r\n")).unwrap_or_default();
        let status = visit.row.status.unwrap_or_default();
        let fields =
            format!("{via}hopsFromSeed: {}\r\nsequence: {}\r\nstatus: {status}\r\n", about.hops, about.sequence);
        let request = beside("request", REQUEST, answer.request());
        let metadata = beside("metadata", FIELDS, fields.as_bytes());
        ([first, request, metadata].concat(), length)
    }
}

impl Taker for ArchiveTaker {
    fn resume(&mut self, connection: &Connection) -> Result<(), StoreError> {
        std::fs::create_dir_all(&self.folder).map_err(unwritable(&self.folder))?;
        let crawl = "SELECT fingerprint_seed, created_at FROM crawl";
        (self.seed, self.created) = connection
            .query_row(crawl, [], |row| Ok((row.get(0)?, Moment::from_millis(row.get(1)?))))
            .map_err(failed())?;
        let types = (!self.rule.types.is_empty()).then(|| patterns(&self.rule.types));
        let set = "UPDATE crawl SET archive = ?, archive_types = ?";
        connection.execute(set, params![1 + u8::from(self.rule.whole), types]).map_err(failed())?;
        let mut select = connection.prepare("SELECT id, name, bytes FROM archive_file ORDER BY id").map_err(failed())?;
        let file = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, String>(1)?, row.get(2)?));
        let files: Vec<(i64, String, u64)> = select.query_map([], file).and_then(Iterator::collect).map_err(failed())?;
        for (id, name, bytes) in files {
            let path = self.folder.join(name);
            let length = match std::fs::metadata(&path) {
                Ok(file) => file.len(),
                Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
                Err(error) => return Err(unwritable(&path)(error)),
            };
            let bytes = if length < bytes {
                let shown = path.display();
                tracing::warn!(path = %shown, "an archive file has lost its end: what was there is fetched whole when it is visited next");
                // It names what is lost, and may not be written again for long.
                let _ = std::fs::remove_file(self.folder.join(INDEX));
                forget_behind(connection, id, length).map_err(failed())?
            } else {
                bytes
            };
            // Of one that has nothing left, the number is given again.
            self.file = if bytes > 0 { Some(ArchiveFile::open(id, path, bytes)?) } else { None };
        }
        Ok(())
    }

    fn take(&mut self, visit: &Taken<'_>, connection: &Connection) -> Result<(), StoreError> {
        let Some(answer) = visit.kept.and_then(|kept| kept.get::<ArchivedAnswer>()) else { return Ok(()) };
        let about = About::of(connection, visit).map_err(failed())?;
        let original = about.same.map(|same| Original::of(connection, visit.url, same)).transpose().map_err(failed())?;
        let is_not_modified = visit.row.is_not_modified();
        let is_same = |original: &Original| {
            is_not_modified || (!self.rule.whole && original.coding.as_deref() == answer.coding.as_deref())
        };
        let original = original.flatten().filter(is_same);
        if is_not_modified && original.is_none() {
            return Ok(());
        }
        let file = self.open(connection, visit.row.at)?;
        let (id, start) = (file.id, file.bytes);
        let info = self.id("warcinfo", id);
        let (records, length) = self.records(visit, (answer, &about), original.as_ref(), &info);
        self.file.as_mut().expect("it was opened").append(&records)?;
        let note = || {
            let update = "UPDATE archive_file SET bytes = ? WHERE id = ?";
            connection.prepare_cached(update)?.execute(params![start + records.len() as u64, id])?;
            let insert = "INSERT INTO archive_record
                 (visit, url, sequence, at, status, content_type, file, start, length, whole, body, payload, coding)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
            connection.prepare_cached(insert)?.execute(params![
                visit.visit,
                visit.url,
                about.sequence,
                visit.row.at.millis(),
                visit.row.status,
                answer.content_type,
                id,
                start,
                length,
                records.len(),
                original.as_ref().map(|original| original.visit),
                original.as_ref().map_or(answer.payload, |original| original.payload),
                answer.coding,
            ])
        };
        note().map(|_| ()).map_err(failed())
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        let Some(ArchiveFile { file, path, .. }) = &self.file else { return Ok(()) };
        file.sync_data().map_err(unwritable(path))
    }
}

impl ArchiveFile {
    /// Opens one for what follows these bytes. The rest is cut off.
    fn open(id: i64, path: PathBuf, bytes: u64) -> Result<Self, StoreError> {
        let opened = private(&path).and_then(|mut file| {
            file.set_len(bytes)?;
            file.seek(SeekFrom::Start(bytes))?;
            Ok(file)
        });
        let file = opened.map_err(unwritable(&path))?;
        Ok(Self { id, path, file, bytes })
    }

    fn append(&mut self, records: &[u8]) -> Result<(), StoreError> {
        self.file.write_all(records).map_err(unwritable(&self.path))?;
        self.bytes += records.len() as u64;
        Ok(())
    }
}

impl About {
    fn of(connection: &Connection, visit: &Taken<'_>) -> Result<Self> {
        let select = "SELECT url.url, page.url, visit.sequence, visit.same FROM visit JOIN url ON url.id = visit.url
             LEFT JOIN url AS page ON page.id = url.via WHERE visit.id = ?";
        let (url, via, sequence, same) = connection
            .prepare_cached(select)?
            .query_row([visit.visit], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
        // Each page was found before those that it led to, but for those that a later sequence has found anew.
        let way = "WITH RECURSIVE way (via, hop, step) AS (
                 SELECT via, hop, 0 FROM url WHERE id = ?
                 UNION ALL SELECT url.via, url.hop, step + 1 FROM way JOIN url ON url.id = way.via WHERE step < 250)
             SELECT hop FROM way ORDER BY step DESC";
        let mut way = connection.prepare_cached(way)?;
        let letter = |row: &Row<'_>| {
            Ok(match row.get_ref(0)?.as_str()? {
                "start" => "",
                "redirect" => "R",
                "sitemap" => "M",
                "asset" => "E",
                _ => "L",
            })
        };
        let hops = way.query_map([visit.url], letter)?.collect::<Result<String>>()?;
        Ok(Self { url, via, hops, sequence, same })
    }
}

impl Original {
    /// The first record of a URL with a body that is that of a visit: what came between the two had the same.
    fn of(connection: &Connection, url: u64, same: i64) -> Result<Option<Self>> {
        let select = "SELECT visit, at, payload, coding FROM archive_record
             WHERE url = ? AND visit >= ? AND body IS NULL AND status BETWEEN 200 AND 299 ORDER BY visit LIMIT 1";
        let found = |row: &Row<'_>| {
            let at = Moment::from_millis(row.get(1)?);
            Ok(Self { visit: row.get(0)?, at, payload: row.get(2)?, coding: row.get(3)? })
        };
        connection.prepare_cached(select)?.query_row(params![url, same], found).optional()
    }
}

/// Forgets the records of a file that are not there any more, and those that name them; how long it is without.
fn forget_behind(connection: &Connection, file: i64, length: u64) -> Result<u64> {
    let transaction = connection.unchecked_transaction()?;
    let lost = "SELECT visit FROM archive_record WHERE file = ?1 AND start + whole > ?2";
    transaction.execute(&format!("DELETE FROM archive_record WHERE body IN ({lost})"), params![file, length])?;
    transaction.execute(&format!("DELETE FROM archive_record WHERE visit IN ({lost})"), params![file, length])?;
    let end = "SELECT coalesce(max(start + whole), 0) FROM archive_record WHERE file = ?";
    let bytes = transaction.query_row(end, [file], |row| row.get(0))?;
    if bytes > 0 {
        transaction.execute("UPDATE archive_file SET bytes = ? WHERE id = ?", params![bytes, file])?;
    } else {
        transaction.execute("DELETE FROM archive_file WHERE id = ?", [file])?;
    }
    transaction.commit()?;
    Ok(bytes)
}

/// JSON of patterns that content types of these media types match, with parameters or without.
fn patterns(types: &[String]) -> String {
    let both = |named: &String| [named.clone(), format!("{named}[; ]*")];
    serde_json::Value::from(types.iter().flat_map(both).collect::<Vec<_>>()).to_string()
}

fn failed() -> impl FnOnce(rusqlite::Error) -> StoreError {
    database_error(DATABASE)
}

fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| match source.kind() {
        io::ErrorKind::StorageFull => StoreError::Full { path },
        _ => StoreError::Archive { path, source },
    }
}

/// Whether a database has a place for records: one of an older program has none.
pub(super) fn is_kept(connection: &Connection) -> Result<bool> {
    let any = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'archive_record')";
    connection.query_row(any, [], |row| row.get(0))
}
