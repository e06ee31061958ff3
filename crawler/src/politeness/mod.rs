//! Whether a server may be asked now, when several crawls ask it.
//!
//! Owns: [`Gate`], which several crawls share: the pause and the slots of a host and of an address over all crawls, the limits of all
//! requests together (a second, at once, in bytes a second), and the rates of each crawl.
//!
//! Invariants: at a host, and at an address, the strictest terms hold of all crawls that ask there, and for a while after; any second,
//! wherever it begins, has no more requests than a rate allows; requests are served in order of arrival; a request that waits uses no slot
//! and no rate; nothing is kept of places that have rested.
//!
//! Does not know: what time it is, how a request waits, what it asks for, whether an answer was good.

mod gate;
mod line;
mod rate;
mod ticket;
mod turns;

pub use gate::{Gate, GateLimits, MemberRate};
pub use line::{Member, SharedPlace, Terms};
pub use ticket::{GateTicket, Turn};

#[cfg(test)]
mod tests;
