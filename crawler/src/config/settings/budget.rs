//! `[budget]`.

use std::{num::NonZeroU64, time::Duration};

use crate::config::{
    reader::KeyReader,
    rules::{Count, DurationRange, Size, Unless},
};

/// Largest count: what a database column holds.
const MOST: NonZeroU64 = NonZeroU64::new(i64::MAX as u64).expect("it is not zero");

/// A number of pages.
pub(super) const PAGES: Unless<Count<NonZeroU64>> = Unless { word: "unlimited", rule: Count(NonZeroU64::MIN..=MOST) };

/// A number of links from a start.
pub(super) const DEPTH: Unless<Count<u32>> = Unless { word: "unlimited", rule: Count(0..=1_000_000) };

/// What stops a crawl; `None` is no limit. Budgets stop leasing, never admission.
#[derive(Debug, Clone)]
pub struct BudgetSettings {
    /// Pages fetched in one sequence.
    pub max_pages: Option<NonZeroU64>,
    /// Bytes received in one sequence.
    pub max_bytes: Option<NonZeroU64>,
    /// Time of one run.
    pub max_time: Option<Duration>,
    /// Links followed from a start URL; 0 fetches the starts alone.
    pub max_depth: Option<u32>,
    /// Pages fetched from one host in one sequence.
    pub max_pages_per_host: Option<NonZeroU64>,
}

impl BudgetSettings {
    pub(super) fn read(reader: &mut KeyReader<'_>) -> Self {
        let bytes = Unless { word: "unlimited", rule: Size(1..=MOST.get()) };
        let time = Unless {
            word: "unlimited",
            rule: DurationRange(Duration::from_millis(1)..=Duration::from_hours(24 * 3650)),
        };
        Self {
            max_pages: reader.read("budget.max_pages", &PAGES),
            max_bytes: reader.read("budget.max_bytes", &bytes).and_then(NonZeroU64::new),
            max_time: reader.read("budget.max_time", &time),
            max_depth: reader.read("budget.max_depth", &DEPTH),
            max_pages_per_host: reader.read("budget.max_pages_per_host", &PAGES),
        }
    }
}
