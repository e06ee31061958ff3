//! The pure half of admission: which candidates may be admitted, and their fingerprints.
//!
//! Owns: scope and fingerprint of what a page proposes ([`PureHalf`]), with a [`Memo`] of links that were on other pages, what is kept of
//! the proposals ([`Proposals`]), and the part that is offered to the crawl ([`Batch`]).
//!
//! Invariants: it depends on the scope and the links alone; its memory is bounded.
//!
//! Does not know: whether a URL was seen, and who asks (visits, and the core).

mod batch;
mod memo;
mod passed;
mod pure;

pub(super) use batch::{Batch, Judge, Provenance};
pub(super) use memo::Memo;
pub(super) use passed::{Candidate, Passed, Proposal};
pub(super) use pure::{LinkRelation, Proposals, PureHalf};
