//! [`Summary`]: what a crawl came to.

use std::{fmt, path::Path, time::Duration};

use serde_json::Value;

use crate::{
    engine,
    observe::{
        fold,
        summary::{self, SummaryView},
    },
    session::{CommandFailure, directory, no_start},
    store::{PageCounts, StoredSummary},
};

/// How a crawl ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// Nothing is left to fetch.
    Drained,
    /// A budget was reached (pages, bytes, time, depth); what is left waits.
    Budget,
    /// What is left is on hosts that do not answer; the same crawl in the same directory asks them again.
    Unreachable,
    /// The loss policy stopped it ([`cache.reset`](crate::Crawl::set) set to `stop`).
    Loss,
    /// A [`StopHandle`](crate::StopHandle) stopped it; the same crawl in the same directory resumes it.
    Stopped,
    /// No start URL gave a page.
    Failed,
}

/// What became of the URLs of a crawl. `admitted` is the sum of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Urls {
    /// All that were found within the scope.
    pub admitted: u64,
    /// Those that wait to be fetched.
    pub queued: u64,
    /// Those that were being fetched when the crawl was killed.
    pub leased: u64,
    /// Those with a final answer, or none after all attempts.
    pub finished: u64,
    /// Those that are left out: robots.txt forbids them, for example.
    pub abandoned: u64,
}

/// What the URL cache lost.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Losses {
    /// URLs that it is expected to have refused by mistake, computed from its bits; 0 of a strategy that keeps no account.
    pub expected: f64,
    /// The loss budget; `None` where there is none.
    pub budget: Option<f64>,
    /// URLs that the audit saw refused by mistake.
    pub audited: u64,
    /// Links that the sweep compared with the table of all URLs; `None` where no sweep proves this state.
    pub verified_links: Option<u64>,
    /// Lost URLs that are still missing, as far as a sweep has found them.
    pub missing: u64,
}

/// A host that does not answer as it should.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SilentHost {
    /// Scheme, name and port.
    pub host: String,
    /// Why it is left alone.
    pub cause: String,
    /// URLs that wait for it.
    pub waiting: u64,
}

/// What a crawl sequence came to, earlier runs of it included. It prints as the program prints it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Summary {
    /// How it ended.
    pub end: End,
    /// The number of the crawl sequence: 0 for the first, one more for each that began with [`again`](crate::Crawl::again).
    pub sequence: u32,
    /// How long it ran.
    pub time: Duration,
    /// Pages by what became of them.
    pub pages: PageCounts,
    /// URLs by what became of them.
    pub urls: Urls,
    /// Requests sent, those for robots.txt included.
    pub requests: u64,
    /// Bytes of bodies received, as sent.
    pub bytes_received: u64,
    /// What the URL cache lost.
    pub losses: Losses,
    /// Hosts that do not answer, the first 100 of them.
    pub silent_hosts: Vec<SilentHost>,
    /// Why no start URL gave a page, where none did ([`End::Failed`]): the first of them with their reasons, and what to do.
    pub why_failed: Option<String>,
    proved: bool,
    text: String,
    document: Value,
}

impl Summary {
    /// That of a directory whose crawl has just ended so.
    pub(super) fn read(dir: &Path, end: engine::RunEnd, logged_in: bool) -> Result<Self, CommandFailure> {
        let stored = directory::summary(dir)?;
        let failed = (end == engine::RunEnd::Failed).then(|| no_start::why(dir, logged_in)).transpose()?;
        let text = summary::lines(&stored, &SummaryView { dir, ended: Some(end), next: false, missing: None }).text;
        let text = fold::lines(&text, fold::WIDTH);
        let document = summary::document(&stored);
        Ok(Self {
            end: End::of(end),
            sequence: stored.sequence,
            time: Duration::try_from_secs_f64(stored.seconds).unwrap_or_default(),
            pages: stored.pages,
            urls: Urls {
                admitted: stored.counts.admitted,
                queued: stored.counts.queued,
                leased: stored.counts.leased,
                finished: stored.counts.finished,
                abandoned: stored.counts.abandoned,
            },
            requests: stored.counters.requests,
            bytes_received: stored.counters.bytes_in,
            losses: losses(&stored, &document),
            silent_hosts: silent_hosts(&stored),
            why_failed: failed.map(|failed| failed.why),
            proved: stored.is_proved(),
            text,
            document,
        })
    }

    /// Whether nothing is left to fetch, and the sweep has proved that no URL was lost.
    pub fn is_complete(&self) -> bool {
        self.end == End::Drained && self.proved
    }

    /// All figures as one JSON document: that of `webloom crawl --json`.
    pub fn to_json(&self) -> String {
        self.document.to_string()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::observe::escape::lines(self.text.trim_end()))
    }
}

impl End {
    fn of(end: engine::RunEnd) -> Self {
        match end {
            engine::RunEnd::Drained | engine::RunEnd::Aged { drained: true } => Self::Drained,
            engine::RunEnd::Budget | engine::RunEnd::Aged { drained: false } => Self::Budget,
            engine::RunEnd::Unreachable => Self::Unreachable,
            engine::RunEnd::Loss | engine::RunEnd::Restart => Self::Loss,
            engine::RunEnd::Signal(_) => Self::Stopped,
            engine::RunEnd::Failed => Self::Failed,
        }
    }
}

fn losses(stored: &StoredSummary, document: &Value) -> Losses {
    let cache = &document["cache"];
    Losses {
        expected: stored.counters.expected_lost,
        budget: cache["budget_lost"].as_f64(),
        audited: cache["audit"]["false_positives"].as_u64().unwrap_or_default(),
        verified_links: stored.lost.sweep.links,
        missing: stored.lost.sweep.missing(),
    }
}

fn silent_hosts(stored: &StoredSummary) -> Vec<SilentHost> {
    let hosts = stored.hosts.iter().map(|host| SilentHost {
        host: host.origin.clone(),
        cause: host.health.cause.to_string(),
        waiting: host.waiting,
    });
    hosts.collect()
}
