//! What passes between the frontier and the URL table.
//!
//! Owns: work items as memory holds them, their place in the order of their host, the question for rows that memory does not hold, and the
//! counts.
//!
//! Does not know: when a URL is fetched, or how rows are kept.

use std::{num::NonZeroU64, sync::Arc};

use crate::{
    candidate::{Hop, HostId, Ticket},
    order::{Order, Weight},
    purpose::Purpose,
    time::Moment,
    url::WebUrl,
};

/// The reason for which a URL waits to be fetched whole, after its server said that it was not modified.
pub const NOT_MODIFIED: &str = "not_modified";

/// The reason for which a URL waits that is beyond a limit of its section, or beyond the depth limit where sections have others.
pub const BEYOND_LIMIT: &str = "section";

/// One thing to be fetched, whatever it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkItem {
    /// Number of the URL's admission, or among the URLs to be checked; 0 for what is in neither table.
    pub id: Ticket,
    /// The host that is asked.
    pub host: HostId,
    /// What to fetch.
    pub url: WebUrl,
    /// What it is fetched for.
    pub purpose: Purpose,
    /// Of a robots.txt: the host whose URLs wait for it.
    pub of: Option<HostId>,
    /// Its place in the order of its host, least first; given at admission by the [`Ranking`](crate::order::Ranking).
    pub rank: i64,
    /// When it may be fetched, where that was put off.
    pub due: Option<Moment>,
    /// When its last fetch failed; the epoch where that is not held against it.
    pub failed: Option<Moment>,
    /// How it was found.
    pub hop: Hop,
    /// Links followed from a start.
    pub depth: u32,
    /// Redirects followed since the last link.
    pub redirects: u32,
    /// Fetches that have failed so far, by its own fault.
    pub attempts: u32,
    /// The copy that an earlier visit has.
    pub copy: Option<Arc<KnownCopy>>,
}

/// The latest copy of a page: what a further visit is compared with, whatever the settings did since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownCopy {
    /// The row of the URL.
    pub url: u64,
    /// The visit that stored the page, with its links.
    pub visit: i64,
    /// SHA-256 of the body.
    pub digest: [u8; 32],
    /// The hash of its kept links.
    pub links: u32,
    /// Whether it is kept what these say of themselves.
    pub has_labels: bool,
    /// What it says, where that is kept.
    pub text: Option<KnownText>,
    /// What identifies it to the server.
    pub validators: Validators,
    /// Whether the server may be asked whether it is still good: it is whole, none of its links is lost, its host was not found wrong,
    /// and its text is made by the rule of today, where texts are kept.
    pub may_304: bool,
    /// Whether its links are those that the sequence would keep.
    pub links_hold: bool,
}

/// The text of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownText {
    /// Its row.
    pub row: i64,
    /// The number of the rule that it was made by.
    pub rule: u64,
    /// SHA-256 of its lines.
    pub digest: [u8; 32],
}

/// What identifies a copy of a page (RFC 9110 8.8), as a response has it. A value that no header can hold (a line break, say) is not sent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Validators {
    /// `ETag` as received, strong or weak: sent as `If-None-Match`.
    pub etag: Option<Box<[u8]>>,
    /// `Last-Modified` as received: sent as `If-Modified-Since`.
    pub last_modified: Option<Box<[u8]>>,
}

impl WorkItem {
    /// A URL as it is admitted.
    pub fn discover(id: Ticket, host: HostId, url: WebUrl, hop: Hop) -> Self {
        Self {
            id,
            host,
            url,
            purpose: Purpose::Discover,
            of: None,
            rank: 0,
            due: None,
            failed: None,
            hop,
            depth: 0,
            redirects: 0,
            attempts: 0,
            copy: None,
        }
    }

    /// A URL of `host` that the URL table does not know as queued.
    pub fn extra(host: HostId, url: WebUrl, purpose: Purpose) -> Self {
        Self { purpose, ..Self::discover(Ticket(0), host, url, Hop::Link) }
    }

    /// Where the sitemap of a host may be.
    pub fn guess(host: HostId, url: WebUrl) -> Self {
        Self { hop: Hop::Sitemap, ..Self::extra(host, url, Purpose::Guess) }
    }

    /// A URL to be checked that has this number among those.
    pub fn link_check(number: u64, host: HostId, url: WebUrl, redirects: u32) -> Self {
        Self { id: Ticket(number), redirects, ..Self::extra(host, url, Purpose::LinkCheck) }
    }

    /// The robots.txt of a host, to be asked for at another or the same.
    pub fn robots(host: HostId, url: WebUrl, of: HostId) -> Self {
        Self { of: Some(of), ..Self::extra(host, url, Purpose::Robots) }
    }

    /// Whether it is a sitemap by what named it: robots.txt, a setting, a sitemap index, or the redirect of such a one. What
    /// a sitemap lists has no redirects behind it, and is deeper.
    pub fn is_sitemap(&self) -> bool {
        self.hop == Hop::Sitemap && (self.depth == 0 || self.redirects > 0)
    }

    /// Whether it is only there because a page shows or loads it.
    pub fn is_asset(&self) -> bool {
        self.hop == Hop::Asset
    }

    /// When it failed, where that may have been its own fault.
    pub fn held(&self) -> Option<Moment> {
        self.failed.filter(|failed| *failed > Moment::EPOCH)
    }

    /// What identifies its copy, where a server may say that this is still good. A page that is fetched to check such an answer is fetched
    /// whole.
    pub fn validators(&self) -> Option<&Validators> {
        let is_check = matches!(self.purpose, Purpose::Audit | Purpose::DueAudit | Purpose::Confirm);
        let copy = self.copy.as_deref().filter(|copy| copy.may_304 && copy.links_hold && !is_check)?;
        Some(&copy.validators)
    }

    /// Its place in its host's queue.
    pub fn place(&self) -> Place {
        Place { rank: self.rank, id: self.id }
    }

    /// Its weight, where ranks are of this order.
    pub fn weight(&self, order: Order) -> Weight {
        order.weight(self.rank, self.depth)
    }
}

/// A URL's place in its host queue: by rank, then by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// [`WorkItem::rank`].
    pub rank: i64,
    /// Number of the URL.
    pub id: Ticket,
}

impl Place {
    /// Before every URL.
    pub const FIRST: Self = Self { rank: i64::MIN, id: Ticket(0) };
    /// Behind every URL.
    pub const LAST: Self = Self { rank: i64::MAX, id: Ticket(u64::MAX) };
}

/// Which rows of a host are asked for. The answer must see every row sent to the table before the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefillKind {
    /// Queued rows with no due time, beyond this place, in order of place.
    Beyond(Place),
    /// Rows to retry with `due` up to `until`, later than (`after`, `id`) in order of (due, id).
    Due {
        /// Due times already read, with `id`.
        after: Moment,
        /// The last row read at `after`.
        id: Ticket,
        /// The last due time to read.
        until: Moment,
    },
}

/// A request for at most `limit` rows of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefillRequest {
    /// Whose rows.
    pub host: HostId,
    /// Which of them.
    pub kind: RefillKind,
    /// How many at most.
    pub limit: usize,
    /// Only rows up to this depth.
    pub max_depth: Option<u32>,
}

/// The rows asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RefillAnswer {
    /// In the order asked for.
    pub rows: Vec<WorkItem>,
    /// For [`RefillKind::Due`]: the due time of the last row in `rows`.
    pub last_due: Option<Moment>,
    /// For [`RefillKind::Due`]: the earliest due time behind those rows.
    pub next_due: Option<Moment>,
    /// Whether the table held more rows of the kind than `rows`.
    pub more: bool,
}

/// What is too deep to be fetched, and how the rest is ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DepthLimit {
    /// The greatest depth that is fetched.
    pub most: u32,
    /// The order of ranks.
    pub order: Order,
}

/// Queued rows of a host that were beyond the depth limit, and are not any more: a shorter way to them was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nearer {
    /// Whose rows.
    pub host: HostId,
    /// Their depth now.
    pub depth: u32,
    /// How many.
    pub rows: u64,
}

/// How many URLs may be fetched for so many pages, whatever comes of them: a site that answers with errors and redirects
/// must end a budget of pages too.
pub fn most_fetched(pages: NonZeroU64) -> u64 {
    pages.get().saturating_mul(2).saturating_add(10)
}

/// The count invariant: `admitted` = `queued` + `leased` + `finished` + `abandoned`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// URLs offered since the sequence began.
    pub admitted: u64,
    /// To be fetched: in memory, in the table, waiting for a retry, or beyond a budget.
    pub queued: u64,
    /// Being fetched.
    pub leased: u64,
    /// With a final answer.
    pub finished: u64,
    /// Never to be fetched.
    pub abandoned: u64,
}
