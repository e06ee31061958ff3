//! How the turns of hosts are shared in their groups, and how names are looked up before that.

use std::time::Duration;

use super::{Asked, Frontier, Lease, Outcome, Purpose, WorkItem, groups::HostGroup};
use crate::{candidate::HostId, time::Moment};

impl Frontier {
    /// Has the name of a host looked up. That needs none of its groups.
    pub(super) fn grant_look_up(&mut self, host: HostId, now: Moment) -> Lease {
        let queue = self.queue(host);
        if let Some(membership) = &mut queue.membership {
            membership.begins_look_up();
        }
        queue.take_slot();
        let item = WorkItem::extra(host, queue.origin.robots_txt(), Purpose::LookUp);
        let (delay, in_levels) = (queue.delay(), !queue.excluded);
        let of_links = queue.health.of_links;
        self.leased_uncounted += 1;
        Lease {
            item,
            holds_slot: true,
            groups: Vec::new(),
            granted: now,
            delay,
            rest: Duration::ZERO,
            in_levels,
            of_links,
        }
    }

    /// Whether a host may be asked now as far as its groups go. Otherwise it waits in line.
    pub(super) fn has_room_in_groups(&mut self, host: HostId, now: Moment) -> bool {
        let Some(of) = self.hosts[host.0 as usize].membership.as_mut() else { return true };
        let Some(full) = self.groups.full(&of.groups, of.called_by.as_ref(), now) else { return true };
        of.in_line = true;
        self.groups.wait(full, host, now);
        // The others may call the next in line.
        self.passes_on(host, now);
        false
    }

    /// The groups that a request to this host takes, from now on.
    pub(super) fn join_groups(&mut self, host: HostId, now: Moment) -> Vec<HostGroup> {
        let Some(of) = self.hosts[host.0 as usize].membership.as_mut() else { return Vec::new() };
        self.groups.begin(&of.groups, of.called_by.take().as_ref(), now);
        of.groups.clone()
    }

    /// A lease gives its groups back.
    pub(super) fn leave_groups(&mut self, lease: &mut Lease, asked: Asked, now: Moment) {
        let queue = &mut self.hosts[lease.item.host.0 as usize];
        if let Some(membership) = queue.membership.as_mut().filter(|_| asked == Asked::Yes) {
            membership.is_used();
        }
        let rest = queue.delay().max(lease.rest);
        self.groups.end(&std::mem::take(&mut lease.groups), (asked == Asked::Yes).then_some(rest), now);
    }

    /// Whether a group of the lease rests.
    pub(super) fn group_rests(&self, lease: &Lease, now: Moment) -> bool {
        self.groups.rest(&lease.groups, now)
    }

    /// The name of a host was looked up.
    pub(super) fn complete_look_up(&mut self, host: HostId, outcome: &Outcome) {
        self.leased_uncounted -= 1;
        if let Some(membership) = &mut self.queue(host).membership {
            membership.looked_up(match outcome {
                Outcome::LookedUp { addresses, until } => Some((addresses, *until)),
                _ => None,
            });
        }
    }

    /// Hosts have their turn whose groups have become free.
    pub(super) fn call_hosts(&mut self, now: Moment) {
        while let Some(group) = self.groups.calling(now) {
            while let Some(host) = self.groups.call(&group) {
                if let Some(of) = &mut self.queue(host).membership {
                    (of.in_line, of.called_by) = (false, Some(group.clone()));
                }
                self.plan(host);
            }
        }
    }

    /// A host has no turn now. If a group has called it, that calls the next in line.
    pub(super) fn passes_on(&mut self, host: HostId, now: Moment) {
        let of = self.hosts[host.0 as usize].membership.as_mut();
        if let Some(group) = of.and_then(|of| of.called_by.take()) {
            self.groups.pass(&group, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, net::IpAddr, num::NonZeroUsize};

    use super::*;
    use crate::{
        candidate::{Hop, Ticket},
        frontier::{FrontierLimits, HostStart, Next, ShareBy},
        url::WebUrl,
    };

    const DELAY: Duration = Duration::from_secs(1);
    /// How long a request takes.
    const TAKES: Duration = Duration::from_millis(300);
    const TTL: Duration = Duration::from_secs(30);

    fn by(address: bool, domain: bool) -> ShareBy {
        ShareBy { address, domain }
    }

    fn frontier(share_by: ShareBy, slots: usize) -> Frontier {
        let per_host = NonZeroUsize::new(slots).unwrap();
        Frontier::new(FrontierLimits { per_host, share_by, ..FrontierLimits::default() })
    }

    /// Hosts of these names with so many URLs each, whose robots.txt was read.
    fn add(frontier: &mut Frontier, names: &[String], urls: u64, now: Moment) {
        for name in names {
            let url = WebUrl::parse(&format!("http://{name}/")).unwrap();
            let start = HostStart::new(url.origin(), DELAY);
            let robots_until = now + Duration::from_hours(20);
            let host = frontier.add_host(HostStart { robots_until, ..start });
            for number in 0..urls {
                let id = Ticket(u64::from(host.0) * 1_000 + number + 1);
                frontier.offer(WorkItem::discover(id, host, url.clone(), Hop::Link));
            }
        }
    }

    /// What a crawl did.
    #[derive(Default)]
    struct Crawled {
        /// When a request to a host of a machine began, and when it ended.
        requests: HashMap<u8, Vec<(Moment, Moment, HostId)>>,
        look_ups: HashMap<HostId, u32>,
        ended: Moment,
    }

    /// Crawls until all is drained, on a clock that knows what comes next. `machine` says on which one a host is.
    fn crawl(frontier: &mut Frontier, mut now: Moment, machine: impl Fn(HostId, Moment) -> u8) -> Crawled {
        let (mut crawled, mut leases) = (Crawled::default(), Vec::<(Moment, Lease)>::new());
        loop {
            let until = match frontier.next(now) {
                Next::Lease(lease) if lease.purpose() == Purpose::LookUp => {
                    *crawled.look_ups.entry(lease.host()).or_default() += 1;
                    let address = IpAddr::from([127, 0, 0, machine(lease.host(), now)]);
                    let outcome = Outcome::LookedUp { addresses: Box::new([address]), until: now + TTL };
                    frontier.complete(lease, outcome, Asked::No, now);
                    continue;
                }
                Next::Lease(lease) => {
                    let on = machine(lease.host(), now);
                    crawled.requests.entry(on).or_default().push((now, now + TAKES, lease.host()));
                    leases.push((now + TAKES, lease));
                    continue;
                }
                Next::WaitUntil(moment) => moment,
                Next::Blocked => Moment::from_millis(u64::MAX / 4),
                Next::Drained => {
                    crawled.ended = now;
                    return crawled;
                }
                other => panic!("{other:?}"),
            };
            leases.sort_by_key(|(end, _)| *end);
            now = leases.first().map_or(until, |(end, _)| until.min(*end));
            while leases.first().is_some_and(|(end, _)| *end <= now) {
                let (_, lease) = leases.remove(0);
                frontier.complete(lease, Outcome::Finished { stored: true }, Asked::Yes, now);
            }
        }
    }

    /// The most requests of one list at once, and the shortest time from the end of one to the begin of the next.
    fn closeness(requests: &[(Moment, Moment, HostId)]) -> (usize, Duration) {
        let at_once = requests.iter().map(|(at, ..)| requests.iter().filter(|one| one.0 <= *at && *at < one.1).count());
        let rests = requests.iter().flat_map(|(begin, ..)| {
            requests.iter().filter(move |one| one.1 <= *begin).map(move |one| begin.since(one.1))
        });
        (at_once.max().unwrap(), rests.min().unwrap_or_default())
    }

    fn names(number: u32, of: impl Fn(u32) -> String) -> Vec<String> {
        (0..number).map(of).collect()
    }

    #[test]
    fn hosts_of_one_machine_are_one_machine() {
        let now = Moment::from_millis(1_000_000);
        for slots in [1, 3] {
            let mut frontier = frontier(by(true, false), slots);
            let hosts = names(100, |number| format!("h{number}.test"));
            add(&mut frontier, &hosts, 3, now);
            let crawled = crawl(&mut frontier, now, |host, _| u8::from(host.0 >= 50));
            for machine in [0, 1] {
                let requests = &crawled.requests[&machine];
                assert_eq!(requests.len(), 150);
                assert!(closeness(requests).0 <= slots && closeness(requests).1 >= DELAY, "{slots}");
                // Each host has its turn before any has its second.
                let first: std::collections::HashSet<_> = requests[..50].iter().map(|(.., host)| *host).collect();
                assert_eq!(first.len(), 50);
            }
            let least = (DELAY + TAKES) * 150 / u32::try_from(slots).unwrap();
            assert!(crawled.ended.since(now) < least + least / 5 + DELAY, "{slots}: {:?}", crawled.ended.since(now));
            // One look-up is good for a request at least, however long its turn is in coming.
            assert!(crawled.look_ups.values().all(|times| *times <= 3), "{slots}");
            assert_eq!(frontier.groups.waiting(), 0);
        }
    }

    #[test]
    fn a_name_that_moves_is_on_its_other_machine_from_then_on() {
        let now = Moment::from_millis(1_000_000);
        let moves = now + Duration::from_mins(2);
        let mut frontier = frontier(by(true, false), 1);
        add(&mut frontier, &names(2, |number| format!("h{number}.test")), 200, now);
        let crawled = crawl(&mut frontier, now, |host, at| u8::from(host.0 == 1 && at >= moves));
        // Until the addresses are too old they are taken to be the old ones: that is not known to anybody else.
        let apart = crawled.ended.since(moves + TTL);
        let both = moves.since(now) + TTL;
        assert!(closeness(&crawled.requests[&0]).1 >= DELAY && apart > Duration::from_mins(1));
        let asked: usize = crawled.requests.values().map(Vec::len).sum();
        assert_eq!(asked, 400);
        assert!(crawled.ended.since(now) < both + (DELAY + TAKES) * 200, "{:?}", crawled.ended.since(now));
    }

    #[test]
    fn hosts_of_one_domain_share_where_that_is_wanted() {
        let now = Moment::from_millis(1_000_000);
        let hosts = names(4, |number| format!("h{number}.{}.example", ["one", "two"][number as usize % 2]));
        let domain = |host: HostId| u8::from(host.0 % 2 == 1);
        for (share_by, together) in [(by(false, true), true), (by(false, false), false)] {
            let mut frontier = frontier(share_by, 1);
            add(&mut frontier, &hosts, 5, now);
            let crawled = crawl(&mut frontier, now, |host, _| domain(host));
            let requests = &crawled.requests[&0];
            assert_eq!(
                (requests.len(), closeness(requests).0, crawled.look_ups.len()),
                (10, 2 - usize::from(together), 0)
            );
        }
    }

    #[test]
    fn both_at_once_let_nobody_starve() {
        let now = Moment::from_millis(1_000_000);
        let hosts = names(12, |number| format!("h{number}.d{}.example", number % 3));
        let mut frontier = frontier(by(true, true), 1);
        add(&mut frontier, &hosts, 4, now);
        let crawled = crawl(&mut frontier, now, |host, _| u8::try_from(host.0 % 4).unwrap());
        let all: Vec<_> = crawled.requests.values().flatten().copied().collect();
        for domain in 0..3 {
            let of: Vec<_> = all.iter().filter(|(.., host)| host.0 % 3 == domain).copied().collect();
            assert!(of.len() == 16 && closeness(&of).0 == 1 && closeness(&of).1 >= DELAY);
        }
        assert!(crawled.requests.values().all(|requests| closeness(requests).1 >= DELAY));
    }

    #[test]
    fn a_host_that_is_an_address_is_not_looked_up() {
        let now = Moment::from_millis(1_000_000);
        let mut frontier = frontier(by(true, true), 1);
        add(&mut frontier, &["127.0.0.1:81".to_owned(), "127.0.0.1:82".to_owned()], 1, now);
        let crawled = crawl(&mut frontier, now, |_, _| 0);
        assert_eq!((crawled.look_ups.len(), closeness(&crawled.requests[&0]).0), (0, 2));
    }

    #[test]
    fn a_look_up_that_was_not_made_is_made_later_and_one_without_an_answer_lets_the_host_be_asked() {
        let now = Moment::from_millis(1_000_000);
        let mut frontier = frontier(by(true, false), 1);
        add(&mut frontier, &["h.test".to_owned()], 1, now);
        let lease = |frontier: &mut Frontier| {
            let Next::Lease(lease) = frontier.next(now) else { panic!("something is to be done") };
            lease
        };
        let first = lease(&mut frontier);
        assert_eq!((first.purpose(), frontier.next(now)), (Purpose::LookUp, Next::Blocked));
        frontier.complete(first, Outcome::Released, Asked::No, now);
        let second = lease(&mut frontier);
        assert_eq!(second.purpose(), Purpose::LookUp);
        frontier.complete(second, Outcome::LookedUp { addresses: Box::default(), until: now }, Asked::No, now);
        let page = lease(&mut frontier);
        assert_eq!(page.purpose(), Purpose::Discover);
        frontier.complete(page, Outcome::Finished { stored: true }, Asked::Yes, now);
        assert_eq!(frontier.next(now), Next::Drained);
    }

    #[test]
    fn of_a_name_with_very_many_addresses_the_first_count() {
        let now = Moment::from_millis(1_000_000);
        let mut frontier = frontier(by(true, false), 1);
        add(&mut frontier, &["h.test".to_owned()], 1, now);
        let lease = |frontier: &mut Frontier| {
            let Next::Lease(lease) = frontier.next(now) else { panic!("something is to be done") };
            lease
        };
        let look_up = lease(&mut frontier);
        let addresses = (0..=255).map(|last| IpAddr::from([127, 0, 0, last])).collect();
        frontier.complete(look_up, Outcome::LookedUp { addresses, until: now + TTL }, Asked::No, now);
        assert_eq!(lease(&mut frontier).groups.len(), 16);
    }
}
