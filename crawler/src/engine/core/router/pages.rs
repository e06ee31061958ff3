//! Pages whose visits ended.

use super::{
    super::{Again, CacheEnding, CacheFailure, Core, Fate, Task, Unfinished},
    Ready,
    health::HostChange,
};
use crate::{
    candidate::Hop,
    engine::{
        judge::{Judge, Proposals, Provenance},
        outcome::{asked, counted},
        report::{Content, EndedLease, KeptResponse, Report},
    },
    frontier::Outcome,
    store::{Step, UNJUDGED, UrlChange, VisitOutcome, VisitRow},
    time::Moment,
};

impl Core {
    /// A page's visit ended: it waits while the scope may still grow, and is taken in otherwise.
    pub(super) fn page_arrived(
        &mut self,
        mut report: Box<Report>,
        at: Moment,
        now: Moment,
    ) -> Result<Option<Task>, CacheFailure> {
        let change = self.note_of_answer(&report.lease, &report.result, at);
        let item = report.lease.item();
        if self.starts.holds()
            && matches!(self.pages.fate(item, &report.result, change.fault, at, now), Fate::Final { .. })
        {
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
                self.send_health(change);
                return Ok(None);
            }
        }
        self.page_finished(*report, Some(change), at, now)
    }

    /// Has the pages that were held back taken in, when they need not wait any longer; whether there are any.
    pub(super) fn release_held(&mut self, now: Moment) -> bool {
        let released = self.starts.released(now);
        let any = !released.is_empty();
        for (report, at) in released {
            self.intake.push_back(Task::Held(Box::new(report), at));
        }
        any
    }

    /// A page's visit ended at `at`, and is taken in now.
    pub(super) fn page_finished(
        &mut self,
        report: Report,
        change: Option<HostChange>,
        at: Moment,
        now: Moment,
    ) -> Result<Option<Task>, CacheFailure> {
        let Report { lease, requests, result, failed } = report;
        let ended = EndedLease { lease, asked: asked(requests, &result), at };
        let item = ended.lease.item();
        if result.is_ok() {
            self.starts.answered(&item.url);
        }
        let HostChange { fault, health } = change.unwrap_or_default();
        let mut step = Step { counters: counted(requests, &result), health, ..Step::default() };
        let (outcome, reason) = match self.pages.fate(item, &result, fault, at, now) {
            Fate::Final { outcome, reason } => (outcome, reason),
            Fate::Again(again) => {
                self.limits.end(&ended.lease);
                if item.purpose.is_due() {
                    self.put_off_due(ended, &again, step, now);
                } else {
                    self.put_off(ended, again, step);
                }
                return Ok(None);
            }
        };
        if let Some(failed) = failed {
            self.outbox.hand_failed(failed, reason.clone());
        }
        if outcome == VisitOutcome::Failed {
            tracing::warn!(url = %item.url, reason = reason.as_deref(), "no answer after the last attempt");
        }
        let mut visit = VisitRow { copy: item.copy.clone(), ..VisitRow::new(item.id, at, outcome, reason) };
        let Ok(mut answer) = result else {
            self.try_http(&item.url.origin(), &mut step, now);
            self.finish(ended, visit, step);
            return Ok(None);
        };
        self.pages.record(item, &mut answer, &mut visit);
        let unfinished = self.proposed(ended, answer.content, visit, step);
        self.admit_part(Box::new(unfinished), now)
    }

    /// A page that is fetched again.
    fn put_off(&mut self, ended: EndedLease, again: Again, mut step: Step) {
        let lease = &ended.lease;
        if self.starts.is_guessed(&lease.url().origin()) && self.falls_back(lease.host()) {
            return self.give_up_guess(ended, step);
        }
        let id = lease.item().id;
        let outcome = if let Some(why) = self.admission.why_closed(lease.host()) {
            step.change = Some((id, UrlChange::Abandoned(why)));
            Outcome::Abandoned
        } else {
            let Again { reason, attempts, .. } = &again;
            tracing::debug!(url = %lease.url(), %reason, attempts, "will be fetched again");
            let outcome = again.outcome();
            step.change = Some((id, again.change()));
            outcome
        };
        self.complete(ended, outcome);
        self.send(step);
    }

    /// Gives a lease back to the frontier with what came of it.
    pub(super) fn complete(&mut self, ended: EndedLease, outcome: Outcome) -> u64 {
        self.frontier.complete(ended.lease, outcome, ended.asked, ended.at)
    }

    /// What a final answer proposes, before it is admitted.
    fn proposed(&mut self, ended: EndedLease, content: Content, visit: VisitRow, mut step: Step) -> Unfinished {
        let item = ended.lease.item();
        let (mut target, mut room) = (None, None);
        let (proposals, found) = match content {
            Content::Redirect(to) => {
                target = Some(to.origin());
                let (proposals, area) = self.starts.redirected(item, to);
                step.areas.extend(area);
                (proposals, Provenance::on(item, Hop::Redirect, Judge::Cache, ended.at))
            }
            Content::Page(mut page) | Content::Other(mut page) => {
                room = page.room.take().map(|room| Box::new(room) as Box<dyn Send>);
                let proposals = page.links.judged(self.starts.scope()).within_levels(item);
                let found = Provenance::of(item, &proposals, Judge::Cache, ended.at);
                (proposals, found)
            }
            // Its links have rows already, or the sweep finds them without.
            Content::NotModified(_) | Content::Robots { .. } | Content::Addresses(_) => {
                (Proposals::default(), Provenance::on(item, Hop::Link, Judge::Cache, ended.at))
            }
        };
        Unfinished::new(ended, visit, found, proposals, step).to(target).in_room(room)
    }

    /// Admits the next part of a page's candidates; what is left of the page. What a part admits is sent ahead of the step in
    /// which the page itself is: a kill between the two has the page fetched again, and loses nothing.
    pub(super) fn admit_part(&mut self, mut page: Box<Unfinished>, now: Moment) -> Result<Option<Task>, CacheFailure> {
        let Some(mut part) = page.next_part() else {
            self.finish_page(*page);
            return Ok(None);
        };
        if self.admission.ending() != CacheEnding::Next && !part.urls.is_empty() {
            let readiness = self.admission.make_room_for(&part.urls, now)?;
            match self.ready(readiness) {
                Ready::Yes => {}
                Ready::NotYet => {
                    page.put_back(part);
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
        if self.admission.ending() == CacheEnding::Next {
            part.refuse_all(UNJUDGED);
        }
        let admitted = self.admit(part, &mut page.step);
        page.admitted.extend(admitted);
        if page.is_done() {
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
        self.link_checks.page_read();
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
    fn finish(&mut self, ended: EndedLease, visit: VisitRow, mut step: Step) {
        let stored = visit.outcome == VisitOutcome::Stored;
        // A page of the sequence counts once.
        let count = if ended.lease.purpose().is_counted() {
            &mut step.counters.stored
        } else {
            &mut step.counters.stored_again
        };
        *count += u64::from(stored);
        self.second_looks.page_read();
        self.limits.finished(ended.lease.item(), stored);
        self.is_visited(ended.lease.item(), true, ended.at);
        step.change = Some((visit.url, UrlChange::Finished));
        step.visit = Some(visit);
        self.limits.end(&ended.lease);
        self.complete(ended, Outcome::Finished { stored });
        self.send(step);
    }
}
