//! [`Fault`]: what `SQLite` and temporary files refuse, and what that means to users.

use std::{
    io,
    path::{Path, PathBuf},
};

use thiserror::Error;

use crate::{
    store::{ReadError, StoreError},
    url::UnknownRules,
};

/// Why writing or reading ends.
#[derive(Debug, Error)]
pub(crate) enum Fault {
    /// `SQLite` refuses.
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
    /// A temporary file cannot be written or read.
    #[error(transparent)]
    Temporary(#[from] io::Error),
    /// A taker of visits cannot go on.
    #[error(transparent)]
    Taker(#[from] StoreError),
}

impl Fault {
    /// The writer's fault for the user, with the database's path. It needs a temporary file for the sweep alone.
    pub(super) fn of(self, database: &Path) -> StoreError {
        match self {
            Self::Database(source) => database_error(database)(source),
            Self::Taker(error) => error,
            Self::Temporary(source) if source.kind() == io::ErrorKind::StorageFull => {
                StoreError::Full { path: database.to_owned() }
            }
            Self::Temporary(source) => {
                StoreError::Sweep { path: database.parent().unwrap_or(database).to_owned(), source }
            }
        }
    }
}

impl From<rusqlite::types::FromSqlError> for Fault {
    fn from(error: rusqlite::types::FromSqlError) -> Self {
        Self::Database(error.into())
    }
}

/// A reader's fault for the user.
impl From<Fault> for ReadError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Database(error) => error.into(),
            Fault::Temporary(error) => Self::Temporary(error.into()),
            Fault::Taker(error) => Self::Database(error.into()),
        }
    }
}

impl From<rusqlite::Error> for ReadError {
    fn from(error: rusqlite::Error) -> Self {
        if is_damage(&error) {
            return Self::Damaged(error.into());
        }
        let extended = error.sqlite_error().map(|error| error.extended_code);
        let temporary = extended == Some(rusqlite::ffi::SQLITE_IOERR_GETTEMPPATH);
        if temporary { Self::Temporary(error.into()) } else { Self::Database(error.into()) }
    }
}

/// An error of `SQLite` on the database at `path`.
pub(super) fn database_error(path: impl Into<PathBuf>) -> impl FnOnce(rusqlite::Error) -> StoreError {
    let path = path.into();
    |source| match source.sqlite_error_code() {
        None if let rusqlite::Error::FromSqlConversionFailure(_, _, reason) = &source
            && let Some(rules) = reason.downcast_ref::<UnknownRules>() =>
        {
            StoreError::KeyRules { path, source: rules.clone() }
        }
        Some(rusqlite::ErrorCode::OperationInterrupted) => StoreError::Interrupted,
        Some(rusqlite::ErrorCode::DiskFull) => StoreError::Full { path },
        Some(rusqlite::ErrorCode::NotADatabase) => {
            StoreError::Foreign { path: path.parent().map_or_else(|| path.clone(), PathBuf::from) }
        }
        _ if is_damage(&source) => StoreError::Damaged {
            directory: path.parent().map_or_else(|| path.clone(), PathBuf::from),
            source: source.into(),
        },
        _ => StoreError::Database { path, source: source.into() },
    }
}

/// Whether a value is none that its column may have.
pub(super) fn is_of_wrong_type(error: &rusqlite::Error) -> bool {
    use rusqlite::Error;
    matches!(
        error,
        Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
            | Error::Utf8Error(..)
    )
}

/// Whether the database holds what nobody has written.
fn is_damage(error: &rusqlite::Error) -> bool {
    is_of_wrong_type(error) || error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt)
}
