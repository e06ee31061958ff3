//! [`Limits`]: whether one more request may be made.
//!
//! Owns: the budgets, what this machine can do, how many leases are carried out, and how many of these wait for the rate.
//!
//! Invariant: limits stop leasing, never admission.
//!
//! Does not know: which URL is next, what becomes of an answer, and when the rate lets a request go (the shell reports that). Few leases
//! wait for the rate. The next URL is chosen when a request for it may be sent, so hosts share a scarce rate by weight, and little is under
//! way when a budget is spent.

mod own_trouble;
mod scarcity;

use std::{cell::Cell, time::Duration};

use own_trouble::OwnTrouble;
use scarcity::Scarcity;

use crate::{
    config::{BudgetSettings, Settings},
    engine::{MachineReading, report::Report},
    fetch::FetchError,
    frontier::Lease,
    politeness::MemberRate,
    purpose::Purpose,
    queue::{WorkItem, most_fetched},
    schedule::{Hours, Spell},
    sections::SectionUse,
    store::Counters,
    time::Moment,
};

/// Of what a rate allows in a second, one in so many may wait, and one more.
const SHARE: u32 = 100;

/// Where no window opens within a week, it is looked again after this.
const LONGEST_CLOSED: Duration = Duration::from_hours(24);

/// So many may wait where only bytes a second are limited.
const FEW: usize = 4;

/// Whether a lease may be granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeaseAllowance {
    /// Now.
    Yes,
    /// Not before this moment, or before something ends.
    NotYet(Option<Moment>),
    /// Not in this run: a budget is spent.
    Spent,
}

/// What a crawl has done, and what it still has to do.
pub(super) struct Workload<'a> {
    /// The sums of the sequence.
    pub(super) counters: &'a Counters,
    /// URLs that had an answer.
    pub(super) fetched: u64,
    /// Whether there is anything to fetch.
    pub(super) is_left: bool,
    /// What is still to be taken in, and leases that wait for the rules of their host.
    pub(super) waiting: usize,
}

/// What limits the requests of a run.
#[derive(Debug)]
pub(super) struct Limits {
    budget: BudgetSettings,
    sections: SectionUse,
    /// When the time of this run is over.
    ends: Option<Moment>,
    /// Leases that may be a page each.
    pages_in_flight: u64,
    /// Leases that are carried out.
    in_flight: usize,
    /// How many may be.
    concurrency: usize,
    /// Those of them that wait for the rate.
    unsent: usize,
    /// How many may; all, where there is no rate: nobody says then when one goes.
    most_unsent: usize,
    hours: Hours,
    /// What the hours say now, until they say otherwise.
    spell: Cell<(Moment, Spell)>,
    own_trouble: OwnTrouble,
    scarcity: Scarcity,
}

impl Limits {
    /// The least time from one turn without anything to do to the next.
    pub(super) const SHORTEST: Duration = Duration::from_millis(1);

    /// Those of a run that began at `started`.
    pub(super) fn new(settings: &Settings, sections: SectionUse, started: Moment) -> Self {
        let MemberRate { requests, bytes } = settings.politeness.rate();
        let most_unsent = requests.map(|rate| 1 + (rate.get() / SHARE) as usize).or(bytes.map(|_| FEW));
        let concurrency = settings.politeness.concurrency.get() as usize;
        let hours = Hours::new(settings.politeness.hours.clone(), settings.schedule.tz.clone());
        Self {
            budget: settings.budget.clone(),
            sections,
            ends: settings.budget.max_time.map(|most| started + most),
            pages_in_flight: 0,
            in_flight: 0,
            concurrency,
            unsent: 0,
            most_unsent: most_unsent.unwrap_or(usize::MAX),
            spell: Cell::new((started, spell_at(&hours, started))),
            hours,
            own_trouble: OwnTrouble::default(),
            scarcity: Scarcity::new(&settings.machine, concurrency),
        }
    }

    /// Whether a lease may be granted.
    pub(super) fn allow(&self, work: &Workload<'_>, now: Moment) -> LeaseAllowance {
        if work.is_left && self.is_spent(work, now) {
            return LeaseAllowance::Spent;
        }
        self.room(work, now)
    }

    /// Whether another lease can be carried out, whatever the budgets say.
    pub(super) fn room(&self, work: &Workload<'_>, now: Moment) -> LeaseAllowance {
        let most = self.scarcity.most(self.own_trouble.most(self.concurrency, now));
        if self.in_flight + work.waiting >= most || self.unsent >= self.most_unsent {
            return LeaseAllowance::NotYet(None);
        }
        self.waits(now).map_or(LeaseAllowance::Yes, |until| LeaseAllowance::NotYet(Some(until)))
    }

    /// Whether a budget is spent.
    pub(super) fn is_spent(&self, work: &Workload<'_>, now: Moment) -> bool {
        let Workload { counters, fetched, .. } = work;
        let pages = counters.stored + self.pages_in_flight;
        self.budget.max_pages.is_some_and(|most| pages >= most.get())
            || self.has_fetched_too_much(*fetched)
            || self.budget.max_bytes.is_some_and(|most| counters.bytes_in >= most.get())
            || self.is_out_of_time(now)
    }

    /// Whether so many URLs were fetched for so few pages that the budget of pages ends the crawl.
    pub(super) fn has_fetched_too_much(&self, fetched: u64) -> bool {
        self.budget.max_pages.is_some_and(|most| fetched + self.pages_in_flight >= most_fetched(most))
    }

    /// The time of this run is over with the sequence.
    pub(super) fn forget_time(&mut self) {
        self.ends = None;
    }

    /// Whether the time of this run is over.
    pub(super) fn is_out_of_time(&self, now: Moment) -> bool {
        self.ends.is_some_and(|end| now >= end)
    }

    /// When it will be, if that is still to come.
    pub(super) fn time_ends(&self, now: Moment) -> Option<Moment> {
        self.ends.filter(|end| *end > now)
    }

    /// Until when no request is made: because this machine cannot, or because it is not the time for it.
    pub(super) fn waits(&self, now: Moment) -> Option<Moment> {
        self.own_trouble.waits(now).max(self.scarcity.waits(now)).max(self.is_closed_until(now))
    }

    fn is_closed_until(&self, now: Moment) -> Option<Moment> {
        let (since, mut spell) = self.spell.get();
        // The wall clock may have been set back.
        if now < since || spell.until.is_some_and(|until| now >= until) {
            spell = spell_at(&self.hours, now);
            self.spell.set((now, spell));
        }
        (!spell.is_open).then(|| spell.until.unwrap_or(now + LONGEST_CLOSED))
    }

    /// A lease was granted: it may be a page.
    pub(super) fn begin(&mut self, lease: &Lease) {
        self.pages_in_flight += lease.pages();
        if lease.purpose().is_counted() {
            self.sections.begin(lease.url().as_str());
        }
    }

    /// A lease has ended: what it came to is in the sums.
    pub(super) fn end(&mut self, lease: &Lease) {
        self.pages_in_flight -= lease.pages();
        if lease.purpose().is_counted() {
            self.sections.end(lease.url().as_str());
        }
    }

    /// A URL of the sequence has its final answer, which stored a page or not.
    pub(super) fn finished(&mut self, item: &WorkItem, stored: bool) {
        if item.purpose.is_counted() {
            self.sections.count(item.url.as_str(), stored);
        }
    }

    /// Whether a URL whose lease has begun is beyond a limit of its section. What lists URLs is no page.
    pub(super) fn holds(&mut self, item: &WorkItem) -> bool {
        let is_page = item.purpose.is_counted() && !item.is_sitemap();
        is_page && self.sections.is_beyond(item.url.as_str(), item.depth, self.budget.max_depth)
    }

    /// Whether it held back, since this was asked last, what may be fetched after all.
    pub(super) fn held_early(&mut self) -> bool {
        self.sections.held_early()
    }

    /// The least pause after a request for a URL, where its section has one.
    pub(super) fn pause_after(&self, item: &WorkItem) -> Option<Duration> {
        self.sections.sections().of(item.url.as_str())?.1.delay
    }

    /// A lease is carried out.
    pub(super) fn sent(&mut self) {
        self.unsent += 1;
        self.in_flight += 1;
    }

    /// So many of them do not wait for the rate any longer.
    pub(super) fn gone(&mut self, leases: usize) {
        self.unsent = self.unsent.saturating_sub(leases);
    }

    /// One came back. Whether its request was made: it was not where this machine could make none, or it was withdrawn.
    pub(super) fn came_back(&mut self, report: &Report, now: Moment) -> bool {
        self.in_flight -= 1;
        let is_unsent = matches!(report.result, Err(FetchError::Withdrawn | FetchError::Internal));
        if report.requests == 0 && (is_unsent || report.lease.purpose() == Purpose::LookUp) {
            // It never went.
            self.gone(1);
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

    /// This machine was read.
    pub(super) fn read(&mut self, reading: MachineReading) {
        self.scarcity.read(reading, self.in_flight);
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
    pub(super) fn concurrency(&self) -> usize {
        self.concurrency
    }
}

/// What the hours say at a moment. Whoever looks at a crawl that waits should know why.
fn spell_at(hours: &Hours, now: Moment) -> Spell {
    let spell = hours.at(now);
    if !spell.is_open {
        let pause = spell.until.map_or(LONGEST_CLOSED, |until| until.since(now));
        tracing::info!(?pause, "no requests are made at this time (politeness.hours)");
    }
    spell
}
