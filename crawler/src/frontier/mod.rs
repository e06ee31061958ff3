//! What is to be fetched, and when: a plain state machine.
//!
//! Owns: the host queues with their slots and delays, the order of URLs, leases, retries, and what of a host's prerequisite (robots.txt) is met.
//! [`Frontier`] is told the time with each call and answers what may be fetched now.
//!
//! Invariants: admitted = queued + leased + finished + abandoned, after every call. A URL is leased at most once at a time, a host at most
//! `per_host` times, and not before `delay` has passed since the end of its last request. A host's URLs are leased only while its prerequisite
//! is met. *Drained* means nothing is queued or leased and no refill is pending.
//!
//! Memory holds *heads*: exactly a host's queued rows up to a cursor. Rows beyond it are in the URL table alone; [`Next::NeedsRefill`] asks for
//! them. Rows waiting for a retry are in the table alone until they are due.
//!
//! Does not know: how a URL is fetched, what robots.txt says, where rows are kept, or what time it is.

mod host_queue;
mod lease;
mod levels;
mod machine;
mod prerequisite;
mod refill;
#[cfg(test)]
mod tests;

pub use lease::{Asked, Errand, ErrandOutcome, Lease, LeaseKind, PageOutcome, Queued, Work};
pub use machine::{Counts, Frontier, FrontierLimits, HostStart, Next};
pub use refill::{RefillAnswer, RefillKind, RefillRequest};

use crate::candidate::UrlId;

/// In which order a host's URLs are fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Near the start first.
    Breadth,
    /// Far from the start first.
    Depth,
}

impl Order {
    /// The number a URL at this depth is sorted by, least first.
    pub fn rank(self, depth: u32) -> i64 {
        match self {
            Self::Breadth => i64::from(depth),
            Self::Depth => -i64::from(depth),
        }
    }
}

/// A URL's place in its host queue: by rank, then by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// [`Order::rank`] of the URL's depth.
    pub rank: i64,
    /// Number of the URL.
    pub id: UrlId,
}

impl Place {
    /// Before every URL.
    pub const FIRST: Self = Self { rank: i64::MIN, id: UrlId(0) };
    /// Behind every URL.
    pub const LAST: Self = Self { rank: i64::MAX, id: UrlId(u64::MAX) };
}
