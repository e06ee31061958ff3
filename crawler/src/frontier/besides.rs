//! [`Besides`]: what is to be fetched of a host beside its queued URLs.

use std::collections::{BTreeMap, VecDeque};

use super::WorkItem;
use crate::{candidate::Ticket, time::Moment};

/// robots.txt files and URLs that are fetched again. Most hosts have none at most times.
#[derive(Debug, Default)]
pub(super) struct Besides {
    /// robots.txt files, its own or of hosts that redirect here.
    pub(super) robots: VecDeque<WorkItem>,
    /// Finished URLs to be fetched again, by the moment before which they are not.
    pub(super) rescues: BTreeMap<(Moment, Ticket), WorkItem>,
}

impl Besides {
    /// When the first URL may be fetched again.
    pub(super) fn rescue_due(&self) -> Option<Moment> {
        self.rescues.first_key_value().map(|((due, _), _)| *due)
    }

    pub(super) fn put_rescue(&mut self, item: WorkItem) {
        self.rescues.insert((item.due.unwrap_or(Moment::EPOCH), item.id), item);
    }

    /// The URL that may be fetched again now.
    pub(super) fn first_rescue(&self, now: Moment) -> Option<&WorkItem> {
        self.rescues.first_key_value().filter(|((due, _), _)| *due <= now).map(|(_, item)| item)
    }

    pub(super) fn take_rescue(&mut self, now: Moment) -> Option<WorkItem> {
        let first = self.rescues.first_entry().filter(|entry| entry.key().0 <= now);
        first.map(std::collections::btree_map::OccupiedEntry::remove)
    }

    /// Takes something out; what is empty then takes no room.
    pub(super) fn take<T>(some: &mut Option<Box<Self>>, take: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let besides = some.as_mut()?;
        let taken = take(besides);
        if besides.robots.is_empty() && besides.rescues.is_empty() {
            *some = None;
        }
        taken
    }
}
