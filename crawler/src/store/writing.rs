//! [`Store`]: where a run writes, and [`StoreWriter`]: carries out one message after the other.

use std::{
    num::NonZeroU32,
    ops::ControlFlow,
    time::{Duration, Instant},
};

use super::{ChangeRules, Counters, Message, StoreError};
use crate::text::TextRule;

/// A crawl directory that is open, and that no other process may write.
///
/// What is written are groups of [`Step`](super::Step)s: a group is a contiguous run of them, and kept whole or not at all. What is
/// asked is answered after all that was sent before it.
pub trait Store: Send + 'static {
    /// What writes.
    type Writer: StoreWriter;

    /// Notes that the current sequence is being crawled, whether with a URL cache that cannot err, and whether with an
    /// audit; what an earlier sweep proved holds no longer. What was not audited cannot be audited afterwards, so the
    /// smallest sample counts, and an audit that was off begins anew.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be written.
    fn begin_run(&self, run: RunStart) -> Result<(), StoreError>;

    /// What writes from `now` on.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    fn writer(self, settings: WriterSettings, now: Instant) -> Result<Self::Writer, StoreError>;
}

/// Does what messages say, one after the other. It waits for nobody and reads no clock: whoever runs it brings the messages and
/// the time. Dropped before [`Incoming::End`], it leaves what was committed, as a kill would.
pub trait StoreWriter: Send + 'static {
    /// How long the next message is to be waited for at most, before [`Incoming::Nothing`]; `None` is for as long as it takes.
    fn patience(&self, now: Instant) -> Option<Duration>;

    /// Does what there is to do. After [`Incoming::End`], when it breaks, all that was sent is kept.
    ///
    /// # Errors
    /// The first failure: nothing may be written after it, and what was committed before it stays.
    fn write(&mut self, next: Incoming, now: Instant) -> Result<ControlFlow<()>, StoreError>;
}

/// What came.
#[derive(Debug)]
pub enum Incoming {
    /// A message.
    Message(Message),
    /// None in time.
    Nothing,
    /// None, and none will.
    End,
}

/// Whether a URL cache can call a new URL seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errs {
    /// It is exact.
    Never,
    /// It has false positives.
    Sometimes,
}

/// What a run brings with it.
#[derive(Debug, Clone, Copy)]
pub struct RunStart {
    /// Whether its URL cache can err.
    pub cache: Errs,
    /// URLs its audit holds at most; `None` is no audit.
    pub audit_sample: Option<u64>,
    /// Whether the writer finds rows by their keys: the URL cache forgets, or ranks change.
    pub finds_keys: bool,
    /// The rule by which texts of pages are made; `None` where none are kept.
    pub text_rule: Option<TextRule>,
    /// Whether the sequence has come to its end, and only pages are visited that are due after that.
    pub is_over: bool,
}

/// How a writer groups its commits.
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
    /// How changes of its pages are found.
    pub changes: ChangeRules,
    /// Sequences that are kept whole; `None` is all.
    pub keep_sequences: Option<NonZeroU32>,
    /// How much history is kept.
    pub keep: KeptHistory,
    /// Whether the sequence has come to its end, and nothing was written of it since.
    pub is_over: bool,
}

/// How much of the history of a crawl is kept: earlier visits that found something new, and changes that were reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptHistory {
    /// All of it.
    All,
    /// That of so many sequences, the last ones.
    Sequences(NonZeroU32),
    /// That of sequences which ended so many days ago at most.
    Days(NonZeroU32),
}

#[cfg(test)]
impl WriterSettings {
    /// Those of a first sequence, each step of which is committed at once.
    pub(super) fn each_step() -> Self {
        Self {
            commit_every: Duration::ZERO,
            commit_steps: 1,
            checkpoint_every: Duration::from_hours(1),
            sequence: 0,
            counters: Counters::default(),
            changes: ChangeRules::at_once(),
            keep_sequences: None,
            keep: KeptHistory::All,
            is_over: false,
        }
    }
}
