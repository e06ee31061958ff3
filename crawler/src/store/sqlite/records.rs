//! [`Records`]: what commands read of a crawl directory.

use std::{path::Path, time::Duration};

use data_encoding::HEXLOWER;
use rusqlite::Connection;
use sha2::{Digest as _, Sha256};

use super::{
    archive, changes, check, compared, directory::DATABASE, error::database_error, links, lost, moment::of_one_moment,
    pages, prune, reading::OpenDatabase, resume, retry, revisits, schema, search, sitemaps, summary, why,
};
use crate::{
    changes::Ignore,
    revisit::GivenIntervals,
    search::Query,
    store::{
        AreaRow, ChangeLine, CheckReport, ComparedPage, ContentTypes, Counters, LinkLine, LinkQuery, LinksRead,
        MaskLine, MaskedLine, PageFilter, PageLine, PendingChange, ReadError, ReadSide, RetryCounts, RetryFilter,
        SearchResults, SequenceLosses, Since, SitemapLine, StoreError, StoredSummary, UrlFacts,
    },
    time::Moment,
    url::{Canonicalizer, WebUrl},
};

/// The records of a crawl, open for reading, also while the crawl runs, and where nothing can be written.
#[derive(Debug)]
pub struct Records(OpenDatabase);

impl Records {
    /// Opens those of a crawl directory.
    ///
    /// # Errors
    /// [`StoreError`] when there is no crawl, it is not ours, or this user may not read it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let reading = OpenDatabase::open(path)?;
        let (database, connection) = (path.join(DATABASE), &reading.connection);
        let failed = || database_error(&database);
        let is_ours = || {
            schema::prepare(connection).map_err(failed())?;
            if schema::version(connection, &database)?.is_none() {
                return Err(StoreError::Missing { path: path.to_owned() });
            }
            // Where its keys are made by rules that are not known here, right fingerprints would look wrong.
            resume::key_rules(connection).map(drop).map_err(failed())
        };
        of_one_moment(connection, || Ok(is_ours())).map_err(failed())??;
        Ok(Self(reading))
    }

    /// The archived copy of a URL; `None` if there is none. `dir` is the crawl directory.
    ///
    /// # Errors
    /// [`StoreError`] when the database or the archive cannot be read.
    pub fn archived(
        &self,
        dir: &Path,
        url: &WebUrl,
        moment: archive::ArchiveMoment,
    ) -> Result<Option<archive::ArchivedCopy>, StoreError> {
        archive::copy(&self.0.connection, dir, (url, moment))
    }

    /// The archived copy of a page that is there now, and is whole, for whoever asks for many.
    ///
    /// # Errors
    /// As [`Records::archived`].
    pub fn archived_now(&self, dir: &Path, url: &WebUrl) -> Result<Option<archive::ArchivedCopy>, StoreError> {
        archive::current_copy_of(&self.0.connection, dir, url)
    }

    /// Shows each page as it is now to `each`, with what reads its archived body, until that answers `false`. `dir` is the crawl directory.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read, and what `each` finds.
    pub fn current_pages<E: From<StoreError>>(
        &self,
        dir: &Path,
        since: archive::ChangedSince,
        each: impl FnMut(&archive::CurrentPage, &archive::ArchivedBodies<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        archive::current_pages((&self.0.connection, dir), since, each)
    }

    /// Shows each URL of the crawl, in the order of their admission.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read.
    pub fn urls(&self, each: impl FnMut(&str)) -> Result<(), ReadError> {
        self.list(|connection| archive::urls(connection, each))
    }

    /// Shows where each URL that is a redirect leads.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read.
    pub fn redirects(&self, each: impl FnMut(&str, &str)) -> Result<(), ReadError> {
        self.list(|connection| archive::redirects(connection, each))
    }

    /// Shows each URL whose page was reported as gone or moved since, and is not there now.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read.
    pub fn deleted(&self, since: archive::ChangedSince, each: impl FnMut(&str)) -> Result<(), ReadError> {
        self.list(|connection| archive::deleted(connection, since, each))
    }

    /// Writes the index of the archive, if there is one.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be read or written.
    pub fn write_archive_index(&self, dir: &Path) -> Result<(), StoreError> {
        archive::write_index(&self.0.connection, dir)
    }

    /// What tells the crawl from others: a hash of its secret seed.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read.
    pub fn crawl_name(&self) -> Result<String, ReadError> {
        self.ask(|connection| {
            let seed: i64 = connection.query_row("SELECT fingerprint_seed FROM crawl", [], |row| row.get(0))?;
            let hash = Sha256::digest([&b"export"[..], &seed.to_le_bytes()].concat());
            Ok::<_, rusqlite::Error>(HEXLOWER.encode(&hash[..8]))
        })
    }

    /// The names of the files of the archive.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read.
    pub fn archive_files(&self) -> Result<Vec<String>, ReadError> {
        self.ask(archive::file_names)
    }

    /// The rules that make its keys.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read.
    pub fn key_rules(&self) -> Result<Canonicalizer, ReadError> {
        self.ask(|connection| Ok::<_, rusqlite::Error>(resume::key_rules(connection)?.unwrap_or_default()))
    }

    /// Copies the archived answers that are wanted into files in the folder `out`, and shows the lines of an index of them.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read or written, and what `each_line` finds.
    pub fn copy_archive<E: From<StoreError>>(
        &self,
        [dir, out]: [&Path; 2],
        is_wanted: impl FnMut(&archive::ArchivedVisit<'_>) -> bool,
        each_line: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<archive::ArchiveCopies, E> {
        let connection = &self.0.connection;
        let copies = archive::copy_into((connection, dir), out, is_wanted)?;
        archive::write_of_copies(connection, each_line)?;
        Ok(copies)
    }

    /// Asks the database something, of one moment.
    fn ask<T, E>(&self, question: impl FnOnce(&Connection) -> Result<T, E>) -> Result<T, ReadError>
    where
        E: From<rusqlite::Error>,
        ReadError: From<E>,
    {
        self.list(|connection| of_one_moment(connection, || question(connection)))
    }

    /// Shows lines, each as it is when it is read. What a crawl wrote to meanwhile, if nothing keeps it from that, is no answer.
    fn list<T, E>(&self, show: impl FnOnce(&Connection) -> Result<T, E>) -> Result<T, ReadError>
    where
        ReadError: From<E>,
    {
        let answer = show(&self.0.connection);
        if self.0.has_changed() { Err(ReadError::Changed) } else { Ok(answer?) }
    }

    /// The database itself, for questions that only tests ask.
    #[cfg(test)]
    pub(crate) fn connection(&self) -> &Connection {
        &self.0.connection
    }
}

impl ReadSide for Records {
    fn summary(&self) -> Result<Option<StoredSummary>, ReadError> {
        self.ask(summary::stored_summary)
    }

    fn counters(&self, from: u32) -> Result<Vec<(u32, Counters)>, ReadError> {
        self.ask(|connection| summary::counters(connection, from))
    }

    fn losses(&self, most: u32) -> Result<Vec<SequenceLosses>, ReadError> {
        self.ask(|connection| lost::of_sequences(connection, most))
    }

    fn last_sequence(&self) -> Result<Option<u32>, ReadError> {
        self.ask(summary::last_sequence)
    }

    fn is_pruned(&self, sequence: u32) -> Result<bool, ReadError> {
        self.ask(|connection| prune::is_pruned(connection, sequence))
    }

    fn pages(&self, filter: &PageFilter, each: impl FnMut(PageLine) -> bool) -> Result<(), ReadError> {
        self.list(|connection| pages::pages(connection, filter, each))
    }

    fn content_types(&self, prefix: &str, most: usize) -> Result<ContentTypes, ReadError> {
        self.ask(|connection| pages::content_types(connection, prefix, most))
    }

    fn compared(&self, each: impl FnMut(ComparedPage)) -> Result<(), ReadError> {
        self.list(|connection| compared::pages(connection, each))
    }

    fn search(&self, query: &Query, limit: usize, at: Option<Moment>) -> Result<Option<SearchResults>, ReadError> {
        self.ask(|connection| search::search(connection, query, (limit, at)))
    }

    fn changes(&self, since: Since, with_texts: bool, each: impl FnMut(ChangeLine) -> bool) -> Result<(), ReadError> {
        self.list(|connection| changes::changes(connection, since, with_texts, each))
    }

    fn pending_changes(
        &self,
        confirm: Duration,
        gone_after: Duration,
        each: impl FnMut(PendingChange) -> bool,
    ) -> Result<(), ReadError> {
        self.list(|connection| changes::pending(connection, [confirm, gone_after], each))
    }

    fn links(&self, query: &LinkQuery, each: impl FnMut(LinkLine) -> bool) -> Result<LinksRead, ReadError> {
        self.list(|connection| links::links(connection, query, each))
    }

    fn longest_unvisited(&self, given: &GivenIntervals) -> Result<Vec<Option<Moment>>, ReadError> {
        self.ask(|connection| revisits::longest_unvisited(connection, given))
    }

    fn retries(&self, filter: &RetryFilter) -> Result<RetryCounts, ReadError> {
        self.ask(|connection| retry::count(connection, filter))
    }

    fn sitemaps(&self, each: impl FnMut(SitemapLine) -> bool) -> Result<bool, ReadError> {
        self.list(|connection| sitemaps::lines(connection, each))
    }

    fn facts(&self, url: &WebUrl, most: usize) -> Result<Option<UrlFacts>, ReadError> {
        self.ask(|connection| why::facts(connection, url, most))
    }

    fn areas(&self) -> Result<Vec<AreaRow>, ReadError> {
        self.ask(resume::areas)
    }

    fn settings(&self) -> Result<Option<String>, ReadError> {
        self.ask(resume::settings)
    }

    fn masks(&self, each: impl FnMut(MaskLine) -> bool) -> Result<(), ReadError> {
        self.list(|connection| changes::masks(connection, each))
    }

    fn masked(&self, ignore: &Ignore, each: impl FnMut(MaskedLine) -> bool) -> Result<(), ReadError> {
        self.list(|connection| changes::masked(connection, ignore, each))
    }

    fn backup(&self, file: &Path) -> Result<(), ReadError> {
        // A statement is of one moment, and this one takes no transaction of others.
        self.list(|connection| {
            let name = file.to_str().ok_or_else(|| rusqlite::Error::InvalidPath(file.to_owned()))?;
            connection.execute("VACUUM INTO ?", [name]).map(drop)
        })
    }

    fn check(&self) -> Result<CheckReport, ReadError> {
        self.ask(check::check)
    }
}
