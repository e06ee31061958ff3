//! [`Extras`]: what is fetched of a host beside its queued URLs, outside the counts.
//!
//! That is robots.txt files, and what a purpose asks for that is no queued row, as finished URLs that are fetched again for
//! links that were lost.

use std::collections::{BTreeMap, VecDeque, btree_map::OccupiedEntry};

use super::{Frontier, Purpose, WorkItem, host_queue::HostQueue};
use crate::{
    candidate::{HostId, Ticket},
    time::Moment,
};

/// robots.txt files, and what is fetched beside the queued rows. Most hosts have none at most times.
#[derive(Debug, Default)]
pub(super) struct Extras {
    /// robots.txt files, its own or of hosts that redirect here.
    pub(super) robots: VecDeque<WorkItem>,
    /// All others, by the moment before which they are not fetched.
    pub(super) others: BTreeMap<(Moment, Ticket, Purpose), WorkItem>,
}

impl Extras {
    /// The first of the others, and when it may be fetched.
    pub(super) fn first_other(&self) -> Option<(Moment, &WorkItem)> {
        self.others.first_key_value().map(|((due, ..), item)| (*due, item))
    }

    pub(super) fn put_extra(&mut self, item: WorkItem) {
        self.others.insert((item.due.unwrap_or(Moment::EPOCH), item.id, item.purpose), item);
    }

    pub(super) fn take_extra(&mut self) -> Option<WorkItem> {
        self.others.pop_first().map(|(_, item)| item)
    }

    pub(super) fn take_last_due(&mut self, but: usize) -> Option<WorkItem> {
        if self.others.len() <= but {
            return None;
        }
        self.others.last_entry().filter(|last| last.get().purpose.is_due()).map(OccupiedEntry::remove)
    }

    /// Takes something out; what is empty then takes no room.
    pub(super) fn take<T>(some: &mut Option<Box<Self>>, take: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let extras = some.as_mut()?;
        let taken = take(extras);
        if extras.robots.is_empty() && extras.others.is_empty() {
            *some = None;
        }
        taken
    }
}

impl HostQueue {
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
        frontier::{Asked, FrontierLimits, HostStart, Next, Outcome},
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
