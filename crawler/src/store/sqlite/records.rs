//! [`Records`]: what commands read of a crawl directory.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::{
    CheckReport, ContentTypes, PageFilter, PageLine, ReadError, StoreError, StoredSummary, check, directory::DATABASE,
    pages, resume, schema, summary,
};

/// The records of a crawl, open for reading, also while the crawl runs.
#[derive(Debug)]
pub struct Records {
    connection: Connection,
}

impl Records {
    /// Opens those of a crawl directory.
    ///
    /// # Errors
    /// [`StoreError`] when there is no crawl, or it is not ours.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let database = path.join(DATABASE);
        if !database.exists() {
            return Err(StoreError::Missing { path: path.to_owned() });
        }
        let failed = || StoreError::database(&database);
        let connection = Connection::open_with_flags(&database, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed())?;
        schema::prepare(&connection).map_err(failed())?;
        let found = schema::version(&connection, &database)?;
        let found = found.ok_or_else(|| StoreError::Missing { path: path.to_owned() })?;
        schema::stand_in(&connection, found).map_err(failed())?;
        // Where its keys are made by rules that are not known here, right fingerprints would look wrong.
        resume::key_rules(&connection).map_err(failed())?;
        Ok(Self { connection })
    }

    /// The summary of the last sequence; `None` before the first.
    ///
    /// # Errors
    /// [`ReadError`] when the database cannot be read.
    pub fn summary(&self) -> Result<Option<StoredSummary>, ReadError> {
        Ok(summary::stored_summary(&self.connection)?)
    }

    /// The number of the last sequence; `None` before the first.
    ///
    /// # Errors
    /// [`ReadError`] when the database cannot be read.
    pub fn last_sequence(&self) -> Result<Option<u32>, ReadError> {
        Ok(summary::last_sequence(&self.connection)?)
    }

    /// Shows every line that passes, in the order of admission, to `each` until it answers `false`.
    ///
    /// # Errors
    /// [`ReadError`] when the database cannot be read.
    pub fn pages(&self, filter: &PageFilter, each: impl FnMut(PageLine) -> bool) -> Result<(), ReadError> {
        Ok(pages::pages(&self.connection, filter, each)?)
    }

    /// Whether any page has a content type that begins with `prefix`; if none has, the most frequent types, so many at most.
    ///
    /// # Errors
    /// [`ReadError`] when the database cannot be read.
    pub fn content_types(&self, prefix: &str, most: usize) -> Result<ContentTypes, ReadError> {
        Ok(pages::content_types(&self.connection, prefix, most)?)
    }

    /// Checks every invariant from rows alone.
    ///
    /// # Errors
    /// [`ReadError`] when the database cannot be read at all, or no temporary file can be used.
    pub fn check(&self) -> Result<CheckReport, ReadError> {
        check::check(&self.connection)
    }

    /// The database itself, for questions that only tests ask.
    #[cfg(test)]
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }
}
