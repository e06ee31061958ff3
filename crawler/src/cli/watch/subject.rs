//! [`Subject`]: what runs on a schedule.

use std::pin::Pin;

use tokio::sync::oneshot;

use super::{
    super::{CommandFailure, session::Round},
    plan::WatchPlan,
};
use crate::{
    engine::{RunEnd, StopSignal},
    schedule::WatchState,
    time::Moment,
};

/// A sequence, or visits, under way. It has all that it needs: its subject is free meanwhile.
pub(in crate::cli) type Running<E> = Pin<Box<dyn Future<Output = Result<E, CommandFailure>> + Send>>;

/// Visits of pages that are due between sequences.
pub(in crate::cli) struct Visiting<V> {
    pub(in crate::cli) running: Running<V>,
    /// Has them finish.
    pub(in crate::cli) finish: oneshot::Sender<()>,
}

/// What a sequence is begun with.
pub(in crate::cli) struct SequenceStart {
    pub(in crate::cli) round: Round,
    /// When the next one stops it.
    pub(in crate::cli) until: Option<Moment>,
}

/// What is crawled on a schedule; in tests, what takes time as a crawl does.
pub(in crate::cli) trait Subject: Send {
    /// What settings are read from.
    type Given: Send;
    /// What a sequence leaves.
    type Ended: Send;
    /// What visits between sequences leave.
    type Visited: Send;

    /// Begins a sequence.
    ///
    /// # Errors
    /// When its settings are wrong.
    fn sequence(&mut self, start: SequenceStart, stop: StopSignal) -> Result<Running<Self::Ended>, CommandFailure>;

    /// A sequence ended: its figures are shown.
    ///
    /// # Errors
    /// When they cannot be read.
    fn has_crawled(&mut self, ended: Self::Ended, now: Moment) -> Result<RunEnd, CommandFailure>;

    /// Looks when the first page is due, where that is not known.
    ///
    /// # Errors
    /// When the crawl directory cannot be read or written.
    fn look_ahead(&mut self, now: Moment) -> impl Future<Output = Result<(), CommandFailure>> + Send;

    /// When single pages are due; `None` where none is before the next sequence.
    fn next_visits(&self) -> Option<Moment>;

    /// Begins to visit the pages that are due, until none is for long.
    fn visit_due(&mut self, stop: StopSignal) -> Visiting<Self::Visited>;

    /// These visits ended; how the sequence ended by that, if it did.
    fn has_visited(&mut self, visited: Self::Visited) -> Option<RunEnd>;

    /// Nothing is to be visited any more.
    ///
    /// # Errors
    /// When the last of what was visited cannot be written.
    fn close(&mut self) -> impl Future<Output = Result<(), CommandFailure>> + Send;

    /// What other settings say of sequences to come.
    ///
    /// # Errors
    /// When they are wrong: then those before stay.
    fn read_again(&mut self, given: Self::Given) -> Result<WatchPlan, CommandFailure>;

    /// Its state has changed.
    fn has_state(&self, state: &WatchState);

    /// Says something to whoever looks on.
    fn tell(&self, line: &str);

    /// Says what is wrong.
    fn complain(&self, line: &str);

    /// Prints a line among the figures.
    ///
    /// # Errors
    /// When nothing can be printed.
    fn print(&self, line: &str) -> Result<(), CommandFailure>;
}
