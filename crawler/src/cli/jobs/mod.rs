//! `webloom watch --jobs`: several crawls in one process, each on its own schedule.
//!
//! Owns: the file of the jobs, which of them run, and what signals ask of all of them.
//!
//! Invariants: no two jobs share a directory; a failure of one job ends no other; a faulty file changes nothing; the directory of a job
//! goes to another only after the last commit of the first.
//!
//! Does not know: when a crawl is due, how it is watched, how requests wait for each other.

mod job;
mod read;

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::{
    sync::{mpsc, watch},
    task::{Id, JoinSet},
};
use tracing::Instrument;

pub(super) use self::read::AskedJobs;

use self::read::{CrawlJob, Jobs};
use super::{
    CommandFailure,
    among::{Among, Share},
    open_files,
    outcome::{self, Voice},
    signals,
    watch::{
        rounds::{Outside, WatchOrder, no_timer},
        site::Given,
    },
};
use crate::{
    clock::SystemWall,
    engine::SharedGate,
    monitor::{self, Roster},
    observe::logs,
    politeness::Member,
};

/// Exit codes of jobs, the worst first: of several jobs the worst is the program's.
const WORST_FIRST: [u8; 5] = [1, 2, 3, 4, 0];

/// The jobs that run, and those that are to.
struct AllJobs {
    asked: AskedJobs,
    gate: Arc<SharedGate>,
    roster: Roster,
    tasks: JoinSet<u8>,
    /// Those whose tasks have not ended, also those asked to end.
    running: HashMap<Id, Running>,
    /// Those whose directory another one has still.
    waiting: Vec<CrawlJob>,
    /// Exit codes of those that ended by themselves, by name.
    ended: HashMap<String, u8>,
    /// How many the file names.
    crawls: Arc<AtomicU64>,
    /// How many have begun.
    begun: u32,
}

/// A job that runs.
struct Running {
    name: String,
    dir: PathBuf,
    voice: Voice,
    orders: mpsc::Sender<WatchOrder<Given>>,
    stop: watch::Sender<Option<i32>>,
    /// Whether it was asked to end.
    leaves: bool,
}

/// Runs the jobs of a file.
pub(super) fn run(asked: AskedJobs, listen: Option<&str>) -> Result<ExitCode, CommandFailure> {
    let jobs = Jobs::read(&asked).map_err(|fault| fault.failure)?;
    let roster = monitor::listen(listen)?;
    open_files::raise();
    // A crawl that reads a large table at its start keeps its thread for as long: the others have another.
    let built = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = built.map_err(CommandFailure::system("cannot start the runtime"))?;
    runtime.block_on(AllJobs::new(asked, &jobs, roster).run(jobs))
}

impl AllJobs {
    fn new(asked: AskedJobs, jobs: &Jobs, roster: Roster) -> Self {
        Self {
            roster,
            asked,
            gate: Arc::new(SharedGate::new(jobs.limits)),
            tasks: JoinSet::new(),
            running: HashMap::new(),
            waiting: Vec::new(),
            ended: HashMap::new(),
            crawls: Arc::new(AtomicU64::new(jobs.list.len() as u64)),
            begun: 0,
        }
    }

    /// Runs until each job has ended, or a signal comes.
    async fn run(mut self, jobs: Jobs) -> Result<ExitCode, CommandFailure> {
        let mut stop = signals::stop_signal()?;
        let mut asked = signals::asked()?;
        logs::start(&jobs.log, self.asked.flags.output.color.color());
        self.waiting = jobs.list;
        self.begin_waiting();
        let mut stopped = None;
        loop {
            tokio::select! {
                biased;
                signal = stop.asked(), if stopped.is_none() => {
                    stopped = Some(signal);
                    self.waiting.clear();
                    self.running.values_mut().for_each(|job| job.end(signal));
                }
                ended = self.tasks.join_next_with_id() => match ended {
                    Some(Ok((id, code))) => self.has_ended(id, code),
                    Some(Err(error)) => self.has_ended(error.id(), PANICKED),
                    None => break,
                },
                Some(asked) = asked.recv(), if stopped.is_none() => match asked {
                    signals::SignalOrder::ReadAgain => self.read_again(),
                    signals::SignalOrder::Begin => self.running.values().for_each(|job| job.order(WatchOrder::Begin)),
                },
            }
            self.begin_waiting();
        }
        let code = stopped.map_or_else(|| worst(self.ended.values().copied()), outcome::signal_code);
        Ok(ExitCode::from(code))
    }

    /// Begins those whose directories are free.
    fn begin_waiting(&mut self) {
        let is_free =
            |job: &CrawlJob| self.running.values().all(|other| other.dir != job.dir && other.name != job.name);
        let (free, waiting) = std::mem::take(&mut self.waiting).into_iter().partition(is_free);
        self.waiting = waiting;
        for job in free {
            let (name, dir) = (job.name.clone(), job.dir.clone());
            if let Err(failure) = self.begin(job) {
                self.roster.seat_of(&name, &dir).has_failed(&failure.to_string());
                Voice::of_job(&name).tell(&format!("error: {failure}; send SIGHUP to try again"));
                self.ended.insert(name, failure.code());
            }
        }
    }

    fn begin(&mut self, job: CrawlJob) -> Result<(), CommandFailure> {
        let CrawlJob { name, dir, given } = job;
        let voice = Voice::of_job(&name);
        let member = Member(self.begun);
        self.begun += 1;
        let share = Share { gate: Arc::clone(&self.gate), member, crawls: Arc::clone(&self.crawls) };
        let seat = self.roster.seat_of(&name, &dir);
        let among = Among { voice: voice.clone(), share: Some(share), seat, ..Among::default() };
        let (stop, stops) = watch::channel(None);
        let (orders, receiver) = mpsc::channel(signals::MOST_ASKED);
        let time = SystemWall::new().map_err(no_timer())?;
        let outside = Outside { stop: signals::stopped_by(stops), orders: receiver, time };
        let span = tracing::info_span!("watch", job = %name);
        self.ended.remove(&name);
        let task = self.tasks.spawn(job::run(given, among, outside).instrument(span));
        self.running.insert(task.id(), Running { name, dir, voice, orders, stop, leaves: false });
        Ok(())
    }

    fn has_ended(&mut self, id: Id, code: u8) {
        let Some(job) = self.running.remove(&id) else { return };
        match code {
            PANICKED => job.voice.tell("error: a bug in Webloom ended the job; please report it"),
            LOSS if !job.leaves => {
                job.voice.tell("error: the loss policy ended the job; send SIGHUP to begin it again");
            }
            _ => {}
        }
        if !job.leaves {
            if code == PANICKED {
                self.roster.seat_of(&job.name, &job.dir).has_failed("a bug in Webloom ended the job");
            }
            self.ended.insert(job.name, if code == PANICKED { 1 } else { code });
        }
    }

    /// Begins, ends and changes jobs as the file says now; where it is wrong, all stays as it is.
    fn read_again(&mut self) {
        let jobs = match Jobs::read(&self.asked) {
            Ok(jobs) => jobs,
            Err(fault) => {
                let why = fault.failure.to_string().replace('\n', "; ");
                outcome::tell(&format!("error: the new jobs have a fault, so all jobs stay as they were: {why}"));
                let why = format!("the new jobs have a fault: {why}");
                let faulty = self.running.values().filter(|job| fault.is_of(&job.name));
                faulty.for_each(|job| job.order(WatchOrder::Refused(why.clone())));
                return;
            }
        };
        self.gate.set_limits(jobs.limits);
        self.crawls.store(jobs.list.len() as u64, Ordering::Relaxed);
        let stays = |running: &Running| jobs.list.iter().any(|job| job.name == running.name && job.dir == running.dir);
        for job in self.running.values_mut().filter(|job| !job.leaves && !stays(job)) {
            job.end(signals::termination());
            job.voice.tell("the job is no longer in the file: it ends");
        }
        self.roster.keep(&jobs.list.iter().map(|job| &*job.name).collect::<HashSet<_>>());
        self.waiting.clear();
        for job in jobs.list {
            let running = self.running.values().find(|running| running.name == job.name && !running.leaves);
            match running {
                Some(running) => running.order(WatchOrder::Settings(Box::new(job.given))),
                // One that has had all its sequences has ended for good.
                None if self.asked.most.is_some() && self.ended.contains_key(&job.name) => {}
                None => self.waiting.push(job),
            }
        }
        if !self.asked.flags.output.quiet {
            outcome::tell("the jobs were read again");
        }
    }
}

impl Running {
    fn end(&mut self, signal: i32) {
        self.leaves = true;
        self.stop.send_replace(Some(signal));
    }

    fn order(&self, order: WatchOrder<Given>) {
        if self.orders.try_send(order).is_err() {
            self.voice.tell("error: the job is busy; send the signal again");
        }
    }
}

/// The exit code of a job that the loss policy ended.
const LOSS: u8 = 3;

/// Takes the place of the exit code of a job that panicked.
const PANICKED: u8 = u8::MAX;

/// Of several exit codes the one that the program has.
fn worst(codes: impl Iterator<Item = u8>) -> u8 {
    let place = |code: &u8| WORST_FIRST.iter().position(|other| other == code).unwrap_or(0);
    codes.min_by_key(place).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_exit_code_is_the_program_s() {
        for (codes, expected) in
            [(&[0, 4, 0][..], 4), (&[4, 3], 3), (&[2, 3, 4, 0], 2), (&[2, 1], 1), (&[0, 143], 143), (&[], 0)]
        {
            assert_eq!(worst(codes.iter().copied()), expected, "{codes:?}");
        }
    }
}
