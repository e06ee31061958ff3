//! [`Copies`]: a taker that writes the result of each visit to a file, as an archive would; and what must hold for that file.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io::{Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use rusqlite::{Connection, params};

use super::super::Preparer;
use crate::{
    fetch::{FetchResponse, Keep},
    session::takers::VisitTaker,
    store::{
        KeptPart, StoreError,
        sqlite::{
            Records,
            takers::{Taken, Taker},
        },
    },
    url::WebUrl,
};

/// What the taker has a line of for each visit: its row, its URL's row, the status, and the length of the body.
struct Copies {
    path: PathBuf,
    file: File,
    length: u64,
    /// The last of which it was asked whether it survives a power loss.
    synced: u64,
}

struct Statuses;

impl Preparer for Statuses {
    fn keeps(&self) -> Keep {
        Keep::default()
    }

    fn prepare(&self, _: &WebUrl, answer: &FetchResponse) -> Option<KeptPart> {
        // An archive would keep the body: what it takes on the way counts.
        Some(KeptPart::new((answer.status, answer.body.len()), 64 * answer.body.len()))
    }
}

fn file(dir: &Path) -> PathBuf {
    dir.join("copies")
}

/// A taker that writes to a file in this directory.
pub(super) fn taker(dir: &Path) -> VisitTaker {
    let path = file(dir);
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).unwrap();
    VisitTaker { preparer: Some(Arc::new(Statuses)), taker: Box::new(Copies { path, file, length: 0, synced: 0 }) }
}

impl Copies {
    fn try_to<T>(&self, done: std::io::Result<T>) -> Result<T, StoreError> {
        done.map_err(|source| StoreError::Unwritable { path: self.path.clone(), source })
    }

    fn refused(&self, source: rusqlite::Error) -> StoreError {
        StoreError::Database { path: self.path.clone(), source: source.into() }
    }
}

impl Taker for Copies {
    fn resume(&mut self, connection: &Connection) -> Result<(), StoreError> {
        let length = "CREATE TABLE IF NOT EXISTS copies (length INTEGER NOT NULL) STRICT;
             INSERT INTO copies SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM copies)";
        connection.execute_batch(length).map_err(|error| self.refused(error))?;
        // Statements that are prepared anew for the new table would be counted twice.
        connection.flush_prepared_statement_cache();
        let length = connection.query_row("SELECT length FROM copies", [], |row| row.get(0));
        self.length = length.map_err(|error| self.refused(error))?;
        let written = self.file.metadata().map(|file| file.len());
        assert!(self.try_to(written)? >= self.length, "what was committed is not in the file");
        self.try_to(self.file.set_len(self.length))?;
        self.try_to((&self.file).seek(SeekFrom::End(0)))?;
        self.synced = self.length;
        Ok(())
    }

    fn take(&mut self, visit: &Taken<'_>, connection: &Connection) -> Result<(), StoreError> {
        let (status, body) = visit.kept.and_then(KeptPart::get::<(u16, usize)>).copied().unwrap_or_default();
        let line = format!("{} {} {status} {body}\n", visit.visit, visit.url);
        self.try_to((&self.file).write_all(line.as_bytes()))?;
        self.length += line.len() as u64;
        let update = connection.execute("UPDATE copies SET length = ?", params![self.length]);
        update.map(|_| ()).map_err(|error| self.refused(error))
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        self.synced = self.length;
        Ok(())
    }
}

/// Each visit is in the file once, in order, with what came of it. Rows of old visits that found nothing new may be gone.
pub(super) fn judge(dir: &Path) -> Result<(), String> {
    let Ok(text) = std::fs::read_to_string(file(dir)) else { return Ok(()) };
    let failed = |error: rusqlite::Error| error.to_string();
    let records = Records::open(dir).map_err(|error| error.to_string())?;
    let query =
        "SELECT id, id || ' ' || url || ' ' || coalesce(status, 0) || ' ' || iif(status = 304, 0, bytes) FROM visit";
    let mut select = records.connection().prepare(query).map_err(failed)?;
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(failed)?;
    let mut rows: BTreeMap<u64, String> = rows.collect::<Result<_, _>>().map_err(failed)?;
    let pruned = "SELECT coalesce(pruned_to, 0) FROM crawl";
    let pruned: u64 = records.connection().query_row(pruned, [], |row| row.get(0)).map_err(failed)?;
    let mut last = 0;
    for line in text.lines() {
        let visit: u64 = line.split(' ').next().and_then(|id| id.parse().ok()).ok_or("a line without a visit")?;
        match rows.remove(&visit) {
            _ if visit <= last => return Err(format!("visit {visit} was taken after {last}")),
            None if visit > pruned => return Err(format!("visit {visit} was taken, and is not there")),
            Some(row) if row != line => return Err(format!("the visit {row} was taken as {line}")),
            _ => last = visit,
        }
    }
    if rows.is_empty() { Ok(()) } else { Err(format!("visits were not taken: {rows:?}")) }
}
