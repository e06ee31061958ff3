//! All that a session does with the database before a run: what it refuses, what it writes, and what it reads to go on.
//!
//! It may take long in a large crawl, so it blocks nothing else, and ends at once when it is asked to stop. Each of its transactions leaves
//! a directory from which a later start goes on.

use std::{borrow::Cow, collections::HashSet, path::Path, sync::Arc};

use super::{
    Caller, CommandFailure, Round, SCOPE_KEYS, Session, SessionFetcher, Start, access,
    cookies::KeptCookies,
    directory::{self, Beginning, CrawlDirectory, DirectoryLock},
    indices::Indices,
    machine,
};
use crate::{
    config::{ChangedKey, Layers, Resolved, Settings, SweepChoice, TextChoice},
    engine::{self, LogIns, RunEnd, StopSignal},
    store::{AreaRow, AreaSource, NewCrawl, NextSequence, Resumed, Revisit, StoreError},
    time::Moment,
    url::{Canonicalizer, Fingerprint, FingerprintSeed, KeyRule, WebUrl},
};

/// What these settings say decides which links of a page are kept.
const LINK_KEYS: [&str; 12] = [
    SCOPE_KEYS,
    "extract.max_links",
    "extract.nofollow",
    "extract.fields",
    "extract.structured",
    "sources.forms",
    "sources.canonical",
    "sources.sitemaps",
    "sources.feeds",
    "check.assets",
    "check.anchors",
    "archive.assets",
];

/// What these say decides which fields pages have.
const FIELD_KEYS: [&str; 2] = ["extract.fields", "extract.structured"];

/// Settings that add to what is to be asked for, as a start does.
const ADDING_KEYS: [&str; 3] = ["sources.sitemap", "check.external", "check.max_per_host"];

/// A start, by its key and as its area has it.
type StartUrl = (Fingerprint, Box<str>);

/// When a session is prepared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Begun {
    pub(super) now: Moment,
    /// When its run began.
    pub(super) started: Moment,
}

/// What a run is to begin with.
struct Wanted<'a> {
    settings: &'a Settings,
    /// The same with all layers, as it is stored.
    json: &'a str,
    changes: &'a [ChangedKey],
    now: Moment,
}

/// What is to be done.
pub(super) enum Prepared<F> {
    /// Nothing: the sequence is complete.
    Complete {
        /// How it ended.
        end: RunEnd,
        /// What keeps its directory.
        lock: DirectoryLock,
        /// What may have to be brought up to date.
        indices: Indices,
    },
    /// A run.
    Run(Box<PreparedRun<F>>),
}

/// The same for a caller.
pub(super) type PreparedSession<C> = Prepared<SessionFetcher<C>>;

/// A run that can begin.
pub(super) struct PreparedRun<F> {
    pub(super) directory: CrawlDirectory,
    pub(super) resumed: Resumed,
    /// The areas of starts that are not in its URL table.
    pub(super) starts: Vec<Box<str>>,
    pub(super) settings: Arc<Settings>,
    /// These settings as JSON, as anybody may see them.
    pub(super) open_settings: String,
    /// Whether the texts of pages are kept.
    pub(super) texts: bool,
    pub(super) fetcher: F,
    /// What keeps its cookies.
    pub(super) cookies: Option<KeptCookies>,
}

impl<C: Caller> Session<C> {
    /// Prepares a sequence. It blocks.
    pub(super) fn prepare(mut self, begun: Begun, stop: &StopSignal) -> Result<PreparedSession<C>, CommandFailure> {
        let directory = directory::open(&self.dir, self.lock.as_ref())?;
        let stopping = stop.clone();
        let mut directory = directory.interrupted_when(move || stopping.asked_before().is_some())?;
        let lock = directory.lock();
        let stored = directory.settings()?;
        self.try_failed_starts_again(&directory)?;
        let last = directory.last_sequence()?.filter(|_| self.round.begins());
        let resolved = self.settings(stored.as_deref())?;
        let changes = self.changes(stored.as_deref(), &resolved)?;
        let mut settings = resolved.settings.clone();
        if let Some(left) = self.until.map(|until| until.since(begun.started)) {
            // The next sequence stops this one.
            settings.budget.max_time = Some(settings.budget.max_time.map_or(left, |most| most.min(left)));
        }
        self.guess_http(&settings.key.rules);
        self.caller.begins(&settings);
        let files = machine::fit(&mut settings, self.caller.crawls())?;
        let settings = Arc::new(settings);
        let before = directory.areas()?;
        // There may be very many: they are gone through, and not copied.
        let own = before.iter().filter_map(given).map(Cow::Owned);
        let own = self.given().map(|start| Cow::Borrowed(&start.url)).chain(own);
        let cookies = self.cookies(&resolved, &directory)?;
        let standard = || {
            let names = access::start_names(own.clone(), &directory)?;
            access::fetcher(&settings, files, own.clone(), names, self.auth.as_ref(), cookies.as_ref())
        };
        let log_ins = cookies.as_ref().map(KeptCookies::log_ins);
        let fetcher = LogIns::new(self.caller.fetcher(standard, &settings, stop)?, log_ins);
        engine::check(&settings, last.map(|last| last.admitted))?;
        let (json, open_settings) = (resolved.effective.to_json(), resolved.effective.to_open_json());
        let wanted = Wanted { settings: &settings, json: &json, changes: &changes, now: begun.now };
        match stored {
            None => self.create(&mut directory, &wanted)?,
            Some(_) => self.refuse_foreign(&before).and_then(|()| self.refuse_removed(&directory))?,
        }
        let is_public = own.clone().any(|url| !is_loopback(&url));
        drop(before);
        if let Round::Next(revisit) = self.round {
            let (areas, keep) = (self.given().map(area).collect(), settings.store.keep);
            let links_stay = links_stay(&changes);
            let next = NextSequence { at: begun.now, settings: json.clone(), areas, revisit, links_stay, keep };
            directory.begin_sequence(&next)?;
        }
        directory.give(self.given().map(area))?;
        // Nothing is refused from here on: the settings of this run are those of the crawl.
        self.announce(&changes);
        self.log_in(cookies.as_ref(), &directory)?;
        directory.write_settings_copy(&resolved.effective.to_toml())?;
        let (resumed, starts) = self.begin(&directory, &wanted)?;
        let adds = changes.iter().any(|change| ADDING_KEYS.contains(&change.key));
        if self.round != Round::Between && !adds && starts.is_empty() && is_complete(&resumed, settings.cache.sweep) {
            let dir = self.dir.display();
            self.caller.note(&format!("{dir}: nothing is left to fetch; this sequence is complete"));
            let end = if resumed.counters.stored == 0 { RunEnd::Failed } else { RunEnd::Drained };
            return Ok(Prepared::Complete { end, lock, indices: Indices::of(&settings) });
        }
        if is_public {
            self.ask_for_contact(&settings)?;
        }
        let texts = self.keeps_texts(&settings, &directory)?;
        let run = PreparedRun { directory, resumed, starts, settings, open_settings, texts, fetcher, cookies };
        Ok(Prepared::Run(Box::new(run)))
    }

    /// Where http and https are one page, a start without a scheme is asked for by http: to try it after https would be to ask for
    /// the same page again.
    fn guess_http(&mut self, rules: &Canonicalizer) {
        if !rules.rules().has(KeyRule::Scheme) {
            return;
        }
        for start in Arc::make_mut(&mut self.starts).iter_mut().chain(&mut self.added).filter(|start| start.guessed) {
            let http = start.url.with_scheme("http").filter(|http| rules.key(http) == rules.key(&start.url));
            if let Some(http) = http {
                (start.url, start.guessed) = (http, false);
            }
        }
    }

    /// Asks the URL table what the run begins with, and has it be as the settings say; with the starts that the sequence has not
    /// admitted yet.
    fn begin(
        &self,
        directory: &CrawlDirectory,
        wanted: &Wanted<'_>,
    ) -> Result<(Resumed, Vec<Box<str>>), CommandFailure> {
        let Wanted { settings, json, changes, now } = *wanted;
        if let Some(filter) = &self.retry {
            directory.retry(filter)?;
        }
        let areas = directory.areas()?;
        // A run that changed the scope may have ended before its first visit.
        let is_judged_again = has_scope_changed(changes) || directory.is_untouched()?;
        let scope = is_judged_again.then(|| engine::scope(settings, &areas)).transpose()?;
        // Every start is an area by now.
        let (mut starts, known) = self.starts_of(areas, directory)?;
        let beginning = Beginning {
            starts: known,
            settings: Some(json),
            scope: scope.as_ref(),
            ranking: Some(&engine::ranking(settings)),
            latest_due: Some(now + settings.retry.max_backoff.max(settings.politeness.max_retry_after)),
            tries_again: self.round != Round::Between,
            max_depth: settings.depth_limit(),
            sections: settings.scope.sections.clone(),
            other_fields: !self.round.begins() && changes.iter().any(|change| FIELD_KEYS.contains(&change.key)),
        };
        let found = directory.begin(&beginning)?.ok_or_else(|| missing(&self.dir))?;
        tell_clamped(found.clamped);
        starts.retain(|(fingerprint, _)| !found.admitted.contains(fingerprint));
        Ok((found.resumed, starts.into_iter().map(|(_, start)| start).collect()))
    }

    /// A sequence in which no start gave a page has nothing to go on with: the next one begins.
    fn try_failed_starts_again(&mut self, directory: &CrawlDirectory) -> Result<(), CommandFailure> {
        let last = directory.last_sequence()?.filter(|last| last.end.as_deref() == Some("failed"));
        if self.round == Round::GoOn && self.retry.is_none() && last.is_some() {
            self.caller.note("no start URL gave a page before: the next sequence asks for them again");
            self.round = Round::Next(Revisit::KnownFirst);
        }
        Ok(())
    }

    /// Whether texts of pages are kept: of those that are watched, archived or indexed, or were in a sequence before, unless it is said
    /// otherwise.
    fn keeps_texts(&self, settings: &Settings, directory: &CrawlDirectory) -> Result<bool, CommandFailure> {
        let is_read = settings.archive.is_on() || settings.is_indexed();
        Ok(match settings.change.text {
            TextChoice::On => true,
            TextChoice::Auto => self.watched || is_read || directory.keeps_texts()?,
            TextChoice::Off => false,
        })
    }

    fn create(&self, directory: &mut CrawlDirectory, wanted: &Wanted<'_>) -> Result<(), CommandFailure> {
        if self.starts.is_empty() && self.added.is_empty() {
            return Err(CommandFailure::Usage(format!("{} holds no crawl yet: give a start URL", self.dir.display())));
        }
        let crawl = NewCrawl {
            at: wanted.now,
            fingerprint_seed: FingerprintSeed::new(self.caller.random()?),
            key_rules: wanted.settings.key.rules.clone(),
            hash_seed: self.caller.random()?,
            settings: wanted.json.to_owned(),
            areas: self.given().map(area).collect(),
        };
        Ok(directory.create(&crawl)?)
    }

    /// The contact in the default user agent is nobody's.
    fn ask_for_contact(&self, settings: &Settings) -> Result<(), CommandFailure> {
        let default = Layers::new().resolve()?.settings.fetch.user_agent;
        let heard = self.announced || settings.fetch.user_agent.as_str() != default.as_str();
        if !heard {
            self.caller.note("give servers a contact: --user-agent 'mybot/1.0 (+https://example.org/bot)'");
        }
        Ok(())
    }

    /// The cookies of a run with these settings, if there are any.
    fn cookies(&self, given: &Resolved, directory: &CrawlDirectory) -> Result<Option<KeptCookies>, CommandFailure> {
        let is_given = given.is_given("fetch.cookies");
        KeptCookies::open(&given.settings.fetch.cookies, directory, (is_given, self.watched))
    }

    /// Keeps cookies that were not known before, and has hosts be asked again whose log-in had expired.
    fn log_in(&self, cookies: Option<&KeptCookies>, directory: &CrawlDirectory) -> Result<(), CommandFailure> {
        let Some((cookies, read)) = cookies.and_then(|cookies| Some((cookies, cookies.read_now()?))) else {
            return Ok(());
        };
        if read.expired > 0 {
            self.caller.note(&format!("{} of the cookies have expired, and are left out", read.expired));
        }
        // First: what is kept is not read again.
        directory.lift_log_ins()?;
        cookies.save()
    }

    fn announce(&self, changes: &[ChangedKey]) {
        for ChangedKey { key, before, after } in changes {
            self.caller.note(&format!("{}: {key} is now {after} (was {before})", self.dir.display()));
        }
    }

    /// What was removed is no start.
    fn refuse_removed(&self, directory: &CrawlDirectory) -> Result<(), CommandFailure> {
        let Some((seed, rules)) = directory.fingerprint_seed()?.zip(directory.key_rules()?) else { return Ok(()) };
        let removed = directory.removed()?;
        let is_removed = |url: &WebUrl| removed.contains(&rules.fingerprint(&url.clone().without_credentials(), seed));
        match self.given().find(|start| is_removed(&start.url)) {
            None => Ok(()),
            Some(start) => {
                let why = "was removed from this crawl (webloom forget), and is not asked for again: crawl it into another directory";
                Err(CommandFailure::Usage(format!("{} {why}", start.url)))
            }
        }
    }

    /// The starts of these areas, each once, in their order, and their fingerprints.
    fn starts_of(
        &self,
        areas: Vec<AreaRow>,
        directory: &CrawlDirectory,
    ) -> Result<(Vec<StartUrl>, HashSet<Fingerprint>), CommandFailure> {
        let seed = directory.fingerprint_seed()?.ok_or_else(|| missing(&self.dir))?;
        let rules = directory.key_rules()?.ok_or_else(|| missing(&self.dir))?;
        let mut known = HashSet::new();
        let mut starts = Vec::with_capacity(areas.len());
        for area in areas {
            let fingerprint = given(&area).map(|url| rules.fingerprint(&url.without_credentials(), seed));
            starts.extend(fingerprint.filter(|start| known.insert(*start)).map(|start| (start, area.url.into())));
        }
        Ok((starts, known))
    }
}

/// The URL of an area that the user gave.
fn given(area: &AreaRow) -> Option<WebUrl> {
    if area.source.is_given() { WebUrl::parse(&area.url).ok() } else { None }
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

/// Whether other URLs may belong to the crawl.
fn has_scope_changed(changes: &[ChangedKey]) -> bool {
    changes.iter().any(|change| change.key.starts_with(SCOPE_KEYS))
}

fn tell_clamped(urls: u64) {
    if urls > 0 {
        tracing::warn!(
            urls,
            "some retries were due too late, perhaps because the clock was wrong; they are made sooner"
        );
    }
}

fn missing(dir: &Path) -> CommandFailure {
    StoreError::Missing { path: dir.to_owned() }.into()
}
