//! [`Extras`]: what is fetched of a host beside its queued URLs, outside the counts.
//!
//! That is robots.txt files, and finished URLs that are fetched again for links that were lost.

use std::collections::{BTreeMap, VecDeque};

use super::{Frontier, Purpose, WorkItem};
use crate::{
    candidate::{HostId, Ticket},
    time::Moment,
};

/// robots.txt files and URLs that are fetched again. Most hosts have none at most times.
#[derive(Debug, Default)]
pub(super) struct Extras {
    /// robots.txt files, its own or of hosts that redirect here.
    pub(super) robots: VecDeque<WorkItem>,
    /// Finished URLs to be fetched again, by the moment before which they are not.
    pub(super) rescues: BTreeMap<(Moment, Ticket), WorkItem>,
}

impl Extras {
    /// The first URL to be fetched again, and when that may be.
    pub(super) fn first_rescue(&self) -> Option<(Moment, &WorkItem)> {
        self.rescues.first_key_value().map(|((due, _), item)| (*due, item))
    }

    pub(super) fn put_rescue(&mut self, item: WorkItem) {
        self.rescues.insert((item.due.unwrap_or(Moment::EPOCH), item.id), item);
    }

    pub(super) fn take_rescue(&mut self) -> Option<WorkItem> {
        self.rescues.pop_first().map(|(_, item)| item)
    }

    /// Takes something out; what is empty then takes no room.
    pub(super) fn take<T>(some: &mut Option<Box<Self>>, take: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let extras = some.as_mut()?;
        let taken = take(extras);
        if extras.robots.is_empty() && extras.rescues.is_empty() {
            *some = None;
        }
        taken
    }
}

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
        assert!(frontier.offer_rescue(WorkItem::discover(Ticket(1), host, url, Hop::Link)));
        for failed in [Moment::EPOCH, now] {
            let Next::Lease(lease) = frontier.next(now) else { panic!("it may be asked for") };
            frontier.complete(lease, Outcome::Retry { due: now, attempts: 1, failed }, Asked::Yes, now);
            let Next::Lease(again) = frontier.next(now) else { panic!("it may be asked for again") };
            assert_eq!(again.item().failed, Some(failed));
            frontier.complete(again, Outcome::Released, Asked::No, now);
        }
    }
}
