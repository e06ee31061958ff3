//! Visits of single pages between the sequences of a crawl that is watched.
//!
//! Owns: how many visits the budget allows by now, when to look for pages that are due, and when to try those again that could not
//! be visited.
//!
//! Invariants: what is due and could not be visited (its host is away, or a budget is spent) stays due, and is tried again after
//! pauses that grow; meanwhile other pages are visited. Visits are saved up for an hour at most; a run is not begun for fewer pages than one in ten thousand of those
//! known, because each reads the URL table: what that costs a visit is bounded, and the pages wait a ten-thousandth of their
//! mean interval for it.
//!
//! Does not know: which pages are due (the store and the policy do), and how they are fetched.

use std::{panic::resume_unwind, time::Duration};

use super::{
    Failure,
    directory::{self, DirectoryLock},
    session::Session,
};
use crate::{
    config::{AdaptiveChoice, RevisitSettings},
    store::{DuePages, RevisitOrder},
    time::Moment,
};

/// One run for so many known pages, at least.
const PAGES_A_VISIT: u64 = 10_000;

/// More visits than a run is for.
const MOST: f64 = 50_000.0;

/// The same of pages with an interval of their own.
const MOST_GIVEN: usize = 50_000;

/// For so long visits are saved up.
const SAVED: Duration = Duration::from_hours(1);

/// From the end of one run to the next.
const PAUSE: Duration = Duration::from_secs(1);

/// The same for pages with an interval of their own, which is to be kept.
const LEAST: Duration = Duration::from_millis(100);

/// The first and the longest pause before pages are tried again that could not be visited; each is twice the one before.
const TRY_AGAIN: [Duration; 2] = [Duration::from_secs(1), Duration::from_hours(1)];

/// What time has brought by the moment that was waited for may be short of it by so much of a visit.
const ROUNDING: f64 = 1e-6;

/// The visits that there may be, and when the next are made.
pub(super) struct Visits {
    /// As the last sequence was crawled.
    session: Session,
    settings: RevisitSettings,
    /// What may be visited now, and is owed to the pages longest unvisited.
    credit: f64,
    owed: f64,
    counted: Moment,
    /// Pages that are known to have a copy.
    pages: u64,
    /// When to look for pages that are due; `None` where there are none before the next sequence.
    next: Option<Moment>,
    /// When the next page with an interval of its own is due.
    next_given: Option<Moment>,
    /// When pages are tried again that could not be visited, and the pause before that.
    again: Option<(Moment, Duration)>,
}

impl Visits {
    /// Those after a sequence that was crawled like this, if there are to be any.
    pub(super) fn of(session: &Session, settings: Option<&RevisitSettings>, now: Moment) -> Option<Self> {
        let (session, settings) = (session.clone(), settings?.clone());
        let next_given = (!settings.sections.is_empty()).then_some(now);
        let mut visits = Self {
            session,
            settings,
            credit: 0.0,
            owed: 0.0,
            counted: now,
            pages: 0,
            next: None,
            next_given,
            again: None,
        };
        visits.expect_next(now);
        Some(visits)
    }

    /// What is crawled once more.
    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    /// When to look for pages that are due.
    pub(super) fn next(&self) -> Option<Moment> {
        self.next
    }

    /// Has the pages queued that are due by now, as far as the budget goes; the number of those that are to be visited.
    pub(super) async fn queue_due(&mut self, now: Moment) -> Result<usize, Failure> {
        self.count(now);
        let order = RevisitOrder {
            at: now,
            budget: self.settings.budget,
            most: if self.credit + ROUNDING >= self.least() { whole(self.credit) } else { 0 },
            exploring: whole(self.owed),
            soonest: self.settings.min_interval,
            given: self.settings.sections.clone(),
            most_given: MOST_GIVEN,
            classed_by: self.settings.classed_by(),
        };
        let exploring = order.exploring;
        let (dir, lock) = (self.session.dir.clone(), self.session.lock.clone());
        let mut policy = self.settings.policy();
        let due = move || {
            let mut directory = directory::open(&dir, lock.as_ref())?;
            let due = directory.queue_due(&mut *policy, &order)?;
            Ok::<(DuePages, DirectoryLock), Failure>((due, directory.lock()))
        };
        // It may read very many visits, and a signal is heard meanwhile.
        let (due, lock) =
            tokio::task::spawn_blocking(due).await.unwrap_or_else(|panic| resume_unwind(panic.into_panic()))?;
        self.session.lock = Some(lock);
        self.pages = due.pages;
        self.spend(&due, exploring);
        self.next_given = due.next_given;
        let queued = due.queued + due.given;
        let tries = self.tries_again(due.left, now);
        let divided = due.next.filter(|_| self.divides());
        self.next = self.soonest(divided.map(|next| next.max(self.affordable(now))), now);
        Ok(if tries { queued + usize::try_from(due.left).unwrap_or(usize::MAX) } else { queued })
    }

    /// Whether it is time to try the pages again that are left from before; if not, it is known when.
    fn tries_again(&mut self, left: u64, now: Moment) -> bool {
        let [first, longest] = TRY_AGAIN;
        let before = self.again.filter(|_| left > 0);
        let is_time = before.is_some_and(|(at, _)| at <= now);
        let pause = match before {
            Some((_, pause)) if is_time => (pause * 2).min(longest),
            Some((_, pause)) => pause,
            None => first,
        };
        let at = before.filter(|_| !is_time).map_or(now + pause, |(at, _)| at);
        self.again = (left > 0).then_some((at, pause));
        is_time
    }

    /// Whether visits are divided among all pages.
    fn divides(&self) -> bool {
        self.settings.adaptive == AdaptiveChoice::On
    }

    /// Nothing is queued, as from now.
    pub(super) fn expect_next(&mut self, now: Moment) {
        // What was left was tried just now, whatever the run was begun for.
        self.again = self.again.map(|(_, pause)| (now + pause, pause));
        self.next = self.soonest(self.divides().then(|| self.affordable(now)), now);
    }

    /// When there are visits enough for a run.
    fn affordable(&self, now: Moment) -> Moment {
        let missing = (self.least() - self.credit).max(0.0) * self.settings.budget.pause();
        now + Duration::try_from_secs_f64(missing).unwrap_or(Duration::MAX)
    }

    /// The first of: this moment, that of the next page with an interval of its own, and of the next try.
    fn soonest(&self, divided: Option<Moment>, now: Moment) -> Option<Moment> {
        let others = divided.into_iter().chain(self.again.map(|(at, _)| at)).map(|at| at.max(now + PAUSE));
        others.chain(self.next_given.map(|at| at.max(now + LEAST))).min()
    }

    /// Takes what was queued off the budget.
    fn spend(&mut self, due: &DuePages, exploring: usize) {
        let queued = due.queued as f64;
        self.credit -= queued;
        if due.queued > 0 {
            self.owed += queued * due.explore - exploring as f64;
        }
    }

    /// Adds the visits that time has brought.
    fn count(&mut self, now: Moment) {
        if !self.divides() {
            return;
        }
        let rate = self.settings.budget.per_second();
        let most = (rate * SAVED.as_secs_f64()).clamp(self.least(), MOST.max(self.least()));
        self.credit = (self.credit + now.since(self.counted).as_secs_f64() * rate).min(most);
        self.counted = now;
    }

    /// The visits that a run is begun for.
    fn least(&self) -> f64 {
        (self.pages / PAGES_A_VISIT).max(1) as f64
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is bounded, and saturates at 0")]
fn whole(visits: f64) -> usize {
    (visits + ROUNDING) as usize
}
