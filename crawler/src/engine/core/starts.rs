//! [`Starts`]: the start URLs, and the scope that they make.
//!
//! Owns: the scope, the starts without a final answer, the starts whose scheme is a guess, and the pages that are held back.
//!
//! Invariant: no link is judged before the redirects of the starts are known, because each may widen the scope. The wait ends after ten
//! seconds, 64 pages, 100,000 links or 8 MiB for takers, so a start that hangs cannot block the crawl.
//!
//! Does not know: which URLs were seen.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    time::Duration,
};

use crate::{
    candidate::{Hop, Ticket},
    config::Settings,
    engine::{
        judge::{Batch, Judge, Proposals, Provenance, PureHalf},
        report::{Judging, KeptResponse, Report},
    },
    frontier::WorkItem,
    scope::Refusal,
    store::{AreaRow, AreaSource},
    time::Moment,
    url::{Origin, WebUrl},
};

/// How long all starts together may hold links back.
const LONGEST: Duration = Duration::from_secs(10);

/// Reports held back at most; one more ends the phase.
pub(super) const MOST_HELD: usize = 64;

/// Links of theirs that are held back, at most and no page more.
const MOST_LINKS: usize = 100_000;

/// Bytes for takers that they have, at most and no page more.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Starts as they are offered to the crawl.
pub(super) struct Offered {
    pub(super) batch: Batch,
    /// Areas that are not known yet.
    pub(super) areas: Vec<AreaRow>,
}

/// The scope, which starts have no final answer yet, and the pages that wait for them.
#[derive(Debug)]
pub(super) struct Starts {
    scope: PureHalf,
    /// There are headers or passwords that are for the user's own starts alone.
    has_secrets: bool,
    max_url_length: usize,
    max_redirects: u32,
    pending: HashMap<Ticket, Origin>,
    /// The same by origin.
    by_origin: BTreeSet<(Origin, Ticket)>,
    /// Those given without a scheme whose origin has not answered.
    guessed: HashMap<Origin, Vec<WebUrl>>,
    /// Where the user's own starts are, if there are secrets for them.
    given: HashSet<Origin>,
    ends: Moment,
    /// Pages with the moments at which their visits ended.
    held: Vec<(Report, Moment)>,
    /// Links of theirs that are still to be judged.
    links: usize,
    /// Bytes for takers that they have.
    bytes: usize,
}

impl Starts {
    /// None yet; the scope is what earlier runs made it.
    pub(super) fn new(scope: PureHalf, settings: &Settings, now: Moment) -> Self {
        Self {
            scope,
            has_secrets: !(settings.fetch.headers.is_empty() && settings.fetch.credentials.is_empty()),
            max_url_length: settings.scope.max_url_length as usize,
            max_redirects: settings.fetch.max_redirects,
            pending: HashMap::new(),
            by_origin: BTreeSet::new(),
            guessed: HashMap::new(),
            given: HashSet::new(),
            ends: now + LONGEST,
            held: Vec::new(),
            links: 0,
            bytes: 0,
        }
    }

    /// The user gave a start on this origin, now or before.
    pub(super) fn give(&mut self, origin: Origin) {
        if self.has_secrets {
            self.given.insert(origin);
        }
    }

    /// Offers starts that the URL table does not have. Their areas are known.
    pub(super) fn offer(&mut self, starts: impl Iterator<Item = Box<str>>, at: Moment) -> Offered {
        let starts = starts.filter_map(|start| WebUrl::parse(&start).ok()).map(WebUrl::without_credentials).collect();
        Offered { areas: Vec::new(), batch: self.batch(starts, Judge::Table, at) }
    }

    /// What to try instead, when an origin whose scheme is a guess gave no answer.
    pub(super) fn offer_instead(&mut self, origin: &Origin, at: Moment) -> Option<Offered> {
        let failed = self.guessed.remove(origin)?;
        let urls: Vec<_> = failed.iter().filter_map(|url| url.with_scheme("http")).collect();
        for url in &urls {
            tracing::warn!(start = %url, "no answer over https, trying http");
            self.warn_of_secrets(url);
        }
        let area = |url: &WebUrl| AreaRow { url: url.as_str().to_owned(), source: AreaSource::Fallback };
        Some(Offered { areas: urls.iter().map(area).collect(), batch: self.batch(urls, Judge::Cache, at) })
    }

    /// Starts widen the scope to themselves.
    fn batch(&mut self, starts: Vec<WebUrl>, judge: Judge, at: Moment) -> Batch {
        for url in &starts {
            self.scope.widen(url);
        }
        let found = Provenance { hop: Hop::Start, via: None, depth: 0, redirects: 0, judge, at };
        Batch::new(found, self.scope.urls(starts))
    }

    /// A redirect's target as a candidate; that of a start widens the scope.
    pub(super) fn redirected(&mut self, item: &WorkItem, target: WebUrl) -> (Proposals, Option<AreaRow>) {
        if item.redirects >= self.max_redirects {
            return (Proposals::refused(Refusal::Redirects), None);
        }
        let mut area = None;
        // A redirect keeps its source's depth: what is at depth 0 is a start, or a start was redirected to it.
        if item.depth == 0 && !item.is_sitemap() && !item.is_asset() {
            tracing::warn!(from = %item.url, to = %target, "the start URL redirects; its target belongs to the scope too");
            if target.as_str().len() > self.max_url_length {
                return (Proposals::refused(Refusal::TooLong), None);
            }
            self.warn_of_secrets(&target);
            let row = || AreaRow { url: target.as_str().to_owned(), source: AreaSource::Redirect };
            area = self.scope.widen(&target).then(row);
        }
        (self.scope.redirected(item, target), area)
    }

    /// Headers and passwords go to the origins they were given for; whoever expects them elsewhere hears of it.
    fn warn_of_secrets(&self, url: &WebUrl) {
        if self.has_secrets && !self.given.contains(&url.origin()) {
            tracing::warn!(%url, "the given headers and passwords are not sent to this URL; to send them, give it as a start URL");
        }
    }

    /// Whether an admitted URL still belongs to the scope, which may be narrower than when it was admitted.
    pub(super) fn allows(&self, item: &WorkItem) -> bool {
        self.scope.still_allows(item)
    }

    /// What links are judged by.
    pub(super) fn scope(&self) -> &PureHalf {
        &self.scope
    }

    /// Whether a visit judges its links itself. As long as the scope may grow, no visit holds it: to change a copy would take as
    /// long as there are starts.
    pub(super) fn judging(&self) -> Judging {
        if self.holds() { Judging::Later } else { Judging::InVisit(self.scope.clone()) }
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
        self.bytes += report.result.as_ref().map_or(0, KeptResponse::kept_bytes);
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
        let full = self.held.len() >= MOST_HELD || self.links >= MOST_LINKS || self.bytes >= MOST_BYTES;
        if now >= self.ends || full {
            self.give_up();
        }
        if self.holds() {
            return Vec::new();
        }
        (self.links, self.bytes) = (0, 0);
        std::mem::take(&mut self.held)
    }
}
