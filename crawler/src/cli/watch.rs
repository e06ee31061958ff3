//! `webloom watch`: crawl sequences on a schedule, in one process.
//!
//! Owns: when a sequence is begun, what becomes of one that outlasts its interval, the runs between sequences, and reading the
//! settings again on SIGHUP.
//!
//! Invariants: the crawl directory is this process's from the first sequence on, also while nothing runs; of a sequence that has
//! ended nothing is kept but when it began and its settings; nothing polls.
//!
//! Does not know: how a sequence is crawled, and how starts follow from a schedule.

use std::{num::NonZeroU64, path::PathBuf, pin::pin, process::ExitCode};

use clap::Args;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{
    Failure,
    crawl::{self, RevisitChoice},
    directory::{self, CrawlDirectory},
    flags::{CrawlFlags, OutputFlags, ScheduleFlags},
    once_more::Visits,
    outcome,
    session::{self, Round, Session, Shown},
    starts,
};
use crate::{
    clock::{Alarm, Clock},
    config::{Layers, Overlap, RevisitSettings},
    engine::{self, End, StopSignal},
    observe::logs,
    schedule::{Due, Schedule, ScheduleError, Upcoming},
    store::{LastSequence, Revisit},
    time::Moment,
};

/// The profile where no other is given.
const PROFILE: &str = "revisit";

/// Arguments of `watch`.
#[derive(Debug, Args)]
pub(super) struct WatchArgs {
    /// Start URL, a host (https is tried, then http), or @FILE with one of them a line; - reads such a list from stdin
    #[arg(value_name = "START")]
    starts: Vec<String>,
    /// Crawl directory, made when it is not there [default: ./crawls/HOST of the first start]
    #[arg(short, long)]
    dir: Option<PathBuf>,
    /// Add a start URL to the crawl, whatever the directory holds; may be given several times, and as @FILE or - like a start
    #[arg(long, value_name = "URL")]
    add: Vec<String>,
    /// How each sequence after the first finds its pages: asking for every known URL, or by links from the starts, as if nothing
    /// were known [default: known-first]
    #[arg(long, value_enum, value_name = "HOW")]
    revisit: Option<RevisitChoice>,
    /// End after so many sequences, one that is gone on with included, with the exit code of the last [default: never]
    #[arg(long, value_name = "N", help_heading = "Schedule")]
    runs: Option<NonZeroU64>,
    #[command(flatten)]
    flags: WatchFlags,
}

/// What settings are read from, at the start and again on SIGHUP.
#[derive(Debug, Args)]
struct WatchFlags {
    #[command(flatten)]
    schedule: ScheduleFlags,
    #[command(flatten)]
    crawl: CrawlFlags,
    #[command(flatten)]
    output: OutputFlags,
}

impl WatchArgs {
    pub(super) fn is_quiet(&self) -> bool {
        self.flags.output.quiet
    }
}

pub(super) fn run(args: WatchArgs) -> Result<ExitCode, Failure> {
    let all = async {
        // Before anything is kept: a signal that comes in the meantime is heard.
        let mut outside = Outside::new()?;
        Watch::new(args)?.run(&mut outside).await
    };
    session::runtime()?.block_on(all)
}

/// A crawl that is watched.
struct Watch {
    session: Session,
    flags: WatchFlags,
    plan: Plan,
    upcoming: Upcoming,
    revisit: Revisit,
    runs: Option<NonZeroU64>,
    /// The settings that the directory holds.
    stored: Option<String>,
    /// What tells the crawl from others with the same schedule.
    name: String,
    /// Visits until the next sequence.
    visits: Option<Visits>,
}

/// What the settings say of sequences to come.
struct Plan {
    schedule: Schedule,
    overlap: Overlap,
    /// How single pages are visited in between.
    revisits: Option<RevisitSettings>,
}

/// What comes from outside while a sequence runs, or is waited for.
struct Outside {
    stop: StopSignal,
    hangups: Signal,
    alarm: Alarm,
}

impl Outside {
    fn new() -> Result<Self, Failure> {
        let hangups = signal(SignalKind::hangup()).map_err(Failure::system("cannot listen for signals"))?;
        Ok(Self { stop: session::stop_signal()?, hangups, alarm: Alarm::new().map_err(no_timer())? })
    }
}

impl Watch {
    /// Refuses what can be refused before a directory is made, and keeps the one that is there.
    fn new(args: WatchArgs) -> Result<Self, Failure> {
        starts::check_stdin(args.starts.iter().chain(&args.add))?;
        let (starts, added) = (starts::read(&args.starts)?, starts::read(&args.add)?);
        let dir = match args.dir {
            Some(dir) => dir,
            None => crawl::default_dir(starts.first().or(added.first()))?,
        };
        let layers = args.flags.layers();
        layers.resolve()?;
        let kept = CrawlDirectory::exists(&dir).then(|| directory::open(&dir, None)).transpose()?;
        let stored = kept.as_ref().map(CrawlDirectory::settings).transpose()?.flatten();
        let last = kept.as_ref().map(CrawlDirectory::last_sequence).transpose()?.flatten();
        let areas = kept.as_ref().map(CrawlDirectory::areas).transpose()?.unwrap_or_default();
        let given = starts.iter().chain(&added).map(|start| start.url.as_str().to_owned());
        let known = areas.iter().filter(|area| area.source.is_given()).map(|area| area.url.clone());
        let name = known.min().or(given.min()).unwrap_or_default();
        let session = Session {
            dir,
            starts: starts.into(),
            added,
            round: Round::GoOn,
            layers,
            output: args.flags.output.clone(),
            shown: Shown::Each,
            told: false,
            until: None,
            lock: kept.as_ref().map(CrawlDirectory::lock),
            watched: true,
        };
        if stored.is_some() {
            // Not only when the next sequence is due.
            session.refuse_foreign(&areas)?;
        }
        let (session, plan) = Plan::of(session, stored.as_deref(), &name)?;
        let revisit = args.revisit.map_or(Revisit::KnownFirst, RevisitChoice::revisit);
        let now = now();
        let upcoming = Upcoming::after(last.as_ref().map_or(now, |last| last.began));
        let (flags, runs) = (args.flags, args.runs);
        let mut watch = Self { session, flags, plan, upcoming, revisit, runs, stored, name, visits: None };
        if last.as_ref().is_some_and(LastSequence::is_over) {
            if watch.session.may_visit_once_more(watch.stored.as_deref())? {
                watch.visits = Visits::of(&watch.session, watch.plan.revisits.as_ref(), now);
            }
            watch.session.round = Round::Next(revisit);
        } else if last.is_some_and(|last| last.revisited) {
            watch.visits = Visits::of(&watch.session, watch.plan.revisits.as_ref(), now);
            watch.session.round = Round::OnceMore;
        } else {
            // To go on with it makes up for what was missed meanwhile.
            watch.upcoming.skip_missed(&watch.plan.schedule, now);
        }
        Ok(watch)
    }

    /// Crawls when it is time to, until a signal comes or all was done that was asked for.
    async fn run(mut self, outside: &mut Outside) -> Result<ExitCode, Failure> {
        logs::start(&self.session.settings(self.stored.as_deref())?.settings.log);
        let mut runs = 0;
        if self.session.round == Round::OnceMore {
            self.session.round = Round::Next(self.revisit);
            let end = self.visit_once_more(outside).await?;
            if matches!(end, End::Signal(_) | End::Loss) {
                return Ok(outcome::exit_code(end));
            }
        }
        loop {
            if self.session.round != Round::GoOn
                && let Some(end) = self.wait(outside).await?
            {
                return Ok(outcome::exit_code(end));
            }
            let end = self.sequence(outside).await?;
            runs += 1;
            let is_last = self.runs.is_some_and(|most| runs >= most.get());
            if is_last || matches!(end, End::Signal(_) | End::Loss) {
                return Ok(outcome::exit_code(end));
            }
            self.session.round = Round::Next(self.revisit);
        }
    }

    /// Until the next sequence is due, with the visits that are due before; or until a signal comes.
    async fn wait(&mut self, outside: &mut Outside) -> Result<Option<End>, Failure> {
        let mut told = None;
        loop {
            let Due::At(due) = self.upcoming.due(&self.plan.schedule, now()) else { return Ok(None) };
            if told.replace(due) != Some(due) {
                self.tell_next(due)?;
            }
            let visits = self.visits.as_ref().and_then(Visits::next);
            if visits.is_some_and(|visits| visits <= now()) {
                match self.visit_due(outside).await? {
                    Some(end @ (End::Signal(_) | End::Loss)) => return Ok(Some(end)),
                    Some(End::Restart | End::Aged { .. }) => {
                        // Its URL cache was full, or too old: it is filled by links again.
                        self.session.round = Round::Next(Revisit::Rediscover);
                        return Ok(None);
                    }
                    _ => continue,
                }
            }
            tokio::select! {
                biased;
                signal = outside.stop.asked() => return Ok(Some(End::Signal(signal))),
                _ = outside.hangups.recv() => self.read_again(),
                woken = outside.alarm.until(visits.map_or(due, |visits| visits.min(due))) => woken.map_err(no_timer())?,
            }
        }
    }

    /// Visits the pages that are due once more, if there are any.
    async fn visit_due(&mut self, outside: &mut Outside) -> Result<Option<End>, Failure> {
        let Some(visits) = &mut self.visits else { return Ok(None) };
        let queued = visits.queue_due(now()).await?;
        if queued == 0 {
            return Ok(None);
        }
        let end = self.visit_once_more(outside).await?;
        tracing::info!(pages = queued, end = end.as_str(), "pages were visited once more");
        Ok(Some(end))
    }

    /// Visits what is queued of the last sequence, until the next is due.
    async fn visit_once_more(&mut self, outside: &mut Outside) -> Result<End, Failure> {
        let clock = Clock::start();
        let until = match self.upcoming.due(&self.plan.schedule, clock.now()) {
            Due::At(next) => next,
            Due::Now => clock.now(),
        };
        // With the settings of the sequence.
        let session = self.visits.as_ref().map_or_else(|| self.session.clone(), |visits| visits.session().clone());
        let session = Session { round: Round::OnceMore, until: Some(until), told: true, ..session };
        let mut crawling = pin!(session.crawl(clock, outside.stop.clone()));
        let ended = loop {
            tokio::select! {
                ended = &mut crawling => break ended?,
                _ = outside.hangups.recv() => self.read_again(),
            }
        };
        self.session.lock = Some(ended.lock);
        if let Some(visits) = &mut self.visits {
            visits.expect_next(now());
        }
        Ok(ended.end)
    }

    /// Runs a sequence, and those that its reset policy has follow it, and shows the last one's summary.
    async fn sequence(&mut self, outside: &mut Outside) -> Result<End, Failure> {
        let clock = Clock::start();
        let mut upcoming = self.upcoming;
        let next = match upcoming.due(&self.plan.schedule, clock.now()) {
            Due::At(next) => next,
            Due::Now => clock.now(),
        };
        let until = (self.plan.overlap == Overlap::Restart).then_some(next);
        self.stored = Some(self.session.settings(self.stored.as_deref())?.effective.to_json());
        let (mut with, revisits) = (self.session.clone(), self.plan.revisits.clone());
        let session = Session { until, ..with.clone() };
        let mut crawling = pin!(session.sequences(clock, outside.stop.clone()));
        let mut outlasts = false;
        let ended = loop {
            tokio::select! {
                ended = &mut crawling => break ended?,
                _ = outside.hangups.recv() => self.read_again(),
                woken = outside.alarm.until(next), if !outlasts => {
                    woken.map_err(no_timer())?;
                    outlasts = now() >= next;
                    if outlasts {
                        self.warn_of_overlap(next);
                    }
                }
            }
        };
        (self.session.lock, self.session.told) = (Some(ended.lock), true);
        self.session.show(ended.end)?;
        with.lock.clone_from(&self.session.lock);
        self.visits = Visits::of(&with, revisits.as_ref(), now());
        if self.plan.overlap == Overlap::Skip {
            self.upcoming.skip_missed(&self.plan.schedule, now());
        }
        Ok(ended.end)
    }

    /// Has settings that are read anew count from the next sequence on; where they are wrong, those before stay.
    fn read_again(&mut self) {
        let session = Session { layers: self.flags.layers(), ..self.session.clone() };
        match Plan::of(session, self.stored.as_deref(), &self.name) {
            Ok((session, plan)) => {
                (self.session, self.plan) = (session, plan);
                self.tell("the settings were read again: they hold from the next sequence on");
            }
            Err(failure) => {
                outcome::tell(&format!("error: the settings read again are not used, those before stay: {failure}"));
            }
        }
    }

    fn warn_of_overlap(&self, due: Moment) {
        let what = match self.plan.overlap {
            Overlap::Skip => "it is left out",
            Overlap::Queue => "it begins right after",
            Overlap::Restart => "it begins when what is in flight has ended",
        };
        tracing::warn!(due = %self.shown(due), "a sequence outlasts its interval; the next is due: {what}");
    }

    fn tell_next(&self, due: Moment) -> Result<(), Failure> {
        let line = format!("next sequence at {}", self.shown(due));
        if self.session.output.json {
            self.tell(&line);
        } else if !self.session.output.quiet {
            outcome::print(&format!("{line}\n"))?;
        }
        Ok(())
    }

    fn tell(&self, line: &str) {
        if !self.session.output.quiet {
            outcome::tell(line);
        }
    }

    /// What clocks in the zone of the schedule show, to the second.
    fn shown(&self, moment: Moment) -> String {
        self.plan.schedule.local(moment).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    }
}

impl Plan {
    /// What the settings of a session say, and the session with one rhythm.
    fn of(mut session: Session, stored: Option<&str>, name: &str) -> Result<(Session, Self), Failure> {
        let given = session.layers.clone();
        let all = stored.map_or_else(|| given.clone(), |stored| given.clone().stored(stored));
        session.layers = given.flags(&all.weaker_rhythm()?);
        let resolved = session.settings(stored)?;
        resolved.refuse_slow_sections()?;
        let settings = resolved.settings;
        engine::check(&settings, None)?;
        let schedule = settings.schedule.schedule(name).map_err(|error| {
            Failure::Usage(match error {
                ScheduleError::NoRhythm => "say how often (--every 6h) or when (--cron '0 3 * * *')".to_owned(),
                other => other.to_string(),
            })
        })?;
        let revisits = settings.revisit.visits_between().then_some(settings.revisit);
        Ok((session, Self { schedule, overlap: settings.schedule.overlap, revisits }))
    }
}

impl WatchFlags {
    fn layers(&self) -> Layers {
        let mut crawl = self.crawl.clone();
        crawl.profile.get_or_insert_with(|| PROFILE.to_owned());
        session::layers(&crawl).flags(&self.schedule.overlay()).flags(&self.output.overlay())
    }
}

/// The wall clock now, whatever a clock that was started before has counted.
fn now() -> Moment {
    Clock::start().started()
}

fn no_timer() -> impl FnOnce(std::io::Error) -> Failure {
    Failure::system("cannot wait for a time of day")
}
