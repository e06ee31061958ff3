//! [`Extras`]: what is fetched of a host beside its queued URLs, outside the counts.
//!
//! These are robots.txt files, and URLs that are no queued rows, such as finished URLs that are fetched again for lost links.

use std::collections::{BTreeMap, VecDeque, btree_map::OccupiedEntry};

use super::{Purpose, WorkItem};
use crate::{candidate::Ticket, time::Moment};

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

    pub(super) fn take_guess(&mut self) -> Option<WorkItem> {
        let guess = self.others.iter().find(|(_, item)| item.purpose == Purpose::Guess).map(|(key, _)| *key)?;
        self.others.remove(&guess)
    }

    pub(super) fn take_all(&mut self, which: fn(Purpose) -> bool) -> Vec<WorkItem> {
        let all = std::mem::take(&mut self.others).into_iter();
        let (taken, left) = all.partition(|((.., purpose), _)| which(*purpose));
        self.others = left;
        BTreeMap::into_values(taken).collect()
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
