//! When is a page due again?
//!
//! Owns: what is remembered of a page's changes ([`PageState`], 24 bytes), how its rate of change is estimated, how a
//! [`Budget`] of visits is divided among all known pages ([`RevisitPolicy`]), what looks at pages say of freshness and age ([`Looks`],
//! [`Span`]), and the replay of a recorded site on a virtual clock ([`replay`]).
//!
//! Invariants: a plan is at most 256 intervals, one a [`Class`]; a page keeps its class until it is visited, so planning
//! anew changes no page. All that a policy keeps beside the pages is a bounded table of sections. No plan asks for more
//! visits than the budget allows.
//!
//! Does not know: where pages and classes are stored, what a visit is, or what time it is.

mod agenda;
mod budget;
mod class;
mod fixed;
mod freshness;
mod looks;
mod multiplicative;
mod optimal;
mod page;
mod plan;
mod rate;
mod rates;
pub mod replay;
mod section;
mod span;
mod tally;

pub use agenda::Agenda;
pub use budget::{BadBudget, Budget};
pub use class::{Class, Importance};
pub use fixed::Fixed;
pub use looks::{Found, Look, Looks, SiteLooks};
pub use multiplicative::Multiplicative;
pub use optimal::Optimal;
pub use page::{PageState, Seen};
pub use plan::{Bounds, Census, Plan};
pub use rates::PageRates;
pub use section::SectionPath;
pub use span::Span;
pub use tally::{Figures, Point};

#[cfg(test)]
pub(crate) mod chance;
#[cfg(test)]
mod synthetic;

/// A plan over all known pages: which class a page is in, and how often each class is due.
///
/// A page enters with [`admit`](Self::admit), is told of at each visit with [`observe`](Self::observe), and leaves with
/// [`forget`](Self::forget). Both of the former answer with its class, to be kept with it until the next visit.
pub trait RevisitPolicy {
    /// The class of a page that is known and not yet visited again.
    fn admit(&self, path: &SectionPath, importance: Importance) -> Class;

    /// Takes in what a visit saw; the page is then as this visit leaves it, its class included.
    fn observe(&mut self, page: &mut PageState, path: &SectionPath, importance: Importance, seen: Seen);

    /// The page is gone.
    fn forget(&mut self, page: &PageState, path: &SectionPath);

    /// A page that was observed before this policy was made, as it was left then.
    fn recall(&mut self, page: &PageState, path: &SectionPath);

    /// Divides the budget among so many pages of each class.
    fn plan(&self, census: &Census, budget: Budget) -> Plan;
}
