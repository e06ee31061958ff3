//! [`Intake`]: what came back and is to be taken in, one after the other, a part a turn.

use std::collections::VecDeque;

use super::{
    super::{judge::Passed, report::Report},
    CacheFailure, Core, Ending, Filling, Question,
    admission::Room,
    pages::Unfinished,
    rescue::Rescued,
};
use crate::{
    engine::Start,
    purpose::Taker,
    store::{Counters, Step},
    time::Moment,
};
use urlcache::ResetPolicy;

/// Starts that are admitted in one turn: there may be very many.
const STARTS_A_TURN: usize = 1_000;

/// Something to be taken in.
pub(super) enum Task {
    /// The URL cache is to be filled from the URL table.
    Restore,
    /// Starts that are not in the URL table.
    Starts(VecDeque<Start>),
    /// A visit that ended at this moment.
    Visit(Box<Report>, Moment),
    /// A page whose visit ended at this moment, and whose links were held back until the starts had their answers.
    Held(Box<Report>, Moment),
    /// A page whose links are being admitted.
    Links(Box<Unfinished>),
    /// A page fetched again, whose lost links are to be admitted.
    Rescued(Box<Rescued>),
}

/// Tasks in their order.
#[derive(Default)]
pub(super) struct Intake {
    tasks: VecDeque<Task>,
    /// The URL cache is away, being filled.
    filling: bool,
    /// It has just been filled for the task that comes next.
    has_room: bool,
}

impl Intake {
    /// Adds a task.
    pub(super) fn push(&mut self, task: Task) {
        self.tasks.push_back(task);
    }

    /// The URL cache is back.
    pub(super) fn go_on(&mut self) {
        (self.filling, self.has_room) = (false, true);
    }

    /// How many tasks there are.
    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether there is nothing to do.
    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty() && !self.filling
    }
}

/// Whether candidates can be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ready {
    /// Now.
    Yes,
    /// Once the URL cache is filled.
    NotYet,
    /// Not in this run.
    No,
}

impl Core {
    /// Takes the next step; whether there is another that could be taken now.
    pub(super) fn take_in(&mut self, now: Moment) -> Result<bool, CacheFailure> {
        if !self.can_take_in() {
            return Ok(false);
        }
        let Some(task) = self.intake.tasks.pop_front() else { return Ok(false) };
        if let Some(rest) = self.carry_on(task, now)? {
            self.intake.tasks.push_front(rest);
        }
        Ok(self.can_take_in() && !self.intake.tasks.is_empty())
    }

    fn can_take_in(&self) -> bool {
        !self.intake.filling && (self.outbox.has_room() || !self.admission.cache.forgets())
    }

    /// Does a part of a task; what is left of it, if there is more.
    fn carry_on(&mut self, task: Task, now: Moment) -> Result<Option<Task>, CacheFailure> {
        match task {
            Task::Restore => {
                let filling = self.admission.cache.refilling();
                self.fill(filling);
                Ok(None)
            }
            Task::Starts(starts) => self.starts_entered(starts, now),
            Task::Visit(report, at) => match report.lease.purpose().row().taker {
                Taker::Pages => self.page_arrived(report, at, now),
                Taker::Sweep => self.rescue_finished(*report, at, now),
                Taker::Robots => {
                    self.robots_finished(*report, at);
                    Ok(None)
                }
                Taker::Health => {
                    self.check_finished(*report, at);
                    Ok(None)
                }
            },
            Task::Held(report, at) => self.page_finished(*report, None, at, now),
            Task::Links(unfinished) => self.admit_part(unfinished, now),
            Task::Rescued(rescued) => self.admit_rescued(*rescued, now),
        }
    }

    /// Admits the next starts. What comes of those before them is taken in when all are admitted.
    fn starts_entered(&mut self, mut starts: VecDeque<Start>, now: Moment) -> Result<Option<Task>, CacheFailure> {
        let next = starts.len().min(STARTS_A_TURN);
        if self.make_room(next, now)? == Ready::NotYet {
            return Ok(Some(Task::Starts(starts)));
        }
        self.enter_starts(starts.drain(..next), now);
        Ok(if starts.is_empty() { None } else { Some(Task::Starts(starts)) })
    }

    fn fill(&mut self, filling: Filling) {
        self.intake.filling = true;
        self.outbox.ask(Question::Fill(filling));
    }

    /// The URL cache was filled.
    pub(super) fn filled(&mut self, filling: Filling) {
        let rebuilt = filling.is_rebuilt();
        self.admission.cache.filled(filling);
        self.intake.go_on();
        if rebuilt {
            self.count(Counters { rebuilds: 1, generations: 1, ..Counters::default() });
        }
    }

    /// Sends sums, with what the URL cache is expected to have lost.
    pub(super) fn count(&mut self, counters: Counters) {
        let counters = Counters { expected_lost: self.admission.cache.expected_lost(), ..counters };
        self.outbox.write(Step { counters, ..Step::default() }, &mut self.frontier);
    }

    /// A step goes out.
    pub(super) fn send(&mut self, step: Step) {
        if step.rows.is_empty() || !self.admission.cache.forgets() {
            self.outbox.write(step, &mut self.frontier);
        } else {
            self.outbox.propose(step);
        }
    }

    /// [`Self::make_room`] for these candidates.
    pub(super) fn make_room_for(&mut self, proposals: &Passed, now: Moment) -> Result<Ready, CacheFailure> {
        self.make_room(self.admission.cache.new_among(proposals), now)
    }

    /// Has the URL cache keep its budget over so many more answers.
    fn make_room(&mut self, answers: usize, now: Moment) -> Result<Ready, CacheFailure> {
        if std::mem::take(&mut self.intake.has_room) {
            return Ok(Ready::Yes);
        }
        let mut counters = Counters::default();
        match self.admission.cache.make_room(answers, now)? {
            Room::Enough => return Ok(Ready::Yes),
            Room::Fill(filling) => {
                self.fill(filling);
                return Ok(Ready::NotYet);
            }
            Room::Aged => {
                self.ending = Ending::CompleteThenNext;
                return Ok(Ready::Yes);
            }
            Room::Grown { times } => counters.growths = times,
            Room::Spent if self.settings.cache.reset == ResetPolicy::Restart => self.ending = Ending::Next,
            Room::Spent => self.ending = Ending::Stop,
        }
        self.count(counters);
        Ok(if self.ending == Ending::Stop { Ready::No } else { Ready::Yes })
    }
}
