//! The end of a crawl: the sweep, and the pages fetched again for lost URLs.
//!
//! Owns: when a sweep is asked for, which lost URLs a page is fetched again for, and what becomes of them.
//!
//! Invariants: a sweep begins only when nothing is leased, nor queued but beyond a depth or page limit; a lost URL is
//! admitted once; what a round finds is committed before the next one begins. The rounds end because in a run the writer names
//! a page for a lost URL only once.

use std::collections::{HashMap, HashSet};

use super::{
    super::{
        judge::Proposals,
        report::{Content, KeptResponse, Report},
    },
    CacheFailure, Core, Question,
    admission::{Judge, Provenance},
    intake::{Ready, Task},
    outcome::{Decision, asked, counted, decide, held},
};
use crate::{
    candidate::{Hop, HostId, Ticket},
    config::SweepChoice,
    fetch::FetchError,
    frontier::{Asked, Lease, Outcome, WorkItem},
    store::{AfterSweep, Refetch, RescueRow, Step, SweepRequest, Swept, VisitOutcome},
    time::Moment,
};

/// Where the sweep stands.
#[derive(Debug, Default)]
pub(super) struct Rescues {
    state: SweepState,
    /// The lost URLs that each page is fetched again for.
    orders: HashMap<Ticket, (Refetch, Vec<u64>)>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum SweepState {
    /// Nothing was compared since the last page was fetched.
    #[default]
    Due,
    /// The writer compares.
    Asked,
    /// All that can be done was done.
    Complete,
}

/// A page that was fetched again, with what of it is to be admitted.
pub(super) struct Rescued {
    parent: WorkItem,
    proposals: Proposals,
    found: Provenance,
    step: Step,
    /// What it is now, where that tells where it leads.
    answer: Option<VisitOutcome>,
}

/// What a drained crawl does next.
pub(super) enum AtDrain {
    /// It waits for the sweep.
    Wait,
    /// It ends.
    End,
}

impl Core {
    /// Nothing is leased, and nothing is queued but what a limit holds back.
    pub(super) fn drained(&mut self, now: Moment) -> AtDrain {
        let then = match self.settings.cache.sweep {
            SweepChoice::Off => return AtDrain::End,
            SweepChoice::Report => AfterSweep::Report,
            SweepChoice::Rescue => AfterSweep::Rescue,
        };
        match self.rescues.state {
            SweepState::Complete => return AtDrain::End,
            SweepState::Asked => return AtDrain::Wait,
            SweepState::Due => self.rescues.state = SweepState::Asked,
        }
        tracing::debug!("nothing is left to fetch: comparing all kept links with all URLs");
        let limit = self.frontier.depth_limit();
        self.outbox.ask(Question::Sweep(SweepRequest { at: now, then, limit }));
        AtDrain::Wait
    }

    /// The writer has compared.
    pub(super) fn swept(&mut self, swept: Swept) {
        let Swept { links, lost, nearer, orders } = swept;
        if lost > 0 {
            tracing::info!(links, lost, fetched_again = orders.len(), "the sweep found lost URLs");
        } else {
            tracing::debug!(links, "the sweep found that every kept link has a row");
        }
        if !nearer.is_empty() {
            let rows: u64 = nearer.iter().map(|nearer| nearer.rows).sum();
            tracing::debug!(rows, "shorter ways were found to URLs beyond the depth limit");
        }
        let is_complete = orders.is_empty() && nearer.is_empty();
        self.rescues.state = if is_complete { SweepState::Complete } else { SweepState::Due };
        for rows in nearer {
            self.frontier.came_nearer(rows);
        }
        let mut refused = Vec::new();
        self.admission.wanted.clear();
        for order in orders {
            self.admission.wanted.extend(&order.links);
            self.rescues.orders.insert(order.parent.id, (order.refetch, order.links));
            if !self.frontier.offer_rescue(order.parent.clone()) {
                refused.push(order.parent);
            }
        }
        self.forgo(refused);
    }

    /// Pages on a host that cannot be asked any more are not fetched again.
    pub(super) fn forgo_host(&mut self, host: HostId) {
        let dropped = self.frontier.drop_rescues(host);
        self.forgo(dropped);
    }

    fn forgo(&mut self, parents: Vec<WorkItem>) {
        for parent in parents {
            let mut step = Step::default();
            self.settle(&parent, Vec::new(), None, &mut step);
            self.send(step);
        }
    }

    /// Ends the lease of a page to be fetched again, without a request.
    pub(super) fn forgo_lease(&mut self, lease: Lease, now: Moment) {
        let parent = lease.item().clone();
        self.frontier.complete(lease, Outcome::Finished { stored: false }, Asked::No, now);
        tracing::debug!(url = %parent.url, "robots.txt or the scope forbids fetching it again for lost links");
        self.forgo(vec![parent]);
    }

    /// A page was fetched again: the lost URLs that it still links to are admitted.
    pub(super) fn rescue_finished(
        &mut self,
        report: Report,
        at: Moment,
        now: Moment,
    ) -> Result<Option<Task>, CacheFailure> {
        let heeded = self.heed(&report.lease, &report.result, at);
        let Report { lease, requests, result } = report;
        let mut step = Step { counters: counted(requests, &result), health: heeded.health, ..Step::default() };
        let (asked, parent) = (asked(requests, &result), lease.item().clone());
        let again = match decide(&result, heeded.fault, parent.attempts, &self.settings.retry) {
            Decision::Final { .. } => None,
            Decision::Retry { pause, attempts, .. } => {
                let due = at + pause.min(self.longest_pause());
                Some(Outcome::Retry { due, attempts, failed: held(heeded.fault, &parent, at) })
            }
        };
        if let Some(again) = again.filter(|_| !self.frontier.is_closed(lease.host()) && self.is_wanted(parent.id)) {
            tracing::debug!(url = %parent.url, "will be fetched again once more");
            self.frontier.complete(lease, again, asked, at);
            self.send(step);
            return Ok(None);
        }
        step.counters.rescue_fetches = 1;
        self.frontier.complete(lease, Outcome::Finished { stored: false }, asked, at);
        let answer = what_it_is(&result);
        let (mut proposals, found) = self.proposed_again(&parent, result, at);
        let answer = answer.filter(|_| !proposals.are_cut());
        let mut wanted: HashSet<u64> = self.wanted_of(parent.id).collect();
        proposals.passed.retain(|proposal| wanted.remove(&proposal.fingerprint.short()));
        proposals.refused.clear();
        self.admit_rescued(Rescued { parent, proposals, found, step, answer }, now)
    }

    /// The lost URLs that a page is fetched again for and that were not found on another meanwhile.
    fn wanted_of(&self, parent: Ticket) -> impl Iterator<Item = u64> {
        let ordered = self.rescues.orders.get(&parent).map_or(&[][..], |(_, links)| links);
        ordered.iter().copied().filter(|link| self.admission.wanted.contains(link))
    }

    /// Whether there are any: a host that is silent need not be waited for otherwise.
    fn is_wanted(&self, parent: Ticket) -> bool {
        self.wanted_of(parent).next().is_some()
    }

    /// Admits what a page that was fetched again still links to.
    pub(super) fn admit_rescued(&mut self, rescued: Rescued, now: Moment) -> Result<Option<Task>, CacheFailure> {
        let links: Vec<u64> = rescued.proposals.kept_links();
        let ready = if links.is_empty() { Ready::Yes } else { self.make_room_for(&rescued.proposals.passed, now)? };
        match ready {
            Ready::Yes => {}
            Ready::NotYet => return Ok(Some(Task::Rescued(Box::new(rescued)))),
            Ready::No => {
                // They cannot be let in any more: the page is fetched again in a run that may.
                self.send(rescued.step);
                return Ok(None);
            }
        }
        let Rescued { parent, proposals, found, mut step, answer } = rescued;
        let admitted = self.admission.admit(proposals, found, &mut self.frontier, &mut step);
        let rescued = links.into_iter().zip(admitted).collect();
        self.settle(&parent, rescued, answer, &mut step);
        self.send(step);
        Ok(None)
    }

    /// What a page proposes when it is fetched again, and where that is found.
    fn proposed_again(
        &self,
        parent: &WorkItem,
        result: Result<KeptResponse, FetchError>,
        at: Moment,
    ) -> (Proposals, Provenance) {
        let found = |hop, depth, redirects| {
            let (via, judge) = (Some(parent.id), Judge::Rescue);
            Provenance { hop, via, depth, redirects, judge, at }
        };
        match result.map(|answer| answer.content) {
            Ok(Content::Redirect(target)) => {
                (self.pure.one(target), found(Hop::Redirect, parent.depth, parent.redirects + 1))
            }
            Ok(Content::Page(page)) => (page.links.judged(&self.pure), found(Hop::Link, parent.depth + 1, 0)),
            _ => (Proposals::default(), found(Hop::Link, parent.depth + 1, 0)),
        }
    }

    /// Notes which lost URLs a page that was fetched again led to, and what it is now.
    fn settle(
        &mut self,
        parent: &WorkItem,
        rescued: Vec<(u64, Ticket)>,
        answer: Option<VisitOutcome>,
        step: &mut Step,
    ) {
        let Some((refetch, ordered)) = self.rescues.orders.remove(&parent.id) else { return };
        let proves = answer.is_some();
        tracing::debug!(url = %parent.url, ordered = ordered.len(), found = rescued.len(), proves, "fetched for lost links");
        step.rescue = Some(RescueRow { parent: parent.id, refetch, rescued, answer });
    }
}

/// A whole page whose links may be followed, or a redirect: it tells where it leads. Nothing else does.
fn what_it_is(result: &Result<KeptResponse, FetchError>) -> Option<VisitOutcome> {
    let answer = result.as_ref().ok()?;
    match &answer.content {
        Content::Redirect(_) => Some(VisitOutcome::Redirected),
        Content::Page(page) if page.follows && page.bytes > 0 && answer.truncated.is_none() => {
            Some(VisitOutcome::Stored)
        }
        _ => None,
    }
}
