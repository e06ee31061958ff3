//! [`PageFates`]: what becomes of a page whose visit ended.
//!
//! Owns: how often and after what pause a page is retried, which "not modified" answers are checked, and what is kept of an answer.
//!
//! Does not know: hosts, the scope, and which URLs are new.

mod revisits;
mod unfinished;

use std::time::Duration;

pub(super) use revisits::Revisits;
pub(super) use unfinished::Unfinished;

use crate::{
    config::{RetrySettings, Settings},
    engine::{
        outcome::{Decision, decide, held},
        report::{BodyRecord, Content, KeptResponse, shortened},
    },
    fetch::{FetchError, Truncation},
    frontier::{Blame, Outcome, WorkItem},
    purpose::Purpose,
    queue::NOT_MODIFIED,
    store::{UrlChange, VisitOutcome, VisitRow},
    time::Moment,
};

/// The least time before a URL is fetched again.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);

/// What becomes of pages.
#[derive(Debug)]
pub(super) struct PageFates {
    retry: RetrySettings,
    longest_pause: Duration,
    max_url_length: usize,
    revisits: Revisits,
}

/// What becomes of a page.
#[derive(Debug)]
pub(super) enum Fate {
    /// It is fetched again.
    Again(Again),
    /// It has its final answer.
    Final {
        /// What it came to.
        outcome: VisitOutcome,
        /// What went wrong, in one word.
        reason: Option<Box<str>>,
    },
}

/// How a page is fetched again.
#[derive(Debug)]
pub(super) struct Again {
    due: Moment,
    /// What it has cost by now.
    pub(super) attempts: u32,
    /// When it failed, where that may yet be charged.
    failed: Moment,
    /// Why.
    pub(super) reason: Box<str>,
}

impl Again {
    /// What becomes of its lease.
    pub(super) fn outcome(&self) -> Outcome {
        Outcome::Retry { due: self.due, attempts: self.attempts, failed: self.failed }
    }

    /// What is written.
    pub(super) fn change(self) -> UrlChange {
        let Self { due, attempts, failed, reason } = self;
        UrlChange::Retry { attempts, due, failed, reason }
    }
}

impl PageFates {
    /// Those of a run.
    pub(super) fn new(settings: &Settings, revisits: Revisits) -> Self {
        Self {
            retry: settings.retry.clone(),
            longest_pause: settings.retry.max_backoff.max(settings.politeness.max_retry_after),
            max_url_length: settings.scope.max_url_length as usize,
            revisits,
        }
    }

    /// What becomes of a page that was answered, or not, `at` a moment; `fault` is whose fault that was.
    pub(super) fn fate(
        &self,
        item: &WorkItem,
        result: &Result<KeptResponse, FetchError>,
        fault: Option<Blame>,
        at: Moment,
        now: Moment,
    ) -> Fate {
        // Later than any due time already asked for: those are not read again.
        let soon = at.max(now) + SHORTEST_PAUSE;
        if self.is_to_be_checked(item, result, at) {
            let reason = NOT_MODIFIED.into();
            return Fate::Again(Again { due: soon, attempts: item.attempts, failed: Moment::EPOCH, reason });
        }
        match decide(result, fault, item.attempts, &self.retry) {
            Decision::Final { outcome, reason } => Fate::Final { outcome, reason },
            Decision::Retry { pause, attempts, reason } => {
                let due = soon.max(at + pause.min(self.longest_pause));
                Fate::Again(Again { due, attempts, failed: held(fault, item, at), reason })
            }
        }
    }

    /// Whether the page is to be fetched whole, to check that it was not modified.
    fn is_to_be_checked(&self, item: &WorkItem, result: &Result<KeptResponse, FetchError>, at: Moment) -> bool {
        matches!(result, Ok(KeptResponse { content: Content::NotModified(_), .. }))
            && self.revisits.checks(item.id, item.purpose, at)
    }

    /// What is kept of a final answer, but for its links.
    pub(super) fn record(&self, item: &WorkItem, answer: &mut KeptResponse, visit: &mut VisitRow) {
        let is_stored = visit.outcome == VisitOutcome::Stored;
        visit.status = Some(answer.status);
        visit.audited = matches!(item.purpose, Purpose::Audit | Purpose::DueAudit) && is_stored;
        visit.wire_bytes = answer.wire_bytes;
        visit.steady = answer.steady.filter(|_| is_stored);
        visit.truncated = answer.truncated.map(Truncation::name);
        visit.kept = std::mem::take(&mut answer.kept);
        match &mut answer.content {
            Content::Redirect(to) => visit.redirect = Some(shortened(to.as_str(), self.max_url_length).into()),
            Content::Page(page) | Content::Other(page) => keep(page, visit),
            Content::NotModified(validators) => {
                (visit.etag, visit.last_modified) = (validators.etag.take(), validators.last_modified.take());
            }
            Content::Robots { .. } | Content::Addresses(_) => {}
        }
    }
}

fn keep(page: &mut BodyRecord, visit: &mut VisitRow) {
    let is_stored = visit.outcome == VisitOutcome::Stored;
    visit.content_type = page.content_type.take();
    visit.html = page.html;
    visit.bytes = page.bytes;
    visit.digest = is_stored.then_some(page.digest);
    visit.head = std::mem::take(&mut page.head);
    visit.text = page.text.take().filter(|_| is_stored);
    visit.etag = page.validators.etag.take();
    visit.last_modified = page.validators.last_modified.take();
}
