//! [`Lease`]: one fetch granted, and how it can end.

use super::Queued;
use crate::{candidate::HostId, time::Moment, url::WebUrl};

/// A prerequisite to be fetched: robots.txt of a host, at that host or where its redirects lead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Errand {
    /// The host whose URLs wait for it.
    pub for_host: HostId,
    /// What to fetch.
    pub url: WebUrl,
    /// Redirects followed so far.
    pub redirects: u32,
}

/// What a lease is for.
#[derive(Debug, PartialEq, Eq)]
pub enum Work {
    /// A URL of the URL table.
    Page(Queued),
    /// A URL that has its final answer, fetched again for links that were lost; outside the law.
    Rescue(Queued),
    /// A prerequisite of a host.
    Errand(Errand),
}

/// The kinds of leases, as counted and shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LeaseKind {
    /// First fetch of a URL.
    Discover,
    /// Another fetch after a failed one.
    Retry,
    /// Another fetch of a finished URL, for links that were lost.
    Rescue,
    /// robots.txt.
    Prerequisite,
}

/// One fetch granted. It cannot be cloned, and is given back with [`Frontier::complete_page`](super::Frontier::complete_page),
/// [`Frontier::complete_rescue`](super::Frontier::complete_rescue) or [`Frontier::complete_errand`](super::Frontier::complete_errand).
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a lease that is not completed blocks its host for ever"]
pub struct Lease {
    pub(super) host: HostId,
    pub(super) holds_slot: bool,
    pub(super) work: Work,
}

impl Lease {
    /// The host that is asked.
    pub fn host(&self) -> HostId {
        self.host
    }

    /// What is to be done.
    pub fn work(&self) -> &Work {
        &self.work
    }

    /// What is to be fetched.
    pub fn url(&self) -> &WebUrl {
        match &self.work {
            Work::Page(queued) | Work::Rescue(queued) => &queued.url,
            Work::Errand(errand) => &errand.url,
        }
    }

    /// Whether its answer may be a page more: 1 or 0.
    pub fn pages(&self) -> u64 {
        u64::from(matches!(self.work, Work::Page(_)))
    }

    /// What it counts as.
    pub fn kind(&self) -> LeaseKind {
        match &self.work {
            Work::Page(queued) if queued.attempts > 0 => LeaseKind::Retry,
            Work::Page(_) => LeaseKind::Discover,
            Work::Rescue(_) => LeaseKind::Rescue,
            Work::Errand(_) => LeaseKind::Prerequisite,
        }
    }
}

/// Whether a request went to the host: if so its delay starts anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// A request was sent, whatever came of it.
    Yes,
    /// The lease ended before a request was sent.
    No,
}

/// How the lease of a page ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageOutcome {
    /// It has its final answer. `stored` counts for the host's page budget.
    Finished {
        /// Whether the answer is a page that was stored.
        stored: bool,
    },
    /// It will not be fetched.
    Abandoned,
    /// It is queued again, in the URL table alone, until `due`.
    Retry {
        /// Not before this moment.
        due: Moment,
    },
    /// It was not fetched; it is queued again as it was.
    Released,
}

/// How the lease of a prerequisite ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrandOutcome {
    /// The host's URLs may be leased until that moment; then it is fetched anew.
    Met {
        /// When the answer is too old.
        until: Moment,
    },
    /// It is to be fetched at another URL.
    Redirected {
        /// The host of that URL.
        host: HostId,
        /// Where.
        to: WebUrl,
    },
    /// No usable answer: it is fetched again at that moment.
    Retry {
        /// Not before this moment.
        at: Moment,
    },
    /// No usable answer, for good: everything queued on the host is abandoned.
    Failed,
}
