//! One run of a crawl, from an open crawl directory to its last commit.

use std::sync::{Arc, Mutex};

use tokio::{
    sync::{Semaphore, watch},
    time::Instant,
};

use super::{
    End, EngineError, PageReader, Progress, Start, StopSignal, WriterHost,
    core::{Setup, cache_check},
    hand_over::{HandOver, MOST_COMMITTED_TOGETHER},
    judge::Memo,
    shell::{Outside, Shell},
    visit::Visitor,
};
use crate::{
    clock::Clock,
    config::{ChangeSettings, LinksChoice, Settings},
    extract::{LinkLimits, Omitted, ReferenceSeed},
    fetch::Fetcher,
    observe::process,
    robots::ProductToken,
    store::{ChangeRules, Errs, Resumed, RunStart, SequenceEnd, Store, WriterSettings},
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
    /// Start URLs that are not in its URL table.
    pub starts: Vec<Start>,
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
    /// Who is handed each page, if anybody is.
    pub reader: Option<PageReader>,
}

/// Whether a sequence can begin with these settings, after one that admitted so many URLs, if there was one. To be asked before
/// anything is stored of them.
///
/// # Errors
/// [`EngineError::Setup`] when its URL cache cannot be made.
pub fn check(settings: &Settings, admitted_before: Option<u64>) -> Result<(), EngineError> {
    cache_check(settings, admitted_before).map_err(|failure| EngineError::Setup(Box::new(failure.into())))
}

/// Runs until the crawl is drained or stopped; everything is committed then.
///
/// # Errors
/// [`EngineError`]; what was committed before stays.
pub async fn run<F: Fetcher + 'static, S: Store, H: WriterHost>(launch: Launch<F, S, H>) -> Result<End, EngineError> {
    let commit_steps = (launch.settings.store.commit_visits as usize).min(MOST_COMMITTED_TOGETHER);
    let (hand_over, receiver) = HandOver::new(commit_steps);
    let writer_settings = WriterSettings {
        commit_every: launch.settings.store.commit_every,
        commit_steps,
        checkpoint_every: launch.settings.store.checkpoint_every,
        sequence: launch.resumed.sequence,
        counters: launch.resumed.counters.clone(),
        changes: change_rules(&launch.settings.change),
        keep_sequences: launch.settings.store.keep_sequences,
    };
    let omitted = launch.texts.then(|| Arc::new(launch.settings.change.omitted()));
    let text_rule = omitted.as_deref().map(Omitted::rule);
    let agent = ProductToken::new(launch.settings.fetch.user_agent.product())
        .map_err(|error| EngineError::Setup(Box::new(error.into())))?;
    let clock = launch.clock;
    let visitor = visitor(launch.fetcher, &launch.settings, launch.resumed.key_rules, &agent);
    let visitor = Visitor { omitted, now: Box::new(move || clock.now()), reader: launch.reader, ..visitor };
    let sample = launch.settings.cache.audit_sample;
    let (started, now) = (launch.clock.started(), launch.clock.now());
    let setup = Setup { resumed: launch.resumed, settings: launch.settings, started, now };
    let core = setup.core(agent).map_err(|error| EngineError::Setup(Box::new(error)))?;
    let cache = if core.is_exact() { Errs::Never } else { Errs::Sometimes };
    let (audit_sample, forgets) = ((sample > 0).then_some(sample), core.forgets());
    launch.directory.begin_run(RunStart { cache, audit_sample, forgets, text_rule })?;
    let writer = launch.directory.writer(writer_settings, Instant::now().into_std())?;
    let written = launch.writer.run(writer, receiver)?;
    let outside = Outside { stop: launch.stop, progress: launch.progress };
    let shell = Shell::new(core, visitor, launch.clock, hand_over, outside);
    let ended = drive(shell, launch.starts).await;
    match (ended, written.await) {
        (_, Err(failure)) => Err(failure.into()),
        (ended, Ok(())) => ended,
    }
}

/// Runs a crawl; when it returns, the writer's channel is closed.
async fn drive<F: Fetcher + 'static>(mut shell: Shell<F>, starts: Vec<Start>) -> Result<End, EngineError> {
    let (began, cpu_before) = (shell.clock.now(), process::cpu_seconds());
    let end = match shell.run(starts).await {
        Ok(End::Drained) if !shell.core.has_pages() => Ok(End::Failed),
        Err(EngineError::WriterGone) => return Err(EngineError::WriterGone),
        end => end,
    };
    shell.publish();
    let ended = SequenceEnd {
        end: end.as_ref().map_or(End::Failed, |end| *end).as_str(),
        at: shell.clock.now(),
        seconds: shell.clock.now().since(began).as_secs_f64(),
        cpu_seconds: process::cpu_seconds() - cpu_before,
        peak_memory: process::peak_memory(),
        cache: shell.core.cache_figures().to_string(),
        tells: !matches!(end, Ok(End::Signal(_))),
    };
    shell.end(ended).await?;
    end
}

fn visitor<F>(fetcher: F, settings: &Settings, rules: Canonicalizer, agent: &ProductToken) -> Visitor<F> {
    let links = settings.extract.max_links as usize;
    Visitor {
        fetcher,
        max_body: settings.fetch.max_body,
        max_url_length: settings.scope.max_url_length as usize,
        links: LinkLimits::of(links),
        link_room: Arc::new(Semaphore::new(links)),
        rules,
        seed: ReferenceSeed::random(),
        memo: Arc::new(Mutex::new(Memo::new())),
        agent: Arc::from(agent.as_str()),
        omitted: None,
        labels: settings.store.links == LinksChoice::Full,
        now: Box::new(|| Moment::EPOCH),
        reader: None,
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
    }
}
