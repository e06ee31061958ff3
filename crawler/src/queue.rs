//! What passes between the frontier and the URL table.
//!
//! Owns: a queued URL as memory holds it, its place in its host's order, the question for rows that memory does not hold, and the law's counts.
//!
//! Does not know: when a URL is fetched, or how rows are kept.

use std::num::NonZeroU64;

use crate::{
    candidate::{Hop, HostId, UrlId},
    time::Moment,
    url::WebUrl,
};

/// A queued URL as memory holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued {
    /// Number of the URL.
    pub id: UrlId,
    /// Its host.
    pub host: HostId,
    /// What to fetch.
    pub url: WebUrl,
    /// How it was found.
    pub hop: Hop,
    /// Links followed from a start.
    pub depth: u32,
    /// Redirects followed since the last link.
    pub redirects: u32,
    /// Fetches that have failed so far.
    pub attempts: u32,
}

/// In which order a host's URLs are fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Near the start first.
    Breadth,
    /// Far from the start first.
    Depth,
}

impl Order {
    /// The number a URL at this depth is sorted by, least first.
    pub fn rank(self, depth: u32) -> i64 {
        match self {
            Self::Breadth => i64::from(depth),
            Self::Depth => -i64::from(depth),
        }
    }
}

/// A URL's place in its host queue: by rank, then by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// [`Order::rank`] of the URL's depth.
    pub rank: i64,
    /// Number of the URL.
    pub id: UrlId,
}

impl Place {
    /// Before every URL.
    pub const FIRST: Self = Self { rank: i64::MIN, id: UrlId(0) };
    /// Behind every URL.
    pub const LAST: Self = Self { rank: i64::MAX, id: UrlId(u64::MAX) };
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
        id: UrlId,
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
    pub rows: Vec<Queued>,
    /// For [`RefillKind::Due`]: the due time of the last row in `rows`.
    pub last_due: Option<Moment>,
    /// For [`RefillKind::Due`]: the earliest due time behind those rows.
    pub next_due: Option<Moment>,
    /// Whether the table held more rows of the kind than `rows`.
    pub more: bool,
}

/// How many URLs may be fetched for so many pages, whatever comes of them: a site that answers with errors and redirects
/// must end a budget of pages too.
pub fn most_fetched(pages: NonZeroU64) -> u64 {
    pages.get().saturating_mul(2).saturating_add(10)
}

/// The law: `admitted` = `queued` + `leased` + `finished` + `abandoned`.
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
