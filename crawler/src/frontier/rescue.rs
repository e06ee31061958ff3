//! Fetching finished URLs again, for links that were lost.

use super::{Frontier, Purpose, WorkItem};
use crate::candidate::HostId;

impl Frontier {
    /// Has a finished URL fetched again, before the queued ones of its host. Refused on a host that is closed.
    #[must_use = "a refused one is not fetched"]
    pub fn offer_rescue(&mut self, item: WorkItem) -> bool {
        let host = item.host;
        let queue = self.queue(host);
        if queue.closed {
            return false;
        }
        queue.put_rescue(WorkItem { purpose: Purpose::Rescue, due: None, failed: None, attempts: 0, ..item });
        self.rescues += 1;
        self.plan(host);
        true
    }

    /// Gives up what was to be fetched again on a host that was closed.
    pub fn drop_rescues(&mut self, host: HostId) -> Vec<WorkItem> {
        let dropped = self.queue(host).take_rescues();
        self.rescues -= dropped.len() as u64;
        self.plan(host);
        dropped
    }

    /// How many URLs are to be fetched again, or just are.
    pub fn rescues(&self) -> u64 {
        self.rescues
    }
}
