//! [`Report`]: what a visit brings back to the core.
//!
//! Visits make it, the core takes it in; it depends on neither.

use std::{net::IpAddr, time::Duration};

use tokio::sync::OwnedSemaphorePermit;

use super::{
    judge::{Proposals, PureHalf},
    visit_events::FailedVisit,
};
use crate::{
    extract::{PageHead, RawLinks},
    fetch::{FetchError, Truncation, resolve::HostAddresses},
    frontier::{Asked, Lease},
    queue::Validators,
    store::{CheckedContent, KeptPart, TextRow},
    time::Moment,
    url::WebUrl,
};

/// Whether a visit judges its links itself.
#[derive(Debug, Clone)]
pub(super) enum Judging {
    /// By the scope as it is when the lease is granted.
    InVisit(PureHalf),
    /// Not: the redirects of other starts may still widen the scope.
    Later,
}

/// A lease whose request has ended, or was not made.
#[derive(Debug)]
pub(super) struct EndedLease {
    pub(super) lease: Lease,
    pub(super) asked: Asked,
    pub(super) at: Moment,
}

/// A visit that ended.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) lease: Lease,
    pub(super) requests: u64,
    pub(super) result: Result<KeptResponse, FetchError>,
    /// What is handed out if the URL has failed for good.
    pub(super) failed: Option<Box<FailedVisit>>,
}

impl Report {
    /// Links of its page that are still to be judged.
    pub(super) fn unjudged_links(&self) -> usize {
        match &self.result {
            Ok(KeptResponse { content: Content::Page(page), .. }) => page.links.unjudged(),
            _ => 0,
        }
    }
}

/// A response, as far as the crawl keeps it.
#[derive(Debug)]
pub(super) struct KeptResponse {
    pub(super) status: u16,
    /// The address that answered.
    pub(super) address: Option<IpAddr>,
    /// How long it took.
    pub(super) took: Duration,
    /// The pause the server asks for.
    pub(super) retry_after: Option<Duration>,
    /// Seconds for which its headers let expect that the page stays as it is.
    pub(super) steady: Option<u32>,
    pub(super) wire_bytes: u64,
    pub(super) truncated: Option<Truncation>,
    pub(super) content: Content,
    /// What was made of it for each taker.
    pub(super) kept: Vec<Option<KeptPart>>,
}

impl KeptResponse {
    /// What comes of a look-up, which no server answers.
    pub(super) fn of_addresses(found: HostAddresses) -> Self {
        Self {
            status: 0,
            address: None,
            took: Duration::ZERO,
            retry_after: None,
            steady: None,
            wire_bytes: 0,
            truncated: None,
            content: Content::Addresses(found),
            kept: Vec::new(),
        }
    }

    /// Bytes that it has for takers.
    pub(super) fn kept_bytes(&self) -> usize {
        self.kept.iter().flatten().map(KeptPart::bytes).sum()
    }
}

/// What was found in a response.
#[derive(Debug)]
pub(super) enum Content {
    /// robots.txt, or where it is.
    Robots {
        /// As far as robots.txt is read.
        body: Vec<u8>,
        /// Target of a redirect.
        location: Option<WebUrl>,
    },
    /// A 2xx.
    Page(Box<BodyRecord>),
    /// The copy is still good; what tells of it now, as far as the answer says.
    NotModified(Validators),
    /// A 3xx with a usable target.
    Redirect(WebUrl),
    /// No response: what a look-up found.
    Addresses(HostAddresses),
    /// Anything else.
    Other(Box<BodyRecord>),
}

/// The record of a body.
#[derive(Debug, Default)]
pub(super) struct BodyRecord {
    pub(super) content_type: Option<Box<str>>,
    pub(super) html: bool,
    pub(super) bytes: u64,
    pub(super) digest: [u8; 32],
    /// What its head says of it.
    pub(super) head: PageHead,
    pub(super) links: VisitLinks,
    /// It is HTML, and does not ask to leave all its links alone.
    pub(super) follows: bool,
    /// What tells of this copy.
    pub(super) validators: Validators,
    /// What is inside, where that alone is asked for.
    pub(super) inside: CheckedContent,
    /// It redirects to itself.
    pub(super) leads_to_itself: bool,
    /// What it says, where that is kept.
    pub(super) text: Option<TextRow>,
    /// Given back when the page was taken in.
    pub(super) room: Option<OwnedSemaphorePermit>,
}

/// The links of a page.
#[derive(Debug)]
pub(super) enum VisitLinks {
    /// Judged by the pure half.
    Judged(Proposals),
    /// Still to be judged; `false` where the page asks not to follow.
    Raw(Box<RawLinks>, bool),
}

impl Default for VisitLinks {
    fn default() -> Self {
        Self::Judged(Proposals::default())
    }
}

impl VisitLinks {
    pub(super) fn judged(self, by: &PureHalf) -> Proposals {
        match self {
            Self::Judged(proposals) => proposals,
            // The core judges these, and takes no lock.
            Self::Raw(links, follows) => by.links(*links, follows, None),
        }
    }

    /// Whether they are what a sitemap lists.
    pub(super) fn are_of_sitemap(&self) -> bool {
        let list = match self {
            Self::Judged(proposals) => proposals.list,
            Self::Raw(links, _) => links.list(),
        };
        list.is_some_and(|list| !list.is_feed())
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Judged(proposals) => proposals.passed.len(),
            Self::Raw(links, _) => links.len(),
        }
    }

    /// How many are still to be judged.
    pub(super) fn unjudged(&self) -> usize {
        match self {
            Self::Judged(_) => 0,
            Self::Raw(links, _) => links.len(),
        }
    }
}

/// The beginning of a text that is too long.
pub(super) fn shortened(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}
