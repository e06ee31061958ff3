//! [`ScheduleError`]: what is wrong with a schedule.

use std::time::Duration;

use thiserror::Error;

/// Why a schedule is none.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScheduleError {
    /// There is neither an interval nor a cron line.
    #[error("no schedule is given: say how often (every) or when (cron)")]
    NoRhythm,
    /// There are both.
    #[error("two schedules are given: say how often (every) or when (cron), not both")]
    TwoRhythms,
    /// The interval is shorter than a second.
    #[error("an interval of {0:?} is too short: give 1 s or more")]
    TooShort(Duration),
    /// The cron line cannot be read.
    #[error("not a cron line: {0}")]
    Cron(String),
    /// The cron line names no day that comes.
    #[error("this cron line names a day that does not exist")]
    Never,
    /// There is no such time zone.
    #[error("there is no time zone with this name")]
    Zone,
    /// The single time cannot be read.
    #[error("not a time")]
    Once,
    /// The window cannot be read.
    #[error("not a window: {0}")]
    Window(&'static str),
}
