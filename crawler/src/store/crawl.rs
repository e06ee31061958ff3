//! What a new crawl, or a further sequence, begins with.

use super::{AreaRow, KeptHistory};
use crate::{
    time::Moment,
    url::{Canonicalizer, FingerprintSeed},
};

/// What a new crawl begins with.
#[derive(Debug)]
pub struct NewCrawl {
    /// When.
    pub at: Moment,
    /// The secret seed of its fingerprints.
    pub fingerprint_seed: FingerprintSeed,
    /// The rules that make its keys.
    pub key_rules: Canonicalizer,
    /// The secret hash seed of its URL cache.
    pub hash_seed: u64,
    /// The settings, as JSON.
    pub settings: String,
    /// Its start URLs.
    pub areas: Vec<AreaRow>,
}

/// What a further sequence begins with, beside what the crawl is.
#[derive(Debug)]
pub struct NextSequence {
    /// When.
    pub at: Moment,
    /// The settings, as JSON.
    pub settings: String,
    /// Start URLs given with it; those of the crawl are among its starts in any case.
    pub areas: Vec<AreaRow>,
    /// How it finds its URLs.
    pub revisit: Revisit,
    /// Whether the links that earlier sequences kept are those that this one would keep: scope and the like are the same.
    pub links_stay: bool,
    /// How much history is kept: URLs that are gone for longer are forgotten.
    pub keep: KeptHistory,
}

/// How a sequence beyond the first finds its URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revisit {
    /// Every known URL is due once, found again or not; links find the new ones.
    KnownFirst,
    /// By links from the starts, as if nothing were known.
    Rediscover,
}

impl Revisit {
    /// Its name in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::KnownFirst => "known_first",
            Self::Rediscover => "rediscover",
        }
    }
}

/// The state of the last sequence of a crawl.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastSequence {
    /// Its number.
    pub number: u32,
    /// When it began.
    pub began: Moment,
    /// How its last run ended; `None` after a kill, or when it has had none.
    pub end: Option<String>,
    /// URLs that it admitted, and links that it did not judge.
    pub admitted: u64,
}

impl LastSequence {
    /// Whether it has come to its end: what it has left would never be fetched otherwise.
    pub fn is_over(&self) -> bool {
        is_over(self.end.as_deref())
    }
}

/// Whether a sequence that has this end has come to its end.
pub fn is_over(end: Option<&str>) -> bool {
    matches!(end, Some("drained" | "failed" | "budget" | "loss" | "unreachable"))
}
