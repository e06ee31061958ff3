//! Whether a host's URLs may be leased: its robots.txt comes first.

use crate::time::Moment;

/// State of a host's prerequisite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prerequisite {
    /// To be fetched at this moment, or as soon after as the host has work.
    NeededAt(Moment),
    /// An errand for it is queued or leased somewhere.
    Pending,
    /// Fetched; good until then.
    MetUntil(Moment),
}

impl Prerequisite {
    /// Whether pages may be leased now.
    pub(super) fn is_met(self, now: Moment) -> bool {
        matches!(self, Self::MetUntil(until) if now < until)
    }
}
