//! [`Time`]: what one key takes, and how much that varies.

use std::time::{Duration, Instant};

/// Nanoseconds a key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Time {
    /// The mean over all keys.
    pub(super) mean: f64,
    /// Half of the blocks took less a key: what other programs do to the machine shows less in it than in the mean.
    pub(super) median: f64,
    /// A quarter of the blocks took less a key.
    pub(super) low: f64,
    /// A quarter of the blocks took more a key.
    pub(super) high: f64,
    /// Computed from a smaller set, not measured.
    pub(super) extrapolated: bool,
}

/// Blocks of keys that were timed.
#[derive(Debug, Default, Clone)]
pub(super) struct Clock {
    /// Keys and nanoseconds.
    total: (f64, f64),
    /// Nanoseconds a key, of each block.
    blocks: Vec<f64>,
}

/// Blocks into which keys are parted that come all at once.
const BLOCKS: usize = 64;

impl Clock {
    /// Times what is done with so many keys.
    pub(super) fn block<T>(&mut self, keys: usize, act: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let done = std::hint::black_box(act());
        self.add(keys, began.elapsed());
        done
    }

    /// Times what is done with each of these keys.
    pub(super) fn each<'k, K>(keys: &'k [K], mut act: impl FnMut(&'k K)) -> Self {
        let mut clock = Self::default();
        for block in keys.chunks(keys.len().div_ceil(BLOCKS).max(1)) {
            clock.block(block.len(), || block.iter().for_each(&mut act));
        }
        clock
    }

    /// Joins what was timed elsewhere.
    pub(super) fn join(&mut self, other: &Self) {
        self.total = (self.total.0 + other.total.0, self.total.1 + other.total.1);
        self.blocks.extend(&other.blocks);
    }

    fn add(&mut self, keys: usize, time: Duration) {
        if keys > 0 {
            let (keys, nanoseconds) = (keys as f64, time.as_nanos() as f64);
            self.total = (self.total.0 + keys, self.total.1 + nanoseconds);
            self.blocks.push(nanoseconds / keys);
        }
    }

    /// `None` if nothing was timed.
    pub(super) fn time(mut self) -> Option<Time> {
        self.blocks.sort_by(f64::total_cmp);
        let last = self.blocks.len().checked_sub(1)?;
        let [low, median, high] = [last / 4, last / 2, last - last / 4].map(|place| self.blocks[place]);
        Some(Time { mean: self.total.1 / self.total.0, median, low, high, extrapolated: false })
    }
}

impl Time {
    /// The same for a set so many times as large, where the time grows with the set.
    pub(super) fn of_a_set_larger_by(self, times: f64) -> Self {
        let [mean, median, low, high] = [self.mean, self.median, self.low, self.high].map(|time| time * times);
        Self { mean, median, low, high, extrapolated: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_that_of_the_keys_not_of_the_blocks() {
        let mut clock = Clock::default();
        for (keys, nanoseconds) in [(1, 100), (9, 90), (10, 110), (10, 100)] {
            clock.add(keys, Duration::from_nanos(nanoseconds));
        }
        clock.add(0, Duration::from_nanos(1));
        let time = clock.time().unwrap();
        assert!((time.mean - 400.0 / 30.0).abs() < 1e-9, "{time:?}");
        assert_eq!((time.low, time.median, time.high), (10.0, 10.0, 100.0));
        assert!((time.of_a_set_larger_by(2.0).mean - 800.0 / 30.0).abs() < 1e-9);
        assert_eq!(Clock::default().time(), None);
        let mut seen = 0;
        assert!(Clock::each(&[1, 2, 3], |_| seen += 1).time().is_some());
        assert_eq!(seen, 3);
    }
}
