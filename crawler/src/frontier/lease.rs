//! [`Lease`]: one fetch granted, and how it can end.

use std::{net::IpAddr, time::Duration};

use super::{Purpose, WorkItem, groups::HostGroup};
use crate::{candidate::HostId, purpose::Body, time::Moment, url::WebUrl};

/// One fetch granted. It cannot be cloned, and is given back with [`Frontier::complete`](super::Frontier::complete).
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a lease that is not completed blocks its host for ever"]
pub struct Lease {
    pub(super) item: WorkItem,
    pub(super) holds_slot: bool,
    /// Whose slots it holds as well.
    pub(super) groups: Vec<HostGroup>,
    pub(super) granted: Moment,
    pub(super) delay: Duration,
    /// How long the host rests after it at least.
    pub(super) rest: Duration,
    /// Whether the levels of the whole crawl count it: others wait for it.
    pub(super) in_levels: bool,
    /// Whether nothing but links to its host is checked.
    pub(super) of_links: bool,
}

impl Lease {
    /// The host that is asked.
    pub fn host(&self) -> HostId {
        self.item.host
    }

    /// What is to be fetched.
    pub fn item(&self) -> &WorkItem {
        &self.item
    }

    /// The same as a URL.
    pub fn url(&self) -> &WebUrl {
        &self.item.url
    }

    /// What it is fetched for.
    pub fn purpose(&self) -> Purpose {
        self.item.purpose
    }

    /// When it was granted.
    pub fn granted(&self) -> Moment {
        self.granted
    }

    /// The delay that the host is to have between requests, whoever sends them. What is added to it while the host fails is
    /// not in it: that is for those who ask this host, and not for all who ask its address.
    pub fn delay(&self) -> Duration {
        self.delay.max(self.rest)
    }

    /// Whether it asks a host that is none of the crawl's: one to which links are checked, or that has the robots.txt of another.
    pub fn is_elsewhere(&self) -> bool {
        let is_of_other = self.item.purpose == Purpose::Robots && self.item.of.is_some_and(|of| of != self.item.host);
        is_of_other || self.of_links && self.item.purpose.row().body != Body::Page
    }

    /// Has it count as one after a failure that is held against nobody.
    pub fn failed_before(&mut self) {
        self.item.failed.get_or_insert(Moment::EPOCH);
    }

    /// Has the host rest for so long after it, at least.
    pub fn rests_for(&mut self, pause: Duration) {
        self.rest = pause;
    }

    /// Whether its answer may be a page more: 1 or 0.
    pub fn pages(&self) -> u64 {
        u64::from(self.item.purpose.is_counted())
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

/// How a lease ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It has its final answer, or is not to be fetched again. `stored` counts for the host's page budget.
    Finished {
        /// Whether the answer is a page that was stored.
        stored: bool,
    },
    /// It will not be fetched.
    Abandoned,
    /// It is beyond a limit, and stays queued in the table, where it is not read.
    Held,
    /// It is queued again, a URL of the URL table there alone, until `due`.
    Retry {
        /// Not before this moment.
        due: Moment,
        /// Failures by its own fault so far.
        attempts: u32,
        /// When it failed; the epoch where it was charged for that at once.
        failed: Moment,
    },
    /// It was not fetched; it is queued again as it was.
    Released,
    /// robots.txt was read: the host's URLs may be leased until that moment; then it is fetched anew.
    Met {
        /// When the answer is too old.
        until: Moment,
    },
    /// robots.txt is to be fetched at another URL.
    Redirected {
        /// The host of that URL.
        host: HostId,
        /// Where.
        to: WebUrl,
    },
    /// The name of the host was looked up.
    LookedUp {
        /// What was found; none where nobody could say.
        addresses: Box<[IpAddr]>,
        /// When that is too old.
        until: Moment,
    },
    /// Nothing of the host whose robots.txt it is will be fetched: everything queued there is abandoned.
    Closed,
}
