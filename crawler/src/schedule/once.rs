//! [`Once`]: a single time, in addition to the rhythm.

use jiff::{Timestamp, civil::DateTime};

use super::{ScheduleError, Zone};
use crate::time::Moment;

/// A single time: one that holds everywhere, as RFC 3339 has it, or one that clocks in the zone of the schedule show.
///
/// ```
/// use webloom::internals::{schedule::{Once, Zone}, time::Moment};
/// let zone = Zone::parse("Europe/Berlin")?;
/// let five_hours = Moment::from_millis(5 * 3_600_000);
/// assert_eq!(Once::parse("1970-01-01T05:00:00Z")?.moment(&zone), five_hours);
/// assert_eq!(Once::parse("1970-01-01 06:00")?.moment(&zone), five_hours);
/// # Ok::<(), webloom::internals::schedule::ScheduleError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Once {
    /// With an offset from UTC.
    Anywhere(Moment),
    /// By the clocks of the zone.
    Local(DateTime),
}

impl Once {
    /// Reads `2026-03-01T05:00:00Z`, another offset in place of the `Z`, or no offset at all (`2026-03-01 05:00`).
    ///
    /// # Errors
    /// [`ScheduleError::Once`] when it is none of these.
    pub fn parse(text: &str) -> Result<Self, ScheduleError> {
        if let Ok(timestamp) = text.parse::<Timestamp>() {
            return Ok(Self::Anywhere(timestamp.into()));
        }
        // A day alone would be its midnight, which nobody says.
        let has_time = text.contains(':');
        let local = has_time.then(|| text.parse().ok()).flatten();
        local.map(Self::Local).ok_or(ScheduleError::Once)
    }

    /// When that is: the first time where clocks show it twice, and when they go on where they leave it out.
    pub fn moment(&self, zone: &Zone) -> Moment {
        match self {
            Self::Anywhere(moment) => *moment,
            Self::Local(shown) => zone.first(*shown).unwrap_or(Moment::from_millis(u64::MAX)),
        }
    }
}
