//! [`Throttle`]: the ceiling on requests a second, all hosts together.

use std::{num::NonZeroU32, time::Duration};

use governor::{
    Quota, RateLimiter,
    clock::{Clock as _, FakeRelativeClock},
    middleware::NoOpMiddleware,
    nanos::Nanos,
    state::{InMemoryState, NotKeyed},
};

use crate::time::Moment;

type Limiter = RateLimiter<NotKeyed, InMemoryState, FakeRelativeClock, NoOpMiddleware<Nanos>>;

/// Requests a second in all; none is asked for twice. Its time is the one it is told.
pub(super) struct Throttle {
    limiter: Option<Limiter>,
    clock: FakeRelativeClock,
    told: Option<Moment>,
    /// A permit that was granted and not yet spent.
    granted: bool,
}

impl Throttle {
    /// At most so many requests a second, evenly spread.
    pub(super) fn new(per_second: Option<NonZeroU32>) -> Self {
        let clock = FakeRelativeClock::default();
        let quota = |rate| Quota::per_second(rate).allow_burst(NonZeroU32::MIN);
        let limiter = per_second.map(|rate| RateLimiter::direct_with_clock(quota(rate), clock.clone()));
        Self { limiter, clock, told: None, granted: false }
    }

    /// Until when the next request must wait, if it must.
    pub(super) fn wait(&mut self, now: Moment) -> Option<Moment> {
        let limiter = self.limiter.as_ref().filter(|_| !self.granted)?;
        self.clock.advance(now.since(self.told.unwrap_or(now)));
        self.told = self.told.max(Some(now));
        match limiter.check() {
            Ok(()) => {
                self.granted = true;
                None
            }
            Err(early) => Some(now + early.wait_time_from(self.clock.now()).max(Duration::from_nanos(1))),
        }
    }

    /// The next request is sent.
    pub(super) fn spend(&mut self) {
        self.granted = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_spread_evenly_over_the_time_it_is_told() {
        let mut throttle = Throttle::new(NonZeroU32::new(50));
        let (mut now, mut sent) = (Moment::from_millis(7), 0);
        while now < Moment::from_millis(1_007) {
            match throttle.wait(now) {
                None => {
                    throttle.spend();
                    sent += 1;
                }
                Some(until) => {
                    assert!(until > now);
                    now = until;
                }
            }
        }
        assert_eq!(sent, 50);
    }
}
