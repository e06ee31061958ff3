//! [`Message`]: what the scheduler sends to the writer, in order.

use super::{Abandonment, AreaRow, Counters, HostRow, RobotsRow, SequenceEnd, UrlChange, UrlRow, VisitRow};
use crate::{
    candidate::{HostId, UrlId},
    queue::{RefillAnswer, RefillRequest},
    url::Fingerprint,
};

/// Takes an answer; it must not block.
pub type Reply<T> = Box<dyn FnOnce(T) + Send>;

/// A step's room in the queue to the writer: given back when it is dropped, after the step was written.
pub type Room = Box<dyn Send>;

/// One step of the scheduler, as far as it is durable: written whole or not at all.
#[derive(Debug, Default)]
pub struct Step {
    /// Hosts first seen.
    pub hosts: Vec<HostRow>,
    /// URLs admitted.
    pub rows: Vec<UrlRow>,
    /// A visit that came to its end.
    pub visit: Option<VisitRow>,
    /// A URL's new state.
    pub change: Option<(UrlId, UrlChange)>,
    /// A host's robots.txt.
    pub robots: Option<(HostId, RobotsRow)>,
    /// A host whose queued URLs are all abandoned.
    pub closed: Option<(HostId, Abandonment)>,
    /// Start URLs, and targets of their redirects by which the scope grew.
    pub areas: Vec<AreaRow>,
    /// What the step adds to the sequence's sums.
    pub counters: Counters,
}

/// Receives every URL that the sequence admitted, for filling a URL cache anew.
pub trait Replay: Send {
    /// One of them.
    fn row(&mut self, key: &str, fingerprint: Fingerprint);

    /// All rows were shown.
    fn done(self: Box<Self>);
}

/// What the writer does.
pub enum Message {
    /// Writes a step, and gives its room back.
    Step(Box<Step>, Room),
    /// Reads queued rows, after all that was sent before.
    Refill(RefillRequest, Reply<RefillAnswer>),
    /// Reads the body of a host's robots.txt, after all that was sent before.
    Robots(HostId, Reply<Option<Vec<u8>>>),
    /// Commits, then shows every URL that the sequence admitted.
    Replay(Box<dyn Replay>),
    /// Records how the sequence stands.
    End(Box<SequenceEnd>),
}

impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Step(step, _) => f.debug_tuple("Step").field(step).finish(),
            Self::Refill(request, _) => f.debug_tuple("Refill").field(request).finish_non_exhaustive(),
            Self::Robots(host, _) => f.debug_tuple("Robots").field(host).finish_non_exhaustive(),
            Self::Replay(_) => f.write_str("Replay"),
            Self::End(end) => f.debug_tuple("End").field(end).finish(),
        }
    }
}
