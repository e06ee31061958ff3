//! [`Waiting`]: leases that wait until the robots.txt of their host is read back from its row.

use std::collections::{HashMap, VecDeque};

use crate::{candidate::HostId, frontier::Lease};

/// Leases that wait for the store's answer, and those that wait for their turn after it.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    waiting: HashMap<HostId, Vec<Lease>>,
    ready: VecDeque<Lease>,
}

impl Waiting {
    /// Has a lease wait; whether the store is to be asked, because it is the first of its host.
    pub(super) fn add(&mut self, lease: Lease) -> bool {
        let waiting = self.waiting.entry(lease.host()).or_default();
        waiting.push(lease);
        waiting.len() == 1
    }

    /// The leases of a host whose robots.txt was read.
    pub(super) fn read(&mut self, host: HostId) -> Vec<Lease> {
        self.waiting.remove(&host).unwrap_or_default()
    }

    /// A lease may be carried out: it waits for its turn, as a new one does.
    pub(super) fn ready(&mut self, lease: Lease) {
        self.ready.push_back(lease);
    }

    /// Whether one waits for its turn.
    pub(super) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The first of them.
    pub(super) fn next_ready(&mut self) -> Option<Lease> {
        self.ready.pop_front()
    }

    /// How many leases there are.
    pub(super) fn len(&self) -> usize {
        self.waiting.values().map(Vec::len).sum::<usize>() + self.ready.len()
    }
}
