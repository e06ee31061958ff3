//! [`Retries`]: rows of a host that are fetched once more.

use super::{RefillAnswer, rows::Rows};
use crate::{candidate::Ticket, time::Moment};

/// What is to be tried again, in memory and in the table. Most hosts never have any.
#[derive(Debug, Default)]
pub(super) struct Retries {
    /// Those in memory: their time has come.
    pub(super) rows: Rows,
    /// Rows that the table alone holds.
    waiting: u64,
    /// Queued rows, with a due time or without, that cost an attempt.
    pub(super) tried: u64,
    /// The earliest due time in the table.
    pub(super) next_due: Option<Moment>,
    /// The last row that was read.
    pub(super) read_due: (Moment, Ticket),
}

impl Retries {
    /// What the table holds at a start; `None` where that is nothing.
    pub(super) fn known(waiting: u64, tried: u64, next_due: Option<Moment>) -> Option<Self> {
        let some = waiting > 0 || tried > 0 || next_due.is_some();
        some.then(|| Self { waiting, tried, next_due, ..Self::default() })
    }

    /// How many rows there are.
    pub(super) fn queued(&self) -> u64 {
        self.waiting + self.rows.len() as u64
    }

    /// Whether the table holds one whose time has come.
    pub(super) fn are_due(&self, now: Moment) -> bool {
        self.next_due.is_some_and(|due| due <= now)
    }

    /// A row is to be tried again, and the table holds it.
    pub(super) fn later(&mut self, due: Moment, attempts: u32) {
        self.waiting += 1;
        self.tried += u64::from(attempts > 0);
        self.next_due = Some(self.next_due.map_or(due, |next| next.min(due)));
    }

    /// Takes in what was read from the table.
    pub(super) fn read(&mut self, answer: RefillAnswer) {
        if let (Some(due), Some(last)) = (answer.last_due, answer.rows.last()) {
            self.read_due = (due, last.id);
        }
        self.waiting -= answer.rows.len() as u64;
        self.rows.extend(answer.rows.into_iter().map(Box::new));
        self.next_due = [answer.next_due, self.next_due].into_iter().flatten().min();
    }
}
