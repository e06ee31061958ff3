//! [`Tally`]: the figures of a replay, which are time averages of what is fresh at each moment.

use crate::time::Moment;

/// Points of a curve.
const POINTS: u32 = 200;

/// What a replay came to, over the second half of the trace's time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figures {
    /// The share of the pages that exist whose copy is the page as it is; `None` when no page existed for any time.
    pub freshness: Option<f64>,
    /// For how many days the copies have been out of date, those that are not counting 0; `None` as above.
    pub age_days: Option<f64>,
    /// Visits.
    pub visits: u64,
    /// Visits that saw nothing new.
    pub wasted: u64,
    /// Changes and deletions of pages that were not visited before their next change, or before the end.
    pub missed: u64,
    /// Freshness over the whole time, the first half included.
    pub curve: Vec<Point>,
}

/// The mean freshness of a part of the time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// When the part ends.
    pub until: Moment,
    /// From 0 to 1.
    pub freshness: f64,
}

/// Sums over time, of the pages that exist.
#[derive(Debug, Clone)]
pub(super) struct Tally {
    half: Moment,
    end: Moment,
    /// Where the time is that has been counted.
    now: Moment,
    pub(super) existing: u64,
    stale: u64,
    /// The seconds since the start at which the stale ones became so, added up.
    stale_since: f64,
    start: Moment,
    second: Sums,
    part: Sums,
    part_end: Moment,
    curve: Vec<Point>,
}

/// Integrals over the seconds in which a page existed.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    seconds: f64,
    fresh: f64,
    age: f64,
}

impl Tally {
    pub(super) fn new(start: Moment, end: Moment) -> Self {
        let mut tally = Self {
            half: start + end.since(start) / 2,
            end,
            now: start,
            existing: 0,
            stale: 0,
            stale_since: 0.0,
            start,
            second: Sums::default(),
            part: Sums::default(),
            part_end: start,
            curve: Vec::new(),
        };
        tally.part_end = tally.next_part();
        tally
    }

    /// Whether this moment belongs to the half that is judged.
    pub(super) fn counts(&self, at: Moment) -> bool {
        at >= self.half
    }

    /// A page's copy is out of date from now on.
    pub(super) fn stale_from(&mut self, since: Moment) {
        self.stale += 1;
        self.stale_since += self.seconds(since);
    }

    /// A copy that was out of date since then is so no more, or its page exists no more.
    pub(super) fn no_longer_stale(&mut self, since: Moment) {
        self.stale -= 1;
        self.stale_since -= self.seconds(since);
    }

    /// Counts the time until this moment, with the pages as they are.
    pub(super) fn advance(&mut self, until: Moment) {
        while self.now < until {
            let mut stop = until.min(self.part_end);
            if self.now < self.half {
                stop = stop.min(self.half);
            }
            self.count(stop);
            self.now = stop;
            if stop == self.part_end {
                self.end_part();
            }
        }
    }

    pub(super) fn figures(self) -> Figures {
        let mean = |sum: f64| (self.second.seconds > 0.0).then(|| sum / self.second.seconds);
        Figures {
            freshness: mean(self.second.fresh),
            age_days: mean(self.second.age / 86_400.0),
            curve: self.curve,
            ..Figures::default()
        }
    }

    fn count(&mut self, until: Moment) {
        if self.existing == 0 {
            return;
        }
        let seconds = until.since(self.now).as_secs_f64();
        let existing = self.existing as f64;
        let middle = f64::midpoint(self.seconds(self.now), self.seconds(until));
        let age = (middle * self.stale as f64 - self.stale_since).max(0.0);
        let sums =
            Sums { seconds, fresh: seconds * (existing - self.stale as f64) / existing, age: seconds * age / existing };
        self.part.add(sums);
        if self.counts(self.now) {
            self.second.add(sums);
        }
    }

    fn end_part(&mut self) {
        if self.part.seconds > 0.0 {
            self.curve.push(Point { until: self.part_end, freshness: self.part.fresh / self.part.seconds });
        }
        self.part = Sums::default();
        self.part_end = self.next_part();
    }

    /// At least a millisecond on, so that counting ends.
    fn next_part(&self) -> Moment {
        let part = self.end.since(self.start) / POINTS;
        self.part_end + part.max(std::time::Duration::from_millis(1))
    }

    fn seconds(&self, at: Moment) -> f64 {
        at.since(self.start).as_secs_f64()
    }
}

impl Sums {
    fn add(&mut self, other: Self) {
        self.seconds += other.seconds;
        self.fresh += other.fresh;
        self.age += other.age;
    }
}
