//! Pages that are fetched again for lost URLs.

use super::{
    super::{CacheFailure, Core, Fate, Readiness, RefetchedPage, Task},
    Ready,
};
use crate::{
    candidate::HostId,
    engine::{
        outcome::{asked, counted},
        report::Report,
    },
    frontier::{Asked, Lease, Outcome, WorkItem},
    purpose::ReportTaker,
    store::{Abandonment, Step, Swept},
    time::Moment,
};

impl Core {
    /// The writer has compared.
    pub(super) fn swept(&mut self, swept: Swept) {
        let (nearer, parents) = self.sweep.swept(swept);
        for rows in nearer {
            self.frontier.came_nearer(rows);
        }
        for parent in parents {
            if !self.frontier.offer_extra(parent.clone()) {
                self.rescue_dropped(&parent);
            }
        }
    }

    /// Extras on a host that cannot be asked any more are not fetched.
    pub(super) fn drop_extras(&mut self, host: HostId, why: Abandonment, now: Moment) {
        for extra in self.frontier.drop_extras(host) {
            self.dropped(&extra, why, now);
        }
    }

    fn dropped(&mut self, extra: &WorkItem, why: Abandonment, now: Moment) {
        match extra.purpose.row().taker {
            ReportTaker::Sweep => self.rescue_dropped(extra),
            ReportTaker::Sources => self.no_sitemap(extra.host),
            ReportTaker::SecondLooks => self.not_looked_twice(extra),
            ReportTaker::LinkChecks => self.not_checked(extra, why, now),
            _ => self.leave_out(extra, why, now),
        }
    }

    fn rescue_dropped(&mut self, parent: &WorkItem) {
        let rescue = self.sweep.settle(parent, Vec::new(), None);
        self.send(Step { rescue, ..Step::default() });
    }

    /// Ends the lease of an extra without a request.
    pub(super) fn drop_lease(&mut self, lease: Lease, why: Abandonment, now: Moment) {
        let extra = lease.item().clone();
        self.frontier.complete(lease, Outcome::Finished { stored: false }, Asked::No, now);
        tracing::debug!(url = %extra.url, "it is not fetched");
        self.dropped(&extra, why, now);
    }

    /// A page was fetched again: the lost URLs that it still links to are admitted.
    pub(super) fn rescue_finished(
        &mut self,
        report: Report,
        at: Moment,
        now: Moment,
    ) -> Result<Option<Task>, CacheFailure> {
        let change = self.note_of_answer(&report.lease, &report.result, at);
        let Report { lease, requests, result, .. } = report;
        let mut step = Step { counters: counted(requests, &result), health: change.health, ..Step::default() };
        let (asked, parent) = (asked(requests, &result), lease.item().clone());
        if self.sweep.wants(parent.id)
            && !self.frontier.is_closed(lease.host())
            && let Fate::Again(again) = self.pages.fate(&parent, &result, change.fault, at, now)
        {
            tracing::debug!(url = %parent.url, "will be fetched again once more");
            self.frontier.complete(lease, again.outcome(), asked, at);
            self.send(step);
            return Ok(None);
        }
        step.counters.rescue_fetches = 1;
        self.frontier.complete(lease, Outcome::Finished { stored: false }, asked, at);
        let found = self.sweep.found(parent, result, self.starts.scope(), at);
        self.admit_rescued(found, step, now)
    }

    /// Admits what a page that was fetched again still links to.
    pub(super) fn admit_rescued(
        &mut self,
        found: RefetchedPage,
        mut step: Step,
        now: Moment,
    ) -> Result<Option<Task>, CacheFailure> {
        let links: Vec<u64> = found.batch.urls.kept();
        let readiness =
            if links.is_empty() { Readiness::Yes } else { self.admission.make_room_for(&found.batch.urls, now)? };
        match self.ready(readiness) {
            Ready::Yes => {}
            Ready::NotYet => return Ok(Some(Task::Rescued(Box::new(found), Box::new(step)))),
            Ready::No => {
                // They cannot be let in any more: the page is fetched again in a run that may.
                self.send(step);
                return Ok(None);
            }
        }
        let RefetchedPage { parent, batch, answer } = found;
        let admitted = self.admit(batch, &mut step);
        step.rescue = self.sweep.settle(&parent, links.into_iter().zip(admitted).collect(), answer);
        self.send(step);
        Ok(None)
    }
}
