//! [`Scheduler`]: the one task that decides. It owns the frontier and the URL cache, grants leases, and sends every step to the writer.

use std::sync::Arc;

use tokio::sync::{Semaphore, mpsc, watch};
use tracing::Instrument;
use urlcache::ResetPolicy;

use super::{
    EngineError,
    admission::{Door, Passed, PureHalf, Room},
    answers::Answers,
    own_trouble::OwnTrouble,
    progress::Progress,
    rescue::{AtDrain, Rescues},
    robots_book::RobotsBook,
    starts::StartPhase,
    stop::{Stop, StopSignal},
    throttle::Throttle,
    visit::{Job, Judging, Report, Visitor},
    visits::{Ended, Visits},
};
use crate::{
    clock::Clock,
    config::Settings,
    fetch::{FetchError, Fetcher},
    frontier::{Asked, Frontier, Lease, Next, PageOutcome, Work},
    queue::most_fetched,
    store::{Abandonment, Counters, Message, Step, UrlChange},
    time::Moment,
};

/// Rows of the URL table on their way to the writer; a page with more takes all the room.
pub(super) const MOST_ROWS: u32 = 5_000;

/// Leases granted in one turn.
const MOST_GRANTS: usize = 64;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Nothing is queued or leased.
    Drained,
    /// A budget stops leasing.
    Budget,
    /// The loss policy stopped it.
    Loss,
    /// The loss policy ended the sequence, and the next is to begin.
    Restart,
    /// The sequence is complete, or a limit holds back what is left; its URL cache is so old that the next is to begin.
    Aged {
        /// Nothing is queued.
        drained: bool,
    },
    /// A signal stopped it.
    Signal(i32),
    /// No start URL could be fetched.
    Failed,
}

impl End {
    /// The word used in the database and in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Drained | Self::Aged { drained: true } => "drained",
            Self::Budget | Self::Aged { drained: false } => "budget",
            Self::Loss | Self::Restart => "loss",
            Self::Signal(_) => "signal",
            Self::Failed => "failed",
        }
    }
}

/// How the reset policy has the sequence end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// When nothing is left to fetch.
    Complete,
    /// The same, and then the next begins.
    CompleteThenNext,
    /// When what is queued is fetched, and then the next begins: links are not judged any more.
    Next,
    /// At once, and the crawl with it.
    Stop,
}

/// What the scheduler can do next.
enum Wait {
    /// Nothing before this moment, or an event.
    Until(Moment),
    /// Nothing before an event.
    Event,
    /// More of the same, once signals and events were looked at.
    Go,
    /// Nothing any more.
    End(End),
}

pub(super) struct Scheduler<F> {
    pub(super) settings: Arc<Settings>,
    pub(super) clock: Clock,
    pub(super) visitor: Arc<Visitor<F>>,
    pub(super) frontier: Frontier,
    pub(super) door: Door,
    pub(super) pure: PureHalf,
    pub(super) robots: RobotsBook,
    pub(super) starts: StartPhase,
    pub(super) rescues: Rescues,
    pub(super) throttle: Throttle,
    /// Sums of the sequence, earlier runs included.
    pub(super) counters: Counters,
    pub(super) writer: mpsc::Sender<Message>,
    /// Rows that may be on their way to the writer: a few pages with very many links must not fill the memory.
    pub(super) room: Arc<Semaphore>,
    pub(super) answers: Answers,
    pub(super) visits: Visits,
    /// How long this machine cannot make requests, and waits.
    pub(super) own_trouble: OwnTrouble,
    pub(super) pages_in_flight: u64,
    /// Steps whose URLs the writer has not confirmed.
    pub(super) unconfirmed: usize,
    pub(super) ending: Ending,
    pub(super) stop: StopSignal,
    pub(super) progress: watch::Sender<Progress>,
}

impl<F: Fetcher + 'static> Scheduler<F> {
    /// Runs until nothing can be done any more.
    pub(super) async fn run(&mut self) -> Result<End, EngineError> {
        let mut ticks = tokio::time::interval(std::time::Duration::from_millis(500));
        let mut stopped = None;
        loop {
            self.release_held().await?;
            stopped = stopped.or((self.ending == Ending::Stop).then_some(End::Loss));
            let wait = match stopped {
                Some(end) if self.visits.is_empty() => Wait::End(end),
                Some(_) => Wait::Event,
                None => self.grant().await?,
            };
            let until = match wait {
                Wait::End(end) => {
                    self.starts.give_up();
                    self.release_held().await?;
                    return Ok(end);
                }
                Wait::Until(moment) => Some(moment),
                Wait::Event | Wait::Go => None,
            };
            let goes_on = matches!(wait, Wait::Go);
            let now = self.clock.now();
            let out_of_time =
                self.settings.budget.max_time.map(|most| self.clock.started() + most).filter(|end| *end > now);
            let until = [until, self.starts.deadline(), out_of_time].into_iter().flatten().min();
            tokio::select! {
                Some(ended) = self.visits.next() => self.visit_ended(ended).await?,
                // A lease that waits for an answer goes back to the queue when the run stops.
                Some(answer) = self.answers.next(), if stopped.is_none() => self.answered(answer).await?,
                () = sleep_until(self.clock, until), if until.is_some() => {}
                () = std::future::ready(()), if goes_on => {}
                stop = self.stop.next() => match stop {
                    Stop::Begin(signal) => stopped = Some(End::Signal(signal)),
                    Stop::Abort => self.visits.abort(),
                },
                () = self.writer.closed() => return Err(EngineError::WriterGone),
                _ = ticks.tick() => self.publish(),
            }
        }
    }

    /// Grants leases while it can, but not for ever: what needs no request could go on and on.
    async fn grant(&mut self) -> Result<Wait, EngineError> {
        for _ in 0..MOST_GRANTS {
            let now = self.clock.reached();
            if self.answers.has_ready() {
                if self.is_out_of_time(now) {
                    self.give_back_ready().await?;
                    continue;
                }
                if let Some(moment) = self.request_must_wait(now) {
                    return Ok(Wait::Until(moment));
                }
                if let Some(lease) = self.answers.next_ready() {
                    self.visit(lease);
                }
                continue;
            }
            let counts = self.frontier.counts();
            let to_do = counts.queued + counts.leased + self.frontier.rescues();
            if to_do > 0 && self.budget_is_spent(now) {
                return Ok(if self.in_flight() == 0 { self.end_by_budget() } else { Wait::Event });
            }
            let usual = self.settings.politeness.concurrency.get() as usize;
            if self.in_flight() >= self.own_trouble.most(usual, now) {
                return Ok(Wait::Event);
            }
            if let Some(moment) = self.request_must_wait(now) {
                return Ok(Wait::Until(moment));
            }
            if !self.answers.has_room() || self.level_is_open() {
                return Ok(Wait::Event);
            }
            match self.frontier.next(now) {
                Next::Lease(lease) => self.begin(lease).await?,
                Next::NeedsRefill(request) => self.refill(request).await?,
                Next::WaitUntil(moment) => return Ok(Wait::Until(moment)),
                Next::Blocked => return Ok(Wait::Event),
                Next::Held | Next::Drained if self.is_unconfirmed() => return Ok(Wait::Event),
                // Also where a limit holds URLs back: what was left to the next sequence may be within it.
                Next::Held | Next::Drained if self.ending == Ending::Next => return Ok(Wait::End(End::Restart)),
                // Pages on a host that has all that it may have are not fetched again either.
                Next::Held if self.frontier.rescues() > 0 => return Ok(Wait::End(End::Budget)),
                Next::Held if self.ending == Ending::CompleteThenNext => {
                    return self.swept_then(End::Aged { drained: false }).await;
                }
                Next::Drained if self.ending == Ending::CompleteThenNext => {
                    return self.swept_then(End::Aged { drained: true }).await;
                }
                Next::Held => return self.swept_then(End::Budget).await,
                Next::Drained => return self.swept_then(End::Drained).await,
            }
        }
        Ok(Wait::Go)
    }

    /// Until when no request may be sent, to whatever host.
    fn request_must_wait(&mut self, now: Moment) -> Option<Moment> {
        self.own_trouble.waits(now).or_else(|| self.throttle.wait(now))
    }

    /// Ends when the sweep has nothing more to do.
    async fn swept_then(&mut self, end: End) -> Result<Wait, EngineError> {
        Ok(match self.drained().await? {
            AtDrain::Wait => Wait::Event,
            AtDrain::End => Wait::End(end),
        })
    }

    /// Leases that are being carried out, or wait for an answer of the writer.
    fn in_flight(&self) -> usize {
        self.visits.len() + self.answers.parked()
    }

    fn budget_is_spent(&self, now: Moment) -> bool {
        let budget = &self.settings.budget;
        let pages = self.counters.stored + self.pages_in_flight;
        budget.max_pages.is_some_and(|most| pages >= most.get())
            || self.has_fetched_too_much()
            || budget.max_bytes.is_some_and(|most| self.counters.bytes_in >= most.get())
            || self.is_out_of_time(now)
    }

    fn is_out_of_time(&self, now: Moment) -> bool {
        self.settings.budget.max_time.is_some_and(|most| now >= self.clock.started() + most)
    }

    async fn give_back_ready(&mut self) -> Result<(), EngineError> {
        while let Some(lease) = self.answers.next_ready() {
            self.give_back(lease).await?;
        }
        Ok(())
    }

    /// Whether so many URLs were fetched for so few pages that the budget of pages ends the crawl.
    fn has_fetched_too_much(&self) -> bool {
        let fetched = self.frontier.fetched() + self.pages_in_flight;
        self.settings.budget.max_pages.is_some_and(|most| fetched >= most_fetched(most))
    }

    fn end_by_budget(&self) -> Wait {
        if self.has_fetched_too_much() {
            let (pages, urls) = (self.counters.stored, self.frontier.fetched());
            tracing::warn!(pages, urls, "--max-pages ends the crawl: few of the URLs that were fetched are pages");
            if pages == 0 {
                return Wait::End(End::Failed);
            }
        }
        Wait::End(End::Budget)
    }

    /// Begins a lease, unless it can be answered without a request.
    async fn begin(&mut self, lease: Lease) -> Result<(), EngineError> {
        match lease.work() {
            Work::Page(queued) | Work::Rescue(queued) if !self.pure.allows(&queued.url) => {
                return self.abandon(lease, Abandonment::Scope).await;
            }
            Work::Page(queued) | Work::Rescue(queued) => {
                match (self.robots.allows(queued.host, &queued.url), queued.host) {
                    (Some(true), _) => {}
                    (Some(false), _) => return self.abandon(lease, Abandonment::Robots).await,
                    (None, host) => {
                        self.pages_in_flight += lease.pages();
                        return self.park(lease, host).await;
                    }
                }
            }
            Work::Errand(errand) if errand.redirects == 0 && self.robots.ignores(&errand.url.origin()) => {
                return self.ignore_robots(lease).await;
            }
            Work::Errand(_) => {}
        }
        self.pages_in_flight += lease.pages();
        self.visit(lease);
        Ok(())
    }

    /// Has a task carry a lease out, now that a request may be sent.
    fn visit(&mut self, lease: Lease) {
        self.throttle.spend();
        // As long as the scope may grow, no visit holds it: to change a copy would take as long as there are starts.
        let judging = if self.starts.holds() { Judging::Later } else { Judging::InVisit(self.pure.clone()) };
        let (visitor, job) = (Arc::clone(&self.visitor), Job::of(&lease));
        let span = tracing::info_span!("lease", url = %lease.url(), kind = ?lease.kind());
        self.visits.begin(lease, async move { visitor.visit(job, judging).await }.instrument(span));
    }

    /// Ends a page's lease without a request.
    pub(super) async fn abandon(&mut self, lease: Lease, why: Abandonment) -> Result<(), EngineError> {
        let Work::Page(queued) = lease.work() else { return self.forgo_lease(lease).await };
        let change = Some((queued.id, UrlChange::Abandoned(why)));
        self.starts.settle(queued.id);
        self.frontier.complete_page(lease, PageOutcome::Abandoned, Asked::No, self.clock.now());
        self.send(Step { change, ..Step::default() }).await
    }

    async fn visit_ended(&mut self, ended: Ended) -> Result<(), EngineError> {
        let Ended::Came(report) = ended else {
            return self
                .send(Step { counters: Counters { requests: 1, ..Counters::default() }, ..Step::default() })
                .await;
        };
        if let Err(error @ FetchError::OwnMachine(_)) = &report.result {
            self.own_trouble.again(self.clock.now(), self.visits.len(), error);
            return self.give_back(report.lease).await;
        }
        self.own_trouble.is_over();
        self.finished(*report).await
    }

    async fn finished(&mut self, report: Report) -> Result<(), EngineError> {
        match report.lease.work() {
            Work::Errand(_) => self.errand_finished(report).await,
            Work::Page(_) => self.page_arrived(report).await,
            Work::Rescue(_) => self.rescue_finished(report).await,
        }
    }

    /// Sends a step to the writer; what it counted is counted here too.
    pub(super) async fn send(&mut self, step: Step) -> Result<(), EngineError> {
        self.counters.add(&step.counters);
        let step = Box::new(step);
        let rows = u32::try_from(step.rows.len()).unwrap_or(u32::MAX).clamp(1, MOST_ROWS);
        let room = tokio::select! {
            room = Arc::clone(&self.room).acquire_many_owned(rows) => Box::new(room),
            () = self.writer.closed() => return Err(EngineError::WriterGone),
        };
        self.hand_over(step, room).await
    }

    /// Has the writer know what the URL cache is expected to have lost.
    pub(super) async fn send_level(&mut self) -> Result<(), EngineError> {
        let counters = Counters { expected_lost: self.door.cache.expected_lost(), ..Counters::default() };
        self.send(Step { counters, ..Step::default() }).await
    }

    /// Waits while the writer is behind; fails when it is gone.
    pub(super) async fn message(&self, message: Message) -> Result<(), EngineError> {
        self.writer.send(message).await.map_err(|_| EngineError::WriterGone)
    }

    /// [`Self::make_room`] for these candidates.
    pub(super) async fn make_room_for(&mut self, proposals: &Passed) -> Result<bool, EngineError> {
        self.make_room(self.door.cache.new_among(proposals)).await
    }

    /// Has the URL cache keep its budget over so many more answers; false when the crawl is to end instead.
    pub(super) async fn make_room(&mut self, answers: usize) -> Result<bool, EngineError> {
        let room = self.door.cache.make_room(answers, self.clock.now(), &self.writer).await?;
        let expected_lost = self.door.cache.expected_lost();
        let mut counters = Counters { expected_lost, ..Counters::default() };
        match room {
            Room::Enough => return Ok(true),
            Room::Rebuilt => (counters.rebuilds, counters.generations) = (1, 1),
            Room::Grown { times } => counters.growths = times,
            Room::Aged => {
                self.ending = Ending::CompleteThenNext;
                return Ok(true);
            }
            Room::Spent if self.settings.cache.reset == ResetPolicy::Restart => self.ending = Ending::Next,
            Room::Spent => self.ending = Ending::Stop,
        }
        self.send(Step { counters, ..Step::default() }).await?;
        Ok(self.ending != Ending::Stop)
    }

    pub(super) fn publish(&self) {
        let occupancy = self.door.cache.occupancy();
        let progress = Progress {
            pages: self.counters.stored,
            requests: self.counters.requests,
            queued: self.frontier.counts().queued,
            in_flight: self.visits.len() as u64,
            errors: self.counters.errors.values().sum(),
            expected_lost: self.door.cache.expected_lost(),
            cache_items: occupancy.items,
        };
        self.progress.send_replace(progress);
    }
}

async fn sleep_until(clock: Clock, moment: Option<Moment>) {
    if let Some(moment) = moment {
        tokio::time::sleep_until(clock.instant(moment).into()).await;
    }
}
