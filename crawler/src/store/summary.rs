//! [`StoredSummary`]: what a crawl directory says of its last sequence.

use super::{Counters, LinkCheckCounts, NoiseFigures};
use crate::{
    health::HealthRow,
    queue::Counts,
    revisit::{PageRates, SiteLooks, Span},
    time::Moment,
};

/// Pages of a sequence by what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PageCounts {
    /// Final answer 2xx.
    pub stored: u64,
    /// Those of them that are HTML.
    pub html: u64,
    /// Those of them cut short by a limit.
    pub truncated: u64,
    /// Those of them that show next to nothing until their scripts have run.
    pub needs_js: u64,
    /// Stored pages of which no copy was there before.
    pub new: u64,
    /// Stored pages that differ from the copy before.
    pub changed: u64,
    /// Stored pages that do not.
    pub unchanged: u64,
    /// Final answer 4xx or 5xx, or a redirect that leads nowhere or to itself.
    pub broken: u64,
    /// Those of them that are not there any more (404 or 410) and were stored in an earlier sequence.
    pub gone: u64,
    /// No answer after all retries.
    pub failed: u64,
}

/// Abandoned URLs by reason.
pub type UrlCounts = std::collections::BTreeMap<String, u64>;

/// What a crawl directory tells of its last sequence.
#[derive(Debug)]
pub struct StoredSummary {
    /// Its number.
    pub sequence: u32,
    /// When it began.
    pub began_at: Moment,
    /// `drained`, `budget`, `unreachable`, `loss`, `signal` or `failed`; `None` while it runs or after a kill.
    pub end: Option<String>,
    /// Wall seconds of all its runs that ended orderly.
    pub seconds: f64,
    /// CPU seconds of the same.
    pub cpu_seconds: f64,
    /// The highest peak memory of the same, in bytes.
    pub peak_memory: Option<u64>,
    /// How many runs those were.
    pub runs: u64,
    /// Its sums.
    pub counters: Counters,
    /// How many URLs are queued, finished and so on, counted from rows.
    pub counts: Counts,
    /// Its pages, counted from rows.
    pub pages: PageCounts,
    /// Abandoned URLs by reason, counted from rows.
    pub abandoned: UrlCounts,
    /// The URL cache's figures when it was left (JSON).
    pub cache: Option<String>,
    /// Its lost URLs, counted from rows.
    pub lost: LostCounts,
    /// Links that were checked and lead to no URL of the crawl, counted from rows.
    pub link_checks: LinkCheckCounts,
    /// Changes of pages that it reported.
    pub reported: u64,
    /// Changes that wait for a second look.
    pub pending: u64,
    /// Lines that moved by themselves.
    pub noise: NoiseFigures,
    /// What was checked of its answers "not modified", counted from rows.
    pub checked: CheckedRevisits,
    /// The looks of the last sequences, this one included, from which rates of change are estimated.
    pub kept_looks: SiteLooks,
    /// How often single pages change, where they are visited between sequences.
    pub page_rates: PageRates,
    /// The crawl's settings (JSON).
    pub settings: Option<String>,
    /// Hosts that are not well, the first 100 of them.
    pub hosts: Vec<UnhealthyHost>,
    /// How many there are.
    pub unhealthy_hosts: u64,
    /// Those of them that were given up for this sequence.
    pub paused_hosts: u64,
    /// All hosts that are known.
    pub known_hosts: u64,
}

impl StoredSummary {
    /// Whether a sweep has found every URL that was lost, and none of them is still missing.
    pub fn is_proved(&self) -> bool {
        self.lost.sweep.links.is_some() && self.lost.sweep.missing() == 0
    }
}

/// A host that is not well.
#[derive(Debug, Clone)]
pub struct UnhealthyHost {
    /// Scheme, name and port.
    pub origin: String,
    /// Since when, why, and who chose to wait.
    pub health: HealthRow,
    /// URLs of the sequence that are queued on it.
    pub waiting: u64,
}

/// Pages that were fetched whole, though their server had said that they were not modified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CheckedRevisits {
    /// How many.
    pub audited: u64,
    /// Those of them that differed from the copy.
    pub wrong: u64,
}

/// What a sequence lost and found again, in a line.
#[derive(Debug, Clone, PartialEq)]
pub struct SequenceLosses {
    /// Its number.
    pub sequence: u32,
    /// When it began, in milliseconds since 1970.
    pub began_at: u64,
    /// How it ended; `None` while it runs or after a kill.
    pub end: Option<String>,
    /// URLs expected to be lost.
    pub expected: f64,
    /// Those that its audit saw lost.
    pub audited: u64,
    /// Those that its sweep found; `None` where no sweep proves it.
    pub swept: Option<u64>,
    /// URLs that an earlier sequence had lost and this one admitted.
    pub recovered: u64,
    /// The times before its looks at known pages; `None` where there was none.
    pub measured: Option<Span>,
}

/// Lost URLs of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LostCounts {
    /// Those that the audit saw and let in at once.
    pub audit_rescued: u64,
    /// What sweeps found.
    pub sweep: SweepCounts,
    /// URLs that an earlier sequence lost and this one admitted.
    pub recovered: u64,
}

/// What a sweep found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SweepCounts {
    /// Kept links compared by a sweep that proves this state; `None` where none does.
    pub links: Option<u64>,
    /// URLs that had no row.
    pub lost: u64,
    /// Those of them that were admitted therefore.
    pub rescued: u64,
    /// Those that another link let in later.
    pub found: u64,
    /// URLs first found over those rescued, not counting them.
    pub missed_with_them: u64,
    /// Lost URLs that no page links to any more.
    pub no_longer_linked: u64,
    /// Lost URLs whose pages gave no answer the second time.
    pub parent_unreachable: u64,
}

impl SweepCounts {
    /// Lost URLs that are still missing.
    pub fn missing(&self) -> u64 {
        self.lost.saturating_sub(self.rescued + self.found + self.no_longer_linked)
    }
}
