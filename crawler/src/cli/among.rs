//! [`Among`]: what a crawl shares with others in the same process. A crawl alone shares nothing.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use super::{CommandFailure, access, outcome::Voice};
use crate::{
    config::Settings,
    engine::{Others, Pass, SharedGate, StopSignal},
    monitor::Seat,
    observe::progress::Style,
    politeness::Member,
};

/// Among which others a crawl runs.
#[derive(Clone, Default)]
pub(super) struct Among {
    /// How it says something.
    pub(super) voice: Voice,
    /// What it shares with them.
    pub(super) share: Option<Share>,
    /// Where somebody who looks at the process sees it.
    pub(super) seat: Seat,
    /// Where its requests wait for their turn where it shares nothing.
    pub(super) gate: Arc<SharedGate>,
}

/// What crawls of one process share.
#[derive(Clone)]
pub(super) struct Share {
    pub(super) gate: Arc<SharedGate>,
    pub(super) member: Member,
    /// How many there are.
    pub(super) crawls: Arc<AtomicU64>,
}

impl Among {
    /// How many crawls share what the process has.
    pub(super) fn crawls(&self) -> u64 {
        self.share.as_ref().map_or(1, |share| share.crawls.load(Ordering::Relaxed).max(1))
    }

    /// Whether the process runs others as well, or may.
    pub(super) fn is_one_of_many(&self) -> bool {
        self.share.is_some()
    }

    /// What the crawl brings to the gate, if there is one.
    pub(super) fn pass(&self, settings: &Settings, stop: &StopSignal) -> Result<Option<Pass>, CommandFailure> {
        let rate = settings.politeness.rate();
        let Some(Share { gate, member, .. }) = self.share.clone() else {
            return Ok(Pass::alone(&self.gate, rate, stop));
        };
        gate.set_rate(member, rate);
        let given = access::overrides(&settings.fetch.resolve)?;
        let (slots, resolver) = (settings.politeness.per_host.get(), access::gate_resolver(settings)?);
        Ok(Some(Pass { gate, member, others: Some(Others { slots, given, resolver }), stop: stop.clone() }))
    }

    /// How progress is shown: the lines of several crawls would run into each other.
    pub(super) fn progress(&self, alone: Style) -> Style {
        if self.share.is_some() { Style::Hidden } else { alone }
    }
}
