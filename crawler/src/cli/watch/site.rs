//! [`Site`]: a real crawl on a schedule.
//!
//! Invariants: this process holds the crawl directory from the first sequence on, also while nothing runs; the crawl of a sequence that has
//! ended is kept for the pages that are due after it, and closed before the next sequence begins; an added start joins at the next
//! sequence, and no start is removed.
//!
//! Does not know: when anything is due.

use std::{collections::HashSet, num::NonZeroU64, panic::resume_unwind, path::PathBuf, sync::Arc};

use tokio::sync::oneshot;

use super::{
    super::{
        CommandFailure, access,
        among::Among,
        crawl,
        directory::{self, CrawlDirectory},
        flags::OutputFlags,
        session::{EndedSession, EndedVisits, Program, ProgramSession, Round, Shown},
        starts,
    },
    plan::WatchPlan,
    rounds::{FirstRound, Rounds},
    subject::{Running, SequenceStart, Subject, Visiting},
};
use crate::{
    clock::Clock,
    config::{HeartbeatUrl, Layers, SecretText},
    engine::{self, Between, RunEnd, StopSignal},
    monitor::{Heartbeat, state_file},
    schedule::{Upcoming, WatchState},
    session::{Caller, KeptCookies, SessionFetcher, Start, kept_beside},
    store::{LastSequence, Revisit},
    time::Moment,
    url::WebUrl,
};

/// What is to be watched, as it was given.
#[derive(Clone)]
pub(in crate::cli) struct Given {
    pub(in crate::cli) dir: Option<PathBuf>,
    pub(in crate::cli) starts: Vec<String>,
    /// Starts that are added to whatever the directory holds.
    pub(in crate::cli) added: Vec<String>,
    pub(in crate::cli) layers: Layers,
    /// User name and password for the origins of the starts.
    pub(in crate::cli) auth: Option<SecretText>,
    pub(in crate::cli) output: OutputFlags,
    /// How sequences after the first find their pages.
    pub(in crate::cli) revisit: Revisit,
    /// How many sequences there may be.
    pub(in crate::cli) most: Option<NonZeroU64>,
}

/// A crawl that is watched.
pub(in crate::cli) struct Site {
    given: Given,
    session: ProgramSession,
    /// The settings that the directory holds.
    stored: Option<String>,
    /// What tells the crawl from others with the same schedule.
    name: String,
    /// What the last sequence was begun with: the pages that are due after it are visited like this.
    begun: ProgramSession,
    /// The crawl of that sequence, as long as nothing is visited after it.
    crawl: Option<engine::RevisitingCrawl<SessionFetcher<Program>>>,
    /// What keeps its cookies.
    cookies: Option<KeptCookies>,
    /// The visits that are still to come, where no crawl is there for them.
    between: Option<Between>,
    heartbeat: Heartbeat,
}

impl Given {
    /// The crawl and its settings, from what was given alone.
    ///
    /// # Errors
    /// When a start is none, or there is nowhere to put the crawl.
    pub(in crate::cli) fn session(&self, among: &Among) -> Result<ProgramSession, CommandFailure> {
        starts::check_stdin(self.starts.iter().chain(&self.added))?;
        let (starts, added) = (starts::read(&self.starts)?, starts::read(&self.added)?);
        let dir = crawl::crawl_dir(self.dir.as_deref(), starts.first().or(added.first()))?;
        self.layers.resolve()?;
        Ok(ProgramSession {
            dir,
            starts: Arc::new(starts),
            added,
            round: Round::GoOn,
            retry: None,
            layers: self.layers.clone(),
            announced: false,
            until: None,
            auth: access::auth(self.auth.as_ref())?,
            lock: None,
            watched: true,
            caller: Program { output: self.output.clone(), shown: Shown::Each, next: false, among: among.clone() },
        })
    }

    /// What the settings say where no directory is looked at.
    ///
    /// # Errors
    /// When they are wrong, or there is no rhythm.
    pub(in crate::cli) fn plan(&self, among: &Among) -> Result<WatchPlan, CommandFailure> {
        let session = self.session(among)?;
        let name = name(&session, &[]);
        WatchPlan::of(session, None, &name).map(|(_, plan)| plan)
    }
}

/// The first of all starts in the alphabet, those that are known before those that are new.
fn name(session: &ProgramSession, known: &[String]) -> String {
    let given = session.starts.iter().chain(&session.added).map(|start| start.url.as_str().to_owned());
    known.iter().min().cloned().or(given.min()).unwrap_or_default()
}

impl Site {
    /// Refuses what can be refused before a directory is made, and keeps the one that is there.
    ///
    /// # Errors
    /// When something is wrong with what was given, or with the directory.
    pub(in crate::cli) fn open(given: Given, among: &Among, now: Moment) -> Result<Rounds<Self>, CommandFailure> {
        let mut session = given.session(among)?;
        let seat = among.seat.at(&session.dir);
        session.caller.among.seat = seat;
        let dir = &session.dir;
        let kept = CrawlDirectory::exists(dir).then(|| directory::open(dir, None)).transpose()?;
        let stored = kept.as_ref().map(CrawlDirectory::settings).transpose()?.flatten();
        let last = kept.as_ref().map(CrawlDirectory::last_sequence).transpose()?.flatten();
        let areas = kept.as_ref().map(CrawlDirectory::areas).transpose()?.unwrap_or_default();
        let known: Vec<_> = areas.iter().filter(|area| area.source.is_given()).map(|area| area.url.clone()).collect();
        let name = name(&session, &known);
        session.lock = kept.as_ref().map(CrawlDirectory::lock);
        if stored.is_some() {
            // Not only when the next sequence is due.
            session.refuse_foreign(&areas)?;
        }
        let (mut session, plan) = WatchPlan::of(session, stored.as_deref(), &name)?;
        if session.lock.is_none() {
            session.check()?;
            // From now on it says what it does, and there.
            session.lock = Some(directory::open(&session.dir, None)?.lock());
        }
        let (revisit, most) = (given.revisit, given.most);
        let mut upcoming = Upcoming::after(last.as_ref().map_or(now, |last| last.began));
        let begun = session.clone();
        let mut site = Self {
            given,
            session,
            stored,
            name,
            begun,
            crawl: None,
            cookies: None,
            between: None,
            heartbeat: Heartbeat::default(),
        };
        let round = if last.as_ref().is_some_and(LastSequence::is_over) {
            let stored = site.stored.as_deref();
            if site.session.may_go_on(stored)? {
                site.between = Some(Between::new(&site.session.settings(stored)?.settings, now));
            }
            Round::Next(revisit)
        } else {
            // To go on with it makes up for what was missed meanwhile.
            upcoming.skip_missed(&plan.schedule, now);
            Round::GoOn
        };
        Ok(Rounds::new(site, FirstRound { plan, upcoming, round, revisit, most }))
    }

    /// What it was given last.
    pub(in crate::cli) fn given(&self) -> &Given {
        &self.given
    }

    /// The settings of what was read last.
    ///
    /// # Errors
    /// When they are wrong.
    pub(in crate::cli) fn log_settings(&self) -> Result<crate::config::LogSettings, CommandFailure> {
        Ok(self.session.settings(self.stored.as_deref())?.settings.log)
    }

    /// The session with the starts that are given now. What a list on stdin said is what it said at first.
    fn with_starts(&self, given: &Given) -> Result<ProgramSession, CommandFailure> {
        let listed = given.starts.iter().chain(&given.added).filter(|argument| *argument != "-").cloned();
        let read = starts::read(&listed.collect::<Vec<_>>())?;
        let mut session = self.session.clone();
        let renewed = |start: &Start| read.iter().find(|new| new.url == start.url).unwrap_or(start).clone();
        session.starts = Arc::new(session.starts.iter().map(renewed).collect());
        session.added = session.added.iter().map(renewed).collect();
        let known: HashSet<WebUrl> =
            session.starts.iter().chain(&session.added).map(|start| start.url.clone()).collect();
        session.added.extend(read.into_iter().filter(|start| !known.contains(&start.url)));
        Ok(session)
    }
}

impl Subject for Site {
    type Given = Given;
    type Ended = EndedSession<SessionFetcher<Program>>;
    type Visited = EndedVisits;

    fn sequence(&mut self, start: SequenceStart, stop: StopSignal) -> Result<Running<Self::Ended>, CommandFailure> {
        self.stored = Some(self.session.settings(self.stored.as_deref())?.effective.to_json());
        let session = ProgramSession { round: start.round, ..self.session.clone() };
        self.begun = session.clone();
        let session = ProgramSession { until: start.until, ..session };
        self.between = None;
        let before = self.crawl.take();
        Ok(Box::pin(async move {
            if let Some(crawl) = before {
                crawl.close().await?;
            }
            session.sequences(Clock::start(), stop).await
        }))
    }

    fn has_crawled(&mut self, ended: Self::Ended, now: Moment) -> Result<RunEnd, CommandFailure> {
        self.session.dir = ended.lock.directory()?;
        // It may have been moved.
        self.session.caller.among.seat.at(&self.session.dir);
        self.session.show_summary(&ended)?;
        let EndedSession { end, lock, crawl, cookies } = ended;
        (self.session.lock, self.session.announced) = (Some(lock), true);
        let settings = self.session.settings(self.stored.as_deref())?.settings;
        if crawl.is_none() && end.is_followed_by_visits() {
            self.between = Some(Between::new(&settings, now));
        }
        if let Some(HeartbeatUrl(url)) = settings.schedule.heartbeat.filter(|_| !matches!(end, RunEnd::Signal(_))) {
            self.heartbeat.send(url, settings.fetch.user_agent.as_str().to_owned());
        }
        (self.crawl, self.cookies) = (crawl, cookies);
        Ok(end)
    }

    async fn look_ahead(&mut self, now: Moment) -> Result<(), CommandFailure> {
        let Some(mut between) = self.between.take() else { return Ok(()) };
        let (dir, lock) = (self.session.dir.clone(), self.session.lock.clone());
        let request = between.look_ahead(now);
        let ask = move || Ok::<_, CommandFailure>(directory::open(&dir, lock.as_ref())?.due(request)?);
        // It may read very many visits, and a signal is heard meanwhile.
        let due = tokio::task::spawn_blocking(ask).await.unwrap_or_else(|panic| resume_unwind(panic.into_panic()))?;
        between.looked_ahead(due, now);
        self.between = Some(between);
        Ok(())
    }

    fn next_visits(&self) -> Option<Moment> {
        // What is in memory waits for pages that are due, and says when it has waited for too long.
        let at_once = self.crawl.as_ref().map(|_| Moment::EPOCH);
        at_once.or_else(|| self.between.as_ref().and_then(Between::next_due))
    }

    fn visit_due(&mut self, stop: StopSignal) -> Visiting<EndedVisits> {
        let (finish, finished) = oneshot::channel();
        let finished = async {
            // Whoever could say so is gone: then it ends as well.
            let _ = finished.await;
        };
        let lock = self.session.lock.clone();
        let session = ProgramSession { lock: lock.clone(), announced: true, ..self.begun.clone() };
        let (crawl, between) = (self.crawl.take(), self.between.take());
        let cookies = self.cookies.clone();
        let running: Running<EndedVisits> = Box::pin(async move {
            match (crawl, between, lock) {
                (Some(crawl), _, Some(lock)) => {
                    let left = kept_beside(cookies.as_ref(), Box::pin(crawl.visit_due(finished))).await?;
                    Ok(EndedVisits { left, lock })
                }
                (_, Some(between), _) => session.visit_due(Clock::start(), stop, between, finished).await,
                _ => Err(CommandFailure::Usage("there is nothing to visit".to_owned())),
            }
        });
        Visiting { running, finish }
    }

    fn has_visited(&mut self, visited: EndedVisits) -> Option<RunEnd> {
        self.session.lock = Some(visited.lock);
        self.between = Some(visited.left.between);
        visited.left.end
    }

    async fn close(&mut self) -> Result<(), CommandFailure> {
        let closed = match self.crawl.take() {
            Some(crawl) => crawl.close().await,
            None => Ok(()),
        };
        self.heartbeat.arrive().await;
        Ok(closed?)
    }

    fn read_again(&mut self, given: Given) -> Result<WatchPlan, CommandFailure> {
        let session = ProgramSession { layers: given.layers.clone(), ..self.with_starts(&given)? };
        let (session, plan) = WatchPlan::of(session, self.stored.as_deref(), &self.name)?;
        (self.session, self.given) = (session, given);
        Ok(plan)
    }

    fn has_state(&self, state: &WatchState) {
        self.session.caller.among.seat.has_state(state);
        let Some(lock) = &self.session.lock else { return };
        if let Err(error) = lock.replace(state_file::NAME, &state_file::text(state)) {
            tracing::warn!(%error, "cannot write the state of the watch");
        }
    }

    fn tell(&self, line: &str) {
        self.session.caller.note(line);
    }

    fn complain(&self, line: &str) {
        self.session.caller.tell(line);
    }

    fn print(&self, line: &str) -> Result<(), CommandFailure> {
        let Program { output, among, .. } = &self.session.caller;
        let settings = self.session.settings(self.stored.as_deref())?.settings;
        if output.json || settings.extract.writes_to_stdout() {
            self.tell(line);
        } else if !output.quiet {
            among.voice.print(&format!("{line}\n"))?;
        }
        Ok(())
    }
}
