//! [`ReadSide`]: what commands read of a crawl.

use std::{path::Path, time::Duration};

use super::{
    AreaRow, ChangeLine, ComparedPage, ContentTypes, Counters, LinkLine, LinkQuery, LinksRead, MaskLine, MaskedLine,
    PageFilter, PageLine, PendingChange, ReadError, RetryCounts, RetryFilter, SearchResults, SequenceLosses, Since,
    SitemapLine, StoredSummary, UrlFacts,
};
use crate::{changes::Ignore, queue::Counts, revisit::GivenIntervals, search::Query, time::Moment, url::WebUrl};

/// The records of a crawl, open for reading, also while the crawl runs.
pub trait ReadSide {
    /// The summary of the last sequence; `None` before the first.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read.
    fn summary(&self) -> Result<Option<StoredSummary>, ReadError>;

    /// What sequences from this one on have counted, with their numbers.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read.
    fn counters(&self, from: u32) -> Result<Vec<(u32, Counters)>, ReadError>;

    /// What the last sequences lost, so many at most, the last one first.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read.
    fn losses(&self, most: u32) -> Result<Vec<SequenceLosses>, ReadError>;

    /// The number of the last sequence; `None` before the first.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read.
    fn last_sequence(&self) -> Result<Option<u32>, ReadError>;

    /// Whether of a sequence only the visits are kept that found something new.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read.
    fn is_pruned(&self, sequence: u32) -> Result<bool, ReadError>;

    /// Shows every line that passes, in the order of admission, to `each` until it answers `false`.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read.
    fn pages(&self, filter: &PageFilter, each: impl FnMut(PageLine) -> bool) -> Result<(), ReadError>;

    /// Whether any page has a content type that begins with `prefix`; if none has, the most frequent types, so many at most.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read.
    fn content_types(&self, prefix: &str, most: usize) -> Result<ContentTypes, ReadError>;

    /// Shows each page and each redirect to `each`.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read.
    fn compared(&self, each: impl FnMut(ComparedPage)) -> Result<(), ReadError>;

    /// The best pages for a query, so many at most, as they are or as they were at a time; `None` where pages are not indexed.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read.
    fn search(&self, query: &Query, limit: usize, at: Option<Moment>) -> Result<Option<SearchResults>, ReadError>;

    /// Shows every reported change that is asked for, the most important ones of each sequence first, to `each` until it answers
    /// `false`; with its texts, if these are asked for.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read.
    fn changes(&self, since: Since, with_texts: bool, each: impl FnMut(ChangeLine) -> bool) -> Result<(), ReadError>;

    /// Shows the changes that wait for a second look, as long after the first as these rules have it, to `each` until it answers
    /// `false`; those first whose look is due first.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read.
    fn pending_changes(
        &self,
        confirm: Duration,
        gone_after: Duration,
        each: impl FnMut(PendingChange) -> bool,
    ) -> Result<(), ReadError>;

    /// Shows every link that is asked for, as the latest copies of the pages have it, to `each` until it answers `false`: by its
    /// target, or by its page where those of a page or those that left the scope are asked for.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read, or no temporary file can be used.
    fn links(&self, query: &LinkQuery, each: impl FnMut(LinkLine) -> bool) -> Result<LinksRead, ReadError>;

    /// When the page with each of these intervals of its own was visited that was not for the longest time; `None` where there is none.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read.
    fn longest_unvisited(&self, given: &GivenIntervals) -> Result<Vec<Option<Moment>>, ReadError>;

    /// How many URLs of the last sequence would be asked for again.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read.
    fn retries(&self, filter: &RetryFilter) -> Result<RetryCounts, ReadError>;

    /// Shows what sitemaps list, and then the pages that pages lead to and no sitemap lists, to `each` until it answers `false`; whether
    /// a sitemap was read.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read, or no temporary file can be used.
    fn sitemaps(&self, each: impl FnMut(SitemapLine) -> bool) -> Result<bool, ReadError>;

    /// What the crawl knows of a URL, with so many at most of what leads to it; `None` before the first sequence.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read, or no temporary file can be used.
    fn facts(&self, url: &WebUrl, most: usize) -> Result<Option<UrlFacts>, ReadError>;

    /// What is in the scope by itself: the starts, and what they redirect to.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read.
    fn areas(&self) -> Result<Vec<AreaRow>, ReadError>;

    /// The settings of the crawl as JSON; `None` before it has begun.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read.
    fn settings(&self) -> Result<Option<String>, ReadError>;

    /// Shows what moves by itself to `each` until it answers `false`: on the pages of a section, then on single pages.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read.
    fn masks(&self, each: impl FnMut(MaskLine) -> bool) -> Result<(), ReadError>;

    /// Shows what is hidden between the kept texts of pages, of what is not ignored, to `each` until it answers `false`.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read.
    fn masked(&self, ignore: &Ignore, each: impl FnMut(MaskedLine) -> bool) -> Result<(), ReadError>;

    /// Writes the database as it is at one moment into an empty file.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read, or the file not be written.
    fn backup(&self, file: &Path) -> Result<(), ReadError>;

    /// Checks every invariant from rows alone.
    ///
    /// # Errors
    /// [`ReadError`] when the records cannot be read at all, or no temporary file can be used.
    fn check(&self) -> Result<CheckReport, ReadError>;
}

/// An invariant that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What should hold.
    pub invariant: &'static str,
    /// How many rows break it.
    pub count: u64,
    /// One of them.
    pub example: String,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// The counts of the last sequence, from rows.
    pub counts: Counts,
    /// Visits looked at.
    pub visits: u64,
    /// Kept links looked at.
    pub links: u64,
    /// Kept links to what their sequence did not admit: URLs lost to the URL cache (a fault where the cache is exact).
    pub links_without_row: u64,
    /// URLs recorded as lost.
    pub lost: u64,
    /// Those of them that were admitted after all.
    pub lost_admitted: u64,
    /// Every invariant that does not hold.
    pub findings: Vec<Finding>,
}
