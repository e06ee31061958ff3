//! [`Zone`]: a time zone of the database within the program, so that a schedule means the same on each machine.

use jiff::{
    Timestamp, Zoned,
    civil::DateTime,
    tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase},
};

use super::ScheduleError;
use crate::time::Moment;

/// A time zone.
///
/// ```
/// use webloom::internals::{schedule::Zone, time::Moment};
/// let zone = Zone::parse("Europe/Berlin")?;
/// assert_eq!(zone.local(Moment::EPOCH).to_string(), "1970-01-01T01:00:00+01:00[Europe/Berlin]");
/// # Ok::<(), webloom::internals::schedule::ScheduleError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Zone {
    /// The zone of this name (`Europe/Berlin`, `UTC`).
    ///
    /// # Errors
    /// [`ScheduleError::Zone`] when there is none.
    pub fn parse(name: &str) -> Result<Self, ScheduleError> {
        TimeZoneDatabase::bundled().get(name).map(Self).map_err(|_| ScheduleError::Zone)
    }

    /// What clocks in this zone show at a moment.
    pub fn local(&self, moment: Moment) -> Zoned {
        let millis = i64::try_from(moment.millis()).unwrap_or(i64::MAX);
        let timestamp = Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX);
        timestamp.to_zoned(self.0.clone())
    }

    /// When clocks in this zone show that: the first time where they do twice, and when they go on where they leave it out.
    /// `None` beyond the calendar.
    pub(super) fn first(&self, shown: DateTime) -> Option<Moment> {
        let ambiguous = self.0.to_ambiguous_timestamp(shown);
        let is_left_out = matches!(ambiguous.offset(), AmbiguousOffset::Gap { .. });
        let earlier = ambiguous.earlier().ok()?;
        // A time that a gap leaves out lies before the gap, read by the clock of after it.
        let left_out = is_left_out.then(|| self.0.following(earlier).next()).flatten();
        Some(left_out.map_or(earlier, |transition| transition.timestamp()).into())
    }
}
