//! [`CrawlError`]: why a crawl could not be run.

use thiserror::Error;

use crate::session::CommandFailure;

/// Why a crawl could not be run, or broke off. What was committed before stays in its directory.
///
/// That pages are missing, or that a server does not answer, is no error: the [`Summary`](crate::Summary) tells.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct CrawlError(#[from] CommandFailure);

impl CrawlError {
    /// Whether the crawl was refused before its first request: a wrong setting or start, a directory that is in use or belongs
    /// to another crawl. Otherwise it broke off (a full disk, most likely).
    pub fn is_refusal(&self) -> bool {
        self.0.code() == 2
    }
}
