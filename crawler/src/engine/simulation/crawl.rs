//! [`Crawl`]: a crawl of a web over as many runs and sequences as it takes, with kills and restarts.

use std::{
    collections::{BTreeSet, HashSet},
    sync::{Arc, Mutex},
    time::Duration,
};

use super::{
    super::core::{End, Setup, Start, ranking},
    Random,
    faults::{HOUR, MINUTE, SECOND},
    fetcher::Moments,
    grow::Plan,
    oracle,
    process::{Asked, Interruption, Process},
    web::{Host, Web},
};
use crate::{
    config::Settings,
    engine::run::change_rules,
    extract::Omitted,
    queue::Purpose,
    revisit::{Bounds, Budget, Fixed, GivenIntervals, Multiplicative, Optimal, RevisitPolicy},
    robots::ProductToken,
    store::{
        AreaRow, AreaSource, Errs, NewCrawl, NextSequence, Revisit, RevisitOrder, RunStart, SecondLooks, Store,
        WriterSettings,
        sqlite::{CrawlDirectory, Records, Writer},
    },
    time::Moment,
    url::{Canonicalizer, FingerprintSeed, WebUrl},
};

/// The moment at which a simulation begins, in milliseconds.
pub(super) const BEGIN: u64 = 1_700_000_000_000;

/// Runs after which a crawl is called endless.
const MOST_RUNS: u64 = 150;

/// A request as the servers saw it.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) run: u64,
    pub(super) sequence: u32,
    pub(super) origin: String,
    pub(super) url: String,
    pub(super) purpose: Purpose,
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) what: What,
    /// What became of it.
    pub(super) reach: Arrival,
    /// The pause that its answer asked for, in seconds.
    pub(super) pause: Option<u64>,
}

/// What its answer was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// The last word on its URL.
    Final,
    /// A body that was cut short.
    Cut,
    /// None, or one that says that it cannot serve now.
    Trouble,
}

/// Where a request came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// Its server was at work on it.
    Served,
    /// Its server does not bear so many.
    Refused,
    /// Its server was away, or down.
    Away,
}

/// A run as it was.
#[derive(Debug, Clone, Copy)]
pub(super) struct Past {
    pub(super) began: u64,
    pub(super) end: Option<End>,
}

/// A crawl of a web, over as many runs as it takes.
pub(super) struct Crawl {
    pub(super) web: Web,
    pub(super) requests: Vec<Request>,
    pub(super) folder: tempfile::TempDir,
    pub(super) settings: Arc<Settings>,
    pub(super) random: Random,
    pub(super) now: u64,
    pub(super) moments: Arc<Mutex<Moments>>,
    /// The number of the present run, from 1.
    pub(super) runs: u64,
    pub(super) past: Vec<Past>,
    pub(super) sequence: u32,
    /// Runs that will be interrupted.
    pub(super) interruptions: Vec<Interruption>,
    /// Each run is the next of them; else the seed says which.
    pub(super) interrupts_always: bool,
    /// Settings that come after those in use, once a budget or a loss ends a run.
    later: Vec<Arc<Settings>>,
    /// Settings before those in use had a budget of a host: others went on to deeper levels meanwhile.
    pub(super) had_host_budget: bool,
    /// Sequences that are still to come, by the plan of their webs.
    again: Option<(Plan, u64)>,
    /// The next run begins a sequence.
    pub(super) begins: bool,
    /// How the sequence finds its URLs.
    pub(super) revisit: Revisit,
    /// What was known when it began, if all of that is due in it.
    pub(super) known: BTreeSet<String>,
    /// Batches of single pages that are visited once more, after this sequence or a later one.
    batches: u64,
    /// The pages of the last of them.
    due: BTreeSet<String>,
    /// How soon the machine is suspended in the next run, and for how long.
    pub(super) suspended: Option<(u64, u64)>,
}

impl Crawl {
    pub(super) fn new(web: Web, mut stages: Vec<Arc<Settings>>, random: Random) -> Self {
        let shared = std::path::Path::new("/dev/shm");
        let folder = if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() };
        let moments = Arc::new(Mutex::new(Moments::new(web.clone())));
        let settings = stages.remove(0);
        Self {
            web,
            requests: Vec::new(),
            folder: folder.unwrap(),
            settings,
            random,
            now: 0,
            moments,
            runs: 0,
            past: Vec::new(),
            sequence: 0,
            interruptions: Vec::new(),
            interrupts_always: false,
            later: stages,
            had_host_budget: false,
            again: None,
            begins: false,
            revisit: Revisit::Rediscover,
            known: BTreeSet::new(),
            batches: 0,
            due: BTreeSet::new(),
            suspended: None,
        }
    }

    /// The same with interruptions and further sequences as the seed has them.
    pub(super) fn with_plan(mut self, plan: Plan) -> Self {
        for _ in 0..self.random.below(4) {
            let (at, soon) = (self.random.below(90_000), self.random.below(6));
            let interruption = match self.random.below(10) {
                0..5 => Interruption::Kill(at),
                5 => Interruption::KillAt(Asked::Sweep, soon),
                6 => Interruption::KillAt(Asked::Fill, soon),
                7 => Interruption::KillAt(Asked::Rows, soon),
                _ => Interruption::Signal(at),
            };
            self.interruptions.push(interruption);
        }
        let further = if self.random.percent(25) { 1 + self.random.below(2) } else { 0 };
        self.again = Some((plan, further));
        // Draws of their own, so that a seed stays what it was.
        let mut besides = self.besides(0);
        self.batches = if besides.percent(30) { 1 + besides.below(3) } else { 0 };
        let length = besides.pick(&[30 * SECOND, 2 * MINUTE, 10 * MINUTE]);
        self.suspended = besides.percent(10).then_some((besides.below(30 * SECOND), length));
        self
    }

    /// Starts it again and again, as a user would, until all is done, and judges it.
    pub(super) fn go_on_to_the_end(&mut self) -> Result<(), String> {
        for (origin, Host { outages, strain, robots, .. }) in &self.web.hosts {
            tracing::info!(origin, ?outages, ?strain, ?robots, "a host");
        }
        loop {
            self.runs += 1;
            let began = self.now;
            let end = self.run()?;
            self.past.push(Past { began, end });
            tracing::info!(run = self.runs, ?end, now = self.now, "the run ended");
            oracle::justify(self, end)?;
            match end {
                Some(End::Drained) if !self.was_abandoned() => {
                    oracle::judge_sequence(self)?;
                    self.each_due_was_visited()?;
                    if !self.visit_once_more() && !self.begin_again() {
                        return oracle::judge(self);
                    }
                }
                Some(End::Signal(_)) | None => {
                    let most = self.random.pick(&[10, 500, 60_000]);
                    self.now += 1 + self.random.below(most);
                }
                // Each time longer: a host may have asked for a month.
                Some(End::Drained | End::Unreachable | End::Failed) => {
                    let times = 1 << self.past.iter().rev().take_while(|past| past.end == end).count().min(16);
                    self.now += 1_000 + self.random.below(200_000) * times;
                }
                Some(End::Budget | End::Loss) => self.raise(end)?,
                Some(End::Restart) => {
                    (self.begins, self.revisit) = (true, Revisit::Rediscover);
                    self.known.clear();
                }
                Some(other) => return Err(format!("ended with {other:?}")),
            }
            if self.runs > MOST_RUNS {
                return Err(format!("too many runs, the last ended {end:?} at {}", self.now));
            }
        }
    }

    /// Chance that is not that of the others.
    fn besides(&self, number: u64) -> Random {
        Random::new(self.random.clone().next().rotate_left(7) ^ number)
    }

    /// Has some pages visited once more, if there are to be any: another policy each time, and maybe with a kill.
    fn visit_once_more(&mut self) -> bool {
        let Some(left) = self.batches.checked_sub(1) else { return false };
        self.batches = left;
        let mut besides = self.besides(1 + left);
        self.now += SECOND + besides.below(HOUR);
        let (classed_by, mut policy): (_, Box<dyn RevisitPolicy>) = match besides.below(3) {
            0 => ("fixed", Box::new(Fixed::default())),
            1 => ("multiplicative", Box::new(Multiplicative::default())),
            _ => ("optimal", Box::new(Optimal::new(Bounds::default(), Optimal::EXPLORE))),
        };
        let order = RevisitOrder {
            at: self.moment(),
            budget: Budget::per_day(1e6).unwrap(),
            most: besides.pick(&[1, 5, 1_000]),
            exploring: besides.pick(&[0, 2]),
            soonest: Duration::from_secs(1),
            given: GivenIntervals::default(),
            most_given: 0,
            classed_by: classed_by.to_owned(),
        };
        let mut directory = CrawlDirectory::open(self.folder.path()).unwrap();
        let change = &self.settings.change;
        let looks = SecondLooks { at: order.at, confirm: change.confirm, gone_after: change.gone_after };
        let due = directory.queue_due(Some((&mut *policy, &order)), &looks).unwrap();
        let queued = due.queued + due.looks;
        drop(directory);
        self.requests.clear();
        self.due = self.rows("state = 'queued'");
        assert_eq!(self.due.len(), queued, "each is queued once");
        if besides.percent(50) {
            self.interruptions.insert(0, Interruption::Kill(besides.below(5 * SECOND)));
        }
        queued > 0
    }

    /// What was queued once more was asked for, unless its host forbids it by now.
    fn each_due_was_visited(&mut self) -> Result<(), String> {
        let left = self.rows("state = 'abandoned'");
        let asked =
            |url: &String| self.requests.iter().any(|request| request.url == *url && request.purpose.is_counted());
        if let Some(url) = self.due.iter().find(|url| !asked(url) && !left.contains(*url)) {
            return Err(format!("{url} was due once more, and nobody asked for it"));
        }
        self.due.clear();
        Ok(())
    }

    /// Begins the next sequence, if there is to be one, with a web that has changed.
    fn begin_again(&mut self) -> bool {
        let Some((plan, further)) = self.again.take().filter(|(_, further)| *further > 0) else { return false };
        self.now += 1_000 + self.random.below(3_600_000);
        self.web = plan.web(self.now, &mut self.random);
        *self.moments.lock().unwrap() = Moments::new(self.web.clone());
        (self.begins, self.again) = (true, Some((plan, further - 1)));
        self.revisit = self.random.pick(&[Revisit::KnownFirst, Revisit::KnownFirst, Revisit::Rediscover]);
        self.known = if self.revisit == Revisit::KnownFirst { self.all_rows() } else { BTreeSet::new() };
        true
    }

    /// Goes on with the next settings.
    fn raise(&mut self, end: Option<End>) -> Result<(), String> {
        if self.later.is_empty() {
            return Err(format!("ended with {end:?}"));
        }
        self.had_host_budget |= self.settings.budget.max_pages_per_host.is_some();
        self.settings = self.later.remove(0);
        self.now += 1_000;
        Ok(())
    }

    /// Whether the next start has something to try again.
    fn was_abandoned(&self) -> bool {
        let records = Records::open(self.folder.path()).unwrap();
        let connection = records.connection();
        let query =
            "SELECT EXISTS (SELECT 1 FROM url WHERE reason = 'no_name' AND state = 'abandoned' AND admitted_in = ?)";
        connection.query_row(query, [self.sequence], |row| row.get(0)).unwrap()
    }

    fn all_rows(&self) -> BTreeSet<String> {
        self.rows("true")
    }

    fn rows(&self, condition: &str) -> BTreeSet<String> {
        let records = Records::open(self.folder.path()).unwrap();
        let mut select = records.connection().prepare(&format!("SELECT url FROM url WHERE {condition}")).unwrap();
        let rows = select.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    pub(super) fn moment(&self) -> Moment {
        Moment::from_millis(BEGIN + self.now)
    }

    /// The interruption of the next run, if it has one.
    fn interruption(&mut self) -> Option<Interruption> {
        if self.interruptions.is_empty() || !(self.interrupts_always || self.random.percent(70)) {
            return None;
        }
        Some(match self.interruptions.remove(0) {
            Interruption::Kill(pause) => Interruption::Kill(self.now + pause),
            Interruption::Signal(pause) => Interruption::Signal(self.now + pause),
            question @ Interruption::KillAt(..) => question,
        })
    }

    /// One process, from its start to its end; `None` when it was killed.
    pub(super) fn run(&mut self) -> Result<Option<End>, String> {
        let interruption = self.interruption();
        let mut directory = CrawlDirectory::open(self.folder.path()).map_err(|error| error.to_string())?;
        self.prepare(&mut directory);
        let starts = self.new_starts(&directory);
        directory.retry_abandoned().unwrap();
        directory.rank_by(&ranking(&self.settings)).unwrap();
        let resumed = directory.resume(self.settings.budget.max_depth).unwrap().unwrap();
        let (sequence, counters) = (resumed.sequence, resumed.counters.clone());
        self.sequence = sequence;
        let now = self.moment();
        let setup = Setup { resumed, settings: Arc::clone(&self.settings), started: now, now };
        let mut core = setup.core(ProductToken::new("webloom").unwrap()).map_err(|error| error.to_string())?;
        if self.random.percent(20) {
            // Those of the host asked last alone.
            core.keep_rules_within(1);
        }
        let cache = if core.is_exact() { Errs::Never } else { Errs::Sometimes };
        let sample = self.settings.cache.audit_sample;
        let audit_sample = (sample > 0).then_some(sample);
        let text_rule = self.settings.keeps_texts().then(|| Omitted::default().rule());
        directory.begin_run(RunStart { cache, audit_sample, forgets: core.forgets(), text_rule }).unwrap();
        let commit_steps = usize::try_from(1 + self.random.below(20)).unwrap();
        let commit_every = Duration::from_mins(1);
        let changes = change_rules(&self.settings.change);
        let keep_sequences = self.settings.store.keep_sequences;
        let settings = WriterSettings {
            commit_every,
            commit_steps,
            checkpoint_every: commit_every,
            sequence,
            counters,
            changes,
            keep_sequences,
        };
        let mut writer = Writer::new(directory, settings);
        writer.take_over().unwrap();
        Process::new(self, core, writer, interruption).drive(starts)
    }

    /// Makes the crawl, or begins its next sequence.
    fn prepare(&mut self, directory: &mut CrawlDirectory) {
        let areas = self.web.starts.iter().map(|start| {
            let source = if start.guessed { AreaSource::GuessedStart } else { AreaSource::Start };
            AreaRow { url: start.url.clone(), source }
        });
        let areas: Vec<_> = areas.collect();
        if directory.settings().unwrap().is_none() {
            let crawl = NewCrawl {
                at: self.moment(),
                fingerprint_seed: FingerprintSeed::new(self.random.next()),
                key_rules: Canonicalizer::default(),
                hash_seed: self.random.next(),
                settings: "{}".into(),
                areas,
            };
            directory.create(&crawl).unwrap();
        } else if std::mem::take(&mut self.begins) {
            let next = NextSequence {
                at: self.moment(),
                settings: "{}".into(),
                areas,
                revisit: self.revisit,
                links_stay: true,
            };
            directory.begin_sequence(&next).unwrap();
        }
    }

    /// The starts that the sequence has not admitted yet.
    fn new_starts(&self, directory: &CrawlDirectory) -> Vec<Start> {
        let seed = directory.fingerprint_seed().unwrap().unwrap();
        let starts = self.web.starts.iter().map(|start| (WebUrl::parse(&start.url).unwrap(), start.guessed));
        let print = |url: &WebUrl| seed.fingerprint(&Canonicalizer::default().key(url));
        let all: HashSet<_> = starts.clone().map(|(url, _)| print(&url)).collect();
        let admitted = directory.admitted(&all).unwrap();
        let new = starts.filter(|(url, _)| !admitted.contains(&print(url)));
        new.map(|(url, guessed)| Start { url, guessed, credentials: None }).collect()
    }
}
