//! The deciding core of a crawl: `handle(event, now)` answers with effects.
//!
//! Owns: the frontier, admission with the URL cache, robots rules, the starts, the rescue of lost URLs, budgets and endings.
//!
//! Invariants: it has no channel, task, clock or lock; it only changes its own state and returns effects. So the same events at the same
//! moments lead to the same effects, and a crawl can be simulated. Each call is bounded: a page with many links is taken in by parts, one a
//! turn.
//!
//! Does not know: how URLs are fetched, rows written, or signals caught.

mod admission;
mod between;
mod end;
mod event;
mod figures;
mod limits;
mod link_checks;
mod outbox;
mod pages;
pub(super) mod robots;
mod router;
mod second_looks;
mod setup;
mod sources;
mod starts;
mod sweep;
mod task;

use std::{collections::VecDeque, sync::Arc};

pub use admission::CacheFailure;
pub(super) use admission::Filling;
use admission::{Admission, CacheEnding, Readiness, SeenCache};
pub use between::Between;
pub use end::RunEnd;
pub(super) use event::{CoreEvent, Effect, StoreAnswer, StoreQuestion, Then};
use limits::{LeaseAllowance, Limits, Workload};
use link_checks::{AtEnd, LinkChecks, Treatment};
pub(super) use outbox::MOST_QUESTIONS;
use outbox::Outbox;
use pages::{Again, Fate, PageFates, Revisits, Unfinished};
use robots::{KnownRobots, Permission, RobotsAnswer};
use second_looks::{AfterLooks, NoiseLooks};
pub(super) use setup::{Setup, cache_check, ranking, scope};
use sources::{NamedSitemaps, SitemapPlace, Sources};
use starts::{Offered, Starts};
use sweep::{AtDrain, RefetchedPage, Sweep};
use task::Task;

use crate::{config::Settings, frontier::Frontier, time::Moment};

/// The deciding core. See the [module documentation](self).
pub(super) struct Core {
    settings: Arc<Settings>,
    frontier: Frontier,
    admission: Admission,
    robots: KnownRobots,
    starts: Starts,
    sources: Sources,
    sweep: Sweep,
    link_checks: LinkChecks,
    second_looks: NoiseLooks,
    limits: Limits,
    pages: PageFates,
    /// What came back, and is to be taken in.
    intake: VecDeque<Task>,
    outbox: Outbox,
    /// How the run ends, once what is in flight has ended.
    stopped: Option<RunEnd>,
    /// How the sequence has ended, where pages are visited after that.
    ended: Option<RunEnd>,
    /// Which pages those are.
    between: Option<Box<Between>>,
}

impl Core {
    /// Takes an event in; what is to be done about it is added to `effects`.
    ///
    /// # Errors
    /// [`CacheFailure`] when the URL cache cannot go on.
    pub(super) fn handle(
        &mut self,
        event: CoreEvent,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) -> Result<Then, CacheFailure> {
        let then = match event {
            CoreEvent::Turn => self.turn(now)?,
            happened => {
                self.happened(happened, now);
                Then::Turn
            }
        };
        self.outbox.hand_to(effects);
        #[cfg(test)]
        self.holds().unwrap_or_else(|problem| panic!("{problem} at {now:?}"));
        Ok(then)
    }
}
