//! One host's queue: its rows in memory, its slots and its delay.

use std::time::Duration;

use super::{
    FrontierLimits, HostStart, Place, Purpose, RefillAnswer, RefillKind, RefillRequest, ShareBy, WorkItem,
    active::{Active, LeasedPage},
    extras::Extras,
    health::Health,
    levels::Levels,
    membership::Membership,
    prerequisite::Prerequisite,
    refill::{AnsweredRows, PendingRefill},
    retries::Retries,
    rows::Rows,
};
use crate::{
    candidate::{HostId, Ticket},
    time::Moment,
    url::Origin,
};

/// URLs of a host that failed and are due, from which on they are tried again before others are asked for.
const MANY_FAILED: usize = 128;

/// What a host can do at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Eligible {
    /// A lease, at this moment or later.
    At(Moment),
    /// Nothing before something is completed, offered or answered.
    Waits,
}

/// What a host's closing took with it.
#[derive(Debug)]
pub(super) struct Closed {
    /// Queued rows, in memory or in the table.
    pub(super) abandoned: u64,
    /// Those up to the depth limit, by depth.
    pub(super) by_depth: Vec<(u32, u64)>,
}

/// There may be very many: what most of them never have is on the heap.
#[derive(Debug)]
pub(super) struct HostQueue {
    id: HostId,
    pub(super) origin: Origin,
    pub(super) delay: Duration,
    /// Milliseconds that follow the response time: the pause is at least as long.
    pub(super) followed: u32,
    pub(super) ready_at: Moment,
    pub(super) prerequisite: Prerequisite,
    pub(super) extras: Option<Box<Extras>>,
    pub(super) closed: bool,
    pub(super) health: Health,
    /// What it shares with other hosts, if anything.
    pub(super) membership: Option<Box<Membership>>,
    /// Whether its robots.txt is to be had from another host.
    pub(super) waits_elsewhere: bool,
    /// Whether the levels of the whole crawl leave out what is queued here.
    pub(super) excluded: bool,
    /// Empty where no level is finished before the next.
    pub(super) levels: Levels,
    /// Queued rows without a due time, in memory or beyond the cursor.
    plain: u64,
    /// Rows in the table beyond the depth limit.
    held: u64,
    leased_slots: u32,
    pub(super) stored: u64,
    /// URLs with a final answer, stored or not.
    pub(super) fetched: u64,
    cursor: Place,
    active: Option<Box<Active>>,
    retries: Option<Box<Retries>>,
}

impl HostQueue {
    pub(super) fn new(id: HostId, start: HostStart, health: Health, by: ShareBy) -> Self {
        Self {
            id,
            membership: Membership::of(&start.origin, by),
            origin: start.origin,
            delay: start.delay,
            followed: 0,
            ready_at: start.ready_at,
            prerequisite: Prerequisite::stored(start.robots_until),
            extras: None,
            closed: false,
            health,
            waits_elsewhere: false,
            excluded: false,
            levels: Levels::default(),
            plain: start.plain,
            held: start.held,
            leased_slots: 0,
            stored: start.stored,
            fetched: start.fetched,
            cursor: if start.plain > 0 { Place::FIRST } else { Place::LAST },
            active: None,
            retries: Retries::known(start.waiting, start.tried, start.next_due).map(Box::new),
        }
    }

    pub(super) fn id(&self) -> HostId {
        self.id
    }

    fn active(&mut self) -> &mut Active {
        self.active.get_or_insert_default()
    }

    /// Frees what it has no use for.
    fn settle_down(&mut self) {
        self.active.take_if(|active| active.is_idle());
    }

    fn head_rows(&self) -> usize {
        self.active.as_ref().map_or(0, |active| active.head.len())
    }

    fn leased_pages(&self) -> &[LeasedPage] {
        self.active.as_ref().map_or(&[], |active| &active.leased)
    }

    fn refill(&self) -> Option<&PendingRefill> {
        self.active.as_ref()?.refill.as_deref()
    }

    /// Rows not leased and not held back: in memory or in the table.
    pub(super) fn queued(&self) -> u64 {
        self.plain + self.retries.as_ref().map_or(0, |retries| retries.queued())
    }

    /// Those of them that cost an attempt.
    pub(super) fn retrying(&self) -> u64 {
        self.retries.as_ref().map_or(0, |retries| retries.tried)
    }

    /// Leaves all but so many rows to the table.
    pub(super) fn shrink(&mut self, to: usize) {
        self.evict(to);
    }

    /// Rows that memory holds.
    pub(super) fn in_memory(&self) -> usize {
        self.head_rows() + self.retries_in_memory() + self.refill().map_or(0, PendingRefill::len)
    }

    fn retries_in_memory(&self) -> usize {
        self.retries.as_ref().map_or(0, |retries| retries.rows.len())
    }

    /// Counts a row beyond the depth limit.
    pub(super) fn hold(&mut self) {
        self.held += 1;
    }

    /// Counts rows as queued that were held; where they stand among the others only the table knows.
    pub(super) fn unhold(&mut self, rows: u64) {
        self.held -= rows;
        self.plain += rows;
        self.read_anew();
    }

    /// Leaves all rows to the table, to be read from the first place on.
    pub(super) fn read_anew(&mut self) {
        self.active.iter_mut().for_each(|active| active.rerank());
        self.evict(0);
        self.cursor = if self.plain > 0 { Place::FIRST } else { Place::LAST };
    }

    pub(super) fn offer(&mut self, queued: WorkItem, limit: usize) {
        let place = queued.place();
        self.plain += 1;
        if place <= self.cursor {
            self.active().head.insert(Box::new(queued));
            self.evict(limit);
        } else if let Some(refill) = self.active.as_mut().and_then(|active| active.refill.as_mut())
            && matches!(refill.kind, RefillKind::Beyond(_))
        {
            refill.offered(queued);
        }
    }

    /// Puts a leased row back as it was.
    pub(super) fn release(&mut self, queued: WorkItem, limit: usize) {
        let reranked = self.active.as_ref().is_some_and(|active| active.is_reranked(queued.id));
        self.end_lease(queued.id);
        if queued.attempts > 0 {
            self.retries.get_or_insert_default().tried += 1;
        }
        if queued.due.is_some() {
            self.retries.get_or_insert_default().rows.insert(Box::new(queued));
        } else if reranked {
            self.plain += 1;
            self.read_anew();
        } else {
            self.offer(queued, limit);
        }
    }

    pub(super) fn retry_later(&mut self, id: Ticket, due: Moment, attempts: u32) {
        self.end_lease(id);
        self.retries.get_or_insert_default().later(due, attempts);
    }

    /// A lease ends with a final answer.
    pub(super) fn finish(&mut self, id: Ticket, stored: bool) {
        self.end_lease(id);
        self.stored += u64::from(stored);
        self.fetched += 1;
    }

    /// A lease ends, and its URL is not queued any more.
    pub(super) fn end_lease(&mut self, id: Ticket) {
        if let Some(active) = &mut self.active {
            active.end_lease(id);
        }
        self.settle_down();
    }

    pub(super) fn take_slot(&mut self) {
        self.leased_slots += 1;
    }

    pub(super) fn free_slot(&mut self) {
        self.leased_slots -= 1;
    }

    /// Queued rows up to the depth limit, by depth.
    pub(super) fn queued_by_depth(&self) -> Vec<(u32, u64)> {
        let leased_at = |depth| self.leased_pages().iter().filter(|leased| leased.depth == depth).count() as u64;
        self.levels.counts().map(|(depth, count)| (depth, count - leased_at(depth))).collect()
    }

    /// Everything queued is abandoned.
    pub(super) fn close(&mut self) -> Closed {
        let abandoned = self.queued() + self.held;
        let by_depth = self.queued_by_depth();
        for &(depth, count) in &by_depth {
            self.levels.remove(depth, count);
        }
        self.closed = true;
        self.plain = 0;
        self.held = 0;
        self.retries = None;
        if let Some(active) = &mut self.active {
            active.head = Rows::default();
        }
        self.settle_down();
        self.cursor = Place::LAST;
        Closed { abandoned, by_depth }
    }

    /// The next URL in memory up to a level. What failed comes last, or first where a pause is tried with it, or where much has failed: a
    /// budget must end on a site of which nothing but failures comes. While the host is
    /// down, the others come from the end, because those that fail together mostly stand together.
    pub(super) fn best(&self, level: Option<u32>) -> Option<&WorkItem> {
        let fits = |item: &&WorkItem| level.is_none_or(|level| item.depth <= level);
        let head = self.active.as_ref().map(|active| &active.head);
        let last = head.and_then(Rows::last).filter(|_| self.health.is_down()).filter(fits);
        let fresh = last.or_else(|| head.and_then(Rows::first).filter(fits));
        let tried = self.retries.as_ref().and_then(|retries| retries.rows.first()).filter(fits);
        let (Some(fresh), Some(tried)) = (fresh, tried) else { return fresh.or(tried) };
        let prefers_tried = match tried.failed {
            Some(failed) => {
                let many = self.retries_in_memory() >= MANY_FAILED;
                self.health.tries(failed) || (many && self.health.has_answered_since(failed))
            }
            None => tried.place() < fresh.place(),
        };
        Some(if prefers_tried { tried } else { fresh })
    }

    /// Takes the best URL out of memory, for a lease.
    pub(super) fn take_best(&mut self, level: Option<u32>) -> Option<WorkItem> {
        let place = self.best(level)?.place();
        let queued = if let Some(queued) = self.active.as_mut().and_then(|active| active.head.remove(place)) {
            self.plain -= 1;
            queued
        } else {
            self.retries.as_mut()?.rows.remove(place)?
        };
        if let Some(retries) = self.retries.as_mut().filter(|_| queued.attempts > 0) {
            retries.tried -= 1;
        }
        let again = queued.failed.is_some();
        self.active().lease(LeasedPage { id: queued.id, depth: queued.depth, again, reranked: false });
        Some(*queued)
    }

    /// Whether queued rows, and whether extras could be leased but for time, slots and prerequisite. A limit of pages is for all but
    /// what no budget is for.
    fn work(&self, limits: &FrontierLimits) -> [bool; 2] {
        let is_spent = self.has_all(limits, self.leased_pages().len() as u64);
        let extra = self.extras.as_ref().and_then(|extras| extras.first_other());
        let extra =
            extra.is_some_and(|(_, extra)| !is_spent || extra.purpose.is_beside_budget()) || self.health.is_probed();
        [limits.rows && !is_spent && self.queued() > 0, extra].map(|any| any && !self.closed)
    }

    /// When the host can next do something, as far as it is known now; `level` is the depth that may be leased.
    pub(super) fn eligible(&self, limits: &FrontierLimits, level: Option<u32>) -> Eligible {
        let slots = if self.asks_singly(level) { 1 } else { limits.per_host.get() };
        if self.leased_slots as usize >= slots {
            return Eligible::Waits;
        }
        if self.membership.as_ref().is_some_and(|membership| membership.waits()) {
            return Eligible::Waits;
        }
        match self.work_eligible(limits, level) {
            Eligible::At(moment) => Eligible::At(moment.max(self.health.not_before())),
            Eligible::Waits => Eligible::Waits,
        }
    }

    /// Whether the host has one request at a time: what failed before is asked for alone, so that it shows who is at fault.
    fn asks_singly(&self, level: Option<u32>) -> bool {
        let again = || self.leased_pages().iter().any(|page| page.again);
        self.health.asks_singly() || again() || self.best(level).is_some_and(|next| next.failed.is_some())
    }

    /// The moment before which the host is not asked for anything.
    pub(super) fn not_before(&self) -> Moment {
        self.ready_at.max(self.health.not_before())
    }

    fn work_eligible(&self, limits: &FrontierLimits, level: Option<u32>) -> Eligible {
        if self.has_robots() {
            return Eligible::At(self.ready_at);
        }
        let [rows, extras] = self.work(limits);
        if !rows && !extras {
            return Eligible::Waits;
        }
        match self.prerequisite {
            Prerequisite::Pending => Eligible::Waits,
            Prerequisite::NeededAt(at) => Eligible::At(self.ready_at.max(at)),
            Prerequisite::Unused { .. } | Prerequisite::MetUntil(_) => {
                let rows = if rows { self.pages_eligible(limits, level) } else { Eligible::Waits };
                rows.min(if extras { self.extra_eligible() } else { Eligible::Waits })
            }
        }
    }

    fn extra_eligible(&self) -> Eligible {
        if self.health.is_probed() {
            return Eligible::At(self.ready_at);
        }
        self.first_extra()
            .map_or(Eligible::Waits, |(due, extra)| Eligible::At(self.ready_at.max(due).max(self.trial_of(extra))))
    }

    /// Whether a robots.txt is to be fetched here.
    pub(super) fn has_robots(&self) -> bool {
        self.extras.as_ref().is_some_and(|extras| !extras.robots.is_empty())
    }

    /// Queues a robots.txt, the host's own or that of a host that redirects here.
    pub(super) fn put_robots(&mut self, item: WorkItem) {
        self.extras.get_or_insert_default().robots.push_back(item);
    }

    /// Takes a robots.txt, for a lease.
    pub(super) fn take_robots(&mut self) -> Option<WorkItem> {
        Extras::take(&mut self.extras, |extras| extras.robots.pop_front())
    }

    /// Queues an extra.
    pub(super) fn put_extra(&mut self, item: WorkItem) {
        self.extras.get_or_insert_default().put_extra(item);
    }

    /// Takes an extra that may be fetched now, for a lease.
    pub(super) fn take_extra(&mut self, now: Moment) -> Option<WorkItem> {
        self.ready_extra(now)?;
        Extras::take(&mut self.extras, Extras::take_extra)
    }

    /// The extra that may be fetched now.
    fn ready_extra(&self, now: Moment) -> Option<&WorkItem> {
        let (due, extra) = self.first_extra()?;
        Some(extra).filter(|extra| due.max(self.trial_of(extra)) <= now)
    }

    /// Takes the URL that is to be asked for before the next, to find out whether the host answers.
    pub(super) fn take_check(&mut self, level: Option<u32>, now: Moment) -> Option<WorkItem> {
        let wanted = self.health.is_probed() || {
            let next = self.ready_extra(now).or_else(|| self.best(level))?;
            self.health.wants_check(next.failed)
        };
        let url = wanted.then(|| self.health.take_check()).flatten()?;
        Some(WorkItem::extra(self.id, url, Purpose::Check))
    }

    fn pages_eligible(&self, limits: &FrontierLimits, level: Option<u32>) -> Eligible {
        if self.leasable(level) || self.wants_beyond(limits) {
            let trial = self.best(level).map_or(Moment::EPOCH, |best| self.trial_of(best));
            return Eligible::At(self.ready_at.max(trial));
        }
        match self.next_due() {
            Some(due) if self.has_room_for_retries(limits, level) => Eligible::At(self.ready_at.max(due)),
            _ => Eligible::Waits,
        }
    }

    /// When a URL may be asked for, where it has failed.
    fn trial_of(&self, item: &WorkItem) -> Moment {
        item.failed.map_or(Moment::EPOCH, |failed| self.health.trial_at(failed))
    }

    /// The earliest due time of a retry that the table holds.
    fn next_due(&self) -> Option<Moment> {
        self.retries.as_ref().and_then(|retries| retries.next_due)
    }

    /// Whether the best URL in memory is of the level that may be leased.
    pub(super) fn leasable(&self, level: Option<u32>) -> bool {
        self.best(level).is_some()
    }

    /// Retries in memory that all wait for a lower level make room for those that the level waits for.
    fn has_room_for_retries(&self, limits: &FrontierLimits, level: Option<u32>) -> bool {
        self.refill().is_none() && (self.retries_in_memory() < limits.heads_per_host.get() || !self.leasable(level))
    }

    fn wants_beyond(&self, limits: &FrontierLimits) -> bool {
        let rows = self.head_rows();
        let low = rows <= limits.heads_per_host.get() / 4;
        self.refill().is_none() && low && self.plain > rows as u64
    }

    /// The refill this host should ask for now, if any.
    pub(super) fn wanted_refill(
        &self,
        limits: &FrontierLimits,
        level: Option<u32>,
        now: Moment,
    ) -> Option<RefillRequest> {
        let heads = limits.heads_per_host.get();
        let request = |kind, limit| Some(RefillRequest { host: self.id, kind, limit, max_depth: limits.max_depth });
        if self.closed || !limits.rows {
            None
        } else if let Some(retries) = self.retries.as_ref().filter(|retries| retries.are_due(now))
            && self.has_room_for_retries(limits, level)
        {
            let (after, id) = retries.read_due;
            request(RefillKind::Due { after, id, until: now }, heads)
        } else if self.wants_beyond(limits) {
            request(RefillKind::Beyond(self.cursor), heads - self.head_rows())
        } else {
            None
        }
    }

    pub(super) fn begin_refill(&mut self, request: RefillRequest) {
        if let (RefillKind::Due { .. }, Some(retries)) = (request.kind, &mut self.retries) {
            retries.next_due = None;
        }
        self.active().refill = Some(Box::new(PendingRefill::new(request.kind, request.limit)));
    }

    pub(super) fn refilled(&mut self, answer: RefillAnswer, limit: usize) {
        let refill = self.active.as_mut().and_then(|active| active.refill.take());
        match refill.filter(|_| !self.closed) {
            Some(refill) if matches!(refill.kind, RefillKind::Due { .. }) => {
                self.retries.get_or_insert_default().read(answer);
            }
            Some(refill) => self.read_beyond(*refill, answer, limit),
            None => {}
        }
        self.settle_down();
    }

    fn read_beyond(&mut self, refill: PendingRefill, answer: RefillAnswer, limit: usize) {
        let RefillKind::Beyond(from) = refill.kind else { return };
        // Evicted below the place asked from: what was answered lies beyond the cursor again.
        if self.cursor < from || refill.outdated {
            return;
        }
        let rows = AnsweredRows { rows: answer.rows, more: answer.more };
        let (heads, cursor) = refill.merge(from, rows, |id| self.leased_pages().iter().any(|page| page.id == id));
        self.active().head.extend(heads);
        self.cursor = cursor;
        self.evict(limit);
    }

    fn evict(&mut self, limit: usize) {
        let Some(active) = &mut self.active else { return };
        while active.head.len() > limit {
            active.head.pop_last();
            self.cursor = active.head.last_place().unwrap_or(Place::FIRST);
        }
        self.settle_down();
    }
}
