//! May a server be asked now, whoever else asks it?
//!
//! Owns: [`Gate`], which several crawls share: the pause and the slots that a host and an address have over all of them, what
//! all requests together may be (a second, at once, in bytes a second), and what those of one crawl may be a second.
//!
//! Invariants: at a host, and at an address, the strictest terms hold of all crawls that ask there, and for a while after; no
//! second has more requests than a rate allows, wherever it begins; who came first is first; time that somebody waits is nobody's
//! but his own; nothing is kept of places that have rested.
//!
//! Does not know: what time it is, how anybody waits, what is asked for, whether an answer was good.

mod gate;
mod line;
mod rate;
mod ticket;
mod turns;

pub use gate::{Gate, GateLimits};
pub use line::{Member, SharedPlace, Terms};
pub use ticket::{GateTicket, Turn};

#[cfg(test)]
mod tests;
