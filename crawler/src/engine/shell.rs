//! [`Shell`]: carries out what the core decides, and tells it what happened.
//!
//! Owns: the tasks of the visits, the way to the writer and back, the timers. It decides nothing.
//!
//! Invariant: effects are carried out in their order, before the core gets the next event.

use std::{future::pending, pin::pin, sync::Arc, time::Duration};

use tokio::sync::{mpsc, oneshot, watch};
use tracing::Instrument;

use super::{
    Between, EngineError, Gauge, Progress, StopSignal,
    asking::{Answers, asking},
    core::{Core, CoreEvent, Effect, MOST_QUESTIONS, RunEnd, StoreAnswer, Then},
    hand_over::HandOver,
    report::Judging,
    stop::Stop,
    visit::{Job, Visitor},
    visit_events::Followed,
    visits::{VisitEnd, Visits},
};
use crate::{
    clock::Clock,
    fetch::Fetcher,
    frontier::Lease,
    observe::process,
    purpose::Purpose,
    store::{Counters, Message, Reply, SequenceEnd, Step},
    time::Moment,
};

/// How often figures are shown.
const TICK: Duration = Duration::from_millis(500);

/// How often it is looked whether something came due while the machine was suspended, where nobody looks at figures.
const LONG_TICK: Duration = Duration::from_secs(30);

/// The core of a run with all that it needs.
pub(super) struct Shell<F> {
    pub(super) core: Core,
    pub(super) clock: Clock,
    visitor: Arc<Visitor<F>>,
    visits: Visits,
    writer: HandOver,
    answers: Slots,
    stop: StopSignal,
    progress: watch::Sender<Progress>,
    gauge: Gauge,
    effects: Vec<Effect>,
    recorded: Recorded,
}

/// What a run had taken when it was recorded last.
struct Recorded {
    at: Moment,
    cpu_seconds: f64,
}

/// Why a shell has come to rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// The run ended.
    End(RunEnd),
    /// Nothing was due for long.
    Idle,
    /// Somebody wants it to end.
    Finished,
}

/// How a run is watched and stopped.
pub(super) struct RunControl {
    pub(super) stop: StopSignal,
    pub(super) progress: watch::Sender<Progress>,
    pub(super) gauge: Gauge,
}

/// Answers of the store. A slot is reserved before the question is sent, so the writer never waits.
struct Slots {
    sender: mpsc::Sender<StoreAnswer>,
    receiver: mpsc::Receiver<StoreAnswer>,
}

impl<F: Fetcher + 'static> Shell<F> {
    pub(super) fn new(core: Core, visitor: Visitor<F>, clock: Clock, writer: HandOver, control: RunControl) -> Self {
        let RunControl { stop, progress, gauge } = control;
        // The core fills the URL cache whatever else it asks.
        let (sender, receiver) = mpsc::channel(MOST_QUESTIONS + 1);
        let recorded = Recorded { at: clock.now(), cpu_seconds: process::cpu_seconds() };
        Self {
            core,
            clock,
            visitor: Arc::new(visitor),
            visits: Visits::default(),
            writer,
            answers: Slots { sender, receiver },
            stop,
            progress,
            gauge,
            effects: Vec::new(),
            recorded,
        }
    }

    /// Begins with these starts.
    pub(super) async fn begin(&mut self, starts: Vec<Box<str>>) -> Result<(), EngineError> {
        self.tell(CoreEvent::Begin(starts)).await
    }

    /// Runs until the sequence has come to its end.
    pub(super) async fn run(&mut self) -> Result<RunEnd, EngineError> {
        match self.go_on(pending(), TICK).await? {
            Rest::End(end) => Ok(end),
            Rest::Idle | Rest::Finished => unreachable!("only what is between sequences rests"),
        }
    }

    /// Visits the pages that are due after that, until nothing is for long, or somebody wants it to end.
    pub(super) async fn between(
        &mut self,
        between: Between,
        finish: impl Future<Output = ()>,
    ) -> Result<Rest, EngineError> {
        self.tell(CoreEvent::Between(Box::new(between))).await?;
        self.go_on(finish, LONG_TICK).await
    }

    async fn go_on(&mut self, finish: impl Future<Output = ()>, tick: Duration) -> Result<Rest, EngineError> {
        let mut finish = pin!(finish);
        let mut ticks = tokio::time::interval(tick);
        self.tell(CoreEvent::Machine(self.gauge.read())).await?;
        let gone = self.visits.gone();
        let mut finishes = false;
        loop {
            let until = match self.turn().await? {
                Then::End(end) => return Ok(Rest::End(end)),
                Then::Idle => return Ok(Rest::Idle),
                Then::Wait(_) if finishes && self.core.is_at_rest() => return Ok(Rest::Finished),
                Then::Turn => Some(Moment::EPOCH),
                Then::Wait(until) => until,
            };
            let event = tokio::select! {
                biased;
                stop = self.stop.next() => match stop {
                    Stop::Begin(signal) => Some(CoreEvent::Stop(signal)),
                    Stop::Abort => {
                        self.visits.abort();
                        None
                    }
                },
                () = &mut finish, if !finishes => {
                    finishes = true;
                    Some(CoreEvent::Finish)
                }
                Some(ended) = self.visits.next() => Some(event(ended)),
                leases = gone.next() => Some(CoreEvent::Gone(leases)),
                Some(answer) = self.answers.receiver.recv() => Some(CoreEvent::Answered(answer)),
                due = self.writer.due() => {
                    due?;
                    self.writer.flush().await?;
                    None
                }
                _ = ticks.tick() => {
                    self.publish();
                    Some(CoreEvent::Machine(self.gauge.read()))
                }
                () = sleep_until(self.clock, until), if until.is_some() => None,
            };
            let answered = matches!(event, Some(CoreEvent::Answered(_)));
            if let Some(event) = event {
                self.tell(event).await?;
            }
            if answered {
                // Answers come in crowds, and take time to be read: visits begun meanwhile would all send their requests at once.
                tokio::task::yield_now().await;
            }
        }
    }

    /// Tells the core what has just happened.
    async fn tell(&mut self, event: CoreEvent) -> Result<(), EngineError> {
        self.core.handle(event, self.clock.now(), &mut self.effects)?;
        self.carry_out().await
    }

    /// Has the core decide on what may begin by now. It knows of all requests that have ended by then, also while the writer was
    /// waited for: a host's next one would come too soon after them.
    async fn turn(&mut self) -> Result<Then, EngineError> {
        while let Some(ended) = self.visits.next_ended() {
            self.tell(event(ended)).await?;
        }
        let then = self.core.handle(CoreEvent::Turn, self.clock.reached(), &mut self.effects)?;
        self.carry_out().await?;
        Ok(then)
    }

    async fn carry_out(&mut self) -> Result<(), EngineError> {
        for effect in std::mem::take(&mut self.effects) {
            match effect {
                Effect::Fetch(lease, judging) => self.visit(*lease, judging).await?,
                Effect::Write(step) => self.writer.step(step).await?,
                Effect::Propose(step) => {
                    let reply = self.answers.reply(StoreAnswer::Confirmed);
                    self.writer.propose(step, reply).await?;
                }
                Effect::HandFailed(failed, why) => drop(tokio::spawn(failed.send(why))),
                Effect::Ask(question) => {
                    let message = asking(question, &self.answers, |end| {
                        standing(&self.core, self.clock, &mut self.recorded, end, false)
                    });
                    self.writer.message(message).await?;
                }
            }
        }
        Ok(())
    }

    /// Has a task carry a lease out.
    async fn visit(&mut self, lease: Lease, judging: Judging) -> Result<(), EngineError> {
        let (visitor, mut job) = (Arc::clone(&self.visitor), Job::of(&lease));
        if visitor.events.is_some() && lease.purpose().is_of_a_page() {
            job.followed = Some(self.follow(&lease).await?);
        }
        let span = tracing::info_span!("lease", url = %lease.url(), purpose = ?lease.purpose());
        // It is large, and would be moved several times until it runs.
        let visit = Box::pin(async move { visitor.visit(job, judging).await });
        self.visits.begin(lease, visit.instrument(span));
        Ok(())
    }

    /// What is handed out of a visit beside what comes of it. Where the URL was found, the store says in the meantime.
    async fn follow(&mut self, lease: &Lease) -> Result<Followed, EngineError> {
        let (found, via) = oneshot::channel();
        let item = lease.item();
        let reply = move |url| {
            // Whoever asked may have been dropped.
            let _ = found.send(url);
        };
        self.writer.message(Message::Via(item.id, Box::new(reply))).await?;
        let is_rescue = lease.purpose() == Purpose::Rescue;
        Ok(Followed { url: item.url.clone(), depth: item.depth, is_rescue, via, room: None })
    }

    /// Has the writer record the state of the sequence, after all that was sent before. A run ends with its first end.
    pub(super) async fn end(&mut self, end: RunEnd, is_run: bool) -> Result<(), EngineError> {
        self.publish();
        let counters = Counters { expected_lost: self.core.expected_lost(), ..Counters::default() };
        self.writer.step(Box::new(Step { counters, ..Step::default() })).await?;
        let end = standing(&self.core, self.clock, &mut self.recorded, Some(end), is_run);
        let (recorded, is_recorded) = oneshot::channel();
        let reply = |()| {
            // Whoever asked may have been dropped.
            let _ = recorded.send(());
        };
        self.writer.message(Message::End(Box::new(end), Box::new(reply))).await?;
        is_recorded.await.map_err(|_| EngineError::WriterGone)
    }

    pub(super) fn publish(&self) {
        self.progress.send_replace(self.core.progress());
    }
}

impl Answers for Slots {
    fn reply<T: 'static>(&self, answer: impl FnOnce(T) -> StoreAnswer + Send + 'static) -> Reply<T> {
        let slot = self.sender.clone().try_reserve_owned().expect("the core asks no more than there are slots for");
        Box::new(move |read| {
            slot.send(answer(read));
        })
    }
}

/// The state of a sequence, with what it has taken since it was recorded last.
fn standing(core: &Core, clock: Clock, recorded: &mut Recorded, end: Option<RunEnd>, is_run: bool) -> SequenceEnd {
    let now = Recorded { at: clock.now(), cpu_seconds: process::cpu_seconds() };
    let before = std::mem::replace(recorded, now);
    SequenceEnd {
        end: end.map(RunEnd::as_str),
        at: recorded.at,
        is_run,
        seconds: recorded.at.since(before.at).as_secs_f64(),
        cpu_seconds: recorded.cpu_seconds - before.cpu_seconds,
        peak_memory: process::peak_memory(),
        cache: core.cache_figures().to_string(),
        tells: !matches!(end, Some(RunEnd::Signal(_))),
    }
}

fn event(ended: VisitEnd) -> CoreEvent {
    match ended {
        VisitEnd::Came(report) => CoreEvent::Visited(report),
        VisitEnd::GivenUp(requests) => CoreEvent::GivenUp(requests),
    }
}

/// Until a moment; for one that is past, or no moment, only as long as others wait.
async fn sleep_until(clock: Clock, moment: Option<Moment>) {
    match moment {
        Some(Moment::EPOCH) | None => {}
        Some(moment) => tokio::time::sleep(clock.until(moment)).await,
    }
}
