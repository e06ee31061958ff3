//! Admission: the only way into the crawl.
//!
//! Owns: the stateful half of admission. What [`judge`](crate::engine::judge) has let pass, [`Admitter`] asks the URL cache about,
//! numbers what is new, and hands it to the URL table and the frontier in one step.
//!
//! Invariant: every candidate is counted once, as admitted, as duplicate, or as refused for a named reason.
//!
//! Does not know: how pages are fetched, or when.

mod admitter;
mod origins;
mod seen_cache;
#[cfg(test)]
mod tests;

pub(in crate::engine) use admitter::{Admitter, Judge, Provenance};
pub(in crate::engine) use origins::Origins;
pub use seen_cache::CacheFailure;
pub(in crate::engine) use seen_cache::{Filling, Room, SeenCache};
