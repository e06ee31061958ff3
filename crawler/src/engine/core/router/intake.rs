//! Takes in what came back: one task after the other, one part a turn.

use std::collections::VecDeque;

use super::{
    super::{CacheFailure, Core, Filling, Readiness, StoreQuestion, Task},
    Ready,
};
use crate::{
    candidate::{HostId, Ticket},
    engine::judge::Batch,
    frontier::HostStart,
    purpose::ReportTaker,
    store::{Counters, HostRow, Step},
    time::Moment,
    url::Origin,
};

/// Starts that are admitted in one turn: there may be very many.
const STARTS_A_TURN: usize = 1_000;

impl Core {
    /// Takes the next step; whether there is another that could be taken now.
    pub(super) fn take_in(&mut self, now: Moment) -> Result<bool, CacheFailure> {
        if !self.can_take_in() {
            return Ok(false);
        }
        let Some(task) = self.intake.pop_front() else { return Ok(false) };
        if let Some(rest) = self.carry_on(task, now)? {
            self.intake.push_front(rest);
        }
        Ok(self.can_take_in() && !self.intake.is_empty())
    }

    fn can_take_in(&self) -> bool {
        !self.admission.is_filling() && (self.outbox.has_room() || !self.admission.forgets())
    }

    /// Whether all that came back is taken in.
    pub(super) fn has_taken_in(&self) -> bool {
        self.intake.is_empty() && !self.admission.is_filling()
    }

    /// Does a part of a task; what is left of it, if there is more.
    fn carry_on(&mut self, task: Task, now: Moment) -> Result<Option<Task>, CacheFailure> {
        match task {
            Task::Restore => {
                self.outbox.ask(StoreQuestion::Fill(self.admission.refill()));
                Ok(None)
            }
            Task::Starts(starts) => self.starts_entered(starts, now),
            Task::Sitemaps(sitemaps) => self.enter_sitemaps(sitemaps, now),
            Task::Visit(report, at) => match report.lease.purpose().row().taker {
                ReportTaker::Pages => self.page_arrived(report, at, now),
                ReportTaker::Sweep => self.rescue_finished(*report, at, now),
                ReportTaker::Robots => {
                    self.robots_finished(*report, at);
                    Ok(None)
                }
                ReportTaker::Health => {
                    self.check_finished(*report, at);
                    Ok(None)
                }
                ReportTaker::LookUps => {
                    self.looked_up(*report, at);
                    Ok(None)
                }
                ReportTaker::LinkChecks => {
                    self.link_check_finished(*report, at, now);
                    Ok(None)
                }
                ReportTaker::SecondLooks => {
                    self.looked_twice(*report, at);
                    Ok(None)
                }
                ReportTaker::Sources => {
                    self.guess_finished(*report, at, now);
                    Ok(None)
                }
            },
            Task::Held(report, at) => self.page_finished(*report, None, at, now),
            Task::Links(unfinished) => self.admit_part(unfinished, now),
            Task::Rescued(found, step) => self.admit_rescued(*found, *step, now),
        }
    }

    /// Admits the next starts. What comes of those before them is taken in when all are admitted.
    fn starts_entered(&mut self, mut starts: VecDeque<Box<str>>, now: Moment) -> Result<Option<Task>, CacheFailure> {
        let next = starts.len().min(STARTS_A_TURN);
        let readiness = self.admission.make_room(next, now)?;
        if self.ready(readiness) == Ready::NotYet {
            return Ok(Some(Task::Starts(starts)));
        }
        self.enter_starts(starts.drain(..next), now);
        Ok(if starts.is_empty() { None } else { Some(Task::Starts(starts)) })
    }

    /// The URL cache was filled.
    pub(super) fn filled(&mut self, filling: Filling) {
        if let Some(counters) = self.admission.filled(filling) {
            self.count(counters);
        }
    }

    /// Sends sums.
    pub(super) fn count(&mut self, counters: Counters) {
        self.outbox.write(Step { counters, ..Step::default() }, &mut self.frontier);
    }

    /// A step goes out.
    pub(super) fn send(&mut self, step: Step) {
        if step.rows.is_empty() || !self.admission.forgets() {
            self.outbox.write(step, &mut self.frontier);
        } else {
            self.outbox.propose(step);
        }
    }

    /// Admits a batch. The frontier hears of its hosts at once, and of its rows when the step goes out.
    pub(super) fn admit(&mut self, batch: Batch, step: &mut Step) -> Vec<Ticket> {
        let (hosts, rows) = (step.hosts.len(), step.rows.len());
        let admitted = self.admission.admit(batch, |host| self.frontier.origin(host), step);
        self.meet(&step.hosts[hosts..]);
        step.rows[rows..].iter().for_each(|row| self.sweep.admitted(row.fingerprint));
        admitted
    }

    /// The number of a host; one never seen gets a row in `step`.
    pub(super) fn host(&mut self, origin: Origin, step: &mut Step) -> HostId {
        let known = step.hosts.len();
        let host = self.admission.host(origin, |host| self.frontier.origin(host), step);
        self.meet(&step.hosts[known..]);
        host
    }

    fn meet(&mut self, hosts: &[HostRow]) {
        for HostRow { id, origin } in hosts {
            let met = self.frontier.add_host(HostStart::new(origin.clone(), self.settings.politeness.delay));
            assert_eq!(met, *id, "hosts are numbered in the order in which they are met");
        }
    }

    /// What admission answers when it was asked for room.
    pub(super) fn ready(&mut self, readiness: Readiness) -> Ready {
        match readiness {
            Readiness::Yes => Ready::Yes,
            Readiness::Changed(counters) => {
                self.count(counters);
                Ready::Yes
            }
            Readiness::Fill(filling) => {
                self.outbox.ask(StoreQuestion::Fill(filling));
                Ready::NotYet
            }
            Readiness::No(counters) => {
                self.count(counters);
                Ready::No
            }
        }
    }
}
