//! Visits of single pages between the sequences of a crawl that is watched: those that a policy takes to have changed, and those
//! that wait for a second look.
//!
//! Owns: how many visits the budget allows by now, and when to look for pages that are due.
//!
//! Invariants: visits are saved up for an hour at most; a run is not begun for fewer pages than one in ten thousand of those
//! known, because each reads the URL table: what that costs a visit is bounded, and the pages wait a ten-thousandth of their
//! mean interval for it. A second look is made when it is due, whatever the budget says.
//!
//! Does not know: which pages are due (the store and the policy do), and how they are fetched.

use std::{panic::resume_unwind, time::Duration};

use super::{
    Failure,
    directory::{self, DirectoryLock},
    session::Session,
};
use crate::{
    config::RevisitSettings,
    revisit::RevisitPolicy,
    store::{DuePages, RevisitOrder, SecondLooks},
    time::Moment,
};

/// One run for so many known pages, at least.
const PAGES_A_VISIT: u64 = 10_000;

/// More visits than a run is for.
const MOST: f64 = 50_000.0;

/// For so long visits are saved up.
const SAVED: Duration = Duration::from_hours(1);

/// From the end of one run to the next.
const PAUSE: Duration = Duration::from_secs(1);

/// The visits that there may be, and when the next are made.
pub(super) struct Visits {
    /// As the last sequence was crawled.
    session: Session,
    /// What a policy plans; `None` where none does.
    planned: Option<Planned>,
    /// When to look for second looks that are due; `None` where there are none before the next sequence.
    next_look: Option<Moment>,
}

/// What a policy may have visited, and when.
struct Planned {
    settings: RevisitSettings,
    /// What may be visited now, and is owed to the pages longest unvisited.
    credit: f64,
    owed: f64,
    counted: Moment,
    /// Pages that are known to have a copy.
    pages: u64,
    /// When to look for pages that are due; `None` where there are none before the next sequence.
    next: Option<Moment>,
}

impl Visits {
    /// Those after a sequence that was crawled like this; a policy plans some of them, if there is one.
    pub(super) fn of(session: &Session, settings: Option<&RevisitSettings>, now: Moment) -> Self {
        let planned = settings.map(|settings| {
            let settings = settings.clone();
            Planned { settings, credit: 0.0, owed: 0.0, counted: now, pages: 0, next: None }
        });
        let mut visits = Self { session: session.clone(), planned, next_look: None };
        visits.expect_next(now);
        visits
    }

    /// What is crawled once more.
    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    /// When to look for pages that are due.
    pub(super) fn next(&self) -> Option<Moment> {
        let planned = self.planned.as_ref().and_then(|planned| planned.next);
        planned.into_iter().chain(self.next_look).min()
    }

    /// Has the pages queued that are due by now: by the policy as far as the budget goes, and for a second look. The number of
    /// them.
    pub(super) async fn queue_due(&mut self, now: Moment) -> Result<usize, Failure> {
        let planned = self.planned.as_mut().filter(|planned| planned.next.is_some_and(|next| next <= now));
        let order = planned.map(|planned| planned.order(now));
        let policy = self.planned.as_ref().map(|planned| planned.settings.policy());
        let (session, mut visits) = (self.session.clone(), policy.zip(order));
        let due = move || {
            let mut directory = directory::open(&session.dir, session.lock.as_ref())?;
            let stored = directory.settings()?;
            let change = session.settings(stored.as_deref())?.settings.change;
            let looks = SecondLooks { at: now, confirm: change.confirm, gone_after: change.gone_after };
            let visits = visits.as_mut().map(|(policy, order)| (&mut **policy as &mut dyn RevisitPolicy, &*order));
            let due = directory.queue_due(visits, &looks)?;
            Ok::<(DuePages, DirectoryLock), Failure>((due, directory.lock()))
        };
        // It may read very many visits, and a signal is heard meanwhile.
        let (due, lock) =
            tokio::task::spawn_blocking(due).await.unwrap_or_else(|panic| resume_unwind(panic.into_panic()))?;
        self.session.lock = Some(lock);
        let not_before = |next: Option<Moment>| next.map(|next| next.max(now + PAUSE));
        if let (Some(planned), Some(order)) = (&mut self.planned, order) {
            planned.spend(&due, order.exploring);
            planned.next = not_before(due.next);
        }
        self.next_look = not_before(due.next_look);
        Ok(due.queued + due.looks)
    }

    /// Nothing is queued, as from now.
    pub(super) fn expect_next(&mut self, now: Moment) {
        self.next_look = Some(now + PAUSE);
        if let Some(planned) = &mut self.planned {
            planned.expect_next(now);
        }
    }
}

impl Planned {
    /// What the policy is asked now.
    fn order(&mut self, now: Moment) -> RevisitOrder {
        self.count(now);
        RevisitOrder {
            at: now,
            budget: self.settings.budget,
            most: whole(self.credit),
            exploring: whole(self.owed),
            soonest: self.settings.min_interval,
        }
    }

    fn expect_next(&mut self, now: Moment) {
        let missing = (self.least() - self.credit).max(0.0) * self.settings.budget.pause();
        let wait = Duration::try_from_secs_f64(missing).unwrap_or(Duration::MAX);
        self.next = Some(now + wait.max(PAUSE));
    }

    /// Takes what was queued off the budget.
    fn spend(&mut self, due: &DuePages, exploring: usize) {
        self.pages = due.pages;
        let queued = due.queued as f64;
        self.credit -= queued;
        if due.queued > 0 {
            self.owed += queued * due.explore - exploring as f64;
        }
    }

    /// Adds the visits that time has brought.
    fn count(&mut self, now: Moment) {
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
    // What time has brought by the moment that was waited for may be short of it by a rounding.
    (visits + 1e-6) as usize
}
