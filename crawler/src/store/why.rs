//! [`UrlFacts`]: what a crawl knows of one URL, whether it has a row for it or not.

use super::{LastSequence, LinkEnd, PageLine, RobotsRow};
use crate::{
    candidate::Hop,
    health::HealthRow,
    time::Moment,
    url::{Key, KeyRuleSet},
};

/// What a crawl knows of a URL.
#[derive(Debug)]
pub struct UrlFacts {
    /// What identifies it.
    pub key: Key,
    /// The rules that changed its key.
    pub rules: KeyRuleSet,
    /// The row of its key, if there is one.
    pub record: Option<UrlRecord>,
    /// What came of it, where it has no row and links were checked.
    pub link_check: Option<LinkEnd>,
    /// That it is lost, where it has no row.
    pub lost: Option<LostFacts>,
    /// Whether it was removed because somebody asked for it.
    pub is_removed: bool,
    /// What leads to it.
    pub proposers: Proposers,
    /// The host of its row, or its own; `None` where the crawl has not come to that.
    pub host: Option<HostFacts>,
    /// The last sequence.
    pub last: LastSequence,
}

/// The row of a key.
#[derive(Debug)]
pub struct UrlRecord {
    /// What is fetched for that key, and what came of it.
    pub line: PageLine,
    /// Whether it waits: an earlier sequence may have an answer, and the last one has not come to it yet.
    pub is_queued: bool,
    /// Fetches that failed by its own fault, in the last sequence that had it.
    pub attempts: u32,
    /// It is not fetched again before.
    pub due: Option<Moment>,
}

/// A URL that the URL cache refused by mistake, and that has no row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostFacts {
    /// What became of it: a word of [`LostState`](super::LostState).
    pub state: String,
    /// `audit` or `sweep`.
    pub found_by: String,
    /// The last sequence that lost it.
    pub sequence: u32,
}

/// Something that leads to a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposer {
    /// What is fetched of it; `None` for a start, and for a sitemap that robots.txt or a setting names.
    pub via: Option<String>,
    /// How it leads there.
    pub hop: Hop,
}

/// All that leads to a URL, by the latest copies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proposers {
    /// The first of them, in the order of their admission; before these the one by which it was found first.
    pub list: Vec<Proposer>,
    /// How many there are.
    pub count: u64,
    /// Whether one of them was within the scope when it was read.
    pub is_taken: bool,
    /// Why the first of the others was left out.
    pub refused: Option<String>,
}

/// A host.
#[derive(Debug)]
pub struct HostFacts {
    /// Scheme, name and port.
    pub origin: String,
    /// What is wrong with it; `None` when it is well.
    pub health: Option<HealthRow>,
    /// URLs of the last sequence that wait on it.
    pub waiting: u64,
    /// The last answer to a request for its robots.txt; `None` where it was never asked.
    pub robots: Option<RobotsRow>,
}
