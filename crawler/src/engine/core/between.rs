//! [`Between`]: visits of single pages after a sequence has ended: pages that a policy takes to have changed, pages with an interval of
//! their own, and pages that wait for a second look.
//!
//! Owns: how many visits the budget allows by now, when to ask for due pages, which of them are in memory, and when visits are recorded.
//!
//! Invariants: at most [`MOST`] pages are in memory; a page that was handed out is not asked for again before the time of another visit, so
//! pages that cannot be fetched hide no others. Visits are saved up for an hour at most. A second look is made when it is due, whatever the
//! budget says. Recording takes at most one part of the time in [`SHARE`].
//!
//! Does not know: which pages are due (the store and the policy do), how they are fetched, and when the next sequence begins.

use std::{collections::HashSet, time::Duration};

use crate::{
    candidate::Ticket,
    config::{AdaptiveChoice, RevisitSettings, Settings},
    queue::WorkItem,
    revisit::RevisitPolicy,
    store::{DuePages, DueRequest, RevisitOrder, SecondLooks},
    time::Moment,
};

/// Pages in memory at most.
const MOST: usize = 8_192;

/// Pages of a host that does not answer which stay in memory when others need the room.
const KEPT: usize = 64;

/// For so long visits are saved up.
const SAVED: Duration = Duration::from_hours(1);

/// From one question for pages that are due to the next.
const PAUSE: Duration = Duration::from_secs(1);

/// The same for pages with an interval of their own, which is to be kept.
const LEAST: Duration = Duration::from_millis(100);

/// What time has brought by the moment that was waited for may be short of it by so much of a visit.
const ROUNDING: f64 = 1e-6;

/// What was visited is recorded in one part of the time in so many,
const SHARE: u32 = 200;

/// and after a pause between these.
const RECORDED: [Duration; 2] = [Duration::from_secs(1), Duration::from_mins(10)];

/// Where nothing was due for so long, nothing needs to be in memory.
const IDLE: Duration = Duration::from_mins(10);

/// The visits that there may be, and when the next are made.
#[derive(Debug)]
pub struct Between {
    planned: Option<Planned>,
    /// Time to a second look: at a text that shrank, and at a page that is not found.
    pauses: [Duration; 2],
    /// When to ask for second looks that are due; `None` where there are none before something is recorded.
    next_look: Option<Moment>,
    /// Pages that were handed out and not visited yet.
    out: HashSet<Ticket>,
    /// What the store is asked just now.
    asked: Option<Asked>,
    /// Whether nothing begins any more.
    finishes: bool,
    /// Visits since something was recorded.
    visits: u64,
    /// When something is recorded again, at the soonest.
    next_record: Moment,
    /// Since when something is being recorded.
    recording: Option<Moment>,
    /// When something was due last.
    last: Moment,
}

/// What the store is asked.
#[derive(Debug)]
struct Asked {
    /// For how many pages longest unvisited, where a policy plans.
    exploring: Option<usize>,
}

/// What a policy may have visited, and when.
#[derive(Debug)]
struct Planned {
    settings: RevisitSettings,
    /// What may be visited now, and is owed to the pages longest unvisited.
    credit: f64,
    owed: f64,
    counted: Moment,
    /// When to ask for pages that are due; `None` where there are none before the next sequence.
    next: Option<Moment>,
    /// When the next page with an interval of its own is due.
    next_given: Option<Moment>,
}

impl Between {
    /// Those after a sequence with these settings that has come to its end by now.
    pub fn new(settings: &Settings, now: Moment) -> Self {
        let revisit = &settings.revisit;
        Self {
            planned: revisit.visits_between().then(|| Planned::new(revisit.clone(), now)),
            pauses: [settings.change.confirm, settings.change.gone_after],
            next_look: Some(now),
            out: HashSet::new(),
            asked: None,
            finishes: false,
            visits: 0,
            next_record: now,
            recording: None,
            last: now,
        }
    }

    /// The same, from now on.
    pub(in crate::engine) fn after(mut self, now: Moment) -> Self {
        if let Some(planned) = &mut self.planned {
            *planned = Planned::new(planned.settings.clone(), now);
        }
        (self.next_look, self.next_record, self.last) = (Some(now), now, now);
        self
    }

    /// What is asked of a store where nobody crawls: when the next page is due.
    pub fn look_ahead(&mut self, now: Moment) -> DueRequest {
        if let Some(planned) = &mut self.planned {
            planned.next = Some(now).filter(|_| planned.divides());
        }
        self.request(now, 0)
    }

    /// The store's answer to that.
    pub fn looked_ahead(&mut self, due: DuePages, now: Moment) {
        self.handed(due, now);
    }

    /// When a page is due next, as far as it is known.
    pub fn next_due(&self) -> Option<Moment> {
        let planned = self.planned.as_ref().and_then(Planned::next);
        planned.into_iter().chain(self.next_look).min()
    }

    /// Takes a crawl up again, of which nothing is in memory.
    pub(super) fn resume(&mut self, now: Moment) {
        self.out.clear();
        (self.asked, self.recording, self.finishes, self.last) = (None, None, false, now);
    }

    /// Nothing begins any more.
    pub(super) fn finish(&mut self) {
        self.finishes = true;
    }

    /// Whether nothing begins any more.
    pub(super) fn finishes(&self) -> bool {
        self.finishes
    }

    /// How many pages of a host that does not answer may stay in memory, where others need the room.
    pub(super) fn kept(&self) -> Option<usize> {
        (self.out.len() > MOST / 2).then_some(KEPT)
    }

    /// What is asked of the store now, if anything is.
    pub(super) fn asks(&mut self, now: Moment) -> Option<DueRequest> {
        let room = MOST.saturating_sub(self.out.len());
        if self.finishes || self.asked.is_some() || room == 0 || self.next_due().is_none_or(|next| next > now) {
            return None;
        }
        Some(self.request(now, room))
    }

    fn request(&mut self, now: Moment, room: usize) -> DueRequest {
        let [confirm, gone_after] = self.pauses;
        let looks = self.next_look.take_if(|next| *next <= now);
        let looks = looks.map(|_| SecondLooks { at: now, confirm, gone_after, most: room });
        let planned = self.planned.as_mut().filter(|planned| planned.next().is_some_and(|next| next <= now));
        let visits = planned.map(|planned| planned.order(now, room));
        self.asked = Some(Asked { exploring: visits.as_ref().map(|(_, order)| order.exploring) });
        DueRequest { visits, looks }
    }

    /// What the store has handed out: the pages that are not in memory yet.
    pub(super) fn handed(&mut self, due: DuePages, now: Moment) -> Vec<WorkItem> {
        let exploring = self.asked.take().and_then(|asked| asked.exploring);
        if let Some((planned, exploring)) = self.planned.as_mut().zip(exploring) {
            planned.take(&due, exploring, now);
        }
        let look = due.next_look.map(|next| next.max(now + PAUSE));
        self.next_look = self.next_look.into_iter().chain(look).min();
        if !due.items.is_empty() {
            self.last = now;
        }
        let new = due.items.into_iter().filter(|item| self.out.insert(item.id));
        // What was handed out first comes first.
        new.map(|item| WorkItem { due: Some(now), ..item }).collect()
    }

    /// A page that was handed out is not in memory any more.
    pub(super) fn is_out_no_more(&mut self, page: Ticket, visited: bool, now: Moment) {
        if self.out.remove(&page) {
            (self.visits, self.last) = (self.visits + u64::from(visited), now);
        }
    }

    /// Whether what was written since is to be recorded: when no page is left, or at the latest after a while.
    pub(super) fn records(&self, now: Moment) -> bool {
        let due = if self.out.is_empty() { self.next_record } else { self.next_record + RECORDED[1] };
        self.recording.is_none() && due <= now
    }

    /// It is being recorded.
    pub(super) fn begin_recording(&mut self, now: Moment) {
        self.recording = Some(now);
    }

    /// It was recorded. What was found may want a second look.
    pub(super) fn recorded(&mut self, now: Moment) {
        let took = self.recording.take().map_or(Duration::ZERO, |began| now.since(began));
        let [shortest, longest] = RECORDED;
        self.next_record = now + took.saturating_mul(SHARE).clamp(shortest, longest);
        self.next_look = Some(now);
        self.tell_visits();
    }

    /// Says how many pages were visited since it was said last.
    pub(super) fn tell_visits(&mut self) {
        let due = std::mem::take(&mut self.visits);
        if due > 0 {
            tracing::info!(due, "visited the pages that were due");
        }
    }

    /// Whether it is being recorded.
    pub(super) fn is_recording(&self) -> bool {
        self.recording.is_some()
    }

    /// Whether nothing was due for so long that nothing needs to be in memory.
    pub(super) fn is_idle(&self, now: Moment) -> bool {
        self.out.is_empty() && self.asked.is_none() && self.last + IDLE <= now
    }

    /// When there is something to do next; `is_changed` is whether something is to be recorded.
    pub(super) fn next(&self, is_changed: bool) -> Option<Moment> {
        let asks = self.next_due().filter(|_| !self.finishes && self.asked.is_none() && self.out.len() < MOST);
        let late = if self.out.is_empty() { Duration::ZERO } else { RECORDED[1] };
        let records = (is_changed && self.recording.is_none()).then(|| self.next_record + late);
        let idle = self.out.is_empty().then(|| self.last + IDLE);
        asks.into_iter().chain(records).chain(idle).min()
    }
}

impl Planned {
    fn new(settings: RevisitSettings, now: Moment) -> Self {
        let next_given = (!settings.sections.is_empty()).then_some(now);
        let mut planned = Self { settings, credit: 0.0, owed: 0.0, counted: now, next: None, next_given };
        planned.next = planned.divides().then(|| planned.affordable(now).max(now + PAUSE));
        planned
    }

    /// When to ask the policy.
    fn next(&self) -> Option<Moment> {
        self.next.into_iter().chain(self.next_given).min()
    }

    /// What the policy is asked now, with room for so many pages.
    fn order(&mut self, now: Moment, room: usize) -> (Box<dyn RevisitPolicy>, RevisitOrder) {
        self.count(now);
        let given = if self.next_given.is_some_and(|next| next <= now) { room } else { 0 };
        let order = RevisitOrder {
            at: now,
            budget: self.settings.budget,
            most: whole(self.credit).min(room),
            exploring: whole(self.owed),
            soonest: self.settings.min_interval,
            given: self.settings.sections.clone(),
            most_given: given,
            classed_by: self.settings.classed_by(),
        };
        (self.settings.policy(), order)
    }

    /// What was found due when the policy was asked, for so many pages longest unvisited among them.
    fn take(&mut self, due: &DuePages, exploring: usize, now: Moment) {
        let divided = due.divided as f64;
        self.credit -= divided;
        if due.divided > 0 {
            self.owed += divided * due.explore - exploring as f64;
        }
        self.next_given = due.next_given.map(|next| next.max(now + LEAST));
        let next = if due.divided > 0 { Some(now) } else { due.next };
        self.next = next.filter(|_| self.divides()).map(|next| next.max(self.affordable(now)).max(now + PAUSE));
    }

    /// Whether visits are divided among all pages.
    fn divides(&self) -> bool {
        self.settings.adaptive == AdaptiveChoice::On
    }

    /// When the budget has a visit.
    fn affordable(&self, now: Moment) -> Moment {
        let missing = (1.0 - self.credit).max(0.0) * self.settings.budget.pause();
        now + Duration::try_from_secs_f64(missing).unwrap_or(Duration::MAX)
    }

    /// Adds the visits that time has brought.
    fn count(&mut self, now: Moment) {
        if self.divides() {
            let rate = self.settings.budget.per_second();
            let most = (rate * SAVED.as_secs_f64()).clamp(1.0, MOST as f64);
            self.credit = (self.credit + now.since(self.counted).as_secs_f64() * rate).min(most);
            self.counted = now;
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is bounded, and saturates at 0")]
fn whole(visits: f64) -> usize {
    (visits + ROUNDING) as usize
}
