//! One run of a crawl, from an open crawl directory to its last commit.

use std::{
    collections::HashSet,
    num::NonZeroUsize,
    sync::{Arc, Mutex},
    time::Duration,
};

use thiserror::Error;
use tokio::sync::{Semaphore, mpsc, watch};
use urlcache::{Audit, CacheConfig, HashSeed, LossBudget, ResetPolicy, SMALL_START, Strategy};

use super::{
    CacheFailure, End, Progress, Start, StopSignal,
    admission::{CacheKeeper, Door, Judge, LinkRelation, Memo, PureHalf},
    answers::Answers,
    own_trouble::OwnTrouble,
    rescue::Rescues,
    robots_book::RobotsBook,
    scheduler::{Ending, MOST_ROWS, Scheduler},
    starts::StartPhase,
    throttle::Throttle,
    visit::Visitor,
    visits::Visits,
};
use crate::{
    candidate::HostId,
    clock::Clock,
    config::{AuditRescue, NofollowChoice, OrderChoice, ScopeKind, Settings},
    extract::{LinkLimits, PlaceSeed},
    fetch::Fetcher,
    frontier::{Frontier, FrontierLimits, HostStart, Order},
    observe::process,
    robots::{ProductToken, TokenError},
    scope::{Reach, Scope, ScopeRules},
    store::{
        AreaSource, Counters, Message, SequenceEnd, Step,
        sqlite::{CrawlDirectory, Errs, FailPoint, HostState, Resumed, RunStart, StoreError, Writer, WriterSettings},
    },
    time::Moment,
    url::{Canonicalizer, Origin, UrlError, WebUrl},
};

/// Questions to the writer at a time.
const QUESTIONS: usize = 16;

/// How sure the audit's interval is.
const CONFIDENCE: f64 = 0.95;

/// Visits that a kill costs at most, beside the leases in flight.
const MOST_UNCOMMITTED: usize = 200;

/// A sequence is expected to admit as many URLs as the one before, and one more in so many.
const MARGIN: u64 = 10;

/// What a run begins with.
#[derive(Debug)]
pub struct Launch<F> {
    /// The crawl directory, locked.
    pub directory: CrawlDirectory,
    /// What it holds.
    pub resumed: Resumed,
    /// Start URLs that are not in its URL table.
    pub starts: Vec<Start>,
    /// The settings of this run.
    pub settings: Arc<Settings>,
    /// How URLs are fetched.
    pub fetcher: F,
    /// The clock, started with the process.
    pub clock: Clock,
    /// Where to die, in tests of kill and resume.
    pub fail_point: Option<FailPoint>,
    /// How the run is asked to stop.
    pub stop: StopSignal,
    /// Where its figures are published.
    pub progress: watch::Sender<Progress>,
}

/// Why a run failed.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The run cannot begin.
    #[error(transparent)]
    Setup(Box<EngineError>),
    /// The crawl directory.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The URL cache.
    #[error(transparent)]
    Cache(#[from] CacheFailure),
    /// The User-Agent has no product token for robots.txt.
    #[error("the User-Agent: {0}")]
    Agent(#[from] TokenError),
    /// A stored host or start is no URL.
    #[error("the crawl directory holds {text:?}, which is no URL ({source}); run `webloom check` on it")]
    Stored {
        /// What it holds.
        text: String,
        /// Why it is none.
        source: UrlError,
    },
    /// A host's row is gone.
    #[error("the crawl directory is damaged: there is no host {}; run `webloom check` on it", .0.0)]
    HostGap(HostId),
    /// The writer ended; its own error says why.
    #[error("the writer ended")]
    WriterGone,
}

/// Whether a sequence can begin with these settings, after one that admitted so many URLs, if there was one. To be asked before
/// anything is stored of them.
///
/// # Errors
/// [`EngineError::Setup`] when its URL cache cannot be made.
pub fn check(settings: &Settings, admitted_before: Option<u64>) -> Result<(), EngineError> {
    let empty = CacheKeeper::new(cache_config(settings, 0, admitted_before), 0, 0.0, 0);
    empty.map(drop).map_err(|failure| EngineError::Setup(Box::new(failure.into())))
}

/// Runs until the crawl is drained or stopped; everything is committed then.
///
/// # Errors
/// [`EngineError`]; what was committed before stays.
pub async fn run<F: Fetcher + 'static>(launch: Launch<F>) -> Result<End, EngineError> {
    let commit_steps = launch.settings.store.commit_visits as usize;
    // The open group, the channel, and the step in the scheduler's hand.
    let (sender, receiver) = mpsc::channel(MOST_UNCOMMITTED.saturating_sub(commit_steps + 1).max(1));
    let writer_settings = WriterSettings {
        commit_every: launch.settings.store.commit_every,
        commit_steps,
        checkpoint_every: launch.settings.store.checkpoint_every,
        sequence: launch.resumed.sequence,
        counters: launch.resumed.counters.clone(),
        fail_point: launch.fail_point,
    };
    let parts = Parts {
        resumed: launch.resumed,
        settings: launch.settings,
        fetcher: launch.fetcher,
        clock: launch.clock,
        stop: launch.stop,
        progress: launch.progress,
        writer: sender,
    };
    let scheduler = parts.scheduler().map_err(|error| EngineError::Setup(Box::new(error)))?;
    let cache = if scheduler.door.cache.is_exact() { Errs::Never } else { Errs::Sometimes };
    let sample = scheduler.settings.cache.audit_sample;
    let (audit_sample, forgets) = ((sample > 0).then_some(sample), scheduler.door.cache.forgets());
    launch.directory.begin_run(RunStart { cache, audit_sample, forgets })?;
    let writer = Writer::spawn(launch.directory, receiver, writer_settings)?;
    let ended = drive(scheduler, launch.starts).await;
    let written = tokio::task::spawn_blocking(|| writer.join()).await.expect("joining a thread never panics");
    match (ended, written) {
        (_, Err(failure)) => Err(failure.into()),
        (ended, Ok(())) => ended,
    }
}

/// Runs the scheduler; when it returns, the writer's channel is closed.
async fn drive<F: Fetcher + 'static>(mut scheduler: Scheduler<F>, starts: Vec<Start>) -> Result<End, EngineError> {
    let (began, cpu_before) = (scheduler.clock.now(), process::cpu_seconds());
    let end = scheduler.whole_run(starts).await;
    if matches!(end, Err(EngineError::WriterGone)) {
        return end;
    }
    scheduler.last_confirmations().await?;
    scheduler.send_level().await?;
    scheduler.publish();
    let ended = SequenceEnd {
        end: end.as_ref().map_or(End::Failed, |end| *end).as_str(),
        at: scheduler.clock.now(),
        seconds: scheduler.clock.now().since(began).as_secs_f64(),
        cpu_seconds: process::cpu_seconds() - cpu_before,
        peak_memory: process::peak_memory(),
        cache: scheduler.cache_figures().to_string(),
    };
    scheduler.message(Message::End(Box::new(ended))).await?;
    end
}

/// What a scheduler is made of.
struct Parts<F> {
    resumed: Resumed,
    settings: Arc<Settings>,
    fetcher: F,
    clock: Clock,
    stop: StopSignal,
    progress: watch::Sender<Progress>,
    writer: mpsc::Sender<Message>,
}

impl<F: Fetcher + 'static> Parts<F> {
    fn scheduler(self) -> Result<Scheduler<F>, EngineError> {
        let Self { resumed, settings, fetcher, clock, stop, progress, writer } = self;
        let agent = ProductToken::new(settings.fetch.user_agent.product())?;
        let mut frontier = Frontier::new(frontier_limits(&settings));
        frontier.resume(resumed.counts);
        let mut cache = cache_keeper(&settings, &resumed)?;
        cache.audit = audit(&settings, &resumed);
        cache.reset_every(settings.cache.reset_every, clock.now());
        let mut door = Door::new(cache, resumed.last_url, order(&settings), settings.politeness.delay);
        door.audit_rescues = settings.cache.audit_rescue == AuditRescue::On;
        for host in &resumed.hosts {
            let id = door.known_host(&mut frontier, host_start(host, &settings, clock.now())?);
            if id != host.id {
                return Err(EngineError::HostGap(id));
            }
        }
        let mut pure = PureHalf::new(
            Scope::new(scope_rules(&settings)),
            Canonicalizer::default(),
            resumed.fingerprint_seed,
            relation(&settings),
        );
        for area in &resumed.areas {
            pure.widen(&stored(&area.url, WebUrl::parse)?);
        }
        let starts = start_phase(&resumed, clock.now())?;
        let ending = if resumed.counters.unjudged() > 0 { Ending::Next } else { Ending::Complete };
        Ok(Scheduler {
            clock,
            visitor: Arc::new(visitor(fetcher, &settings, &agent)),
            frontier,
            door,
            pure,
            robots: RobotsBook::new(settings.robots.clone(), agent),
            starts,
            rescues: Rescues::default(),
            throttle: Throttle::new(settings.politeness.max_rate),
            counters: resumed.counters,
            writer,
            room: Arc::new(Semaphore::new(MOST_ROWS as usize)),
            answers: Answers::new(QUESTIONS),
            visits: Visits::default(),
            own_trouble: OwnTrouble::default(),
            pages_in_flight: 0,
            unconfirmed: 0,
            ending,
            stop,
            progress,
            settings,
        })
    }
}

impl<F: Fetcher + 'static> Scheduler<F> {
    async fn whole_run(&mut self, starts: Vec<Start>) -> Result<End, EngineError> {
        self.restore().await?;
        self.enter_starts(starts).await?;
        Ok(match self.run().await? {
            End::Drained if self.counters.stored == 0 => End::Failed,
            end => end,
        })
    }

    /// Fills the URL cache from the URL table.
    async fn restore(&mut self) -> Result<(), EngineError> {
        if self.frontier.counts().admitted > 0 {
            self.door.cache.restore(&self.writer).await?;
        }
        let counters = Counters { generations: 1, ..Counters::default() };
        self.send(Step { counters, ..Step::default() }).await
    }

    async fn enter_starts(&mut self, starts: Vec<Start>) -> Result<(), EngineError> {
        self.make_room(starts.len()).await?;
        self.starts.start_waiting(self.clock.now());
        let mut step = Step::default();
        for start in starts {
            let source = if start.guessed { AreaSource::GuessedStart } else { AreaSource::Start };
            self.starts.give(start.url.origin());
            if start.guessed {
                self.starts.guess(start.url.clone());
            }
            self.enter_start(start.url, source, Judge::Table, &mut step);
        }
        self.send(step).await
    }

    /// The cache's part of the summary.
    fn cache_figures(&self) -> serde_json::Value {
        let cache = &self.door.cache;
        let now = cache.occupancy();
        let [strategy, layout] = cache.names();
        let audit = cache.audit.as_ref().map(|audit| {
            let interval = audit.interval(CONFIDENCE);
            serde_json::json!({
                "share": audit.share(), "checked": audit.checked(), "false_positives": audit.false_positives(),
                "rate": audit.rate(), "low": interval.low, "high": interval.high,
            })
        });
        serde_json::json!({
            "strategy": strategy, "layout": layout, "generation": cache.generation(), "items": now.items,
            "capacity": now.capacity, "bits": now.bits, "fill": now.fill, "expected_rate": now.expected_rate,
            "expected_lost": cache.expected_lost(), "budget_lost": cache.budget(),
            "audit": audit,
        })
    }
}

/// The starts that an earlier run left without an answer.
fn start_phase(resumed: &Resumed, now: Moment) -> Result<StartPhase, EngineError> {
    let mut starts = StartPhase::new(now);
    for pending in &resumed.pending_starts {
        starts.begin(pending.id, stored(&pending.url, WebUrl::parse)?.origin());
    }
    let answered: HashSet<_> =
        resumed.hosts.iter().filter(|host| host.answered).map(|host| host.origin.as_str()).collect();
    for area in resumed.areas.iter().filter(|area| area.source.is_given()) {
        let url = stored(&area.url, WebUrl::parse)?;
        starts.give(url.origin());
        if area.source == AreaSource::GuessedStart && !answered.contains(url.origin().as_str()) {
            starts.guess(url);
        }
    }
    Ok(starts)
}

fn visitor<F>(fetcher: F, settings: &Settings, agent: &ProductToken) -> Visitor<F> {
    let links = settings.extract.max_links as usize;
    Visitor {
        fetcher,
        max_body: settings.fetch.max_body,
        max_url_length: settings.scope.max_url_length as usize,
        links: LinkLimits::of(links),
        link_room: Arc::new(Semaphore::new(links)),
        rules: Canonicalizer::default(),
        places: PlaceSeed::random(),
        memo: Arc::new(Mutex::new(Memo::new())),
        agent: Arc::from(agent.as_str()),
        max_pause: settings.politeness.max_delay,
    }
}

fn frontier_limits(settings: &Settings) -> FrontierLimits {
    let count = |number: u32| NonZeroUsize::new(number as usize).unwrap_or(NonZeroUsize::MIN);
    FrontierLimits {
        heads_per_host: count(settings.frontier.heads_per_host),
        per_host: count(settings.politeness.per_host.get()),
        order: order(settings),
        max_depth: settings.budget.max_depth,
        max_pages_per_host: settings.budget.max_pages_per_host,
    }
}

/// The order of a run.
pub fn order(settings: &Settings) -> Order {
    match settings.frontier.order {
        OrderChoice::Breadth => Order::Breadth,
        OrderChoice::Depth => Order::Depth,
    }
}

fn relation(settings: &Settings) -> LinkRelation {
    match settings.extract.nofollow {
        NofollowChoice::Follow => LinkRelation::Ignore,
        NofollowChoice::Obey => LinkRelation::Obey,
    }
}

fn scope_rules(settings: &Settings) -> ScopeRules {
    let reach = match settings.scope.kind {
        ScopeKind::Host => Reach::Host,
        ScopeKind::Prefix => Reach::Prefix,
    };
    let (include, exclude) = (settings.scope.include.clone(), settings.scope.exclude.clone());
    ScopeRules { reach, include, exclude, max_url_length: settings.scope.max_url_length as usize }
}

fn cache_keeper(settings: &Settings, resumed: &Resumed) -> Result<CacheKeeper, CacheFailure> {
    let seed = settings.cache.hash_seed.map_or(resumed.hash_seed, crate::config::HashSeed::value);
    let config = CacheConfig { sequence: resumed.sequence, ..cache_config(settings, seed, resumed.admitted_before) };
    let counters = &resumed.counters;
    CacheKeeper::new(config, counters.generations, counters.expected_lost, resumed.counts.admitted)
}

/// The cache of a first sequence, or of one after another that admitted so many URLs.
fn cache_config(settings: &Settings, seed: u64, admitted_before: Option<u64>) -> CacheConfig {
    let chosen = &settings.cache;
    let given = chosen.expected_urls.map(std::num::NonZeroU64::get);
    let as_before = admitted_before.map(|urls| urls + urls / MARGIN);
    // A smaller cache would save next to no memory, and lose more.
    let expected_urls = match chosen.reset {
        // It grows by itself, and loses nothing.
        _ if chosen.strategy == Strategy::Exact => given,
        // Else it would be as full as before.
        ResetPolicy::Restart => as_before.map(|urls| urls.max(given.unwrap_or(SMALL_START))).or(given),
        _ => given.or(as_before.filter(|urls| *urls > SMALL_START)),
    };
    CacheConfig {
        layout: chosen.layout,
        reset: chosen.reset,
        budget: LossBudget {
            max_lost_urls: chosen.max_lost_urls,
            max_false_positive_rate: chosen.max_false_positive_rate,
        },
        expected_urls,
        hashing: chosen.hashing,
        filters: chosen.filters,
        layers: chosen.layers,
        max_memory: chosen.max_memory,
        ..CacheConfig::new(chosen.strategy, HashSeed::new(seed))
    }
}

/// The audit, empty. Its sample has a secret of the sequence's own, whatever the filters start from; it is never larger
/// than in an earlier run of the sequence.
fn audit(settings: &Settings, resumed: &Resumed) -> Option<Audit> {
    let sample = settings.cache.audit_sample;
    let most = resumed.audit_sample.map_or(sample, |before| before.min(sample));
    let most = NonZeroUsize::new(usize::try_from(most).unwrap_or(usize::MAX))?;
    Some(Audit::new(most, HashSeed::new(resumed.hash_seed).derive(u32::MAX, resumed.sequence)))
}

/// A host from the crawl directory: after a start it is not asked before its delay has passed.
fn host_start(host: &HostState, settings: &Settings, now: Moment) -> Result<HostStart, EngineError> {
    let asked_for = Duration::from_millis(host.crawl_delay.unwrap_or(0)).min(settings.politeness.max_delay);
    let delay = settings.politeness.delay.max(asked_for);
    Ok(HostStart {
        origin: stored(&host.origin, Origin::parse)?,
        ready_at: if host.asked { now + delay } else { Moment::EPOCH },
        delay,
        plain: host.plain,
        waiting: host.waiting,
        held: host.held,
        next_due: host.next_due,
        stored: host.stored,
        fetched: host.fetched,
        by_depth: host.by_depth.clone(),
    })
}

fn stored<T>(text: &str, parse: impl FnOnce(&str) -> Result<T, UrlError>) -> Result<T, EngineError> {
    parse(text).map_err(|source| EngineError::Stored { text: text.to_owned(), source })
}
