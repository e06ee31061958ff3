//! [`Clock`]: the one place that reads the time; [`Alarm`]: the one that waits for a time of day; [`WallTime`]: both, for code whose tests
//! play months in seconds.
//!
//! A run has one clock. It gives the time for delays and back-offs, due dates, the age of a robots.txt, the time budget, and when a page
//! was fetched. The clock reads the wall clock once. So a wall clock that is set during a run neither holds anything up nor makes
//! everything due at once. The next run reads it anew.
//!
//! The runtime's time counts only for a single request or for this machine: how long a server may take to answer (time in suspend does not
//! count), how many requests may be sent a second, how long connections are kept, and how long rows are collected for a commit.

mod alarm;
mod wall;

use std::time::{Duration, SystemTime};

use rustix::time::{ClockId, clock_gettime};

use crate::time::Moment;

pub use alarm::Alarm;
pub use wall::{SystemWall, WallTime};

/// UTC that never goes back: the system's time at the start, and what a steady clock counted since, also while the machine was
/// suspended.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// What the steady clock counted then.
    started: Duration,
    at_start: Moment,
    /// Counts the time that passes.
    steady: fn() -> Duration,
}

impl Clock {
    /// A clock that starts now.
    pub fn start() -> Self {
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self::starting(Moment::EPOCH + since_epoch, since_boot)
    }

    /// A clock that shows `at_start` now, and counts time as `steady` does.
    pub(crate) fn starting(at_start: Moment, steady: fn() -> Duration) -> Self {
        Self { started: steady(), at_start, steady }
    }

    /// Now, for what has just ended: a part of a millisecond counts whole.
    pub fn now(&self) -> Moment {
        self.at_start + self.elapsed()
    }

    /// The latest moment that has come, for what may begin: so a pause between both is never shorter than asked.
    pub fn reached(&self) -> Moment {
        Moment::from_millis(self.at_start.millis() + u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    /// When it was started.
    pub fn started(&self) -> Moment {
        self.at_start
    }

    /// How long it is until a moment, for timers; zero for what is past. They stand still while the machine is suspended: whoever
    /// waits longer than it may be late asks once more.
    pub fn until(&self, moment: Moment) -> Duration {
        moment.since(self.at_start).saturating_sub(self.elapsed())
    }

    fn elapsed(&self) -> Duration {
        (self.steady)().saturating_sub(self.started)
    }
}

/// Time since the machine was booted, suspend included.
fn since_boot() -> Duration {
    let now = clock_gettime(ClockId::Boottime);
    let part = |number| u64::try_from(number).unwrap_or_default();
    Duration::from_secs(part(now.tv_sec)) + Duration::from_nanos(part(now.tv_nsec))
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
            assert_eq!(clock.until(reached), Duration::ZERO);
        }
    }

    #[test]
    fn time_in_suspend_has_passed() {
        let clock = Clock::start();
        // As if the machine had slept since, for half the time it has been up: its other clocks stood still.
        let asleep = Duration::from_secs(clock.started.as_secs() / 2);
        let slept = Clock { started: clock.started.saturating_sub(asleep), ..clock };
        assert!(slept.now() >= clock.started() + asleep && slept.reached() >= clock.started() + asleep);
        let begins = slept.started() + asleep;
        assert_eq!(slept.until(begins), Duration::ZERO, "what was due in the meantime is due");
        let later = slept.until(begins + Duration::from_mins(1));
        assert!(later > Duration::from_secs(50) && later <= Duration::from_mins(1));
    }
}
