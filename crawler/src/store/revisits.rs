//! Questions and answers for visits of single pages between sequences: pages that a policy takes to have changed, and pages that wait for a
//! second look.

use std::time::Duration;

use crate::{
    queue::WorkItem,
    revisit::{Budget, GivenIntervals, RevisitPolicy},
    time::Moment,
};

/// What is asked of the store: which pages are due by now.
pub struct DueRequest {
    /// The policy that plans visits, and what it is asked; `None` where none does.
    pub visits: Option<(Box<dyn RevisitPolicy>, RevisitOrder)>,
    /// Which second looks are due; `None` where none is asked for.
    pub looks: Option<SecondLooks>,
}

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
    /// The pages with an interval of their own. They are visited in addition.
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
    /// At most so many of them now.
    pub most: usize,
}

/// What is due. What was handed out is due again after the time of another visit, whatever becomes of this one: so the pages of a
/// host that is away hide no others.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DuePages {
    /// The pages, each once.
    pub items: Vec<WorkItem>,
    /// Pages that have a copy, in all.
    pub pages: u64,
    /// How many are due of those whose visits are divided.
    pub divided: usize,
    /// How many are due because the interval of their own has passed.
    pub given: usize,
    /// How many are due for their second look.
    pub looks: usize,
    /// The share of all visits that is for the pages longest unvisited, 0 to 1.
    pub explore: f64,
    /// Where none of those is due whose visits are divided: when the first is; `None` where there is none.
    pub next: Option<Moment>,
    /// When the next one with an interval of its own is due, after these.
    pub next_given: Option<Moment>,
    /// When the next second look is due, after these; `None` where there is none.
    pub next_look: Option<Moment>,
}
