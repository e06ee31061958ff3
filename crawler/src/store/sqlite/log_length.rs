//! [`LogLength`]: how long the write-ahead log of a database is.

use std::{
    ffi::c_int,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use rusqlite::{Connection, hooks::Wal};

/// Pages of the log after which it is taken over into the database, however short a time that took: 128 MiB. An index in the order of
/// hashes has nearly all its pages written with each commit.
pub(super) const MOST: u32 = 32_768;

/// How many pages the log has, as the last commit of its connection says.
pub(super) struct LogLength {
    pages: Arc<AtomicU32>,
    most: u32,
    /// Of these, those that were there when it was taken over last: a reader may have kept it from beginning anew.
    taken_over: u32,
}

impl LogLength {
    /// That of the log which this connection writes, and which is to be taken over after so many pages.
    pub(super) fn of(connection: &mut Connection, most: u32) -> rusqlite::Result<Self> {
        let pages = Arc::new(AtomicU32::new(0));
        let noted = Arc::clone(&pages);
        connection.wal_hook(Some(move |_: &mut Wal, pages: c_int| {
            noted.store(u32::try_from(pages).unwrap_or_default(), Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(Self { pages, most, taken_over: 0 })
    }

    /// Whether it is to be taken over.
    pub(super) fn is_long(&mut self) -> bool {
        let pages = self.pages.load(Ordering::Relaxed);
        if pages < self.taken_over {
            self.taken_over = 0;
        }
        pages - self.taken_over >= self.most
    }

    /// It was, as far as its readers allow.
    pub(super) fn is_taken_over(&mut self) {
        self.taken_over = self.pages.load(Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_long_once_until_it_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let mut connection = Connection::open(folder.path().join("db")).unwrap();
        connection
            .execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (a)")
            .unwrap();
        let mut log = LogLength::of(&mut connection, 256).unwrap();
        let grow = |connection: &Connection, bytes: u32| {
            connection.execute("INSERT INTO t VALUES (zeroblob(?))", [bytes]).unwrap();
        };
        let pages = 256 * 4096;
        grow(&connection, pages / 2);
        assert!(!log.is_long());
        grow(&connection, pages / 2);
        assert!(log.is_long());
        // A reader keeps it from beginning anew: it is long again when as much was written.
        let reader = Connection::open(folder.path().join("db")).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM t").unwrap();
        connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
        log.is_taken_over();
        grow(&connection, 4096);
        assert!(!log.is_long());
        grow(&connection, pages);
        assert!(log.is_long());
        reader.execute_batch("COMMIT").unwrap();
        connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
        log.is_taken_over();
        grow(&connection, 4096);
        assert!(!log.is_long(), "it began anew");
    }
}
