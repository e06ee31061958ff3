//! [`Clock`]: the one place that reads the time; [`Alarm`]: the one that waits for a time of day; [`WallTime`]: both for those
//! whose months a test goes through in seconds.

mod alarm;
mod wall;

use std::time::{Instant, SystemTime};

use crate::time::Moment;

pub use alarm::Alarm;
pub use wall::{SystemWall, WallTime};

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

    /// Now, for what has just ended: a part of a millisecond counts whole.
    pub fn now(&self) -> Moment {
        self.at_start + self.started.elapsed()
    }

    /// The latest moment that has come, for what may begin: so a pause between both is never shorter than asked.
    pub fn reached(&self) -> Moment {
        Moment::from_millis(
            self.at_start.millis() + u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
        )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ended_is_rounded_up_and_what_may_begin_down() {
        let clock = Clock::start();
        for _ in 0..10_000 {
            let (reached, now) = (clock.reached(), clock.now());
            assert!(reached <= now, "{reached:?} {now:?}");
            assert!(clock.instant(reached) <= Instant::now());
        }
    }
}
