//! [`Clock`]: the one place that reads the time.

use std::time::{Instant, SystemTime};

use crate::time::Moment;

/// UTC that never goes back: the system's time at the start, and what a steady clock counted since.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    started: Instant,
    at_start: Moment,
}

impl Clock {
    /// A clock that starts now.
    pub fn start() -> Self {
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self { started: Instant::now(), at_start: Moment::EPOCH + since_epoch }
    }

    /// Now.
    pub fn now(&self) -> Moment {
        self.at_start + self.started.elapsed()
    }

    /// When it was started.
    pub fn started(&self) -> Moment {
        self.at_start
    }

    /// The steady clock's time of a moment, for timers.
    pub fn instant(&self, moment: Moment) -> Instant {
        self.started + moment.since(self.at_start)
    }
}
