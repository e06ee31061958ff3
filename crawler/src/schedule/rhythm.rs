//! [`Rhythm`]: when starts come, before windows and the place among others count.

use std::time::Duration;

use super::{CronLine, ScheduleError, Zone};
use crate::time::Moment;

/// The shortest interval.
const SHORTEST: Duration = Duration::from_secs(1);

/// How often, or when, sequences begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rhythm {
    /// So long after the start before.
    Every(Duration),
    /// When a cron line says.
    Cron(CronLine),
}

impl Rhythm {
    /// The one rhythm of these two.
    ///
    /// # Errors
    /// [`ScheduleError`] when there is none, or both, or the interval is shorter than a second.
    pub fn one_of(every: Option<Duration>, cron: Option<CronLine>) -> Result<Self, ScheduleError> {
        match (every, cron) {
            (None, None) => Err(ScheduleError::NoRhythm),
            (Some(_), Some(_)) => Err(ScheduleError::TwoRhythms),
            (Some(every), None) if every < SHORTEST => Err(ScheduleError::TooShort(every)),
            (Some(every), None) => Ok(Self::Every(every)),
            (None, Some(line)) => Ok(Self::Cron(line)),
        }
    }

    /// The time from one start, at or after a moment, to the next.
    pub(super) fn interval(&self, at: Moment, zone: &Zone) -> Duration {
        match self {
            Self::Every(every) => *every,
            Self::Cron(line) => line.next_after(at, zone).since(at),
        }
    }

    /// The first start after the one at `from`, for a crawl with this place (of 2^64) among those with the same rhythm. A place
    /// moves it by a tenth of the interval at most.
    pub(super) fn next_after(&self, from: Moment, zone: &Zone, place: Option<u64>) -> Moment {
        match (self, place) {
            (Self::Every(every), None) => from + *every,
            (Self::Every(every), Some(place)) => on_grid(from + *every, *every / 10, place),
            (Self::Cron(line), None) => line.next_after(from, zone),
            (Self::Cron(line), Some(place)) => {
                let moved = |time: Moment| time + share(line.next_after(time, zone).since(time), place);
                let before = line.last_by(from, zone).map(moved).filter(|start| *start > from);
                before.unwrap_or_else(|| moved(line.next_after(from, zone)))
            }
        }
    }
}

/// The nearest moment of those a step apart, of which a place says which they are. What begins a little late, or was counted
/// from a start that did, comes back to them.
fn on_grid(moment: Moment, step: Duration, place: u64) -> Moment {
    let step = u64::try_from(step.as_millis()).unwrap_or(u64::MAX).max(1);
    let over = (moment.millis() % step + step - place % step) % step;
    let earlier = moment - Duration::from_millis(over);
    if over * 2 > step { earlier + Duration::from_millis(step) } else { earlier }
}

/// What a place makes of a tenth of an interval.
pub(super) fn share(interval: Duration, place: u64) -> Duration {
    let tenth = u128::from(u64::try_from((interval / 10).as_millis()).unwrap_or(u64::MAX));
    let millis = (tenth * u128::from(place)) >> 64;
    Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}
