//! [`Rows`]: queued rows in their order.

use std::collections::VecDeque;

use super::{Place, WorkItem};

/// Rows by their place, the best first. Each is on the heap, in a queue that is as long as what it holds: there may be very
/// many hosts that hold a row or two, or none.
#[derive(Debug, Default)]
pub(super) struct Rows(VecDeque<Box<WorkItem>>);

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The best one.
    pub(super) fn first(&self) -> Option<&WorkItem> {
        self.0.front().map(|row| &**row)
    }

    /// The last one.
    pub(super) fn last(&self) -> Option<&WorkItem> {
        self.0.back().map(|row| &**row)
    }

    /// The place of the last one.
    pub(super) fn last_place(&self) -> Option<Place> {
        self.last().map(WorkItem::place)
    }

    /// Puts a row in its place; one that is there already gives way.
    pub(super) fn insert(&mut self, row: Box<WorkItem>) {
        let place = row.place();
        // Mostly the last: with the order `breadth` what is found later is fetched later.
        if self.last_place().is_none_or(|last| last < place) {
            return self.0.push_back(row);
        }
        match self.find(place) {
            Ok(at) => self.0[at] = row,
            Err(at) => self.0.insert(at, row),
        }
    }

    /// Takes the row of this place out.
    pub(super) fn remove(&mut self, place: Place) -> Option<Box<WorkItem>> {
        let row = self.0.remove(self.find(place).ok()?);
        self.trim();
        row
    }

    /// Takes the last row out.
    pub(super) fn pop_last(&mut self) -> Option<Box<WorkItem>> {
        let row = self.0.pop_back();
        self.trim();
        row
    }

    /// Keeps the rows for which this holds.
    pub(super) fn retain(&mut self, keeps: impl FnMut(&Box<WorkItem>) -> bool) {
        self.0.retain(keeps);
    }

    fn find(&self, place: Place) -> Result<usize, usize> {
        self.0.binary_search_by_key(&place, |row| row.place())
    }

    /// Gives room back, where most of it is empty.
    fn trim(&mut self) {
        if 4 * self.0.len() < self.0.capacity() {
            self.0.shrink_to(2 * self.0.len());
        }
    }
}

impl Extend<Box<WorkItem>> for Rows {
    fn extend<T: IntoIterator<Item = Box<WorkItem>>>(&mut self, rows: T) {
        rows.into_iter().for_each(|row| self.insert(row));
    }
}

impl IntoIterator for Rows {
    type Item = Box<WorkItem>;
    type IntoIter = std::collections::vec_deque::IntoIter<Box<WorkItem>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        candidate::{Hop, HostId, Ticket},
        url::WebUrl,
    };

    fn row(id: u64, rank: i64) -> Box<WorkItem> {
        let url = WebUrl::parse("http://h/").unwrap();
        Box::new(WorkItem { rank, ..WorkItem::discover(Ticket(id), HostId(0), url, Hop::Link) })
    }

    #[test]
    fn are_in_order_and_keep_no_room_for_what_has_gone() {
        let mut rows = Rows::default();
        rows.extend((0..100).map(|id| row(id, i64::try_from(id * 37 % 100).unwrap())));
        rows.insert(row(0, 0));
        assert_eq!(rows.len(), 100);
        assert_eq!(rows.pop_last().map(|row| row.rank), Some(99));
        let mut ranks = Vec::new();
        while let Some(place) = rows.first().map(WorkItem::place) {
            ranks.push(rows.remove(place).unwrap().rank);
            assert!(rows.0.capacity() <= 4 * rows.len().max(1), "{} rows, {} places", rows.len(), rows.0.capacity());
        }
        assert_eq!(ranks, (0..99).collect::<Vec<_>>());
        assert_eq!((rows.0.capacity(), rows.len()), (0, 0));
    }
}
