//! [`Roster`]: the crawls of this process, for whoever looks at it from outside.

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use prometheus::{Histogram, HistogramOpts, HistogramVec};
use tokio::sync::watch;

use super::on_time::OnTime;
use crate::{engine::Progress, schedule::WatchState, time::Moment};

/// The upper ends of the classes of how long requests take, in seconds.
const SECONDS: [f64; 12] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// All crawls, by name. Each clone has the same.
#[derive(Clone, Default)]
pub(crate) struct Roster {
    entries: Arc<Mutex<BTreeMap<Arc<str>, RosterEntry>>>,
    /// How long their requests take; none where nobody looks.
    timings: Option<HistogramVec>,
}

/// What is known of a crawl.
#[derive(Clone, Default)]
pub(super) struct RosterEntry {
    pub(super) dir: PathBuf,
    /// The figures of what runs, or ran last.
    pub(super) figures: Option<watch::Receiver<Progress>>,
    /// Its state, where it is watched and has one.
    pub(super) state: Option<WatchState>,
    /// Why it does not run, though it should.
    pub(super) failure: Option<String>,
}

/// The place of a crawl in a roster. One of its own, where nobody looks, is the default.
#[derive(Clone, Default)]
pub(crate) struct Seat {
    roster: Roster,
    /// Empty until its directory is known, if it has no other name.
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

    /// A place for a crawl that has no name.
    pub(crate) fn seat(&self) -> Seat {
        Seat { roster: self.clone(), name: "".into() }
    }

    /// A place for a crawl of this name.
    pub(crate) fn seat_of(&self, name: &str, dir: &Path) -> Seat {
        Seat { roster: self.clone(), name: name.into() }.at(dir)
    }

    /// Forgets all but these. A crawl that has ended stays: somebody may wait for its next sequence in vain.
    pub(crate) fn keep(&self, names: &HashSet<&str>) {
        self.entries().retain(|name, _| names.contains(&**name));
    }

    /// All of them as they are now.
    pub(super) fn all(&self) -> Vec<(Arc<str>, RosterEntry)> {
        self.entries().iter().map(|(name, entry)| (Arc::clone(name), entry.clone())).collect()
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, RosterEntry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RosterEntry {
    /// Whether something runs.
    pub(super) fn is_running(&self) -> bool {
        self.figures.as_ref().is_some_and(|figures| figures.has_changed().is_ok())
    }

    /// Whether it is on time. What this process knows counts; a crawl that is not watched is never late.
    pub(super) fn on_time(&self, now: Moment) -> OnTime {
        match (&self.failure, &self.state) {
            (Some(failure), _) => OnTime { is_well: false, why: failure.clone() },
            (None, Some(state)) => OnTime::of(&self.dir, state, now),
            (None, None) => OnTime { is_well: true, why: "is not watched".to_owned() },
        }
    }
}

impl Seat {
    /// The same for a crawl whose directory is here. Without a name it is called by that.
    pub(crate) fn at(&self, dir: &Path) -> Self {
        let name = if self.name.is_empty() { dir.display().to_string().into() } else { Arc::clone(&self.name) };
        let seat = Self { roster: self.roster.clone(), name };
        seat.change(|entry| dir.clone_into(&mut entry.dir));
        seat
    }

    /// Where the figures of a run come from.
    pub(crate) fn follow(&self, figures: watch::Receiver<Progress>) {
        self.change(|entry| entry.figures = Some(figures));
    }

    /// Its state, which it has because it runs as it should.
    pub(crate) fn has_state(&self, state: &WatchState) {
        self.change(|entry| (entry.state, entry.failure) = (Some(state.clone()), None));
    }

    /// It does not run, though it should.
    pub(crate) fn has_failed(&self, why: &str) {
        self.change(|entry| entry.failure = Some(why.to_owned()));
    }

    /// Where it is noted how long requests take, if anybody looks.
    pub(crate) fn timings(&self) -> Option<Histogram> {
        self.roster.timings.as_ref().map(|timings| timings.with_label_values(&[&*self.name]))
    }

    fn change(&self, change: impl FnOnce(&mut RosterEntry)) {
        change(self.roster.entries().entry(Arc::clone(&self.name)).or_default());
    }
}

impl fmt::Debug for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Seat").field(&self.name).finish()
    }
}
