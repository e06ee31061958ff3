//! [`ProgressHandle`]: the figures of a crawl while it runs.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use crate::engine::Progress;

/// Shows the figures of a [`Crawl`](crate::Crawl) while it runs, from anywhere. They are brought up to date twice a second.
#[derive(Debug, Clone, Default)]
pub struct ProgressHandle {
    figures: Arc<Mutex<Option<watch::Receiver<Progress>>>>,
}

impl ProgressHandle {
    /// The figures by now; `None` before the first request is prepared.
    pub fn get(&self) -> Option<Progress> {
        let figures = self.figures.lock().unwrap_or_else(PoisonError::into_inner);
        figures.as_ref().map(|figures| figures.borrow().clone())
    }

    /// A run begins to publish them here.
    pub(super) fn set(&self, figures: watch::Receiver<Progress>) {
        *self.figures.lock().unwrap_or_else(PoisonError::into_inner) = Some(figures);
    }
}
