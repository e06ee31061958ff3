//! [`CheckedDatabase`]: the database, with a place to sort what is read from it.

use std::path::PathBuf;

use rusqlite::Connection;

use crate::store::sqlite::runs::{self, Sorter};

/// Memory for one sort.
const MEMORY: usize = 4 << 20;

/// What is compared whole is read from here, and sorted there.
pub(super) struct CheckedDatabase<'c> {
    pub(super) connection: &'c Connection,
    folders: Vec<PathBuf>,
}

impl<'c> CheckedDatabase<'c> {
    pub(super) fn new(connection: &'c Connection) -> Self {
        Self { connection, folders: runs::folders(connection) }
    }

    pub(super) fn sorter(&self) -> Sorter {
        let folders: Vec<_> = self.folders.iter().map(PathBuf::as_path).collect();
        Sorter::new(&folders, MEMORY)
    }
}
