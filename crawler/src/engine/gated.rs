//! [`Gated`]: a fetcher that asks a gate first, which crawls of one process share.
//!
//! Owns: how a request waits for its turn, and which places it is for: the name of its host, and the addresses of that name. These
//! are looked up before, and remembered for a minute.
//!
//! Invariants: a request that waits is not sent, and no limit of time of its own has begun; it is given up at once when its crawl is
//! stopped; whatever becomes of it, its turn is given back.
//!
//! Does not know: who may go first and when ([`Gate`] does).

use std::{
    collections::HashMap,
    net::IpAddr,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::{
    sync::Notify,
    time::{sleep_until, timeout},
};

use super::StopSignal;
use crate::{
    fetch::{
        FetchError, FetchFailure, FetchRequest, FetchResponse, Fetcher,
        resolve::{ResolveOverride, Resolver},
    },
    politeness::{Gate, Limits, Member, Place, Terms, Ticket, Turn},
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
    gate: Mutex<Gate>,
    changed: Notify,
    names: Mutex<Names>,
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
    /// Requests that the crawl has at one host at once.
    pub slots: u32,
    /// Addresses that its user gave.
    pub given: Vec<ResolveOverride>,
    /// Who knows the others.
    pub resolver: Arc<dyn Resolver>,
    /// What stops it.
    pub stop: StopSignal,
}

/// A fetcher behind a gate, if there is one.
pub struct Gated<F> {
    fetcher: F,
    pass: Option<Pass>,
}

/// A request that waits or is under way: it ends when this is dropped.
struct Going<'a> {
    gate: &'a SharedGate,
    ticket: Ticket,
    bytes: u64,
}

impl SharedGate {
    /// A gate that nobody has come to.
    pub fn new(limits: Limits) -> Self {
        Self { gate: Mutex::new(Gate::new(limits)), changed: Notify::new(), names: Mutex::default() }
    }

    /// Has other limits hold from now on.
    pub fn set_limits(&self, limits: Limits) {
        self.with(|gate| gate.set_limits(limits));
    }

    /// Does something with the gate, and wakes those who wait if it changes anything for them.
    fn with<T>(&self, work: impl FnOnce(&mut Gate) -> T) -> T {
        let mut gate = held(&self.gate);
        let done = work(&mut gate);
        if gate.has_changed() {
            self.changed.notify_waiters();
        }
        done
    }

    /// Waits until a request may be sent.
    async fn turn(&self, places: Vec<Place>, member: Member, terms: Terms) -> Going<'_> {
        let ticket = self.with(|gate| gate.ask(places, member, terms, Instant::now()));
        let going = Going { gate: self, ticket, bytes: 0 };
        loop {
            // From before the look at the gate, so that no change is missed.
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            match self.with(|gate| gate.turn(ticket, Instant::now())) {
                Turn::Go => return going,
                Turn::Waits => changed.await,
                Turn::At(moment) => tokio::select! {
                    () = changed => {}
                    () = sleep_until(moment.into()) => {}
                },
            }
        }
    }
}

impl Drop for Going<'_> {
    fn drop(&mut self) {
        self.gate.with(|gate| gate.end(self.ticket, Instant::now(), self.bytes));
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
    /// Waits for the turn of a request; `None` when the crawl is stopped.
    async fn turn(&self, request: &FetchRequest) -> Option<Going<'_>> {
        let mut stop = self.stop.clone();
        let terms = Terms { pause: request.pause, slots: self.slots };
        let turn = async { self.gate.turn(self.places(request).await, self.member, terms).await };
        tokio::select! {
            biased;
            _ = stop.asked() => None,
            going = turn => Some(going),
        }
    }

    async fn places(&self, request: &FetchRequest) -> Vec<Place> {
        let addresses = match (&request.addresses, request.url.ip_literal()) {
            (_, Some(address)) => return vec![Place::Address(address.to_canonical())],
            (Some(pinned), None) => Arc::clone(pinned),
            (None, None) => self.addresses(&request.url).await,
        };
        let mut places = vec![Place::Host(request.url.host().trim_end_matches('.').into())];
        for address in addresses.iter().map(|address| Place::Address(address.to_canonical())) {
            if !places.contains(&address) {
                places.push(address);
            }
        }
        places
    }

    async fn addresses(&self, url: &WebUrl) -> Arc<[IpAddr]> {
        let given: Vec<_> = self.given.iter().filter(|given| given.answers(url.host(), url.port())).collect();
        if !given.is_empty() {
            return given.into_iter().map(|given| given.address).collect();
        }
        let name = (Box::from(url.host()), url.port());
        let known = held(&self.gate.names).get(&name, Instant::now());
        if let Some(addresses) = known {
            return addresses;
        }
        let found = timeout(LOOK_UP, self.resolver.resolve(url.host())).await;
        let addresses: Arc<[IpAddr]> = found.ok().and_then(Result::ok).unwrap_or_default().into();
        held(&self.gate.names).put(name, Arc::clone(&addresses), Instant::now());
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
        let Some(mut going) = pass.turn(&request).await else { return Err(FetchError::Withdrawn.after(0)) };
        let answer = self.fetcher.fetch(request).await;
        going.bytes = answer.as_ref().map_or(0, |response| response.wire_bytes);
        answer
    }
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

    fn pass(gate: &Arc<SharedGate>, member: u32) -> (watch::Sender<Option<i32>>, Pass) {
        let (sender, receiver) = watch::channel(None);
        let stop = StopSignal::new(receiver, Duration::from_secs(1));
        let given = ["one.test:80:192.0.2.1", "two.test:80:192.0.2.1"].map(|text| text.parse().unwrap());
        let (gate, resolver) = (Arc::clone(gate), Arc::new(SystemResolver));
        (sender, Pass { gate, member: Member(member), slots: 1, given: given.into(), resolver, stop })
    }

    fn request(url: &str, pause: Duration) -> FetchRequest {
        FetchRequest { pause, ..FetchRequest::get(WebUrl::parse(url).unwrap(), 10) }
    }

    #[tokio::test]
    async fn two_names_of_one_address_wait_for_each_other_and_a_stop_ends_that() {
        let gate = Arc::new(SharedGate::new(Limits::default()));
        let ((_one, first), (two, second)) = (pass(&gate, 0), pass(&gate, 1));
        let web = || MemoryFetcher::default().with("http://one.test/", Ok(response(200, &[], b"x")));
        let (first, second) = (Gated::new(web(), Some(first)), Gated::new(web(), Some(second)));
        let pause = Duration::from_millis(60);
        first.fetch(request("http://one.test/", pause)).await.unwrap();
        let began = Instant::now();
        first.fetch(request("http://one.test/", Duration::ZERO)).await.unwrap();
        assert!(began.elapsed() < pause, "the pause is the one that was asked for last: {:?}", began.elapsed());
        first.fetch(request("http://one.test/", pause)).await.unwrap();
        let began = Instant::now();
        let failure = second.fetch(request("http://two.test/", Duration::ZERO)).await.unwrap_err();
        assert!(failure.error.name() == "refused" && began.elapsed() >= pause, "it was asked: {:?}", began.elapsed());
        let waits = second.fetch(request("http://two.test/", Duration::from_hours(1)));
        let stops = async { two.send(Some(15)).unwrap() };
        let (answer, ()) = tokio::join!(waits, stops);
        assert_eq!(answer.unwrap_err().error.name(), "withdrawn");
        assert_eq!(second.fetcher.asked().len(), 1);
    }
}
