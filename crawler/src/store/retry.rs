//! [`RetryFilter`]: which URLs that came to nothing are asked for again by hand.

use std::{collections::BTreeMap, ops::RangeInclusive};

use regex::Regex;

use super::PageOutcome;
use crate::time::Moment;

/// Which URLs of the last sequence are asked for again: those that pass all of it.
#[derive(Debug, Clone)]
pub struct RetryFilter {
    /// What came of them, some of [`RetryFilter::OUTCOMES`].
    pub outcomes: Vec<PageOutcome>,
    /// What their servers answered.
    pub status: Option<RangeInclusive<u16>>,
    /// What their URLs match.
    pub matching: Option<Regex>,
    /// Their last answer came no later. What was never asked for passes.
    pub until: Option<Moment>,
}

impl RetryFilter {
    /// What can come of a URL that is worth another request. What left the scope is not asked for, whatever is said here.
    pub const OUTCOMES: [PageOutcome; 3] = [PageOutcome::Broken, PageOutcome::Failed, PageOutcome::Abandoned];
}

/// How many URLs pass, by what came of them. A page that is gone is broken.
pub type RetryCounts = BTreeMap<&'static str, u64>;
