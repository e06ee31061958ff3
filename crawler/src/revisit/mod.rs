//! When is a page due again?
//!
//! Owns: what is remembered of a page's changes ([`PageState`], 24 bytes), how its rate of change is estimated, how a
//! [`Budget`] of visits is divided among all known pages ([`RevisitPolicy`]), which pages have an interval that was given
//! ([`GivenIntervals`]), what looks at pages say of freshness and age ([`Looks`], [`Span`]), and the replay of a recorded site on a
//! virtual clock ([`replay`]).
//!
//! Invariants: a plan is at most 256 intervals, one a [`Class`]; a page keeps its class until it is visited or its importance
//! changes, so planning anew changes no page. All that a policy keeps beside the pages is a bounded table of sections, whose
//! sums are whole numbers: they are the same in whatever order visits came. No plan asks for more visits than the budget allows.
//!
//! Does not know: where pages and classes are stored, what a visit is, or what time it is.

mod about;
mod agenda;
mod budget;
mod class;
mod fixed;
mod freshness;
mod given;
mod hint;
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

pub use about::About;
pub use agenda::Agenda;
pub use budget::{BadBudget, Budget};
pub use class::{Class, Importance};
pub use fixed::Fixed;
pub use given::{GivenInterval, GivenIntervals};
pub use hint::Hint;
pub use looks::{Found, Look, Looks, SiteLooks};
pub use multiplicative::Multiplicative;
pub use optimal::Optimal;
pub use page::{PageState, Seen};
pub use plan::{Bounds, Census, Plan};
pub use rates::PageRates;
pub use section::{Section, SectionPath, Sections};
pub use span::Span;
pub use tally::{Figures, Point};

#[cfg(test)]
pub(crate) mod chance;
#[cfg(test)]
mod synthetic;

/// A plan over all known pages: which class a page is in, and how often each class is due.
///
/// A page enters with [`admit`](Self::admit), is updated at each visit with [`observe`](Self::observe), and leaves with
/// [`forget`](Self::forget). Both of the former answer with its class, to be kept with it until the next visit.
pub trait RevisitPolicy: Send {
    /// The class of a page that is known and not yet visited again.
    fn admit(&self, about: &About) -> Class;

    /// Takes in what a visit saw; the page is then as this visit leaves it, its class included.
    fn observe(&mut self, page: &mut PageState, about: &About, seen: Seen);

    /// The page is gone.
    fn forget(&mut self, page: &PageState, path: &SectionPath);

    /// A page that was observed before, as it was left then.
    fn recall(&mut self, page: &PageState, path: &SectionPath);

    /// The class of a page that another policy has observed, or none.
    fn classify(&self, page: &PageState, about: &About) -> Class;

    /// The class of a page of this one whose importance has changed; `None` where importance is of no account.
    fn weigh(&self, _: Class, _: Importance) -> Option<Class> {
        None
    }

    /// The sections that are kept beside the pages; `None` where there are none.
    fn sections(&mut self) -> Option<&mut Sections> {
        None
    }

    /// Divides the budget among so many pages of each class.
    fn plan(&self, census: &Census, budget: Budget) -> Plan;
}
