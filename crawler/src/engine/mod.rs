//! The crawl itself.
//!
//! Owns: admission (the one door), the scheduler (the one task that decides), visits (one task a lease), the hand-over to the writer, and how a
//! run begins and ends.
//!
//! Invariants: no URL enters but by admission; what a step changes is sent to the writer before the next step begins; on the deciding path
//! there is no lock and no I/O; every channel is bounded, and the writer waits for nobody.
//!
//! Does not know: flags and files of settings, how figures are shown.

mod admission;
mod answers;
mod confirmation;
mod own_trouble;
mod progress;
mod reports;
mod rescue;
mod robots_book;
mod rules;
mod run;
mod scheduler;
mod starts;
mod stop;
mod throttle;
mod verdict;
mod visit;
mod visits;

pub use admission::CacheFailure;
pub use progress::Progress;
pub use run::{EngineError, Launch, check, order, run};
pub use scheduler::End;
pub use starts::Start;
pub use stop::StopSignal;
