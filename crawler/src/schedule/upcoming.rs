//! [`Upcoming`]: the next start, as the wall clock goes on, is set, and jumps.

use super::Schedule;
use crate::time::Moment;

/// Waits for the starts of a schedule, one after the other.
///
/// ```
/// use std::time::Duration;
/// use webloom::internals::{schedule::{Due, Rhythm, Schedule, Upcoming, Zone}, time::Moment};
/// let every = Rhythm::one_of(Some(Duration::from_secs(60)), None)?;
/// let schedule = Schedule::new(every, Zone::parse("UTC")?);
/// let mut upcoming = Upcoming::after(Moment::EPOCH);
/// let minutes = |n: u64| Moment::from_millis(n * 60_000);
/// assert_eq!(upcoming.due(&schedule, Moment::EPOCH), Due::At(minutes(1)));
/// // Two were missed: one start makes up for them.
/// assert_eq!(upcoming.due(&schedule, minutes(2)), Due::Now);
/// assert_eq!(upcoming.due(&schedule, minutes(2)), Due::At(minutes(3)));
/// # Ok::<(), webloom::internals::schedule::ScheduleError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Upcoming {
    /// The start that the next one of the rhythm is counted from.
    from: Moment,
    /// When the last one really was: a single time before it has been.
    began: Moment,
    /// The single time that was seen to. The clock may be set back to before it.
    served: Option<Moment>,
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
        Self { from: start, began: start, served: None }
    }

    /// Whether a start is due at `now`, or when the next is.
    pub fn due(&mut self, schedule: &Schedule, now: Moment) -> Due {
        let from = schedule.after_step(self.from, now);
        let missed = schedule.missed(from, now);
        let once = schedule.also_at().filter(|at| *at > self.began && self.served != Some(*at));
        if let Some(at) = once.filter(|at| *at <= now) {
            self.begin(missed.unwrap_or(from).max(at), now, schedule);
            return Due::Now;
        }
        // What is made up for is held back to the windows like any start.
        let start = if missed.is_some() { schedule.within_windows(now) } else { schedule.next_after(from) };
        if missed.is_none() {
            self.from = from;
        }
        if let Some(missed) = missed.filter(|_| start <= now) {
            self.begin(missed, now, schedule);
            return Due::Now;
        }
        Due::At(once.map_or(start, |once| once.min(start)))
    }

    /// Counts a start at `now` that somebody asked for.
    pub fn begin_now(&mut self, schedule: &Schedule, now: Moment) {
        self.begin(now, now, schedule);
    }

    fn begin(&mut self, from: Moment, now: Moment, schedule: &Schedule) {
        let served = schedule.also_at().filter(|at| *at <= now).or(self.served);
        *self = Self { from, began: now, served };
    }

    /// Leaves out the starts of the rhythm that have come and gone by `now`: a single time is somebody's wish.
    pub fn skip_missed(&mut self, schedule: &Schedule, now: Moment) {
        self.from = schedule.after_step(self.from, now);
        self.from = schedule.missed(self.from, now).unwrap_or(self.from);
    }
}
