//! How URLs that are no queued rows are offered, and given up.

use super::{Frontier, Purpose, WorkItem, extras::Extras, host_queue::HostQueue};
use crate::{candidate::HostId, time::Moment};

impl HostQueue {
    /// The first extra, and when it is due. A guess that failed waits until the host has answered another URL, if there is one to
    /// ask for: a host that fails over its sitemap alone would never be asked for a page.
    pub(super) fn first_extra(&self) -> Option<(Moment, &WorkItem)> {
        let (due, first) = self.extras.as_ref()?.first_other()?;
        let failed = first.failed.filter(|_| first.purpose == Purpose::Guess && self.queued() > 0);
        let waits = failed.is_some_and(|failed| !self.health.has_answered_since(failed));
        Some((due, first)).filter(|_| !waits)
    }

    /// Takes the last extras that are due between sequences, but for so many extras.
    pub(super) fn take_due(&mut self, but: usize) -> Vec<WorkItem> {
        let mut taken = Vec::new();
        while let Some(item) = Extras::take(&mut self.extras, |extras| extras.take_last_due(but)) {
            taken.push(item);
        }
        taken
    }

    /// Takes all extras but robots.txt.
    pub(super) fn take_extras(&mut self) -> Vec<WorkItem> {
        let taken = Extras::take(&mut self.extras, |extras| Some(std::mem::take(&mut extras.others)));
        taken.unwrap_or_default().into_values().collect()
    }
}

impl Frontier {
    /// Has a URL fetched that is no queued row, before those of its host. Refused on a host that is closed.
    #[must_use = "a refused one is not fetched"]
    pub fn offer_extra(&mut self, item: WorkItem) -> bool {
        let host = item.host;
        let queue = self.queue(host);
        if queue.closed {
            return false;
        }
        queue.put_extra(item);
        self.extras += 1;
        self.plan(host);
        true
    }

    /// Gives up those of a host that was closed, but for its robots.txt.
    pub fn drop_extras(&mut self, host: HostId) -> Vec<WorkItem> {
        let dropped = self.queue(host).take_extras();
        self.extras -= dropped.len() as u64;
        self.plan(host);
        dropped
    }

    /// Gives up what is due on hosts that do not answer, but for so many pages of each.
    pub fn drop_due(&mut self, but: usize) -> Vec<WorkItem> {
        let hosts: Vec<HostId> = self.unhealthy.iter().copied().collect();
        let dropped: Vec<WorkItem> = hosts.iter().flat_map(|host| self.queue(*host).take_due(but)).collect();
        self.extras -= dropped.len() as u64;
        for host in hosts {
            self.plan(host);
        }
        dropped
    }

    /// Gives up the sitemaps that may be on hosts that do not answer; on how many hosts.
    pub fn drop_guesses(&mut self) -> u64 {
        let hosts: Vec<HostId> = self.unhealthy.iter().copied().collect();
        let mut dropped = 0;
        for host in hosts {
            while Extras::take(&mut self.queue(host).extras, Extras::take_guess).is_some() {
                dropped += 1;
            }
            self.plan(host);
        }
        self.extras -= dropped;
        dropped
    }

    /// Gives up the URLs of a host that are to be checked.
    pub fn drop_link_checks(&mut self, host: HostId) -> Vec<WorkItem> {
        self.drop_those(host, Purpose::is_link_check)
    }

    fn drop_those(&mut self, host: HostId, which: fn(Purpose) -> bool) -> Vec<WorkItem> {
        let taken = Extras::take(&mut self.queue(host).extras, |extras| Some(extras.take_all(which)));
        let dropped = taken.unwrap_or_default();
        self.extras -= dropped.len() as u64;
        self.plan(host);
        dropped
    }

    /// The same of all hosts that do not answer.
    pub fn drop_unhealthy_link_checks(&mut self) -> Vec<WorkItem> {
        let hosts: Vec<HostId> = self.unhealthy.iter().copied().collect();
        hosts.into_iter().flat_map(|host| self.drop_link_checks(host)).collect()
    }

    /// Gives up the second looks at pages.
    pub fn drop_second_looks(&mut self) -> Vec<WorkItem> {
        let hosts: Vec<HostId> = (0..).map(HostId).take(self.hosts.len()).collect();
        hosts.into_iter().flat_map(|host| self.drop_those(host, |purpose| purpose == Purpose::Confirm)).collect()
    }

    /// The same of all hosts that do not answer.
    pub fn drop_unhealthy_second_looks(&mut self) -> Vec<WorkItem> {
        let hosts: Vec<HostId> = self.unhealthy.iter().copied().collect();
        hosts.into_iter().flat_map(|host| self.drop_those(host, |purpose| purpose == Purpose::Confirm)).collect()
    }

    /// Gives up all extras but robots.txt.
    pub fn drop_all_extras(&mut self) {
        for host in 0..self.hosts.len() {
            self.extras -= self.hosts[host].take_extras().len() as u64;
        }
        self.plan_all();
    }

    /// A page that had its answer is not to be fetched any more.
    pub fn abandon_finished(&mut self) {
        self.counts.finished -= 1;
        self.counts.abandoned += 1;
    }

    /// How many of them there are, or are leased, but for robots.txt files.
    pub fn extras(&self) -> u64 {
        self.extras
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        candidate::{Hop, Ticket},
        frontier::{Asked, FrontierLimits, HostStart, Next, Outcome, Purpose},
        time::Moment,
        url::WebUrl,
    };

    #[test]
    fn what_was_charged_at_once_is_known_when_it_is_fetched_again() {
        let now = Moment::from_millis(1_000_000);
        let mut frontier = Frontier::new(FrontierLimits::default());
        let url = WebUrl::parse("http://h/").unwrap();
        let host = HostStart::new(url.origin(), Duration::ZERO);
        let host = frontier.add_host(HostStart { robots_until: now + Duration::from_hours(1), ..host });
        let item = WorkItem::discover(Ticket(1), host, url, Hop::Link);
        assert!(frontier.offer_extra(WorkItem { purpose: Purpose::Rescue, ..item }));
        for failed in [Moment::EPOCH, now] {
            let Next::Lease(lease) = frontier.next(now) else { panic!("it may be asked for") };
            frontier.complete(lease, Outcome::Retry { due: now, attempts: 1, failed }, Asked::Yes, now);
            let Next::Lease(again) = frontier.next(now) else { panic!("it may be asked for again") };
            assert_eq!(again.item().failed, Some(failed));
            frontier.complete(again, Outcome::Released, Asked::No, now);
        }
    }
}
