//! `Session`: one crawl from its settings to its end, as the program's commands and the library run it.
//!
//! Owns: what is refused before the first request, how settings and starts meet what the crawl directory holds, which sequence
//! is run, and whether another follows it.
//!
//! Does not know: who runs it (`Caller` does), how output looks, and how pages are fetched.

pub(crate) mod access;
mod again;
mod caller;
pub(crate) mod directory;
mod failure;
pub(crate) mod no_start;
pub(crate) mod open_files;
pub(crate) mod starts;

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio::sync::watch;

pub use failure::Failure;

pub(crate) use caller::Caller;

use self::{
    directory::{CrawlDirectory, DirectoryLock},
    open_files::OpenFiles,
};
use crate::{
    clock::Clock,
    config::{ChangedKey, Layers, Resolved, Settings, SweepChoice, TextChoice, changed_keys, resume_check},
    engine::{self, Between, Crawl, End, Launch, Left, Progress, Start, StopSignal},
    observe::escape,
    store::{AreaRow, AreaSource, NewCrawl, NextSequence, Resumed, Revisit, StoreError},
    time::Moment,
    url::{Canonicalizer, Credentials, FingerprintSeed, WebUrl},
};

/// What these settings say decides which links of a page are kept.
const LINK_KEYS: [&str; 2] = [SCOPE_KEYS, "extract."];

/// What these say decides which URLs belong to the crawl.
const SCOPE_KEYS: &str = "scope.";

/// Which sequence is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Round {
    /// The last one of the directory, or the first of a new one.
    GoOn,
    /// The last one, which has come to its end, for the pages that are due after that.
    Between,
    /// The one after it.
    Next(Revisit),
}

impl Round {
    /// Whether a sequence begins.
    fn begins(self) -> bool {
        matches!(self, Self::Next(_))
    }
}

/// A crawl about to be run.
#[derive(Clone)]
pub(crate) struct Session<C> {
    pub(crate) dir: PathBuf,
    pub(crate) starts: Arc<[Start]>,
    /// Starts that are added to whatever the directory holds.
    pub(crate) added: Vec<Start>,
    pub(crate) round: Round,
    pub(crate) layers: Layers,
    /// Whether what holds for the whole run was said in a sequence before.
    pub(crate) told: bool,
    /// Whether the crawl is watched for changes.
    pub(crate) watched: bool,
    /// When the next sequence stops this one, as a budget of time would.
    pub(crate) until: Option<Moment>,
    /// User name and password for the origins of its starts.
    pub(crate) auth: Option<Credentials>,
    /// What keeps the directory, where this process has kept it before.
    pub(crate) lock: Option<DirectoryLock>,
    /// Who runs it.
    pub(crate) caller: C,
}

/// How a session ended.
pub(crate) struct Ended<F> {
    pub(crate) end: End,
    /// What keeps the directory.
    pub(crate) lock: DirectoryLock,
    /// What visits pages that are due after that, where the crawl is watched.
    pub(crate) crawl: Option<Crawl<F>>,
}

/// How visits between sequences ended.
pub(crate) struct Visited {
    pub(crate) left: Left,
    /// What keeps the directory.
    pub(crate) lock: DirectoryLock,
}

impl<C: Caller> Session<C> {
    /// Runs one sequence after another, as the reset policy asks; `clock` was started with the first. The last is not shown yet.
    pub(crate) async fn sequences(mut self, clock: Clock, stop: StopSignal) -> Result<Ended<C::Fetcher>, Failure> {
        let resumed = self.resume_first(clock, &stop).await?;
        let mut ended = match resumed {
            Some(ended) => ended,
            None => Box::pin(self.clone().crawl(clock, stop.clone())).await?,
        };
        let mut admitted = 0;
        while matches!(ended.end, End::Restart | End::Aged { .. }) {
            self.dir = ended.lock.directory()?;
            let before = std::mem::replace(&mut admitted, directory::summary(&self.dir)?.counts.admitted);
            if ended.end == End::Restart && admitted <= before {
                let why = "the new URL cache was full with no more URLs than the old one: allow more memory (--max-cache-memory) or more losses (--max-lost-urls)";
                self.caller.complain(why);
                ended.end = End::Loss;
                break;
            }
            self.caller.has_ended(&self.dir, ended.end)?;
            self.lock = Some(ended.lock);
            // Its URL cache was full, or too old: it is filled by links again.
            (self.round, self.told) = (Round::Next(Revisit::Rediscover), true);
            ended = Box::pin(self.clone().crawl(clock, stop.clone())).await?;
        }
        Ok(ended)
    }

    /// Runs a sequence of the crawl within a runtime; `clock` was started with the run.
    pub(crate) async fn crawl(self, clock: Clock, stop: StopSignal) -> Result<Ended<C::Fetcher>, Failure> {
        self.run_once(clock, stop, None).await
    }

    /// Visits the pages that are due after the last sequence, until nothing is for long or they are to finish.
    pub(crate) async fn visit_due(
        self,
        clock: Clock,
        stop: StopSignal,
        between: Between,
        finish: impl Future<Output = ()> + Send,
    ) -> Result<Visited, Failure> {
        let ended = Self { round: Round::Between, ..self }.run_once(clock, stop, Some(between)).await?;
        let crawl = ended.crawl.ok_or_else(|| Failure::Usage("there is no sequence".to_owned()))?;
        Ok(Visited { left: Box::pin(crawl.visit_due(finish)).await?, lock: ended.lock })
    }

    async fn run_once(
        mut self,
        clock: Clock,
        stop: StopSignal,
        between: Option<Between>,
    ) -> Result<Ended<C::Fetcher>, Failure> {
        self.check_before_directory()?;
        let mut directory = directory::open(&self.dir, self.lock.as_ref())?;
        let lock = directory.lock();
        let stored = directory.settings()?;
        self.try_failed_starts_again(&directory)?;
        let last = directory.last_sequence()?.filter(|_| self.round.begins());
        let resolved = self.settings(stored.as_deref())?;
        let changes = self.changes(stored.as_deref(), &resolved)?;
        let mut settings = resolved.settings;
        if let Some(left) = self.until.map(|until| until.since(clock.started())) {
            // The next sequence stops this one.
            settings.budget.max_time = Some(settings.budget.max_time.map_or(left, |most| most.min(left)));
        }
        self.caller.begins(&settings);
        let files = OpenFiles::for_crawl(&mut settings.politeness, self.caller.crawls())?;
        let settings = Arc::new(settings);
        let given: Vec<Start> = self.starts.iter().chain(&self.added).cloned().collect();
        let areas = directory.areas()?;
        let standard = || access::fetcher(&settings, files, &areas, &given, self.auth.as_ref());
        let fetcher = self.caller.fetcher(standard, &settings, &stop)?;
        engine::check(&settings, last.map(|last| last.admitted))?;
        let json = resolved.effective.to_json();
        if stored.is_none() {
            self.create(&mut directory, &json, &clock)?;
        }
        self.refuse_foreign(&directory.areas()?)?;
        if let Round::Next(revisit) = self.round {
            let areas = given.iter().map(area).collect();
            let links_stay = links_stay(&changes);
            let next = NextSequence { at: clock.now(), settings: json.clone(), areas, revisit, links_stay };
            directory.begin_sequence(&next)?;
        }
        directory.give(&given.iter().map(area).collect::<Vec<_>>())?;
        let starts = self.new_starts(&directory)?;
        // There may be very many, and the run lasts.
        drop(given);
        let is_over = self.round == Round::Between;
        if !is_over {
            directory.retry_abandoned()?;
        }
        // Nothing is refused from here on: the settings of this run are those of the crawl.
        store_settings(&directory, &settings, &json, &changes)?;
        self.announce(&changes);
        directory.write_settings_copy(&resolved.effective.to_toml())?;
        order_queue(&directory, &settings, clock.now())?;
        let resumed = directory.resume(settings.budget.max_depth)?.ok_or_else(|| missing(&self.dir))?;
        if !is_over && starts.is_empty() && is_complete(&resumed, settings.cache.sweep) {
            let dir = self.dir.display();
            self.caller.note(&format!("{dir}: nothing is left to fetch; this sequence is complete"));
            let end = if resumed.counters.stored == 0 { End::Failed } else { End::Drained };
            return Ok(Ended { end, lock, crawl: None });
        }
        self.ask_for_contact(&settings, &directory.areas()?)?;
        // Rates are of this run: earlier pages are there before the first one is counted.
        let before = resumed.counters.stored;
        let (progress, shown) = watch::channel(Progress { pages: before, ..Progress::default() });
        let view = self.caller.show(shown, stop.clone());
        let texts = self.keeps_texts(settings.change.text, &directory)?;
        let (reader, writer) = (self.caller.pages(), self.caller.writer());
        let follows = self.watched.then(|| Between::new(&settings, clock.now()));
        let launch = Launch {
            directory,
            resumed,
            starts,
            settings,
            texts,
            fetcher,
            writer,
            clock,
            stop,
            progress,
            reader,
            between: follows,
            is_over,
        };
        if let Some(between) = between {
            let crawl = Box::pin(engine::take_up(launch, between)).await?;
            return Ok(Ended { end: End::Drained, lock, crawl: Some(crawl) });
        }
        let ended = Box::pin(engine::run(launch)).await;
        drop(view);
        ended.map(|engine::Ended { end, crawl }| Ended { end, lock, crawl }).map_err(Failure::from)
    }

    /// A sequence in which no start gave a page has nothing to go on with: the next one begins.
    fn try_failed_starts_again(&mut self, directory: &CrawlDirectory) -> Result<(), Failure> {
        let last = directory.last_sequence()?.filter(|last| last.end.as_deref() == Some("failed"));
        if self.round == Round::GoOn && last.is_some() {
            self.caller.note("no start URL gave a page before: the next sequence asks for them again");
            self.round = Round::Next(Revisit::KnownFirst);
        }
        Ok(())
    }

    /// Whether texts of pages are kept: of those that are watched, or were in a sequence before, unless it is said otherwise.
    fn keeps_texts(&self, choice: TextChoice, directory: &CrawlDirectory) -> Result<bool, Failure> {
        Ok(match choice {
            TextChoice::On => true,
            TextChoice::Auto => self.watched || directory.keeps_texts()?,
            TextChoice::Off => false,
        })
    }

    /// What can be refused before a directory is made.
    fn check_before_directory(&self) -> Result<(), Failure> {
        self.layers.resolve()?;
        if self.starts.is_empty() && self.added.is_empty() && !CrawlDirectory::exists(&self.dir) {
            let why = format!("{} holds no crawl: give a start URL to begin one", self.dir.display());
            return Err(Failure::Usage(why + &directory::others(&self.dir)));
        }
        if self.round.begins() && !CrawlDirectory::exists(&self.dir) {
            return Err(self.nothing_to_repeat());
        }
        if !CrawlDirectory::exists(&self.dir) {
            engine::check(&self.settings(None)?.settings, None)?;
        }
        Ok(())
    }

    /// The settings of this run; those stored are kept where nothing stronger is given.
    pub(crate) fn settings(&self, stored: Option<&str>) -> Result<Resolved, Failure> {
        let layers = match stored {
            Some(stored) => self.layers.clone().stored(stored),
            None => self.layers.clone(),
        };
        let resolved = layers.resolve()?;
        resolved.refuse_idle_priorities()?;
        let given = self.starts.iter().chain(&self.added);
        match access::with_logins(given, &resolved.settings.fetch.credentials)? {
            Some(logins) => Ok(layers.flags(&logins).resolve()?),
            None => Ok(resolved),
        }
    }

    fn create(&self, directory: &mut CrawlDirectory, settings: &str, clock: &Clock) -> Result<(), Failure> {
        if self.starts.is_empty() && self.added.is_empty() {
            return Err(Failure::Usage(format!("{} holds no crawl yet: give a start URL", self.dir.display())));
        }
        let crawl = NewCrawl {
            at: clock.now(),
            fingerprint_seed: FingerprintSeed::new(self.caller.random()?),
            key_rules: Canonicalizer::default(),
            hash_seed: self.caller.random()?,
            settings: settings.to_owned(),
            areas: self.starts.iter().chain(&self.added).map(area).collect(),
        };
        Ok(directory.create(&crawl)?)
    }

    /// Whether the last sequence can go on with these settings: its scope stays.
    pub(crate) fn may_go_on(&self, stored: Option<&str>) -> Result<bool, Failure> {
        let session = Self { round: Round::Between, ..self.clone() };
        Ok(session.changes(stored, &self.settings(stored)?).is_ok())
    }

    /// How the settings of this run differ from those stored; a wider scope is refused within a sequence.
    fn changes(&self, stored: Option<&str>, new: &Resolved) -> Result<Vec<ChangedKey>, Failure> {
        let Some(stored) = stored else { return Ok(Vec::new()) };
        let stored = Layers::new().stored(stored).resolve()?;
        Ok(match self.round {
            Round::GoOn | Round::Between => resume_check(&stored, new)?,
            Round::Next(_) => changed_keys(&stored, new),
        })
    }

    /// The contact in the default user agent is nobody's.
    fn ask_for_contact(&self, settings: &Settings, areas: &[AreaRow]) -> Result<(), Failure> {
        let default = Layers::new().resolve()?.settings.fetch.user_agent;
        let given = self.starts.iter().chain(&self.added).map(|start| start.url.clone());
        let mut all = given.chain(areas.iter().filter_map(|area| WebUrl::parse(&area.url).ok()));
        let heard = self.told || settings.fetch.user_agent.as_str() != default.as_str();
        if !heard && all.any(|url| !is_loopback(&url)) {
            self.caller.note("give servers a contact: --user-agent 'mybot/1.0 (+https://example.org/bot)'");
        }
        Ok(())
    }

    fn announce(&self, changes: &[ChangedKey]) {
        for ChangedKey { key, before, after } in changes {
            self.caller.note(&format!("{}: {key} is now {after} (was {before})", self.dir.display()));
        }
    }

    fn nothing_to_repeat(&self) -> Failure {
        let dir = self.dir.display();
        Failure::Usage(format!("{dir} holds no crawl to crawl again: leave out --again"))
    }

    /// Starts of which the directory knows none belong to another crawl.
    pub(crate) fn refuse_foreign(&self, areas: &[AreaRow]) -> Result<(), Failure> {
        let urls: HashSet<_> = areas.iter().map(|area| area.url.as_str()).collect();
        if self.starts.is_empty() || self.starts.iter().any(|start| is_known(start, &urls)) {
            return Ok(());
        }
        // As a URL prints, without a password that an earlier version kept there.
        let shown = |area: &AreaRow| WebUrl::parse(&area.url).map_or_else(|_| area.url.clone(), |url| url.to_string());
        let known: Vec<_> = areas.iter().take(3).map(|area| escape::text(&shown(area)).into_owned()).collect();
        Err(Failure::Usage(format!(
            "{} holds the crawl of {}; give one of its start URLs, add yours with --add URL, or give another --dir",
            self.dir.display(),
            known.join(", ")
        )))
    }

    /// The starts, given now or before, that the sequence has not admitted yet.
    fn new_starts(&self, directory: &CrawlDirectory) -> Result<Vec<Start>, Failure> {
        let areas = directory.areas()?;
        let seed = directory.fingerprint_seed()?.ok_or_else(|| missing(&self.dir))?;
        let rules = directory.key_rules()?.ok_or_else(|| missing(&self.dir))?;
        // That the scheme of one was a guess is known from its area, for as long as its host has not answered.
        let before = areas.iter().filter(|area| area.source.is_given());
        let before = before.filter_map(|area| WebUrl::parse(&area.url).ok());
        let before = before.map(|url| Start { url: url.without_credentials(), guessed: false, credentials: None });
        let mut given = HashSet::new();
        let mut starts = Vec::new();
        for start in before.chain(self.starts.iter().chain(&self.added).cloned()) {
            let fingerprint = rules.fingerprint(&start.url, seed);
            if given.insert(fingerprint) {
                starts.push((fingerprint, start));
            }
        }
        let admitted = directory.admitted(&given)?;
        starts.retain(|(fingerprint, _)| !admitted.contains(fingerprint));
        Ok(starts.into_iter().map(|(_, start)| start).collect())
    }
}

/// Whether a URL is on this machine, by its own words.
fn is_loopback(url: &WebUrl) -> bool {
    url.ip_literal().map_or_else(|| url.host() == "localhost", |address| address.is_loopback())
}

/// Whether the links that were kept of pages are those that would be kept now.
fn links_stay(changes: &[ChangedKey]) -> bool {
    !changes.iter().any(|change| LINK_KEYS.iter().any(|kind| change.key.starts_with(kind)))
}

/// Whether nothing is left to do. A sequence that was killed between its last commit and its end runs once more, and
/// records the end.
fn is_complete(resumed: &Resumed, sweep: SweepChoice) -> bool {
    let ended = matches!(resumed.end.as_deref(), Some("drained" | "failed"));
    let empty = resumed.counts.admitted > 0 && resumed.counts.queued == 0;
    ended && empty && is_swept(sweep, resumed.swept.as_deref())
}

/// Whether the sweep that is asked for has been done.
fn is_swept(choice: SweepChoice, done: Option<&str>) -> bool {
    match choice {
        SweepChoice::Off => true,
        SweepChoice::Report => done.is_some(),
        SweepChoice::Rescue => done == Some("rescue"),
    }
}

fn area(start: &Start) -> AreaRow {
    let source = if start.guessed { AreaSource::GuessedStart } else { AreaSource::Start };
    AreaRow { url: start.url.as_str().to_owned(), source }
}

/// Whether a start is one of the crawl's; one given without a scheme also if it was given with `http`.
fn is_known(start: &Start, areas: &HashSet<&str>) -> bool {
    let http = start.url.with_scheme("http").filter(|_| start.guessed);
    areas.contains(start.url.as_str()) || http.is_some_and(|http| areas.contains(http.as_str()))
}

/// Stores the settings of a run, and leaves out what is queued and does not belong to the crawl any more: where they say so, or where
/// a run that said so ended before its first visit.
fn store_settings(
    directory: &CrawlDirectory,
    settings: &Settings,
    json: &str,
    changes: &[ChangedKey],
) -> Result<(), Failure> {
    if changes.iter().any(|change| change.key.starts_with(SCOPE_KEYS)) || directory.is_untouched()? {
        directory.narrow(&engine::scope(settings, &directory.areas()?)?, json)?;
    } else {
        directory.store_settings(json)?;
    }
    Ok(())
}

/// Ranks what is queued as the settings have it. A retry waits at most as long as they say, whatever the clock said when it was
/// written.
fn order_queue(directory: &CrawlDirectory, settings: &Settings, now: Moment) -> Result<(), Failure> {
    directory.rank_by(&engine::ranking(settings))?;
    let longest = settings.retry.max_backoff.max(settings.politeness.max_retry_after);
    let clamped = directory.clamp_due(now + longest)?;
    if clamped > 0 {
        tracing::warn!(
            urls = clamped,
            "some retries were due too late, perhaps because the clock was wrong; they are made sooner"
        );
    }
    Ok(())
}

fn missing(dir: &Path) -> Failure {
    StoreError::Missing { path: dir.to_owned() }.into()
}

/// A number from the system's own source of chance.
pub(crate) fn random() -> Result<u64, Failure> {
    let mut bytes = [0; 8];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut file| std::io::Read::read_exact(&mut file, &mut bytes))
        .map_err(Failure::system("cannot read randomness"))?;
    Ok(u64::from_le_bytes(bytes))
}
