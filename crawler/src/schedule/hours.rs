//! [`Hours`]: the parts of the week in which requests are made.

use std::time::Duration;

use super::{Window, Zone, window::Opening};
use crate::time::Moment;

/// The windows in which requests are made, in a time zone; at any time where there are none.
///
/// ```
/// use webloom::internals::{schedule::{Hours, Window, Zone}, time::Moment};
/// let hours = Hours::new(vec![Window::parse("22:00-06:00")?], Zone::parse("UTC")?);
/// assert!(hours.at(Moment::EPOCH).is_open);
/// let noon = Moment::from_millis(12 * 3_600_000);
/// assert_eq!(hours.at(noon).until, Some(Moment::from_millis(22 * 3_600_000)));
/// # Ok::<(), webloom::internals::schedule::ScheduleError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Hours {
    windows: Vec<Window>,
    zone: Zone,
}

/// A time in which requests are made, or in which none is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spell {
    /// Whether they are made.
    pub is_open: bool,
    /// Until when; `None` where it does not end within a week.
    pub until: Option<Moment>,
}

impl Hours {
    /// Those of these windows, by the clocks of a zone.
    pub fn new(windows: Vec<Window>, zone: Zone) -> Self {
        Self { windows, zone }
    }

    /// Whether requests are made at a moment, and until when that holds.
    pub fn at(&self, now: Moment) -> Spell {
        if self.windows.is_empty() {
            return Spell { is_open: true, until: None };
        }
        let date = self.zone.local(now).date();
        let openings = || self.windows.iter().flat_map(|window| window.openings(date, &self.zone));
        let closes = openings().filter(|opening| opening.holds(now)).map(|opening: Opening| opening.closes).max();
        let opens = openings().map(|opening| opening.opens).filter(|opens| *opens > now).min();
        Spell { is_open: closes.is_some(), until: closes.or(opens) }
    }
}

impl Hours {
    /// When so much time has passed in which requests are made. Where none is ever made again, the rest counts as if some were.
    pub fn after(&self, from: Moment, mut time: Duration) -> Moment {
        let mut now = from;
        loop {
            let Spell { is_open, until: Some(until) } = self.at(now) else { return now + time };
            let open = if is_open { until.since(now) } else { Duration::ZERO };
            if open >= time || until <= now {
                return now + time;
            }
            time -= open;
            now = until;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(windows: &[&str], hour: u64) -> (bool, Option<u64>) {
        let windows = windows.iter().map(|window| Window::parse(window).unwrap()).collect();
        let Spell { is_open, until } =
            Hours::new(windows, Zone::parse("UTC").unwrap()).at(Moment::from_millis(hour * 3_600_000));
        (is_open, until.map(|until| until.millis() / 3_600_000))
    }

    #[test]
    fn a_window_over_midnight_is_open_on_both_days() {
        assert_eq!(
            [0, 5, 6, 23].map(|hour| at(&["22:00-06:00"], hour)),
            [(true, Some(6)), (true, Some(6)), (false, Some(22)), (true, Some(30)),]
        );
    }

    #[test]
    fn without_windows_it_is_always_open_and_days_count() {
        assert_eq!(at(&[], 3), (true, None));
        // 1 January 1970 was a Thursday.
        assert_eq!(at(&["sat 08:00-12:00", "fri 20:00-21:00"], 1), (false, Some(24 + 20)));
        assert_eq!(at(&["sat 08:00-12:00"], 1), (false, Some(48 + 8)));
    }

    #[test]
    fn only_the_time_in_which_requests_are_made_counts() {
        let hours = |windows: &[&str]| {
            let windows = windows.iter().map(|window| Window::parse(window).unwrap()).collect();
            Hours::new(windows, Zone::parse("UTC").unwrap())
        };
        let at = |hour: u64| Moment::from_millis(hour * 3_600_000);
        let after = |windows: &[&str], from, time| {
            hours(windows).after(at(from), Duration::from_hours(time)).millis() / 3_600_000
        };
        assert_eq!(after(&[], 5, 12), 17);
        assert_eq!(after(&["22:00-06:00"], 5, 12), 48 + 1, "an hour, eight of the next night, and three");
        assert_eq!(after(&["22:00-06:00"], 12, 1), 23);
        assert_eq!(after(&["22:00-06:00"], 12, 8), 24 + 6);
    }
}
