//! [`Writer`]: the one thread that writes.

use std::{fs::File, path::PathBuf, thread::JoinHandle, time::Duration, time::Instant};

use rusqlite::{Connection, params};
use tokio::sync::mpsc::Receiver;

#[cfg(test)]
use super::costs::statements::Statements;
use super::{
    CrawlDirectory, FailPoint, StoreError,
    apply::{self, Rows},
    error::WriteError,
    lost, refill,
    sweep::Sweep,
};
use crate::{
    candidate::Ticket,
    store::{Confirmed, Counters, Message, SequenceEnd, Step, SweepRequest, Swept},
};

/// How often a commit is synced.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// How the writer groups its commits.
#[derive(Debug)]
pub struct WriterSettings {
    /// A group is committed this long after its first step,
    pub commit_every: Duration,
    /// or with this many steps.
    pub commit_steps: usize,
    /// How often the log is copied into the database file.
    pub checkpoint_every: Duration,
    /// The sequence being crawled.
    pub sequence: u32,
    /// Its sums so far.
    pub counters: Counters,
    /// Where to die, in tests of kill and resume.
    pub fail_point: Option<FailPoint>,
}

/// The writing thread. It ends when its channel is closed, or with the first failure.
#[derive(Debug)]
pub struct Writer {
    thread: JoinHandle<Result<(), StoreError>>,
}

impl Writer {
    /// Starts the thread on the messages of `receiver`. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// [`StoreError`] when the thread cannot be started.
    pub fn spawn(
        directory: CrawlDirectory,
        receiver: Receiver<Message>,
        settings: WriterSettings,
    ) -> Result<Self, StoreError> {
        let path = directory.path().to_owned();
        let runtime = tokio::runtime::Handle::current();
        let run = move || WriterThread::new(directory, settings).run(receiver, &runtime);
        let spawned = std::thread::Builder::new().name("writer".into()).spawn(run);
        let thread = spawned.map_err(|source| StoreError::Unwritable { path, source })?;
        Ok(Self { thread })
    }

    /// Waits for the thread's end; all that was sent is committed then, unless it fails.
    ///
    /// # Errors
    /// The first failure.
    pub fn join(self) -> Result<(), StoreError> {
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// What the thread does, one message after the other.
pub(crate) struct WriterThread {
    path: PathBuf,
    connection: Connection,
    _lock: File,
    settings: WriterSettings,
    /// Whether any URL is known to be lost, and it is noted when one is found.
    lost: bool,
    group: Option<Group>,
    /// Whether something was committed since the last sync.
    unsynced: bool,
    synced: Instant,
    checkpointed: Instant,
    #[cfg(test)]
    statements: Statements,
}

/// A transaction that is open.
struct Group {
    since: Instant,
    steps: usize,
    durability: Durability,
}

/// What a commit survives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Durability {
    /// The end of the process.
    Kill,
    /// A power loss: the log is synced with it.
    PowerLoss,
}

impl WriterThread {
    pub(crate) fn new(directory: CrawlDirectory, settings: WriterSettings) -> Self {
        let (path, connection, lock) = directory.into_parts();
        #[cfg(test)]
        let mut connection = connection;
        let now = Instant::now();
        Self {
            #[cfg(test)]
            statements: Statements::of(&mut connection),
            path,
            connection,
            _lock: lock,
            settings,
            lost: false,
            group: None,
            unsynced: false,
            synced: now,
            checkpointed: now,
        }
    }

    fn run(mut self, receiver: Receiver<Message>, runtime: &tokio::runtime::Handle) -> Result<(), StoreError> {
        let path = self.path.clone();
        self.serve(receiver, runtime).map_err(|error| error.of(&path))
    }

    fn serve(&mut self, mut receiver: Receiver<Message>, runtime: &tokio::runtime::Handle) -> Result<(), WriteError> {
        self.begin_run()?;
        loop {
            let message = match self.patience() {
                None => Ok(receiver.blocking_recv()),
                Some(Duration::ZERO) => Err(()),
                Some(left) => match receiver.try_recv() {
                    Ok(message) => Ok(Some(message)),
                    Err(_) => {
                        runtime.block_on(async { tokio::time::timeout(left, receiver.recv()).await }).map_err(drop)
                    }
                },
            };
            match message {
                Ok(Some(message)) => self.apply(message)?,
                Ok(None) => break,
                Err(()) if self.group.is_some() => self.commit()?,
                // Syncs what was committed last, though nothing more comes that would.
                Err(()) => self.checkpoint("PASSIVE")?,
            }
        }
        self.commit()?;
        self.pass("before_close");
        self.checkpoint("TRUNCATE")?;
        Ok(())
    }

    /// To be called before the first message.
    pub(crate) fn begin_run(&mut self) -> rusqlite::Result<()> {
        self.connection.pragma_update(None, "synchronous", "NORMAL")?;
        if lost::any(&self.connection)? {
            self.note_found()?;
        }
        Ok(())
    }

    /// To be called once a URL is known to be lost.
    fn note_found(&mut self) -> rusqlite::Result<()> {
        if !self.lost {
            lost::note_found(&self.connection)?;
        }
        self.lost = true;
        Ok(())
    }

    /// How long to wait for the next message before the open group is committed, or the last commit synced.
    fn patience(&self) -> Option<Duration> {
        match &self.group {
            Some(group) => Some(self.settings.commit_every.saturating_sub(group.since.elapsed())),
            // Only a pause is for this: while steps come, the group that is due is committed with a sync.
            None => self.unsynced.then_some(SYNC_EVERY),
        }
    }

    /// Does what a message says.
    pub(crate) fn apply(&mut self, message: Message) -> Result<(), WriteError> {
        match message {
            Message::Steps(steps, _room) => {
                for step in steps {
                    let known = self.step(&step, Rows::New)?;
                    debug_assert!(known.is_empty(), "only a cache that forgets proposes what is known");
                }
            }
            Message::Propose(step, _room, reply) => {
                let known = self.step(&step, Rows::Proposed)?;
                reply(Confirmed::of(&step.rows, known));
            }
            Message::Refill(request, reply) => {
                self.pass("before_refill");
                reply(refill::answer(&self.connection, &request, self.settings.sequence)?);
            }
            Message::Robots(host, reply) => {
                let mut select = self.connection.prepare_cached("SELECT robots_body FROM host WHERE id = ?")?;
                reply(select.query_row([host.0], |row| row.get(0))?);
            }
            Message::Sweep(request, reply) => reply(self.sweep(request)?),
            Message::Replay(replay) => {
                self.commit()?;
                self.pass("before_replay");
                lost::replay(&self.connection, replay, self.settings.sequence)?;
                self.pass("after_replay");
            }
            Message::End(end) => {
                self.commit()?;
                self.pass("before_end");
                self.end(&end)?;
                self.pass("after_end");
            }
        }
        Ok(())
    }

    fn sweep(&mut self, request: SweepRequest) -> Result<Swept, WriteError> {
        self.commit()?;
        self.pass("before_sweep");
        let pass = || self.pass("inside_sweep");
        let folder = self.path.parent().unwrap_or(&self.path);
        let swept = Sweep::new(&self.connection, folder, self.settings.sequence, &pass).run(request)?;
        if swept.lost > 0 {
            self.note_found()?;
        }
        self.unsynced = true;
        self.pass("after_sweep");
        Ok(swept)
    }

    fn step(&mut self, step: &Step, rows: Rows) -> rusqlite::Result<Vec<Ticket>> {
        self.pass("before_step");
        if self.group.is_none() {
            self.begin()?;
        }
        let context = apply::StepContext { sequence: self.settings.sequence, rows };
        #[cfg(test)]
        self.statements.take();
        let known = apply::step(&self.connection, step, context)?;
        #[cfg(test)]
        self.statements.expect_few(step);
        if !step.lost.is_empty() {
            self.note_found()?;
        }
        self.pass("inside_step");
        self.settings.counters.add(&step.counters);
        self.settings.counters.add(&Counters::of_forgotten(known.len()));
        let steps = self.group.as_mut().map_or(0, |group| {
            group.steps += 1;
            group.steps
        });
        self.pass("after_step");
        if steps >= self.settings.commit_steps {
            self.commit()?;
        }
        Ok(known)
    }

    /// Opens a group. How a transaction is synced can be chosen only before it; one of its own for the sync would change no
    /// page, and `SQLite` syncs nothing then.
    fn begin(&mut self) -> rusqlite::Result<()> {
        let durability = if self.synced.elapsed() >= SYNC_EVERY { Durability::PowerLoss } else { Durability::Kill };
        if durability == Durability::PowerLoss {
            self.connection.pragma_update(None, "synchronous", "FULL")?;
        }
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        self.group = Some(Group { since: Instant::now(), steps: 0, durability });
        Ok(())
    }

    /// Ends the open transaction, if there is one.
    pub(crate) fn commit(&mut self) -> rusqlite::Result<()> {
        let Some(group) = self.group.take() else { return Ok(()) };
        self.write_counters()?;
        self.pass("before_commit");
        self.connection.execute_batch("COMMIT")?;
        self.pass("after_commit");
        if group.durability == Durability::PowerLoss {
            self.connection.pragma_update(None, "synchronous", "NORMAL")?;
            self.synced = Instant::now();
        }
        self.unsynced = group.durability == Durability::Kill;
        if self.checkpointed.elapsed() >= self.settings.checkpoint_every {
            self.checkpoint("PASSIVE")?;
        }
        Ok(())
    }

    fn write_counters(&self) -> rusqlite::Result<()> {
        let counters = serde_json::to_string(&self.settings.counters).expect("counters are plain JSON");
        let mut update = self.connection.prepare_cached("UPDATE sequence SET counters = ? WHERE n = ?")?;
        update.execute(params![counters, self.settings.sequence]).map(|_| ())
    }

    fn checkpoint(&mut self, mode: &str) -> rusqlite::Result<()> {
        self.pass("before_checkpoint");
        self.connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()))?;
        self.pass("after_checkpoint");
        (self.checkpointed, self.synced, self.unsynced) = (Instant::now(), Instant::now(), false);
        Ok(())
    }

    fn end(&self, end: &SequenceEnd) -> rusqlite::Result<()> {
        self.connection
            .execute(
                "UPDATE sequence SET end = ?, ended_at = ?, runs = runs + 1, seconds = seconds + ?,
                        cpu_seconds = cpu_seconds + ?, peak_memory = coalesce(max(coalesce(peak_memory, 0), ?), peak_memory), cache = ?
                 WHERE n = ?",
                params![
                    end.end,
                    end.at.millis(),
                    end.seconds,
                    end.cpu_seconds,
                    end.peak_memory,
                    end.cache,
                    self.settings.sequence
                ],
            )
            .map(|_| ())
    }

    fn pass(&self, moment: &'static str) {
        FailPoint::pass(self.settings.fail_point.as_ref(), moment);
    }
}
