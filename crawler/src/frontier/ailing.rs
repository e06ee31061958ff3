//! Hosts that do not answer: who is to blame, whom that holds up, and when a run gives up.

use super::{Asked, Failure, Fault, Frontier, Lease, Next, Outcome, levels::Levels};
use crate::{candidate::HostId, health::HealthRow, time::Moment};

impl Frontier {
    /// A leased fetch failed in a way for which its host may be to blame. To be told before the lease is completed. What
    /// changed is in [`Self::health`].
    pub fn failed(&mut self, lease: &Lease, failure: Failure, now: Moment) -> Fault {
        let host = lease.item.host;
        let queue = &mut self.hosts[host.0 as usize];
        let fault = queue.health.failed(&lease.item, failure, lease.granted, now, &self.limits.back_off);
        self.sidelining(host);
        fault
    }

    /// What `host` needs from elsewhere (its robots.txt, where that is redirected) could not be had.
    pub fn failed_elsewhere(&mut self, host: HostId, failure: Failure, granted: Moment, now: Moment) {
        self.hosts[host.0 as usize].health.ail(failure, host.0, granted, now, &self.limits.back_off);
        self.sidelining(host);
    }

    /// A host gave an answer to a leased request. Whether it was ailing before.
    pub fn answered(&mut self, lease: &Lease) -> bool {
        let host = lease.item.host;
        let recovered = self.queue(host).health.answered(&lease.item, lease.granted);
        if recovered {
            self.sidelining(host);
        }
        recovered
    }

    /// A URL that was known to be good may not be asked for any more: another one is to find out whether its host answers.
    pub fn forget_good(&mut self, lease: Lease, now: Moment) {
        self.queue(lease.item.host).health.forget_good(&lease.item.url);
        self.complete(lease, Outcome::Finished { stored: false }, Asked::No, now);
    }

    /// The host's health as it is stored; `None` when it is well.
    pub fn health(&self, host: HostId) -> Option<HealthRow> {
        self.hosts[host.0 as usize].health.row()
    }

    /// How many hosts are not well.
    pub fn ailing(&self) -> usize {
        self.ailing.len()
    }

    /// Whether a host has ever answered in this crawl.
    pub fn answers(&self, host: HostId) -> bool {
        self.hosts[host.0 as usize].health.answers
    }

    /// Nothing can be done before `at`; where all that is left is on hosts that are silent, the run may end before.
    pub(super) fn wait(&self, at: Moment, now: Moment) -> Next {
        if self.is_under_way() || self.ailing.len() < self.agenda.len() {
            return Next::WaitUntil(at);
        }
        let mut last = Moment::EPOCH;
        for host in self.agenda.hosts() {
            match self.hosts[host.0 as usize].health.gives_up(&self.limits.back_off) {
                Some(moment) => last = last.max(moment),
                None => return Next::WaitUntil(at),
            }
        }
        if last <= now { Next::Unreachable } else { Next::WaitUntil(at.min(last)) }
    }

    /// The host's health has changed: what is queued on it may count for the levels no more, or again.
    fn sidelining(&mut self, host: HostId) {
        if self.hosts[host.0 as usize].health.is_ailing() {
            self.ailing.insert(host);
        } else {
            self.ailing.remove(&host);
        }
        self.change_levels(host, |_| {});
        self.plan(host);
    }

    /// Changes what the levels count, and has them count what is queued on this host, or not, as it stands now.
    pub(super) fn change_levels(&mut self, host: HostId, change: impl FnOnce(&mut Levels)) {
        let before = self.level();
        change(&mut self.levels);
        let queue = &mut self.hosts[host.0 as usize];
        let sidelined = queue.is_sidelined(&self.limits);
        if std::mem::replace(&mut queue.sidelined, sidelined) != sidelined {
            for (depth, count) in queue.queued_by_depth() {
                if sidelined { self.levels.remove(depth, count) } else { self.levels.add(depth, count) }
            }
        }
        if self.level() != before {
            self.plan_all();
        }
    }
}
