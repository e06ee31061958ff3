//! The ceiling on rows in memory, over all hosts.
//!
//! Each host that has a turn may hold its share of the ceiling, up to `heads_per_host`; so rows that are read for one host never drive out
//! rows just read for another. A host keeps its turn while its rows are read, and is granted a lease when they arrive. Very many hosts,
//! with a share of a row or two each, therefore hold hardly any rows: newly admitted rows are not held either.

use std::num::NonZeroUsize;

use super::{Frontier, host_queue::HostQueue};
use crate::candidate::HostId;

/// Room is made where memory is over its ceiling by one part in so many.
const SLACK: usize = 8;

/// Where more hosts than these have a turn, what is admitted on them is left to the table until theirs comes.
const MANY_HOSTS: usize = 10_000;

impl Frontier {
    /// Rows of one host that memory holds of those that are offered.
    pub(super) fn share_of_offered(&self) -> usize {
        if self.sharing.hosts > MANY_HOSTS { 0 } else { self.limits.heads_per_host.get() }
    }

    /// Changes what memory holds of a host, and keeps to the ceilings.
    pub(super) fn remembering(&mut self, host: HostId, change: impl FnOnce(&mut HostQueue, usize)) {
        let limit = self.limits.heads_per_host.get();
        let queue = &mut self.hosts[host.0 as usize];
        let before = queue.in_memory();
        change(queue, limit);
        self.in_memory = self.in_memory + queue.in_memory() - before;
        let most = self.limits.heads.get().max(2 * self.sharing.hosts);
        if self.in_memory > most.max(self.sharing.left) + most / SLACK {
            self.make_room();
        }
    }

    /// Gives each host its share, when the number of hosts that have a turn has changed much.
    pub(super) fn share(&mut self) {
        let hosts = (self.agenda.len() + self.groups.waiting()).max(1);
        if hosts > 2 * self.sharing.hosts || 2 * hosts < self.sharing.hosts {
            self.sharing.hosts = hosts;
            let share = (self.limits.heads.get() / hosts).clamp(1, self.sharing.per_host);
            self.limits.heads_per_host = NonZeroUsize::new(share).unwrap_or(NonZeroUsize::MIN);
        }
    }

    /// Leaves to the table what is more than each host's share.
    fn make_room(&mut self) {
        let share = self.limits.heads_per_host.get();
        for queue in &mut self.hosts {
            let before = queue.in_memory();
            queue.shrink(share);
            self.in_memory = self.in_memory + queue.in_memory() - before;
        }
        self.sharing.left = self.in_memory;
    }

    /// Rows that memory never holds more than: the ceiling with its slack, and what cannot be left to the table, retries that
    /// were read and rows offered meanwhile.
    #[cfg(test)]
    pub(crate) fn most_in_memory(&self) -> usize {
        let most = self.limits.heads.get().max(2 * self.sharing.hosts);
        most + most / SLACK + self.hosts.len() * (2 * self.sharing.per_host + 2)
    }
}
