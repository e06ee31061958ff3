//! Rows of a host whose ranks have changed in the table.
//!
//! Invariant: a cursor divides rows by the ranks that the table has. When these change, nothing is held in memory but what is leased, and
//! rows are read again from the first place on. What was asked for before is out of date and is dropped; a leased row that is given back
//! is left to the table, which knows its rank.

use super::Frontier;
use crate::candidate::HostId;

impl Frontier {
    /// Has the queued rows of a host read again: the step that changes their ranks has been sent to the table.
    pub fn reranked(&mut self, host: HostId) {
        if self.is_closed(host) {
            return;
        }
        self.remembering(host, |queue, _| queue.read_anew());
        self.plan(host);
    }
}

#[cfg(test)]
mod tests {
    use std::{num::NonZeroUsize, time::Duration};

    use super::*;
    use crate::{
        candidate::{Hop, Ticket},
        frontier::{Asked, FrontierLimits, HostStart, Next, Order, Outcome, Place, RefillAnswer, RefillKind, WorkItem},
        time::Moment,
        url::WebUrl,
    };

    const NOW: Moment = Moment::from_millis(1_000_000);

    fn item(id: u64, rank: i64) -> WorkItem {
        let url = WebUrl::parse(&format!("http://h/{id}")).unwrap();
        WorkItem { rank, ..WorkItem::discover(Ticket(id), HostId(0), url, Hop::Link) }
    }

    fn frontier(slots: usize) -> Frontier {
        let per_host = NonZeroUsize::new(slots).unwrap();
        let mut frontier = Frontier::new(FrontierLimits { order: Order::Best, per_host, ..FrontierLimits::default() });
        let start = HostStart::new(item(1, 0).url.origin(), Duration::ZERO);
        frontier.add_host(HostStart { robots_until: NOW + Duration::from_hours(1), ..start });
        frontier
    }

    /// Answers the frontier's question with these rows, and no more.
    fn answer(frontier: &mut Frontier, rows: &[WorkItem]) {
        let Next::NeedsRefill(request) = frontier.next(NOW) else { panic!("it is in the table") };
        assert_eq!(request.kind, RefillKind::Beyond(Place::FIRST));
        frontier.refilled(HostId(0), RefillAnswer { rows: rows.to_vec(), ..RefillAnswer::default() });
    }

    fn leased(frontier: &mut Frontier) -> crate::frontier::Lease {
        let Next::Lease(lease) = frontier.next(NOW) else { panic!("it may be leased") };
        lease
    }

    #[test]
    fn are_read_again_in_their_new_order() {
        let mut frontier = frontier(1);
        (1..4).for_each(|id| frontier.offer(item(id, 10)));
        frontier.reranked(HostId(0));
        assert_eq!(frontier.in_memory(), 0);
        answer(&mut frontier, &[item(3, 5), item(1, 10), item(2, 10)]);
        for id in [3, 1, 2] {
            let lease = leased(&mut frontier);
            assert_eq!(lease.item().id, Ticket(id));
            frontier.complete(lease, Outcome::Finished { stored: true }, Asked::Yes, NOW);
        }
        assert_eq!(frontier.next(NOW), Next::Drained);
    }

    #[test]
    fn that_were_asked_for_before_are_asked_for_again() {
        let mut frontier = frontier(1);
        (1..3).for_each(|id| frontier.offer(item(id, 10)));
        frontier.reranked(HostId(0));
        let Next::NeedsRefill(_) = frontier.next(NOW) else { panic!("it is in the table") };
        // Row 2, beyond what the answer has, comes before it now.
        frontier.reranked(HostId(0));
        frontier.refilled(HostId(0), RefillAnswer { rows: vec![item(1, 10)], more: true, ..RefillAnswer::default() });
        assert_eq!(frontier.in_memory(), 0);
        answer(&mut frontier, &[item(2, 5), item(1, 10)]);
        assert_eq!(leased(&mut frontier).item().id, Ticket(2));
    }

    #[test]
    fn are_left_to_the_table_where_a_lease_gives_one_back() {
        let mut frontier = frontier(2);
        (1..3).for_each(|id| frontier.offer(item(id, 10)));
        let lease = leased(&mut frontier);
        frontier.reranked(HostId(0));
        answer(&mut frontier, &[item(1, 5), item(2, 10)]);
        assert_eq!(frontier.in_memory(), 1, "the first is leased");
        frontier.complete(lease, Outcome::Released, Asked::No, NOW);
        assert_eq!((frontier.in_memory(), frontier.counts().queued), (0, 2));
        answer(&mut frontier, &[item(1, 5), item(2, 10)]);
        assert_eq!(leased(&mut frontier).item().rank, 5);
    }

    #[test]
    fn of_a_closed_host_stay_abandoned() {
        let mut frontier = frontier(1);
        frontier.offer(item(1, 10));
        frontier.close(HostId(0));
        frontier.reranked(HostId(0));
        assert_eq!((frontier.next(NOW), frontier.counts().abandoned), (Next::Drained, 1));
    }
}
