//! Asking the URL table for the rows that memory does not hold.

use std::collections::{BTreeMap, HashSet};

use super::{Place, RefillKind, WorkItem, host_queue::LeasedPage};
use crate::candidate::Ticket;

/// Rows by their place. Each is on the heap: where many hosts hold a row or two, the nodes of their trees are mostly empty.
pub(super) type Rows = BTreeMap<Place, Box<WorkItem>>;

/// What happens to a host queue between a request and its answer: the answer shows the rows as they were at the request.
#[derive(Debug)]
pub(super) struct PendingRefill {
    pub(super) kind: RefillKind,
    limit: usize,
    offered: Rows,
    dropped: Option<Place>,
    settled: HashSet<Ticket>,
}

impl PendingRefill {
    pub(super) fn new(kind: RefillKind, limit: usize) -> Self {
        Self { kind, limit, offered: BTreeMap::new(), dropped: None, settled: HashSet::new() }
    }

    /// Remembers a row offered beyond the cursor; only the first `limit` of them, and the place where the rest begins.
    pub(super) fn offered(&mut self, place: Place, queued: WorkItem) {
        self.offered.insert(place, Box::new(queued));
        if self.offered.len() > self.limit {
            let (last, _) = self.offered.pop_last().expect("more than the limit are there");
            self.dropped = Some(self.dropped.map_or(last, |dropped| dropped.min(last)));
        }
    }

    /// Remembers that a leased row ended: the answer may still call it queued.
    pub(super) fn settled(&mut self, id: Ticket) {
        self.settled.insert(id);
    }

    /// Rows held for the answer.
    pub(super) fn len(&self) -> usize {
        self.offered.len()
    }

    /// The rows to keep in memory, and the new cursor. `rows` are all rows of the answer; those of `leased` are not queued any more.
    pub(super) fn merge(self, from: Place, rows: PlacedRows, leased: &[LeasedPage]) -> (Rows, Place) {
        let last = rows.placed.last().map_or(from, |(place, _)| *place);
        let reach = if rows.more { last } else { Place::LAST };
        let unleased = |id: Ticket| leased.iter().all(|page| page.id != id) && !self.settled.contains(&id);
        let mut merged = self.offered;
        merged.extend(rows.placed.into_iter().filter(|(_, queued)| unleased(queued.id)));
        merged.retain(|place, _| *place <= reach && self.dropped.is_none_or(|dropped| *place < dropped));
        let cursor = match self.dropped {
            Some(dropped) if dropped <= reach => merged.last_key_value().map_or(from, |(place, _)| *place),
            _ => reach,
        };
        (merged, cursor)
    }
}

/// The rows of an answer with their places.
#[derive(Debug)]
pub(super) struct PlacedRows {
    pub(super) placed: Vec<(Place, Box<WorkItem>)>,
    pub(super) more: bool,
}
