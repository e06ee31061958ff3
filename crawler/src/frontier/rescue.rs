//! Fetching finished URLs again, for links that were lost.

use super::{Asked, Frontier, Lease, Queued, Work};
use crate::{candidate::HostId, time::Moment};

impl Frontier {
    /// Has a finished URL fetched again, before the queued ones of its host. Refused on a host that is closed.
    #[must_use = "a refused one is not fetched"]
    pub fn offer_rescue(&mut self, queued: Queued) -> bool {
        let host = queued.host;
        let queue = &mut self.hosts[host.0 as usize];
        if queue.closed {
            return false;
        }
        queue.rescues.insert((Moment::EPOCH, queued.id), queued);
        self.rescues += 1;
        self.plan(host);
        true
    }

    /// Ends the lease of such a fetch that failed: it is done again, not before `due`.
    pub fn retry_rescue(&mut self, lease: Lease, due: Moment, asked: Asked, now: Moment) {
        let host = self.end_slot(&lease, asked, now);
        let Work::Rescue(queued) = lease.work else { unreachable!("other work has a completion of its own") };
        self.leased_rescues -= 1;
        let queued = Queued { attempts: queued.attempts + 1, ..queued };
        self.hosts[host.0 as usize].rescues.insert((due, queued.id), queued);
        self.plan(host);
    }

    /// Ends the lease of such a fetch that was not made; it is as if it had not been granted.
    pub fn release_rescue(&mut self, lease: Lease, now: Moment) {
        let host = self.end_slot(&lease, Asked::No, now);
        let Work::Rescue(queued) = lease.work else { unreachable!("other work has a completion of its own") };
        self.leased_rescues -= 1;
        self.hosts[host.0 as usize].rescues.insert((Moment::EPOCH, queued.id), queued);
        self.plan(host);
    }

    /// Ends the lease of such a fetch; returns what was fetched.
    pub fn complete_rescue(&mut self, lease: Lease, asked: Asked, now: Moment) -> Queued {
        let host = self.end_slot(&lease, asked, now);
        let Work::Rescue(queued) = lease.work else { unreachable!("other work has a completion of its own") };
        self.leased_rescues -= 1;
        self.rescues -= 1;
        self.plan(host);
        queued
    }

    /// Gives up what was to be fetched again on a host that was closed.
    pub fn drop_rescues(&mut self, host: HostId) -> Vec<Queued> {
        let dropped: Vec<_> = std::mem::take(&mut self.hosts[host.0 as usize].rescues).into_values().collect();
        self.rescues -= dropped.len() as u64;
        self.plan(host);
        dropped
    }

    /// How many URLs are to be fetched again, or just are.
    pub fn rescues(&self) -> u64 {
        self.rescues
    }
}
