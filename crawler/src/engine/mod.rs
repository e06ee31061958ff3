//! The crawl itself.
//!
//! Owns: the deciding core, and around it the shell: visits (one task a lease), the hand-over to the writer, timers and
//! signals, and how a run begins and ends.
//!
//! Invariants: no URL enters but by admission; what a step changes is sent to the writer before the next step begins; on the deciding path
//! there is no lock and no I/O; every channel is bounded, and the writer waits for nobody.
//!
//! Does not know: flags and settings files, how figures are shown, how the crawl is stored.

mod asking;
mod core;
mod error;
mod gated;
mod hand_over;
mod heads;
mod judge;
mod lists;
mod log_ins;
mod machine;
mod outcome;
mod preparing;
mod progress;
mod reading;
mod report;
mod run;
mod sending;
mod shell;
#[cfg(test)]
mod simulation;
mod stop;
mod visit;
mod visit_events;
mod visits;
mod wanted_types;
mod writer_thread;

use core::{ranking as ranking_of, scope as scope_of};

pub use core::{Between, CacheFailure, RunEnd};
pub use error::EngineError;
pub use gated::{Gated, Others, Pass, SharedGate};
pub use log_ins::{LogInBook, LogIns};
pub use machine::{Gauge, MachineReading};
pub use preparing::{BIG_BODY, Preparer, Preparers};
pub use progress::Progress;
pub use run::{EndedRun, Launch, Left, RevisitingCrawl, check, run, take_up};
pub use stop::StopSignal;
pub use visit_events::{EventKind, FetchedPage, Handed, Steering, VisitEvent, VisitEvents};
pub use writer_thread::{WriterHost, WriterThread};

use crate::{config::Settings, order::Ranking, scope::CrawlScope, store::AreaRow};

/// What belongs to a crawl with these areas.
///
/// # Errors
/// [`EngineError::Stored`] when an area is no URL.
pub fn scope(settings: &Settings, areas: &[AreaRow]) -> Result<CrawlScope, EngineError> {
    scope_of(settings, areas)
}

/// How the URLs of a run are ranked.
pub fn ranking(settings: &Settings) -> Ranking {
    ranking_of(settings)
}
