//! Visits of single pages between the sequences of a crawl that is watched: those that a policy takes to have changed, and those
//! that wait for a second look.
//!
//! Owns: how many visits the budget allows by now, when to look for pages that are due, and when to try those again that could not
//! be visited.
//!
//! Invariants: what is due and could not be visited (its host is away, or a budget is spent) stays due, and is tried again after
//! pauses that grow; meanwhile other pages are visited. Visits are saved up for an hour at most; a run is not begun for fewer
//! pages than one in ten thousand of those known, because each reads the URL table: what that costs a visit is bounded, and the
//! pages wait a ten-thousandth of their mean interval for it. A second look is made when it is due, whatever the budget says.
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
    revisit::RevisitPolicy,
    store::{DuePages, RevisitOrder, SecondLooks},
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
    /// What a policy plans; `None` where none does.
    planned: Option<Planned>,
    /// When to look for second looks that are due; `None` where there are none before the next sequence.
    next_look: Option<Moment>,
    /// When pages are tried again that could not be visited, and the pause before that.
    again: Option<(Moment, Duration)>,
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
    /// When the next page with an interval of its own is due.
    next_given: Option<Moment>,
}

impl Visits {
    /// Those after a sequence that was crawled like this; a policy plans some of them, if there is one.
    pub(super) fn of(session: &Session, settings: Option<&RevisitSettings>, now: Moment) -> Self {
        let planned = settings.map(|settings| Planned::of(settings.clone(), now));
        let mut visits = Self { session: session.clone(), planned, next_look: None, again: None };
        visits.expect_next(now);
        visits
    }

    /// What is crawled once more.
    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    /// When to look for pages that are due.
    pub(super) fn next(&self) -> Option<Moment> {
        let planned = self.planned.as_ref().and_then(Planned::next);
        planned.into_iter().chain(self.next_look).chain(self.again.map(|(at, _)| at)).min()
    }

    /// Has the pages queued that are due by now: by the policy as far as the budget goes, and for a second look. The number of
    /// those that are to be visited.
    pub(super) async fn queue_due(&mut self, now: Moment) -> Result<usize, Failure> {
        let planned = self.planned.as_mut().filter(|planned| planned.next().is_some_and(|next| next <= now));
        let order = planned.map(|planned| planned.order(now));
        let exploring = order.as_ref().map(|order| order.exploring);
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
        if let (Some(planned), Some(exploring)) = (&mut self.planned, exploring) {
            planned.take(&due, exploring, now);
        }
        self.next_look = due.next_look.map(|next| next.max(now + PAUSE));
        let queued = due.queued + due.given + due.looks;
        let tries = self.tries_again(due.left, now);
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

    /// Nothing is queued, as from now.
    pub(super) fn expect_next(&mut self, now: Moment) {
        self.next_look = Some(now + PAUSE);
        // What was left was tried just now, whatever the run was begun for.
        self.again = self.again.map(|(_, pause)| (now + pause.max(PAUSE), pause));
        if let Some(planned) = &mut self.planned {
            planned.expect_next(now);
        }
    }
}

impl Planned {
    fn of(settings: RevisitSettings, now: Moment) -> Self {
        let next_given = (!settings.sections.is_empty()).then_some(now);
        Self { settings, credit: 0.0, owed: 0.0, counted: now, pages: 0, next: None, next_given }
    }

    /// When to ask the policy.
    fn next(&self) -> Option<Moment> {
        self.next.into_iter().chain(self.next_given).min()
    }

    /// What the policy is asked now.
    fn order(&mut self, now: Moment) -> RevisitOrder {
        self.count(now);
        RevisitOrder {
            at: now,
            budget: self.settings.budget,
            most: if self.credit + ROUNDING >= self.least() { whole(self.credit) } else { 0 },
            exploring: whole(self.owed),
            soonest: self.settings.min_interval,
            given: self.settings.sections.clone(),
            most_given: MOST_GIVEN,
            classed_by: self.settings.classed_by(),
        }
    }

    /// What was found due when the policy was asked, for so many pages longest unvisited among them.
    fn take(&mut self, due: &DuePages, exploring: usize, now: Moment) {
        self.pages = due.pages;
        self.spend(due, exploring);
        self.next_given = due.next_given.map(|next| next.max(now + LEAST));
        let divided = due.next.filter(|_| self.divides());
        self.next = divided.map(|next| next.max(self.affordable(now)).max(now + PAUSE));
    }

    /// Nothing is queued, as from now.
    fn expect_next(&mut self, now: Moment) {
        self.next_given = self.next_given.map(|next| next.max(now + LEAST));
        self.next = self.divides().then(|| self.affordable(now).max(now + PAUSE));
    }

    /// Whether visits are divided among all pages.
    fn divides(&self) -> bool {
        self.settings.adaptive == AdaptiveChoice::On
    }

    /// When there are visits enough for a run.
    fn affordable(&self, now: Moment) -> Moment {
        let missing = (self.least() - self.credit).max(0.0) * self.settings.budget.pause();
        now + Duration::try_from_secs_f64(missing).unwrap_or(Duration::MAX)
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
