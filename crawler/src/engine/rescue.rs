//! The end of a crawl: the sweep, and the pages fetched again for lost URLs.
//!
//! Owns: when a sweep is asked for, which lost URLs a page is fetched again for, and what becomes of them.
//!
//! Invariants: a sweep begins only when nothing is leased, nor queued but beyond a depth or page limit; a lost URL is
//! admitted once; what a round finds is committed before the next one begins. The rounds end because the writer names a
//! page for a lost URL only once.

use std::collections::{HashMap, HashSet};

use super::{
    EngineError,
    admission::{Found, Judge, Proposals},
    reports::{asked, counted},
    scheduler::Scheduler,
    verdict::{Decision, decide},
    visit::{Answer, Content, Report},
};
use crate::{
    candidate::{Hop, HostId, UrlId},
    config::SweepChoice,
    fetch::{FetchError, Fetcher, Truncation},
    frontier::{Asked, Lease, Queued, Work},
    store::{AfterSweep, LostState, Message, RescueRow, Step, SweepRequest, Swept},
};

/// Where the sweep stands.
#[derive(Debug, Default)]
pub(super) struct Rescues {
    state: SweepState,
    /// The lost URLs that each page is fetched again for.
    orders: HashMap<UrlId, Vec<u64>>,
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

/// What a drained crawl does next.
pub(super) enum AtDrain {
    /// It waits for the sweep.
    Wait,
    /// It ends.
    End,
}

impl<F: Fetcher + 'static> Scheduler<F> {
    /// Nothing is leased, and nothing is queued but what a limit holds back.
    pub(super) async fn drained(&mut self) -> Result<AtDrain, EngineError> {
        let then = match self.settings.cache.sweep {
            SweepChoice::Off => return Ok(AtDrain::End),
            SweepChoice::Report => AfterSweep::Report,
            SweepChoice::Rescue => AfterSweep::Rescue,
        };
        match self.rescues.state {
            SweepState::Complete => return Ok(AtDrain::End),
            SweepState::Asked => return Ok(AtDrain::Wait),
            SweepState::Due => self.rescues.state = SweepState::Asked,
        }
        tracing::debug!("nothing is left to fetch: comparing all kept links with all URLs");
        let request = SweepRequest { at: self.clock.now(), then };
        let reply = self.answers.swept();
        self.message(Message::Sweep(request, reply)).await?;
        Ok(AtDrain::Wait)
    }

    /// The writer has compared.
    pub(super) async fn swept(&mut self, swept: Swept) -> Result<(), EngineError> {
        let Swept { links, lost, orders } = swept;
        if lost > 0 {
            tracing::info!(links, lost, fetched_again = orders.len(), "the sweep found lost URLs");
        } else {
            tracing::debug!(links, "the sweep found that every kept link has a row");
        }
        if orders.is_empty() {
            self.rescues.state = SweepState::Complete;
            return Ok(());
        }
        self.rescues.state = SweepState::Due;
        let mut refused = Vec::new();
        for order in orders {
            self.door.wanted.extend(&order.links);
            self.rescues.orders.insert(order.parent.id, order.links);
            if !self.frontier.offer_rescue(order.parent.clone()) {
                refused.push(order.parent);
            }
        }
        self.forgo(refused).await
    }

    /// Pages on a host that cannot be asked any more are not fetched again.
    pub(super) async fn forgo_host(&mut self, host: HostId) -> Result<(), EngineError> {
        let dropped = self.frontier.drop_rescues(host);
        self.forgo(dropped).await
    }

    async fn forgo(&mut self, parents: Vec<Queued>) -> Result<(), EngineError> {
        for parent in parents {
            let mut step = Step::default();
            self.settle(&parent, Vec::new(), LostState::ParentUnreachable, &mut step);
            self.send(step).await?;
        }
        Ok(())
    }

    /// Ends the lease of a page to be fetched again, without a request.
    pub(super) async fn forgo_lease(&mut self, lease: Lease) -> Result<(), EngineError> {
        let parent = self.frontier.complete_rescue(lease, Asked::No, self.clock.now());
        tracing::debug!(url = %parent.url, "robots.txt or the scope forbids to fetch it again for lost links");
        self.forgo(vec![parent]).await
    }

    /// A page was fetched again: the lost URLs that it still links to are admitted.
    pub(super) async fn rescue_finished(&mut self, report: Report) -> Result<(), EngineError> {
        let Report { lease, requests, result } = report;
        let now = self.clock.now();
        let mut step = Step { counters: counted(requests, &result), ..Step::default() };
        self.heed_retry_after(&lease, &result, now);
        let asked = asked(requests, &result);
        let Work::Rescue(parent) = lease.work() else { return Ok(()) };
        if let Decision::Retry { pause, reason } = decide(&result, parent.attempts, &self.settings.retry)
            && !self.frontier.is_closed(lease.host())
        {
            tracing::debug!(url = %parent.url, %reason, "to be fetched again once more");
            self.frontier.retry_rescue(lease, now + pause, asked, now);
            return self.send(step).await;
        }
        step.counters.rescue_fetches = 1;
        let parent = self.frontier.complete_rescue(lease, asked, now);
        let why = if is_readable(&result) { LostState::NoLongerLinked } else { LostState::ParentUnreachable };
        let (mut proposals, found) = self.proposed_again(&parent, result);
        let orders = self.rescues.orders.get(&parent.id).map_or(&[][..], Vec::as_slice);
        let mut wanted: HashSet<u64> = orders.iter().copied().filter(|link| self.door.wanted.contains(link)).collect();
        proposals.passed.retain(|proposal| wanted.remove(&proposal.fingerprint.short()));
        proposals.refused.clear();
        let links: Vec<u64> = proposals.kept_links();
        if !links.is_empty() && !self.make_room_for(&proposals.passed).await? {
            // They cannot be let in any more: the page is fetched again in a run that may.
            return self.send(step).await;
        }
        let admitted = self.door.admit(proposals, found, &mut self.frontier, &mut step);
        let rescued = links.into_iter().zip(admitted).collect();
        self.settle(&parent, rescued, why, &mut step);
        self.send(step).await
    }

    /// What a page proposes when it is fetched again, and where that is found.
    fn proposed_again(&self, parent: &Queued, result: Result<Answer, FetchError>) -> (Proposals, Found) {
        let found = |hop, depth, redirects| {
            let (via, judge, at) = (Some(parent.id), Judge::Rescue, self.clock.now());
            Found { hop, via, depth, redirects, judge, at }
        };
        match result.map(|answer| answer.content) {
            Ok(Content::Redirect(target)) => {
                (self.pure.one(target), found(Hop::Redirect, parent.depth, parent.redirects + 1))
            }
            Ok(Content::Page(page)) => (page.links.judged(&self.pure), found(Hop::Link, parent.depth + 1, 0)),
            _ => (Proposals::default(), found(Hop::Link, parent.depth + 1, 0)),
        }
    }

    /// Notes what became of the lost URLs that a page was to be fetched again for. One that another page led to meanwhile
    /// is not lost any more.
    fn settle(&mut self, parent: &Queued, rescued: Vec<(u64, UrlId)>, why: LostState, step: &mut Step) {
        let ordered = self.rescues.orders.remove(&parent.id).unwrap_or_default();
        let missing: Vec<u64> = ordered.into_iter().filter(|link| self.door.wanted.remove(link)).collect();
        let fate = (!missing.is_empty()).then(|| why.as_str());
        tracing::debug!(url = %parent.url, rescued = rescued.len(), missing = missing.len(), fate, "fetched for lost links");
        step.rescue = Some(RescueRow { parent: parent.id, rescued, missing, why });
    }
}

/// Whether a page, or a redirect, was there, as much of it as is ever read.
fn is_readable(result: &Result<Answer, FetchError>) -> bool {
    let Ok(Answer { content: Content::Page(_) | Content::Redirect(_), truncated, .. }) = result else { return false };
    !truncated.is_some_and(Truncation::may_pass)
}
