//! Admission: the only way into the crawl.
//!
//! Owns: both halves of admission. The pure half ([`PureHalf`]) judges and fingerprints candidates where they were found,
//! with a [`Memo`] of those it has seen on other pages; the stateful half
//! ([`Admitter`]) asks the URL cache, numbers what is new, and hands it to the URL table and the frontier in one step.
//!
//! Invariant: every candidate is counted once, as admitted, as duplicate, or as refused for a named reason.
//!
//! Does not know: how pages are fetched, or when.

mod admitter;
mod memo;
mod origins;
mod passed;
mod pure;
mod seen_cache;
#[cfg(test)]
mod tests;

pub(in crate::engine) use admitter::{Admitter, Judge, Provenance};
pub(in crate::engine) use memo::Memo;
pub(in crate::engine) use origins::Origins;
pub(in crate::engine) use passed::{Candidate, Passed, Proposal};
pub(in crate::engine) use pure::{LinkRelation, Proposals, PureHalf};
pub use seen_cache::CacheFailure;
pub(in crate::engine) use seen_cache::{Filling, Room, SeenCache};
