//! [`StopHandle`]: how a program stops its crawl.

use std::{sync::Arc, time::Duration};

use tokio::sync::watch;

use crate::engine::StopSignal;

/// Time for what is in flight.
const GRACE: Duration = Duration::from_secs(10);

/// In the place of a signal's number: there is none.
const STOPPED: i32 = 0;

/// Stops a [`Crawl`](crate::Crawl) from anywhere: another task, another thread, or the function that is given the pages.
#[derive(Debug, Clone)]
pub struct StopHandle {
    asked: Arc<watch::Sender<Option<i32>>>,
}

impl StopHandle {
    pub(super) fn new() -> Self {
        Self { asked: Arc::new(watch::Sender::new(None)) }
    }

    /// Asks the crawl to stop. It sends no further request, waits up to 10 s for those under way, and ends with
    /// [`End::Stopped`](crate::End::Stopped). Everything is kept: the same crawl in the same directory resumes it. Where the crawl
    /// has not begun yet, it stops at once; where it has ended, nothing happens.
    pub fn stop(&self) {
        self.asked.send_replace(Some(STOPPED));
    }

    pub(super) fn signal(&self) -> StopSignal {
        StopSignal::new(self.asked.subscribe(), GRACE)
    }
}
