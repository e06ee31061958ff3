//! The frontier under random schedules, against a plain model of the URL table.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    net::IpAddr,
    num::NonZeroUsize,
    time::Duration,
};

use proptest::prelude::*;

use super::*;
use crate::{
    candidate::{Hop, HostId, Ticket},
    health::FailureCause,
    order::Weight,
    purpose::Queue,
    time::Moment,
    url::{Origin, WebUrl},
};

const DELAY: Duration = Duration::from_millis(10);
const DAY: Duration = Duration::from_hours(24);
const REFUSED: FailedFetch = FailedFetch { cause: FailureCause::Refused, retry_after: None };

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Queued,
    Leased,
    Finished,
    Abandoned,
}

#[derive(Debug, Clone)]
struct Row {
    queued: WorkItem,
    state: State,
    /// As the table has it: it stays while the row is leased.
    due: Option<Moment>,
}

#[derive(Debug, Clone, Copy)]
struct Setup {
    heads: usize,
    per_host: usize,
    hosts: u32,
    max_depth: Option<u32>,
    max_pages: Option<u64>,
    order: Order,
    /// How many machines the hosts are on, where those of one share.
    machines: Option<u8>,
}

const PLAIN: Setup =
    Setup { heads: 10, per_host: 1, hosts: 1, max_depth: None, max_pages: None, order: Order::Breadth, machines: None };

/// The frontier and, beside it, the table as the writer would keep it.
struct Model {
    setup: Setup,
    frontier: Frontier,
    now: Moment,
    rows: BTreeMap<u64, Row>,
    /// Finished URLs that wait to be fetched again, not before a moment.
    again: BTreeMap<u64, Moment>,
    /// How often each was.
    fetched_again: HashMap<u64, usize>,
    leases: Vec<Lease>,
    last_end: HashMap<HostId, Moment>,
    /// The machine of each host that was looked up, by its last byte, and when each was asked last.
    machines: HashMap<HostId, Option<u8>>,
    last_end_there: HashMap<u8, Moment>,
    /// Until when each host's robots.txt is good.
    /// Until when a robots.txt is good, and whether a URL was asked for since.
    met: HashMap<HostId, (Moment, bool)>,
    /// Hosts whose robots.txt is being fetched.
    seeking: BTreeSet<HostId>,
    answers: Vec<(HostId, RefillAnswer)>,
}

impl Model {
    fn new(setup: Setup) -> Self {
        let limit = |count| NonZeroUsize::new(count).unwrap();
        let mut frontier = Frontier::new(FrontierLimits {
            rows: true,
            heads: limit(setup.heads * 2),
            heads_per_host: limit(setup.heads),
            per_host: limit(setup.per_host),
            share_by: ShareBy { address: setup.machines.is_some(), domain: false },
            order: setup.order,
            max_depth: setup.max_depth,
            max_pages_per_host: setup.max_pages.and_then(std::num::NonZeroU64::new),
            back_off: BackOffPolicy { give_up: DAY * 1_000, give_up_unknown: DAY * 1_000, ..BackOffPolicy::default() },
        });
        for host in 0..setup.hosts {
            frontier.add_host(HostStart::new(Origin::parse(&format!("http://h{host}")).unwrap(), DELAY));
        }
        let now = Moment::from_millis(1_000_000);
        let (rows, again, leases, answers) = Default::default();
        let (fetched_again, last_end, met, seeking) = Default::default();
        let (machines, last_end_there) = Default::default();
        Self {
            setup,
            frontier,
            now,
            rows,
            again,
            fetched_again,
            leases,
            last_end,
            machines,
            last_end_there,
            met,
            seeking,
            answers,
        }
    }

    fn offer(&mut self, host: u32, depth: u32) {
        let id = self.rows.len() as u64 + 1;
        let host = HostId(host % self.setup.hosts);
        let url = WebUrl::parse(&format!("http://h{}/{id}", host.0)).unwrap();
        let weight = Weight::of_thousandths([1_000, 7_000, 100][self.rows.len() % 3]).expect("within bounds");
        let rank = self.setup.order.rank(depth, weight);
        let queued = WorkItem { rank, depth, ..WorkItem::discover(Ticket(id), host, url, Hop::Link) };
        let closed = self.frontier.is_closed(host);
        let state = if closed { State::Abandoned } else { State::Queued };
        self.rows.insert(id, Row { queued: queued.clone(), state, due: None });
        self.frontier.offer(queued);
    }

    /// Gives some rows of a host other weights.
    fn rerank(&mut self, host: u32, weight: u8) {
        let (order, host) = (self.setup.order, HostId(host % self.setup.hosts));
        let weight = Weight::of_thousandths(1 + 100 * u32::from(weight)).expect("within bounds");
        for row in self.rows.values_mut().filter(|row| row.queued.host == host && !row.queued.id.0.is_multiple_of(3)) {
            row.queued.rank = order.rank(row.queued.depth, weight);
        }
        self.frontier.reranked(host);
    }

    /// Has a finished URL fetched again, each at most once at a time.
    fn offer_extra(&mut self, pick: usize) {
        let leased: Vec<_> = self.leases.iter().map(Lease::url).cloned().collect();
        let finished =
            self.rows.values().filter(|row| row.state == State::Finished && !leased.contains(&row.queued.url));
        let finished: Vec<_> = finished.map(|row| row.queued.clone()).collect();
        let Some(queued) = finished.get(pick % finished.len().max(1)) else { return };
        if self.again.contains_key(&queued.id.0) {
            return;
        }
        let closed = self.frontier.is_closed(queued.host);
        let again = WorkItem { purpose: Purpose::Rescue, due: None, failed: None, attempts: 0, ..queued.clone() };
        assert_eq!(self.frontier.offer_extra(again), !closed);
        if !closed {
            self.again.insert(queued.id.0, Moment::EPOCH);
        }
    }

    fn step(&mut self) -> bool {
        match self.frontier.next(self.now) {
            Next::Lease(lease) => self.leased(lease),
            Next::NeedsRefill(request) => self.answer(request),
            Next::WaitUntil(at) => {
                assert!(at > self.now);
                self.now = at;
            }
            Next::Blocked => assert!(!self.leases.is_empty() || !self.answers.is_empty(), "blocked by nothing"),
            Next::Drained => {
                assert!(self.again.is_empty(), "drained before all were fetched again");
                return false;
            }
            Next::Held => return false,
            Next::Unreachable => panic!("nobody is given up within these times"),
        }
        true
    }

    fn leased(&mut self, lease: Lease) {
        let host = lease.host();
        let holding = self.leases.iter().filter(|other| other.host() == host).count();
        assert!(holding < self.setup.per_host, "more leases than slots");
        if let Some(&end) = self.last_end.get(&host) {
            assert!(self.now >= end + DELAY, "asked before its delay had passed");
        }
        if let Some(health) = self.frontier.health(host) {
            assert!(self.now >= health.not_before && holding == 0, "an unhealthy host is asked too soon or too much");
        }
        let item = lease.item().clone();
        self.check_machine(&lease);
        match item.purpose.row().queue {
            Queue::Table => self.leased_url(&item),
            Queue::Robots if item.redirects == 0 => {
                let of = item.of.expect("it is of a host");
                assert!(self.seeking.insert(of), "robots.txt is fetched twice at a time");
            }
            Queue::Robots | Queue::LookUp => {}
            Queue::Extra => {
                assert!(self.has_robots(host), "fetched again before robots.txt");
                assert!(!self.spent(host), "fetched again beyond the host's page budget");
                assert!(self.again.remove(&item.id.0).is_some_and(|due| due <= self.now), "fetched again unasked");
                *self.fetched_again.entry(item.id.0).or_default() += 1;
            }
            Queue::Check => assert!(self.has_robots(host), "checked before robots.txt"),
        }
        self.leases.push(lease);
    }

    /// A machine has no more leases than a host, and its delay passes, whatever the host is called.
    fn check_machine(&self, lease: &Lease) {
        if lease.purpose() == Purpose::LookUp || self.setup.machines.is_none() {
            assert!(lease.groups.is_empty() && self.setup.machines.is_some() == (lease.purpose() == Purpose::LookUp));
            return;
        }
        let machine = *self.machines.get(&lease.host()).expect("it was looked up");
        let groups: Vec<_> = machine.map(group).into_iter().collect();
        assert_eq!(lease.groups, groups);
        if let Some(machine) = machine {
            let there = self.leases.iter().filter(|other| other.groups.contains(&group(machine))).count();
            assert!(there < self.setup.per_host, "more leases than slots on one machine");
            let rested = self.last_end_there.get(&machine).is_none_or(|end| self.now >= *end + DELAY);
            assert!(rested, "a machine is asked before its delay had passed");
        }
    }

    fn leased_url(&mut self, item: &WorkItem) {
        assert!(self.has_robots(item.host), "leased before robots.txt");
        assert!(!self.spent(item.host), "leased beyond the host's page budget");
        // One that does not answer holds nobody up, and finishes its own levels.
        let hosts = || (0..self.setup.hosts).map(HostId);
        let down: Vec<bool> = hosts().map(|host| self.frontier.health(host).is_some()).collect();
        let elsewhere = |host: HostId| self.frontier.hosts[host.0 as usize].waits_elsewhere;
        let excluded: Vec<bool> =
            hosts().map(|host| self.spent(host) || down[host.0 as usize] || elsewhere(host)).collect();
        let counted = self.leases.iter().filter(|lease| lease.in_levels).map(|lease| lease.item.id);
        let counted: BTreeSet<Ticket> = counted.collect();
        let waits_for = |row: &Row| match row.state {
            _ if down[item.host.0 as usize] => row.queued.host == item.host,
            State::Leased => counted.contains(&row.queued.id),
            _ => !excluded[row.queued.host.0 as usize],
        };
        let rows = self.rows.values().filter(|row| self.outstanding(row) && waits_for(row));
        let lowest = rows.map(|row| row.queued.depth).min();
        if self.setup.max_depth.is_some() && self.setup.order.is_by_level() {
            assert_eq!(Some(item.depth), lowest, "a level was begun before the last was finished");
        }
        let is_fresh = |row: &&Row| row.queued.host == item.host && row.state == State::Queued && row.due.is_none();
        let first =
            self.rows.values().filter(is_fresh).filter(|row| self.outstanding(row)).map(|row| row.queued.place()).min();
        if item.due.is_none() && !down[item.host.0 as usize] {
            assert_eq!(Some(item.place()), first, "leased before a better one of its host");
        }
        let row = self.rows.get_mut(&item.id.0).unwrap();
        assert!(row.state == State::Queued && row.due.is_none_or(|due| due <= self.now), "{row:?}");
        row.state = State::Leased;
    }

    /// Whether a URL may be leased by the host's robots.txt: one may be asked for, however old it is.
    fn has_robots(&self, host: HostId) -> bool {
        self.met.get(&host).is_some_and(|(until, used)| !used || self.now < *until)
    }

    fn spent(&self, host: HostId) -> bool {
        let stored = self.rows.values().filter(|row| row.queued.host == host && row.state == State::Finished).count();
        self.setup.max_pages.is_some_and(|most| stored as u64 >= most)
    }

    fn outstanding(&self, row: &Row) -> bool {
        let within = self.setup.max_depth.is_none_or(|most| row.queued.depth <= most);
        within && matches!(row.state, State::Queued | State::Leased)
    }

    /// Answers from the table as it is now; the answer is delivered later. A leased row is a queued one to the table.
    fn answer(&mut self, request: RefillRequest) {
        let mut found: Vec<(Place, Option<Moment>, WorkItem)> = Vec::new();
        for row in self.rows.values().filter(|row| row.queued.host == request.host && self.outstanding(row)) {
            let place = row.queued.place();
            match (request.kind, row.due) {
                (RefillKind::Beyond(from), None) if place > from => {
                    found.push((place, None, row.queued.clone()));
                }
                (RefillKind::Due { after, id, .. }, Some(due)) if (due, place.id) > (after, id) => {
                    found.push((place, Some(due), row.queued.clone()));
                }
                _ => {}
            }
        }
        found.sort_by_key(|(place, due, _)| (*due, due.map_or(*place, |_| Place { rank: 0, id: place.id })));
        let until = match request.kind {
            RefillKind::Due { until, .. } => Some(until),
            RefillKind::Beyond(_) => None,
        };
        let ripe = found.iter().take_while(|(_, due, _)| *due <= until).count().min(request.limit);
        let rest = found.split_off(ripe);
        let answer = RefillAnswer {
            last_due: found.last().and_then(|(_, due, _)| *due),
            next_due: rest.first().and_then(|(_, due, _)| *due),
            more: !rest.is_empty(),
            rows: found.into_iter().map(|(_, _, queued)| queued).collect(),
        };
        self.answers.push((request.host, answer));
    }

    fn deliver(&mut self) {
        if let Some((host, answer)) = self.answers.pop() {
            self.frontier.refilled(host, answer);
        }
    }

    fn complete(&mut self, pick: usize, how: u8) {
        if self.leases.is_empty() {
            return;
        }
        let lease = self.leases.swap_remove(pick % self.leases.len());
        let host = lease.host();
        let item = lease.item().clone();
        if item.purpose == Purpose::LookUp {
            return self.complete_look_up(lease, how);
        }
        let there: Vec<_> = lease.groups.iter().filter_map(|group| self.machine(group)).collect();
        self.last_end_there.extend(there.into_iter().map(|machine| (machine, self.now)));
        match item.purpose.row().queue {
            Queue::LookUp => unreachable!("they are completed above"),
            Queue::Table => self.complete_page(lease, how),
            Queue::Extra => self.complete_extra(lease, how),
            Queue::Robots => {
                let of = lease.item().of.expect("it is of a host");
                self.complete_robots(lease, of, how);
            }
            Queue::Check => {
                if how < 100 {
                    self.frontier.failed(&lease, REFUSED, self.now);
                } else {
                    self.frontier.answered(&lease, true);
                }
                self.frontier.complete(lease, Outcome::Finished { stored: false }, Asked::Yes, self.now);
            }
        }
        self.last_end.insert(host, self.now);
    }

    /// A name is on another machine than before, on none, or is not looked up after all.
    fn complete_look_up(&mut self, lease: Lease, how: u8) {
        let (host, until) = (lease.host(), self.now + DELAY * u32::from(how));
        let outcome = match how % 8 {
            0 => Outcome::Released,
            1 => {
                self.machines.insert(host, None);
                Outcome::LookedUp { addresses: Box::default(), until: self.now }
            }
            _ => {
                let machine = how / 8 % self.setup.machines.unwrap_or(1);
                self.machines.insert(host, Some(machine));
                Outcome::LookedUp { addresses: Box::new([address(machine)]), until }
            }
        };
        self.frontier.complete(lease, outcome, Asked::No, self.now);
    }

    fn machine(&self, of: &groups::HostGroup) -> Option<u8> {
        (0..self.setup.machines.unwrap_or(0)).find(|machine| group(*machine) == *of)
    }

    fn complete_extra(&mut self, lease: Lease, how: u8) {
        let id = lease.item().id.0;
        if how.is_multiple_of(4) && !self.frontier.is_closed(lease.host()) {
            let due = self.now + Duration::from_millis(u64::from(how));
            self.frontier.complete(lease, Outcome::Retry { due, attempts: 1, failed: self.now }, Asked::Yes, self.now);
            self.again.insert(id, due);
        } else {
            self.frontier.complete(lease, Outcome::Finished { stored: false }, Asked::Yes, self.now);
        }
    }

    fn complete_robots(&mut self, lease: Lease, of: HostId, how: u8) {
        let target = HostId(u32::from(how) % self.setup.hosts);
        let outcome = match how % 16 {
            0 => Outcome::Retry { due: self.now + DELAY, attempts: 0, failed: self.now },
            1 => {
                self.frontier.failed(&lease, REFUSED, self.now);
                Outcome::Retry { due: self.now, attempts: 0, failed: self.now }
            }
            2..5 if lease.item().redirects < 5 => {
                Outcome::Redirected { host: target, to: WebUrl::parse("http://r/robots.txt").unwrap() }
            }
            5 if how > 200 => Outcome::Closed,
            6 => Outcome::Met { until: self.now + 3 * DELAY },
            _ => Outcome::Met { until: self.now + DAY },
        };
        if !matches!(outcome, Outcome::Redirected { .. }) {
            self.seeking.remove(&of);
        }
        if let Outcome::Met { until } = outcome {
            self.met.insert(of, (until, false));
            self.frontier.answered(&lease, true);
        }
        let failed = outcome == Outcome::Closed;
        let dropped = self.frontier.complete(lease, outcome, Asked::Yes, self.now);
        let mut count = 0;
        for row in self.rows.values_mut().filter(|row| failed && row.queued.host == of) {
            if row.state == State::Queued {
                row.state = State::Abandoned;
                count += 1;
            }
        }
        assert_eq!(dropped, count);
        if failed {
            let dropped = self.frontier.drop_extras(of).into_iter().map(|item| item.id.0);
            let dropped: BTreeSet<_> = dropped.collect();
            let expected: BTreeSet<_> =
                self.again.extract_if(.., |id, _| self.rows[id].queued.host == of).map(|(id, _)| id).collect();
            assert_eq!(dropped, expected);
        }
    }

    fn complete_page(&mut self, lease: Lease, how: u8) {
        let (id, host) = (lease.item().id.0, lease.host());
        let (mut attempts, mut due) = (lease.item().attempts, self.now + Duration::from_millis(u64::from(how) + 1));
        let closed = self.frontier.is_closed(host);
        let (outcome, state) = match how % 8 {
            0 => {
                if how < 128 && self.frontier.failed(&lease, REFUSED, self.now) == Blame::Host {
                    due = self.now + Duration::from_millis(1);
                } else {
                    attempts += 1;
                }
                (Outcome::Retry { due, attempts, failed: self.now }, State::Queued)
            }
            1 => (Outcome::Abandoned, State::Abandoned),
            2 => (Outcome::Released, State::Queued),
            _ => {
                self.frontier.answered(&lease, true);
                (Outcome::Finished { stored: true }, State::Finished)
            }
        };
        let row = self.rows.get_mut(&id).unwrap();
        if how.is_multiple_of(8) {
            (row.queued.attempts, row.queued.failed) = (attempts, Some(self.now));
            (row.due, row.queued.due) = (Some(due), Some(due));
        }
        row.state = if closed && state == State::Queued { State::Abandoned } else { state };
        self.frontier.complete(lease, outcome, Asked::Yes, self.now);
    }

    fn check(&self) {
        let count = |wanted: fn(&State) -> bool| self.rows.values().filter(|row| wanted(&row.state)).count() as u64;
        let counts = Counts {
            admitted: self.rows.len() as u64,
            queued: count(|state| *state == State::Queued),
            leased: count(|state| *state == State::Leased),
            finished: count(|state| *state == State::Finished),
            abandoned: count(|state| *state == State::Abandoned),
        };
        assert_eq!(self.frontier.counts(), counts);
        let failed = |row: &&Row| row.state == State::Queued && row.queued.attempts > 0;
        let outstanding = self.rows.values().filter(failed).filter(|row| self.outstanding(row)).count() as u64;
        assert_eq!(self.frontier.fetched(), counts.finished + outstanding);
        let again = self.leases.iter().filter(|lease| lease.purpose() == Purpose::Rescue).count() + self.again.len();
        assert_eq!(self.frontier.extras(), again as u64);
        assert!(self.frontier.in_memory() <= (3 * self.setup.heads + 2) * self.setup.hosts as usize);
    }

    /// Lets everything succeed from now on: it must drain.
    fn drain(&mut self) {
        for _ in 0..100_000 {
            if !self.step() && self.leases.is_empty() && self.answers.is_empty() {
                self.check();
                return;
            }
            self.deliver();
            self.complete(0, 7);
        }
        panic!("not drained: {:?}, {} leases", self.frontier.counts(), self.leases.len());
    }
}

fn address(machine: u8) -> IpAddr {
    IpAddr::from([127, 0, 0, machine])
}

fn group(machine: u8) -> groups::HostGroup {
    groups::HostGroup::Address(address(machine))
}

fn setup() -> impl Strategy<Value = Setup> {
    let order = prop_oneof![Just(Order::Breadth), Just(Order::Depth), Just(Order::Best), Just(Order::BestOfLevel)];
    let limits = (proptest::option::of(0..5_u32), proptest::option::of(1..9_u64), proptest::option::of(1..4_u8));
    (1..12_usize, 1..4_usize, 1..5_u32, limits, order).prop_map(
        |(heads, per_host, hosts, (max_depth, max_pages, machines), order)| Setup {
            heads,
            per_host,
            hosts,
            max_depth,
            max_pages,
            order,
            machines,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn keeps_its_promises_under_random_schedules(setup in setup(), moves in prop::collection::vec(any::<(u8, u8, u8)>(), 0..300)) {
        let mut model = Model::new(setup);
        for (action, one, two) in moves {
            match action % 12 {
                11 => model.rerank(u32::from(one), two),
                10 => model.offer_extra(usize::from(one)),
                0..4 => model.offer(u32::from(one), u32::from(two % 7)),
                4..7 => { model.step(); }
                7 => model.deliver(),
                8 => model.complete(usize::from(one), two),
                _ => model.now = model.now + Duration::from_millis(u64::from(one)),
            }
            model.check();
        }
        model.drain();
        let held = |row: &Row| setup.max_depth.is_some_and(|most| row.queued.depth > most) || model.spent(row.queued.host);
        for row in model.rows.values() {
            let done = matches!(row.state, State::Finished | State::Abandoned);
            prop_assert!(done || held(row), "left behind: {row:?}");
        }
        for id in model.again.keys() {
            prop_assert!(model.spent(model.rows[id].queued.host), "not fetched again: {id}");
        }
    }
}

#[test]
fn a_host_with_much_to_do_starves_nobody() {
    let setup = Setup { heads: 5, hosts: 3, ..PLAIN };
    let mut model = Model::new(setup);
    (0..300).for_each(|_| model.offer(0, 0));
    (0..10).for_each(|host| model.offer(1 + host % 2, 3));
    let mut turns = 0;
    while model.rows.values().any(|row| row.queued.host != HostId(0) && row.state != State::Finished) {
        model.step();
        model.deliver();
        model.complete(0, 7);
        turns += 1;
        assert!(turns < 150, "the small hosts were starved");
    }
}

#[test]
fn memory_holds_heads_only() {
    let setup = PLAIN;
    let mut model = Model::new(setup);
    (0..5_000).for_each(|_| model.offer(0, 1));
    assert!(model.frontier.in_memory() <= 10);
    model.drain();
    assert!(model.rows.values().all(|row| row.state == State::Finished));
}

#[test]
fn a_finished_url_is_fetched_again_before_queued_ones_and_is_no_page() {
    let setup = Setup { max_depth: Some(0), ..PLAIN };
    let mut model = Model::new(setup);
    model.offer(0, 0);
    model.drain();
    let counts = model.frontier.counts();
    model.offer_extra(0);
    assert_eq!((model.frontier.counts(), model.frontier.extras()), (counts, 1));
    model.offer(0, 0);
    assert_eq!(model.frontier.next(model.now), Next::WaitUntil(model.now + DELAY));
    model.now = model.now + DELAY;
    model.step();
    assert_eq!(model.leases[0].purpose(), Purpose::Rescue);
    assert_eq!((model.leases[0].pages(), model.frontier.next(model.now)), (0, Next::Blocked));
    model.complete(0, 7);
    assert_eq!(model.frontier.counts().queued, 1);
    model.drain();
    assert_eq!(model.fetched_again, HashMap::from([(1, 1)]));
}

#[test]
fn a_page_budget_holds_back_what_is_to_be_fetched_again() {
    let max_pages = Some(1);
    let setup = Setup { max_pages, ..PLAIN };
    let mut model = Model::new(setup);
    model.offer(0, 0);
    model.drain();
    assert_eq!(model.frontier.next(model.now), Next::Drained);
    model.offer_extra(0);
    assert_eq!(model.frontier.next(model.now + DELAY), Next::Held);
}

#[test]
fn a_slot_freed_early_counts_once() {
    let setup = PLAIN;
    let mut model = Model::new(setup);
    (0..2).for_each(|_| model.offer(0, 0));
    model.step();
    model.complete(0, 7);
    model.step();
    model.step();
    let mut held = model.leases.pop().unwrap();
    model.frontier.free_slot(&mut held, model.now);
    model.now = model.now + DELAY;
    let Next::Lease(second) = model.frontier.next(model.now) else { panic!("the slot is free") };
    for lease in [held, second] {
        model.frontier.complete(lease, Outcome::Finished { stored: true }, Asked::Yes, model.now);
    }
    assert_eq!(model.frontier.next(model.now), Next::Drained);
}

/// Where leases end without a request, as where robots.txt forbids all of a host, others wait for their turn alone.
#[test]
fn a_host_whose_leases_end_without_a_request_starves_nobody() {
    let (mut frontier, one) = (plain_frontier(500), WebUrl::parse("http://h/").unwrap());
    let hosts = [0, 1].map(|_| frontier.add_host(HostStart::new(one.origin(), DELAY)));
    (1..300).for_each(|id| frontier.offer(queued(id, hosts[0], &one)));
    (300..303).for_each(|id| frontier.offer(queued(id, hosts[1], &one)));
    for moment in [1, 2] {
        let now = Moment::from_millis(moment);
        let Next::Lease(robots) = frontier.next(now) else { panic!("both hosts need their robots.txt") };
        frontier.complete(robots, Outcome::Met { until: now + DAY }, Asked::Yes, now);
    }
    let now = Moment::from_millis(3) + DELAY;
    let mut leased = Vec::new();
    while leased.len() < 6 {
        let Next::Lease(lease) = frontier.next(now) else { panic!("there is enough to lease") };
        leased.push(lease.host().0);
        frontier.complete(lease, Outcome::Abandoned, Asked::No, now);
    }
    assert_eq!(leased, [0, 1, 0, 1, 0, 1]);
}

/// One lease at a time is scarce: hosts get them in proportion to the weights of their URLs, also of those in the table.
#[test]
fn hosts_share_leases_by_the_weights_of_their_urls() {
    let setup = Setup { heads: 2, hosts: 2, order: Order::Best, ..PLAIN };
    let mut model = Model::new(setup);
    (0..200).for_each(|url| model.offer(u32::from(url % 3 != 1), 1));
    for host in 0..2 {
        model.frontier.set_delay(HostId(host), Duration::ZERO, model.now);
    }
    let mut turns = Vec::new();
    while turns.len() < 40 {
        model.now = model.now + DELAY;
        model.step();
        model.deliver();
        turns.extend(model.leases.iter().filter(|lease| lease.pages() > 0).map(|lease| lease.host().0));
        model.complete(0, 7);
    }
    // The weight of all URLs of host 0 is 7; of host 1, which has the others, 1 to begin with.
    let of_host_0 = turns.iter().filter(|host| **host == 0).count();
    assert!((34..=36).contains(&of_host_0), "{turns:?}");
    (0..2).for_each(|host| model.frontier.set_delay(HostId(host), DELAY, model.now));
    model.now = model.now + DELAY;
    model.drain();
    assert!(model.rows.values().all(|row| row.state == State::Finished));
}

#[test]
fn a_longer_delay_holds_from_the_moment_it_is_known() {
    let (mut frontier, url) = (plain_frontier(10), WebUrl::parse("http://h/").unwrap());
    let host = frontier
        .add_host(HostStart { robots_until: Moment::from_millis(u64::MAX), ..HostStart::new(url.origin(), DELAY) });
    (1..3).for_each(|id| frontier.offer(queued(id, host, &url)));
    let now = Moment::from_millis(5);
    let Next::Lease(lease) = frontier.next(now) else { panic!("nothing to fetch") };
    frontier.complete(lease, Outcome::Finished { stored: true }, Asked::Yes, now);
    let later = now + DELAY / 2;
    frontier.set_delay(host, DELAY, later);
    assert!(matches!(frontier.next(later), Next::WaitUntil(at) if at == now + DELAY), "it was known before");
    frontier.set_delay(host, DELAY * 2, later);
    assert!(matches!(frontier.next(later), Next::WaitUntil(at) if at == later + DELAY * 2));
}

#[test]
fn a_robots_txt_that_is_too_old_at_once_is_good_for_one_url() {
    let (mut frontier, url) = (plain_frontier(10), WebUrl::parse("http://h/").unwrap());
    let host = frontier.add_host(HostStart::new(url.origin(), DELAY));
    (1..3).for_each(|id| frontier.offer(queued(id, host, &url)));
    let mut now = Moment::from_millis(5);
    let mut kinds = Vec::new();
    while kinds.len() < 4 {
        match frontier.next(now) {
            Next::Lease(lease) => {
                kinds.push(lease.purpose());
                if lease.pages() > 0 {
                    frontier.complete(lease, Outcome::Finished { stored: true }, Asked::Yes, now);
                } else {
                    frontier.complete(lease, Outcome::Met { until: now + DELAY / 2 }, Asked::Yes, now);
                }
            }
            Next::WaitUntil(at) => now = at,
            other => panic!("{other:?} after {kinds:?}"),
        }
    }
    let (robots, page) = (Purpose::Robots, Purpose::Discover);
    assert_eq!(kinds, [robots, page, robots, page]);
}

/// However many hosts have queued rows in the table, the rows that are read are soon leased.
#[test]
fn very_many_hosts_hold_no_rows_in_memory() {
    for order in [Order::Breadth, Order::Best] {
        let heads = NonZeroUsize::new(100).unwrap();
        let mut frontier = Frontier::new(FrontierLimits { heads, order, ..FrontierLimits::default() });
        let url = WebUrl::parse("http://h/").unwrap();
        let now = Moment::from_millis(5);
        for _ in 0..200 {
            let start = HostStart::new(url.origin(), DELAY);
            frontier.add_host(HostStart { plain: 50, robots_until: now + DAY, ..start });
        }
        frontier.resume(Counts { admitted: 10_000, queued: 10_000, ..Counts::default() }, now);
        let mut leased = HashSet::new();
        for id in 1.. {
            match frontier.next(now) {
                Next::NeedsRefill(RefillRequest { host, .. }) => {
                    let rows = vec![WorkItem { rank: i64::try_from(id).unwrap(), ..queued(id, host, &url) }];
                    frontier.refilled(host, RefillAnswer { rows, more: true, ..RefillAnswer::default() });
                }
                Next::Lease(lease) => {
                    leased.insert(lease.host());
                    frontier.complete(lease, Outcome::Finished { stored: true }, Asked::Yes, now);
                }
                other => {
                    assert_eq!(other, Next::WaitUntil(now + DELAY));
                    break;
                }
            }
            assert!(frontier.in_memory() <= 1, "{} rows in memory", frontier.in_memory());
        }
        assert_eq!(leased.len(), 200, "all hosts have their turn");
    }
}

fn plain_frontier(heads: usize) -> Frontier {
    let heads_per_host = NonZeroUsize::new(heads).expect("some heads");
    Frontier::new(FrontierLimits { heads_per_host, ..FrontierLimits::default() })
}

fn queued(id: u64, host: HostId, url: &WebUrl) -> WorkItem {
    WorkItem::discover(Ticket(id), host, url.clone(), Hop::Link)
}
