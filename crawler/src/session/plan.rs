//! What a session would do, found out without a request and without writing anything.

use super::{
    Caller, CommandFailure, Round, Session,
    directory::{self, CrawlDirectory},
};
use crate::{
    config::{ChangedKey, Resolved},
    store::{ReadSide as _, StoredSummary},
};

/// What a session would do.
pub(crate) struct SessionPlan {
    /// The settings of the run.
    pub(crate) resolved: Resolved,
    /// How they differ from those that the directory remembers.
    pub(crate) changes: Vec<ChangedKey>,
    /// The last sequence of the directory; `None` where there is none yet.
    pub(crate) last: Option<StoredSummary>,
    /// Whether the next sequence begins.
    pub(crate) begins: bool,
}

impl<C: Caller> Session<C> {
    /// What would be done, or why it would be refused.
    pub(crate) fn plan(&self) -> Result<SessionPlan, CommandFailure> {
        self.check()?;
        if !CrawlDirectory::exists(&self.dir) {
            let resolved = self.settings(None)?;
            return Ok(SessionPlan { resolved, changes: Vec::new(), last: None, begins: false });
        }
        let records = directory::records(&self.dir)?;
        let stored = records.settings()?;
        self.refuse_foreign(&records.areas()?)?;
        let last = records.summary()?;
        // A sequence that was stopped is finished before the next.
        let is_over = last.as_ref().is_none_or(|last| last.counts.queued == 0);
        let begins = self.round.begins() && is_over;
        let round = if begins { self.round } else { Round::GoOn };
        let resolved = self.settings(stored.as_deref())?;
        let changes = Self { round, ..self.clone() }.changes(stored.as_deref(), &resolved)?;
        Ok(SessionPlan { resolved, changes, last, begins })
    }
}
