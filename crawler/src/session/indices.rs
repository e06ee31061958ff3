//! [`Indices`]: the indices that follow from a crawl: of its archive, and of its pages.
//!
//! Invariant: a run brings them up to date when it ends, also one that finds nothing left to fetch.

use std::panic::resume_unwind;

use tokio::task::spawn_blocking;

use super::directory::{DirectoryLock, Records, index_keys, index_pages};
use crate::{config::Settings, engine::StopSignal};

/// Which indices a crawl has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Indices {
    archive: bool,
    pages: bool,
}

impl Indices {
    pub(super) fn of(settings: &Settings) -> Self {
        Self { archive: settings.archive.is_on(), pages: settings.is_indexed() }
    }

    /// Brings the indices up to date, until somebody asks the run to stop. Without that nothing is lost: they follow from the database, and
    /// the next run goes on.
    pub(super) async fn bring_up(self, lock: &DirectoryLock, stop: &StopSignal) {
        let (lock, stop) = (lock.clone(), stop.clone());
        let write = move || {
            if let Err(error) = index_keys(&lock) {
                tracing::warn!(%error, "URLs have no index: to find one takes longer");
            }
            if self.archive
                && let Err(error) = lock.directory().and_then(|dir| Records::open(&dir)?.write_archive_index(&dir))
            {
                tracing::warn!(%error, "the index of the archive was not written");
            }
            if self.pages
                && let Err(error) = index_pages(&lock, || stop.asked_before().is_some())
            {
                tracing::warn!(%error, "the search index is not up to date");
            }
        };
        if self.archive || self.pages {
            spawn_blocking(write).await.unwrap_or_else(|panic| resume_unwind(panic.into_panic()));
        }
    }
}
