//! `Session`: one crawl from its settings to its end, as the program's commands and the library run it.
//!
//! Owns: what is refused before the first request, how settings and starts meet what the crawl directory holds, which sequence
//! is run, and whether another follows it.
//!
//! Does not know: who runs it (`Caller` does), how output looks, and how pages are fetched.

pub(crate) mod access;
mod again;
mod archive;
mod caller;
mod cookies;
pub(crate) mod directory;
mod failure;
mod fields;
mod indices;
mod launch;
pub(crate) mod machine;
pub(crate) mod no_start;
pub(crate) mod open_files;
mod plan;
mod prepare;
pub(crate) mod starts;
pub(crate) mod takers;

use std::{collections::HashSet, path::PathBuf, sync::Arc};

pub use failure::CommandFailure;

pub(crate) use caller::Caller;
pub(crate) use cookies::{KeptCookies, kept_beside};
pub(crate) use starts::Start;

use self::directory::{CrawlDirectory, DirectoryLock};
use crate::{
    clock::Clock,
    config::{ChangedKey, Layers, Resolved, changed_keys, resume_check},
    engine::{self, Left, LogIns, RevisitingCrawl, RunEnd, StopSignal},
    observe::escape,
    store::{AreaRow, RetryFilter, Revisit},
    time::Moment,
    url::{Credentials, WebUrl},
};

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

/// What fetches for a session: what its caller has, and what notices that a log-in has expired.
pub(crate) type SessionFetcher<C> = LogIns<<C as Caller>::Fetcher>;

/// A crawl about to be run.
#[derive(Clone)]
pub(crate) struct Session<C> {
    pub(crate) dir: PathBuf,
    /// There may be very many, and every clone has the same.
    pub(crate) starts: Arc<Vec<Start>>,
    /// Starts that are added to whatever the directory holds.
    pub(crate) added: Vec<Start>,
    pub(crate) round: Round,
    /// What is asked for again of the last sequence.
    pub(crate) retry: Option<RetryFilter>,
    pub(crate) layers: Layers,
    /// Whether what holds for the whole run was said in a sequence before.
    pub(crate) announced: bool,
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
pub(crate) struct EndedSession<F> {
    pub(crate) end: RunEnd,
    /// What keeps the directory.
    pub(crate) lock: DirectoryLock,
    /// What visits pages that are due after that, where the crawl is watched.
    pub(crate) crawl: Option<RevisitingCrawl<F>>,
    /// What keeps the cookies that it is sent.
    pub(crate) cookies: Option<KeptCookies>,
}

/// How visits between sequences ended.
pub(crate) struct EndedVisits {
    pub(crate) left: Left,
    /// What keeps the directory.
    pub(crate) lock: DirectoryLock,
}

impl<C: Caller> Session<C> {
    /// Runs one sequence after another, as the reset policy asks; `clock` was started with the first. The last is not shown yet.
    pub(crate) async fn sequences(
        mut self,
        clock: Clock,
        stop: StopSignal,
    ) -> Result<EndedSession<SessionFetcher<C>>, CommandFailure> {
        let resumed = self.resume_first(clock, &stop).await?;
        let mut ended = match resumed {
            Some(ended) => ended,
            None => Box::pin(self.clone().crawl(clock, stop.clone())).await?,
        };
        let mut admitted = 0;
        while matches!(ended.end, RunEnd::Restart | RunEnd::Aged { .. }) {
            self.dir = ended.lock.directory()?;
            let before = std::mem::replace(&mut admitted, directory::summary(&self.dir)?.counts.admitted);
            if ended.end == RunEnd::Restart && admitted <= before {
                let why = "the new URL cache was full with no more URLs than the old one: allow more memory (--max-cache-memory) or more losses (--max-lost-urls)";
                self.caller.complain(why);
                ended.end = RunEnd::Loss;
                break;
            }
            self.caller.has_ended(&self.dir, ended.end)?;
            self.lock = Some(ended.lock);
            // Its URL cache was full, or too old: it is filled by links again.
            (self.round, self.announced, self.retry) = (Round::Next(Revisit::Rediscover), true, None);
            ended = Box::pin(self.clone().crawl(clock, stop.clone())).await?;
        }
        Ok(ended)
    }

    /// The starts that are given now.
    fn given(&self) -> impl Iterator<Item = &Start> + Clone {
        self.starts.iter().chain(&self.added)
    }

    /// Refuses what can be refused before a directory is made.
    pub(crate) fn check(&self) -> Result<(), CommandFailure> {
        self.layers.resolve()?;
        if self.starts.is_empty() && self.added.is_empty() && !CrawlDirectory::exists(&self.dir) {
            let why = format!("{} holds no crawl: give a start URL to begin one", self.dir.display());
            return Err(CommandFailure::Usage(why + &directory::others(&self.dir)));
        }
        if self.round.begins() && !CrawlDirectory::exists(&self.dir) {
            return Err(self.nothing_to_repeat());
        }
        if !CrawlDirectory::exists(&self.dir) {
            engine::check(&self.settings(None)?.settings, None)?;
        }
        Ok(())
    }

    /// The settings of this run; those stored are kept where nothing stronger is given. Other rules of keys than those of the
    /// directory are refused.
    pub(crate) fn settings(&self, stored: Option<&str>) -> Result<Resolved, CommandFailure> {
        let layers = match stored {
            Some(stored) => self.layers.clone().stored(stored),
            None => self.layers.clone(),
        };
        let resolved = layers.resolve()?;
        resolved.refuse_idle_priorities()?;
        if let Some(stored) = stored {
            resolved.refuse_other_keys(&Layers::new().stored(stored).resolve()?)?;
        }
        match access::with_logins(self.given(), &resolved.settings.fetch.credentials)? {
            Some(logins) => Ok(layers.flags(&logins).resolve()?),
            None => Ok(resolved),
        }
    }

    /// Whether the last sequence can go on with these settings: its scope stays.
    pub(crate) fn may_go_on(&self, stored: Option<&str>) -> Result<bool, CommandFailure> {
        let session = Self { round: Round::Between, ..self.clone() };
        Ok(session.changes(stored, &self.settings(stored)?).is_ok())
    }

    /// How the settings of this run differ from those stored; a wider scope is refused within a sequence.
    fn changes(&self, stored: Option<&str>, new: &Resolved) -> Result<Vec<ChangedKey>, CommandFailure> {
        let Some(stored) = stored else { return Ok(Vec::new()) };
        let stored = Layers::new().stored(stored).resolve()?;
        Ok(match self.round {
            Round::GoOn | Round::Between => resume_check(&stored, new)?,
            Round::Next(_) => changed_keys(&stored, new),
        })
    }

    fn nothing_to_repeat(&self) -> CommandFailure {
        let dir = self.dir.display();
        CommandFailure::Usage(format!("{dir} holds no crawl to crawl again: leave out --again"))
    }

    /// Starts of which the directory knows none belong to another crawl.
    pub(crate) fn refuse_foreign(&self, areas: &[AreaRow]) -> Result<(), CommandFailure> {
        let urls: HashSet<_> = areas.iter().map(|area| area.url.as_str()).collect();
        if self.starts.is_empty() || self.starts.iter().any(|start| is_known(start, &urls)) {
            return Ok(());
        }
        // As a URL prints, without a password that an earlier version kept there.
        let shown = |area: &AreaRow| WebUrl::parse(&area.url).map_or_else(|_| area.url.clone(), |url| url.to_string());
        let known: Vec<_> = areas.iter().take(3).map(|area| escape::text(&shown(area)).into_owned()).collect();
        Err(CommandFailure::Usage(format!(
            "{} holds the crawl of {}; give one of its start URLs, add yours with --add URL, or give another --dir",
            self.dir.display(),
            known.join(", ")
        )))
    }
}

/// Whether a start is one of the crawl's; one given without a scheme also if it was given with `http`.
fn is_known(start: &Start, areas: &HashSet<&str>) -> bool {
    let http = start.url.with_scheme("http").filter(|_| start.guessed);
    areas.contains(start.url.as_str()) || http.is_some_and(|http| areas.contains(http.as_str()))
}

/// A number from the system's own source of chance.
pub(crate) fn random() -> Result<u64, CommandFailure> {
    let mut bytes = [0; 8];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut file| std::io::Read::read_exact(&mut file, &mut bytes))
        .map_err(CommandFailure::system("cannot read randomness"))?;
    Ok(u64::from_le_bytes(bytes))
}
