//! [`GateTicket`]: which request waits, and whether it is its [`Turn`].

use std::time::Instant;

/// A request that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GateTicket(pub(super) u64);

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
