//! The time of a simulation: the runtime's paused time, which moves on when no task can run, and the time for which the machine was
//! suspended.

use std::{cell::Cell, time::Duration};

use tokio::time::Instant;

/// Looks at the clock without any time passing, after which a crawl is called endless.
const MOST_LOOKS: u32 = 2_000_000;

/// A process is one thread, and so is its time.
#[derive(Debug, Clone, Copy)]
struct Timeline {
    /// When the process began, since the simulation did.
    base: Duration,
    origin: Instant,
    suspended: Duration,
    last: Duration,
    looks: u32,
}

thread_local! {
    static TIMELINE: Cell<Option<Timeline>> = const { Cell::new(None) };
}

/// A process begins so many milliseconds after the simulation did. To be called within its runtime.
pub(super) fn begin(at: u64) {
    let (base, zero) = (Duration::from_millis(at), Duration::ZERO);
    TIMELINE.set(Some(Timeline { base, origin: Instant::now(), suspended: zero, last: zero, looks: 0 }));
}

/// The machine is suspended for so many milliseconds: its timers stand still meanwhile.
pub(super) fn suspend(length: u64) {
    let timeline = TIMELINE.get().expect("a process runs");
    TIMELINE.set(Some(Timeline { suspended: timeline.suspended + Duration::from_millis(length), ..timeline }));
}

/// Time since the simulation began.
pub(super) fn steady() -> Duration {
    let mut timeline = TIMELINE.get().expect("a process runs");
    let now = timeline.base + timeline.origin.elapsed() + timeline.suspended;
    timeline.looks = if now == timeline.last { timeline.looks + 1 } else { 0 };
    timeline.last = now;
    TIMELINE.set(Some(timeline));
    assert!(timeline.looks < MOST_LOOKS, "it goes on and on at {now:?}");
    now
}

/// The same in milliseconds.
pub(super) fn now() -> u64 {
    u64::try_from(steady().as_millis()).expect("months")
}

/// Until a moment.
pub(super) async fn until(at: u64) {
    tokio::time::sleep(Duration::from_millis(at.saturating_sub(now()))).await;
}
