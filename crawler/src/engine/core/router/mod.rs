//! Handles each event: the only place that involves more than one state machine.
//!
//! The router gives a machine what it needs, gets a value back, and decides what that means for the other machines.

mod between;
mod health;
mod intake;
mod leasing;
mod link_checks;
mod look_up;
mod pages;
mod ranks;
mod rescues;
mod robots;
mod second_looks;
mod sources;
mod starts;

use super::{CacheEnding, CacheFailure, Core, CoreEvent, StoreAnswer, Task, Then};
use crate::{
    engine::{RunEnd, report::Report},
    frontier::Asked,
    time::Moment,
};

/// Whether candidates can be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ready {
    /// Now.
    Yes,
    /// Once the URL cache is filled.
    NotYet,
    /// Not in this run.
    No,
}

impl Core {
    /// Takes in what happened.
    pub(super) fn happened(&mut self, event: CoreEvent, now: Moment) {
        match event {
            CoreEvent::Begin(starts) => self.begin(starts, now),
            CoreEvent::Between(between) => self.begin_between(*between, now),
            CoreEvent::Finish => self.finish_between(),
            CoreEvent::Visited(report) => {
                if self.limits.came_back(&report, now) {
                    self.intake.push_back(Task::Visit(report, now));
                } else {
                    self.not_made(*report, now);
                }
            }
            CoreEvent::GivenUp(requests) => {
                self.limits.gave_up();
                self.count_requests(requests);
            }
            CoreEvent::Gone(leases) => self.limits.gone(leases),
            CoreEvent::Machine(reading) => self.limits.read(reading),
            CoreEvent::Answered(answer) => self.answered(answer, now),
            CoreEvent::Stop(signal) => self.stopped = self.stopped.or(Some(RunEnd::Signal(signal))),
            CoreEvent::Turn => {}
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
            StoreAnswer::Lifted(rows) => rows.into_iter().for_each(|rows| self.frontier.came_nearer(rows)),
            StoreAnswer::LinksToCheck(found) => self.check_links(found, now),
            StoreAnswer::UnsurePages(pages) => self.look_twice(pages),
            StoreAnswer::Swept(swept) => self.swept(swept),
            StoreAnswer::Filled(filling) => self.filled(filling),
            StoreAnswer::Due(due) => self.handed(due, now),
            StoreAnswer::Recorded => self.recorded(now),
            StoreAnswer::Confirmed(confirmed) => {
                confirmed.known.iter().for_each(|known| self.starts.settle(*known));
                self.admission.forgot(confirmed.known.len());
                self.outbox.confirmed(confirmed, &mut self.frontier);
            }
        }
    }

    /// One step of what came back, then leases.
    pub(super) fn turn(&mut self, now: Moment) -> Result<Then, CacheFailure> {
        let more = self.take_in(now)?;
        // The start that was taken in may have been the last: what waited for it would be left out if nothing else is to be done.
        let more = self.release_held(now) || more;
        if self.admission.ending() == CacheEnding::Stop {
            self.stopped = self.stopped.or(Some(RunEnd::Loss));
        }
        if let Some(end) = self.stopped {
            return Ok(self.stopping(end, more));
        }
        self.rank_anew();
        self.go_on_between(now);
        self.go_on_checking();
        self.give_up_second_looks();
        // A visit that is not taken in yet has not been reported to its host's queue as ended: its delay would not be kept.
        let then = if self.has_taken_in() { self.grant(now) } else { Then::Wait(None) };
        Ok(match then {
            Then::Turn => Then::Turn,
            _ if more => Then::Turn,
            // What is being taken in may be the next to fetch.
            Then::End(_) if !self.has_taken_in() => Then::Wait(None),
            Then::Idle => Then::Idle,
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
    fn stopping(&mut self, end: RunEnd, more: bool) -> Then {
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
        self.rank_all_anew();
        Then::End(end)
    }
}
