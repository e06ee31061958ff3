//! [`Caller`]: who runs a session, the program or the library.

use std::path::Path;

use tokio::sync::watch;

use super::{
    CommandFailure,
    access::Standard,
    machine,
    takers::{self, VisitTaker},
};
use crate::{
    config::Settings,
    engine::{Gauge, Progress, RunEnd, StopSignal, VisitEvents, WriterHost},
    fetch::Fetcher,
    scope::UrlFilter,
};

/// What a session asks of whoever runs it.
pub(crate) trait Caller: Clone + Send + Sync + 'static {
    /// What asks servers.
    type Fetcher: Fetcher + 'static;
    /// Shows progress until it is dropped.
    type View: Send;
    /// What runs the writer.
    type Writer: WriterHost + Send;

    /// How many crawls share this process.
    fn crawls(&self) -> u64;

    /// Whether this thread has nothing to do until the crawl is prepared.
    fn may_block(&self) -> bool;

    /// Settings are known, and nothing was stored yet.
    fn begins(&self, settings: &Settings);

    /// The fetcher of a sequence; `standard` makes the one that asks servers by HTTP, under the address rules of the settings.
    ///
    /// # Errors
    /// When it cannot be made.
    fn fetcher(
        &self,
        standard: impl FnOnce() -> Result<Standard, CommandFailure>,
        settings: &Settings,
        stop: &StopSignal,
    ) -> Result<Self::Fetcher, CommandFailure>;

    /// What runs the writer of a sequence.
    fn writer(&self) -> Self::Writer;

    /// A number that nobody can foresee.
    ///
    /// # Errors
    /// When the system gives none.
    fn random(&self) -> Result<u64, CommandFailure>;

    /// What hands events to whoever follows the crawl, if anybody does.
    fn events(&self) -> Option<VisitEvents> {
        None
    }

    /// What takes each visit, beside the URL table; it gets the settings also as JSON that anybody may see.
    fn takers(&self, dir: &Path, settings: &Settings, open_settings: &str) -> Vec<VisitTaker> {
        takers::of(dir, settings, open_settings)
    }

    /// What reads how much of this machine is left for a crawl directory.
    fn gauge(&self, dir: &Path) -> Gauge {
        machine::gauge(dir)
    }

    /// Which URLs belong to the crawl, beside what the settings say.
    fn filter(&self) -> Option<UrlFilter> {
        None
    }

    /// Says what may be worth knowing.
    fn note(&self, text: &str);

    /// Says what a run came to.
    fn tell(&self, text: &str);

    /// Says what went wrong.
    fn complain(&self, text: &str);

    /// Shows figures as they are published.
    fn show(&self, figures: watch::Receiver<Progress>, stop: StopSignal) -> Self::View;

    /// A sequence ended, and another follows at once.
    ///
    /// # Errors
    /// When its summary cannot be read or shown.
    fn has_ended(&self, dir: &Path, end: RunEnd) -> Result<(), CommandFailure>;
}
