//! [`StartPhase`]: until the start URLs' redirects are known, links are not judged.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    time::Duration,
};

use super::super::report::Report;
use crate::{
    candidate::Ticket,
    time::Moment,
    url::{Credentials, Origin, WebUrl},
};

/// How long all starts together may hold links back.
const LONGEST: Duration = Duration::from_secs(10);

/// Reports held back at most; one more ends the phase.
pub(super) const MOST_HELD: usize = 64;

/// Links of theirs that are held back, at most and no page more.
const MOST_LINKS: usize = 100_000;

/// A start URL as given.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Start {
    /// What is fetched first.
    pub url: WebUrl,
    /// Whether the user gave no scheme: `http` is tried if `https` has no answer.
    pub guessed: bool,
    /// User name and password given with it, for all requests to its origin. `url` has none.
    pub credentials: Option<Credentials>,
}

/// Which starts have no final answer yet, and the pages that wait for them.
#[derive(Debug)]
pub(super) struct StartPhase {
    pending: HashMap<Ticket, Origin>,
    /// The same by origin.
    by_origin: BTreeSet<(Origin, Ticket)>,
    /// Those given without a scheme whose origin has not answered.
    guessed: HashMap<Origin, Vec<WebUrl>>,
    /// Where the user's own starts are; to be known where there are secrets for them.
    given: HashSet<Origin>,
    ends: Moment,
    /// Pages with the moments at which their visits ended.
    held: Vec<(Report, Moment)>,
    /// Links of theirs that are still to be judged.
    links: usize,
}

impl StartPhase {
    pub(super) fn new(now: Moment) -> Self {
        Self {
            pending: HashMap::new(),
            by_origin: BTreeSet::new(),
            guessed: HashMap::new(),
            given: HashSet::new(),
            ends: now + LONGEST,
            held: Vec::new(),
            links: 0,
        }
    }

    /// The user gave a start on this origin, now or before.
    pub(super) fn give(&mut self, origin: Origin) {
        self.given.insert(origin);
    }

    /// Whether there is one.
    pub(super) fn is_given(&self, origin: &Origin) -> bool {
        self.given.contains(origin)
    }

    /// The wait begins now.
    pub(super) fn start_waiting(&mut self, now: Moment) {
        self.ends = now + LONGEST;
    }

    /// A start (or the target of its redirect) was admitted.
    pub(super) fn begin(&mut self, id: Ticket, origin: Origin) {
        self.by_origin.insert((origin.clone(), id));
        self.pending.insert(id, origin);
    }

    /// The user gave no scheme for this start.
    pub(super) fn guess(&mut self, url: WebUrl) {
        self.guessed.entry(url.origin()).or_default().push(url);
    }

    /// Whether starts on this origin are only a guess.
    pub(super) fn is_guessed(&self, origin: &Origin) -> bool {
        self.guessed.contains_key(origin)
    }

    /// The origin of this URL answers: its scheme is no guess any more.
    pub(super) fn answered(&mut self, url: &WebUrl) {
        if self.has_guesses() {
            self.guessed.remove(&url.origin());
        }
    }

    /// Whether an origin's scheme is a guess.
    pub(super) fn has_guesses(&self) -> bool {
        !self.guessed.is_empty()
    }

    /// What to try instead, when an origin gave no answer.
    pub(super) fn instead(&mut self, origin: &Origin) -> Vec<WebUrl> {
        let failed = self.guessed.remove(origin).unwrap_or_default();
        failed.iter().filter_map(|url| url.with_scheme("http")).collect()
    }

    /// Whether a URL is a start without a final answer.
    pub(super) fn is_pending(&self, id: Ticket) -> bool {
        self.pending.contains_key(&id)
    }

    /// A start has its answer.
    pub(super) fn settle(&mut self, id: Ticket) {
        if let Some(origin) = self.pending.remove(&id) {
            self.by_origin.remove(&(origin, id));
        }
    }

    /// The starts on this origin will have no answer.
    pub(super) fn settle_all(&mut self, origin: &Origin) {
        let all = (origin.clone(), Ticket(0))..=(origin.clone(), Ticket(u64::MAX));
        let settled: Vec<_> = self.by_origin.range(all).map(|(_, id)| *id).collect();
        for id in settled {
            self.settle(id);
        }
    }

    /// Whether links are held back.
    pub(super) fn holds(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Holds a page back whose visit ended at `at`.
    pub(super) fn hold(&mut self, report: Report, at: Moment) {
        self.links += report.unjudged_links();
        self.held.push((report, at));
    }

    /// Waits no longer.
    pub(super) fn give_up(&mut self) {
        self.pending.clear();
        self.by_origin.clear();
    }

    /// When waiting ends at the latest, if pages are held back.
    pub(super) fn deadline(&self) -> Option<Moment> {
        (!self.held.is_empty()).then_some(self.ends)
    }

    /// The pages that need not wait any longer.
    pub(super) fn released(&mut self, now: Moment) -> Vec<(Report, Moment)> {
        if now >= self.ends || self.held.len() >= MOST_HELD || self.links >= MOST_LINKS {
            self.give_up();
        }
        if self.holds() {
            return Vec::new();
        }
        self.links = 0;
        std::mem::take(&mut self.held)
    }
}
