//! [`SimulatedCrawl`]: a crawl of a web over any number of runs and sequences, with kills and restarts.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use super::{
    super::core::robots::rules,
    Random,
    caller::{Simulated, SimulatedTakers},
    disk::Disk,
    faults::{HOUR, MINUTE, SECOND},
    follower::Follower,
    grow::WebPlan,
    offline::Offline,
    oracle,
    process::{self, Circumstances, Interruption, ProcessEnd, QuestionKind},
    settings::{Stage, layers},
    web::{Excluded, Given, Host, Web},
    world::World,
};
use regex::Regex;

use crate::{
    config::Settings,
    engine::{RunEnd, SharedGate},
    politeness::GateLimits,
    session::{CommandFailure, Round, Session, Start},
    store::{
        RetryFilter, Revisit, StoreError,
        sqlite::{CrawlDirectory, Records},
    },
    url::WebUrl,
};

pub(super) use super::world::{Arrival, Request, What};

/// The moment at which a simulation begins, in milliseconds.
pub(super) const BEGIN: u64 = 1_700_000_000_000;

/// Runs after which a crawl is called endless.
const MOST_RUNS: u64 = 150;

/// A run as it was.
#[derive(Debug, Clone, Copy)]
pub(super) struct Past {
    pub(super) began: u64,
    pub(super) end: Option<RunEnd>,
    /// The delay that was set for it: the next may have another.
    pub(super) delay: Duration,
}

/// What a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum NextRun {
    /// It goes on with the last sequence.
    #[default]
    GoesOn,
    /// It begins a sequence.
    Begins,
}

/// A crawl of a web, over as many runs as it takes.
pub(super) struct SimulatedCrawl {
    pub(super) web: Web,
    pub(super) requests: Vec<Request>,
    pub(super) folder: tempfile::TempDir,
    pub(super) settings: Arc<Settings>,
    /// The file that has them.
    text: String,
    pub(super) random: Random,
    pub(super) now: u64,
    pub(super) world: Arc<Mutex<World>>,
    disk: Disk,
    pub(super) takers: SimulatedTakers,
    /// The number of the present run, from 1.
    pub(super) runs: u64,
    pub(super) past: Vec<Past>,
    pub(super) sequence: u32,
    /// Runs that will be interrupted.
    pub(super) interruptions: Vec<Interruption>,
    /// Each run is the next of them; else the seed says which.
    pub(super) interrupts_always: bool,
    /// Settings that come after those in use, once a budget or a loss ends a run.
    later: Vec<Stage>,
    /// Settings before those in use had a budget of a host: others went on to deeper levels meanwhile.
    pub(super) had_host_budget: bool,
    /// Sequences that are still to come, by the plan of their webs.
    again: Option<(WebPlan, u64)>,
    /// What the next run is.
    pub(super) next: NextRun,
    /// How the sequence finds its URLs.
    pub(super) revisit: Revisit,
    /// What was known when it began, if all of that is due in it.
    pub(super) known: BTreeSet<String>,
    /// For how long pages are visited after each sequence, if they are, and how.
    pub(super) between: Option<(u64, String)>,
    /// How soon the machine is suspended in the next run, and for how long.
    pub(super) suspended: Option<(u64, u64)>,
    /// The run from which on the scope is narrower, and what it leaves out.
    narrows: Option<(u64, Excluded)>,
    /// What it leaves out by now.
    pub(super) excluded: Excluded,
    /// The run before which some URLs are removed for good, and whether they were.
    pub(super) removes: Option<u64>,
    /// The run in which the last starts are added, and when that began, if it has.
    adds: Option<u64>,
    pub(super) added: Option<u64>,
    /// The last sequence of which URLs were asked for again by hand, and the run before that.
    pub(super) retried: Option<(u32, u64)>,
}

impl SimulatedCrawl {
    pub(super) fn new(web: Web, mut stages: Vec<Stage>, mut random: Random) -> Self {
        let shared = std::path::Path::new("/dev/shm");
        let folder = if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() };
        let [servers, disk] = [Random::new(random.next()), Random::new(random.next())];
        let Stage { text, settings } = stages.remove(0);
        Self {
            world: Arc::new(Mutex::new(World::new(web.clone(), servers))),
            disk: process::disk(disk),
            takers: SimulatedTakers::default(),
            web,
            requests: Vec::new(),
            folder: folder.unwrap(),
            settings,
            text,
            random,
            now: 0,
            runs: 0,
            past: Vec::new(),
            sequence: 0,
            interruptions: Vec::new(),
            interrupts_always: false,
            later: stages,
            had_host_budget: false,
            again: None,
            next: NextRun::GoesOn,
            revisit: Revisit::Rediscover,
            known: BTreeSet::new(),
            between: None,
            suspended: None,
            narrows: None,
            removes: None,
            excluded: Excluded::Nothing,
            adds: None,
            added: None,
            retried: None,
        }
    }

    /// The same with interruptions and further sequences as the seed has them.
    pub(super) fn with_plan(mut self, plan: WebPlan) -> Self {
        self.world.lock().unwrap().spells = plan.spells();
        for _ in 0..self.random.below(4) {
            let (at, soon) = (self.random.below(90_000), self.random.below(6));
            let interruption = match self.random.below(10) {
                0..5 => Interruption::Kill(at),
                5 => Interruption::KillAt(QuestionKind::Sweep, soon),
                6 => Interruption::KillAt(QuestionKind::Fill, soon),
                7 => Interruption::KillAt(QuestionKind::Rows, soon),
                _ => Interruption::Signal(at),
            };
            self.interruptions.push(interruption);
        }
        // A draw of its own, so that a seed stays what it was.
        let mut checks = self.separate(3);
        if plan.checks_links() && checks.percent(60) {
            self.interruptions.push(Interruption::KillAt(QuestionKind::LinksToCheck, checks.below(10 * SECOND)));
        }
        if plan.checks_links() && checks.percent(40) {
            self.world.lock().unwrap().offline = Some(Offline::new(&mut checks));
        }
        let joins_late = plan.joins_late().is_some();
        self.adds = plan.adds().then(|| 2 + self.random.below(2));
        self.narrows = self.random.percent(10).then(|| (2 + self.random.below(2), Excluded::Threes));
        self.with_faults_of_its_own();
        let further = if self.random.percent(25) { 1 + self.random.below(2) } else { 0 };
        self.again = Some((plan, further));
        // Draws of their own, so that a seed stays what it was.
        self.takers.copies = self.separate(1).percent(30);
        self.takers.archive = self.separate(7).percent(25);
        self.world.lock().unwrap().follower = self.separate(2).percent(30).then(Follower::default);
        self.with_a_scarce_machine();
        let mut removes = self.separate(6);
        let may_remove = self.narrows.is_none() && !self.takers.copies && self.world.lock().unwrap().follower.is_none();
        self.removes = (may_remove && removes.percent(25)).then(|| 2 + removes.below(3));
        let mut separate = self.separate(0);
        let between = separate.percent(30).then(|| between(&mut separate));
        let length = separate.pick(&[30 * SECOND, 2 * MINUTE, 10 * MINUTE]);
        if joins_late {
            // So that much is queued when the start comes that leads there.
            self.interruptions.insert(0, Interruption::Signal(1 + separate.below(10 * SECOND)));
        }
        self.suspended = separate.percent(10).then_some((separate.below(30 * SECOND), length));
        if between.is_some() && separate.percent(50) {
            self.interruptions.insert(0, Interruption::Kill(separate.below(HOUR)));
        }
        self.between = between;
        self
    }

    /// What goes wrong with the machine that crawls.
    fn with_faults_of_its_own(&mut self) {
        let mut world = self.world.lock().unwrap();
        if self.random.percent(15) {
            for _ in 0..=self.random.below(2) {
                let from = self.random.below(60 * SECOND);
                let length = self.random.pick(&[1, 50, 2 * SECOND, 40 * SECOND]);
                world.own_faults.push((from, from + length));
            }
        }
        if self.random.percent(10) && self.settings.politeness.max_rate.is_none() {
            world.longest_wait = self.random.pick(&[20, 3 * SECOND]);
        }
        if self.random.percent(8) {
            let from = self.random.below(60 * SECOND);
            let length = self.random.pick(&[10, SECOND, 30 * SECOND]);
            self.disk.0.lock().unwrap().full = Some((from, from + length));
        }
    }

    /// The disk is nearly full for a while, or memory short.
    fn with_a_scarce_machine(&mut self) {
        let mut random = self.separate(5);
        let mut spell = || {
            let from = random.below(60 * SECOND);
            let length = random.pick(&[SECOND, 40 * SECOND, 10 * MINUTE]);
            random.percent(12).then_some((from, from + length))
        };
        self.world.lock().unwrap().scarce = [spell(), spell()];
    }

    /// Whether a host cannot be asked at a moment: it is away, or the machine that crawls is offline.
    pub(super) fn is_away(&self, origin: &str, at: u64) -> bool {
        let is_offline = || self.world.lock().unwrap().offline.is_some_and(|offline| offline.holds(at));
        self.web.trouble(origin, at).is_some() || is_offline()
    }

    /// Starts it again and again, as a user would, until all is done, and judges it.
    pub(super) fn go_on_to_the_end(&mut self) -> Result<(), String> {
        for (origin, Host { outages, strain, robots, .. }) in &self.web.hosts {
            tracing::info!(origin, ?outages, ?strain, ?robots, "a host");
        }
        tracing::info!(settings = self.text, "settings");
        loop {
            self.runs += 1;
            let began = self.now;
            let end = self.run()?;
            self.past.push(Past { began, end, delay: self.settings.politeness.delay });
            tracing::info!(run = self.runs, ?end, now = self.now, "the run ended");
            oracle::justify(self, end)?;
            match end {
                // What was not added or left out yet is so now.
                Some(RunEnd::Drained) if self.has_more_to_say() => self.now += SECOND,
                Some(RunEnd::Drained) if !self.was_abandoned() => {
                    oracle::judge_sequence(self)?;
                    if !self.retry() && !self.begin_again() {
                        return oracle::judge(self);
                    }
                }
                Some(RunEnd::Signal(1..)) | None => {
                    let most = self.random.pick(&[10, 500, 60_000]);
                    self.now += 1 + self.random.below(most);
                }
                // Each time longer: a host may have asked for a month.
                Some(RunEnd::Drained | RunEnd::Unreachable | RunEnd::Failed | RunEnd::Signal(_)) => {
                    let waits = |past: &&Past| {
                        !matches!(past.end, None | Some(RunEnd::Signal(1..) | RunEnd::Budget | RunEnd::Loss))
                    };
                    let times = 1 << self.past.iter().rev().take_while(waits).count().min(16);
                    self.now += 1_000 + self.random.below(200_000) * times;
                }
                Some(RunEnd::Budget | RunEnd::Loss) => self.raise(end)?,
                Some(other) => return Err(format!("ended with {other:?}")),
            }
            if self.runs > MOST_RUNS {
                return Err(format!("too many runs, the last ended {end:?} at {}", self.now));
            }
        }
    }

    /// Whether a start is still to be added, or the scope to be narrowed: in the next run.
    fn has_more_to_say(&mut self) -> bool {
        let adds = self.adds.as_mut().filter(|_| self.added.is_none());
        let narrows = self.narrows.as_mut().filter(|_| self.excluded == Excluded::Nothing).map(|(run, _)| run);
        let removes = self.removes.as_mut().filter(|_| self.excluded == Excluded::Nothing);
        let later = adds.into_iter().chain(narrows).chain(removes).map(|run| *run = self.runs + 1).count();
        later > 0
    }

    /// What the scope of a run leaves out.
    pub(super) fn left_out_in(&self, run: u64) -> Excluded {
        let removed = self.removes.filter(|from| *from <= run).map_or(Excluded::Nothing, |_| self.excluded);
        self.narrows.filter(|(from, _)| *from <= run).map_or(removed, |(_, excluded)| excluded)
    }

    /// Removes some URLs for good, as a user may between two runs.
    fn remove_some(&mut self) {
        let is_now = self.removes.is_some_and(|run| run <= self.runs) && self.excluded == Excluded::Nothing;
        if !is_now || !CrawlDirectory::exists(self.folder.path()) {
            return;
        }
        let (before, some) = (self.all_rows(), Regex::new("^https?://[^o/][^/]*/(.*/)?[24]\\d*$").unwrap());
        match CrawlDirectory::open(self.folder.path()).unwrap().remove_urls(&some) {
            Ok(_) => {}
            Err(StoreError::IsStart { .. }) => return self.removes = None,
            Err(error) => panic!("{error}"),
        }
        let after = self.all_rows();
        let removed: BTreeSet<_> = before.difference(&after).cloned().collect();
        tracing::info!(?removed, "removed");
        self.known.retain(|url| !removed.contains(url));
        self.excluded = Excluded::Removed(Box::leak(Box::new(removed)));
        self.removes = Some(self.runs);
    }

    /// Random numbers apart from those of the crawl.
    fn separate(&self, number: u64) -> Random {
        Random::new(self.random.clone().next().rotate_left(7) ^ number)
    }

    /// Requests of the last sequence, and of visits after it.
    pub(super) fn in_sequence(&self) -> impl DoubleEndedIterator<Item = &Request> {
        self.requests.iter().filter(|request| request.sequence == self.sequence)
    }

    /// Runs in which something was asked for the last sequence.
    pub(super) fn runs_of_sequence(&self) -> impl Iterator<Item = u64> {
        self.requests.iter().filter(|request| request.sequence == self.sequence).map(|request| request.run)
    }

    /// Has what came to nothing be asked for again, once in a sequence, as a user may; whether anything is.
    fn retry(&mut self) -> bool {
        let mut chance = self.separate(4);
        if self.again.is_none() || self.retried.is_some_and(|(sequence, _)| sequence == self.sequence) {
            return false;
        }
        let outcomes =
            chance.pick(&[&RetryFilter::OUTCOMES[..], &RetryFilter::OUTCOMES[..2], &RetryFilter::OUTCOMES[2..]]);
        let filter = RetryFilter { outcomes: outcomes.to_vec(), status: None, matching: None, until: None };
        if !chance.percent(25) {
            return false;
        }
        self.now += 1 + chance.below(HOUR);
        let counts = CrawlDirectory::open(self.folder.path()).unwrap().retry(&filter).unwrap();
        tracing::info!(?counts, "asked for again");
        self.retried = Some((self.sequence, self.runs));
        !counts.is_empty()
    }

    /// Begins the next sequence, if there is to be one, with a web that has changed.
    fn begin_again(&mut self) -> bool {
        let Some((plan, further)) = self.again.take().filter(|(_, further)| *further > 0) else { return false };
        self.now += 1_000 + self.random.below(3_600_000);
        self.web = plan.web(self.now, &mut self.random);
        self.world.lock().unwrap().change(self.web.clone());
        (self.next, self.again) = (NextRun::Begins, Some((plan, further - 1)));
        self.revisit = self.random.pick(&[Revisit::KnownFirst, Revisit::KnownFirst, Revisit::Rediscover]);
        self.known = if self.revisit == Revisit::KnownFirst { self.all_rows() } else { BTreeSet::new() };
        // As one may say between two rounds.
        let delay = self.random.pick(&["0s", "100ms", "1s"]);
        if let Some(rest) = self.random.percent(30).then(|| self.text.split_once("\ndelay = \"")).flatten()
            && let Some((_, after)) = rest.1.split_once('"')
        {
            let Stage { text, settings } = Stage::new(&format!("{}\ndelay = \"{delay}\"{after}", rest.0));
            (self.text, self.settings) = (text, settings);
        }
        true
    }

    /// Goes on with the next settings.
    fn raise(&mut self, end: Option<RunEnd>) -> Result<(), String> {
        if self.later.is_empty() {
            return Err(format!("ended with {end:?}"));
        }
        self.had_host_budget |=
            self.settings.budget.max_pages_per_host.is_some() || !self.settings.scope.sections.is_empty();
        let Stage { text, settings } = self.later.remove(0);
        (self.text, self.settings) = (text, settings);
        self.now += 1_000;
        Ok(())
    }

    /// Whether the next start has something to try again.
    fn was_abandoned(&self) -> bool {
        let records = Records::open(self.folder.path()).unwrap();
        let connection = records.connection();
        let query =
            "SELECT EXISTS (SELECT 1 FROM url WHERE reason = 'no_name' AND state = 'abandoned' AND admitted_in = ?
                     AND url NOT LIKE 'http://elsewhere.test/%')";
        connection.query_row(query, [self.sequence], |row| row.get(0)).unwrap()
    }

    fn all_rows(&self) -> BTreeSet<String> {
        self.rows("true")
    }

    fn rows(&self, condition: &str) -> BTreeSet<String> {
        let records = Records::open(self.folder.path()).unwrap();
        let mut select =
            records.connection().prepare(&format!("SELECT coalesce(key, url) FROM url WHERE {condition}")).unwrap();
        let rows = select.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// The interruption of the next run, if it has one.
    fn interruption(&mut self) -> Option<Interruption> {
        if self.interruptions.is_empty() || !(self.interrupts_always || self.random.percent(70)) {
            return None;
        }
        Some(match self.interruptions.remove(0) {
            // What it does first, it does at once.
            Interruption::Kill(pause) => Interruption::Kill(self.now + 1 + pause),
            Interruption::Signal(pause) => Interruption::Signal(self.now + pause),
            question @ Interruption::KillAt(..) => question,
        })
    }

    /// One process, from its start to its end; `None` when it was killed.
    pub(super) fn run(&mut self) -> Result<Option<RunEnd>, String> {
        let outside = Circumstances {
            interruption: self.interruption(),
            grace: Duration::from_millis(self.random.pick(&[10, 5_000, 60_000])),
            suspend: self.suspended.take().map(|(pause, length)| (self.now + pause, length)),
            between: self.between.as_ref().map(|(length, _)| *length),
        };
        self.remove_some();
        self.begin_world();
        // Those of the host asked last alone.
        let usual = rules::MOST.replace(if self.random.percent(20) { 1 } else { 16 << 20 });
        let session = self.session();
        let (ended, now) = process::run(session, self.now, &outside);
        rules::MOST.set(usual);
        self.now = now;
        let sequence = self.world.lock().unwrap().sequence;
        if sequence != self.sequence {
            // The URL cache was full or too old.
            (self.sequence, self.revisit) = (sequence, Revisit::Rediscover);
            self.known.clear();
        }
        self.requests.append(&mut self.world.lock().unwrap().requests);
        match ended? {
            // Visits after it may have found pages, or come to an end with those that were left.
            ProcessEnd::By(RunEnd::Drained | RunEnd::Unreachable) if self.has_ended_as("budget") => {
                Ok(Some(RunEnd::Signal(0)))
            }
            ProcessEnd::By(RunEnd::Unreachable) if self.has_ended_as("drained") => Ok(Some(RunEnd::Drained)),
            ProcessEnd::By(end) => Ok(Some(end)),
            // Who is asked to stop while starting leaves what a kill does.
            ProcessEnd::Killed | ProcessEnd::Failed(CommandFailure::Interrupted(_)) => Ok(None),
            ProcessEnd::Failed(_) if self.disk.0.lock().unwrap().was_full => Ok(None),
            ProcessEnd::Failed(failure) => Err(failure.to_string()),
        }
    }

    fn has_ended_as(&self, word: &str) -> bool {
        let records = Records::open(self.folder.path()).unwrap();
        let query = "SELECT end IS ? FROM sequence ORDER BY n DESC LIMIT 1";
        records.connection().query_row(query, [word], |row| row.get(0)).unwrap()
    }

    /// Small files, so that there are several.
    fn archive_settings(&self) -> &'static str {
        if self.takers.archive { "[archive]\nformat = \"warc\"\nfile_size = \"1MiB\"\n" } else { "" }
    }

    /// Settings with those of visits between sequences.
    fn with_between(&self, text: &str) -> String {
        let Some((_, how)) = &self.between else { return text.to_owned() };
        text.replace("[revisit]\n", &format!("[revisit]\n{how}"))
    }

    /// Forgets when the writer was at work: over months it is much.
    pub(super) fn forget_the_writer(&mut self) {
        self.disk.0.lock().unwrap().busy = Vec::new();
    }

    /// Whether the writer was at work between two moments.
    pub(super) fn writer_was_busy(&self, from: u64, to: u64) -> bool {
        self.disk.0.lock().unwrap().was_busy(from, to)
    }

    /// How often the URL cache was filled from the URL table.
    pub(super) fn fillings(&self) -> u64 {
        self.disk.0.lock().unwrap().fillings
    }

    fn session(&mut self) -> Session<Simulated> {
        let start = |start: &Given| {
            let url = WebUrl::parse(&start.url).unwrap();
            Start { url, guessed: start.guessed, credentials: None }
        };
        if self.adds.is_some_and(|run| run <= self.runs) {
            self.added.get_or_insert(self.now);
        }
        if let Some((_, excluded)) = self.narrows.filter(|(run, _)| *run <= self.runs) {
            self.excluded = excluded;
        }
        let (added, given): (Vec<_>, Vec<_>) = self.web.starts.iter().partition(|start| start.is_added);
        let added = if self.added.is_some() { added } else { Vec::new() };
        let round = match std::mem::take(&mut self.next) {
            NextRun::Begins => Round::Next(self.revisit),
            NextRun::GoesOn => Round::GoOn,
        };
        let caller = Simulated {
            world: Arc::clone(&self.world),
            disk: self.disk.clone(),
            random: Arc::new(Mutex::new(Random::new(self.random.next()))),
            gate: Arc::new(SharedGate::new(GateLimits::default())),
            takers: self.takers,
            is_followed: self.world.lock().unwrap().follower.is_some(),
        };
        Session {
            dir: self.folder.path().to_owned(),
            starts: Arc::new(given.into_iter().map(start).collect()),
            added: added.into_iter().map(start).collect(),
            round,
            retry: None,
            layers: layers(
                &self.with_between(&(self.text.clone() + self.excluded.settings() + self.archive_settings())),
            ),
            announced: true,
            watched: self.between.is_some(),
            until: None,
            auth: None,
            lock: None,
            caller,
        }
    }

    /// The world hears which run it is, and of which sequence.
    fn begin_world(&mut self) {
        let last = self.last_sequence();
        if last.as_ref().is_some_and(|(_, end)| end.as_deref() == Some("failed") && self.next != NextRun::Begins) {
            // No start gave a page: the next sequence asks for them again.
            (self.next, self.revisit) = (NextRun::Begins, Revisit::KnownFirst);
            self.known = self.all_rows();
        }
        self.sequence = last.map_or(0, |(last, _)| last + u32::from(self.next == NextRun::Begins));
        let mut world = self.world.lock().unwrap();
        (world.run, world.sequence) = (self.runs, self.sequence);
        self.disk.0.lock().unwrap().was_full = false;
    }

    /// Number and end of the last sequence.
    fn last_sequence(&self) -> Option<(u32, Option<String>)> {
        let records = CrawlDirectory::exists(self.folder.path()).then(|| Records::open(self.folder.path()).unwrap())?;
        let query = "SELECT n, end FROM sequence ORDER BY n DESC LIMIT 1";
        Some(records.connection().query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap())
    }
}

/// For how long pages are visited after a sequence, and how.
fn between(random: &mut Random) -> (u64, String) {
    let budget = random.pick(&["1/day", "2000/day", "100000/day"]);
    let policy = random.pick(&["fixed", "multiplicative", "optimal"]);
    let adaptive = format!("adaptive = \"on\"\nbudget = \"{budget}\"\npolicy = \"{policy}\"\nmin_interval = \"1m\"\n");
    let sections = "sections = [\"[02468]$=10m\", \"/=25m\"]\n".to_owned();
    let how = random.pick(&[0, 1, 2]);
    let text = [&*adaptive, &sections, &(adaptive.clone() + &sections)][how].to_owned();
    (random.pick(&[10 * SECOND, 20 * MINUTE, HOUR]), text)
}
