//! What is asked for, and found, where single pages are visited between sequences: those that a policy takes to have changed, and
//! those that wait for a second look.

use std::time::Duration;

use crate::{
    revisit::{Budget, GivenIntervals},
    time::Moment,
};

/// Which pages are to be visited once more.
#[derive(Debug, Clone)]
pub struct RevisitOrder {
    /// Now.
    pub at: Moment,
    /// The visits that are divided among all pages.
    pub budget: Budget,
    /// Visits that may be made now, of those that explore too.
    pub most: usize,
    /// Of these, visits for the pages longest unvisited.
    pub exploring: usize,
    /// Time that has passed at least since the last visit of one that is explored.
    pub soonest: Duration,
    /// The pages with an interval of their own, which are visited besides.
    pub given: GivenIntervals,
    /// At most so many of them now.
    pub most_given: usize,
    /// What decides which class a page has: where it is another than before, all pages have theirs anew.
    pub classed_by: String,
}

/// When a page that waits for a second look has it.
#[derive(Debug, Clone, Copy)]
pub struct SecondLooks {
    /// Now.
    pub at: Moment,
    /// Time from the first look at a text that shrank, or at one of too many that changed at once.
    pub confirm: Duration,
    /// The same at a page that is not found.
    pub gone_after: Duration,
}

/// What is due.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DuePages {
    /// Pages that have a copy, in all.
    pub pages: u64,
    /// Those that were queued, of those whose visits are divided.
    pub queued: usize,
    /// Those that were queued because the interval of their own has passed.
    pub given: usize,
    /// Those that were queued before, and could not be visited yet.
    pub left: u64,
    /// The share of all visits that is for the pages longest unvisited, 0 to 1.
    pub explore: f64,
    /// Where none was queued: when the first is due; `None` where there is none.
    pub next: Option<Moment>,
    /// When the next one with an interval of its own is due, besides those that were queued; of these, at the soonest.
    pub next_given: Option<Moment>,
    /// Those that were queued for their second look, and for nothing else.
    pub looks: usize,
    /// When the first second look of those that were not queued is due; `None` where there is none.
    pub next_look: Option<Moment>,
}
