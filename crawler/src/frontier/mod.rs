//! What is to be fetched, and when: a plain state machine.
//!
//! Owns: the host queues with their slots and delays, the order of URLs, leases, retries, and whether a host's prerequisite (robots.txt) is
//! met. [`Frontier`] takes the time with each call and answers what may be fetched now.
//!
//! Invariants: admitted = queued + leased + finished + abandoned, after every call. A URL is leased at most once at a time, a host at most
//! `per_host` times, and not before `delay` has passed since the end of its last request. A host's URLs are leased only while its prerequisite
//! is met. *Drained* means nothing is queued or leased, no refill is pending, and
//! nothing waits beside the rows of a host.
//!
//! Memory holds *heads*: exactly a host's queued rows up to a cursor. Rows beyond it are in the URL table alone; [`Next::NeedsRefill`] asks for
//! them. Rows waiting for a retry are in the table alone until they are due.
//!
//! Beside its rows a host may have extras, such as a finished URL that is fetched again to find lost links. Their leases keep to all of
//! this, but are outside these counts.
//!
//! Does not know: how a URL is fetched, what robots.txt says, where rows are kept, or what time it is.

mod active;
mod agenda;
mod back_off;
mod beside_rows;
mod completion;
mod extras;
mod groups;
mod health;
mod host_queue;
mod host_start;
mod lease;
mod levels;
mod limits;
mod machine;
mod membership;
mod memory;
mod nearer;
mod pauses;
mod prerequisite;
mod probes;
mod refill;
mod reranked;
mod retries;
mod rows;
mod shared_turns;
mod sharing;
#[cfg(test)]
mod sites;
mod spent;
#[cfg(test)]
mod tests;
mod trouble;
mod unhealthy;

pub use crate::{
    order::Order,
    purpose::Purpose,
    queue::{Counts, DepthLimit, Nearer, Place, RefillAnswer, RefillKind, RefillRequest, WorkItem},
};
pub use back_off::BackOffPolicy;
pub use health::{Blame, HostHealth};
pub use host_start::HostStart;
pub use lease::{Asked, Lease, Outcome};
pub use limits::{FrontierLimits, ShareBy};
pub use machine::{Frontier, Next};
pub use trouble::FailedFetch;
