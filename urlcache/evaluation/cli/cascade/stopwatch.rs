//! [`Stopwatch`]: how long something took, on the clock and of the processor.
//!
//! Owns the two times. On a machine that does nothing else they are the same; on one that other programs use the second
//! one still says what the work costs.

use std::{ops::AddAssign, time::Duration, time::Instant};

use rustix::time::{ClockId, Timespec, clock_gettime};
use serde::{Deserialize, Serialize};

/// A beginning.
pub(super) struct Stopwatch {
    began: Instant,
    processor: Duration,
}

/// What has passed, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Took {
    /// On the clock.
    pub(super) seconds: f64,
    /// Of the processor, all threads of this process together.
    pub(super) cpu_seconds: f64,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        Self { began: Instant::now(), processor: processor() }
    }

    pub(super) fn took(&self) -> Took {
        let seconds = self.began.elapsed().as_secs_f64();
        Took { seconds, cpu_seconds: processor().saturating_sub(self.processor).as_secs_f64() }
    }
}

impl AddAssign for Took {
    fn add_assign(&mut self, other: Self) {
        self.seconds += other.seconds;
        self.cpu_seconds += other.cpu_seconds;
    }
}

/// Processor time of this process so far.
fn processor() -> Duration {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(tv_sec.unsigned_abs(), u32::try_from(tv_nsec).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time_of_both_kinds() {
        let watch = Stopwatch::start();
        while watch.began.elapsed() < Duration::from_millis(20) {
            std::hint::black_box(0);
        }
        let took = watch.took();
        assert!(took.seconds >= 0.02 && took.cpu_seconds > 0.0, "{took:?}");
        let mut twice = took;
        twice += took;
        assert!(twice.seconds > took.seconds);
    }
}
