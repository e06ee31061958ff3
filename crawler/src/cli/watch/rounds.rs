//! [`Rounds`]: when a sequence begins, and what happens when it outlasts its interval.
//!
//! Invariants: nothing polls; an order that comes while a sequence runs holds from the next one on; while the crawl is paused, neither a
//! sequence nor a visit begins.
//!
//! Does not know: what a sequence is, where settings come from, and which clock it runs by.

use std::num::NonZeroU64;

use tokio::sync::mpsc;

use super::{
    super::{CommandFailure, session::Round},
    plan::WatchPlan,
    subject::{SequenceStart, Subject, Visiting},
};
use crate::{
    clock::WallTime,
    config::Overlap,
    engine::{RunEnd, StopSignal},
    schedule::{Due, Upcoming, WatchPhase, WatchState},
    store::Revisit,
    time::Moment,
};

/// What somebody asks of a crawl that is watched.
#[derive(Debug)]
pub(in crate::cli) enum WatchOrder<G> {
    /// Settings that hold from the next sequence on.
    Settings(Box<G>),
    /// Settings that were refused before anybody asked this crawl, and why.
    Refused(String),
    /// The next sequence is to begin now.
    Begin,
}

/// What comes from outside while a sequence runs, or is waited for.
pub(in crate::cli) struct Outside<G, T> {
    pub(in crate::cli) stop: StopSignal,
    pub(in crate::cli) orders: mpsc::Receiver<WatchOrder<G>>,
    pub(in crate::cli) time: T,
}

/// A subject on its schedule.
pub(in crate::cli) struct Rounds<S> {
    pub(in crate::cli) subject: S,
    plan: WatchPlan,
    upcoming: Upcoming,
    round: Round,
    /// How sequences after the first find their pages.
    revisit: Revisit,
    /// How many there may be.
    most: Option<NonZeroU64>,
    /// How many there were.
    done: u64,
    /// Whether the next is to begin now.
    asked: bool,
    /// What was said last of what it does.
    phase: WatchPhase,
    /// Why a sequence could not be run, or settings were refused since settings were taken last.
    fault: Option<String>,
}

/// What the first sequence is, and when.
pub(in crate::cli) struct FirstRound {
    pub(in crate::cli) plan: WatchPlan,
    pub(in crate::cli) upcoming: Upcoming,
    pub(in crate::cli) round: Round,
    pub(in crate::cli) revisit: Revisit,
    /// How many sequences there may be.
    pub(in crate::cli) most: Option<NonZeroU64>,
}

impl<S: Subject> Rounds<S> {
    pub(in crate::cli) fn new(subject: S, beginning: FirstRound) -> Self {
        let FirstRound { plan, upcoming, round, revisit, most } = beginning;
        let phase = WatchPhase::Paused;
        Self { subject, plan, upcoming, round, revisit, most, done: 0, asked: false, phase, fault: None }
    }

    /// How many sequences were run.
    pub(in crate::cli) fn done(&self) -> u64 {
        self.done
    }

    /// Crawls when it is time to, until a signal comes or all was done that was asked for.
    ///
    /// # Errors
    /// When a sequence cannot be run, or its figures not be read.
    pub(in crate::cli) async fn run<T: WallTime>(
        &mut self,
        outside: &mut Outside<S::Given, T>,
    ) -> Result<RunEnd, CommandFailure> {
        let ended = self.go_on(outside).await;
        let closed = self.subject.close().await;
        let ended = ended.and_then(|end| closed.map(|()| end));
        match &ended {
            Err(failure) => self.is_faulty(failure.to_string()),
            Ok(RunEnd::Loss) => self.is_faulty("the loss policy ended it".to_owned()),
            Ok(_) => {}
        }
        ended
    }

    async fn go_on<T: WallTime>(&mut self, outside: &mut Outside<S::Given, T>) -> Result<RunEnd, CommandFailure> {
        let now = outside.time.now();
        tokio::select! {
            biased;
            signal = outside.stop.asked() => return Ok(RunEnd::Signal(signal)),
            looked = self.subject.look_ahead(now) => looked?,
        }
        loop {
            if let Some(end) = self.wait(outside).await? {
                return Ok(end);
            }
            let end = self.sequence(outside).await?;
            self.done += 1;
            let is_last = self.most.is_some_and(|most| self.done >= most.get());
            if matches!(end, RunEnd::Signal(_) | RunEnd::Loss) {
                return Ok(end);
            }
            if is_last {
                self.enter(WatchPhase::Done);
                return Ok(end);
            }
            self.round = Round::Next(self.revisit);
        }
    }

    /// Until the next sequence is due, with the visits that are due before; or until a signal comes.
    async fn wait<T: WallTime>(
        &mut self,
        outside: &mut Outside<S::Given, T>,
    ) -> Result<Option<RunEnd>, CommandFailure> {
        let mut visiting = None;
        let ended = self.wait_and_visit(outside, &mut visiting).await?;
        let visited = self.finish_visits(&mut visiting).await?;
        Ok(ended.or(visited))
    }

    async fn wait_and_visit<T: WallTime>(
        &mut self,
        outside: &mut Outside<S::Given, T>,
        visiting: &mut Option<Visiting<S::Visited>>,
    ) -> Result<Option<RunEnd>, CommandFailure> {
        let mut printed = None;
        loop {
            if self.plan.paused {
                if let Some(end) = self.finish_visits(visiting).await? {
                    return Ok(Some(end));
                }
                if let Some(end) = self.wait_for_the_pause_to_end(outside).await {
                    return Ok(Some(end));
                }
                printed = None;
            }
            let now = outside.time.now();
            if std::mem::take(&mut self.asked) {
                self.upcoming.begin_now(&self.plan.schedule, now);
                return Ok(None);
            }
            if self.round == Round::GoOn {
                return Ok(None);
            }
            let Due::At(due) = self.upcoming.due(&self.plan.schedule, now) else { return Ok(None) };
            if printed.replace(due) != Some(due) {
                self.enter(WatchPhase::Due(due));
                self.subject.print(&format!("next sequence at {}", self.shown(due)))?;
            }
            let visits = self.subject.next_visits().filter(|_| visiting.is_none());
            if visits.is_some_and(|visits| visits <= now) {
                *visiting = Some(self.subject.visit_due(outside.stop.clone()));
                continue;
            }
            tokio::select! {
                biased;
                visited = running(visiting) => {
                    *visiting = None;
                    if let Some(end) = self.has_visited(visited?) {
                        return Ok(Some(end));
                    }
                }
                // Visits hear it themselves.
                signal = outside.stop.asked(), if visiting.is_none() => return Ok(Some(RunEnd::Signal(signal))),
                Some(order) = outside.orders.recv() => self.obey(order),
                woken = outside.time.until(visits.map_or(due, |visits| visits.min(due))) => woken.map_err(no_timer())?,
            }
        }
    }

    /// Ends the visits that are made; how the crawl ended by that, if it did.
    async fn finish_visits(
        &mut self,
        visiting: &mut Option<Visiting<S::Visited>>,
    ) -> Result<Option<RunEnd>, CommandFailure> {
        let Some(Visiting { running, finish }) = visiting.take() else { return Ok(None) };
        // They may have ended by themselves.
        let _ = finish.send(());
        let visited = running.await?;
        Ok(self.has_visited(visited))
    }

    /// Visits ended; how the crawl ended by that, if it did.
    fn has_visited(&mut self, visited: S::Visited) -> Option<RunEnd> {
        let end = self.subject.has_visited(visited)?;
        if matches!(end, RunEnd::Restart | RunEnd::Aged { .. }) {
            // Its URL cache was full, or too old: the next sequence begins now, and fills one by links again.
            (self.round, self.asked) = (Round::Next(Revisit::Rediscover), true);
            return None;
        }
        Some(end)
    }

    /// Until nobody holds the crawl back any more, or a signal comes.
    async fn wait_for_the_pause_to_end<T: WallTime>(&mut self, outside: &mut Outside<S::Given, T>) -> Option<RunEnd> {
        self.subject.tell("paused: nothing begins until schedule.pause is \"off\"");
        self.enter(WatchPhase::Paused);
        while self.plan.paused {
            tokio::select! {
                biased;
                signal = outside.stop.asked() => return Some(RunEnd::Signal(signal)),
                Some(order) = outside.orders.recv() => self.obey(order),
            }
        }
        if self.round == Round::GoOn {
            // It makes up for what was missed meanwhile.
            self.upcoming.begin_now(&self.plan.schedule, outside.time.now());
        }
        None
    }

    /// Runs a sequence, and those that its reset policy has follow it.
    async fn sequence<T: WallTime>(&mut self, outside: &mut Outside<S::Given, T>) -> Result<RunEnd, CommandFailure> {
        let now = outside.time.now();
        let next = self.next(now);
        let until = (self.plan.overlap == Overlap::Restart).then_some(next);
        let start = SequenceStart { round: self.round, until };
        let mut crawling = self.subject.sequence(start, outside.stop.clone())?;
        self.enter(WatchPhase::Running(now));
        let mut outlasts = false;
        let ended = loop {
            tokio::select! {
                biased;
                ended = &mut crawling => break ended?,
                Some(order) = outside.orders.recv() => self.obey_while_running(order),
                woken = outside.time.until(next), if !outlasts => {
                    woken.map_err(no_timer())?;
                    outlasts = outside.time.now() >= next;
                    if outlasts {
                        self.warn_of_overlap(next);
                    }
                }
            }
        };
        if !outlasts && outside.time.now() >= next {
            // It ended before anybody looked at the clock.
            self.warn_of_overlap(next);
        }
        let end = self.subject.has_crawled(ended, outside.time.now())?;
        if self.plan.overlap == Overlap::Skip {
            self.upcoming.skip_missed(&self.plan.schedule, outside.time.now());
        }
        Ok(end)
    }

    /// When the next sequence is due.
    fn next(&self, now: Moment) -> Moment {
        let mut upcoming = self.upcoming;
        match upcoming.due(&self.plan.schedule, now) {
            Due::At(next) => next,
            Due::Now => now,
        }
    }

    fn obey_while_running(&mut self, order: WatchOrder<S::Given>) {
        if matches!(order, WatchOrder::Begin) {
            self.subject.tell("a sequence is running: the next one begins right after it");
        }
        self.obey(order);
    }

    /// Takes new settings over, where they are right.
    fn obey(&mut self, order: WatchOrder<S::Given>) {
        match order {
            WatchOrder::Begin if self.plan.paused => self.subject.tell("paused: no sequence begins"),
            WatchOrder::Begin => self.asked = true,
            WatchOrder::Settings(given) => match self.subject.read_again(*given) {
                Ok(plan) => {
                    (self.plan, self.fault) = (plan, None);
                    self.enter(self.phase);
                    self.subject.tell("the settings were read again: they apply from the next sequence on");
                }
                Err(failure) => {
                    let why = "error: the new settings have a fault, so the old ones stay";
                    self.subject.complain(&format!("{why}: {failure}"));
                    self.is_faulty(format!("the new settings have a fault: {failure}"));
                }
            },
            WatchOrder::Refused(why) => self.is_faulty(why),
        }
    }

    /// Something keeps it from going on as it should.
    fn is_faulty(&mut self, why: String) {
        self.fault = Some(why);
        self.enter(self.phase);
    }

    /// Says what it does now.
    fn enter(&mut self, phase: WatchPhase) {
        self.phase = phase;
        let WatchPlan { schedule, hours, .. } = &self.plan;
        self.subject.has_state(&WatchState::new(phase, schedule, hours, self.fault.clone()));
    }

    fn warn_of_overlap(&self, due: Moment) {
        let what = match self.plan.overlap {
            Overlap::Skip => "the next one is left out",
            Overlap::Queue => "the next one begins right after it",
            Overlap::Restart => "the running one stops, and the next one begins",
        };
        tracing::warn!(due = %self.shown(due), "a sequence is still running when the next one is due: {what}");
    }

    /// What clocks in the zone of the schedule show, to the second.
    fn shown(&self, moment: Moment) -> String {
        self.plan.schedule.local(moment).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    }
}

/// The visits that are made, if there are any.
async fn running<V>(visiting: &mut Option<Visiting<V>>) -> Result<V, CommandFailure> {
    match visiting {
        Some(visiting) => (&mut visiting.running).await,
        None => std::future::pending().await,
    }
}

/// The system's timer fails.
pub(in crate::cli) fn no_timer() -> impl FnOnce(std::io::Error) -> CommandFailure {
    CommandFailure::system("cannot wait for a time of day")
}
