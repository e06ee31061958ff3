//! [`HostAgenda`]: which host has its turn.
//!
//! Owns: when each host can next do something, and the order of hosts whose time has come. Equal hosts take turns. Hosts that share by
//! weight are ordered by self-clocked fair queueing (Golestani 1994): a lease costs a host a span of virtual time in inverse proportion to
//! its weight, and the next lease goes to the host that would end it first in virtual time. So hosts with enough to do get leases in
//! proportion to their weights, none starves, and a host that was idle begins at the virtual time of the others: it has saved nothing up.
//!
//! Does not know: what a host can do, or what its weight comes from.

use std::collections::BTreeSet;

use crate::{candidate::HostId, order::Weight, time::Moment};

/// Virtual time of a lease at the least weight. A lease at the greatest is 68,719 of it: weights are kept to one part in
/// that many, and the virtual time lasts for 2^28 leases at the least weight.
const LONGEST: u64 = 1 << 36;

/// Which host has its turn next.
#[derive(Debug)]
pub(super) struct HostAgenda {
    /// Hosts that can do something at a moment or later, behind the others of that moment.
    waiting: BTreeSet<(Moment, u64, HostId)>,
    /// By host.
    entries: Vec<Entry>,
    /// Numbers given to entries.
    tick: u64,
    shares: Option<Shares>,
}

/// Where a host is.
#[derive(Debug, Clone, Copy)]
enum Entry {
    /// It can do nothing by itself.
    Absent,
    /// In [`HostAgenda::waiting`].
    Waiting(Moment, u64),
    /// In [`Shares::ready`].
    Ready(u64, u64),
    /// Its time has come, and rows of it are asked for: where it stood in the order of its agenda.
    Kept(u64, u64),
}

/// What hosts whose time has come share by weight.
#[derive(Debug, Default)]
struct Shares {
    /// Hosts whose time has come, by the virtual time at which a lease granted now would end.
    ready: BTreeSet<(u64, u64, HostId)>,
    /// By host.
    hosts: Vec<Share>,
    /// The virtual time: the end of the last lease granted.
    clock: u64,
}

/// What a host has had.
#[derive(Debug, Clone, Copy)]
struct Share {
    /// The virtual time at which its last lease ended.
    paid: u64,
    /// How far that was behind the others, because its rows were read meanwhile: it catches up.
    behind: u64,
    weight: Weight,
}

impl HostAgenda {
    /// An empty one, where all hosts are equal.
    pub(super) fn of_equals() -> Self {
        Self { waiting: BTreeSet::new(), entries: Vec::new(), tick: 0, shares: None }
    }

    /// An empty one, where hosts share by weight.
    pub(super) fn by_weight() -> Self {
        Self { shares: Some(Shares::default()), ..Self::of_equals() }
    }

    /// Has room for so many more hosts.
    pub(super) fn expect_hosts(&mut self, hosts: usize) {
        self.entries.reserve_exact(hosts);
        if let Some(shares) = &mut self.shares {
            shares.hosts.reserve_exact(hosts);
        }
    }

    /// Adds the next host; it can do nothing yet.
    pub(super) fn add_host(&mut self) {
        self.entries.push(Entry::Absent);
        if let Some(shares) = &mut self.shares {
            shares.hosts.push(Share { paid: 0, behind: 0, weight: Weight::USUAL });
        }
    }

    /// How many hosts can do something by themselves, now or later.
    pub(super) fn len(&self) -> usize {
        self.waiting.len() + self.shares.as_ref().map_or(0, |shares| shares.ready.len())
    }

    /// Those hosts.
    pub(super) fn hosts(&self) -> impl Iterator<Item = HostId> {
        let ready = self.shares.iter().flat_map(|shares| shares.ready.iter().map(|(_, _, host)| *host));
        self.waiting.iter().map(|(_, _, host)| *host).chain(ready)
    }

    /// When the next host can do something, of those whose time has not come.
    pub(super) fn next_moment(&self) -> Option<Moment> {
        self.waiting.first().map(|(at, _, _)| *at)
    }

    /// The host whose turn it is.
    pub(super) fn due(&mut self, now: Moment) -> Option<HostId> {
        let Some(shares) = &mut self.shares else {
            return self.waiting.first().filter(|(at, _, _)| *at <= now).map(|(_, _, host)| *host);
        };
        while let Some(&(at, tick, host)) = self.waiting.first().filter(|(at, _, _)| *at <= now) {
            self.waiting.remove(&(at, tick, host));
            self.entries[host.0 as usize] = shares.line_up(host, tick);
        }
        shares.ready.first().map(|(_, _, host)| *host)
    }

    /// The weight that the host was entered with last.
    pub(super) fn weight(&self, host: HostId) -> Weight {
        self.shares.as_ref().map_or(Weight::USUAL, |shares| shares.hosts[host.0 as usize].weight)
    }

    /// Whether entering the host at this moment and weight would change its place for the better.
    pub(super) fn is_later_than(&self, host: HostId, at: Moment, weight: Weight) -> bool {
        let heavier = weight > self.weight(host);
        match self.entries[host.0 as usize] {
            Entry::Absent | Entry::Kept(..) => true,
            Entry::Waiting(planned, _) => heavier || at < planned,
            Entry::Ready(..) => heavier,
        }
    }

    /// Enters the host at the moment it can next do something, behind the others of that moment; `None` if it can do
    /// nothing by itself. A host whose time has come keeps what it has waited, whatever its weight is now.
    pub(super) fn enter(&mut self, host: HostId, at: Option<Moment>, weight: Weight, now: Moment) {
        let entry = self.remove(host);
        let Some(at) = at else {
            if matches!(entry, Entry::Kept(..)) {
                self.entries[host.0 as usize] = entry;
            }
            return;
        };
        if let Some(shares) = &mut self.shares {
            let share = &mut shares.hosts[host.0 as usize];
            let before = std::mem::replace(&mut share.weight, weight);
            if let Entry::Ready(end, tick) | Entry::Kept(end, tick) = entry
                && at <= now
            {
                let end = end.saturating_sub(span(before)).saturating_add(span(weight));
                if matches!(entry, Entry::Kept(..)) {
                    share.behind = shares.clock.saturating_sub(end);
                }
                shares.ready.insert((end, tick, host));
                self.entries[host.0 as usize] = Entry::Ready(end, tick);
                return;
            }
        } else if let Entry::Kept(since, tick) = entry
            && at <= now
        {
            return self.wait(host, Moment::from_millis(since), tick);
        }
        self.tick += 1;
        self.wait(host, at, self.tick);
    }

    /// Rows of the host whose turn it is are asked for: it has its turn when they have come. Behind the others it would have
    /// to hold them until all others have had rows read, too.
    pub(super) fn keep_turn(&mut self, host: HostId) {
        let entry = self.remove(host);
        self.entries[host.0 as usize] = match entry {
            Entry::Waiting(since, tick) => Entry::Kept(since.millis(), tick),
            Entry::Ready(end, tick) => Entry::Kept(end, tick),
            other => other,
        };
    }

    fn wait(&mut self, host: HostId, at: Moment, tick: u64) {
        self.waiting.insert((at, tick, host));
        self.entries[host.0 as usize] = Entry::Waiting(at, tick);
    }

    /// The host was granted a lease: it pays for it.
    pub(super) fn granted(&mut self, host: HostId) {
        if let (Entry::Ready(end, _), Some(shares)) = (self.remove(host), &mut self.shares) {
            let share = &mut shares.hosts[host.0 as usize];
            share.paid = end;
            if share.behind > 0 {
                share.behind = shares.clock.saturating_sub(end);
            }
            shares.clock = shares.clock.max(end);
        }
    }

    fn remove(&mut self, host: HostId) -> Entry {
        let entry = std::mem::replace(&mut self.entries[host.0 as usize], Entry::Absent);
        match (entry, &mut self.shares) {
            (Entry::Waiting(at, tick), _) => drop(self.waiting.remove(&(at, tick, host))),
            (Entry::Ready(end, tick), Some(shares)) => drop(shares.ready.remove(&(end, tick, host))),
            _ => {}
        }
        entry
    }
}

impl Shares {
    /// The time of a host has come.
    fn line_up(&mut self, host: HostId, tick: u64) -> Entry {
        let Share { paid, behind, weight } = self.hosts[host.0 as usize];
        let end = paid.max(self.clock.saturating_sub(behind)).saturating_add(span(weight));
        self.ready.insert((end, tick, host));
        Entry::Ready(end, tick)
    }
}

/// How much virtual time a lease takes.
fn span(weight: Weight) -> u64 {
    LONGEST / u64::from(weight.thousandths())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: Moment = Moment::EPOCH;

    fn weight(thousandths: u32) -> Weight {
        Weight::of_thousandths(thousandths).expect("within bounds")
    }

    fn agenda(weights: &[u32]) -> HostAgenda {
        let mut agenda = HostAgenda::by_weight();
        for (host, thousandths) in (0..).zip(weights) {
            agenda.add_host();
            agenda.enter(HostId(host), Some(NOW), weight(*thousandths), NOW);
        }
        agenda
    }

    /// Grants a lease to the host whose turn it is, which has more to do.
    fn grant(agenda: &mut HostAgenda, weights: &[u32]) -> usize {
        let host = agenda.due(NOW).expect("all have something to do");
        agenda.granted(host);
        agenda.enter(host, Some(NOW), weight(weights[host.0 as usize]), NOW);
        host.0 as usize
    }

    proptest! {
        /// After any number of grants no host is more than a lease away from its share.
        #[test]
        fn hosts_share_by_weight(weights in prop::collection::vec(1..1_000_000_u32, 1..12), grants in 0..600_usize) {
            let mut agenda = agenda(&weights);
            let mut had = vec![0_u32; weights.len()];
            (0..grants).for_each(|_| had[grant(&mut agenda, &weights)] += 1);
            for (one, other) in (0..weights.len()).flat_map(|one| (0..weights.len()).map(move |other| (one, other))) {
                let [a, b] = [one, other].map(|host| f64::from(had[host]) / f64::from(weights[host]));
                let [lease_a, lease_b] = [one, other].map(|host| 1.001 / f64::from(weights[host]));
                prop_assert!(a - b <= lease_a + lease_b, "{had:?} of {weights:?}");
            }
        }

        /// Whatever changes meanwhile, a host that waits is granted a lease before others have had their shares twice.
        #[test]
        fn nobody_starves(weights in prop::collection::vec(1..2_000_u32, 2..8), changes in prop::collection::vec(any::<(u8, u16)>(), 200)) {
            let mut weights = weights;
            weights[0] = 1_000;
            let mut agenda = agenda(&weights);
            let mut last = 0;
            for (turn, (which, to)) in changes.into_iter().enumerate() {
                let host = 1 + which as usize % (weights.len() - 1);
                weights[host] = 1 + u32::from(to) % 2_000;
                agenda.enter(HostId(u32::try_from(host).unwrap()), Some(NOW), weight(weights[host]), NOW);
                if grant(&mut agenda, &weights) == 0 {
                    last = turn;
                }
                // The others have twice its weight each, at most, and may each be in the middle of a lease.
                prop_assert!(turn - last <= 4 * weights.len(), "it had no turn for {} grants", turn - last);
            }
        }
    }

    #[test]
    fn a_host_that_was_idle_has_saved_nothing_up() {
        let weights = [1_000, 1_000, 1_000];
        let mut agenda = agenda(&weights);
        agenda.enter(HostId(2), None, weight(1_000), NOW);
        (0..100).for_each(|_| assert_ne!(grant(&mut agenda, &weights), 2));
        agenda.enter(HostId(2), Some(NOW), weight(1_000), NOW);
        let turns: Vec<_> = (0..30).map(|_| grant(&mut agenda, &weights)).collect();
        assert_eq!(turns.iter().filter(|host| **host == 2).count(), 10, "{turns:?}");
    }

    #[test]
    fn a_host_whose_rows_are_asked_for_keeps_its_turn() {
        for mut agenda in [agenda(&[1_000; 4]), HostAgenda::of_equals()] {
            if agenda.shares.is_none() {
                (0..4).for_each(|_| agenda.add_host());
                (0..4).for_each(|host| agenda.enter(HostId(host), Some(NOW), weight(1_000), NOW));
            }
            let host = agenda.due(NOW).expect("all have something to do");
            agenda.keep_turn(host);
            agenda.enter(host, None, weight(1_000), NOW);
            assert_eq!((host, agenda.due(NOW)), (HostId(0), Some(HostId(1))));
            agenda.enter(host, Some(NOW), weight(1_000), NOW);
            assert_eq!(agenda.due(NOW), Some(host));
            assert_eq!(grant(&mut agenda, &[1_000; 4]), 0);
            assert_eq!(agenda.due(NOW), Some(HostId(1)), "a turn is good for one lease");
        }
    }

    /// However often the others have their turn while rows of it are read.
    #[test]
    fn a_host_whose_rows_are_asked_for_catches_up() {
        let weights = [3_000, 1_000];
        let mut agenda = agenda(&weights);
        let mut had = [0; 2];
        for turn in 0..400 {
            // Each ninth turn of the first needs rows, which are read while the other has a turn or two.
            if agenda.due(NOW) == Some(HostId(0)) && had[0] % 9 == 0 {
                agenda.keep_turn(HostId(0));
                for _ in 0..=turn % 2 {
                    had[grant(&mut agenda, &weights)] += 1;
                }
                agenda.enter(HostId(0), Some(NOW), weight(3_000), NOW);
            }
            had[grant(&mut agenda, &weights)] += 1;
        }
        let shared = f64::from(had[0]) / f64::from(had[1]);
        assert!((2.9..=3.1).contains(&shared), "{had:?}");
    }

    #[test]
    fn a_better_url_gives_its_host_an_earlier_turn() {
        let mut agenda = agenda(&[1_000, 1_000, 1_000]);
        assert_eq!(agenda.due(NOW), Some(HostId(0)));
        assert!(
            agenda.is_later_than(HostId(2), NOW, weight(5_000)) && !agenda.is_later_than(HostId(2), NOW, weight(500))
        );
        agenda.enter(HostId(2), Some(NOW), weight(5_000), NOW);
        assert_eq!(agenda.due(NOW), Some(HostId(2)));
        assert_eq!((agenda.len(), agenda.hosts().count(), agenda.next_moment()), (3, 3, None));
    }

    #[test]
    fn equals_take_turns() {
        let mut agenda = HostAgenda::of_equals();
        for host in 0..3 {
            agenda.add_host();
            agenda.enter(HostId(host), Some(NOW), weight(1 + host), NOW);
        }
        let turns: Vec<_> = (0..7).map(|_| grant(&mut agenda, &[1, 2, 3])).collect();
        assert_eq!(turns, [0, 1, 2, 0, 1, 2, 0]);
    }
}
