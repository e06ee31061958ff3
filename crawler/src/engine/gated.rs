//! [`Gated`]: a fetcher that waits at a gate, which the crawls of one process share.
//!
//! Owns: how a request waits for its turn, and the places it is for: the host name, and the addresses of that name. The addresses are
//! looked up beforehand, and remembered for a minute. A crawl alone waits for its rate only, at no place: its frontier keeps the pauses of
//! hosts.
//!
//! Invariants: a waiting request is not sent, and none of its time limits has begun; it is given up at once when its crawl is stopped; its
//! turn is always given back.
//!
//! Does not know: who may go first and when ([`Gate`] does).

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::{
    sync::Notify,
    time::{sleep_until, timeout},
};

use super::{StopSignal, sending};
use crate::{
    fetch::{
        FetchError, FetchFailure, FetchRequest, FetchResponse, Fetcher,
        resolve::{HostAddresses, ResolveOverride, Resolver},
    },
    politeness::{Gate, GateLimits, GateTicket, Member, MemberRate, SharedPlace, Terms, Turn},
    url::WebUrl,
};

/// How long the addresses of a name are taken to stay the same.
const REMEMBERED: Duration = Duration::from_mins(1);

/// The longest look-up. Without an answer the name alone counts, and the request itself finds out what is wrong.
const LOOK_UP: Duration = Duration::from_secs(10);

/// Names that are remembered before any is forgotten.
const FEW_NAMES: usize = 64;

/// A gate, and those who wait before it.
#[derive(Debug)]
pub struct SharedGate {
    waits: Mutex<Waits>,
    names: Mutex<Names>,
}

#[derive(Debug)]
struct Waits {
    gate: Gate,
    /// What wakes those who wait.
    waiting: HashMap<GateTicket, Arc<Notify>>,
}

/// A name, and the port at which it is asked.
type Name = (Box<str>, u16);

/// The addresses of names at ports, each until it is looked up anew.
#[derive(Debug, Default)]
struct Names {
    known: HashMap<Name, (Arc<[IpAddr]>, Instant)>,
    most: usize,
}

/// What a crawl brings to the gate.
pub struct Pass {
    /// The gate.
    pub gate: Arc<SharedGate>,
    /// Which of those who share it this is.
    pub member: Member,
    /// How it meets the others at hosts and addresses; `None` where it is alone.
    pub others: Option<Others>,
    /// What stops it.
    pub stop: StopSignal,
}

/// How a crawl meets others.
pub struct Others {
    /// Requests that the crawl has at one host at once.
    pub slots: u32,
    /// Addresses that its user gave.
    pub given: Vec<ResolveOverride>,
    /// Who knows the others.
    pub resolver: Arc<dyn Resolver>,
}

/// A fetcher behind a gate, if there is one.
pub struct Gated<F> {
    fetcher: F,
    pass: Option<Pass>,
}

/// A request that waits or is under way: it ends when this is dropped.
struct Going<'a> {
    gate: &'a SharedGate,
    ticket: GateTicket,
    bytes: u64,
    /// When the next may go, by the rate of its crawl.
    next: Option<Instant>,
}

impl SharedGate {
    /// A gate that nobody has come to.
    pub fn new(limits: GateLimits) -> Self {
        let waits = Waits { gate: Gate::new(limits), waiting: HashMap::new() };
        Self { waits: Mutex::new(waits), names: Mutex::default() }
    }

    /// Has other limits hold from now on.
    pub fn set_limits(&self, limits: GateLimits) {
        self.with(|waits| waits.gate.set_limits(limits));
    }

    /// Has a crawl send at most so many requests over any second from now on, and receive so many bytes a second.
    pub fn set_rate(&self, member: Member, rate: MemberRate) {
        self.with(|waits| waits.gate.set_rate(member, rate));
    }

    /// Does something with the gate, and wakes those who wait and for whom it changes anything.
    fn with<T>(&self, work: impl FnOnce(&mut Waits) -> T) -> T {
        let mut waits = held(&self.waits);
        let done = work(&mut waits);
        for ticket in waits.gate.woken() {
            if let Some(waiting) = waits.waiting.get(&ticket) {
                waiting.notify_one();
            }
        }
        done
    }

    /// Waits until a request may be sent.
    async fn turn(&self, places: Vec<SharedPlace>, member: Member, terms: Terms) -> Going<'_> {
        let woken = Arc::new(Notify::new());
        let ticket = self.with(|waits| {
            let ticket = waits.gate.ask(places, member, terms, now());
            waits.waiting.insert(ticket, Arc::clone(&woken));
            ticket
        });
        let mut going = Going { gate: self, ticket, bytes: 0, next: None };
        loop {
            match self.with(|waits| waits.gate.turn(ticket, now())) {
                Turn::Go => break,
                Turn::Waits => woken.notified().await,
                Turn::At(moment) => tokio::select! {
                    () = woken.notified() => {}
                    () = sleep_until(moment.into()) => {}
                },
            }
        }
        going.next = self.with(|waits| {
            waits.waiting.remove(&ticket);
            waits.gate.free(member)
        });
        going
    }
}

impl Default for SharedGate {
    /// Without limits.
    fn default() -> Self {
        Self::new(GateLimits::default())
    }
}

impl Drop for Going<'_> {
    fn drop(&mut self) {
        self.gate.with(|waits| {
            waits.waiting.remove(&self.ticket);
            waits.gate.end(self.ticket, now(), self.bytes);
        });
    }
}

impl Names {
    fn get(&self, name: &Name, now: Instant) -> Option<Arc<[IpAddr]>> {
        self.known.get(name).filter(|(_, until)| now < *until).map(|(addresses, _)| Arc::clone(addresses))
    }

    fn put(&mut self, name: Name, addresses: Arc<[IpAddr]>, now: Instant) {
        if self.known.len() >= self.most {
            self.known.retain(|_, (_, until)| now < *until);
            self.most = (2 * self.known.len()).max(FEW_NAMES);
        }
        self.known.insert(name, (addresses, now + REMEMBERED));
    }
}

impl Pass {
    /// What a crawl alone brings to a gate of its own; nothing without a rate.
    pub fn alone(gate: &Arc<SharedGate>, rate: MemberRate, stop: &StopSignal) -> Option<Self> {
        let member = Member(0);
        gate.set_rate(member, rate);
        rate.is_some().then(|| Self { gate: Arc::clone(gate), member, others: None, stop: stop.clone() })
    }

    /// Waits for the turn of a request; `None` when the crawl is stopped.
    async fn turn(&self, request: &FetchRequest) -> Option<Going<'_>> {
        let mut stop = self.stop.clone();
        let terms = Terms { pause: request.pause, slots: self.others.as_ref().map_or(1, |others| others.slots) };
        let turn = async { self.gate.turn(self.places(request).await, self.member, terms).await };
        tokio::select! {
            biased;
            _ = stop.asked() => None,
            going = turn => Some(going),
        }
    }

    async fn places(&self, request: &FetchRequest) -> Vec<SharedPlace> {
        let Some(others) = &self.others else { return Vec::new() };
        let addresses = match (&request.addresses, request.url.ip_literal()) {
            (_, Some(address)) => return vec![SharedPlace::Address(address.to_canonical())],
            (Some(pinned), None) => Arc::clone(pinned),
            (None, None) => others.addresses(&request.url, &self.gate.names).await,
        };
        let mut places = vec![SharedPlace::Host(request.url.host().trim_end_matches('.').into())];
        for address in addresses.iter().map(|address| SharedPlace::Address(address.to_canonical())) {
            if !places.contains(&address) {
                places.push(address);
            }
        }
        places
    }
}

impl Others {
    async fn addresses(&self, url: &WebUrl, names: &Mutex<Names>) -> Arc<[IpAddr]> {
        let given: Vec<_> = self.given.iter().filter(|given| given.answers(url.host(), url.port())).collect();
        if !given.is_empty() {
            return given.into_iter().map(|given| given.address).collect();
        }
        let name = (Box::from(url.host()), url.port());
        let known = held(names).get(&name, now());
        if let Some(addresses) = known {
            return addresses;
        }
        let found = timeout(LOOK_UP, self.resolver.resolve(url.host())).await;
        let addresses: Arc<[IpAddr]> =
            found.ok().and_then(Result::ok).map(|found| found.list).unwrap_or_default().into();
        held(names).put(name, Arc::clone(&addresses), now());
        addresses
    }
}

impl<F> Gated<F> {
    /// A fetcher behind a gate; as it is where there is none.
    pub fn new(fetcher: F, pass: Option<Pass>) -> Self {
        Self { fetcher, pass }
    }
}

impl<F: Fetcher> Fetcher for Gated<F> {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchFailure> {
        let Some(pass) = &self.pass else { return self.fetcher.fetch(request).await };
        sending::waits();
        let Some(mut going) = pass.turn(&request).await else { return Err(FetchError::Withdrawn.after(0)) };
        sending::goes(going.next);
        let answer = self.fetcher.fetch(request).await;
        going.bytes = answer.as_ref().map_or(0, |response| response.wire_bytes);
        answer
    }

    async fn look_up(&self, url: &WebUrl) -> HostAddresses {
        self.fetcher.look_up(url).await
    }
}

/// The runtime's time, which a test may move on.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// What a lock holds. Whoever panicked with it had changed nothing by halves.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use tokio::sync::watch;

    use super::*;
    use crate::fetch::{
        dns::SystemResolver,
        memory::{MemoryFetcher, response},
    };

    fn stop() -> (watch::Sender<Option<i32>>, StopSignal) {
        let (sender, receiver) = watch::channel(None);
        (sender, StopSignal::new(receiver, Duration::from_secs(1)))
    }

    fn requests(rate: u32) -> MemberRate {
        MemberRate { requests: std::num::NonZeroU32::new(rate), bytes: None }
    }

    fn pass(gate: &Arc<SharedGate>, member: u32) -> (watch::Sender<Option<i32>>, Pass) {
        let (sender, stop) = stop();
        let given = ["one.test:80:192.0.2.1", "two.test:80:192.0.2.1"].map(|text| text.parse().unwrap());
        let others = Others { slots: 1, given: given.into(), resolver: Arc::new(SystemResolver) };
        (sender, Pass { gate: Arc::clone(gate), member: Member(member), others: Some(others), stop })
    }

    fn request(url: &str, pause: Duration) -> FetchRequest {
        FetchRequest { pause, ..FetchRequest::get(WebUrl::parse(url).unwrap(), 10) }
    }

    #[tokio::test(start_paused = true)]
    async fn two_names_of_one_address_wait_for_each_other_and_a_stop_ends_that() {
        let gate = Arc::new(SharedGate::default());
        let ((_one, first), (two, second)) = (pass(&gate, 0), pass(&gate, 1));
        let web = || MemoryFetcher::default().with("http://one.test/", Ok(response(200, &[], b"x")));
        let (first, second) = (Gated::new(web(), Some(first)), Gated::new(web(), Some(second)));
        let pause = Duration::from_millis(60);
        first.fetch(request("http://one.test/", pause)).await.unwrap();
        let began = now();
        first.fetch(request("http://one.test/", Duration::ZERO)).await.unwrap();
        assert_eq!(now(), began, "the pause is the one that was asked for last");
        first.fetch(request("http://one.test/", pause)).await.unwrap();
        let began = now();
        let failure = second.fetch(request("http://two.test/", Duration::ZERO)).await.unwrap_err();
        assert_eq!((failure.error.name(), now() - began), ("refused", pause), "it was asked");
        let waits = second.fetch(request("http://two.test/", Duration::from_hours(1)));
        let stops = async { two.send(Some(15)).unwrap() };
        let (answer, ()) = tokio::join!(waits, stops);
        assert_eq!((answer.unwrap_err().error.name(), now() - began), ("withdrawn", pause));
        assert_eq!(second.fetcher.asked().len(), 1);
    }

    /// Answers after some time, and notes when it was asked.
    #[derive(Default)]
    struct Slow(Mutex<Vec<Instant>>);

    impl Fetcher for Slow {
        async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchFailure> {
            held(&self.0).push(now());
            tokio::time::sleep(Duration::from_millis(20)).await;
            Ok(FetchResponse::new(request.url, 200))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_crawl_alone_reaches_its_rate_and_exceeds_it_over_no_second() {
        for (rate, tasks) in [(5, 1), (20, 1), (20, 1_000), (200, 64), (2_000, 1_000), (10_000, 1_000)] {
            let ((_sender, stop), gate) = (stop(), Arc::default());
            let fetcher = Gated::new(Slow::default(), Pass::alone(&gate, requests(rate), &stop));
            let fetcher = Arc::new(fetcher);
            let began = now();
            let mut crawling = tokio::task::JoinSet::new();
            for _ in 0..tasks {
                let fetcher = Arc::clone(&fetcher);
                crawling.spawn(async move {
                    while now() - began < Duration::from_secs(3) {
                        fetcher.fetch(request("http://one.test/", Duration::ZERO)).await.unwrap();
                    }
                });
            }
            crawling.join_all().await;
            let asked = held(&fetcher.fetcher.0);
            let over_seconds = asked.windows(rate as usize + 1).map(|over| over[rate as usize] - over[0]);
            assert!(over_seconds.min().is_none_or(|span| span >= Duration::from_secs(1)), "{rate}");
            let in_time = asked.iter().filter(|at| **at < began + Duration::from_secs(3)).count();
            assert!(in_time as f64 >= 0.9 * 3.0 * f64::from(rate), "{in_time} at {rate} with {tasks}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn of_a_lease_the_requests_that_went_are_counted_and_none_that_waits() {
        let ((_sender, stop), gate, gone) = (stop(), Arc::default(), Arc::default());
        let fetcher = Arc::new(Gated::new(Slow::default(), Pass::alone(&gate, requests(1), &stop)));
        fetcher.fetch(request("http://one.test/", Duration::ZERO)).await.unwrap();
        let (sending, began) = (sending::Sending::new(Arc::clone(&gone)), tokio::time::Instant::now());
        let lease = tokio::spawn(Arc::clone(&sending).count_in(async move {
            for _ in 0..2 {
                sending::begins();
                fetcher.fetch(request("http://one.test/", Duration::ZERO)).await.unwrap();
            }
        }));
        for (millis, requests) in [(500, 0), (1_015, 1), (1_500, 1), (2_070, 2)] {
            sleep_until(began + Duration::from_millis(millis)).await;
            assert_eq!(sending.requests(), requests, "{millis}");
        }
        lease.abort();
        assert!(lease.await.unwrap_err().is_cancelled());
        assert_eq!(gone.next().await, 1, "the lease went once");
    }
}
