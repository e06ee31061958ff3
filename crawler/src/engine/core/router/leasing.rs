//! What is leased next, and when a run ends.

use super::super::{AtDrain, CacheEnding, Core, LeaseAllowance, Permission, RunEnd, StoreQuestion, Then, Workload};
use crate::{
    frontier::{Asked, Lease, Next, Outcome},
    purpose::Purpose,
    store::{Abandonment, Step, UrlChange},
    time::Moment,
};

/// Leases granted in one turn.
const MOST_GRANTS: usize = 64;

impl Core {
    /// Grants leases while it can, but not for ever: what needs no request could go on and on.
    pub(super) fn grant(&mut self, now: Moment) -> Then {
        for _ in 0..MOST_GRANTS {
            if self.robots.has_ready() {
                if let Some(moment) = self.begin_ready(now) {
                    return Then::Wait(Some(moment));
                }
                continue;
            }
            if self.finishes() {
                return self.wait_between(&Next::Blocked, now);
            }
            match self.allowance(now) {
                LeaseAllowance::Yes => {}
                LeaseAllowance::NotYet(until) => return Then::Wait(until),
                // A page that is held back may turn out to be none.
                LeaseAllowance::Spent if self.is_settled() => return self.end_by_budget(now),
                LeaseAllowance::Spent => return Then::Wait(None),
            }
            if !self.outbox.has_room() || self.level_is_open() {
                return Then::Wait(None);
            }
            match self.frontier.next(now) {
                Next::Lease(lease) => self.begin_lease(lease, now),
                Next::NeedsRefill(request) => self.outbox.ask(StoreQuestion::Rows(request)),
                left if self.between.is_some() => return self.wait_between(&left, now),
                Next::WaitUntil(moment) => return Then::Wait(Some(moment)),
                Next::Blocked => return Then::Wait(None),
                Next::Unreachable | Next::Held | Next::Drained if self.outbox.is_unconfirmed() => {
                    return Then::Wait(None);
                }
                Next::Unreachable if self.leaves_guesses() || self.leaves_checks() || self.drop_second_looks() => {}
                Next::Held if self.is_beyond_budget(now) => return self.end_by_budget(now),
                left => return self.nothing_to_lease(&left, now),
            }
        }
        Then::Turn
    }

    /// Whether one more lease may be granted. After the end of a sequence what is due may be fetched whatever the budgets say, and links
    /// are checked whatever but the time is spent.
    fn allowance(&mut self, now: Moment) -> LeaseAllowance {
        let checks =
            (self.link_checks.are_under_way() || self.second_looks.are_under_way()) && !self.limits.is_out_of_time(now);
        if self.between.is_none() && !checks {
            return self.limits.allow(&self.work(), now);
        }
        let rows = !self.limits.is_spent(&self.work(), now);
        self.frontier.lease_rows(rows);
        self.limits.room(&self.work(), now)
    }

    /// Whether links are checked after a budget has ended the fetching of pages.
    fn is_beyond_budget(&self, now: Moment) -> bool {
        (self.link_checks.are_under_way() || self.second_looks.are_under_way())
            && self.limits.is_spent(&self.work(), now)
    }

    /// Only hosts that do not answer are left: whether nothing was to be asked of any of them but whether it has a sitemap. A run that
    /// goes on asks again.
    fn leaves_guesses(&mut self) -> bool {
        let hosts = if self.frontier.counts().queued == 0 { self.frontier.drop_guesses() } else { 0 };
        if hosts > 0 {
            tracing::warn!(hosts, "hosts that do not answer any more were not asked for a sitemap");
        }
        hosts > 0
    }

    /// Nothing more can be leased: what is left to do before the end.
    fn nothing_to_lease(&mut self, left: &Next, now: Moment) -> Then {
        let drained = *left == Next::Drained;
        // What was held and is queued again must not be swept meanwhile.
        if self.outbox.has_questions() {
            return Then::Wait(None);
        }
        if self.limits.held_early() {
            self.outbox.ask(StoreQuestion::Held);
            return Then::Wait(None);
        }
        if self.admission.ending() != CacheEnding::Next
            && let Some(host) = self.sources.next_left()
        {
            self.outbox.ask(StoreQuestion::Robots(host));
            return Then::Wait(None);
        }
        let then = match self.admission.ending() {
            // Also where a limit holds URLs back: what was left to the next sequence may be within it.
            CacheEnding::Next => Then::End(RunEnd::Restart),
            _ if *left == Next::Unreachable => Then::End(RunEnd::Unreachable),
            // Pages on a host that has all that it may have are not fetched again either.
            _ if !drained && self.frontier.extras() > 0 => Then::End(RunEnd::Budget),
            CacheEnding::CompleteThenNext => self.swept_then(RunEnd::Aged { drained }, now),
            CacheEnding::Complete | CacheEnding::Stop if drained => self.swept_then(RunEnd::Drained, now),
            CacheEnding::Complete | CacheEnding::Stop => self.swept_then(RunEnd::Budget, now),
        };
        if let Then::End(end) = then { self.links_checked_then(end, now) } else { then }
    }

    pub(super) fn warn_of_unreachable(&self) {
        let (counts, hosts) = (self.frontier.counts(), self.frontier.unhealthy());
        let waiting = counts.queued;
        tracing::warn!(hosts, waiting, "only hosts that do not answer are left; their URLs stay queued");
    }

    /// Begins a lease whose robots.txt was read; until when it must wait, if it must.
    fn begin_ready(&mut self, now: Moment) -> Option<Moment> {
        if self.limits.is_out_of_time(now) && self.between.is_none() {
            while let Some(lease) = self.robots.next_ready() {
                self.give_back(lease, Asked::No, now);
            }
            return None;
        }
        let wait = self.limits.waits(now);
        if wait.is_none()
            && let Some(lease) = self.robots.next_ready()
        {
            // Another request to its host may have ended while it waited.
            if self.frontier.rests(&lease, now) {
                self.give_back(lease, Asked::No, now);
            } else {
                self.visit(lease);
            }
        }
        wait
    }

    /// Ends when the sweep has nothing more to do.
    pub(super) fn swept_then(&mut self, end: RunEnd, now: Moment) -> Then {
        match self.sweep.drained(self.frontier.depth_limit(), now) {
            AtDrain::Ask(request) => {
                self.outbox.ask(StoreQuestion::Sweep(request));
                Then::Wait(None)
            }
            AtDrain::Wait => Then::Wait(None),
            AtDrain::End => Then::End(end),
        }
    }

    /// What is done, and what is still to do.
    fn work(&self) -> Workload<'_> {
        let counts = self.frontier.counts();
        Workload {
            counters: self.outbox.counters(),
            fetched: self.frontier.fetched(),
            is_left: counts.queued + counts.leased + self.frontier.extras() > 0,
            waiting: self.intake.len() + self.robots.waiting(),
        }
    }

    /// Whether nothing is carried out, taken in, held back, or waits for an answer of the store.
    pub(super) fn is_settled(&self) -> bool {
        self.limits.in_flight() + self.work().waiting == 0 && self.starts.deadline().is_none()
    }

    fn end_by_budget(&mut self, now: Moment) -> Then {
        if self.limits.has_fetched_too_much(self.frontier.fetched()) {
            let (pages, urls) = (self.outbox.counters().stored, self.frontier.fetched());
            tracing::warn!(pages, urls, "--max-pages ends the crawl, although few of the fetched URLs are pages");
            if pages == 0 {
                return Then::End(RunEnd::Failed);
            }
        }
        self.links_checked_then(RunEnd::Budget, now)
    }

    /// Begins a lease, unless it can be answered without a request.
    fn begin_lease(&mut self, lease: Lease, now: Moment) {
        self.limits.begin(&lease);
        let is_link_check = lease.purpose().is_link_check();
        match lease.item().of {
            Some(of) if lease.item().redirects == 0 && self.robots.ignores(self.frontier.origin(of)) => {
                self.ignore_robots(lease, now);
            }
            Some(_) => self.visit(lease),
            _ if lease.purpose() == Purpose::LookUp => self.visit(lease),
            _ if !is_link_check && !self.starts.allows(lease.item()) => self.abandon(lease, Abandonment::Scope, now),
            _ if self.limits.holds(lease.item()) => self.hold(lease, now),
            _ => match self.robots.permission(&lease) {
                Permission::Given => match self.sources.take(lease.item()) {
                    Some(answer) => self.use_answer(lease, answer, now),
                    None => self.visit(lease),
                },
                Permission::Refused => self.abandon(lease, Abandonment::Robots, now),
                Permission::Unknown => self.recall_robots(lease),
            },
        }
    }

    /// Ends a lease without a request; its URL stays queued.
    fn hold(&mut self, lease: Lease, now: Moment) {
        self.limits.end(&lease);
        let id = lease.item().id;
        self.starts.settle(id);
        self.frontier.complete(lease, Outcome::Held, Asked::No, now);
        self.send(Step { change: Some((id, UrlChange::Held)), ..Step::default() });
    }

    /// Has a lease wait until the robots.txt of its host was read from its row.
    fn recall_robots(&mut self, lease: Lease) {
        let host = lease.host();
        if self.robots.wait_for(lease) {
            tracing::debug!(host = %self.frontier.origin(host), "reading its robots.txt from the database again");
            self.outbox.ask(StoreQuestion::Robots(host));
        }
    }

    /// Has a lease carried out, now that a request may be sent.
    fn visit(&mut self, mut lease: Lease) {
        if lease.purpose().is_link_check() {
            self.choose_method(&mut lease);
        }
        if let Some(pause) = self.limits.pause_after(lease.item()) {
            lease.rests_for(pause);
        }
        self.limits.sent();
        self.outbox.fetch(lease, self.starts.judging());
    }

    /// Whether what is not confirmed may lie on a level that must be done before the next.
    fn level_is_open(&self) -> bool {
        self.frontier.is_by_level() && self.outbox.is_unconfirmed()
    }
}
