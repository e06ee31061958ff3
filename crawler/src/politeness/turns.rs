//! [`Turns`]: the order of the requests that only a rate holds back.

use std::{collections::BTreeSet, num::NonZeroU32, time::Instant};

use super::{GateTicket, Turn, rate::Rate};

/// Requests that could be sent at once, the one that was asked for first before the others.
#[derive(Debug, Default)]
pub(super) struct Turns {
    rate: Option<Rate>,
    ready: BTreeSet<GateTicket>,
}

impl Turns {
    /// Has a rate hold from now on. One that stays the same goes on.
    pub(super) fn set_rate(&mut self, rate: Option<NonZeroU32>) {
        if self.rate.as_ref().map(|rate| rate.per_second) != rate {
            self.rate = rate.map(Rate::new);
        }
    }

    /// When the next may be sent, by the rate.
    pub(super) fn free(&self) -> Option<Instant> {
        self.rate.as_ref().and_then(Rate::free)
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
