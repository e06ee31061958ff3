//! [`StoreError`]: what can go wrong with a crawl directory.

use std::{
    io,
    path::{Path, PathBuf},
};

use thiserror::Error;

use crate::url::UnknownRules;

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
    /// Its crawl was never begun.
    #[error("no crawl has begun in {}: give `webloom crawl` a start URL and this directory", path.display())]
    Empty {
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
    /// Its keys are made by rules that this version does not know.
    #[error("{}: {source}", path.display())]
    KeyRules {
        /// The database.
        path: PathBuf,
        /// Which rules.
        source: UnknownRules,
    },
    /// The disk is full.
    #[error("the disk that holds {} is full; all committed pages are kept: make room and start again", path.display())]
    Full {
        /// The database.
        path: PathBuf,
    },
    /// The sweep has no place for its temporary file.
    #[error("the sweep for lost URLs cannot use a temporary file in {}: {source}; everything fetched is kept: start again when this is mended, or with --sweep off", path.display())]
    Sweep {
        /// The crawl directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
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

/// Why a reader ends.
#[derive(Debug, Error)]
pub enum ReadError {
    /// `SQLite` refuses.
    #[error("cannot read the crawl directory: {0}")]
    Database(rusqlite::Error),
    /// What does not fit into memory has no other place.
    #[error("no temporary file can be used: {0}; set TMPDIR to a folder with room that can be written")]
    Temporary(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl From<rusqlite::Error> for ReadError {
    fn from(error: rusqlite::Error) -> Self {
        let extended = error.sqlite_error().map(|error| error.extended_code);
        let temporary = extended == Some(rusqlite::ffi::SQLITE_IOERR_GETTEMPPATH);
        if temporary { Self::Temporary(error.into()) } else { Self::Database(error) }
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Temporary(error.into())
    }
}

/// Why the writer ends.
#[derive(Debug, Error)]
pub(crate) enum WriteError {
    /// `SQLite` refuses.
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
    /// The sweep's temporary file cannot be written or read.
    #[error(transparent)]
    Sweep(#[from] io::Error),
}

impl WriteError {
    /// The same for the user, with the database's path.
    pub(super) fn of(self, database: &Path) -> StoreError {
        match self {
            Self::Database(source) => StoreError::database(database)(source),
            Self::Sweep(source) if source.kind() == io::ErrorKind::StorageFull => {
                StoreError::Full { path: database.to_owned() }
            }
            Self::Sweep(source) => StoreError::Sweep { path: database.parent().unwrap_or(database).to_owned(), source },
        }
    }
}

impl StoreError {
    /// An error of `SQLite` on the database at `path`.
    pub(super) fn database(path: impl Into<PathBuf>) -> impl FnOnce(rusqlite::Error) -> Self {
        let path = path.into();
        |source| match source.sqlite_error_code() {
            None if let rusqlite::Error::FromSqlConversionFailure(_, _, reason) = &source
                && let Some(rules) = reason.downcast_ref::<UnknownRules>() =>
            {
                Self::KeyRules { path, source: rules.clone() }
            }
            Some(rusqlite::ErrorCode::DiskFull) => Self::Full { path },
            Some(rusqlite::ErrorCode::NotADatabase) => {
                Self::Foreign { path: path.parent().map_or_else(|| path.clone(), PathBuf::from) }
            }
            _ => Self::Database { path, source },
        }
    }
}
