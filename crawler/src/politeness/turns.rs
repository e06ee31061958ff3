//! [`Turns`]: the order of the requests that only a rate of requests or of bytes holds back.

use std::{
    collections::BTreeSet,
    num::{NonZeroU32, NonZeroU64},
    time::{Duration, Instant},
};

use super::{GateTicket, Turn, rate::Rate};

/// Requests that could be sent at once, the one that was asked for first before the others.
#[derive(Debug, Default)]
pub(super) struct Turns {
    rate: Option<Rate>,
    bandwidth: Option<NonZeroU64>,
    /// When what was received is paid for.
    paid: Option<Instant>,
    ready: BTreeSet<GateTicket>,
}

impl Turns {
    /// Has a rate hold from now on. One that stays the same goes on.
    pub(super) fn set_rate(&mut self, rate: Option<NonZeroU32>) {
        if self.rate.as_ref().map(|rate| rate.per_second) != rate {
            self.rate = rate.map(Rate::new);
        }
    }

    /// Has a ceiling on bytes a second hold from now on. One that stays the same goes on.
    pub(super) fn set_bandwidth(&mut self, bandwidth: Option<NonZeroU64>) {
        if self.bandwidth != bandwidth {
            (self.bandwidth, self.paid) = (bandwidth, None);
        }
    }

    /// When the next may be sent, by both rates.
    pub(super) fn free(&self) -> Option<Instant> {
        self.rate.as_ref().and_then(Rate::free).max(self.paid)
    }

    /// A request that was sent at `began` has brought so many bytes: the next waits until they would have come at the rate that is
    /// allowed.
    pub(super) fn pay(&mut self, bytes: u64, began: Instant) {
        if let Some(most) = self.bandwidth {
            let time = Duration::from_secs_f64(bytes as f64 / most.get() as f64);
            self.paid = Some(self.paid.map_or(began, |paid| paid.max(began)) + time);
        }
    }

    /// The one that is first.
    pub(super) fn first(&self) -> Option<GateTicket> {
        self.ready.first().copied()
    }

    /// Whether a request may be sent now.
    pub(super) fn turn(&mut self, ticket: GateTicket, now: Instant) -> Turn {
        self.ready.insert(ticket);
        match self.free() {
            _ if self.first() != Some(ticket) => Turn::Waits,
            Some(at) if at > now => Turn::At(at),
            _ => Turn::Go,
        }
    }

    /// A request is sent; who is first after it.
    pub(super) fn go(&mut self, ticket: GateTicket, now: Instant) -> Option<GateTicket> {
        if let Some(rate) = &mut self.rate {
            rate.spend(now);
        }
        self.leave(ticket)
    }

    /// A request is not among them any more; who is first instead of it.
    pub(super) fn leave(&mut self, ticket: GateTicket) -> Option<GateTicket> {
        let was_first = self.first() == Some(ticket);
        self.ready.remove(&ticket);
        self.first().filter(|_| was_first)
    }
}
