//! Whether a host's URLs may be leased: its robots.txt comes first.

use std::time::Duration;

use crate::time::Moment;

/// The longest that a robots.txt is good for, whatever the settings say (RFC 9309, 2.4).
const DAY: Duration = Duration::from_hours(24);

/// State of a host's prerequisite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prerequisite {
    /// To be fetched at this moment, or as soon after as the host has work.
    NeededAt(Moment),
    /// A work item for it is queued or leased somewhere.
    Pending,
    /// Fetched, and no URL was asked for since. Within a day it is good for one, however long the host's turn is in coming:
    /// one that is too old whenever a page may be asked for would be fetched for ever.
    Unused {
        /// When it was fetched.
        since: Moment,
        /// For how long it is good for more than one, in milliseconds.
        millis: u32,
    },
    /// Fetched; good until then.
    MetUntil(Moment),
}

impl Prerequisite {
    /// That of a host whose stored robots.txt is good until then.
    pub(super) fn stored(until: Moment) -> Self {
        if until == Moment::EPOCH { Self::NeededAt(Moment::EPOCH) } else { Self::MetUntil(until) }
    }

    /// Whether pages may be leased now.
    pub(super) fn is_met(self, now: Moment) -> bool {
        match self {
            Self::NeededAt(_) | Self::Pending => false,
            Self::Unused { since, millis } => now < since + DAY.max(Duration::from_millis(millis.into())),
            Self::MetUntil(until) => now < until,
        }
    }

    /// A URL was asked for.
    pub(super) fn is_used(&mut self) {
        if let Self::Unused { since, millis } = *self {
            *self = Self::MetUntil(since + Duration::from_millis(millis.into()));
        }
    }
}
