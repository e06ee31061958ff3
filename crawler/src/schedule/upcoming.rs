//! [`Upcoming`]: the next start, as the wall clock goes on, is set, and jumps.

use super::Schedule;
use crate::time::Moment;

/// Waits for the starts of a schedule, one after the other.
///
/// ```
/// use std::time::Duration;
/// use webloom::{schedule::{Due, Rhythm, Schedule, Upcoming, Zone}, time::Moment};
/// let every = Rhythm::one_of(Some(Duration::from_secs(60)), None)?;
/// let schedule = Schedule::new(every, Zone::parse("UTC")?);
/// let mut upcoming = Upcoming::after(Moment::EPOCH);
/// let minutes = |n: u64| Moment::from_millis(n * 60_000);
/// assert_eq!(upcoming.due(&schedule, Moment::EPOCH), Due::At(minutes(1)));
/// // Two were missed: one start makes up for them.
/// assert_eq!(upcoming.due(&schedule, minutes(2)), Due::Now);
/// assert_eq!(upcoming.due(&schedule, minutes(2)), Due::At(minutes(3)));
/// # Ok::<(), webloom::schedule::ScheduleError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Upcoming {
    /// The start that the next one is counted from.
    from: Moment,
}

/// When the next start is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// At once; it is counted as begun.
    Now,
    /// Then, if the wall clock is not set meanwhile.
    At(Moment),
}

impl Upcoming {
    /// What comes after a start.
    pub fn after(start: Moment) -> Self {
        Self { from: start }
    }

    /// Whether a start is due at `now`, or when the next is.
    pub fn due(&mut self, schedule: &Schedule, now: Moment) -> Due {
        let from = schedule.after_step(self.from, now);
        let Some(missed) = schedule.missed(from, now) else {
            self.from = from;
            return Due::At(schedule.next_after(from));
        };
        // What is made up for is held back to the windows like any start.
        let start = schedule.within_windows(now);
        if start > now {
            return Due::At(start);
        }
        self.from = missed;
        Due::Now
    }

    /// Leaves out the starts that have come and gone by `now`.
    pub fn skip_missed(&mut self, schedule: &Schedule, now: Moment) {
        self.from = schedule.after_step(self.from, now);
        self.from = schedule.missed(self.from, now).unwrap_or(self.from);
    }
}
