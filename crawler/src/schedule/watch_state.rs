//! [`WatchState`]: what a watched crawl does, and whether it is late.

use std::time::Duration;

use super::{Hours, Schedule};
use crate::time::Moment;

/// So many intervals may pass until something is late.
const INTERVALS: u32 = 2;

/// What a watched crawl does, and until when that is all right.
///
/// ```
/// use webloom::internals::{schedule::{Late, WatchPhase, WatchState}, time::Moment};
/// let hours = |n: u64| Moment::from_millis(n * 3_600_000);
/// let state = WatchState { phase: WatchPhase::Due(hours(5)), late_after: Some(hours(7)), fault: None };
/// assert_eq!(state.late(hours(7)), None);
/// assert_eq!(state.late(hours(8)), Some(Late::Start(hours(5))));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchState {
    /// What it does.
    pub phase: WatchPhase,
    /// From when on that is late; `None` where it never is.
    pub late_after: Option<Moment>,
    /// Why a sequence could not be run, or new settings were refused; gone once settings are taken.
    pub fault: Option<String>,
}

/// What a watched crawl does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchPhase {
    /// It waits for the start of a sequence at this moment.
    Due(Moment),
    /// A sequence has been running since this moment.
    Running(Moment),
    /// Somebody holds it back.
    Paused,
    /// All sequences were run that were asked for.
    Done,
}

/// What is wrong with a watched crawl.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Late {
    /// It was due at this moment, and has not begun.
    Start(Moment),
    /// It has been running since this moment.
    End(Moment),
    /// It cannot go on as it should.
    Fault(String),
}

impl WatchState {
    /// That of a crawl on a schedule, which makes requests in these hours: a sequence is late two intervals after it was due, and after it
    /// began. Time in which it may make none does not count.
    pub fn new(phase: WatchPhase, schedule: &Schedule, hours: &Hours, fault: Option<String>) -> Self {
        let late_after = match phase {
            WatchPhase::Due(at) | WatchPhase::Running(at) => Some(hours.after(at, schedule.interval(at) * INTERVALS)),
            WatchPhase::Paused | WatchPhase::Done => None,
        };
        Self { phase, late_after, fault }
    }

    /// What is wrong at `now`, if anything is.
    pub fn late(&self, now: Moment) -> Option<Late> {
        if let Some(fault) = &self.fault {
            return Some(Late::Fault(fault.clone()));
        }
        match self.phase {
            _ if self.late_after.is_none_or(|late_after| now <= late_after) => None,
            WatchPhase::Due(due) => Some(Late::Start(due)),
            WatchPhase::Running(since) => Some(Late::End(since)),
            WatchPhase::Paused | WatchPhase::Done => None,
        }
    }

    /// Whether a page that was due at this moment, with an interval of its own, should have been asked for by `now`: no sequence asks for
    /// all pages meanwhile, and nobody holds visits back.
    pub fn is_page_late(&self, due: Moment, interval: Duration, now: Moment) -> bool {
        matches!(self.phase, WatchPhase::Due(_)) && now > due + interval.saturating_mul(INTERVALS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{CronLine, Rhythm, Window, Zone};

    fn schedule(every: Option<u64>, cron: Option<&str>) -> Schedule {
        let every = every.map(|hours| Duration::from_secs(hours * 3600));
        let cron = cron.map(|line| CronLine::parse(line).unwrap());
        Schedule::new(Rhythm::one_of(every, cron).unwrap(), Zone::parse("UTC").unwrap())
    }

    fn at(hour: u64, minute: u64) -> Moment {
        Moment::from_millis((hour * 60 + minute) * 60_000)
    }

    /// When a sequence that runs since a moment is late, in minutes after it.
    fn late(schedule: &Schedule, windows: &[&str], since: Moment) -> u64 {
        let windows = windows.iter().map(|window| Window::parse(window).unwrap()).collect();
        let hours = Hours::new(windows, Zone::parse("UTC").unwrap());
        let state = WatchState::new(WatchPhase::Running(since), schedule, &hours, None);
        state.late_after.unwrap().since(since).as_secs() / 60
    }

    #[test]
    fn two_intervals_after_its_time_a_sequence_is_late_whatever_the_rhythm() {
        let (nightly, hourly) = (schedule(None, Some("0 3 * * *")), schedule(Some(1), None));
        assert_eq!(late(&hourly, &[], at(5, 0)), 2 * 60);
        assert_eq!(late(&nightly, &[], at(3, 0)), 48 * 60);
        assert_eq!(late(&nightly, &[], at(2, 55)), 48 * 60, "one that was resumed just before the next was due");
        assert_eq!(late(&schedule(None, Some("*/5 * * * *")), &[], at(0, 2)), 10);
        assert_eq!(late(&schedule(None, Some("0 9,10 * * *")), &[], at(10, 0)), 24 * 60);
        assert_eq!(late(&hourly, &["22:00-06:00"], at(5, 0)), 18 * 60, "an hour, and another in the next night");
    }

    #[test]
    fn late_is_what_waits_or_runs_for_too_long_and_what_is_faulty() {
        let state = |phase, late_after| WatchState { phase, late_after, fault: None };
        let (due, running) = (WatchPhase::Due(at(5, 0)), WatchPhase::Running(at(5, 0)));
        for now in [at(0, 0), at(5, 0), at(7, 0)] {
            assert_eq!(state(due, Some(at(7, 0))).late(now), None, "also where the clock was set back");
        }
        assert_eq!(state(due, Some(at(7, 0))).late(at(7, 1)), Some(Late::Start(at(5, 0))));
        assert_eq!(state(running, Some(at(7, 0))).late(at(7, 1)), Some(Late::End(at(5, 0))));
        for phase in [WatchPhase::Paused, WatchPhase::Done] {
            assert_eq!(state(phase, None).late(at(99, 0)), None);
            let faulty = WatchState { fault: Some("why".to_owned()), ..state(phase, None) };
            assert_eq!(faulty.late(at(0, 0)), Some(Late::Fault("why".to_owned())));
        }
        let (minute, waiting) = (Duration::from_mins(1), state(due, None));
        assert!(waiting.is_page_late(at(0, 0), minute, at(0, 3)) && !waiting.is_page_late(at(0, 0), minute, at(0, 2)));
        assert!(!state(running, None).is_page_late(at(0, 0), minute, at(9, 0)));
    }
}
