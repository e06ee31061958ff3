//! [`Pages`], [`Links`] and [`Changes`]: what a crawl directory holds, also while its crawl runs.

use std::path::{Path, PathBuf};

use super::CrawlError;
use crate::{
    session::{CommandFailure, directory},
    store::{
        ChangeLine, LinkLine, LinkQuery, PageChange, PageFilter, PageLine, PageOutcome, ReadError, ReadSide, Since,
        StoreError,
    },
    url::WebUrl,
};

/// The URLs of a crawl with what came of them, in the order in which they were found: what `webloom pages` lists.
///
/// ```no_run
/// # fn example() -> Result<(), webloom::CrawlError> {
/// use webloom::{PageOutcome, Pages};
///
/// for page in Pages::of("docs").outcome(PageOutcome::Broken).all()? {
///     println!("{:?} {:?}", page.status, page.url);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is read before it is asked for"]
pub struct Pages {
    dir: PathBuf,
    filter: PageFilter,
}

impl Pages {
    /// Those of this crawl directory.
    pub fn of(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), filter: PageFilter::default() }
    }

    /// Only those of which this came.
    pub fn outcome(mut self, outcome: PageOutcome) -> Self {
        self.filter.outcome = Some(outcome);
        self
    }

    /// Only stored pages that are so beside the visit before.
    pub fn change(mut self, change: PageChange) -> Self {
        self.filter.change = Some(change);
        self
    }

    /// Those of one crawl sequence, as it left them. (Otherwise all, as they are.)
    pub fn sequence(mut self, sequence: u32) -> Self {
        self.filter.sequence = Some(sequence);
        self
    }

    /// Gives each to a function until that returns false.
    ///
    /// # Errors
    /// [`CrawlError`] when the directory holds no crawl, or it cannot be read.
    pub fn each(&self, each: impl FnMut(PageLine) -> bool) -> Result<(), CrawlError> {
        read(records(&self.dir)?.pages(&self.filter, each))
    }

    /// All of them. There may be very many.
    ///
    /// # Errors
    /// As [`each`](Self::each).
    pub fn all(&self) -> Result<Vec<PageLine>, CrawlError> {
        collected(|each| self.each(each))
    }
}

/// Links between the pages of a crawl, and out of it: what `webloom links` lists.
#[derive(Debug, Clone)]
#[must_use = "nothing is read before it is asked for"]
pub struct Links {
    dir: PathBuf,
    query: LinkQuery,
}

impl Links {
    /// Links to URLs that answer with an error, or not at all; those to redirects that end there as well.
    pub fn broken(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), query: LinkQuery::Broken }
    }

    /// Links to URLs that redirect.
    pub fn redirects(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), query: LinkQuery::Redirects }
    }

    /// Links that leave the scope.
    pub fn external(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), query: LinkQuery::External }
    }

    /// Links from all pages to this URL.
    pub fn to(dir: impl Into<PathBuf>, url: WebUrl) -> Self {
        Self { dir: dir.into(), query: LinkQuery::To(url) }
    }

    /// Links on this page.
    pub fn from(dir: impl Into<PathBuf>, page: WebUrl) -> Self {
        Self { dir: dir.into(), query: LinkQuery::From(page) }
    }

    /// Gives each to a function until that returns false.
    ///
    /// # Errors
    /// [`CrawlError`] when the directory holds no crawl, or it cannot be read.
    pub fn each(&self, each: impl FnMut(LinkLine) -> bool) -> Result<(), CrawlError> {
        read(records(&self.dir)?.links(&self.query, each).map(drop))
    }

    /// All of them. There may be very many.
    ///
    /// # Errors
    /// As [`each`](Self::each).
    pub fn all(&self) -> Result<Vec<LinkLine>, CrawlError> {
        collected(|each| self.each(each))
    }
}

/// The changes that a crawl has reported, in that order: what `webloom changes` lists.
#[derive(Debug, Clone)]
#[must_use = "nothing is read before it is asked for"]
pub struct Changes {
    dir: PathBuf,
    since: Since,
    with_texts: bool,
}

impl Changes {
    /// Those of this crawl directory.
    pub fn of(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), since: Since::Ever, with_texts: false }
    }

    /// Only those of this crawl sequence and later ones.
    pub fn since(mut self, sequence: u32) -> Self {
        self.since = Since::Sequence(sequence);
        self
    }

    /// With the texts before and after, where they are kept.
    pub fn with_texts(mut self) -> Self {
        self.with_texts = true;
        self
    }

    /// Gives each to a function until that returns false.
    ///
    /// # Errors
    /// [`CrawlError`] when the directory holds no crawl, or it cannot be read.
    pub fn each(&self, each: impl FnMut(ChangeLine) -> bool) -> Result<(), CrawlError> {
        read(records(&self.dir)?.changes(self.since, self.with_texts, each))
    }

    /// All of them.
    ///
    /// # Errors
    /// As [`each`](Self::each).
    pub fn all(&self) -> Result<Vec<ChangeLine>, CrawlError> {
        collected(|each| self.each(each))
    }
}

/// Those of a crawl that has begun.
fn records(dir: &Path) -> Result<impl ReadSide, CrawlError> {
    let records = directory::records(dir)?;
    match records.last_sequence().map_err(CommandFailure::from)? {
        Some(_) => Ok(records),
        None => Err(CommandFailure::from(StoreError::Empty { path: dir.to_owned() }).into()),
    }
}

fn read(read: Result<(), ReadError>) -> Result<(), CrawlError> {
    Ok(read.map_err(CommandFailure::from)?)
}

fn collected<T>(each: impl FnOnce(&mut dyn FnMut(T) -> bool) -> Result<(), CrawlError>) -> Result<Vec<T>, CrawlError> {
    let mut all = Vec::new();
    each(&mut |line| {
        all.push(line);
        true
    })?;
    Ok(all)
}
