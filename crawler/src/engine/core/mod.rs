//! The deciding core of a crawl: `handle(event, now)` answers with effects.
//!
//! Owns: the frontier, admission with the URL cache, robots rules, the starts, the rescue of lost URLs, budgets and endings.
//!
//! Invariants: it has no channel, no task, no clock and no lock; it does nothing but change itself and say what is to be
//! done. So the same events at the same moments lead to the same effects, and a crawl can be simulated. Each call is
//! bounded: a page with many links is taken in part by part, one a turn.
//!
//! Does not know: how URLs are fetched, rows written, or signals caught.

mod admission;
mod event;
mod figures;
mod hosts;
mod intake;
mod leasing;
mod limits;
mod outbox;
mod outcome;
mod pages;
mod rescue;
mod revisits;
pub(super) mod robots;
mod setup;
mod starts;

use std::sync::Arc;

use super::report::Report;
pub use admission::CacheFailure;
pub(super) use admission::Filling;
use admission::{Admission, Ending, SeenCache};
pub use event::End;
pub(super) use event::{Effect, Event, Question, StoreAnswer, Then};
use intake::{Intake, Task};
use limits::Limits;
pub(super) use outbox::MOST_QUESTIONS;
use outbox::Outbox;
use rescue::Rescues;
use revisits::{Revisits, VisitRound};
use robots::Robots;
pub(super) use setup::{Setup, cache_check, ranking, scope};
pub use starts::Start;
use starts::Starts;

use crate::{
    config::Settings,
    frontier::{Asked, Frontier},
    time::Moment,
};

/// The deciding core. See the [module documentation](self).
pub(super) struct Core {
    settings: Arc<Settings>,
    frontier: Frontier,
    admission: Admission,
    robots: Robots,
    starts: Starts,
    rescues: Rescues,
    limits: Limits,
    revisits: Revisits,
    intake: Intake,
    outbox: Outbox,
    /// How the run ends, once what is in flight has ended.
    stopped: Option<End>,
}

impl Core {
    /// Takes an event in; what is to be done about it is added to `effects`.
    ///
    /// # Errors
    /// [`CacheFailure`] when the URL cache cannot go on.
    pub(super) fn handle(
        &mut self,
        event: Event,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) -> Result<Then, CacheFailure> {
        let then = match event {
            Event::Turn => self.turn(now)?,
            happened => {
                self.happened(happened, now);
                Then::Turn
            }
        };
        self.outbox.hand_to(effects);
        #[cfg(test)]
        self.stands().unwrap_or_else(|problem| panic!("{problem} at {now:?}"));
        Ok(then)
    }

    fn happened(&mut self, event: Event, now: Moment) {
        match event {
            Event::Begin(starts) => self.begin(starts, now),
            Event::Visited(report) => {
                if self.limits.came_back(&report, now) {
                    self.intake.push(Task::Visit(report, now));
                } else {
                    self.not_made(*report, now);
                }
            }
            Event::GivenUp(requests) => {
                self.limits.gave_up();
                self.count_requests(requests);
            }
            Event::Gone(leases) => self.limits.gone(leases),
            Event::Answered(answer) => self.answered(answer, now),
            Event::Stop(signal) => self.stopped = self.stopped.or(Some(End::Signal(signal))),
            Event::Turn => {}
        }
    }

    /// A request could not be made. The one before it, of the same lease, may have been.
    fn not_made(&mut self, report: Report, now: Moment) {
        self.count_requests(report.requests);
        self.give_back(report.lease, if report.requests > 0 { Asked::Yes } else { Asked::No }, now);
    }

    fn answered(&mut self, answer: StoreAnswer, now: Moment) {
        self.outbox.answered();
        match answer {
            StoreAnswer::Rows(host, rows) => self.frontier.refilled(host, rows),
            StoreAnswer::Robots(host, body) => self.robots_recalled(host, body.as_deref(), now),
            StoreAnswer::Swept(swept) => self.swept(swept),
            StoreAnswer::Filled(filling) => self.filled(filling),
            StoreAnswer::Confirmed(confirmed) => {
                confirmed.known.iter().for_each(|known| self.starts.settle(*known));
                self.admission.forgot(confirmed.known.len());
                self.outbox.confirmed(confirmed, &mut self.frontier);
            }
        }
    }

    /// One step of what came back, then leases.
    fn turn(&mut self, now: Moment) -> Result<Then, CacheFailure> {
        let more = self.take_in(now)?;
        // The start that was taken in may have been the last: what waited for it would be left out if nothing else is to be done.
        let more = self.release_held(now) || more;
        if self.admission.ending() == Ending::Stop {
            self.stopped = self.stopped.or(Some(End::Loss));
        }
        if let Some(end) = self.stopped {
            return Ok(self.stopping(end, more));
        }
        // A visit that is not taken in yet has not told its host's queue that it ended: its delay would not be kept.
        let then = if self.has_taken_in() { self.grant(now) } else { Then::Wait(None) };
        Ok(match then {
            Then::Turn => Then::Turn,
            _ if more => Then::Turn,
            // What is being taken in may be the next to fetch.
            Then::End(_) if !self.has_taken_in() => Then::Wait(None),
            Then::End(end) => {
                self.stopped = Some(end);
                self.stopping(end, more)
            }
            Then::Wait(until) => {
                let until = [until, self.starts.deadline(), self.limits.time_ends(now)].into_iter().flatten().min();
                Then::Wait(until)
            }
        })
    }

    /// The run ends when nothing is in flight any more and all that came back is taken in.
    fn stopping(&mut self, end: End, more: bool) -> Then {
        if more {
            return Then::Turn;
        }
        if self.limits.in_flight() > 0 || !self.has_taken_in() {
            return Then::Wait(None);
        }
        if self.starts.holds() {
            self.starts.give_up();
            return Then::Turn;
        }
        if self.outbox.is_unconfirmed() {
            // What was charged for URLs that are known is taken back.
            return Then::Wait(None);
        }
        Then::End(end)
    }
}
