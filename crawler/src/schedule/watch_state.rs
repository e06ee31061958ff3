//! [`WatchState`]: what a watched crawl does, and whether it is late.

use std::time::Duration;

use crate::time::Moment;

/// So many intervals may pass until something is late.
const INTERVALS: u32 = 2;

/// What a watched crawl does, and in which rhythm.
///
/// ```
/// use std::time::Duration;
/// use webloom::internals::{schedule::{Late, WatchPhase, WatchState}, time::Moment};
/// let hours = |n: u64| Moment::from_millis(n * 3_600_000);
/// let state = WatchState { interval: Duration::from_secs(3600), phase: WatchPhase::Due(hours(5)), fault: None };
/// assert_eq!(state.late(hours(7)), None);
/// assert_eq!(state.late(hours(8)), Some(Late::Start(hours(5))));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchState {
    /// From one start to the next.
    pub interval: Duration,
    /// What it does.
    pub phase: WatchPhase,
    /// Why a sequence could not be run, or new settings were refused; gone once one runs, or settings are taken.
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
    /// What is wrong at `now`, if anything is: a sequence has not begun two intervals after it was due, or has been running for longer
    /// than two intervals.
    pub fn late(&self, now: Moment) -> Option<Late> {
        if let Some(fault) = &self.fault {
            return Some(Late::Fault(fault.clone()));
        }
        let is_late = |since: Moment| now > since + self.interval.saturating_mul(INTERVALS);
        match self.phase {
            WatchPhase::Due(due) => is_late(due).then_some(Late::Start(due)),
            WatchPhase::Running(since) => is_late(since).then_some(Late::End(since)),
            WatchPhase::Paused | WatchPhase::Done => None,
        }
    }

    /// Whether a page that was due at this moment, with an interval of its own, should have been visited by `now`: no sequence visits all
    /// pages meanwhile, and nobody holds visits back.
    pub fn is_page_late(&self, due: Moment, interval: Duration, now: Moment) -> bool {
        matches!(self.phase, WatchPhase::Due(_)) && now > due + interval.saturating_mul(INTERVALS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_intervals_after_its_time_a_sequence_is_late() {
        let [hour, minute] = [3600, 60].map(Duration::from_secs);
        let at = Moment::from_millis(86_400_000);
        let state = |phase| WatchState { interval: hour, phase, fault: None };
        let (due, running) = (state(WatchPhase::Due(at)), state(WatchPhase::Running(at)));
        for now in [Moment::EPOCH, at, at + hour * 2] {
            assert_eq!((due.late(now), running.late(now)), (None, None), "also where the clock was set back");
        }
        let later = at + hour * 2 + Duration::from_millis(1);
        assert_eq!((due.late(later), running.late(later)), (Some(Late::Start(at)), Some(Late::End(at))));
        for phase in [WatchPhase::Paused, WatchPhase::Done] {
            assert_eq!(state(phase).late(later), None);
        }
        let faulty = WatchState { fault: Some("why".to_owned()), ..state(WatchPhase::Paused) };
        assert_eq!(faulty.late(at), Some(Late::Fault("why".to_owned())));
        assert!(due.is_page_late(at, minute, at + minute * 3) && !due.is_page_late(at, minute, at + minute * 2));
        assert!(!running.is_page_late(at, minute, later) && !state(WatchPhase::Paused).is_page_late(at, minute, later));
    }
}
