//! [`Throttle`]: the ceiling on requests a second, all hosts together.

use std::num::NonZeroU32;

use governor::{
    Quota, RateLimiter,
    clock::{Clock as _, DefaultClock},
    state::{InMemoryState, NotKeyed},
};

use crate::time::Moment;

/// Requests a second in all; none is asked for twice.
pub(super) struct Throttle {
    limiter: Option<RateLimiter<NotKeyed, InMemoryState, DefaultClock>>,
    /// A permit that was granted and not yet spent.
    granted: bool,
}

impl Throttle {
    /// At most so many requests a second, evenly spread.
    pub(super) fn new(per_second: Option<NonZeroU32>) -> Self {
        let one = NonZeroU32::MIN;
        let limiter = per_second.map(|rate| RateLimiter::direct(Quota::per_second(rate).allow_burst(one)));
        Self { limiter, granted: false }
    }

    /// Until when the next request must wait, if it must.
    pub(super) fn wait(&mut self, now: Moment) -> Option<Moment> {
        let limiter = self.limiter.as_ref().filter(|_| !self.granted)?;
        match limiter.check() {
            Ok(()) => {
                self.granted = true;
                None
            }
            Err(early) => Some(now + early.wait_time_from(DefaultClock::default().now())),
        }
    }

    /// The next request is sent.
    pub(super) fn spend(&mut self) {
        self.granted = false;
    }
}
