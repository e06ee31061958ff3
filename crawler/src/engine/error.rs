//! [`EngineError`].

use std::io;

use thiserror::Error;

use super::CacheFailure;
use crate::{candidate::HostId, robots::TokenError, store::StoreError, url::UrlError};

/// Why a run failed.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The run cannot begin.
    #[error(transparent)]
    Setup(Box<EngineError>),
    /// The crawl directory.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The URL cache.
    #[error(transparent)]
    Cache(#[from] CacheFailure),
    /// The User-Agent has no product token for robots.txt.
    #[error("the user agent: {0}")]
    Agent(#[from] TokenError),
    /// A stored host or start is no URL.
    #[error("the crawl directory holds {text:?}, which is not a URL ({source}); run `webloom check` on it")]
    Stored {
        /// What it holds.
        text: String,
        /// Why it is none.
        source: UrlError,
    },
    /// A host's row is gone.
    #[error("the crawl directory is damaged: there is no host {}; run `webloom check` on it", .0.0)]
    HostGap(HostId),
    /// There can be no thread for the writer.
    #[error("cannot start the writer thread: {0}")]
    Thread(#[source] io::Error),
    /// The writer ended; its own error says why.
    #[error("the writer ended")]
    WriterGone,
}
