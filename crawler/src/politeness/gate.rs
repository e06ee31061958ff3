//! [`Gate`]: who may send the next request.

use std::{
    collections::HashMap,
    num::{NonZeroU32, NonZeroU64},
    time::Instant,
};

use super::{GateTicket, Member, SharedPlace, Terms, Turn, line::Line, turns::Turns};

/// Places that are looked through before any is forgotten.
const FEW_PLACES: usize = 64;

/// What all requests together may be; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GateLimits {
    /// Requests a second.
    pub max_rate: Option<NonZeroU32>,
    /// Bytes of bodies a second, on average.
    pub max_bandwidth: Option<NonZeroU64>,
    /// Requests at once.
    pub concurrency: Option<NonZeroU32>,
}

/// What a crawl may have by itself; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemberRate {
    /// Requests a second.
    pub requests: Option<NonZeroU32>,
    /// Bytes of bodies a second, on average.
    pub bytes: Option<NonZeroU64>,
}

impl MemberRate {
    /// Whether anything is limited.
    pub fn is_some(self) -> bool {
        self != Self::default()
    }
}

/// A gate that several crawls share.
///
/// ```
/// use std::time::{Duration, Instant};
/// use webloom::internals::politeness::{Gate, GateLimits, Member, SharedPlace, Terms, Turn};
/// let (mut gate, now) = (Gate::new(GateLimits::default()), Instant::now());
/// let terms = Terms { pause: Duration::from_secs(1), slots: 1 };
/// let host = || vec![SharedPlace::Host("docs.example.org".into())];
/// let first = gate.ask(host(), Member(0), terms, now);
/// let second = gate.ask(host(), Member(1), terms, now);
/// assert_eq!((gate.turn(first, now), gate.turn(second, now)), (Turn::Go, Turn::Waits));
/// gate.end(first, now, 0);
/// assert_eq!(gate.turn(second, now), Turn::At(now + terms.pause));
/// ```
#[derive(Debug)]
pub struct Gate {
    limits: GateLimits,
    lines: HashMap<SharedPlace, Line>,
    requests: HashMap<GateTicket, Request>,
    /// Those of crawls with a rate of their own whom nothing else holds back.
    own: HashMap<Member, Turns>,
    /// Those whom only what all share holds back.
    all: Turns,
    in_flight: u32,
    next: u64,
    /// So many places are looked through.
    most_places: usize,
    /// Those whose turn it may be now.
    woken: Vec<GateTicket>,
}

/// A request that waits, or is under way.
#[derive(Debug)]
struct Request {
    places: Vec<SharedPlace>,
    member: Member,
    began: Option<Instant>,
}

impl Gate {
    /// A gate that nobody has come to.
    pub fn new(limits: GateLimits) -> Self {
        let mut gate = Self {
            limits: GateLimits::default(),
            lines: HashMap::new(),
            requests: HashMap::new(),
            own: HashMap::new(),
            all: Turns::default(),
            in_flight: 0,
            next: 0,
            most_places: FEW_PLACES,
            woken: Vec::new(),
        };
        gate.set_limits(limits);
        gate
    }

    /// Has other limits hold from now on.
    pub fn set_limits(&mut self, limits: GateLimits) {
        self.limits = limits;
        self.all.set_rate(limits.max_rate);
        self.all.set_bandwidth(limits.max_bandwidth);
        self.woken.extend(self.all.first());
    }

    /// Has a crawl send at most so many requests over any second from now on, and receive so many bytes a second on average.
    pub fn set_rate(&mut self, member: Member, rate: MemberRate) {
        let own = self.own.entry(member).or_default();
        own.set_rate(rate.requests);
        own.set_bandwidth(rate.bytes);
        self.woken.extend(own.first());
    }

    /// When a crawl may send its next request, by its own rate.
    pub fn free(&self, member: Member) -> Option<Instant> {
        self.own.get(&member).and_then(Turns::free)
    }

    /// Lines up at these places, each named once.
    pub fn ask(&mut self, places: Vec<SharedPlace>, member: Member, terms: Terms, now: Instant) -> GateTicket {
        self.forget(now);
        let ticket = GateTicket(self.next);
        self.next += 1;
        for place in &places {
            self.lines.entry(place.clone()).or_default().ask(ticket, member, terms, now);
        }
        self.requests.insert(ticket, Request { places, member, began: None });
        ticket
    }

    /// Whether a request that waits may be sent now.
    pub fn turn(&mut self, ticket: GateTicket, now: Instant) -> Turn {
        let Some(request) = self.requests.get(&ticket) else { return Turn::Waits };
        let mut turn = self.turn_at(&request.places, ticket, now);
        for turns in self.own.get_mut(&request.member).into_iter().chain([&mut self.all]) {
            if turn == Turn::Go {
                turn = turns.turn(ticket, now);
            } else {
                self.woken.extend(turns.leave(ticket));
            }
        }
        if turn == Turn::Go && self.limits.concurrency.is_some_and(|most| self.in_flight >= most.get()) {
            turn = Turn::Waits;
        }
        if turn == Turn::Go {
            self.begin(ticket, now);
        }
        turn
    }

    /// Whether it may by all who ask at these places.
    fn turn_at(&self, places: &[SharedPlace], ticket: GateTicket, now: Instant) -> Turn {
        let turns = places.iter().map(|place| self.lines.get(place).map_or(Some(now), |line| line.turn(ticket, now)));
        match turns.collect::<Option<Vec<_>>>().map(|turns| turns.into_iter().max()) {
            None => Turn::Waits,
            Some(Some(at)) if at > now => Turn::At(at),
            Some(_) => Turn::Go,
        }
    }

    /// A request ended, and has brought so many bytes; or nobody waits for it any more.
    pub fn end(&mut self, ticket: GateTicket, now: Instant, bytes: u64) {
        let Some(request) = self.requests.remove(&ticket) else { return };
        for place in &request.places {
            let Some(line) = self.lines.get_mut(place) else { continue };
            match request.began {
                Some(_) => line.end(request.member, now),
                None => line.leave(ticket, request.member, now),
            }
            self.woken.extend(line.first());
        }
        if let Some(began) = request.began {
            self.in_flight -= 1;
            for turns in self.own.get_mut(&request.member).into_iter().chain([&mut self.all]) {
                turns.pay(bytes, began);
            }
            self.woken.extend(self.all.first().filter(|_| self.limits.concurrency.is_some()));
        } else {
            let own = self.own.get_mut(&request.member).and_then(|own| own.leave(ticket));
            self.woken.extend(own.into_iter().chain(self.all.leave(ticket)));
        }
    }

    /// Those who wait and may go now, or know when, since this was last asked.
    pub fn woken(&mut self) -> Vec<GateTicket> {
        std::mem::take(&mut self.woken)
    }

    /// Places of which something is kept.
    #[cfg(test)]
    pub fn places(&self) -> usize {
        self.lines.len()
    }

    fn begin(&mut self, ticket: GateTicket, now: Instant) {
        self.in_flight += 1;
        self.woken.extend(self.all.go(ticket, now));
        let Some(request) = self.requests.get_mut(&ticket) else { return };
        request.began = Some(now);
        let own = self.own.get_mut(&request.member).and_then(|own| own.go(ticket, now));
        self.woken.extend(own);
        for place in &request.places {
            if let Some(line) = self.lines.get_mut(place) {
                line.begin();
                self.woken.extend(line.first());
            }
        }
    }

    fn forget(&mut self, now: Instant) {
        if self.lines.len() >= self.most_places {
            self.lines.retain(|_, line| !line.has_rested(now));
            self.most_places = (2 * self.lines.len()).max(FEW_PLACES);
        }
    }
}
