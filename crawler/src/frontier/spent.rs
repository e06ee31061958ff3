//! Whether a host has all the pages that it may have.

use super::{FrontierLimits, host_queue::HostQueue};
use crate::queue::most_fetched;

impl HostQueue {
    /// Whether the host has all the pages it may have: what is queued on it waits for a larger budget.
    pub(super) fn is_spent(&self, limits: &FrontierLimits) -> bool {
        self.has_all(limits, 0)
    }

    /// Whether what is queued here waits for something that may take long: nobody else is to wait for it.
    pub(super) fn is_excluded(&self, limits: &FrontierLimits) -> bool {
        self.is_spent(limits) || self.health.is_down() || self.waits_elsewhere
    }

    /// The same when all that is leased, so many URLs, comes to an answer.
    pub(super) fn has_all(&self, limits: &FrontierLimits, leased: u64) -> bool {
        limits.max_pages_per_host.is_some_and(|most| {
            self.stored + leased >= most.get() || self.fetched + self.retrying() + leased >= most_fetched(most)
        })
    }
}
