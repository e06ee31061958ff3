//! [`StoreError`]: what can go wrong with a crawl directory.

use std::{io, path::PathBuf};

use thiserror::Error;

/// Why a crawl directory cannot be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The directory cannot be made or written.
    #[error("cannot write to the crawl directory {}: {source}; give another with --dir", path.display())]
    Unwritable {
        /// The directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Something else lives there.
    #[error("{} is not a crawl directory and not empty; give an empty or new one with --dir", path.display())]
    Foreign {
        /// The directory.
        path: PathBuf,
    },
    /// There is no crawl.
    #[error("no crawl in {}: there is no webloom.sqlite", path.display())]
    Missing {
        /// The directory.
        path: PathBuf,
    },
    /// Another process has it.
    #[error("{} is in use by another webloom process; wait for it or stop it", path.display())]
    Locked {
        /// The directory.
        path: PathBuf,
    },
    /// Written by a newer program.
    #[error("{} was written by a newer webloom (schema {found}, this one knows {known}); use that version", path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its schema.
        found: u32,
        /// The newest schema known.
        known: u32,
    },
    /// The disk is full.
    #[error("the disk that holds {} is full; all committed pages are kept: make room and start again", path.display())]
    Full {
        /// The database.
        path: PathBuf,
    },
    /// `SQLite` refuses.
    #[error("database {}: {source}", path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// `SQLite`'s reason.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// An error of `SQLite` on the database at `path`.
    pub(super) fn database(path: impl Into<PathBuf>) -> impl FnOnce(rusqlite::Error) -> Self {
        let path = path.into();
        |source| match source.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Self::Full { path },
            Some(rusqlite::ErrorCode::NotADatabase) => {
                Self::Foreign { path: path.parent().map_or_else(|| path.clone(), PathBuf::from) }
            }
            _ => Self::Database { path, source },
        }
    }
}
