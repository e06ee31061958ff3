//! [`Subject`]: what is done on a schedule.

use std::pin::Pin;

use super::{
    super::{Failure, session::Round},
    plan::Plan,
};
use crate::{
    config::RevisitSettings,
    engine::{End, StopSignal},
    time::Moment,
};

/// A sequence, or visits, under way. It has all that it needs: its subject is free meanwhile.
pub(in crate::cli) type Running<E> = Pin<Box<dyn Future<Output = Result<E, Failure>> + Send>>;

/// What a sequence is begun with.
pub(in crate::cli) struct Work {
    pub(in crate::cli) round: Round,
    /// When the next one stops it.
    pub(in crate::cli) until: Option<Moment>,
    /// How single pages are visited after it.
    pub(in crate::cli) revisits: Option<RevisitSettings>,
}

/// What is crawled on a schedule; in tests, what takes time as a crawl does.
pub(in crate::cli) trait Subject: Send {
    /// What settings are read from.
    type Given: Send;
    /// What a sequence leaves.
    type Ended: Send;

    /// Begins a sequence.
    ///
    /// # Errors
    /// When its settings are wrong.
    fn sequence(&mut self, work: Work, stop: StopSignal) -> Result<Running<Self::Ended>, Failure>;

    /// A sequence ended: its figures are shown.
    ///
    /// # Errors
    /// When they cannot be read.
    fn has_crawled(&mut self, ended: Self::Ended, now: Moment) -> Result<End, Failure>;

    /// When to look for single pages that are due; `None` where there are none before the next sequence.
    fn next_visits(&self) -> Option<Moment>;

    /// Has the pages queued that are due; the number of them.
    ///
    /// # Errors
    /// When the crawl directory cannot be read or written.
    fn queue_due(&mut self, now: Moment) -> impl Future<Output = Result<usize, Failure>> + Send;

    /// Begins to visit what is queued, until a moment.
    fn visit_once_more(&mut self, until: Moment, stop: StopSignal) -> Running<Self::Ended>;

    /// These visits ended.
    fn has_visited(&mut self, ended: Self::Ended, now: Moment) -> End;

    /// What other settings say of sequences to come.
    ///
    /// # Errors
    /// When they are wrong: then those before stay.
    fn read_again(&mut self, given: Self::Given) -> Result<Plan, Failure>;

    /// Says something to whoever looks on.
    fn tell(&self, line: &str);

    /// Says what is wrong.
    fn complain(&self, line: &str);

    /// Prints a line among the figures.
    ///
    /// # Errors
    /// When nothing can be printed.
    fn print(&self, line: &str) -> Result<(), Failure>;
}
