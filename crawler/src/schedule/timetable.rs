//! [`Schedule`]: the starts of a crawl.

use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64;

use super::{Once, Rhythm, Window, Zone, rhythm::share, window::Opening};
use crate::time::Moment;

/// When sequences begin: a rhythm, in a time zone, in windows, at a place among other crawls.
///
/// ```
/// use std::time::Duration;
/// use webloom::internals::{schedule::{Rhythm, Schedule, Zone}, time::Moment};
/// let every = Rhythm::one_of(Some(Duration::from_secs(60)), None)?;
/// let schedule = Schedule::new(every, Zone::parse("UTC")?);
/// assert_eq!(schedule.next_after(Moment::EPOCH).millis(), 60_000);
/// assert_eq!(schedule.missed(Moment::EPOCH, Moment::from_millis(59_999)), None);
/// # Ok::<(), webloom::internals::schedule::ScheduleError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    rhythm: Rhythm,
    zone: Zone,
    windows: Vec<Window>,
    place: Option<u64>,
    also_at: Option<Moment>,
}

impl Schedule {
    /// Starts in this rhythm; the zone is that of its cron line and windows.
    pub fn new(rhythm: Rhythm, zone: Zone) -> Self {
        Self { rhythm, zone, windows: Vec::new(), place: None, also_at: None }
    }

    /// Moves a start outside all of these windows to the beginning of the next one.
    #[must_use]
    pub fn within(self, windows: Vec<Window>) -> Self {
        Self { windows, ..self }
    }

    /// Moves starts by a tenth of the interval at most, by a hash of this name, so that many crawls with one rhythm do not
    /// begin all at once. The same name is always at the same place.
    #[must_use]
    pub fn spread_by(self, name: &str) -> Self {
        Self { place: Some(xxh3_64(name.as_bytes())), ..self }
    }

    /// Has one more start at a single time. It is not held back to the windows, nor moved.
    #[must_use]
    pub fn also(self, once: Option<&Once>) -> Self {
        Self { also_at: once.map(|once| once.moment(&self.zone)), ..self }
    }

    /// The single time.
    pub(super) fn also_at(&self) -> Option<Moment> {
        self.also_at
    }

    /// What clocks in its zone show at a moment.
    pub fn local(&self, moment: Moment) -> jiff::Zoned {
        self.zone.local(moment)
    }

    /// The first start of the rhythm after the one at `from`.
    pub fn next_after(&self, from: Moment) -> Moment {
        self.within_windows(self.rhythm.next_after(from, &self.zone, self.place))
    }

    /// From one start to the next, at this moment: the mean of two gaps, for the one around it may be cut short.
    pub fn interval(&self, at: Moment) -> Duration {
        let next = |from| self.rhythm.next_after(from, &self.zone, None);
        let first = next(at);
        next(next(first)).since(first) / 2
    }

    /// Whether starts of the rhythm after the one at `from` have come and gone by `now`: then the moment that the next one is counted from,
    /// once they are made up for.
    pub fn missed(&self, from: Moment, now: Moment) -> Option<Moment> {
        let first = self.next_after(from);
        if first > now {
            return None;
        }
        let Rhythm::Every(every) = &self.rhythm else { return Some(now) };
        // There may be very many.
        let rounds = u32::try_from(now.since(first).as_millis() / every.as_millis()).unwrap_or(u32::MAX);
        let mut last = first + every.saturating_mul(rounds);
        loop {
            let next = self.next_after(last);
            if next > now {
                return Some(last);
            }
            last = next;
        }
    }

    /// What is counted from where the start at `from` seems to be still to come: the wall clock was set back. A small step must
    /// not repeat a start; after a large one, the clock had been wrong.
    pub fn after_step(&self, from: Moment, now: Moment) -> Moment {
        if from <= now {
            return from;
        }
        let is_small = || from.since(now) * 2 <= self.rhythm.interval(from, &self.zone);
        if matches!(self.rhythm, Rhythm::Cron(_)) && is_small() { from } else { now }
    }

    /// The moment itself if a sequence may begin then, or when the next window opens.
    pub fn within_windows(&self, start: Moment) -> Moment {
        let date = self.zone.local(start).date();
        let openings = || self.windows.iter().flat_map(|window| window.openings(date, &self.zone));
        if openings().any(|opening| opening.holds(start)) {
            return start;
        }
        let next = openings().filter(|opening| opening.opens > start).min_by_key(|opening| opening.opens);
        next.map_or(start, |opening| self.placed(opening))
    }

    /// Where in a window those starts come that are held back to it.
    fn placed(&self, opening: Opening) -> Moment {
        let Some(place) = self.place else { return opening.opens };
        let interval = self.rhythm.interval(opening.opens, &self.zone);
        opening.opens + share(interval.min(opening.closes.since(opening.opens)), place)
    }
}
