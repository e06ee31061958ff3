//! When does the next sequence begin?
//!
//! Owns: the rhythms ([`Rhythm`]: a span of time, or a cron line in a time zone), an extra time ([`Once`]), the weekly [`Window`]s to which
//! starts and requests ([`Hours`]) can be restricted, the place of a crawl among others with the same rhythm, what becomes of missed starts, how steps of the
//! wall clock are handled, and when a crawl is late ([`WatchState`]).
//!
//! Invariants: a start comes after the one it is counted from; however many starts were missed, one makes up for them; a
//! step of the wall clock neither repeats a start nor holds one back for longer than the rhythm does.
//!
//! Does not know: what time it is, what a sequence is, and whether the one before has ended.

mod cron;
mod error;
mod hours;
mod once;
mod rhythm;
mod timetable;
mod upcoming;
mod watch_state;
mod window;
mod zone;

pub use cron::CronLine;
pub use error::ScheduleError;
pub use hours::{Hours, Spell};
pub use once::Once;
pub use rhythm::Rhythm;
pub use timetable::Schedule;
pub use upcoming::{Due, Upcoming};
pub use watch_state::{Late, WatchPhase, WatchState};
pub use window::Window;
pub use zone::Zone;

#[cfg(test)]
mod tests;
