//! The crawl directory as commands get it: the one place that says what keeps a crawl.

use std::path::Path;

use super::Failure;
use crate::store::{ReadSide, StoreError, StoredSummary, sqlite};

pub(crate) use sqlite::{BadFailPoint, CrawlDirectory, DirectoryLock};

/// The records of a crawl, also while it runs.
pub(crate) fn records(dir: &Path) -> Result<impl ReadSide, StoreError> {
    sqlite::Records::open(dir)
}

/// The summary of the last sequence.
pub(crate) fn summary(dir: &Path) -> Result<StoredSummary, Failure> {
    let summary = records(dir)?.summary()?;
    summary.ok_or_else(|| StoreError::Empty { path: dir.to_owned() }.into())
}

/// A directory for a run, locked if it is not kept already, and made when there is none; it may be told to die at some moment, in
/// tests of kill and resume.
pub(crate) fn open(dir: &Path, kept: Option<&DirectoryLock>) -> Result<CrawlDirectory, Failure> {
    let given = std::env::var("WEBLOOM_FAILPOINT").ok();
    let fail_point = given.map(|text| text.parse()).transpose()?;
    let directory = match kept {
        Some(lock) => CrawlDirectory::open_locked(dir, lock.clone())?,
        None => CrawlDirectory::open(dir)?,
    };
    Ok(directory.dying_at(fail_point))
}
