//! [`Rate`]: at most a number of requests over any second.

use std::{
    num::NonZeroU32,
    time::{Duration, Instant},
};

use governor::{
    Quota, RateLimiter,
    clock::FakeRelativeClock,
    middleware::StateInformationMiddleware,
    state::{InMemoryState, NotKeyed},
};

/// The time that as many requests take as a second may have, in nanoseconds. What it is longer than a second lets some of them be
/// [`LATE`], and a network deliver them closer together than they were sent by as much.
const SPREAD: u32 = 1_050_000_000;

/// So late a request may be sent and not delay those after it, in nanoseconds: timers fire at whole milliseconds, and a process
/// that does something else comes later.
const LATE: u32 = 25_000_000;

/// A ceiling on requests a second, by the generic cell rate algorithm. A cell is a nanosecond here: so what is allowed to be
/// late is the same at each rate.
#[derive(Debug)]
pub(super) struct Rate {
    pub(super) per_second: NonZeroU32,
    limiter: RateLimiter<NotKeyed, InMemoryState, FakeRelativeClock, StateInformationMiddleware>,
    clock: FakeRelativeClock,
    /// What the clock shows.
    shown: Option<Instant>,
    /// Cells that a request takes.
    cost: NonZeroU32,
    free: Option<Instant>,
}

impl Rate {
    /// At most so many requests over any second, up to a million.
    pub(super) fn new(per_second: NonZeroU32) -> Self {
        let cost = NonZeroU32::MIN.saturating_add(SPREAD / per_second.get());
        let nanosecond = Quota::with_period(Duration::from_nanos(1)).expect("it is not nothing");
        let clock = FakeRelativeClock::default();
        let limiter = RateLimiter::direct_with_clock(nanosecond.allow_burst(cost.saturating_add(LATE)), clock.clone());
        Self { per_second, limiter: limiter.with_middleware(), clock, shown: None, cost, free: None }
    }

    /// When the next request may be sent; `None` while there was none.
    pub(super) fn free(&self) -> Option<Instant> {
        self.free
    }

    /// A request is sent now, which is not before it may be.
    pub(super) fn spend(&mut self, now: Instant) {
        let shown = self.shown.map_or(now, |shown| shown.max(now));
        self.clock.advance(shown - self.shown.unwrap_or(shown));
        self.shown = Some(shown);
        if let Ok(Ok(left)) = self.limiter.check_n(self.cost) {
            let missing = self.cost.get().saturating_sub(left.remaining_burst_capacity());
            self.free = Some(shown + Duration::from_nanos(missing.into()));
        }
    }
}
