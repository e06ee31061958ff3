//! [`Visit`]: where a URL was found, and when it was visited.

use std::time::{Duration, SystemTime};

use crate::{time::Moment, url::WebUrl};

/// The visit that an event is about.
#[derive(Debug, Clone)]
pub struct Visit {
    url: WebUrl,
    via: Option<WebUrl>,
    depth: u32,
    at: Moment,
}

impl Visit {
    pub(super) fn new(url: WebUrl, via: Option<WebUrl>, depth: u32, at: Moment) -> Self {
        Self { url, via, depth, at }
    }

    /// The URL that was asked for, without a fragment.
    pub fn url(&self) -> &WebUrl {
        &self.url
    }

    /// The page that links here, or the URL that redirects here, on the way by which it was found first; `None` for a start.
    pub fn via(&self) -> Option<&WebUrl> {
        self.via.as_ref()
    }

    /// How many links lead here from a start, on the way by which it was found; 0 for a start.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// When the answer was complete.
    pub fn fetched_at(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(self.at.millis())
    }
}
