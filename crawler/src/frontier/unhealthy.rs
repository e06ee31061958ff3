//! Hosts that do not answer: what is to blame, what that holds up, and when a run gives up.

use super::{Asked, Blame, FailedFetch, Frontier, Lease, Next, Outcome, levels::Levels};
use crate::{candidate::HostId, health::HealthRow, time::Moment, url::Origin};

impl Frontier {
    /// A leased fetch failed in a way for which its host may be to blame. Call it before the lease is completed. What
    /// changed is in [`Self::health`].
    pub fn failed(&mut self, lease: &Lease, failure: FailedFetch, now: Moment) -> Blame {
        let host = lease.item.host;
        let queue = &mut self.hosts[host.0 as usize];
        let fault = queue.health.failed(&lease.item, failure, lease.granted, now, &self.limits.back_off);
        self.health_changed(host);
        fault
    }

    /// What `host` needs from elsewhere (its robots.txt, where that is redirected) could not be had.
    pub fn failed_elsewhere(&mut self, host: HostId, failure: FailedFetch, granted: Moment, now: Moment) {
        let health = &mut self.hosts[host.0 as usize].health;
        health.failed_elsewhere(host.0, failure, [granted, now], &self.limits.back_off);
        self.health_changed(host);
    }

    /// A host forbids what it was asked for. Whether it has done so for so many URLs in a row that it may forbid all of them.
    pub fn forbids(&mut self, lease: &Lease) -> bool {
        self.queue(lease.item.host).health.forbids()
    }

    /// A host gave an answer to a leased request, a good one or one that forbids. Whether it was down before.
    pub fn answered(&mut self, lease: &Lease, is_good: bool) -> bool {
        let host = lease.item.host;
        let queue = &mut self.hosts[host.0 as usize];
        if is_good {
            queue.health.permits();
        }
        let recovered = queue.health.answered(&lease.item, lease.granted, &self.limits.back_off);
        if recovered {
            self.health_changed(host);
        }
        recovered
    }

    /// A URL that was known to be good tells nothing of its host any more.
    pub fn drop_good(&mut self, lease: &Lease) {
        self.queue(lease.item.host).health.forget_good(&lease.item.url);
    }

    /// A URL that was known to be good may not be asked for any more: another one is to find out whether its host answers.
    pub fn forget_good(&mut self, lease: Lease, now: Moment) {
        self.drop_good(&lease);
        self.complete(lease, Outcome::Finished { stored: false }, Asked::No, now);
    }

    /// The host's health as it is stored; `None` when it is well.
    pub fn health(&self, host: HostId) -> Option<HealthRow> {
        self.hosts[host.0 as usize].health.row()
    }

    /// Whether the host of a lease is not to be asked now: its delay, a pause, or that of a group of it has not passed.
    pub fn rests(&self, lease: &Lease, now: Moment) -> bool {
        self.hosts[lease.item.host.0 as usize].not_before() > now || self.group_rests(lease, now)
    }

    /// How many hosts are not well.
    pub fn unhealthy(&self) -> usize {
        self.unhealthy.len()
    }

    /// One of them.
    pub fn first_unhealthy(&self) -> Option<&Origin> {
        self.unhealthy.iter().next().map(|host| &self.hosts[host.0 as usize].origin)
    }

    /// Whether a host has ever answered in this crawl.
    pub fn answers(&self, host: HostId) -> bool {
        self.hosts[host.0 as usize].health.answers
    }

    /// Nothing can be done before `at`; where all that is left is on hosts that are silent, the run may end before.
    pub(super) fn wait(&self, at: Moment, now: Moment) -> Next {
        if self.is_under_way() || self.groups.waiting() > 0 || self.unhealthy.len() < self.agenda.len() {
            return Next::WaitUntil(at);
        }
        let mut last = Moment::EPOCH;
        for host in self.agenda.hosts() {
            let queue = &self.hosts[host.0 as usize];
            // What waits for a URL's own time may find that the host is well.
            let waits_for_url = self.turn(host).is_some_and(|turn| turn > queue.not_before().max(now));
            match queue.health.gives_up(&self.limits.back_off) {
                Some(moment) if !waits_for_url => last = last.max(moment),
                _ => return Next::WaitUntil(at),
            }
        }
        if last <= now { Next::Unreachable } else { Next::WaitUntil(at.min(last)) }
    }

    /// The host's health has changed: what is queued on it may count for the levels no more, or again.
    pub(super) fn health_changed(&mut self, host: HostId) {
        if self.hosts[host.0 as usize].health.is_down() {
            self.unhealthy.insert(host);
        } else {
            self.unhealthy.remove(&host);
        }
        self.change_levels(host, |_| {});
        self.plan(host);
    }

    /// Changes what the levels count, and has them count what is queued on this host, or not, as it is now.
    pub(super) fn change_levels(&mut self, host: HostId, change: impl FnOnce(&mut Levels)) {
        let before = self.level();
        change(&mut self.levels);
        let queue = &mut self.hosts[host.0 as usize];
        let excluded = queue.is_excluded(&self.limits);
        if std::mem::replace(&mut queue.excluded, excluded) != excluded {
            for (depth, count) in queue.queued_by_depth() {
                if excluded { self.levels.remove(depth, count) } else { self.levels.add(depth, count) }
            }
        }
        if self.level() != before {
            self.plan_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{num::NonZeroUsize, time::Duration};

    use super::*;
    use crate::{
        candidate::{Hop, Ticket},
        frontier::{BackOffPolicy, FrontierLimits, HostStart, WorkItem},
        health::FailureCause,
        url::WebUrl,
    };

    const NOW: Moment = Moment::EPOCH;

    /// A frontier whose only host has these URLs, and a robots.txt that was read.
    fn frontier(urls: &[WorkItem], give_up: Duration) -> Frontier {
        let back_off = BackOffPolicy { give_up, give_up_unknown: give_up, ..BackOffPolicy::default() };
        let per_host = NonZeroUsize::new(3).unwrap();
        let mut frontier = Frontier::new(FrontierLimits { per_host, back_off, ..FrontierLimits::default() });
        let host = HostStart::new(urls[0].url.origin(), Duration::ZERO);
        let host = frontier.add_host(HostStart { robots_until: NOW + Duration::from_hours(1), ..host });
        assert_eq!(host, HostId(0));
        for url in urls {
            frontier.offer(url.clone());
        }
        frontier
    }

    fn url(id: u64, failed: Option<Moment>) -> WorkItem {
        let url = WebUrl::parse(&format!("http://h/{id}")).unwrap();
        WorkItem { failed, ..WorkItem::discover(Ticket(id), HostId(0), url, Hop::Link) }
    }

    fn lease(frontier: &mut Frontier, now: Moment) -> Option<Lease> {
        if let Next::Lease(lease) = frontier.next(now) { Some(lease) } else { None }
    }

    #[test]
    fn what_failed_before_is_asked_for_alone() {
        let mut frontier = frontier(&[url(1, None), url(2, Some(NOW)), url(3, None), url(4, None)], Duration::ZERO);
        let end = |frontier: &mut Frontier, lease: Lease| {
            frontier.complete(lease, Outcome::Finished { stored: true }, Asked::Yes, NOW);
        };
        let first = lease(&mut frontier, NOW).expect("it is fresh");
        assert_eq!(lease(&mut frontier, NOW), None, "the next had failed, and waits until the first has ended");
        end(&mut frontier, first);
        let alone = lease(&mut frontier, NOW).expect("nothing else is asked for");
        assert_eq!((alone.item().id, lease(&mut frontier, NOW)), (Ticket(2), None), "nothing is asked for beside it");
        end(&mut frontier, alone);
        assert!([0; 2].iter().all(|_| lease(&mut frontier, NOW).is_some()), "fresh ones are asked for together");
    }

    #[test]
    fn a_run_goes_on_while_a_url_of_an_unhealthy_host_waits_for_its_own_time() {
        let mut frontier = frontier(&[url(1, None)], Duration::from_millis(1));
        let lease = lease(&mut frontier, NOW).expect("it may be asked for");
        let failure = FailedFetch { cause: FailureCause::Refused, retry_after: None };
        for _ in 0..2 {
            frontier.failed(&lease, failure, NOW);
        }
        let due = NOW + Duration::from_mins(2);
        frontier.complete(lease, Outcome::Retry { due, attempts: 1, failed: NOW }, Asked::Yes, NOW);
        assert_eq!(frontier.next(NOW + Duration::from_mins(1)), Next::WaitUntil(due), "its host may be well then");
    }
}
