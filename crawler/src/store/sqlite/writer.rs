//! [`Writer`]: carries out the messages of a run.
//!
//! Owns: the open transaction (a *group* of steps), when it is committed and when a commit is synced to disk, and the sums of the
//! sequence, which are written with each commit.
//!
//! Invariants: messages are handled in the order in which they came; a step is in one transaction; a commit is synced once a second, and
//! after a second without one; a sweep, a replay, a report of changes and a hand-out of pages come after a commit of all before.
//!
//! Does not know: who sends the messages, and what time it is.

use std::{
    ops::ControlFlow,
    path::PathBuf,
    time::{Duration, Instant},
};

use rusqlite::{Connection, params};

#[cfg(test)]
use super::costs::statements::Statements;
use super::{
    CrawlDirectory, apply, archive,
    changes::Finder,
    current::Current,
    directory::DATABASE,
    error::Fault,
    forget::{HistoryRule, forget},
    freshness, held, link_checks,
    log_length::{self, LogLength},
    lost, prepare, prune, refill, revisits,
    step_context::{StepContext, StepRows},
    sweep::LinkSweep,
    takers::Taken,
};
use crate::{
    candidate::Ticket,
    queue::WorkItem,
    store::{
        Confirmed, Counters, Incoming, LinkCheckRequest, LinksToCheck, Message, RunStart, SequenceEnd, Step, Store,
        StoreError, StoreWriter, SweepRequest, Swept, WriterSettings,
    },
};

/// How often a commit is synced.
const SYNC_EVERY: Duration = Duration::from_secs(1);

impl Store for CrawlDirectory {
    type Writer = Writer;

    fn begin_run(&self, run: RunStart) -> Result<(), StoreError> {
        prepare::begin_run(&self.connection, run).map_err(self.failed())
    }

    fn writer(self, settings: WriterSettings, now: Instant) -> Result<Writer, StoreError> {
        let database = self.path().join(DATABASE);
        Writer::new(self, settings, now).map_err(|fault| fault.of(&database))
    }
}

impl StoreWriter for Writer {
    fn patience(&self, now: Instant) -> Option<Duration> {
        match &self.group {
            Some(group) => Some(self.settings.commit_every.saturating_sub(now.saturating_duration_since(group.since))),
            // Only a pause is for this: while steps come, the group that is due is committed with a sync.
            None => self.unsynced.then_some(SYNC_EVERY),
        }
    }

    fn write(&mut self, next: Incoming, now: Instant) -> Result<ControlFlow<()>, StoreError> {
        self.now = now;
        self.take(next).map_err(|fault| fault.of(&self.database()))
    }
}

/// What writes into a crawl directory.
pub struct Writer {
    directory: CrawlDirectory,
    /// The time of the last call.
    now: Instant,
    settings: WriterSettings,
    context: StepContext,
    group: Option<Group>,
    /// Whether something was committed since the last sync.
    unsynced: bool,
    synced: Instant,
    checkpointed: Instant,
    log: LogLength,
    /// Whether nothing was written yet: then it may be interrupted.
    is_starting: bool,
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

impl Writer {
    fn new(mut directory: CrawlDirectory, settings: WriterSettings, now: Instant) -> Result<Self, Fault> {
        let current = Current::of(&directory.connection, settings.sequence)?;
        let context = StepContext::of(&directory.connection, current, StepRows::New)?;
        directory.connection.execute(archive::NONE, [])?;
        directory.takers.resume(&directory.connection)?;
        directory.connection.pragma_update(None, "synchronous", "NORMAL")?;
        let log = LogLength::of(&mut directory.connection, log_length::MOST)?;
        Ok(Self {
            #[cfg(test)]
            statements: Statements::of(&mut directory.connection),
            directory,
            now,
            context,
            settings,
            group: None,
            unsynced: false,
            synced: now,
            checkpointed: now,
            log,
            is_starting: true,
        })
    }

    fn take(&mut self, next: Incoming) -> Result<ControlFlow<()>, Fault> {
        if self.is_starting && !may_be_interrupted(&next) {
            self.is_starting = false;
            self.directory.uninterrupted()?;
        }
        match next {
            Incoming::Message(message) => self.apply(message)?,
            Incoming::Nothing if self.group.is_some() => self.commit()?,
            // Syncs what was committed last, though nothing more comes that would.
            Incoming::Nothing => self.checkpoint("PASSIVE")?,
            Incoming::End => {
                self.commit()?;
                self.pass("before_close");
                self.checkpoint("TRUNCATE")?;
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Does what a message says.
    fn apply(&mut self, message: Message) -> Result<(), Fault> {
        match message {
            Message::Steps(steps, _room) => {
                for step in steps {
                    let known = self.step(&step, StepRows::New)?;
                    debug_assert!(known.is_empty(), "only a cache that forgets proposes what is known");
                }
            }
            Message::Propose(step, _room, reply) => {
                let known = self.step(&step, StepRows::Proposed)?;
                reply(Confirmed::of(&step.rows, known));
            }
            Message::Refill(request, reply) => {
                self.pass("before_refill");
                reply(refill::answer(self.connection(), &request, self.context.current)?);
            }
            Message::Lift(reply) => {
                self.commit()?;
                let lifted = held::lift(self.connection(), self.context.current)?;
                self.unsynced = true;
                reply(lifted);
            }
            Message::LinksToCheck(request, reply) => {
                self.commit()?;
                reply(self.links_to_check(request)?);
            }
            Message::UnsurePages(reply) => {
                self.commit()?;
                reply(self.unsure_pages()?);
            }
            Message::Robots(host, reply) => {
                let mut select = self.connection().prepare_cached("SELECT robots_body FROM host WHERE id = ?")?;
                reply(select.query_row([host.0], |row| row.get(0))?);
            }
            Message::Via(url, reply) => reply(refill::via(self.connection(), url)?),
            Message::Sweep(request, reply) => reply(self.sweep(request)?),
            Message::Replay(replay) => {
                self.commit()?;
                self.pass("before_replay");
                lost::replay(self.connection(), replay, self.context.current)?;
                self.directory.uninterrupted()?;
                self.pass("after_replay");
            }
            Message::Due(request, reply) => {
                self.commit()?;
                let folder = self.directory.path();
                let due = revisits::hand_out(self.connection(), folder, *request, self.context.current)?;
                self.unsynced = true;
                self.pass("after_due");
                reply(due);
            }
            Message::End(end, reply) => {
                self.commit()?;
                self.pass("before_end");
                self.end(&end)?;
                (self.settings.is_over, self.unsynced) = (end.end.is_some(), true);
                self.pass("after_end");
                reply(());
            }
        }
        Ok(())
    }

    /// The pages to be fetched once more. What is asked for that is taken back.
    fn unsure_pages(&self) -> Result<Vec<WorkItem>, Fault> {
        let transaction = self.connection().unchecked_transaction()?;
        let (folder, rules) = (self.directory.path(), &self.settings.changes);
        let finder = Finder { connection: &transaction, folder, rules, current: self.context.current, complete: false };
        let pages = finder.unsure_pages(&self.settings.counters)?;
        transaction.rollback()?;
        self.pass("after_unsure_pages");
        Ok(pages)
    }

    fn links_to_check(&mut self, request: LinkCheckRequest) -> Result<LinksToCheck, Fault> {
        let links = link_checks::to_check(self.connection(), request, self.context.current)?;
        self.unsynced = true;
        self.pass("after_links_to_check");
        Ok(links)
    }

    fn sweep(&mut self, request: SweepRequest) -> Result<Swept, Fault> {
        self.commit()?;
        self.pass("before_sweep");
        let pass = || self.pass("inside_sweep");
        let folder = self.directory.path();
        let swept = LinkSweep::new(self.connection(), folder, self.context.current, &pass).run(request)?;
        self.context.lost |= swept.lost > 0;
        self.unsynced = true;
        self.pass("after_sweep");
        Ok(swept)
    }

    fn step(&mut self, step: &Step, rows: StepRows) -> Result<Vec<Ticket>, Fault> {
        self.pass("before_step");
        if self.group.is_none() {
            self.begin()?;
        }
        if self.settings.is_over && step.goes_on() {
            self.go_on()?;
        }
        let context = StepContext { rows, ..self.context };
        #[cfg(test)]
        self.statements.take();
        let applied = apply::step(self.connection(), step, context)?;
        #[cfg(test)]
        self.statements.expect_few(step, context);
        if let (Some((url, visit)), Some(row)) = (applied.visit, &step.visit) {
            let CrawlDirectory { takers, connection, .. } = &mut self.directory;
            takers.take(&Taken { visit, url, row, kept: None }, connection)?;
        }
        let known = applied.known;
        self.context.lost |= !step.lost.is_empty();
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

    /// A sequence that had come to its end goes on: pages of it are visited once more.
    fn go_on(&mut self) -> rusqlite::Result<()> {
        revisits::go_on(self.connection())?;
        (self.context.current.revisited, self.settings.is_over) = (true, false);
        Ok(())
    }

    /// Opens a group. How a transaction is synced can be chosen only before it; one of its own for the sync would change no
    /// page, and `SQLite` syncs nothing then.
    fn begin(&mut self) -> rusqlite::Result<()> {
        let durability = if self.since(self.synced) >= SYNC_EVERY { Durability::PowerLoss } else { Durability::Kill };
        if durability == Durability::PowerLoss {
            self.connection().pragma_update(None, "synchronous", "FULL")?;
        }
        self.connection().execute_batch("BEGIN IMMEDIATE")?;
        self.group = Some(Group { since: self.now, steps: 0, durability });
        Ok(())
    }

    /// Ends the open transaction, if there is one.
    fn commit(&mut self) -> Result<(), Fault> {
        let Some(group) = self.group.take() else { return Ok(()) };
        self.write_counters()?;
        if group.durability == Durability::PowerLoss {
            self.directory.takers.sync()?;
        }
        self.pass("before_commit");
        self.connection().execute_batch("COMMIT")?;
        self.pass("after_commit");
        if group.durability == Durability::PowerLoss {
            self.connection().pragma_update(None, "synchronous", "NORMAL")?;
            self.synced = self.now;
        }
        self.unsynced = group.durability == Durability::Kill;
        if self.log.is_long() || self.since(self.checkpointed) >= self.settings.checkpoint_every {
            self.checkpoint("PASSIVE")?;
        }
        Ok(())
    }

    fn write_counters(&self) -> rusqlite::Result<()> {
        let counters = serde_json::to_string(&self.settings.counters).expect("counters are plain JSON");
        let mut update = self.connection().prepare_cached("UPDATE sequence SET counters = ? WHERE n = ?")?;
        update.execute(params![counters, self.settings.sequence]).map(|_| ())
    }

    fn checkpoint(&mut self, mode: &str) -> Result<(), Fault> {
        self.directory.takers.sync()?;
        self.pass("before_checkpoint");
        self.connection().query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()))?;
        self.pass("after_checkpoint");
        self.log.is_taken_over();
        (self.checkpointed, self.synced) = (self.now, self.now);
        self.unsynced = false;
        Ok(())
    }

    /// Records the state of the sequence, what its looks found, and what has changed, in one transaction.
    fn end(&mut self, end: &SequenceEnd) -> Result<(), Fault> {
        let transaction = self.directory.connection.unchecked_transaction()?;
        transaction.execute(
                "UPDATE sequence SET end = ?, ended_at = ?, runs = runs + ?, seconds = seconds + ?,
                        cpu_seconds = cpu_seconds + ?, peak_memory = coalesce(max(coalesce(peak_memory, 0), ?), peak_memory), cache = ?
                 WHERE n = ?",
                params![
                    end.end,
                    end.at.millis(),
                    end.is_run,
                    end.seconds,
                    end.cpu_seconds,
                    end.peak_memory,
                    end.cache,
                    self.settings.sequence
                ],
            )?;
        if end.tells {
            let (folder, rules) = (self.directory.path(), &self.settings.changes);
            // Only what is asked of all pages tells which of them are orphans.
            let complete = end.end == Some("drained") && !self.context.current.revisited;
            let finder = Finder { connection: &transaction, folder, rules, current: self.context.current, complete };
            self.settings.counters.looks.add_all(&freshness::looks(
                &transaction,
                self.context.current,
                finder.visits()?,
            )?);
            self.write_counters()?;
            finder.run()?;
        }
        self.pass("inside_end");
        transaction.commit()?;
        let sequence = self.context.current.sequence;
        match self.settings.keep_sequences {
            Some(keep) if end.tells => prune::prune(self.connection(), sequence, keep.get())?,
            _ => {}
        }
        if end.tells {
            let keep = HistoryRule { history: self.settings.keep, whole: self.settings.keep_sequences };
            forget(self.connection(), sequence, end.at.millis(), keep)?;
        }
        Ok(())
    }

    fn connection(&self) -> &Connection {
        &self.directory.connection
    }

    fn database(&self) -> PathBuf {
        self.directory.path().join(DATABASE)
    }

    fn since(&self, moment: Instant) -> Duration {
        self.now.saturating_duration_since(moment)
    }

    fn pass(&self, moment: &'static str) {
        self.directory.pass(moment);
    }
}

/// A run that goes on fills its URL cache from the URL table before it has anything to write: until then it ends at once when it is
/// asked to.
fn may_be_interrupted(next: &Incoming) -> bool {
    match next {
        Incoming::Message(Message::Steps(steps, _)) => {
            steps.iter().all(|step| step.rows.is_empty() && step.visit.is_none())
        }
        Incoming::Message(Message::Refill(..) | Message::Robots(..) | Message::Via(..) | Message::Replay(_))
        | Incoming::Nothing => true,
        Incoming::Message(_) | Incoming::End => false,
    }
}
