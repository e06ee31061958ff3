//! Whether a host's URLs may be leased: its robots.txt comes first.

use crate::time::Moment;

/// State of a host's prerequisite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prerequisite {
    /// To be fetched at this moment, or as soon after as the host has work.
    NeededAt(Moment),
    /// An errand for it is queued or leased somewhere.
    Pending,
    /// Fetched, and no URL was leased since. It is good for one however long the host's delay is: a robots.txt that is
    /// too old before the first page may be asked for would be fetched for ever.
    Unused(Moment),
    /// Fetched; good until then.
    MetUntil(Moment),
}

impl Prerequisite {
    /// Whether pages may be leased now.
    pub(super) fn is_met(self, now: Moment) -> bool {
        match self {
            Self::NeededAt(_) | Self::Pending => false,
            Self::Unused(_) => true,
            Self::MetUntil(until) => now < until,
        }
    }

    /// A URL is leased.
    pub(super) fn is_used(&mut self) {
        if let Self::Unused(until) = *self {
            *self = Self::MetUntil(until);
        }
    }
}
