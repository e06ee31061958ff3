//! How leases end.

use super::{Asked, Frontier, Lease, Outcome, Purpose, WorkItem, prerequisite::Prerequisite};
use crate::{candidate::HostId, purpose::Queue, time::Moment};

impl Frontier {
    /// Gives the slot of a lease back before the lease is completed: the host may be asked again after its delay.
    pub fn free_slot(&mut self, lease: &mut Lease, now: Moment) {
        if std::mem::take(&mut lease.holds_slot) {
            self.leave_groups(lease, Asked::Yes, now);
            let queue = self.queue(lease.item.host);
            queue.free_slot();
            queue.rest(lease.rest, now);
            self.plan(lease.item.host);
        }
    }

    /// Ends a lease; returns how many queued URLs were abandoned with it.
    pub fn complete(&mut self, mut lease: Lease, outcome: Outcome, asked: Asked, now: Moment) -> u64 {
        self.end_slot(&mut lease, asked, now);
        let (item, in_levels) = (lease.item, lease.in_levels);
        let host = item.host;
        let mut abandoned = 0;
        match item.purpose.row().queue {
            Queue::Table => self.complete_counted(item, &outcome, in_levels),
            Queue::Extra => self.complete_extra(item, &outcome),
            Queue::Robots => {
                let of = item.of.unwrap_or(host);
                abandoned = self.complete_robots(of, &item, outcome, now);
                self.plan(of);
            }
            Queue::Check => self.leased_uncounted -= 1,
            Queue::LookUp => self.complete_look_up(host, &outcome),
        }
        self.plan(host);
        abandoned
    }

    fn end_slot(&mut self, lease: &mut Lease, asked: Asked, now: Moment) {
        if lease.holds_slot {
            self.leave_groups(lease, asked, now);
        }
        let queue = self.queue(lease.item.host);
        if asked == Asked::Yes && lease.item.purpose != Purpose::Robots {
            queue.prerequisite.is_used();
        }
        if lease.holds_slot {
            queue.free_slot();
            if asked == Asked::Yes {
                queue.rest(lease.rest, now);
                queue.health.was_asked(lease.granted);
            }
        }
    }

    fn complete_counted(&mut self, item: WorkItem, outcome: &Outcome, in_levels: bool) {
        let id = item.id;
        let host = item.host;
        let depth = item.depth;
        self.counts.leased -= 1;
        let queue = self.queue(host);
        let was_excluded = queue.excluded;
        match *outcome {
            Outcome::Finished { stored } => {
                queue.finish(id, stored);
                self.counts.finished += 1;
            }
            Outcome::Retry { due, attempts, .. } if !queue.closed => {
                queue.retry_later(id, due, attempts);
                self.retrying += u64::from(attempts > 0);
                self.counts.queued += 1;
            }
            Outcome::Released if !queue.closed => {
                self.retrying += u64::from(item.attempts > 0);
                self.remembering(host, |queue, limit| queue.release(item, limit));
                self.counts.queued += 1;
            }
            Outcome::Held if !queue.closed => {
                queue.end_lease(id);
                queue.hold();
                self.counts.queued += 1;
            }
            _ => {
                queue.end_lease(id);
                self.counts.abandoned += 1;
            }
        }
        let by_level = self.is_by_level();
        let queue = self.queue(host);
        let left = queue.closed || matches!(outcome, Outcome::Finished { .. } | Outcome::Abandoned | Outcome::Held);
        let stays = !left && !was_excluded;
        // Without levels nothing is counted for them.
        let [leaves, enters] = [in_levels && !stays, stays && !in_levels].map(|so| u64::from(so && by_level));
        queue.levels.remove(depth, u64::from(left && by_level));
        self.change_levels(host, |levels| {
            levels.remove(depth, leaves);
            levels.add(depth, enters);
        });
    }

    fn complete_extra(&mut self, item: WorkItem, outcome: &Outcome) {
        self.leased_uncounted -= 1;
        let item = match *outcome {
            Outcome::Retry { due, attempts, failed } => {
                WorkItem { due: Some(due), failed: Some(failed), attempts, ..item }
            }
            Outcome::Released => item,
            _ => {
                self.extras -= 1;
                return;
            }
        };
        self.queue(item.host).put_extra(item);
    }

    fn complete_robots(&mut self, of: HostId, item: &WorkItem, outcome: Outcome, now: Moment) -> u64 {
        self.leased_uncounted -= 1;
        self.queue(of).waits_elsewhere = false;
        let state = match outcome {
            Outcome::Met { until } => {
                let millis = u32::try_from(until.since(now).as_millis()).unwrap_or(u32::MAX);
                Prerequisite::Unused { since: now, millis }
            }
            Outcome::Redirected { host: target, to } => {
                let robots = WorkItem::robots(target, to, of);
                self.queue(target).put_robots(WorkItem { redirects: item.redirects + 1, ..robots });
                self.plan(target);
                self.queue(of).waits_elsewhere = true;
                self.change_levels(of, |_| {});
                return 0;
            }
            Outcome::Closed => return self.close(of),
            Outcome::Retry { due, .. } => Prerequisite::NeededAt(due),
            Outcome::Finished { .. }
            | Outcome::Abandoned
            | Outcome::Held
            | Outcome::Released
            | Outcome::LookedUp { .. } => Prerequisite::NeededAt(now),
        };
        self.queue(of).prerequisite = state;
        self.change_levels(of, |_| {});
        0
    }

    /// Nothing of this host is fetched any more; how many queued URLs that takes.
    pub fn close(&mut self, host: HostId) -> u64 {
        let queue = self.queue(host);
        let rows = queue.in_memory();
        let excluded = queue.excluded;
        let retrying = queue.retrying();
        let closed = queue.close();
        self.in_memory = self.in_memory + self.queue(host).in_memory() - rows;
        self.retrying -= retrying;
        // The levels do not count what is queued on a excluded host.
        let leaving = if excluded { Vec::new() } else { closed.by_depth };
        self.change_levels(host, |levels| leaving.iter().for_each(|&(depth, count)| levels.remove(depth, count)));
        self.counts.queued -= closed.abandoned;
        self.counts.abandoned += closed.abandoned;
        closed.abandoned
    }
}
