//! Asking the URL table for the rows that memory does not hold.

use std::collections::HashSet;

use super::{Place, RefillKind, WorkItem, rows::Rows};
use crate::candidate::Ticket;

/// What happens to a host queue between a request and its answer: the answer shows the rows as they were at the request.
#[derive(Debug)]
pub(super) struct PendingRefill {
    pub(super) kind: RefillKind,
    limit: usize,
    offered: Rows,
    dropped: Option<Place>,
    settled: HashSet<Ticket>,
    /// Ranks have changed since.
    pub(super) outdated: bool,
}

impl PendingRefill {
    pub(super) fn new(kind: RefillKind, limit: usize) -> Self {
        Self { kind, limit, offered: Rows::default(), dropped: None, settled: HashSet::new(), outdated: false }
    }

    /// Remembers a row offered beyond the cursor; only the first `limit` of them, and the place where the rest begins.
    pub(super) fn offered(&mut self, queued: WorkItem) {
        self.offered.insert(Box::new(queued));
        if self.offered.len() > self.limit {
            let last = self.offered.pop_last().expect("more than the limit are there").place();
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

    /// The rows to keep in memory, and the new cursor. `rows` are all rows of the answer; those that are leased are not queued any more.
    pub(super) fn merge(self, from: Place, rows: AnsweredRows, is_leased: impl Fn(Ticket) -> bool) -> (Rows, Place) {
        let last = rows.rows.last().map_or(from, WorkItem::place);
        let reach = if rows.more { last } else { Place::LAST };
        let unleased = |id: Ticket| !is_leased(id) && !self.settled.contains(&id);
        let mut merged = self.offered;
        merged.extend(rows.rows.into_iter().filter(|queued| unleased(queued.id)).map(Box::new));
        merged.retain(|row| row.place() <= reach && self.dropped.is_none_or(|dropped| row.place() < dropped));
        let cursor = match self.dropped {
            Some(dropped) if dropped <= reach => merged.last_place().unwrap_or(from),
            _ => reach,
        };
        (merged, cursor)
    }
}

/// The rows of an answer.
#[derive(Debug)]
pub(super) struct AnsweredRows {
    pub(super) rows: Vec<WorkItem>,
    pub(super) more: bool,
}
