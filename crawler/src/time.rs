//! [`Moment`]: a point in time, in milliseconds of UTC. Nothing here reads a clock.

use std::{
    ops::{Add, Sub},
    time::Duration,
};

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Moment(u64);

impl Moment {
    /// The epoch: before every moment of a crawl.
    pub const EPOCH: Self = Self(0);

    /// The moment this many milliseconds after the epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    pub fn millis(self) -> u64 {
        self.0
    }

    /// The beginning of its second.
    #[must_use]
    pub fn whole_second(self) -> Self {
        Self(self.0 - self.0 % 1000)
    }

    /// Time from `earlier` to this moment; zero when `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

/// What is before the epoch is the epoch.
impl From<jiff::Timestamp> for Moment {
    fn from(timestamp: jiff::Timestamp) -> Self {
        Self(u64::try_from(timestamp.as_millisecond()).unwrap_or(0))
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    /// Part milliseconds count whole, so that a pause is never shorter than asked.
    fn add(self, pause: Duration) -> Self {
        let millis = pause.as_nanos().div_ceil(1_000_000).try_into().unwrap_or(u64::MAX);
        Self(self.0.saturating_add(millis))
    }
}

impl Sub<Duration> for Moment {
    type Output = Self;

    fn sub(self, pause: Duration) -> Self {
        Self(self.0.saturating_sub(pause.as_millis().try_into().unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_round_up_and_saturate() {
        let moment = Moment::from_millis(5);
        assert_eq!((moment + Duration::from_micros(1)).millis(), 6);
        assert_eq!((moment + Duration::MAX).millis(), u64::MAX);
        assert_eq!((moment - Duration::from_secs(1)).millis(), 0);
        assert_eq!(moment.since(Moment::from_millis(9)), Duration::ZERO);
    }
}
