//! [`Frontier`]: the host queues together.

use std::{collections::BTreeSet, num::NonZeroU64, num::NonZeroUsize, time::Duration};

use super::{
    Asked, Counts, Errand, ErrandOutcome, Lease, Order, PageOutcome, Place, Queued, RefillAnswer, RefillRequest, Work,
    host_queue::{Eligible, HostQueue},
    levels::Levels,
    prerequisite::Prerequisite,
};
use crate::{candidate::HostId, time::Moment, url::Origin};

/// What the frontier keeps to.
#[derive(Debug, Clone)]
pub struct FrontierLimits {
    /// Rows of one host that memory holds at most.
    pub heads_per_host: NonZeroUsize,
    /// Leases of one host at a time.
    pub per_host: NonZeroUsize,
    /// Which URL of a host is best.
    pub order: Order,
    /// URLs deeper than this stay queued and are not leased.
    pub max_depth: Option<u32>,
    /// A host with so many stored pages is not asked for more.
    pub max_pages_per_host: Option<NonZeroU64>,
}

/// What is known of a host when it enters the frontier; all zero for one never seen.
#[derive(Debug, Clone)]
pub struct HostStart {
    /// The host.
    pub origin: Origin,
    /// Not asked before this moment.
    pub ready_at: Moment,
    /// Pause between the end of a request and the next.
    pub delay: Duration,
    /// Rows queued in the table up to the depth limit, without a due time.
    pub plain: u64,
    /// Rows queued in the table up to the depth limit, with a due time.
    pub waiting: u64,
    /// Rows queued in the table beyond the depth limit.
    pub held: u64,
    /// The earliest of those due times.
    pub next_due: Option<Moment>,
    /// Pages stored in this sequence.
    pub stored: u64,
    /// URLs with a final answer in this sequence.
    pub fetched: u64,
    /// Queued rows by depth, up to the depth limit.
    pub by_depth: Vec<(u32, u64)>,
}

impl HostStart {
    /// A host never seen before.
    pub fn new(origin: Origin, delay: Duration) -> Self {
        let (ready_at, next_due, by_depth) = (Moment::EPOCH, None, Vec::new());
        let (stored, fetched) = (0, 0);
        Self { origin, ready_at, delay, plain: 0, waiting: 0, held: 0, next_due, stored, fetched, by_depth }
    }
}

/// What can be done now.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// Fetch this.
    Lease(Lease),
    /// Nothing before this moment.
    WaitUntil(Moment),
    /// Ask the table for these rows, then ask again; the answer goes to [`Frontier::refilled`].
    NeedsRefill(RefillRequest),
    /// Nothing before a lease is completed or a refill answered.
    Blocked,
    /// Nothing is leased; all that is queued, or waits to be fetched again, is beyond a depth or page limit.
    Held,
    /// Nothing is queued or leased, and nothing waits to be fetched again.
    Drained,
}

/// The frontier. See the [module documentation](super).
///
/// ```
/// use std::{num::NonZeroUsize, time::Duration};
/// use webloom::{candidate::{Hop, UrlId}, frontier::*, time::Moment, url::WebUrl};
/// let one = NonZeroUsize::MIN;
/// let limits = FrontierLimits { heads_per_host: one, per_host: one, order: Order::Breadth, max_depth: None, max_pages_per_host: None };
/// let mut frontier = Frontier::new(limits);
/// let url = WebUrl::parse("http://h/")?;
/// let host = frontier.add_host(HostStart::new(url.origin(), Duration::from_secs(1)));
/// frontier.offer(Queued { id: UrlId(1), host, url, hop: Hop::Start, depth: 0, redirects: 0, attempts: 0 });
/// let now = Moment::from_millis(0);
/// let Next::Lease(robots) = frontier.next(now) else { panic!("robots.txt comes first") };
/// let met = ErrandOutcome::Met { until: now + Duration::from_secs(86_400) };
/// frontier.complete_errand(robots, met, Asked::Yes, now);
/// assert_eq!(frontier.next(now), Next::WaitUntil(now + Duration::from_secs(1)));
/// # Ok::<(), webloom::url::UrlError>(())
/// ```
#[derive(Debug)]
pub struct Frontier {
    limits: FrontierLimits,
    pub(super) hosts: Vec<HostQueue>,
    agenda: BTreeSet<(Moment, u64, HostId)>,
    entries: Vec<Option<(Moment, u64)>>,
    tick: u64,
    /// The latest moment that was told.
    now: Moment,
    levels: Levels,
    counts: Counts,
    /// Queued rows that were fetched before.
    retrying: u64,
    leased_errands: u64,
    /// Queued or leased.
    pub(super) rescues: u64,
    pub(super) leased_rescues: u64,
    open_refills: u64,
}

impl Frontier {
    /// An empty frontier.
    pub fn new(limits: FrontierLimits) -> Self {
        Self {
            limits,
            hosts: Vec::new(),
            agenda: BTreeSet::new(),
            entries: Vec::new(),
            tick: 0,
            now: Moment::EPOCH,
            levels: Levels::default(),
            counts: Counts::default(),
            retrying: 0,
            leased_errands: 0,
            rescues: 0,
            leased_rescues: 0,
            open_refills: 0,
        }
    }

    /// Takes over what earlier runs of this sequence counted; hosts with their queued rows are added after it.
    pub fn resume(&mut self, counts: Counts) {
        self.counts = counts;
    }

    /// Adds a host; ids ascend from 0 in the order of the calls.
    pub fn add_host(&mut self, start: HostStart) -> HostId {
        let host = HostId(u32::try_from(self.hosts.len()).expect("a crawl has fewer than 2^32 hosts"));
        let by_depth = start.by_depth.clone();
        let mut queue = HostQueue::new(host, start);
        self.retrying += queue.retrying();
        let sidelined = queue.is_spent(&self.limits);
        for (depth, count) in by_depth {
            queue.levels.add(depth, count);
            self.levels.add(depth, if sidelined { 0 } else { count });
        }
        self.hosts.push(queue);
        self.entries.push(None);
        self.plan(host);
        host
    }

    /// Adds an admitted URL, whose row has been sent to the table. On a closed host it counts as abandoned.
    pub fn offer(&mut self, queued: Queued) {
        let (host, depth) = (queued.host, queued.depth);
        self.counts.admitted += 1;
        if self.is_closed(host) {
            self.counts.abandoned += 1;
            return;
        }
        self.counts.queued += 1;
        let place = self.place(&queued);
        let queue = &mut self.hosts[host.0 as usize];
        if self.limits.max_depth.is_some_and(|most| depth > most) {
            queue.hold();
            return;
        }
        self.levels.add(depth, u64::from(!queue.is_spent(&self.limits)));
        queue.levels.add(depth, 1);
        queue.offer(place, queued, self.limits.heads_per_host.get());
        self.plan_earlier(host);
    }

    /// What can be done now. Call it again after each lease and each refill request, until it answers something else.
    pub fn next(&mut self, now: Moment) -> Next {
        self.now = self.now.max(now);
        while let Some(&(at, _, host)) = self.agenda.first() {
            if at > now {
                return Next::WaitUntil(at);
            }
            let level = self.level();
            let queue = &mut self.hosts[host.0 as usize];
            if let Some(request) =
                queue.wanted_refill(&self.limits, level, now).filter(|_| queue.prerequisite.is_met(now))
            {
                queue.begin_refill(request);
                self.open_refills += 1;
                self.plan(host);
                return Next::NeedsRefill(request);
            }
            if let Some(lease) = self.grant(host, now) {
                self.plan(host);
                return Next::Lease(lease);
            }
            self.plan(host);
        }
        match () {
            () if self.counts.leased + self.leased_errands + self.leased_rescues + self.open_refills > 0 => {
                Next::Blocked
            }
            () if self.counts.queued + self.rescues > 0 => Next::Held,
            () => Next::Drained,
        }
    }

    /// Gives the slot of a lease back before the lease is completed: the host may be asked again after its delay.
    pub fn free_slot(&mut self, lease: &mut Lease, now: Moment) {
        if std::mem::take(&mut lease.holds_slot) {
            let queue = &mut self.hosts[lease.host.0 as usize];
            queue.free_slot();
            queue.rest(now);
            self.plan(lease.host);
        }
    }

    /// Ends the lease of a page.
    pub fn complete_page(&mut self, lease: Lease, outcome: PageOutcome, asked: Asked, now: Moment) {
        let host = self.end_slot(&lease, asked, now);
        let Work::Page(queued) = lease.work else { unreachable!("other work has a completion of its own") };
        let (id, depth, place) = (queued.id, queued.depth, self.place(&queued));
        self.counts.leased -= 1;
        let queue = &mut self.hosts[host.0 as usize];
        let was_spent = queue.is_spent(&self.limits);
        match outcome {
            PageOutcome::Finished { stored } => {
                queue.finish(id, stored);
                self.counts.finished += 1;
            }
            PageOutcome::Retry { due } if !queue.closed => {
                self.retrying += 1;
                queue.retry_later(id, due);
                self.counts.queued += 1;
            }
            PageOutcome::Released if !queue.closed => {
                self.retrying += u64::from(queued.attempts > 0);
                queue.release(place, queued, self.limits.heads_per_host.get());
                self.counts.queued += 1;
            }
            PageOutcome::Abandoned | PageOutcome::Retry { .. } | PageOutcome::Released => {
                queue.end_lease(id);
                self.counts.abandoned += 1;
            }
        }
        let left = queue.closed || matches!(outcome, PageOutcome::Finished { .. } | PageOutcome::Abandoned);
        queue.levels.remove(depth, u64::from(left));
        let spent = queue.is_spent(&self.limits);
        let mut leaving = if spent && !was_spent { queue.queued_by_depth() } else { Vec::new() };
        leaving.push((depth, u64::from(left || was_spent)));
        self.leave_levels(leaving);
        self.plan(host);
    }

    /// Ends the lease of a prerequisite; returns how many queued URLs were abandoned with it.
    pub fn complete_errand(&mut self, lease: Lease, outcome: ErrandOutcome, asked: Asked, now: Moment) -> u64 {
        let host = self.end_slot(&lease, asked, now);
        let Work::Errand(errand) = lease.work else { unreachable!("other work has a completion of its own") };
        self.leased_errands -= 1;
        let mut abandoned = 0;
        let waiting = errand.for_host;
        match outcome {
            ErrandOutcome::Met { until } => self.set_prerequisite(waiting, Prerequisite::Unused { since: now, until }),
            ErrandOutcome::Retry { at } => self.set_prerequisite(waiting, Prerequisite::NeededAt(at)),
            ErrandOutcome::Redirected { host: target, to } => {
                let next = Errand { for_host: waiting, url: to, redirects: errand.redirects + 1 };
                self.hosts[target.0 as usize].errands.push_back(next);
                self.plan(target);
            }
            ErrandOutcome::Failed => abandoned = self.close(waiting),
        }
        self.plan(waiting);
        self.plan(host);
        abandoned
    }

    /// The rows asked for with [`Next::NeedsRefill`].
    pub fn refilled(&mut self, host: HostId, answer: RefillAnswer) {
        self.open_refills -= 1;
        self.hosts[host.0 as usize].refilled(answer, self.limits.order, self.limits.heads_per_host.get());
        self.plan(host);
    }

    /// Sets the pause between the end of a request and the next to this host.
    pub fn set_delay(&mut self, host: HostId, delay: Duration) {
        self.hosts[host.0 as usize].delay = delay;
    }

    /// The host is not asked before this moment (`Retry-After`, back-off).
    pub fn not_before(&mut self, host: HostId, moment: Moment) {
        let queue = &mut self.hosts[host.0 as usize];
        queue.ready_at = queue.ready_at.max(moment);
        self.plan(host);
    }

    /// Whether the host's prerequisite failed for good.
    pub fn is_closed(&self, host: HostId) -> bool {
        self.hosts[host.0 as usize].closed
    }

    /// Scheme, name and port of a host.
    pub fn origin(&self, host: HostId) -> &Origin {
        &self.hosts[host.0 as usize].origin
    }

    /// The counts of the law.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// URLs that were fetched, with a final answer or to be tried again; those leased are not among them.
    pub fn fetched(&self) -> u64 {
        self.counts.finished + self.retrying
    }

    /// Rows held in memory.
    pub fn in_memory(&self) -> usize {
        self.hosts.iter().map(HostQueue::in_memory).sum()
    }

    fn place(&self, queued: &Queued) -> Place {
        Place { rank: self.limits.order.rank(queued.depth), id: queued.id }
    }

    /// The depth that may be leased, where levels are finished one by one.
    fn level(&self) -> Option<u32> {
        let by_level = self.limits.max_depth.is_some() && self.limits.order == Order::Breadth;
        by_level.then(|| self.levels.lowest().unwrap_or(0))
    }

    fn grant(&mut self, host: HostId, now: Moment) -> Option<Lease> {
        let level = self.level();
        let queue = &mut self.hosts[host.0 as usize];
        if queue.eligible(&self.limits, level) > Eligible::At(now) {
            return None;
        }
        if queue.errands.is_empty() && !queue.prerequisite.is_met(now) {
            let url = queue.origin.robots_txt();
            queue.errands.push_back(Errand { for_host: host, url, redirects: 0 });
            queue.prerequisite = Prerequisite::Pending;
        }
        let work = if let Some(errand) = queue.errands.pop_front() {
            self.leased_errands += 1;
            Work::Errand(errand)
        } else if let Some(queued) = queue.take_rescue(now) {
            self.leased_rescues += 1;
            Work::Rescue(queued)
        } else {
            let queued = queue.leasable(level).then(|| queue.take_best()).flatten()?;
            self.retrying -= u64::from(queued.attempts > 0);
            self.counts.queued -= 1;
            self.counts.leased += 1;
            Work::Page(queued)
        };
        queue.take_slot();
        Some(Lease { host, holds_slot: true, work })
    }

    pub(super) fn end_slot(&mut self, lease: &Lease, asked: Asked, now: Moment) -> HostId {
        let queue = &mut self.hosts[lease.host.0 as usize];
        if asked == Asked::Yes && !matches!(lease.work, Work::Errand(_)) {
            queue.prerequisite.is_used();
        }
        if lease.holds_slot {
            queue.free_slot();
            if asked == Asked::Yes {
                queue.rest(now);
            }
        }
        lease.host
    }

    fn set_prerequisite(&mut self, host: HostId, state: Prerequisite) {
        self.hosts[host.0 as usize].prerequisite = state;
    }

    fn close(&mut self, host: HostId) -> u64 {
        let queue = &mut self.hosts[host.0 as usize];
        let spent = queue.is_spent(&self.limits);
        self.retrying -= queue.retrying();
        let closed = queue.close();
        // The levels do not count what is queued on a spent host.
        self.leave_levels(if spent { Vec::new() } else { closed.by_depth });
        self.counts.queued -= closed.abandoned;
        self.counts.abandoned += closed.abandoned;
        closed.abandoned
    }

    /// Takes URLs out of the levels that others wait for.
    fn leave_levels(&mut self, leaving: Vec<(u32, u64)>) {
        let before = self.level();
        for (depth, count) in leaving {
            self.levels.remove(depth, count);
        }
        if self.level() != before {
            self.plan_all();
        }
    }

    fn plan_all(&mut self) {
        for host in 0..self.hosts.len() {
            self.plan(HostId(u32::try_from(host).expect("host ids are 32 bits")));
        }
    }

    /// As [`Self::plan`], but a host that has its turn already keeps it.
    fn plan_earlier(&mut self, host: HostId) {
        let planned = self.entries[host.0 as usize];
        if planned.is_none_or(|(at, _)| self.turn(host).is_some_and(|turn| turn < at)) {
            self.plan(host);
        }
    }

    /// When the host's turn is. Hosts whose time has come are equal, however long ago that was: they take turns.
    fn turn(&self, host: HostId) -> Option<Moment> {
        match self.hosts[host.0 as usize].eligible(&self.limits, self.level()) {
            Eligible::At(at) => Some(at.max(self.now)),
            Eligible::Waits => None,
        }
    }

    /// Enters the host in the agenda at the moment it can next do something, behind the others of that moment.
    pub(super) fn plan(&mut self, host: HostId) {
        let index = host.0 as usize;
        if let Some((at, tick)) = self.entries[index].take() {
            self.agenda.remove(&(at, tick, host));
        }
        if let Some(at) = self.turn(host) {
            self.tick += 1;
            self.agenda.insert((at, self.tick, host));
            self.entries[index] = Some((at, self.tick));
        }
    }
}
