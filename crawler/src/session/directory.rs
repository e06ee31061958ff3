//! The crawl directory as commands get it: the one place that says what keeps a crawl.

use std::path::{Path, PathBuf};

use super::CommandFailure;
use crate::{
    observe::escape,
    store::{ReadSide, StoreError, StoredSummary, sqlite},
    url::WebUrl,
};

pub(crate) use sqlite::{
    ArchiveCopies, ArchiveMoment, ArchiveRule, ArchiveTaker, ArchivedAnswer, ArchivedBodies, ArchivedCopy,
    ArchivedVisit, Beginning, ChangedSince, CrawlDirectory, CurrentPage, DirectoryLock, FILES, FieldTaker,
    RecordCompression, Records, index_keys, index_pages, takers,
};

/// Where crawls are kept for which no directory is given.
pub(crate) const CRAWLS: &str = "crawls";

/// Crawl directories that are named at most.
const NAMED: usize = 5;

/// The records of a crawl, also while it runs.
pub(crate) fn records(dir: &Path) -> Result<Records, CommandFailure> {
    Records::open(dir).map_err(|error| match error {
        StoreError::Missing { .. } => CommandFailure::Usage(error.to_string() + &others(dir)),
        error => error.into(),
    })
}

/// The archived copy of a URL.
pub(crate) fn archived(
    dir: &Path,
    url: &WebUrl,
    moment: ArchiveMoment,
) -> Result<Option<ArchivedCopy>, CommandFailure> {
    Ok(records(dir)?.archived(dir, url, moment)?)
}

/// The crawls below `crawls`, for whoever has named a directory that holds none: one of the same name comes first.
pub(crate) fn others(dir: &Path) -> String {
    let mut found = below(CRAWLS);
    found.sort_by_key(|path| (path.file_name() != dir.file_name(), path.clone()));
    let more = if found.len() > NAMED { format!(" and {} more", found.len() - NAMED) } else { String::new() };
    let named: Vec<_> =
        found.iter().take(NAMED).map(|path| escape::text(&path.display().to_string()).into_owned()).collect();
    if named.is_empty() { String::new() } else { format!("; there are crawls in {}{more}", named.join(", ")) }
}

/// The crawls in the working directory, in the folders there, and below `crawls`.
pub(crate) fn here() -> Vec<PathBuf> {
    let own = PathBuf::from(".");
    let mut found = below(CRAWLS);
    found.extend(below(".").into_iter().filter_map(|path| path.strip_prefix(".").map(Path::to_owned).ok()));
    found.sort();
    CrawlDirectory::exists(&own).then_some(own).into_iter().chain(found).collect()
}

fn below(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| CrawlDirectory::exists(path)).collect()
}

/// The summary of the last sequence.
pub(crate) fn summary(dir: &Path) -> Result<StoredSummary, CommandFailure> {
    let summary = records(dir)?.summary()?;
    summary.ok_or_else(|| StoreError::Empty { path: dir.to_owned() }.into())
}

/// A directory for a run, locked if it is not kept already, and made when there is none; tests of kill and resume
/// may have it die at some moment.
pub(crate) fn open(dir: &Path, kept: Option<&DirectoryLock>) -> Result<CrawlDirectory, CommandFailure> {
    let given = std::env::var("WEBLOOM_FAILPOINT").ok();
    let fail_point = given.map(|text| text.parse()).transpose();
    let fail_point = fail_point.map_err(|error: sqlite::BadFailPoint| CommandFailure::Usage(error.to_string()))?;
    let directory = match kept {
        Some(lock) => CrawlDirectory::open_locked(lock.clone())?,
        None => CrawlDirectory::open(dir)?,
    };
    Ok(directory.dying_at(fail_point))
}
