//! URLs beyond the depth limit that turn out to be within it.

use super::{DepthLimit, Frontier, Nearer};

impl Frontier {
    /// What is too deep to be leased, if anything is.
    pub fn depth_limit(&self) -> Option<DepthLimit> {
        self.limits.max_depth.map(|most| DepthLimit { most, order: self.limits.order })
    }

    /// Counts rows among those that may be leased which were held before; they are in the table.
    pub fn came_nearer(&mut self, Nearer { host, depth, rows }: Nearer) {
        if self.is_by_level() {
            let queue = self.queue(host);
            queue.levels.add(depth, rows);
            let counted = if queue.excluded { 0 } else { rows };
            self.change_levels(host, |levels| levels.add(depth, counted));
        }
        self.remembering(host, |queue, _| queue.unhold(rows));
        self.plan(host);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        candidate::{Hop, Ticket},
        frontier::{Asked, FrontierLimits, HostStart, Next, Order, Outcome, RefillAnswer, WorkItem},
        time::Moment,
        url::WebUrl,
    };

    #[test]
    fn are_read_and_leased_like_others() {
        for order in [Order::Breadth, Order::Depth] {
            let now = Moment::from_millis(1_000_000);
            let mut frontier = Frontier::new(FrontierLimits { max_depth: Some(2), order, ..FrontierLimits::default() });
            let url = WebUrl::parse("http://h/").unwrap();
            let start = HostStart::new(url.origin(), Duration::ZERO);
            let host = frontier.add_host(HostStart { robots_until: now + Duration::from_hours(1), ..start });
            let item =
                |id, depth| WorkItem { depth, rank: 7, ..WorkItem::discover(Ticket(id), host, url.clone(), Hop::Link) };
            let finish = |frontier: &mut Frontier, id| {
                let Next::Lease(lease) = frontier.next(now) else { panic!("it may be leased") };
                assert_eq!(lease.item().id, Ticket(id));
                frontier.complete(lease, Outcome::Finished { stored: true }, Asked::Yes, now);
            };
            for (id, depth) in [(1, 1), (2, 3), (3, 4)] {
                frontier.offer(item(id, depth));
            }
            finish(&mut frontier, 1);
            assert_eq!(frontier.next(now), Next::Held);
            frontier.came_nearer(Nearer { host, depth: 2, rows: 1 });
            let Next::NeedsRefill(request) = frontier.next(now) else { panic!("it is in the table") };
            assert_eq!(request.max_depth, Some(2));
            frontier.refilled(host, RefillAnswer { rows: vec![item(2, 2)], ..RefillAnswer::default() });
            finish(&mut frontier, 2);
            let counts = frontier.counts();
            assert_eq!((frontier.next(now), counts.queued, counts.finished), (Next::Held, 1, 2));
        }
    }
}
