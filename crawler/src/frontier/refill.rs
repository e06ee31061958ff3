//! Asking the URL table for the rows that memory does not hold.

use std::collections::{BTreeMap, HashSet};

use super::{Place, Queued, host_queue::LeasedPage};
use crate::{
    candidate::{HostId, UrlId},
    time::Moment,
};

/// Which rows of a host are asked for. The answer must see every row sent to the table before the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefillKind {
    /// Queued rows with no due time, beyond this place, in order of place.
    Beyond(Place),
    /// Rows to retry with `due` up to `until`, later than (`after`, `id`) in order of (due, id).
    Due {
        /// Due times already read, with `id`.
        after: Moment,
        /// The last row read at `after`.
        id: UrlId,
        /// The last due time to read.
        until: Moment,
    },
}

/// A request for at most `limit` rows of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefillRequest {
    /// Whose rows.
    pub host: HostId,
    /// Which of them.
    pub kind: RefillKind,
    /// How many at most.
    pub limit: usize,
    /// Only rows up to this depth.
    pub max_depth: Option<u32>,
}

/// The rows asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RefillAnswer {
    /// In the order asked for.
    pub rows: Vec<Queued>,
    /// For [`RefillKind::Due`]: the due time of the last row in `rows`.
    pub last_due: Option<Moment>,
    /// For [`RefillKind::Due`]: the earliest due time behind those rows.
    pub next_due: Option<Moment>,
    /// Whether the table held more rows of the kind than `rows`.
    pub more: bool,
}

/// What happens to a host queue between a request and its answer: the answer shows the rows as they were at the request.
#[derive(Debug)]
pub(super) struct PendingRefill {
    pub(super) kind: RefillKind,
    limit: usize,
    offered: BTreeMap<Place, Queued>,
    dropped: Option<Place>,
    settled: HashSet<UrlId>,
}

impl PendingRefill {
    pub(super) fn new(kind: RefillKind, limit: usize) -> Self {
        Self { kind, limit, offered: BTreeMap::new(), dropped: None, settled: HashSet::new() }
    }

    /// Remembers a row offered beyond the cursor; only the first `limit` of them, and the place where the rest begins.
    pub(super) fn offered(&mut self, place: Place, queued: Queued) {
        self.offered.insert(place, queued);
        if self.offered.len() > self.limit {
            let (last, _) = self.offered.pop_last().expect("more than the limit are there");
            self.dropped = Some(self.dropped.map_or(last, |dropped| dropped.min(last)));
        }
    }

    /// Remembers that a leased row ended: the answer may still call it queued.
    pub(super) fn settled(&mut self, id: UrlId) {
        self.settled.insert(id);
    }

    /// Rows held for the answer.
    pub(super) fn len(&self) -> usize {
        self.offered.len()
    }

    /// The rows to keep in memory, and the new cursor. `rows` are all rows of the answer; those of `leased` are not queued any more.
    pub(super) fn merge(
        self,
        from: Place,
        rows: PlacedRows,
        leased: &[LeasedPage],
    ) -> (BTreeMap<Place, Queued>, Place) {
        let last = rows.placed.last().map_or(from, |(place, _)| *place);
        let reach = if rows.more { last } else { Place::LAST };
        let unleased = |id: UrlId| leased.iter().all(|page| page.id != id) && !self.settled.contains(&id);
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
    pub(super) placed: Vec<(Place, Queued)>,
    pub(super) more: bool,
}
