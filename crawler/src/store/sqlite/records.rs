//! [`Records`]: what commands read of a crawl directory.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags};

use super::{
    changes, check, directory::DATABASE, error::database_error, links, lost, pages, prune, resume, schema, summary,
};
use crate::{
    changes::KeptTexts,
    store::{
        ChangeLine, CheckReport, ContentTypes, LinkLine, LinkQuery, LinksRead, PageFilter, PageLine, PendingChange,
        ReadError, ReadSide, SequenceLosses, Since, StoreError, StoredSummary,
    },
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
        let failed = || database_error(&database);
        let connection = Connection::open_with_flags(&database, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed())?;
        schema::prepare(&connection).map_err(failed())?;
        let found = schema::version(&connection, &database)?;
        let found = found.ok_or_else(|| StoreError::Missing { path: path.to_owned() })?;
        schema::stand_in(&connection, found).map_err(failed())?;
        // Where its keys are made by rules that are not known here, right fingerprints would look wrong.
        resume::key_rules(&connection).map_err(failed())?;
        Ok(Self { connection })
    }

    /// The database itself, for questions that only tests ask.
    #[cfg(test)]
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }
}

impl ReadSide for Records {
    fn summary(&self) -> Result<Option<StoredSummary>, ReadError> {
        Ok(summary::stored_summary(&self.connection)?)
    }

    fn losses(&self, most: u32) -> Result<Vec<SequenceLosses>, ReadError> {
        Ok(lost::of_sequences(&self.connection, most)?)
    }

    fn last_sequence(&self) -> Result<Option<u32>, ReadError> {
        Ok(summary::last_sequence(&self.connection)?)
    }

    fn is_pruned(&self, sequence: u32) -> Result<bool, ReadError> {
        Ok(prune::is_pruned(&self.connection, sequence)?)
    }

    fn pages(&self, filter: &PageFilter, each: impl FnMut(PageLine) -> bool) -> Result<(), ReadError> {
        Ok(pages::pages(&self.connection, filter, each)?)
    }

    fn content_types(&self, prefix: &str, most: usize) -> Result<ContentTypes, ReadError> {
        Ok(pages::content_types(&self.connection, prefix, most)?)
    }

    fn changes(&self, since: Since, with_texts: bool, each: impl FnMut(ChangeLine) -> bool) -> Result<(), ReadError> {
        Ok(changes::changes(&self.connection, since, with_texts, each)?)
    }

    fn pending_changes(
        &self,
        confirm: Duration,
        gone_after: Duration,
        each: impl FnMut(PendingChange) -> bool,
    ) -> Result<(), ReadError> {
        Ok(changes::pending(&self.connection, [confirm, gone_after], each)?)
    }

    fn links(&self, query: &LinkQuery, each: impl FnMut(LinkLine) -> bool) -> Result<LinksRead, ReadError> {
        Ok(links::links(&self.connection, query, each)?)
    }

    fn settings(&self) -> Result<Option<String>, ReadError> {
        Ok(resume::settings(&self.connection)?)
    }

    fn kept_texts(&self, each: impl FnMut(KeptTexts)) -> Result<(), ReadError> {
        Ok(changes::kept_texts(&self.connection, each)?)
    }

    fn check(&self) -> Result<CheckReport, ReadError> {
        Ok(check::check(&self.connection)?)
    }
}
