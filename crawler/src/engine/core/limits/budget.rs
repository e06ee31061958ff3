//! [`Budget`]: what may still be fetched, in pages, bytes and time. Budgets stop leasing, never admission.

use crate::{config::BudgetSettings, frontier::Lease, queue::most_fetched, store::Counters, time::Moment};

/// The budgets of a run, and what is in flight of them.
#[derive(Debug)]
pub(super) struct Budget {
    settings: BudgetSettings,
    /// When the time of this run is over.
    ends: Option<Moment>,
    /// Leases that may be a page each.
    pages_in_flight: u64,
    /// Visits that stored a page of this sequence once more: it counts once.
    revisited: u64,
}

impl Budget {
    /// Budgets for a run that began at `started`.
    pub(super) fn new(settings: BudgetSettings, started: Moment) -> Self {
        let ends = settings.max_time.map(|most| started + most);
        Self { settings, ends, pages_in_flight: 0, revisited: 0 }
    }

    /// The same where so many visits stored a page that is counted, or is due again.
    pub(super) fn without(self, revisited: u64) -> Self {
        Self { revisited, ..self }
    }

    /// A lease is carried out.
    pub(super) fn begin(&mut self, lease: &Lease) {
        self.pages_in_flight += lease.pages();
    }

    /// A lease has ended.
    pub(super) fn end(&mut self, lease: &Lease) {
        self.pages_in_flight -= lease.pages();
    }

    /// Whether nothing more is to be leased, after these sums and so many URLs that were fetched.
    pub(super) fn is_spent(&self, counters: &Counters, fetched: u64, now: Moment) -> bool {
        self.settings
            .max_pages
            .is_some_and(|most| counters.stored - self.revisited + self.pages_in_flight >= most.get())
            || self.has_fetched_too_much(fetched)
            || self.settings.max_bytes.is_some_and(|most| counters.bytes_in >= most.get())
            || self.is_out_of_time(now)
    }

    /// Whether so many URLs were fetched for so few pages that the budget of pages ends the crawl.
    pub(super) fn has_fetched_too_much(&self, fetched: u64) -> bool {
        self.settings.max_pages.is_some_and(|most| fetched + self.pages_in_flight >= most_fetched(most))
    }

    /// Whether the time of this run is over.
    pub(super) fn is_out_of_time(&self, now: Moment) -> bool {
        self.ends.is_some_and(|end| now >= end)
    }

    /// When it will be, if that is still to come.
    pub(super) fn time_ends(&self, now: Moment) -> Option<Moment> {
        self.ends.filter(|end| *end > now)
    }
}
