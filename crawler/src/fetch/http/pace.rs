//! [`BodyPace`]: how long a body may take in all, and how fast its bytes must come.

use std::num::NonZeroU64;
use std::time::Duration;

use tokio::time::Instant;

use crate::fetch::Truncation;

/// The span over which a rate is measured: pauses that are shorter are forgiven.
const WINDOW: Duration = Duration::from_secs(20);

/// The limits of time of one body. Time in which we do not read does not count.
pub(super) struct BodyPace {
    end: Instant,
    /// Bytes that must come within a window.
    least: Option<NonZeroU64>,
    window_end: Instant,
    /// Bytes received when the window began.
    before: u64,
}

impl BodyPace {
    /// A body that is read from now until `end`, and not slower than `min_rate` bytes a second.
    pub(super) fn new(now: Instant, end: Instant, min_rate: Option<NonZeroU64>) -> Self {
        let seconds = NonZeroU64::new(WINDOW.as_secs()).unwrap_or(NonZeroU64::MIN);
        let least = min_rate.map(|rate| rate.saturating_mul(seconds));
        Self { end, least, window_end: now + WINDOW, before: 0 }
    }

    /// When to look at it.
    pub(super) fn due(&self) -> Instant {
        if self.least.is_some() { self.window_end.min(self.end) } else { self.end }
    }

    /// What is wrong at this moment, with so many bytes received.
    pub(super) fn look(&mut self, now: Instant, received: u64) -> Option<Truncation> {
        if now >= self.end {
            return Some(Truncation::Time);
        }
        if self.least.is_some_and(|least| now >= self.window_end && received - self.before < least.get()) {
            return Some(Truncation::Slow);
        }
        if now >= self.window_end {
            (self.window_end, self.before) = (now + WINDOW, received);
        }
        None
    }

    /// Nothing was read for so long, for reasons of our own.
    pub(super) fn pause(&mut self, span: Duration) {
        self.end += span;
        self.window_end += span;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_may_pause_but_not_crawl() {
        let began = Instant::now();
        let mut pace = BodyPace::new(began, began + 10 * WINDOW, NonZeroU64::new(100));
        assert_eq!(pace.due(), began + WINDOW);
        assert_eq!(pace.look(began + WINDOW, 2_000), None);
        assert_eq!(pace.look(began + 2 * WINDOW, 4_000), None);
        pace.pause(WINDOW);
        assert_eq!(pace.look(began + 3 * WINDOW, 4_000), None);
        assert_eq!(pace.look(began + 4 * WINDOW, 5_999), Some(Truncation::Slow));
        assert_eq!(pace.look(began + 11 * WINDOW, 9_000_000), Some(Truncation::Time));
    }

    #[test]
    fn without_a_rate_only_the_end_counts() {
        let began = Instant::now();
        let mut pace = BodyPace::new(began, began + 3 * WINDOW, None);
        assert_eq!(pace.due(), began + 3 * WINDOW);
        assert_eq!(pace.look(began + 2 * WINDOW, 0), None);
        assert_eq!(pace.look(began + 3 * WINDOW, 0), Some(Truncation::Time));
    }
}
