//! Pages that are due after a sequence has come to its end.

use super::super::{Again, CacheEnding, Core, Limits, RunEnd, StoreQuestion, Then};
use crate::{
    engine::{Between, report::EndedLease},
    frontier::{Next, Outcome, WorkItem},
    purpose::Purpose,
    queue::NOT_MODIFIED,
    store::{Abandonment, DuePages, Step, UrlChange},
    time::Moment,
};

impl Core {
    /// The sequence has come to its end: from now on the pages are visited that are due. What else is queued is fetched as far as its
    /// limits allow.
    pub(super) fn begin_between(&mut self, mut between: Between, now: Moment) {
        let ended = self.stopped.take().or(self.ended);
        between.resume(now);
        self.outbox.is_recorded(ended);
        if ended != Some(RunEnd::Budget) {
            self.limits.forget_time();
        }
        self.ended = ended;
        self.frontier.drop_all_extras();
        self.between = Some(Box::new(between));
    }

    /// The visits that are to come, where the core is not needed any more.
    pub(in crate::engine) fn take_between(&mut self) -> Option<Between> {
        self.between.take().map(|between| *between)
    }

    /// The state of the sequence where visits end, by an end of its own or without; `None` where that was recorded.
    pub(in crate::engine) fn end_between(&mut self, end: Option<RunEnd>, now: Moment) -> Option<RunEnd> {
        // What has come to its end stays so when a signal comes.
        let is_open = self.is_left() && self.ended != Some(RunEnd::Budget);
        let own = end.filter(|end| is_open || !matches!(end, RunEnd::Signal(_)));
        if let Some(between) = &mut self.between {
            between.tell_visits();
        }
        // What is due in memory waits for nobody.
        self.frontier.drop_all_extras();
        let may_go_on = self.ended == Some(RunEnd::Unreachable) && self.frontier.next(now) != Next::Unreachable;
        // The next sequence stops it, as a budget of time would.
        let state = own.or(self.state_by_fetches().filter(|_| !may_go_on)).unwrap_or(RunEnd::Budget);
        (own.is_some() || !self.outbox.has_recorded(state)).then_some(state)
    }

    /// How the sequence has ended, by what was fetched since; `None` where something is still to be fetched.
    fn state_by_fetches(&self) -> Option<RunEnd> {
        match self.ended {
            Some(RunEnd::Drained) if self.is_left() => None,
            Some(RunEnd::Unreachable) if !self.is_left() => None,
            ended => ended,
        }
    }

    fn is_left(&self) -> bool {
        let counts = self.frontier.counts();
        counts.queued + counts.leased > 0
    }

    /// Whether nothing is carried out or waits to be taken in.
    pub(in crate::engine) fn is_at_rest(&self) -> bool {
        self.is_settled() && !self.outbox.has_questions()
    }

    /// Nothing more is leased.
    pub(super) fn finish_between(&mut self) {
        if let Some(between) = &mut self.between {
            between.finish();
        }
    }

    /// Asks for the pages that are due, and has recorded what was visited.
    pub(super) fn go_on_between(&mut self, now: Moment) {
        let Some(between) = self.between.as_mut().filter(|_| self.outbox.has_room()) else { return };
        if let Some(request) = between.asks(now) {
            for item in between.kept().map(|but| self.frontier.drop_due(but)).unwrap_or_default() {
                between.is_out_no_more(item.id, false, now);
            }
            self.outbox.ask(StoreQuestion::Due(Box::new(request)));
        } else if self.outbox.is_changed() && between.records(now) {
            self.record(now);
        }
    }

    /// Has the store know the state of the sequence now.
    fn record(&mut self, now: Moment) {
        let end = self.state_by_fetches();
        if let Some(between) = &mut self.between {
            between.begin_recording(now);
            self.outbox.record(end);
        }
    }

    /// It was recorded.
    pub(super) fn recorded(&mut self, now: Moment) {
        if let Some(between) = &mut self.between {
            between.recorded(now);
        }
    }

    /// Pages that are due were handed out.
    pub(super) fn handed(&mut self, due: DuePages, now: Moment) {
        let Some(between) = &mut self.between else { return };
        for item in between.handed(due, now) {
            self.offer_due(&item, now);
        }
    }

    fn offer_due(&mut self, item: &WorkItem, now: Moment) {
        if !self.frontier.offer_extra(item.clone()) {
            let why = self.admission.why_closed(item.host).unwrap_or(Abandonment::Robots);
            self.leave_out(item, why, now);
        }
    }

    /// A page that is due will not be fetched.
    pub(super) fn leave_out(&mut self, item: &WorkItem, why: Abandonment, now: Moment) {
        self.is_visited(item, false, now);
        self.frontier.abandon_finished();
        self.send(Step { change: Some((item.id, UrlChange::Abandoned(why))), ..Step::default() });
    }

    /// A page that is due is fetched again, or whole.
    pub(super) fn put_off_due(&mut self, ended: EndedLease, again: &Again, step: Step, now: Moment) {
        let (item, host) = (ended.lease.item().clone(), ended.lease.host());
        let is_checked = &*again.reason == NOT_MODIFIED;
        let outcome = again.outcome();
        let due = if let Outcome::Retry { due, .. } = outcome { Some(due) } else { None };
        self.send(step);
        if self.frontier.is_closed(host) || is_checked {
            self.complete(ended, Outcome::Finished { stored: false });
            self.offer_due(&WorkItem { purpose: Purpose::DueAudit, due, ..item }, now);
        } else {
            self.complete(ended, outcome);
        }
    }

    /// A page that was due has its answer, or none.
    pub(super) fn is_visited(&mut self, item: &WorkItem, visited: bool, now: Moment) {
        if let Some(between) = self.between.as_mut().filter(|_| item.purpose.is_due()) {
            between.is_out_no_more(item.id, visited, now);
        }
    }

    /// Nothing can be leased by now: what comes next.
    pub(super) fn wait_between(&mut self, left: &Next, now: Moment) -> Then {
        match self.admission.ending() {
            CacheEnding::Next => return Then::End(RunEnd::Restart),
            CacheEnding::CompleteThenNext => {
                return Then::End(RunEnd::Aged { drained: self.frontier.counts().queued == 0 });
            }
            CacheEnding::Complete | CacheEnding::Stop => {}
        }
        if *left == Next::Drained
            && matches!(self.ended, Some(RunEnd::Unreachable | RunEnd::Budget))
            && let Some(then) = self.complete_between(now)
        {
            return then;
        }
        let moment = match *left {
            Next::WaitUntil(moment) => Some(moment),
            Next::Unreachable => self.frontier.next_moment().filter(|moment| *moment > now),
            _ => None,
        };
        let Some(between) = &self.between else { return Then::Wait(None) };
        let is_done = self.is_settled() && !self.outbox.is_changed() && !between.is_recording();
        if between.is_idle(now) && is_done {
            return Then::Idle;
        }
        let next = between.next(self.outbox.is_changed()).map(|next| next.max(now + Limits::SHORTEST));
        Then::Wait(moment.into_iter().chain(next).min())
    }

    /// What was left when the sequence ended has been fetched since: it is complete once all links were compared.
    fn complete_between(&mut self, now: Moment) -> Option<Then> {
        match self.swept_then(RunEnd::Drained, now) {
            Then::End(end) => {
                self.ended = Some(end);
                self.outbox.change();
                None
            }
            then => Some(then),
        }
    }

    /// Whether nothing is to begin any more.
    pub(super) fn finishes(&self) -> bool {
        self.between.as_ref().is_some_and(|between| between.finishes())
    }
}
