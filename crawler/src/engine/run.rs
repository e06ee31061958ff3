//! One run of a crawl, from an open crawl directory to its last commit.

use std::{
    pin::Pin,
    sync::{Arc, Mutex},
};

use tokio::{
    sync::{Semaphore, watch},
    time::Instant,
};

use super::{
    Between, EngineError, Gauge, Preparers, Progress, RunEnd, StopSignal, VisitEvents, WriterHost,
    core::{Setup, cache_check},
    hand_over::{HandOver, MOST_COMMITTED_TOGETHER},
    judge::Memo,
    lists::Lists,
    shell::{Rest, RunControl, Shell},
    visit::Visitor,
    wanted_types::WantedTypes,
};
use crate::{
    clock::Clock,
    config::{AssetsChoice, CanonicalChoice, ChangeSettings, CheckChoice, FormsChoice, Settings},
    extract::{BesideLinks, LinkKinds, LinkLimits, Omitted, PartsWanted, ReferenceSeed},
    fetch::Fetcher,
    robots::ProductToken,
    scope::UrlFilter,
    store::{ChangeRules, Errs, Resumed, RunStart, Store, StoreError, WriterSettings},
    time::Moment,
    url::Canonicalizer,
};

/// What a run begins with.
#[derive(Debug)]
pub struct Launch<F, S, H> {
    /// The crawl directory, locked.
    pub directory: S,
    /// What it holds.
    pub resumed: Resumed,
    /// The areas of starts that are not in its URL table. There may be very many.
    pub starts: Vec<Box<str>>,
    /// The settings of this run.
    pub settings: Arc<Settings>,
    /// Whether the texts of pages are kept.
    pub texts: bool,
    /// How URLs are fetched; behind a gate where the settings have a rate.
    pub fetcher: F,
    /// What runs the writer.
    pub writer: H,
    /// The clock, started with the process.
    pub clock: Clock,
    /// How the run is asked to stop.
    pub stop: StopSignal,
    /// Where its figures are published.
    pub progress: watch::Sender<Progress>,
    /// What hands events to whoever follows the crawl, if anybody does.
    pub events: Option<VisitEvents>,
    /// What makes of an answer what takers of visits keep of it.
    pub preparers: Preparers,
    /// Which URLs belong to the crawl, beside what the settings say.
    pub filter: Option<UrlFilter>,
    /// What reads how much of this machine is left.
    pub gauge: Gauge,
    /// Which pages are visited after the sequence, if any are.
    pub between: Option<Between>,
    /// Whether the sequence has come to its end before.
    pub is_over: bool,
}

/// Whether a sequence can begin with these settings, after one that admitted so many URLs, if there was one. To be asked before
/// anything is stored of them.
///
/// # Errors
/// [`EngineError::Setup`] when its URL cache cannot be made.
pub fn check(settings: &Settings, admitted_before: Option<u64>) -> Result<(), EngineError> {
    cache_check(settings, admitted_before).map_err(|failure| EngineError::Setup(Box::new(failure.into())))
}

/// A crawl whose sequence has come to its end, and which visits the pages that are due after that.
pub struct RevisitingCrawl<F> {
    shell: Shell<F>,
    written: Written,
    between: Between,
}

/// How a run ended.
pub struct EndedRun<F> {
    /// How its sequence did.
    pub end: RunEnd,
    /// What is kept of it where pages may be due; everything is committed otherwise.
    pub crawl: Option<RevisitingCrawl<F>>,
}

/// How visits between sequences ended.
#[derive(Debug)]
pub struct Left {
    /// How the sequence ended by that, if it did.
    pub end: Option<RunEnd>,
    /// The visits that are still to come.
    pub between: Between,
}

/// How the writer ends.
type Written = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send>>;

/// Runs until the sequence is drained or stopped.
///
/// # Errors
/// [`EngineError`]; what was committed before stays.
pub async fn run<F: Fetcher + 'static, S: Store, H: WriterHost>(
    launch: Launch<F, S, H>,
) -> Result<EndedRun<F>, EngineError> {
    let (starts, between) = (launch.starts, launch.between);
    let (mut shell, written) = begin(Launch { starts: Vec::new(), between: None, ..launch })?;
    let ended = drive(&mut shell, starts).await;
    match (ended, between) {
        (Ok(end), Some(between)) if end.is_followed_by_visits() => {
            let between = between.after(shell.clock.now());
            Ok(EndedRun { end, crawl: Some(RevisitingCrawl { shell, written, between }) })
        }
        (ended, _) => close(shell, written, ended).await.map(|end| EndedRun { end, crawl: None }),
    }
}

/// Takes a crawl up again whose sequence has come to its end.
///
/// # Errors
/// [`EngineError`] when that cannot be.
pub async fn take_up<F: Fetcher + 'static, S: Store, H: WriterHost>(
    launch: Launch<F, S, H>,
    between: Between,
) -> Result<RevisitingCrawl<F>, EngineError> {
    let (mut shell, written) = begin(launch)?;
    match shell.begin(Vec::new()).await {
        Ok(()) => Ok(RevisitingCrawl { shell, written, between }),
        Err(error) => close(shell, written, Err(error)).await,
    }
}

impl<F: Fetcher + 'static> RevisitingCrawl<F> {
    /// Visits the pages that are due, until nothing is for long or they are to finish; everything is committed then.
    ///
    /// # Errors
    /// [`EngineError`]; what was committed before stays.
    pub async fn visit_due(self, finish: impl Future<Output = ()> + Send) -> Result<Left, EngineError> {
        let Self { mut shell, written, between } = self;
        let visited = visit_due(&mut shell, between, finish).await;
        close(shell, written, visited).await
    }

    /// Ends it without a visit.
    ///
    /// # Errors
    /// [`EngineError`] when what was sent cannot be written.
    pub async fn close(self) -> Result<(), EngineError> {
        close(self.shell, self.written, Ok(())).await
    }
}

async fn visit_due<F: Fetcher + 'static>(
    shell: &mut Shell<F>,
    between: Between,
    finish: impl Future<Output = ()>,
) -> Result<Left, EngineError> {
    let rest = shell.between(between, finish).await?;
    let end = if let Rest::End(end) = rest { Some(end) } else { None };
    if let Some(recorded) = shell.core.end_between(end, shell.clock.now()) {
        shell.end(recorded, false).await?;
    }
    let between = shell.core.take_between().ok_or(EngineError::WriterGone)?;
    Ok(Left { end, between })
}

/// Makes a shell, and begins to write.
fn begin<F: Fetcher + 'static, S: Store, H: WriterHost>(
    launch: Launch<F, S, H>,
) -> Result<(Shell<F>, Written), EngineError> {
    let commit_steps = (launch.settings.store.commit_visits as usize).min(MOST_COMMITTED_TOGETHER);
    let (hand_over, receiver) = HandOver::new(commit_steps);
    let is_over = launch.is_over;
    let writer_settings = WriterSettings {
        commit_every: launch.settings.store.commit_every,
        commit_steps,
        checkpoint_every: launch.settings.store.checkpoint_every,
        sequence: launch.resumed.sequence,
        counters: launch.resumed.counters.clone(),
        changes: change_rules(&launch.settings.change),
        keep_sequences: launch.settings.store.keep_sequences,
        keep: launch.settings.store.keep,
        is_over,
    };
    let omitted = launch.texts.then(|| Arc::new(launch.settings.change.omitted()));
    let text_rule = omitted.as_deref().map(Omitted::rule);
    let agent = ProductToken::new(launch.settings.fetch.user_agent.product())
        .map_err(|error| EngineError::Setup(Box::new(error.into())))?;
    let clock = launch.clock;
    let visitor = visitor(launch.fetcher, &launch.settings, launch.resumed.key_rules.clone(), &agent);
    let visitor = Visitor { omitted, now: Box::new(move || clock.now()), ..visitor };
    let visitor = Visitor { events: launch.events, preparers: launch.preparers, ..visitor };
    let sample = launch.settings.cache.audit_sample;
    let (started, now) = (launch.clock.started(), launch.clock.now());
    let is_followed = visitor.events.is_some();
    let (resumed, filter) = (launch.resumed, launch.filter);
    let setup = Setup {
        resumed,
        settings: launch.settings,
        filter,
        keeps_texts: text_rule.is_some(),
        is_followed,
        started,
        now,
    };
    let core = setup.core(agent).map_err(|error| EngineError::Setup(Box::new(error)))?;
    let cache = if core.is_exact() { Errs::Never } else { Errs::Sometimes };
    let (audit_sample, finds_keys) = ((sample > 0).then_some(sample), core.forgets() || core.counts_links());
    launch.directory.begin_run(RunStart { cache, audit_sample, finds_keys, text_rule, is_over })?;
    let writer = launch.directory.writer(writer_settings, Instant::now().into_std())?;
    let written = Box::pin(launch.writer.run(writer, receiver)?);
    let control = RunControl { stop: launch.stop, progress: launch.progress, gauge: launch.gauge };
    Ok((Shell::new(core, visitor, launch.clock, hand_over, control), written))
}

/// Runs a sequence to its end, and has that recorded.
async fn drive<F: Fetcher + 'static>(shell: &mut Shell<F>, starts: Vec<Box<str>>) -> Result<RunEnd, EngineError> {
    shell.begin(starts).await?;
    let end = match shell.run().await {
        Ok(RunEnd::Drained) if !shell.core.has_pages() => Ok(RunEnd::Failed),
        Err(EngineError::WriterGone) => return Err(EngineError::WriterGone),
        end => end,
    };
    shell.end(end.as_ref().map_or(RunEnd::Failed, |end| *end), true).await?;
    end
}

/// Ends the writer; its failure is that of the run.
async fn close<F, T>(shell: Shell<F>, written: Written, ended: Result<T, EngineError>) -> Result<T, EngineError> {
    drop(shell);
    match (ended, written.await) {
        (_, Err(failure)) => Err(failure.into()),
        (ended, Ok(())) => ended,
    }
}

fn visitor<F>(fetcher: F, settings: &Settings, rules: Canonicalizer, agent: &ProductToken) -> Visitor<F> {
    let (links, lists) = (settings.extract.max_links as usize, Lists::new(&settings.sources));
    Visitor {
        fetcher,
        lists,
        types: WantedTypes::new(&settings.fetch.types, lists),
        unpacking: Semaphore::new(1),
        max_body: settings.fetch.max_body,
        max_url_length: settings.scope.max_url_length as usize,
        links: LinkLimits::of(links),
        kinds: kinds(settings.sources.forms),
        follows_canonical: settings.sources.canonical == CanonicalChoice::Follow,
        link_room: Arc::new(Semaphore::new(links)),
        rules,
        seed: ReferenceSeed::random(),
        memo: Arc::new(Mutex::new(Memo::new())),
        agent: Arc::from(agent.as_str()),
        omitted: None,
        beside: BesideLinks {
            labels: settings.labels_links(),
            parts: parts_wanted(settings),
            anchors: settings.check.anchors == CheckChoice::On,
        },
        now: Box::new(|| Moment::EPOCH),
        events: None,
        preparers: Preparers::default(),
    }
}

/// What becomes of what pages show and load.
fn parts_wanted(settings: &Settings) -> PartsWanted {
    match (settings.archive.assets, settings.check.assets) {
        (AssetsChoice::Keep, _) => PartsWanted::Candidates,
        (AssetsChoice::Off, CheckChoice::On) => PartsWanted::Named,
        (AssetsChoice::Off, CheckChoice::Off) => PartsWanted::No,
    }
}

/// What counts as a link of a page.
fn kinds(forms: FormsChoice) -> LinkKinds {
    match forms {
        FormsChoice::Off => LinkKinds::Pages,
        FormsChoice::On => LinkKinds::PagesAndForms,
    }
}

/// How changes are found, as the settings have it.
fn change_rules(settings: &ChangeSettings) -> ChangeRules {
    ChangeRules {
        ignore: settings.ignored(),
        texts: settings.texts.get(),
        confirm: settings.confirm,
        gone_after: settings.gone_after,
        mass_share: settings.mass_share,
        site_wide_pages: settings.site_wide_pages,
        confirm_share: settings.confirm_share,
    }
}
