//! Failing sites, crawled by the frontier alone on a virtual clock: whose fault a failure is, and what that costs.
//!
//! A server is a function of the path and the moment. Its crawl has a table of rows like the writer's, and decides on a failure as the core
//! does. So a crawl takes milliseconds, and states how long it would have taken, and what it requested.

use std::{
    collections::{BTreeMap, HashMap},
    num::NonZeroUsize,
    time::Duration,
};

use super::*;
use crate::{
    candidate::{Hop, HostId, Ticket},
    health::{FailureCause, HealthRow, TlsFault},
    time::Moment,
    url::WebUrl,
};

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const BEGIN: u64 = 1_700_000_000_000;

/// Time-out of a request.
const TIMEOUT: u64 = 30 * SECOND;

/// Attempts of a URL.
const ATTEMPTS: u32 = 4;

/// What a server does with a request.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Reply {
    Page,
    Refused,
    Closed,
    Hangs,
    NoName,
    Tls,
    Status(u16, Option<u64>),
}

impl Reply {
    fn failure(self) -> Option<FailedFetch> {
        let cause = match self {
            Self::Page => return None,
            Self::Refused => FailureCause::Refused,
            Self::Closed => FailureCause::Closed,
            Self::Hangs => FailureCause::TimedOut,
            Self::NoName => FailureCause::NoName,
            Self::Tls => FailureCause::Tls(TlsFault::Other),
            Self::Status(status, pause) => {
                let retry_after = pause.map(Duration::from_secs);
                return Some(FailedFetch { cause: FailureCause::Status(status), retry_after });
            }
        };
        Some(FailedFetch { cause, retry_after: None })
    }
}

/// A request, as the server saw it.
#[derive(Debug, Clone)]
struct Request {
    /// Milliseconds from the beginning.
    at: u64,
    host: u32,
    /// 0 for robots.txt; else the number of the page, the start being 1.
    page: u64,
    is_check: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Queued,
    Stored,
    Lost,
}

#[derive(Debug, Clone)]
struct Row {
    item: WorkItem,
    state: State,
}

type Server = Box<dyn FnMut(u32, u64, u64) -> Reply>;

/// A crawl of some hosts with so many pages each.
struct Crawl {
    frontier: Frontier,
    hosts: u32,
    slots: usize,
    delay: u64,
    pages: u64,
    server: Server,
    now: u64,
    rows: BTreeMap<u64, Row>,
    flying: BTreeMap<(u64, u64), (Lease, Reply)>,
    log: Vec<Request>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Drained,
    Unreachable,
    Killed,
}

impl Crawl {
    /// Hosts of these pages; `server` says what becomes of a request, by host, page and moment.
    fn new(hosts: u32, pages: u64, server: impl FnMut(u32, u64, u64) -> Reply + 'static) -> Self {
        Self {
            frontier: Frontier::new(FrontierLimits::default()),
            hosts,
            slots: 1,
            delay: 0,
            pages,
            server: Box::new(server),
            now: 0,
            rows: BTreeMap::new(),
            flying: BTreeMap::new(),
            log: Vec::new(),
        }
    }

    fn limits(&self) -> FrontierLimits {
        FrontierLimits { per_host: NonZeroUsize::new(self.slots).unwrap(), ..FrontierLimits::default() }
    }

    fn url(host: u32, page: u64) -> WebUrl {
        WebUrl::parse(&format!("http://h{host}/{page}")).unwrap()
    }

    fn moment(&self) -> Moment {
        Moment::from_millis(BEGIN + self.now)
    }

    /// Begins a run, with what the runs before have left.
    fn begin(&mut self, health: &HashMap<u32, HealthRow>) {
        let now = self.moment();
        self.frontier = Frontier::new(self.limits());
        self.flying.clear();
        let is_new = self.rows.is_empty();
        let count = |state| self.rows.values().filter(|row| row.state == state).count() as u64;
        let (queued, finished) = (count(State::Queued), self.rows.len() as u64 - count(State::Queued));
        self.frontier.resume(Counts { admitted: queued + finished, queued, finished, ..Counts::default() }, now);
        for host in 0..self.hosts {
            let url = Self::url(host, 1);
            let delay = Duration::from_millis(self.delay);
            let rows = || self.rows.values().filter(|row| row.item.host == HostId(host));
            let queued = || rows().filter(|row| row.state == State::Queued);
            let good = rows().find(|row| row.state == State::Stored).map(|row| row.item.url.as_str().into());
            let health = HostHealth {
                answers: good.is_some(),
                stored: health.get(&host).cloned(),
                known_good: good.clone(),
                needs_robots: is_new,
            };
            self.frontier.add_host(HostStart {
                ready_at: if is_new { Moment::EPOCH } else { now + delay },
                health,
                robots_until: if is_new { Moment::EPOCH } else { now + Duration::from_hours(24) },
                plain: queued().filter(|row| row.item.due.is_none()).count() as u64,
                waiting: queued().filter(|row| row.item.due.is_some()).count() as u64,
                tried: queued().filter(|row| row.item.attempts > 0).count() as u64,
                next_due: queued().filter_map(|row| row.item.due).min(),
                ..HostStart::new(url.origin(), delay)
            });
            if is_new {
                self.offer(host, 1);
            }
        }
    }

    fn offer(&mut self, host: u32, page: u64) {
        let id = u64::from(host) * 10_000 + page;
        if self.rows.contains_key(&id) || page > self.pages {
            return;
        }
        let rank = i64::try_from(page).unwrap();
        let item = WorkItem { rank, ..WorkItem::discover(Ticket(id), HostId(host), Self::url(host, page), Hop::Link) };
        self.rows.insert(id, Row { item: item.clone(), state: State::Queued });
        self.frontier.offer(item);
    }

    /// Crawls to the end of the run, or to a kill at a moment.
    fn run(&mut self, kill: Option<u64>) -> End {
        self.begin(&HashMap::new());
        self.go_on(kill)
    }

    /// Goes on after a kill or an end.
    fn resume(&mut self) -> End {
        let health = (0..self.hosts).filter_map(|host| Some((host, self.frontier.health(HostId(host))?))).collect();
        self.begin(&health);
        self.go_on(None)
    }

    fn go_on(&mut self, kill: Option<u64>) -> End {
        for _ in 0..3_000_000 {
            let next = self.flying.first_key_value().map(|((at, _), _)| *at);
            let wait = match self.frontier.next(self.moment()) {
                Next::Lease(lease) => {
                    self.fetch(lease);
                    continue;
                }
                Next::NeedsRefill(request) => {
                    self.refill(request);
                    continue;
                }
                Next::WaitUntil(at) => [Some(at.millis() - BEGIN), next].into_iter().flatten().min(),
                Next::Blocked => next,
                Next::Drained => return End::Drained,
                Next::Unreachable => return End::Unreachable,
                Next::Held => panic!("nothing is held"),
            };
            self.now = self.now.max(wait.expect("something is to come"));
            if kill.is_some_and(|kill| self.now >= kill) {
                return End::Killed;
            }
            if let Some(((at, _), (lease, reply))) = self.flying.pop_first() {
                if at <= self.now {
                    self.ended(lease, reply);
                } else {
                    self.flying.insert((at, lease.item().id.0), (lease, reply));
                }
            }
        }
        panic!("no end: {:?}, {} requests, at {} s", self.frontier.counts(), self.log.len(), self.now / SECOND);
    }

    fn fetch(&mut self, lease: Lease) {
        let host = lease.host().0;
        let page = lease.url().path_and_query()[1..].parse().unwrap_or(0);
        let reply = (self.server)(host, page, self.now);
        let is_check = lease.purpose() == Purpose::Check;
        self.log.push(Request { at: self.now, host, page, is_check });
        let took = if reply == Reply::Hangs { TIMEOUT } else { 2 };
        let mut number = self.log.len() as u64;
        while self.flying.contains_key(&(self.now + took, number)) {
            number += 1;
        }
        self.flying.insert((self.now + took, number), (lease, reply));
    }

    fn refill(&mut self, request: RefillRequest) {
        let host = self.rows.values().filter(|row| row.item.host == request.host && row.state == State::Queued);
        let mut found: Vec<WorkItem> = host.map(|row| row.item.clone()).collect();
        let answer = match request.kind {
            RefillKind::Beyond(place) => {
                found.retain(|item| item.due.is_none() && item.place() > place);
                found.sort_by_key(WorkItem::place);
                let more = found.len() > request.limit;
                found.truncate(request.limit);
                RefillAnswer { rows: found, more, ..RefillAnswer::default() }
            }
            RefillKind::Due { after, id, until } => {
                found.retain(|item| item.due.is_some_and(|due| (due, item.id) > (after, id)));
                found.sort_by_key(|item| (item.due, item.id));
                let ripe = found.iter().take_while(|item| item.due.unwrap() <= until).count().min(request.limit);
                let rest = found.split_off(ripe);
                let [last_due, next_due] = [found.last(), rest.first()].map(|item| item.and_then(|item| item.due));
                RefillAnswer { last_due, next_due, more: !rest.is_empty(), rows: found }
            }
        };
        self.frontier.refilled(request.host, answer);
    }

    fn ended(&mut self, lease: Lease, reply: Reply) {
        let now = self.moment();
        let (host, id) = (lease.host(), lease.item().id.0);
        let Some(failure) = reply.failure() else {
            self.frontier.answered(&lease, true);
            let outcome = match lease.purpose() {
                Purpose::Robots => Outcome::Met { until: now + Duration::from_hours(24) },
                Purpose::Check => Outcome::Finished { stored: false },
                _ => {
                    self.rows.get_mut(&id).unwrap().state = State::Stored;
                    // The start links to all pages.
                    for page in (2..=self.pages).filter(|_| id % 10_000 == 1) {
                        self.offer(host.0, page);
                    }
                    Outcome::Finished { stored: true }
                }
            };
            self.frontier.complete(lease, outcome, Asked::Yes, now);
            return;
        };
        let outcome = self.failed(&lease, failure);
        self.frontier.complete(lease, outcome, Asked::Yes, now);
    }

    /// What becomes of a lease that failed: as the core decides.
    fn failed(&mut self, lease: &Lease, failure: FailedFetch) -> Outcome {
        let now = self.moment();
        let fault = self.frontier.failed(lease, failure, now);
        let item = lease.item();
        match item.purpose {
            Purpose::Robots => return Outcome::Retry { due: now, attempts: 0, failed: now },
            Purpose::Check => return Outcome::Finished { stored: false },
            _ => {}
        }
        let attempts = item.attempts + u32::from(fault == Blame::Url);
        let row = self.rows.get_mut(&item.id.0).unwrap();
        if attempts >= ATTEMPTS - 1 {
            row.state = State::Lost;
            return Outcome::Finished { stored: false };
        }
        let failed = if fault == Blame::Host { item.failed.unwrap_or_default() } else { now };
        let pause = Duration::from_secs(2 << item.attempts.min(10)).max(failure.retry_after.unwrap_or_default());
        let due = now + pause.min(Duration::from_mins(2));
        row.item = WorkItem { attempts, due: Some(due), failed: Some(failed), purpose: Purpose::Retry, ..item.clone() };
        Outcome::Retry { due, attempts, failed }
    }

    // What came of it.

    fn seconds(&self) -> f64 {
        self.now as f64 / SECOND as f64
    }

    fn count(&self, state: State) -> usize {
        self.rows.values().filter(|row| row.state == state).count()
    }

    /// Requests of each page.
    fn asked(&self) -> BTreeMap<(u32, u64), usize> {
        let mut asked = BTreeMap::new();
        for request in &self.log {
            *asked.entry((request.host, request.page)).or_default() += 1;
        }
        asked
    }

    fn most_asked(&self, state: State) -> usize {
        let of = |row: &&Row| row.state == state;
        let asked = self.asked();
        let pages = self.rows.values().filter(of).map(|row| (row.item.host.0, row.item.id.0 % 10_000));
        pages.filter_map(|page| asked.get(&page).copied()).max().unwrap_or(0)
    }

    fn within(&self, host: u32, from: u64, to: u64) -> usize {
        self.log.iter().filter(|request| request.host == host && (from..to).contains(&request.at)).count()
    }

    fn checks(&self) -> usize {
        self.log.iter().filter(|request| request.is_check).count()
    }

    fn shown(&self) -> String {
        let (stored, lost) = (self.count(State::Stored), self.count(State::Lost));
        let charged = self.rows.values().filter(|row| row.item.attempts > 0).count();
        let (good, bad) = (self.most_asked(State::Stored), self.most_asked(State::Lost));
        let (requests, checks) = (self.log.len(), self.checks());
        format!(
            "{:.1} s, {stored} stored, {lost} lost, {charged} charged, {requests} requests, {checks} checks, good at most {good}, bad at most {bad}",
            self.seconds()
        )
    }
}

fn random(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % below
    }
}

/// Crawls a host that answers so, page by page, and fails unless it drains.
fn crawled(crawl: Crawl) -> Crawl {
    let mut crawl = crawl;
    let end = crawl.run(None);
    assert_eq!(end, End::Drained, "{}", crawl.shown());
    crawl
}

fn bad_pages(pages: u64, reply: Reply, bad: Bad) -> Crawl {
    Crawl::new(1, pages, move |_, page, _| if page > 1 && bad(page) { reply } else { Reply::Page })
}

/// Which pages always fail.
type Bad = fn(u64) -> bool;

const BAD: [(&str, Bad); 3] =
    [("each second", |page| page % 2 == 0), ("the last", |page| page > 100), ("the first", |page| page <= 101)];

#[test]
fn a_few_pages_that_always_fail_hold_nobody_up() {
    for reply in [Reply::Status(503, None), Reply::Status(429, None), Reply::Status(500, None), Reply::Closed] {
        for (most_good, bad) in [(2, (|page| page % 20 == 7) as Bad), (4, |page| page > 57)] {
            let crawl = crawled(bad_pages(60, reply, bad));
            let shown = format!("{reply:?}: {}", crawl.shown());
            assert!(crawl.seconds() <= 30.0 && crawl.count(State::Lost) == 3, "{shown}");
            assert!(crawl.most_asked(State::Stored) <= most_good, "{shown}");
            assert!((4..=6).contains(&crawl.most_asked(State::Lost)), "{shown}");
        }
    }
}

#[test]
fn a_section_that_always_fails_is_given_up_soon_and_takes_few_checks() {
    for (name, bad) in BAD {
        for slots in [1, 3] {
            let crawl = crawled(Crawl { slots, ..bad_pages(200, Reply::Status(500, None), bad) });
            let shown = format!("{name}, {slots} slots: {}", crawl.shown());
            assert!(crawl.seconds() <= 100.0 && crawl.count(State::Stored) == 100, "{shown}");
            assert!(crawl.most_asked(State::Stored) <= 10 && crawl.most_asked(State::Lost) == 4, "{shown}");
        }
        let crawl = crawled(bad_pages(200, Reply::Status(503, None), bad));
        assert!(crawl.seconds() <= 300.0 && crawl.most_asked(State::Lost) <= 5, "{name}: {}", crawl.shown());
    }
}

/// Each attempt takes 30 s, and there are four.
#[test]
fn a_section_that_hangs_is_given_up_after_its_attempts() {
    for (name, bad) in BAD {
        for slots in [1, 3] {
            let crawl = crawled(Crawl { slots, ..bad_pages(200, Reply::Hangs, bad) });
            let shown = format!("{name}, {slots} slots: {}", crawl.shown());
            assert!(crawl.seconds() <= 16_000.0 && crawl.count(State::Stored) == 100, "{shown}");
            assert!(crawl.most_asked(State::Lost) <= 8, "{shown}");
        }
    }
}

#[test]
fn a_host_that_refuses_every_second_request_is_crawled() {
    for delay in [0, SECOND] {
        let mut asked = 0;
        let by_turns = Crawl::new(1, 200, move |_, page, _| {
            asked += u64::from(page > 0);
            if page > 0 && asked % 2 == 0 { Reply::Status(503, None) } else { Reply::Page }
        });
        let mut chance = random(7);
        let by_chance =
            Crawl::new(
                1,
                200,
                move |_, page, _| {
                    if page > 0 && chance(2) == 0 { Reply::Status(503, None) } else { Reply::Page }
                },
            );
        for (crawl, most, stored) in [(by_turns, 2_500.0, 170), (by_chance, 4_000.0, 196)] {
            let crawl = crawled(Crawl { delay, ..crawl });
            assert!(
                crawl.seconds() <= most && crawl.count(State::Stored) >= stored,
                "delay {delay}: {}",
                crawl.shown()
            );
        }
    }
}

/// So many requests within so many milliseconds; what was refused counts, or does not.
fn limited(most: usize, within: u64, counts_refused: bool) -> Crawl {
    let mut began: Vec<u64> = Vec::new();
    Crawl::new(1, 60, move |_, page, at| {
        // Its robots.txt is a file.
        if page == 0 {
            return Reply::Page;
        }
        began.retain(|began| began + within > at);
        let beyond = began.len() >= most;
        if !beyond || counts_refused {
            began.push(at);
        }
        if beyond { Reply::Status(429, None) } else { Reply::Page }
    })
}

#[test]
fn a_host_that_allows_few_requests_loses_no_page() {
    let one = [50, 150, 500, 1_200, 2_000, 3_000, 5_000].map(|within| (1, within));
    for (most, within) in one.into_iter().chain([(10, 10 * SECOND), (30, MINUTE)]) {
        for counts_refused in [false, true] {
            let crawl = crawled(limited(most, within, counts_refused));
            let shown = format!("{most} in {within} ms, {counts_refused}: {}", crawl.shown());
            assert!(crawl.count(State::Stored) == 60 && crawl.log.len() <= 162, "{shown}");
            let least = 60.0 / most as f64 * within as f64 / SECOND as f64;
            assert!(crawl.seconds() <= 4.0 * least + 60.0, "{shown}");
        }
    }
}

#[test]
fn pages_that_take_their_server_down_cost_no_other_page_an_attempt() {
    for lasts in [30, 300, 2 * SECOND, 10 * SECOND, MINUTE] {
        for slots in [1, 3] {
            let mut until = 0;
            let crawl = Crawl::new(1, 60, move |_, page, at| {
                if at < until {
                    return Reply::Refused;
                }
                let crashes = page % 20 == 7;
                until = if crashes { at + lasts } else { until };
                if crashes { Reply::Closed } else { Reply::Page }
            });
            let crawl = crawled(Crawl { slots, ..crawl });
            let charged = crawl.rows.values().filter(|row| row.item.attempts > 0).count();
            let shown = format!("{lasts} ms, {slots} slots: {}", crawl.shown());
            assert!((charged, crawl.count(State::Stored)) == (3, 57) && crawl.most_asked(State::Lost) <= 10, "{shown}");
        }
    }
}

const OUTAGES: [Reply; 9] = [
    Reply::Refused,
    Reply::Closed,
    Reply::Hangs,
    Reply::Status(503, None),
    Reply::Status(503, Some(30)),
    Reply::Status(429, None),
    Reply::Status(429, Some(30)),
    Reply::NoName,
    Reply::Tls,
];

/// When a host goes away, and what is not as it should be in a crawl through that.
const AWAY: u64 = 8 * SECOND;

fn outage(reply: Reply, length: u64, killed: bool, (hosts, slots): (u32, usize)) -> Option<String> {
    let away = AWAY..AWAY + length;
    let crawl =
        Crawl::new(hosts, 40, move |host, _, at| if host == 0 && away.contains(&at) { reply } else { Reply::Page });
    let mut crawl = Crawl { delay: SECOND / 2, slots, ..crawl };
    let middle = AWAY + (length / 2).min(9 * MINUTE);
    let mut end = crawl.run(killed.then_some(middle));
    let mut began = vec![AWAY];
    while end != End::Drained && began.len() < 20 {
        crawl.now += if end == End::Killed { 0 } else { 20 * MINUTE };
        began.push(crawl.now);
        end = crawl.resume();
    }
    let costs = crawl.rows.values().filter(|row| row.state != State::Stored || row.item.attempts > 0).count();
    let at_first = began.iter().map(|began| crawl.within(0, *began, (began + 30 * SECOND).min(AWAY + length))).max();
    let until = AWAY + length;
    let late = |from: u64| crawl.log.iter().filter(move |asked| asked.host == 0 && (from..until).contains(&asked.at));
    let pairs = late(AWAY + HOUR).zip(late(AWAY + HOUR).skip(1));
    // A start asks at once, whatever was asked before it.
    let soon = pairs.filter(|(one, next)| next.at < one.at + MINUTE && !began.contains(&next.at)).count();
    // After ten minutes of silence and a start, what is known of it still counts.
    let long = killed && middle >= AWAY + 5 * MINUTE;
    let restarted = if long { crawl.within(0, middle, (middle + MINUTE).min(until)) } else { 0 };
    let ok = end == End::Drained && costs == 0 && at_first <= Some(12) && soon == 0 && restarted <= 1;
    (!ok).then(|| {
        format!("{end:?}, {costs} charged or left, {at_first:?} at first, {soon} too soon, {restarted} after a start")
    })
}

#[test]
fn an_outage_costs_no_page_an_attempt_and_few_requests() {
    for reply in OUTAGES {
        for length in [15 * SECOND, 10 * MINUTE, 3 * HOUR] {
            for killed in [false, true] {
                for site in [(1, 1), (1, 2), (4, 1)] {
                    if let Some(problem) = outage(reply, length, killed, site) {
                        panic!("{reply:?} for {} s, killed {killed}, {site:?}: {problem}", length / SECOND);
                    }
                }
            }
        }
    }
}
