//! Replays a recorded site on a virtual clock, and measures how fresh a policy keeps it.
//!
//! A birth is known at once and its first copy is free; the page joins as if it had been visited then. A deletion is
//! found by the first visit after it, and the page leaves the plan. Visits are made at equal distances, as the budget
//! says; an event at the moment of a visit comes before it. The first half of the time trains, the second is judged.
//!
//! Does not know: where a trace is read from.

use super::{About, Agenda, Budget, Figures, PageState, Plan, RevisitPolicy, SectionPath, Seen, tally::Tally};
use crate::time::Moment;

/// What happened to a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceChange {
    /// It appeared.
    New,
    /// It is another.
    Changed,
    /// It is gone.
    Deleted,
}

/// A line of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceEvent {
    /// When.
    pub at: Moment,
    /// The page's place among the sites' pages.
    pub page: u32,
    /// What.
    pub change: TraceChange,
}

/// Replays events, in ascending order of time, on pages of these sections. An event of a page that is not among them, or
/// does not exist at that moment, is passed over.
pub fn replay(events: &[TraceEvent], pages: &[SectionPath], policy: &mut dyn RevisitPolicy, budget: Budget) -> Figures {
    let (Some(first), Some(last)) = (events.first(), events.last()) else { return Figures::default() };
    let mut replay = Replay::new(first.at, last.at, pages, policy, budget);
    replay.run(events);
    replay.figures()
}

/// What is kept of each page after a replay.
#[cfg(test)]
pub(super) fn states(
    events: &[TraceEvent],
    pages: &[SectionPath],
    policy: &mut dyn RevisitPolicy,
    budget: Budget,
) -> Vec<PageState> {
    let mut replay = Replay::new(events[0].at, events[events.len() - 1].at, pages, policy, budget);
    replay.run(events);
    replay.pages.iter().map(|page| page.state).collect()
}

/// A page as the site and the crawler see it.
#[derive(Debug, Clone, Copy, Default)]
struct Page {
    state: PageState,
    /// Since when its copy is out of date.
    stale: Option<Moment>,
    exists: bool,
    /// Whether it is in the plan.
    planned: bool,
    /// Whether its last event, one that is judged, has had no visit yet.
    unseen: bool,
}

struct Replay<'a> {
    policy: &'a mut dyn RevisitPolicy,
    sections: &'a [SectionPath],
    pages: Vec<Page>,
    agenda: Agenda,
    plan: Plan,
    /// Visits and births since the plan was made.
    since_plan: u64,
    budget: Budget,
    start: Moment,
    end: Moment,
    /// Visits until now, those for which there was no page included.
    turns: u64,
    tally: Tally,
    counts: Figures,
}

impl<'a> Replay<'a> {
    fn new(
        start: Moment,
        end: Moment,
        sections: &'a [SectionPath],
        policy: &'a mut dyn RevisitPolicy,
        budget: Budget,
    ) -> Self {
        let agenda = Agenda::default();
        let plan = policy.plan(agenda.census(), budget);
        let pages = vec![Page::default(); sections.len()];
        let (tally, counts) = (Tally::new(start, end), Figures::default());
        Self { policy, sections, pages, agenda, plan, since_plan: 0, budget, start, end, turns: 0, tally, counts }
    }

    fn run(&mut self, events: &[TraceEvent]) {
        for event in events {
            self.visit_before(event.at);
            self.tally.advance(event.at);
            self.happens(*event);
        }
    }

    /// Makes the visits that are to be made before this moment.
    fn visit_before(&mut self, until: Moment) {
        loop {
            let at = self.turn();
            if at >= until {
                return;
            }
            self.turns += 1;
            self.tally.advance(at);
            self.renew_plan();
            if let Some(page) = self.agenda.next(&self.plan, at) {
                self.visit(page, at);
            }
        }
    }

    /// When the next visit is to be made.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time after the start, saturating")]
    fn turn(&self) -> Moment {
        let millis = (self.turns + 1) as f64 * self.budget.pause() * 1000.0;
        Moment::from_millis(self.start.millis().saturating_add(millis as u64))
    }

    /// A new plan whenever a sixteenth of all pages may have another class.
    fn renew_plan(&mut self) {
        if self.since_plan > self.agenda.census().total() / 16 {
            self.plan = self.policy.plan(self.agenda.census(), self.budget);
            self.since_plan = 0;
        }
    }

    fn visit(&mut self, number: u32, at: Moment) {
        let place = number as usize;
        let counted = self.tally.counts(at);
        let page = &mut self.pages[place];
        page.unseen = false;
        self.counts.visits += u64::from(counted);
        self.since_plan += 1;
        if !page.exists {
            self.policy.forget(&page.state, &self.sections[place]);
            *page = Page::default();
            return;
        }
        let stale = page.stale.take();
        match stale {
            Some(since) => self.tally.no_longer_stale(since),
            None => self.counts.wasted += u64::from(counted),
        }
        let seen = Seen { at, changed: stale.is_some() };
        self.policy.observe(&mut page.state, &About::at(self.sections[place]), seen);
        self.agenda.put(number, page.state.class, at);
    }

    fn happens(&mut self, event: TraceEvent) {
        let place = event.page as usize;
        match self.pages.get(place) {
            Some(page) if page.exists || event.change == TraceChange::New => {}
            _ => return,
        }
        self.counts.missed += u64::from(std::mem::take(&mut self.pages[place].unseen));
        match event.change {
            TraceChange::New => self.is_born(event),
            TraceChange::Changed => self.changes(place, event.at),
            TraceChange::Deleted => self.goes(place, event.at),
        }
    }

    fn is_born(&mut self, event: TraceEvent) {
        let place = event.page as usize;
        let page = &mut self.pages[place];
        match page.stale.take() {
            Some(since) => self.tally.no_longer_stale(since),
            None => self.tally.existing += u64::from(!page.exists),
        }
        if page.planned {
            self.agenda.withdraw(event.page, page.state.class, page.state.last_visit());
            page.state.renew(event.at);
        } else {
            page.state = PageState::new(event.at, self.policy.admit(&About::at(self.sections[place])));
            self.since_plan += 1;
        }
        page.exists = true;
        page.planned = true;
        self.agenda.put(event.page, page.state.class, event.at);
    }

    fn changes(&mut self, place: usize, at: Moment) {
        let page = &mut self.pages[place];
        page.unseen = self.tally.counts(at);
        if page.stale.is_none() {
            page.stale = Some(at);
            self.tally.stale_from(at);
        }
    }

    fn goes(&mut self, place: usize, at: Moment) {
        let page = &mut self.pages[place];
        page.unseen = self.tally.counts(at);
        page.exists = false;
        self.tally.existing -= 1;
        if let Some(since) = page.stale.take() {
            self.tally.no_longer_stale(since);
        }
    }

    /// The visits at the last moment are made too.
    fn figures(mut self) -> Figures {
        self.visit_before(self.end + std::time::Duration::from_millis(1));
        let unseen = self.pages.iter().filter(|page| page.unseen).count() as u64;
        let Figures { visits, wasted, missed, .. } = self.counts;
        Figures { visits, wasted, missed: missed + unseen, ..self.tally.figures() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revisit::Fixed;

    const DAY: u64 = 86_400_000;

    /// Events given as day, page and change, on so many pages, with a visit a day.
    fn replayed(days: &[(f64, u32, TraceChange)], pages: usize) -> Figures {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "days above 0")]
        let at = |day: f64| Moment::from_millis(1_000 * DAY + (day * DAY as f64) as u64);
        let events: Vec<_> =
            days.iter().map(|(day, page, change)| TraceEvent { at: at(*day), page: *page, change: *change }).collect();
        replay(&events, &vec![SectionPath::of("/"); pages], &mut Fixed::default(), Budget::per_day(1.0).unwrap())
    }

    #[test]
    fn a_trace_by_hand() {
        // Page 0 is visited on day 1, 2, ... until page 1 appears; then both in turn: 0 on 6, 1 on 7, 0 on 8, 1 on 9.
        let figures = replayed(
            &[
                (0.0, 0, TraceChange::New),
                (5.5, 1, TraceChange::New),
                (6.5, 0, TraceChange::Changed),
                (7.5, 0, TraceChange::Changed),
                (8.5, 1, TraceChange::Deleted),
                (10.0, 0, TraceChange::Changed),
            ],
            2,
        );
        // Judged from day 5: page 0 is stale from 6.5 to 8, of two pages; fresh again until the end.
        assert!((figures.freshness.unwrap() - (5.0 - 1.5 / 2.0) / 5.0).abs() < 1e-6, "{figures:?}");
        assert!((figures.age_days.unwrap() - 1.5 * 1.5 / 2.0 / 2.0 / 5.0).abs() < 1e-6, "{figures:?}");
        // Visits on 5 (nothing new), 6 (nothing new), 7 (nothing new), 8, 9 (the deletion), 10 (the change just made).
        // The change of 6.5 was followed by another without a visit.
        assert_eq!((figures.visits, figures.wasted, figures.missed), (6, 3, 1));
        assert!(figures.curve.len() > 100);
    }

    #[test]
    fn what_makes_no_sense_is_passed_over() {
        let figures =
            replayed(&[(0.0, 0, TraceChange::Changed), (1.0, 9, TraceChange::New), (2.0, 0, TraceChange::Deleted)], 1);
        assert_eq!((figures.freshness, figures.visits, figures.missed), (None, 0, 0));
        assert_eq!(replayed(&[], 0), Figures::default());
        let again = replayed(
            &[
                (0.0, 0, TraceChange::New),
                (0.5, 0, TraceChange::New),
                (4.2, 0, TraceChange::Deleted),
                (4.3, 0, TraceChange::New),
                (8.0, 0, TraceChange::New),
            ],
            1,
        );
        assert_eq!(again.freshness, Some(1.0));
        assert_eq!((again.visits, again.missed), (5, 1));
    }
}
