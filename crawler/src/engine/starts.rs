//! [`StartPhase`]: until the start URLs' redirects are known, links are not judged.

use std::{collections::HashMap, time::Duration};

use super::visit::Report;
use crate::{
    candidate::UrlId,
    time::Moment,
    url::{Origin, WebUrl},
};

/// How long all starts together may hold links back.
const LONGEST: Duration = Duration::from_secs(10);

/// Reports held back at most; one more ends the phase.
const MOST_HELD: usize = 64;

/// A start URL as given.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Start {
    /// What is fetched first.
    pub url: WebUrl,
    /// Whether the user gave no scheme: `http` is tried if `https` has no answer.
    pub guessed: bool,
}

/// Which starts have no final answer yet, and the pages that wait for them.
#[derive(Debug)]
pub(super) struct StartPhase {
    pending: HashMap<UrlId, Origin>,
    /// Those given without a scheme whose origin has not answered.
    guessed: HashMap<Origin, Vec<WebUrl>>,
    ends: Moment,
    held: Vec<Report>,
}

impl StartPhase {
    pub(super) fn new(now: Moment) -> Self {
        Self { pending: HashMap::new(), guessed: HashMap::new(), ends: now + LONGEST, held: Vec::new() }
    }

    /// The wait begins now.
    pub(super) fn start_waiting(&mut self, now: Moment) {
        self.ends = now + LONGEST;
    }

    /// A start (or the target of its redirect) was admitted.
    pub(super) fn begin(&mut self, id: UrlId, origin: Origin) {
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
        if !self.guessed.is_empty() {
            self.guessed.remove(&url.origin());
        }
    }

    /// What to try instead, when an origin gave no answer.
    pub(super) fn instead(&mut self, origin: &Origin) -> Vec<WebUrl> {
        let failed = self.guessed.remove(origin).unwrap_or_default();
        failed.iter().filter_map(|url| url.with_scheme("http")).collect()
    }

    /// Whether a URL is a start without a final answer.
    pub(super) fn is_pending(&self, id: UrlId) -> bool {
        self.pending.contains_key(&id)
    }

    /// A start has its answer.
    pub(super) fn settle(&mut self, id: UrlId) {
        self.pending.remove(&id);
    }

    /// The starts on this origin will have no answer.
    pub(super) fn settle_all(&mut self, origin: &Origin) {
        self.pending.retain(|_, pending| pending != origin);
    }

    /// Whether links are held back.
    pub(super) fn holds(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Holds a page back.
    pub(super) fn hold(&mut self, report: Report) {
        self.held.push(report);
    }

    /// Waits no longer.
    pub(super) fn give_up(&mut self) {
        self.pending.clear();
    }

    /// When waiting ends at the latest, if pages are held back.
    pub(super) fn deadline(&self) -> Option<Moment> {
        (!self.held.is_empty()).then_some(self.ends)
    }

    /// The pages that need not wait any longer.
    pub(super) fn released(&mut self, now: Moment) -> Vec<Report> {
        if now >= self.ends || self.held.len() >= MOST_HELD {
            self.give_up();
        }
        if self.holds() { Vec::new() } else { std::mem::take(&mut self.held) }
    }
}
