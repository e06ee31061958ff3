//! Runs one sequence of a session, or visits after it: it is refused, or prepared (on a thread of its own where others wait) and run.

use std::panic::resume_unwind;

use tokio::{sync::watch, task::spawn_blocking};

use super::{
    Caller, CommandFailure, EndedSession, EndedVisits, Round, Session, SessionFetcher,
    cookies::kept_beside,
    directory::{CrawlDirectory, takers::Takers},
    indices::Indices,
    prepare::{Begun, Prepared, PreparedRun},
    takers::VisitTaker,
};
use crate::{
    clock::Clock,
    engine::{self, Between, Launch, Preparers, Progress, StopSignal},
};

/// What a session of this caller is launched with.
type Launching<C> = Launch<SessionFetcher<C>, CrawlDirectory, <C as Caller>::Writer>;

impl<C: Caller> Session<C> {
    /// Runs a sequence of the crawl within a runtime; `clock` was started with the run.
    pub(crate) async fn crawl(
        self,
        clock: Clock,
        stop: StopSignal,
    ) -> Result<EndedSession<SessionFetcher<C>>, CommandFailure> {
        self.check()?;
        let ended = match self.prepared(clock, &stop).await {
            Ok(Prepared::Complete { end, lock, indices }) => {
                // The run that came to the end may have had no time or room for them.
                indices.bring_up(&lock, &stop).await;
                Ok(EndedSession { end, lock, crawl: None, cookies: None })
            }
            Ok(Prepared::Run(run)) => self.launch(*run, clock, stop.clone()).await,
            Err(failure) => Err(failure),
        };
        ended.map_err(|failure| failure.of(stop.asked_before()))
    }

    /// Visits the pages that are due after the last sequence, until nothing is for long or they are to finish.
    pub(crate) async fn visit_due(
        self,
        clock: Clock,
        stop: StopSignal,
        between: Between,
        finish: impl Future<Output = ()> + Send,
    ) -> Result<EndedVisits, CommandFailure> {
        let session = Self { round: Round::Between, ..self };
        let visits = async {
            let Prepared::Run(mut run) = session.prepared(clock, &stop).await? else {
                unreachable!("what is due after a sequence is no matter of its being complete")
            };
            let (lock, cookies) = (run.directory.lock(), run.cookies.take());
            let indices = Indices::of(&run.settings);
            // Nobody looks at it.
            let (progress, _) = watch::channel(Progress::default());
            let launch = session.launching(*run, clock, stop.clone(), progress);
            let crawl = Box::pin(engine::take_up(launch, between)).await?;
            let left = kept_beside(cookies.as_ref(), Box::pin(crawl.visit_due(finish))).await?;
            indices.bring_up(&lock, &stop).await;
            Ok(EndedVisits { left, lock })
        };
        visits.await.map_err(|failure: CommandFailure| failure.of(stop.asked_before()))
    }

    async fn prepared(&self, clock: Clock, stop: &StopSignal) -> Result<Prepared<SessionFetcher<C>>, CommandFailure> {
        let (begun, stopping) = (Begun { now: clock.now(), started: clock.started() }, stop.clone());
        let span = tracing::Span::current();
        let session = self.clone();
        let work = move || span.in_scope(|| session.prepare(begun, &stopping));
        if self.caller.may_block() {
            // The allocator gives a thread back what it has freed, and no other: with 100,000 starts, 30 MB.
            return work();
        }
        spawn_blocking(work).await.unwrap_or_else(|panic| resume_unwind(panic.into_panic()))
    }

    /// Runs what was prepared.
    async fn launch(
        self,
        mut run: PreparedRun<SessionFetcher<C>>,
        clock: Clock,
        stop: StopSignal,
    ) -> Result<EndedSession<SessionFetcher<C>>, CommandFailure> {
        let lock = run.directory.lock();
        // Rates are of this run: earlier pages are there before the first one is counted.
        let (progress, shown) = watch::channel(Progress { pages: run.resumed.counters.stored, ..Progress::default() });
        let view = self.caller.show(shown, stop.clone());
        let cookies = run.cookies.take();
        let indices = Indices::of(&run.settings);
        let running = engine::run(self.launching(run, clock, stop.clone(), progress));
        let ended = kept_beside(cookies.as_ref(), Box::pin(running)).await;
        drop(view);
        indices.bring_up(&lock, &stop).await;
        ended
            .map(|engine::EndedRun { end, crawl }| EndedSession { end, lock, crawl, cookies })
            .map_err(CommandFailure::from)
    }

    fn launching(
        &self,
        run: PreparedRun<SessionFetcher<C>>,
        clock: Clock,
        stop: StopSignal,
        progress: watch::Sender<Progress>,
    ) -> Launching<C> {
        let PreparedRun { directory, resumed, starts, settings, open_settings, texts, fetcher, .. } = run;
        let writer = self.caller.writer();
        let is_over = self.round == Round::Between;
        let takers = self
            .caller
            .takers(&self.dir, &settings, &open_settings)
            .into_iter()
            .map(|VisitTaker { preparer, taker }| (preparer, taker));
        let (preparers, takers) = takers.unzip();
        let between = (self.watched && !is_over).then(|| Between::new(&settings, clock.now()));
        Launch {
            directory: directory.with(Takers::new(takers)),
            resumed,
            starts,
            settings,
            texts,
            fetcher,
            writer,
            clock,
            stop,
            progress,
            events: self.caller.events(),
            preparers: Preparers::new(preparers),
            filter: self.caller.filter(),
            gauge: self.caller.gauge(&self.dir),
            between,
            is_over,
        }
    }
}
