//! [`Gate`]: who may send the next request.

use std::{
    collections::{BTreeSet, HashMap},
    num::{NonZeroU32, NonZeroU64},
    time::{Duration, Instant},
};

use super::{Member, Place, Terms, line::Line};

/// Places that are looked through before any is forgotten.
const FEW_PLACES: usize = 64;

/// What all requests together may be; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Requests a second.
    pub max_rate: Option<NonZeroU32>,
    /// Bytes of bodies a second, on average.
    pub max_bandwidth: Option<NonZeroU64>,
    /// Requests at once.
    pub concurrency: Option<NonZeroU32>,
}

/// A request that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(u64);

/// Whether a request may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// It may; it is under way from now on.
    Go,
    /// Not before this moment, if nothing happens meanwhile.
    At(Instant),
    /// Not before something happens.
    Waits,
}

/// A gate that several crawls share.
///
/// ```
/// use std::time::{Duration, Instant};
/// use webloom::politeness::{Gate, Limits, Member, Place, Terms, Turn};
/// let (mut gate, now) = (Gate::new(Limits::default()), Instant::now());
/// let terms = Terms { pause: Duration::from_secs(1), slots: 1 };
/// let host = || vec![Place::Host("docs.example.org".into())];
/// let first = gate.ask(host(), Member(0), terms, now);
/// let second = gate.ask(host(), Member(1), terms, now);
/// assert_eq!((gate.turn(first, now), gate.turn(second, now)), (Turn::Go, Turn::Waits));
/// gate.end(first, now, 0);
/// assert_eq!(gate.turn(second, now), Turn::At(now + terms.pause));
/// ```
#[derive(Debug)]
pub struct Gate {
    limits: Limits,
    lines: HashMap<Place, Line>,
    requests: HashMap<Ticket, Request>,
    /// Those whom only what all share holds back.
    ready: BTreeSet<Ticket>,
    in_flight: u32,
    /// When the rate allows the next request.
    rate_free: Option<Instant>,
    /// When what was received is paid for.
    bytes_free: Option<Instant>,
    next: u64,
    /// So many places are looked through.
    most_places: usize,
    /// Whether somebody who waits may go now.
    changed: bool,
}

/// A request that waits, or is under way.
#[derive(Debug)]
struct Request {
    places: Vec<Place>,
    member: Member,
    began: Option<Instant>,
}

impl Gate {
    /// A gate that nobody has come to.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            lines: HashMap::new(),
            requests: HashMap::new(),
            ready: BTreeSet::new(),
            in_flight: 0,
            rate_free: None,
            bytes_free: None,
            next: 0,
            most_places: FEW_PLACES,
            changed: false,
        }
    }

    /// Has other limits hold from now on.
    pub fn set_limits(&mut self, limits: Limits) {
        (self.limits, self.changed) = (limits, true);
        (self.rate_free, self.bytes_free) = (None, None);
    }

    /// Lines up at these places, each named once.
    pub fn ask(&mut self, places: Vec<Place>, member: Member, terms: Terms, now: Instant) -> Ticket {
        self.forget(now);
        let ticket = Ticket(self.next);
        self.next += 1;
        for place in &places {
            self.lines.entry(place.clone()).or_default().ask(ticket, member, terms, now);
        }
        self.requests.insert(ticket, Request { places, member, began: None });
        ticket
    }

    /// Whether a request that waits may be sent now.
    pub fn turn(&mut self, ticket: Ticket, now: Instant) -> Turn {
        let Some(request) = self.requests.get(&ticket) else { return Turn::Waits };
        let turns =
            request.places.iter().map(|place| self.lines.get(place).map_or(Some(now), |line| line.turn(ticket, now)));
        let Some(at) = turns.collect::<Option<Vec<_>>>().map(|turns| turns.into_iter().max().unwrap_or(now)) else {
            return self.is_not_ready(ticket, Turn::Waits);
        };
        if at > now {
            return self.is_not_ready(ticket, Turn::At(at));
        }
        self.ready.insert(ticket);
        let is_full = self.limits.concurrency.is_some_and(|most| self.in_flight >= most.get());
        if is_full || self.ready.first() != Some(&ticket) {
            return Turn::Waits;
        }
        if let Some(at) = self.rate_free.max(self.bytes_free).filter(|at| *at > now) {
            return Turn::At(at);
        }
        self.begin(ticket, now);
        Turn::Go
    }

    /// A request ended, and has brought so many bytes; or nobody waits for it any more.
    pub fn end(&mut self, ticket: Ticket, now: Instant, bytes: u64) {
        let Some(request) = self.requests.remove(&ticket) else { return };
        for place in &request.places {
            let Some(line) = self.lines.get_mut(place) else { continue };
            match request.began {
                Some(_) => line.end(request.member, now),
                None => line.leave(ticket, request.member, now),
            }
        }
        if let Some(began) = request.began {
            self.in_flight -= 1;
            self.pay(bytes, began);
        }
        self.ready.remove(&ticket);
        self.changed = true;
    }

    /// Whether somebody who waits may go now, since this was last asked.
    pub fn has_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// Places of which something is kept.
    pub fn places(&self) -> usize {
        self.lines.len()
    }

    fn begin(&mut self, ticket: Ticket, now: Instant) {
        self.ready.remove(&ticket);
        self.in_flight += 1;
        if let Some(rate) = self.limits.max_rate {
            let step = Duration::from_secs(1) / rate.get();
            self.rate_free = Some(self.rate_free.map_or(now, |free| free.max(now)) + step);
        }
        if let Some(request) = self.requests.get_mut(&ticket) {
            request.began = Some(now);
            for place in &request.places {
                if let Some(line) = self.lines.get_mut(place) {
                    line.begin();
                }
            }
        }
        self.changed = true;
    }

    /// Whoever comes next waits until these bytes would have come at the rate that is allowed.
    fn pay(&mut self, bytes: u64, began: Instant) {
        if let Some(most) = self.limits.max_bandwidth {
            let time = Duration::from_secs_f64(bytes as f64 / most.get() as f64);
            self.bytes_free = Some(self.bytes_free.map_or(began, |free| free.max(began)) + time);
        }
    }

    fn is_not_ready(&mut self, ticket: Ticket, turn: Turn) -> Turn {
        self.changed |= self.ready.remove(&ticket);
        turn
    }

    fn forget(&mut self, now: Instant) {
        if self.lines.len() >= self.most_places {
            self.lines.retain(|_, line| !line.has_rested(now));
            self.most_places = (2 * self.lines.len()).max(FEW_PLACES);
        }
    }
}
