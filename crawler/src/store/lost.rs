//! What is kept of lost URLs, and how the sweep is asked for them.

use super::VisitOutcome;
use crate::{
    candidate::Ticket,
    queue::{DepthLimit, Nearer, WorkItem},
    time::Moment,
    url::Fingerprint,
};

/// A URL that the audit saw refused by a false positive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostRow {
    /// The hash of its key.
    pub fingerprint: Fingerprint,
    /// What would be fetched.
    pub url: String,
    /// When.
    pub at: Moment,
    /// The URL it was found at.
    pub via: Option<Ticket>,
    /// Its number, when it was rescued at once.
    pub admitted: Option<Ticket>,
}

/// What became of a lost URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LostState {
    /// Nothing.
    Lost,
    /// It was admitted because it was known to be lost.
    Rescued,
    /// Another link to it passed the URL cache later.
    Found,
    /// Each page that had linked to it was fetched again, and does not any more.
    NoLongerLinked,
    /// The same, but of at least one of these pages the links could not be read again.
    ParentUnreachable,
}

impl LostState {
    /// The word used in the database and in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Rescued => "rescued",
            Self::Found => "found",
            Self::NoLongerLinked => "no_longer_linked",
            Self::ParentUnreachable => "parent_unreachable",
        }
    }
}

/// Of a page that is fetched again: which of its visits had the links, and for which lost URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refetch {
    /// Number of the visit.
    pub visit: u64,
    /// The last row of a lost URL that it is fetched for. Those before it are looked for too.
    pub up_to: u64,
}

/// A page was fetched again for the lost URLs it had linked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RescueRow {
    /// The page.
    pub parent: Ticket,
    /// What it was fetched again for.
    pub refetch: Refetch,
    /// The lost URLs that were admitted, by the leading halves of their fingerprints.
    pub rescued: Vec<(u64, Ticket)>,
    /// What it is now, where that tells where it leads: a page whose links were read to the end, or a redirect.
    pub answer: Option<VisitOutcome>,
}

/// What a sweep does when it has compared links and rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterSweep {
    /// It records what was lost.
    Report,
    /// It also says which pages are to be fetched again.
    Rescue,
}

impl AfterSweep {
    /// The word used in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Rescue => "rescue",
        }
    }
}

/// A request to compare the kept links of a sequence with its URL rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SweepRequest {
    /// Now.
    pub at: Moment,
    /// What follows.
    pub then: AfterSweep,
    /// Where depths matter, because what is too deep waits: the links also tell how near each URL is.
    pub limit: Option<DepthLimit>,
}

/// What a sweep found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Swept {
    /// Kept links compared.
    pub links: u64,
    /// URLs without a row.
    pub lost: u64,
    /// Queued rows that were beyond the depth limit before.
    pub nearer: Vec<Nearer>,
    /// Pages to be fetched again, each once; more may follow after the next sweep. With none, and nothing nearer, it is complete.
    pub orders: Vec<RescueOrder>,
}

/// A page to be fetched again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RescueOrder {
    /// The page.
    pub parent: WorkItem,
    /// What it is fetched again for.
    pub refetch: Refetch,
    /// The lost URLs it had linked to: the leading halves of their fingerprints.
    pub links: Vec<u64>,
}
