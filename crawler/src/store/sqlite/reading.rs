//! [`OpenDatabase`]: a connection that reads a crawl directory, even one to which this process may not write.
//!
//! Owns: how the database is opened, and how to tell that a crawl has begun to write to a database opened without locks.
//!
//! Invariants: where the directory cannot be written, nothing in it is made or changed; what the log holds is read too; no lock of
//! another connection of this process is lost.
//!
//! Does not know: what is read.

use std::{
    fs, io,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
};

use percent_encoding::{AsciiSet, CONTROLS, percent_encode};
use rusqlite::{Connection, OpenFlags, config::DbConfig};
use rustix::fs::{Access, access};

use super::{
    directory::{DATABASE, no_uri},
    error::database_error,
};
use crate::store::StoreError;

/// What has a meaning of its own in the path of a URI, and all that is not ASCII.
const NOT_IN_PATHS: &AsciiSet = &CONTROLS.add(b'%').add(b'?').add(b'#');

/// How the database is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// As `SQLite` does it: readers and the writer know of each other by the shared memory.
    Shared,
    /// The log has content, and there can be no shared memory: `SQLite` keeps the index of the log to itself.
    OwnIndex,
    /// There is no log, and none can be made.
    Immutable,
}

/// An open database.
#[derive(Debug)]
pub(super) struct OpenDatabase {
    pub(super) connection: Connection,
    /// What its files were, where no lock keeps a writer away.
    unlocked: Option<State>,
}

/// A state of database and log: sizes and times of the last change. Each write changes it.
#[derive(Debug, PartialEq, Eq)]
struct State {
    database: PathBuf,
    files: [(u64, i64, i64); 2],
}

impl OpenDatabase {
    /// Opens the database of a crawl directory.
    ///
    /// # Errors
    /// [`StoreError`] when there is none, or it may not be read.
    pub(super) fn open(directory: &Path) -> Result<Self, StoreError> {
        let database = directory.join(DATABASE);
        let unreadable = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                StoreError::Missing { path: directory.to_owned() }
            }
            _ => StoreError::Unreadable { path: directory.to_owned(), source },
        };
        let way = readable(&database).and_then(|()| Way::of(directory, &database)).map_err(unreadable)?;
        Self::by(way, &database).map_err(database_error(&database))
    }

    fn by(way: Way, database: &Path) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let unlocked = (way != Way::Shared).then(|| State::of(database));
        let connection = match way {
            Way::Shared => Connection::open_with_flags(no_uri(database), flags)?,
            Way::OwnIndex => {
                // Files without locks: this connection takes itself for the only one.
                let connection = Connection::open_with_flags_and_vfs(no_uri(database), flags, c"unix-none")?;
                connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
                connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
                connection
            }
            Way::Immutable => {
                let path = percent_encode(database.as_os_str().as_bytes(), NOT_IN_PATHS);
                let root = if database.is_absolute() { "//" } else { "" };
                let uri = format!("file:{root}{path}?immutable=1");
                Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)?
            }
        };
        Ok(Self { connection, unlocked })
    }

    /// Whether a crawl has written to files that are read without locks: what was read of them may not fit together.
    pub(super) fn has_changed(&self) -> bool {
        self.unlocked.as_ref().is_some_and(|state| *state != State::of(&state.database))
    }
}

impl Way {
    fn of(directory: &Path, database: &Path) -> io::Result<Self> {
        let log = beside(database, "-wal");
        let is_readable = |path: &Path| readable(path).is_ok();
        let is_writable = |path: &Path| access(path, Access::WRITE_OK).is_ok();
        let is_shared = is_readable(&log) && is_readable(&beside(database, "-shm"));
        if is_shared || is_writable(directory) && is_writable(database) {
            return Ok(Self::Shared);
        }
        match fs::metadata(&log) {
            Ok(found) if found.len() > 0 => readable(&log).map(|()| Self::OwnIndex),
            _ => Ok(Self::Immutable),
        }
    }
}

impl State {
    fn of(database: &Path) -> Self {
        let files = [database, &beside(database, "-wal")].map(|path| {
            // A log that is empty says as little as none.
            let found = fs::metadata(path).ok().filter(|file| file.len() > 0);
            found.map_or((0, 0, 0), |file| (file.len(), file.mtime(), file.mtime_nsec()))
        });
        Self { database: database.to_owned(), files }
    }
}

/// Whether a file may be read. It is not opened: whoever closes it would take away all locks that connections of this process have on it,
/// and the next process would take itself for the only one.
fn readable(path: &Path) -> io::Result<()> {
    Ok(access(path, Access::READ_OK)?)
}

/// A file that `SQLite` keeps beside the database.
fn beside(database: &Path, end: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(end);
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sqlite::CrawlDirectory;

    fn count(reading: &OpenDatabase) -> rusqlite::Result<u32> {
        reading.connection.query_row("SELECT count(*) FROM area", [], |row| row.get(0))
    }

    #[test]
    fn what_a_writer_does_meanwhile_is_noticed() {
        for name in ["crawl", "a b?c#d%41"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(name);
            let directory = CrawlDirectory::open(&path).unwrap();
            let database = path.join(DATABASE);
            let add = |connection: &Connection| {
                connection.execute("INSERT INTO area (url, source) VALUES (hex(randomblob(9)), 'start')", []).unwrap()
            };
            add(&directory.connection);
            let log = OpenDatabase::by(Way::OwnIndex, &database).unwrap();
            assert_eq!((count(&log), log.has_changed()), (Ok(1), false), "what is in the log is read");
            add(&directory.connection);
            assert!(log.has_changed());
            drop(directory);
            let whole = OpenDatabase::by(Way::Immutable, &database).unwrap();
            assert_eq!((count(&whole), whole.has_changed()), (Ok(2), false));
            assert!(!beside(&database, "-wal").exists() && !beside(&database, "-shm").exists());
            add(&CrawlDirectory::open(&path).unwrap().connection);
            assert!(whole.has_changed());
        }
    }
}
