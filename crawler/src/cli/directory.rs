//! The crawl directory as commands get it: the one place that says what keeps a crawl.

use std::path::Path;

use super::Failure;
use crate::store::{ReadSide, StoreError, sqlite};

pub(super) use sqlite::{BadFailPoint, CrawlDirectory};

/// The records of a crawl, also while it runs.
pub(super) fn records(dir: &Path) -> Result<impl ReadSide, StoreError> {
    sqlite::Records::open(dir)
}

/// A directory for a run, locked, and made when there is none; it may be told to die at some moment, in tests of kill and resume.
pub(super) fn open(dir: &Path) -> Result<CrawlDirectory, Failure> {
    let given = std::env::var("WEBLOOM_FAILPOINT").ok();
    let fail_point = given.map(|text| text.parse()).transpose()?;
    Ok(CrawlDirectory::open(dir)?.dying_at(fail_point))
}
