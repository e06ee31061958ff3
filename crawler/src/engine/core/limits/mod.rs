//! [`Limits`]: whether one more request may be made.
//!
//! Owns: the budgets, what this machine can do, the leases that wait for the rate, and how many are carried out.
//!
//! Invariant: limits stop leasing, never admission.
//!
//! Does not know: which URL is next, and what becomes of an answer.

mod budget;
mod own_trouble;
mod unsent;

use budget::Budget;
use own_trouble::OwnTrouble;
use unsent::Unsent;

use crate::{
    config::Settings, engine::report::Report, fetch::FetchError, frontier::Lease, store::Counters, time::Moment,
};

/// Whether a lease may be granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Allowance {
    /// Now.
    Yes,
    /// Not before this moment, or before something ends.
    NotYet(Option<Moment>),
    /// Not in this run: a budget is spent.
    Spent,
}

/// What a crawl has done, and what it still has to do.
pub(super) struct Work<'a> {
    /// The sums of the sequence.
    pub(super) counters: &'a Counters,
    /// URLs that had an answer.
    pub(super) fetched: u64,
    /// Whether there is anything to fetch.
    pub(super) is_left: bool,
    /// Leases that came back and are not taken in, or that wait for the rules of their host.
    pub(super) waiting: usize,
}

/// What limits the requests of a run.
#[derive(Debug)]
pub(super) struct Limits {
    budget: Budget,
    own_trouble: OwnTrouble,
    unsent: Unsent,
    /// Leases that are carried out.
    in_flight: usize,
    /// Leases at a time.
    usual: usize,
}

impl Limits {
    /// Those of a run that began at `started`; so many visits stored a page that is counted, or is due again.
    pub(super) fn new(settings: &Settings, started: Moment, revisited: u64) -> Self {
        Self {
            budget: Budget::new(settings.budget.clone(), started).without(revisited),
            own_trouble: OwnTrouble::default(),
            unsent: Unsent::new(settings.politeness.max_rate),
            in_flight: 0,
            usual: settings.politeness.concurrency.get() as usize,
        }
    }

    /// Whether a lease may be granted.
    pub(super) fn allow(&self, work: &Work<'_>, now: Moment) -> Allowance {
        if work.is_left && self.budget.is_spent(work.counters, work.fetched, now) {
            return Allowance::Spent;
        }
        let most = self.own_trouble.most(self.usual, now);
        if self.in_flight + work.waiting >= most || self.unsent.are_enough() {
            return Allowance::NotYet(None);
        }
        self.waits(now).map_or(Allowance::Yes, |until| Allowance::NotYet(Some(until)))
    }

    /// Until when this machine can make no request, if it cannot.
    pub(super) fn waits(&self, now: Moment) -> Option<Moment> {
        self.own_trouble.waits(now)
    }

    /// A lease was granted.
    pub(super) fn begin(&mut self, lease: &Lease) {
        self.budget.begin(lease);
    }

    /// A lease has ended.
    pub(super) fn end(&mut self, lease: &Lease) {
        self.budget.end(lease);
    }

    /// A lease is carried out.
    pub(super) fn sent(&mut self) {
        self.unsent.begin();
        self.in_flight += 1;
    }

    /// So many of them do not wait for the rate any longer.
    pub(super) fn gone(&mut self, leases: usize) {
        self.unsent.have_gone(leases);
    }

    /// One came back. Whether its request was made: it was not where this machine could make none, or it was withdrawn.
    pub(super) fn came_back(&mut self, report: &Report, now: Moment) -> bool {
        self.in_flight -= 1;
        if report.requests == 0 && matches!(report.result, Err(FetchError::Withdrawn | FetchError::Internal)) {
            // It never went.
            self.unsent.have_gone(1);
        }
        match &report.result {
            Err(FetchError::Withdrawn) => false,
            Err(error @ FetchError::OwnMachine(_)) => {
                self.own_trouble.again(now, self.in_flight, error);
                false
            }
            _ => {
                self.own_trouble.is_over();
                true
            }
        }
    }

    /// One was given up.
    pub(super) fn gave_up(&mut self) {
        self.in_flight -= 1;
    }

    /// How many are carried out.
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// How many may be at a time.
    #[cfg(test)]
    pub(super) fn usual(&self) -> usize {
        self.usual
    }

    /// Whether so many URLs were fetched for so few pages that the budget of pages ends the crawl.
    pub(super) fn has_fetched_too_much(&self, fetched: u64) -> bool {
        self.budget.has_fetched_too_much(fetched)
    }

    /// Whether the time of this run is over.
    pub(super) fn is_out_of_time(&self, now: Moment) -> bool {
        self.budget.is_out_of_time(now)
    }

    /// When it will be, if that is still to come.
    pub(super) fn time_ends(&self, now: Moment) -> Option<Moment> {
        self.budget.time_ends(now)
    }
}
