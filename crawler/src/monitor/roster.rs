//! [`Roster`]: the crawls of this process, for whoever looks at it from outside.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use prometheus::{Histogram, HistogramOpts, HistogramVec};
use tokio::sync::watch;

use crate::engine::Progress;

/// The upper ends of the classes of how long requests take, in seconds.
const SECONDS: [f64; 12] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// All crawls, by name. Each clone has the same.
#[derive(Clone, Default)]
pub(crate) struct Roster {
    members: Arc<Mutex<BTreeMap<Arc<str>, RosterEntry>>>,
    /// How long their requests take; none where nobody looks.
    timings: Option<HistogramVec>,
}

/// What is known of a crawl.
#[derive(Clone, Default)]
pub(super) struct RosterEntry {
    pub(super) dir: PathBuf,
    /// The figures of what runs, or ran last.
    pub(super) figures: Option<watch::Receiver<Progress>>,
}

/// The place of a crawl in a roster. One of its own, where nobody looks, is the default.
#[derive(Clone, Default)]
pub(crate) struct Seat {
    roster: Roster,
    name: Arc<str>,
}

impl Roster {
    /// One at which somebody looks.
    pub(super) fn watched() -> Self {
        let options =
            HistogramOpts::new("webloom_request_duration_seconds", "Time from a request to the end of its answer.");
        let timings = HistogramVec::new(options.buckets(SECONDS.to_vec()), &["crawl"]);
        Self { timings: timings.ok(), ..Self::default() }
    }

    /// How long requests take.
    pub(super) fn timings(&self) -> Option<&HistogramVec> {
        self.timings.as_ref()
    }

    /// A place for a crawl of this name; the directory may not be known yet.
    pub(crate) fn seat(&self, name: &str, dir: &Path) -> Seat {
        let name: Arc<str> = name.into();
        let member = RosterEntry { dir: dir.to_owned(), ..RosterEntry::default() };
        self.members().insert(Arc::clone(&name), member);
        Seat { roster: self.clone(), name }
    }

    /// The same for a crawl without a name: it is called by its directory.
    pub(crate) fn seat_of(&self, dir: &Path) -> Seat {
        self.seat(&dir.display().to_string(), dir)
    }

    /// Forgets a crawl. It stays otherwise, also after it has ended: somebody may wait for its next sequence in vain.
    pub(crate) fn forget(&self, name: &str) {
        self.members().remove(name);
        if let Some(timings) = &self.timings {
            // There may be none.
            let _ = timings.remove_label_values(&[name]);
        }
    }

    /// All of them as they are now.
    pub(super) fn all(&self) -> Vec<(Arc<str>, RosterEntry)> {
        self.members().iter().map(|(name, member)| (Arc::clone(name), member.clone())).collect()
    }

    fn members(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, RosterEntry>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// Where the figures of a run come from.
    pub(crate) fn follow(&self, figures: watch::Receiver<Progress>) {
        if let Some(member) = self.roster.members().get_mut(&self.name) {
            member.figures = Some(figures);
        }
    }

    /// Where it is noted how long requests take, if anybody looks.
    pub(crate) fn timings(&self) -> Option<Histogram> {
        self.roster.timings.as_ref().map(|timings| timings.with_label_values(&[&*self.name]))
    }
}

impl fmt::Debug for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Seat").field(&self.name).finish()
    }
}
