//! [`Pace`]: how fast a crawl comes to its end, as far as that can be known.
//!
//! Invariants: no remaining time is given while URLs found exceed a fifth of those done: the total is unknown then.

use std::{collections::VecDeque, time::Duration};

/// The last part of the run, by which the pace is judged.
const WINDOW: Duration = Duration::from_secs(20);

/// A shorter time tells nothing.
const LEAST_TIME: Duration = Duration::from_secs(2);

/// Fewer URLs tell nothing.
const LEAST_DONE: u64 = 5;

/// Of what is done, at most one in so many may be found meanwhile for a total to be spoken of.
const DONE_FOR_FOUND: u64 = 5;

/// Figures at moments of a run.
#[derive(Debug, Default)]
pub struct Pace {
    samples: VecDeque<Sample>,
}

#[derive(Debug, Clone, Copy)]
struct Sample {
    at: Duration,
    done: u64,
    total: u64,
}

impl Pace {
    /// Takes how many URLs are done, of how many that are known, so long after the run began.
    pub fn take(&mut self, at: Duration, done: u64, total: u64) {
        self.samples.push_back(Sample { at, done, total });
        // One from before the window stays, so that all of it is covered.
        while self.samples.get(1).is_some_and(|second| second.at + WINDOW < at) {
            self.samples.pop_front();
        }
    }

    /// URLs done a second, in the last part of the run.
    pub fn rate(&self) -> Option<f64> {
        let (first, last) = self.ends()?;
        let seconds = last.at.saturating_sub(first.at).as_secs_f64();
        (seconds > 0.0).then(|| (last.done - first.done.min(last.done)) as f64 / seconds)
    }

    /// The time until all is done, where a total can be spoken of.
    pub fn left(&self) -> Option<Duration> {
        let (first, last) = self.ends()?;
        let done = last.done.checked_sub(first.done).filter(|done| *done >= LEAST_DONE)?;
        let found = last.total.saturating_sub(first.total);
        let time = last.at.saturating_sub(first.at);
        if time < LEAST_TIME || found * DONE_FOR_FOUND > done {
            return None;
        }
        let seconds = (last.total.saturating_sub(last.done)) as f64 * time.as_secs_f64() / (done - found) as f64;
        Duration::try_from_secs_f64(seconds).ok()
    }

    fn ends(&self) -> Option<(Sample, Sample)> {
        Some((*self.samples.front()?, *self.samples.back()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(samples: &[(u64, u64, u64)]) -> Pace {
        let mut pace = Pace::default();
        for (seconds, done, total) in samples {
            pace.take(Duration::from_secs(*seconds), *done, *total);
        }
        pace
    }

    #[test]
    fn no_time_is_given_while_urls_are_still_found() {
        assert_eq!(pace(&[]).left(), None);
        assert_eq!(pace(&[(0, 0, 100), (1, 50, 100)]).left(), None, "too early");
        assert_eq!(pace(&[(0, 0, 100), (10, 50, 200)]).left(), None, "more is found than is done");
        assert_eq!(pace(&[(0, 0, 100), (10, 0, 100)]).left(), None, "nothing is done");
        assert_eq!(pace(&[(0, 0, 100), (10, 50, 100)]).left(), Some(Duration::from_secs(10)));
        assert_eq!(pace(&[(0, 0, 100), (10, 50, 110)]).left(), Some(Duration::from_secs(15)));
    }

    #[test]
    fn what_is_long_past_does_not_count() {
        let pace = pace(&[(0, 0, 10), (10, 10, 1000), (100, 100, 1000), (110, 500, 1000), (115, 600, 1000)]);
        assert!(pace.samples.len() == 4 && pace.rate() == Some(590.0 / 105.0), "{pace:?}");
        assert!(pace.left().is_some());
    }
}
