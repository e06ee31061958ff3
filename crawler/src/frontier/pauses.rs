//! The pauses between requests to a host.

use std::time::Duration;

use super::host_queue::HostQueue;
use crate::time::Moment;

impl HostQueue {
    /// The pause between the end of a request and the next.
    pub(super) fn pause(&self, now: Moment) -> Duration {
        self.delay() + self.health.penalty(now)
    }

    /// The same of a host that is well.
    pub(super) fn delay(&self) -> Duration {
        self.delay.max(Duration::from_millis(self.followed.into()))
    }

    pub(super) fn set_delay(&mut self, delay: Duration, now: Moment) {
        if delay > self.delay() {
            self.ready_at = self.ready_at.max(now + delay);
        }
        self.delay = delay;
    }

    /// The same where it is shorter.
    pub(super) fn raise_delay(&mut self, least: Duration, now: Moment) {
        self.set_delay(self.delay.max(least), now);
    }

    /// Has the delay follow a response time, by half of what it differs.
    pub(super) fn follow(&mut self, pause: Duration) {
        let pause = u32::try_from(pause.as_millis()).unwrap_or(u32::MAX);
        self.followed = if self.followed == 0 { pause } else { self.followed.midpoint(pause) };
    }

    /// A request ended: the delay begins, of so long at least. Without one not even the rest of a millisecond is waited.
    pub(super) fn rest(&mut self, least: Duration, now: Moment) {
        let delay = self.pause(now).max(least);
        if !delay.is_zero() {
            self.ready_at = self.ready_at.max(now + delay);
        }
    }
}
