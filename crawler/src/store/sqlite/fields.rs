//! [`FieldTaker`]: keeps the fields of pages, and writes them as items.
//!
//! Owns: the rows of fields, and the file of items, a JSON object a line. Its length is kept in the transaction of the visits: what a
//! kill left behind it is cut off, so that each visit with a field has one item.
//!
//! Does not know: how fields are found.

use std::{
    fs::File,
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::{
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
    path: PathBuf,
    /// `None` before the run has begun, and for stdout.
    file: Option<File>,
    /// What was written of it.
    bytes: u64,
}

/// An item.
struct Item<'a> {
    url: String,
    sequence: u32,
    at: Moment,
    /// JSON.
    fields: &'a str,
}

impl FieldTaker {
    /// One that writes items into a file, or to stdout (`-`), if that is wanted.
    pub fn new(items: Option<PathBuf>) -> Self {
        Self { items: items.map(|path| Items { path, file: None, bytes: 0 }) }
    }
}

impl Taker for FieldTaker {
    fn resume(&mut self, connection: &Connection) -> Result<(), StoreError> {
        let Some(items) = self.items.as_mut().filter(|items| items.path != Path::new(STDOUT)) else { return Ok(()) };
        let known = known_length(connection, &items.path).map_err(database_error(&items.path))?;
        items.open(known)?;
        if known.is_none() {
            items.write_earlier(connection)?;
        }
        Ok(())
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
        let failed = || database_error("webloom.sqlite");
        let (Some(fields), Some(items)) = (rows().map_err(failed())?, &mut self.items) else { return Ok(()) };
        let select = "SELECT url.url, visit.sequence FROM visit JOIN url ON url.id = visit.url WHERE visit.id = ?";
        let about = connection
            .prepare_cached(select)
            .and_then(|mut select| select.query_row([visit.visit], |row| Ok((row.get(0)?, row.get(1)?))));
        let (url, sequence) = about.map_err(failed())?;
        items.write(&Item { url, sequence, at: visit.row.at, fields: &fields })?;
        items.note(connection).map_err(failed())
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        let Some(Items { path, file: Some(file), .. }) = &self.items else { return Ok(()) };
        file.sync_data().map_err(unwritable(path))
    }
}

impl Items {
    /// Opens the file, and cuts off what no row tells of.
    fn open(&mut self, known: Option<u64>) -> Result<(), StoreError> {
        let failed = || unwritable(&self.path);
        let mut file =
            File::options().create(known.is_none()).truncate(false).read(true).write(true).open(&self.path).map_err(
                |source| match source.kind() {
                    io::ErrorKind::NotFound if known.is_some() => self.is_other("it is gone"),
                    _ => failed()(source),
                },
            )?;
        let length = file.metadata().map_err(failed())?.len();
        if known.is_none() && length > 0 {
            return Err(self.is_other("it is there already, and this crawl has not written it"));
        }
        let known = known.unwrap_or(0);
        if known > length {
            return Err(self.is_other("it is shorter than this crawl has left it"));
        }
        file.set_len(known).and_then(|()| file.seek(SeekFrom::Start(known))).map_err(failed())?;
        (self.file, self.bytes) = (Some(file), known);
        Ok(())
    }

    fn is_other(&self, why: &'static str) -> StoreError {
        StoreError::OtherItems { path: self.path.clone(), why }
    }

    /// Writes the items of the pages that the sequence had before anybody wanted them.
    fn write_earlier(&mut self, connection: &Connection) -> Result<(), StoreError> {
        let failed = || database_error("webloom.sqlite");
        let select = "SELECT url.url, visit.sequence, visit.fetched_at, page_field.fields
             FROM page_field JOIN visit ON visit.id = page_field.visit JOIN url ON url.id = visit.url
             WHERE visit.sequence = (SELECT max(n) FROM sequence) ORDER BY visit.id";
        let mut select = connection.prepare(select).map_err(failed())?;
        let mut rows = select.query([]).map_err(failed())?;
        while let Some(row) = rows.next().map_err(failed())? {
            let read = || Ok((row.get(0)?, row.get(1)?, row.get::<_, u64>(2)?, row.get::<_, String>(3)?));
            let (url, sequence, at, fields) = read().map_err(failed())?;
            if PageFields::is_any(&fields) {
                self.write(&Item { url, sequence, at: Moment::from_millis(at), fields: &fields })?;
            }
        }
        self.note(connection).map_err(failed())
    }

    /// Writes an item at once: it is there before a commit says so.
    fn write(&mut self, item: &Item<'_>) -> Result<(), StoreError> {
        let line = item.line();
        let written = if let Some(file) = &mut self.file {
            file.write_all(line.as_bytes())
        } else {
            let mut out = io::stdout().lock();
            out.write_all(line.as_bytes()).and_then(|()| out.flush())
        };
        self.bytes += line.len() as u64;
        written.map_err(unwritable(&self.path))
    }

    /// Keeps its length.
    fn note(&self, connection: &Connection) -> rusqlite::Result<()> {
        if self.file.is_none() {
            return Ok(());
        }
        let insert = "INSERT INTO items_file (path, bytes) VALUES (?1, ?2)
             ON CONFLICT (path) DO UPDATE SET bytes = excluded.bytes";
        connection.prepare_cached(insert)?.execute(params![self.path.display().to_string(), self.bytes]).map(|_| ())
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

fn known_length(connection: &Connection, path: &Path) -> rusqlite::Result<Option<u64>> {
    let select = "SELECT bytes FROM items_file WHERE path = ?";
    connection.query_row(select, [path.display().to_string()], |row| row.get(0)).optional()
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
