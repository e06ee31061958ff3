//! [`Frontier`]: the host queues together.

use std::{collections::BTreeSet, time::Duration};

use super::{
    Counts, FrontierLimits, HostStart, Lease, RefillAnswer, RefillRequest, WorkItem,
    agenda::HostAgenda,
    groups::HostGroups,
    health::Health,
    host_queue::{Eligible, HostQueue},
    levels::Levels,
    prerequisite::Prerequisite,
    sharing::Sharing,
};
use crate::{candidate::HostId, order::Weight, time::Moment, url::Origin};

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
    /// Nothing is leased; all that is left is on hosts that have not answered for so long that they are given up.
    Unreachable,
    /// Nothing is leased; all that is queued, or waits beside the rows of its host, is beyond a depth or page limit.
    Held,
    /// Nothing is queued or leased, and nothing waits beside the rows of its host.
    Drained,
}

/// The frontier: what is fetched next, and when.
///
/// ```
/// use std::{num::NonZeroUsize, time::Duration};
/// use webloom::internals::{candidate::{Hop, Ticket}, frontier::*, time::Moment, url::WebUrl};
/// let mut frontier = Frontier::new(FrontierLimits::default());
/// let url = WebUrl::parse("http://h/")?;
/// let host = frontier.add_host(HostStart::new(url.origin(), Duration::from_secs(1)));
/// frontier.offer(WorkItem::discover(Ticket(1), host, url, Hop::Start));
/// let now = Moment::from_millis(0);
/// let Next::Lease(robots) = frontier.next(now) else { panic!("robots.txt comes first") };
/// let met = Outcome::Met { until: now + Duration::from_secs(86_400) };
/// frontier.complete(robots, met, Asked::Yes, now);
/// assert_eq!(frontier.next(now), Next::WaitUntil(now + Duration::from_secs(1)));
/// # Ok::<(), webloom::internals::url::UrlError>(())
/// ```
#[derive(Debug)]
pub struct Frontier {
    pub(super) limits: FrontierLimits,
    pub(super) hosts: Vec<HostQueue>,
    pub(super) agenda: HostAgenda,
    /// The latest moment that a call has given.
    now: Moment,
    pub(super) levels: Levels,
    pub(super) counts: Counts,
    /// Queued rows that cost an attempt.
    pub(super) retrying: u64,
    /// Leases outside the counts: extras, robots.txt and checks.
    pub(super) leased_uncounted: u64,
    /// What is fetched beside the rows, but for robots.txt: queued or leased.
    pub(super) extras: u64,
    pub(super) open_refills: u64,
    /// Rows in memory.
    pub(super) in_memory: usize,
    pub(super) sharing: Sharing,
    /// What hosts share.
    pub(super) groups: HostGroups,
    /// Hosts that are not well.
    pub(super) unhealthy: BTreeSet<HostId>,
    /// Hosts that are asked whether they answer, although nothing else is to be asked of them; whether they were well then.
    pub(super) probed: Vec<(HostId, bool)>,
}

impl Frontier {
    /// An empty frontier.
    pub fn new(mut limits: FrontierLimits) -> Self {
        limits.heads_per_host = limits.heads_per_host.min(limits.heads);
        Self {
            sharing: Sharing::new(limits.heads_per_host),
            groups: HostGroups::new(limits.per_host),
            agenda: if limits.order.is_weighted() { HostAgenda::by_weight() } else { HostAgenda::of_equals() },
            limits,
            hosts: Vec::new(),
            now: Moment::EPOCH,
            levels: Levels::default(),
            counts: Counts::default(),
            retrying: 0,
            leased_uncounted: 0,
            extras: 0,
            open_refills: 0,
            in_memory: 0,
            unhealthy: BTreeSet::new(),
            probed: Vec::new(),
        }
    }

    /// Takes over what earlier runs of this sequence counted; hosts with their queued rows are added after it.
    pub fn resume(&mut self, counts: Counts, now: Moment) {
        (self.counts, self.now) = (counts, now);
    }

    /// Has room for so many more hosts, and no more than that.
    pub fn expect_hosts(&mut self, hosts: usize) {
        self.hosts.reserve_exact(hosts);
        self.agenda.expect_hosts(hosts);
    }

    /// Adds a host; ids ascend from 0 in the order of the calls.
    pub fn add_host(&mut self, mut start: HostStart) -> HostId {
        let host = HostId(u32::try_from(self.hosts.len()).expect("a crawl has fewer than 2^32 hosts"));
        let (health, by_depth) = (std::mem::take(&mut start.health), std::mem::take(&mut start.by_depth));
        let health = Health::resume(health, &self.limits.back_off, self.now);
        if health.is_down() {
            self.unhealthy.insert(host);
        }
        let mut queue = HostQueue::new(host, start, health, self.limits.share_by);
        self.retrying += queue.retrying();
        queue.excluded = queue.is_excluded(&self.limits);
        let by_depth = if self.is_by_level() { by_depth } else { Vec::new() };
        for (depth, count) in by_depth {
            queue.levels.add(depth, count);
            self.levels.add(depth, if queue.excluded { 0 } else { count });
        }
        self.hosts.push(queue);
        self.agenda.add_host();
        self.plan(host);
        host
    }

    /// Adds an admitted URL, whose row has been sent to the table. On a closed host it counts as abandoned.
    pub fn offer(&mut self, item: WorkItem) {
        let (host, depth) = (item.host, item.depth);
        self.counts.admitted += 1;
        if self.is_closed(host) {
            self.counts.abandoned += 1;
            return;
        }
        self.counts.queued += 1;
        if self.limits.max_depth.is_some_and(|most| depth > most) {
            self.queue(host).hold();
            return;
        }
        if self.is_by_level() {
            self.levels.add(depth, u64::from(!self.hosts[host.0 as usize].excluded));
            self.queue(host).levels.add(depth, 1);
        }
        let limit = self.share_of_offered();
        self.remembering(host, |queue, _| queue.offer(item, limit));
        self.plan_earlier(host);
    }

    /// What can be done now. Call it again after each lease and each refill request, until it answers something else.
    pub fn next(&mut self, now: Moment) -> Next {
        self.now = self.now.max(now);
        while let Some(host) = self.next_host(now) {
            let level = self.level_of(host);
            let queue = &mut self.hosts[host.0 as usize];
            if let Some(request) =
                queue.wanted_refill(&self.limits, level, now).filter(|_| queue.prerequisite.is_met(now))
            {
                queue.begin_refill(request);
                self.open_refills += 1;
                self.agenda.keep_turn(host);
                self.plan(host);
                return Next::NeedsRefill(request);
            }
            if let Some(lease) = self.grant(host, now) {
                self.agenda.granted(host);
                self.plan(host);
                return Next::Lease(lease);
            }
            self.plan(host);
        }
        if let Some(at) = self.next_moment() {
            return self.wait(at, now);
        }
        match () {
            () if self.is_under_way() => Next::Blocked,
            () if self.counts.queued + self.extras > 0 => Next::Held,
            () => Next::Drained,
        }
    }

    /// Has queued rows leased, or only what waits beside them.
    pub fn lease_rows(&mut self, rows: bool) {
        if std::mem::replace(&mut self.limits.rows, rows) != rows {
            self.plan_all();
        }
    }

    /// When a host can next do something by itself.
    pub fn next_moment(&self) -> Option<Moment> {
        let moments = [self.agenda.next_moment(), self.groups.next_moment()];
        moments.into_iter().flatten().min()
    }

    /// The host whose turn it is.
    fn next_host(&mut self, now: Moment) -> Option<HostId> {
        self.call_hosts(now);
        self.agenda.due(now)
    }

    /// Whether something is leased or asked for.
    pub(super) fn is_under_way(&self) -> bool {
        self.counts.leased + self.leased_uncounted + self.open_refills > 0
    }

    /// The rows asked for with [`Next::NeedsRefill`].
    pub fn refilled(&mut self, host: HostId, answer: RefillAnswer) {
        self.open_refills -= 1;
        self.remembering(host, |queue, limit| queue.refilled(answer, limit));
        self.plan(host);
    }

    /// Sets the pause between the end of a request and the next to this host. A longer one counts from now, as if a request had
    /// just ended: when the last one did is not kept.
    pub fn set_delay(&mut self, host: HostId, delay: Duration, now: Moment) {
        self.queue(host).set_delay(delay, now);
        self.plan(host);
    }

    /// Nothing but links to a host is checked: it is asked for one thing at a time, and with this pause at least.
    pub fn is_of_links(&mut self, host: HostId, least: Duration, now: Moment) {
        let queue = self.queue(host);
        queue.health.of_links = true;
        queue.raise_delay(least, now);
        self.plan(host);
    }

    /// Has the pause of this host follow a response time: it moves by half of what it differs. Call it before the lease is completed.
    pub fn follow(&mut self, host: HostId, pause: Duration) {
        self.queue(host).follow(pause);
    }

    /// Whether nothing of the host will be fetched.
    pub fn is_closed(&self, host: HostId) -> bool {
        self.hosts[host.0 as usize].closed
    }

    /// Scheme, name and port of a host.
    pub fn origin(&self, host: HostId) -> &Origin {
        &self.hosts[host.0 as usize].origin
    }

    /// How many URLs are queued, leased, finished and abandoned.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// URLs that were fetched, with a final answer or to be tried again by their own fault; those leased are not among them.
    pub fn fetched(&self) -> u64 {
        self.counts.finished + self.retrying
    }

    /// Rows held in memory.
    pub fn in_memory(&self) -> usize {
        self.in_memory
    }

    /// The depth that may be leased on a host, where levels are finished one by one. One that does not answer holds nobody
    /// up, and goes on with its own.
    fn level_of(&self, host: HostId) -> Option<u32> {
        let queue = &self.hosts[host.0 as usize];
        let levels = if queue.health.is_down() { &queue.levels } else { &self.levels };
        self.is_by_level().then(|| levels.lowest().unwrap_or(0))
    }

    /// Whether a level is finished before the next begins.
    pub fn is_by_level(&self) -> bool {
        self.limits.max_depth.is_some() && self.limits.order.is_by_level()
    }

    fn grant(&mut self, host: HostId, now: Moment) -> Option<Lease> {
        let level = self.level_of(host);
        let queue = &mut self.hosts[host.0 as usize];
        if queue.eligible(&self.limits, level) > Eligible::At(now) {
            return None;
        }
        if queue.membership.as_ref().is_some_and(|membership| membership.wants_look_up(now)) {
            return Some(self.grant_look_up(host, now));
        }
        if !self.has_room_in_groups(host, now) {
            return None;
        }
        let queue = &mut self.hosts[host.0 as usize];
        if !queue.has_robots() && !queue.prerequisite.is_met(now) {
            let robots = WorkItem::robots(host, queue.origin.robots_txt(), host);
            queue.put_robots(robots);
            queue.prerequisite = Prerequisite::Pending;
        }
        let item = if let Some(robots) = queue.take_robots() {
            robots
        } else if let Some(check) = queue.take_check(level, now) {
            check
        } else if let Some(extra) = queue.take_extra(now) {
            extra
        } else if !self.limits.rows {
            return None;
        } else {
            let item = queue.take_best(level)?;
            self.in_memory -= 1;
            self.retrying -= u64::from(item.attempts > 0);
            item
        };
        queue.take_slot();
        let delay = queue.delay();
        let in_levels = !queue.excluded;
        // What is excluded, or longer than a URL may be, is not checked as a stranger would on a host that has pages.
        let of_links = queue.health.of_links && queue.fetched == 0;
        if item.purpose.is_counted() {
            self.counts.queued -= 1;
            self.counts.leased += 1;
        } else {
            self.leased_uncounted += 1;
        }
        let groups = self.join_groups(host, now);
        Some(Lease { item, holds_slot: true, groups, granted: now, delay, rest: Duration::ZERO, in_levels, of_links })
    }

    pub(super) fn queue(&mut self, host: HostId) -> &mut HostQueue {
        &mut self.hosts[host.0 as usize]
    }

    pub(super) fn level(&self) -> Option<u32> {
        self.is_by_level().then(|| self.levels.lowest().unwrap_or(0))
    }

    pub(super) fn plan_all(&mut self) {
        for host in 0..self.hosts.len() {
            self.plan(HostId(u32::try_from(host).expect("host ids are 32 bits")));
        }
    }

    /// As [`Self::plan`], but a host that has its turn already keeps it.
    fn plan_earlier(&mut self, host: HostId) {
        let Some(turn) = self.turn(host) else { return };
        if self.agenda.is_later_than(host, turn, self.weight(host)) {
            self.plan(host);
        }
    }

    /// When the host's turn is. Hosts whose time has come are equal, however long ago that was: they take turns.
    pub(super) fn turn(&self, host: HostId) -> Option<Moment> {
        match self.hosts[host.0 as usize].eligible(&self.limits, self.level_of(host)) {
            Eligible::At(at) => Some(at.max(self.now)),
            Eligible::Waits => None,
        }
    }

    /// The weight of the host's next URL. Where memory holds none of its URLs, it is taken to weigh what the last one did, until
    /// it is read.
    fn weight(&self, host: HostId) -> Weight {
        let order = self.limits.order;
        let best = self.hosts[host.0 as usize].best(self.level_of(host)).filter(|_| order.is_weighted());
        best.map_or_else(|| self.agenda.weight(host), |item| item.weight(order))
    }

    /// Enters the host in the agenda at the moment it can next do something, behind the others of that moment.
    pub(super) fn plan(&mut self, host: HostId) {
        let turn = self.turn(host);
        self.agenda.enter(host, turn, self.weight(host), self.now);
        if turn.is_none_or(|at| at > self.now) {
            self.passes_on(host, self.now);
        }
        self.share();
    }
}
