//! [`FrontierLimits`]: the limits that the frontier keeps.

use std::num::{NonZeroU64, NonZeroUsize};

use super::{BackOffPolicy, Order};

/// What hosts share the slots and the pause of one host by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ShareBy {
    /// Those of one machine do, by the addresses of their names.
    pub address: bool,
    /// Those of one registrable domain do.
    pub domain: bool,
}

/// What the frontier keeps to.
#[derive(Debug, Clone)]
pub struct FrontierLimits {
    /// Rows that memory holds at most, over all hosts.
    pub heads: NonZeroUsize,
    /// Rows of one host that memory holds at most; fewer where many hosts share the memory.
    pub heads_per_host: NonZeroUsize,
    /// Leases of one host at a time.
    pub per_host: NonZeroUsize,
    /// Which hosts share these and their pause.
    pub share_by: ShareBy,
    /// Which URL of a host is best.
    pub order: Order,
    /// URLs deeper than this stay queued and are not leased.
    pub max_depth: Option<u32>,
    /// A host with so many stored pages is not asked for more.
    pub max_pages_per_host: Option<NonZeroU64>,
    /// How long hosts that do not answer are left alone.
    pub back_off: BackOffPolicy,
    /// Whether queued rows are leased, and not only what waits beside them.
    pub rows: bool,
}

impl Default for FrontierLimits {
    /// One request to a host at a time, breadth first, no limits but memory's.
    fn default() -> Self {
        let [heads, heads_per_host] = [100_000, 1_000].map(|rows| NonZeroUsize::new(rows).unwrap_or(NonZeroUsize::MIN));
        Self {
            heads,
            heads_per_host,
            per_host: NonZeroUsize::MIN,
            share_by: ShareBy::default(),
            order: Order::Breadth,
            max_depth: None,
            max_pages_per_host: None,
            back_off: BackOffPolicy::default(),
            rows: true,
        }
    }
}
