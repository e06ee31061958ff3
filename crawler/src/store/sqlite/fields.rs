//! [`FieldTaker`]: keeps the fields of pages, and writes them as items.
//!
//! Owns: the rows of fields, and the file of items, a JSON object a line. Its length is kept in the transaction of the visits: what a
//! kill left behind it is cut off, so that each visit with a field has one item. What it misses is written when a run begins.
//!
//! Invariant: a file that this crawl has not written, or that another one writes, is not touched.
//!
//! Does not know: how fields are found.

use std::{
    fs::{File, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};
use xxhash_rust::xxh3::xxh3_64;

use super::{
    directory::DATABASE,
    error::database_error,
    takers::{Taken, Taker},
};
use crate::{extract::PageFields, store::StoreError, time::Moment};

/// The name of stdout.
const STDOUT: &str = "-";

/// Takes the fields of visits.
pub struct FieldTaker {
    items: Option<Items>,
}

/// Where items are written.
struct Items {
    /// As it was given.
    name: String,
    /// `None` before the run has begun, and for stdout.
    file: Option<ItemsFile>,
}

/// A file of items, which nobody else writes.
struct ItemsFile {
    path: PathBuf,
    file: File,
    state: FileState,
}

/// What is known of a file.
#[derive(Debug, Clone, Copy, Default)]
struct FileState {
    /// What was written of it.
    bytes: u64,
    /// Length of the last line, and its hash: by that it is known again.
    line: u64,
    hash: i64,
    /// The last visit that has a line.
    visit: i64,
}

/// An item.
struct Item<'a> {
    visit: i64,
    url: String,
    sequence: u32,
    at: Moment,
    /// JSON.
    fields: &'a str,
}

impl FieldTaker {
    /// One that writes items into a file, or to stdout (`-`), if that is wanted.
    pub fn new(items: Option<PathBuf>) -> Self {
        Self { items: items.map(|path| Items { name: path.display().to_string(), file: None }) }
    }
}

impl Taker for FieldTaker {
    fn resume(&mut self, connection: &Connection) -> Result<(), StoreError> {
        let Some(items) = self.items.as_mut().filter(|items| items.name != STDOUT) else { return Ok(()) };
        items.open(connection)?;
        items.catch_up(connection)
    }

    fn take(&mut self, visit: &Taken<'_>, connection: &Connection) -> Result<(), StoreError> {
        let found = visit.kept.and_then(|kept| kept.get::<PageFields>());
        let rows = || {
            if let Some(found) = found {
                let insert = "INSERT INTO page_field (visit, fields) VALUES (?, ?)";
                connection.prepare_cached(insert)?.execute(params![visit.visit, &*found.json])?;
                return Ok(found.any.then(|| found.json.to_string()));
            }
            let copy = visit.row.copy.as_ref().filter(|_| visit.row.is_not_modified());
            copy.map_or(Ok(None), |copy| of_visit(connection, copy.visit))
        };
        let (Some(fields), Some(items)) = (rows().map_err(failed())?, &mut self.items) else { return Ok(()) };
        let select = "SELECT url.url, visit.sequence FROM visit JOIN url ON url.id = visit.url WHERE visit.id = ?";
        let about = connection
            .prepare_cached(select)
            .and_then(|mut select| select.query_row([visit.visit], |row| Ok((row.get(0)?, row.get(1)?))));
        let (url, sequence) = about.map_err(failed())?;
        items.write(&Item { visit: visit.visit, url, sequence, at: visit.row.at, fields: &fields })?;
        items.note(connection).map_err(failed())
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        let Some(ItemsFile { path, file, .. }) = self.items.as_ref().and_then(|items| items.file.as_ref()) else {
            return Ok(());
        };
        file.sync_data().map_err(unwritable(path))
    }
}

impl Items {
    /// Opens the file, and cuts off what no row tells of.
    fn open(&mut self, connection: &Connection) -> Result<(), StoreError> {
        let known = known(connection, &self.name).map_err(failed())?;
        // A relative name is of the folder in which it was given first.
        let path = match &known {
            Some((path, _)) => path.clone(),
            None => std::path::absolute(&self.name).map_err(unwritable(Path::new(&self.name)))?,
        };
        let other = |why| StoreError::OtherItems { path: path.clone(), why };
        let opened = File::options().create(known.is_none()).truncate(false).read(true).write(true).open(&path);
        let mut file = opened.map_err(|source| match source.kind() {
            io::ErrorKind::NotFound if known.is_some() => other("it is gone"),
            _ => unwritable(&path)(source),
        })?;
        // A file system without locks has none.
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(other("another crawl writes it"));
        }
        let length = file.metadata().map_err(unwritable(&path))?.len();
        let state = known.as_ref().map(|(_, state)| *state);
        match state {
            None if length > 0 => return Err(other("it is there already, and this crawl has not written it")),
            Some(state) if state.bytes > length => return Err(other("it is shorter than this crawl has left it")),
            Some(state) if !state.is_end_of(&mut file).map_err(unwritable(&path))? => {
                return Err(other("this crawl has not written what it has"));
            }
            _ => {}
        }
        let state = state.unwrap_or_default();
        let cut = file.set_len(state.bytes).and_then(|()| file.seek(SeekFrom::Start(state.bytes)));
        cut.map_err(unwritable(&path))?;
        self.file = Some(ItemsFile { path, file, state });
        // Before anything is in it: a kill leaves no file that nobody knows.
        self.note(connection).map_err(failed())
    }

    /// Writes the items of the visits that came before anybody wanted them here: of a file that is new, those of the last sequence.
    fn catch_up(&mut self, connection: &Connection) -> Result<(), StoreError> {
        let Some(last) = self.file.as_ref().map(|file| file.state.visit) else { return Ok(()) };
        let select = "SELECT visit.id, url.url, visit.sequence, visit.fetched_at, page_field.fields
             FROM visit JOIN url ON url.id = visit.url
                  JOIN page_field ON page_field.visit = iif(visit.status = 304, visit.same, visit.id)
             WHERE visit.id > ?1 AND visit.outcome = 'stored'
               AND (?1 > 0 OR visit.sequence = (SELECT max(n) FROM sequence)) ORDER BY visit.id";
        let mut select = connection.prepare(select).map_err(failed())?;
        let mut rows = select.query([last]).map_err(failed())?;
        while let Some(row) = rows.next().map_err(failed())? {
            let fields: String = row.get(4).map_err(failed())?;
            let read = || Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get::<_, u64>(3)?));
            let (visit, url, sequence, at) = read().map_err(failed())?;
            if PageFields::is_any(&fields) {
                self.write(&Item { visit, url, sequence, at: Moment::from_millis(at), fields: &fields })?;
            }
        }
        self.note(connection).map_err(failed())
    }

    /// Writes an item at once: it is there before a commit says so.
    fn write(&mut self, item: &Item<'_>) -> Result<(), StoreError> {
        let line = item.line();
        let Some(ItemsFile { path, file, state }) = &mut self.file else {
            let mut out = io::stdout().lock();
            return match out.write_all(line.as_bytes()).and_then(|()| out.flush()) {
                // A reader that has gone away (`| head`) is no failure.
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(Path::new(STDOUT))(error)),
                _ => Ok(()),
            };
        };
        file.write_all(line.as_bytes()).map_err(unwritable(path))?;
        let length = line.len() as u64;
        *state =
            FileState { bytes: state.bytes + length, line: length, hash: hash(line.as_bytes()), visit: item.visit };
        Ok(())
    }

    /// Keeps what is known of the file.
    fn note(&self, connection: &Connection) -> rusqlite::Result<()> {
        let Some(ItemsFile { path, state, .. }) = &self.file else { return Ok(()) };
        let insert =
            "INSERT OR REPLACE INTO items_file (name, path, bytes, line, hash, visit) VALUES (?, ?, ?, ?, ?, ?)";
        let FileState { bytes, line, hash, visit } = *state;
        let values = params![self.name, path.display().to_string(), bytes, line, hash, visit];
        connection.prepare_cached(insert)?.execute(values).map(|_| ())
    }
}

impl FileState {
    /// Whether the last line is where it was left.
    fn is_end_of(self, file: &mut File) -> io::Result<bool> {
        let Some(start) = self.bytes.checked_sub(self.line) else { return Ok(false) };
        let mut line = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        file.take(self.line).read_to_end(&mut line)?;
        Ok(line.is_empty() || hash(&line) == self.hash)
    }
}

impl Item<'_> {
    fn line(&self) -> String {
        let at = i64::try_from(self.at.millis()).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
        let text = |text: &str| serde_json::Value::from(text).to_string();
        let (url, at) = (text(&self.url), text(&at.map(|at| at.to_string()).unwrap_or_default()));
        format!("{{\"url\":{url},\"sequence\":{},\"fetched_at\":{at},\"fields\":{}}}\n", self.sequence, self.fields)
    }
}

/// Where a file is, and what is known of it.
fn known(connection: &Connection, name: &str) -> rusqlite::Result<Option<(PathBuf, FileState)>> {
    let select = "SELECT path, bytes, line, hash, visit FROM items_file WHERE name = ?";
    let state = |row: &Row<'_>| {
        let state = FileState { bytes: row.get(1)?, line: row.get(2)?, hash: row.get(3)?, visit: row.get(4)? };
        Ok((PathBuf::from(row.get::<_, String>(0)?), state))
    };
    connection.query_row(select, [name], state).optional()
}

/// 63 bits.
fn hash(line: &[u8]) -> i64 {
    i64::try_from(xxh3_64(line) >> 1).unwrap_or_default()
}

fn failed() -> impl FnOnce(rusqlite::Error) -> StoreError {
    database_error(DATABASE)
}

/// The fields of a page that was not modified, if there are any.
fn of_visit(connection: &Connection, visit: i64) -> rusqlite::Result<Option<String>> {
    let mut select = connection.prepare_cached("SELECT fields FROM page_field WHERE visit = ?")?;
    let fields: Option<String> = select.query_row([visit], |row| row.get(0)).optional()?;
    Ok(fields.filter(|fields| PageFields::is_any(fields)))
}

fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| match source.kind() {
        io::ErrorKind::StorageFull => StoreError::Full { path },
        _ => StoreError::Items { path, source },
    }
}

/// Whether a database has a place for fields: one of an older program has none.
pub(super) fn are_kept(connection: &Connection) -> rusqlite::Result<bool> {
    let any = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'page_field')";
    connection.query_row(any, [], |row| row.get(0))
}

/// What a query names for the fields of the visits that it has. A page that was not modified has those of its copy.
pub(super) fn column(connection: &Connection) -> rusqlite::Result<&'static str> {
    let kept = "(SELECT fields FROM page_field WHERE page_field.visit = iif(visit.status = 304, visit.same, visit.id))";
    Ok(if are_kept(connection)? { kept } else { "NULL" })
}

/// Forgets the fields of visits that are forgotten, from one to another.
pub(super) const FORGET: &str = "DELETE FROM page_field WHERE visit > ?1 AND visit <= ?2
    AND NOT EXISTS (SELECT 1 FROM visit WHERE visit.id = page_field.visit)";
