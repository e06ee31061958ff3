//! What becomes of a page whose visit ended.

use std::{iter::Peekable, time::Duration};

use super::{
    super::{
        judge::{Batch, Judge, Proposals, Provenance},
        report::{Content, KeptResponse, Page, Report, shortened},
    },
    CacheFailure, Core,
    admission::Ending,
    hosts::Heeded,
    intake::{Ready, Task},
    outcome::{Decision, asked, counted, decide, held},
};
use crate::{
    candidate::{Hop, Ticket},
    fetch::{FetchError, Truncation},
    frontier::{Asked, Lease, Outcome, WorkItem},
    purpose::Purpose,
    queue::NOT_MODIFIED,
    store::{Step, UNJUDGED, UrlChange, VisitOutcome, VisitRow},
    time::Moment,
    url::Origin,
};

/// Candidates of a page that are admitted in one turn.
const PART: usize = 2_000;

/// Why a page with too many links is called truncated.
const LINKS: &str = "links";

/// The least time before a URL is fetched again.
pub(super) const SHORTEST_PAUSE: Duration = Duration::from_millis(1);

/// A page whose candidates are being admitted, part by part. What a part admits is sent ahead of the step in which the page
/// itself is: a kill between two has the page fetched again, and loses nothing.
pub(super) struct Unfinished {
    ended: Ended,
    visit: VisitRow,
    step: Step,
    part: Option<Batch>,
    parts: Peekable<Box<dyn Iterator<Item = Batch> + Send>>,
    admitted: Vec<Ticket>,
    /// Where a redirect leads.
    target: Option<Origin>,
    /// The room of the page's links is given back when all of them are rows.
    _room: Option<Box<dyn Send>>,
}

/// A lease whose request has ended, or was not made.
pub(super) struct Ended {
    pub(super) lease: Lease,
    pub(super) asked: Asked,
    pub(super) at: Moment,
}

/// How a page is fetched again.
struct Again {
    due: Moment,
    /// What it has cost by now.
    attempts: u32,
    /// When it failed, where that may yet be charged.
    failed: Moment,
    reason: Box<str>,
}

impl Core {
    /// A page's visit ended: it waits while the scope may still grow, and is taken in otherwise.
    pub(super) fn page_arrived(
        &mut self,
        mut report: Box<Report>,
        at: Moment,
        now: Moment,
    ) -> Result<Option<Task>, CacheFailure> {
        let heeded = self.heed(&report.lease, &report.result, at);
        let item = report.lease.item();
        let decision = decide(&report.result, heeded.fault, item.attempts, &self.settings.retry);
        if self.starts.holds() && matches!(decision, Decision::Final { .. }) {
            let redirects = matches!(&report.result, Ok(KeptResponse { content: Content::Redirect(_), .. }));
            let is_start = self.starts.is_pending(item.id);
            if is_start && !redirects {
                self.starts.settle(item.id);
            }
            // What leads nowhere needs to wait for nobody, and would be counted as a page meanwhile. What a start is redirected to
            // is what the others wait for.
            let leads_on = report.unjudged_links() > 0 || (redirects && !is_start);
            if leads_on && self.starts.holds() {
                self.frontier.free_slot(&mut report.lease, at);
                self.starts.hold(*report, at);
                self.send_health(heeded);
                return Ok(None);
            }
        }
        self.page_finished(*report, Some(heeded), at, now)
    }

    /// Has the pages that were held back taken in, when they need not wait any longer; whether there are any.
    pub(super) fn release_held(&mut self, now: Moment) -> bool {
        let released = self.starts.released(now);
        let any = !released.is_empty();
        for (report, at) in released {
            self.intake.push(Task::Held(Box::new(report), at));
        }
        any
    }

    /// A page's visit ended at `at`, and is taken in now.
    pub(super) fn page_finished(
        &mut self,
        report: Report,
        heeded: Option<Heeded>,
        at: Moment,
        now: Moment,
    ) -> Result<Option<Task>, CacheFailure> {
        let Report { lease, requests, result } = report;
        let ended = Ended { lease, asked: asked(requests, &result), at };
        let item = ended.lease.item();
        if result.is_ok() {
            self.starts.answered(&item.url);
        }
        let Heeded { fault, health } = heeded.unwrap_or_default();
        let mut step = Step { counters: counted(requests, &result), health, ..Step::default() };
        // Later than any due time already asked for: those are not read again.
        let soon = at.max(now) + SHORTEST_PAUSE;
        if self.is_to_be_checked(item, &result) {
            let again =
                Again { due: soon, attempts: item.attempts, failed: Moment::EPOCH, reason: NOT_MODIFIED.into() };
            self.limits.end(&ended.lease);
            self.put_off(ended, again, step);
            return Ok(None);
        }
        let again = match decide(&result, fault, item.attempts, &self.settings.retry) {
            Decision::Final { outcome, reason } => {
                if outcome == VisitOutcome::Failed {
                    tracing::warn!(url = %item.url, reason = reason.as_deref(), "no answer after the last attempt");
                }
                let mut visit = VisitRow::new(item.id, at, outcome, reason);
                let Ok(answer) = result else {
                    self.try_http(&item.url.origin(), &mut step, now);
                    self.finish(ended, visit, step);
                    return Ok(None);
                };
                visit.status = Some(answer.status);
                visit.audited = item.purpose == Purpose::Audit && outcome == VisitOutcome::Stored;
                visit.wire_bytes = answer.wire_bytes;
                visit.steady = answer.steady.filter(|_| outcome == VisitOutcome::Stored);
                visit.truncated = answer.truncated.map(Truncation::name);
                let unfinished = self.proposed(ended, answer.content, visit, step);
                return self.admit_part(Box::new(unfinished), now);
            }
            Decision::Retry { pause, attempts, reason } => {
                let due = soon.max(at + pause.min(self.longest_pause()));
                Again { due, attempts, failed: held(fault, item, at), reason }
            }
        };
        self.limits.end(&ended.lease);
        self.put_off(ended, again, step);
        Ok(None)
    }

    /// Whether the page is to be fetched whole, to check that it was not modified.
    fn is_to_be_checked(&self, item: &WorkItem, result: &Result<KeptResponse, FetchError>) -> bool {
        matches!(result, Ok(KeptResponse { content: Content::NotModified(_), .. }))
            && self.revisits.checks(item.id, item.purpose)
    }

    /// The longest that a URL waits to be fetched again.
    pub(super) fn longest_pause(&self) -> Duration {
        self.settings.retry.max_backoff.max(self.settings.politeness.max_retry_after)
    }

    /// A page that is fetched again.
    fn put_off(&mut self, ended: Ended, again: Again, mut step: Step) {
        let lease = &ended.lease;
        if self.starts.is_guessed(&lease.url().origin()) && self.falls_back(lease.host()) {
            return self.give_up_guess(ended, step);
        }
        let id = lease.item().id;
        let outcome = if let Some(why) = self.admission.why_closed(lease.host()) {
            step.change = Some((id, UrlChange::Abandoned(why)));
            Outcome::Abandoned
        } else {
            let Again { due, attempts, failed, reason } = again;
            tracing::debug!(url = %lease.url(), %reason, attempts, "will be fetched again");
            step.change = Some((id, UrlChange::Retry { attempts, due, failed, reason }));
            Outcome::Retry { due, attempts, failed }
        };
        self.complete(ended, outcome);
        self.send(step);
    }

    /// Gives a lease back to the frontier with what came of it.
    pub(super) fn complete(&mut self, ended: Ended, outcome: Outcome) -> u64 {
        self.frontier.complete(ended.lease, outcome, ended.asked, ended.at)
    }

    /// What a final answer proposes, before it is admitted.
    fn proposed(&mut self, ended: Ended, content: Content, mut visit: VisitRow, mut step: Step) -> Unfinished {
        let item = ended.lease.item().clone();
        let mut target = None;
        let mut room = None;
        let (mut proposals, hop) = match content {
            Content::Redirect(to) => {
                let most = self.settings.scope.max_url_length as usize;
                visit.redirect = Some(shortened(to.as_str(), most).into());
                target = Some(to.origin());
                let (proposals, area) = self.starts.redirected(&item, to);
                step.areas.extend(area);
                (proposals, Hop::Redirect)
            }
            Content::Page(mut page) | Content::Other(mut page) => {
                room = page.room.take().map(|room| Box::new(room) as Box<dyn Send>);
                (self.keep(*page, &mut visit), Hop::Link)
            }
            // Its links have rows already, or the sweep finds them without.
            Content::NotModified(validators) => {
                (visit.etag, visit.last_modified) = (validators.etag, validators.last_modified);
                (Proposals::default(), Hop::Link)
            }
            Content::Robots { .. } => (Proposals::default(), Hop::Link),
        };
        visit.links = proposals.kept_links();
        visit.labels = proposals.labels.take().filter(|_| visit.outcome == VisitOutcome::Stored);
        let (depth, redirects) = match hop {
            Hop::Redirect => (item.depth, item.redirects + 1),
            Hop::Start | Hop::Link => (item.depth + 1, 0),
        };
        let found = Provenance { hop, via: Some(item.id), depth, redirects, judge: Judge::Cache, at: ended.at };
        let parts: Box<dyn Iterator<Item = Batch> + Send> = Box::new(Batch::new(found, proposals).in_parts(PART));
        let parts = parts.peekable();
        Unfinished { ended, visit, step, part: None, parts, admitted: Vec::new(), target, _room: room }
    }

    /// Admits the next part of a page's candidates; what is left of the page.
    pub(super) fn admit_part(&mut self, mut page: Box<Unfinished>, now: Moment) -> Result<Option<Task>, CacheFailure> {
        let Some(mut part) = page.part.take().or_else(|| page.parts.next()) else {
            self.finish_page(*page);
            return Ok(None);
        };
        let ending = self.admission.ending();
        if ending != Ending::Next && !part.urls.is_empty() {
            let readiness = self.admission.make_room_for(&part.urls, now)?;
            match self.ready(readiness) {
                Ready::Yes => {}
                Ready::NotYet => {
                    page.part = Some(part);
                    return Ok(Some(Task::Links(page)));
                }
                Ready::No => {
                    // Its links cannot be judged any more: it stays queued, for a run that may.
                    self.limits.end(&page.ended.lease);
                    self.complete(page.ended, Outcome::Released);
                    self.send(page.step);
                    return Ok(None);
                }
            }
        }
        if self.admission.ending() == Ending::Next {
            part.refuse_all(UNJUDGED);
        }
        page.admitted.extend(self.admit(part, &mut page.step));
        if page.parts.peek().is_none() {
            self.finish_page(*page);
            return Ok(None);
        }
        if !page.step.rows.is_empty() {
            let step = std::mem::take(&mut page.step);
            self.send(step);
        }
        Ok(Some(Task::Links(page)))
    }

    fn finish_page(&mut self, page: Unfinished) {
        let Unfinished { ended, visit, step, admitted, target, .. } = page;
        let id = ended.lease.item().id;
        if let Some(origin) = target.filter(|_| self.starts.is_pending(id)) {
            self.starts.settle(id);
            for id in admitted {
                self.starts.begin(id, origin.clone());
            }
        }
        self.finish(ended, visit, step);
    }

    /// A page has its final answer.
    fn finish(&mut self, ended: Ended, visit: VisitRow, mut step: Step) {
        let stored = visit.outcome == VisitOutcome::Stored;
        step.counters.stored += u64::from(stored);
        step.change = Some((visit.url, UrlChange::Finished));
        step.visit = Some(visit);
        self.limits.end(&ended.lease);
        self.complete(ended, Outcome::Finished { stored });
        self.send(step);
    }

    fn keep(&self, page: Page, visit: &mut VisitRow) -> Proposals {
        visit.content_type = page.content_type;
        visit.html = page.html;
        visit.bytes = page.bytes;
        visit.digest = (visit.outcome == VisitOutcome::Stored).then_some(page.digest);
        visit.title = page.title;
        visit.text = page.text.filter(|_| visit.outcome == VisitOutcome::Stored);
        visit.etag = page.validators.etag;
        visit.last_modified = page.validators.last_modified;
        let proposals = self.starts.judged(page.links);
        if proposals.are_cut() {
            visit.truncated.get_or_insert(LINKS);
        }
        proposals
    }
}
