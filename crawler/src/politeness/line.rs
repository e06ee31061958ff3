//! [`Line`]: the crawls that ask at one place, and the requests that wait there.

use std::{
    collections::VecDeque,
    net::IpAddr,
    time::{Duration, Instant},
};

use super::GateTicket;

/// For so long after its pause a crawl that has asked somewhere counts there.
const LINGERS: Duration = Duration::from_secs(10);

/// Whom requests share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SharedPlace {
    /// A host of this name, at whatever port.
    Host(Box<str>),
    /// A machine, whatever it is called.
    Address(IpAddr),
}

/// One of the crawls that share a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Member(pub u32);

/// What a crawl keeps to at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// Time from the end of a request to the next.
    pub pause: Duration,
    /// Requests at once.
    pub slots: u32,
}

/// One place.
#[derive(Debug, Default)]
pub(super) struct Line {
    known: Vec<Known>,
    waiting: VecDeque<GateTicket>,
    in_flight: u32,
    ended: Option<Instant>,
}

/// A crawl at a place.
#[derive(Debug)]
struct Known {
    member: Member,
    terms: Terms,
    /// Requests that wait or are under way.
    asking: u32,
    /// When it was last heard of.
    last: Instant,
}

impl Known {
    fn counts(&self, now: Instant) -> bool {
        self.asking > 0 || now < self.last + self.terms.pause + LINGERS
    }
}

impl Line {
    /// Somebody lines up.
    pub(super) fn ask(&mut self, ticket: GateTicket, member: Member, terms: Terms, now: Instant) {
        self.known.retain(|known| known.counts(now));
        self.waiting.push_back(ticket);
        match self.known.iter_mut().find(|known| known.member == member) {
            Some(known) => (known.terms, known.asking) = (terms, known.asking + 1),
            None => self.known.push(Known { member, terms, asking: 1, last: now }),
        }
    }

    /// When the next request may begin, if `ticket` is the next and there is a slot.
    pub(super) fn turn(&self, ticket: GateTicket, now: Instant) -> Option<Instant> {
        let terms = self.strictest(now);
        let is_next = self.waiting.front() == Some(&ticket) && self.in_flight < terms.slots;
        is_next.then(|| self.ended.map_or(now, |ended| ended + terms.pause))
    }

    /// The request that is next.
    pub(super) fn first(&self) -> Option<GateTicket> {
        self.waiting.front().copied()
    }

    /// The next request begins.
    pub(super) fn begin(&mut self) {
        self.waiting.pop_front();
        self.in_flight += 1;
    }

    /// A request ended.
    pub(super) fn end(&mut self, member: Member, now: Instant) {
        self.in_flight -= 1;
        self.ended = Some(now);
        self.heard_last_of(member, now);
    }

    /// Somebody does not wait any more.
    pub(super) fn leave(&mut self, ticket: GateTicket, member: Member, now: Instant) {
        self.waiting.retain(|other| *other != ticket);
        self.heard_last_of(member, now);
    }

    /// Whether it is as if nobody had ever asked here.
    pub(super) fn has_rested(&self, now: Instant) -> bool {
        !self.known.iter().any(|known| known.counts(now))
    }

    fn heard_last_of(&mut self, member: Member, now: Instant) {
        if let Some(known) = self.known.iter_mut().find(|known| known.member == member) {
            (known.asking, known.last) = (known.asking - 1, now);
        }
    }

    fn strictest(&self, now: Instant) -> Terms {
        let terms = self.known.iter().filter(|known| known.counts(now)).map(|known| known.terms);
        let strictest =
            terms.reduce(|one, other| Terms { pause: one.pause.max(other.pause), slots: one.slots.min(other.slots) });
        strictest.unwrap_or(Terms { pause: Duration::ZERO, slots: 1 })
    }
}
