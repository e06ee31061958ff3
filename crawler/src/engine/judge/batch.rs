//! [`Batch`]: candidates that were found in one place, and how they were found.

use std::collections::BTreeMap;

use super::{Passed, Proposals};
use crate::{
    candidate::{Hop, Ticket},
    extract::sitemap::SourceKind,
    frontier::WorkItem,
    time::Moment,
};

/// Where the candidates of a batch were found.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) struct Provenance {
    pub(in crate::engine) hop: Hop,
    pub(in crate::engine) via: Option<Ticket>,
    pub(in crate::engine) depth: u32,
    pub(in crate::engine) redirects: u32,
    pub(in crate::engine) judge: Judge,
    pub(in crate::engine) at: Moment,
}

impl Provenance {
    /// What a page links to, or where it redirects to.
    pub(in crate::engine) fn on(page: &WorkItem, hop: Hop, judge: Judge, at: Moment) -> Self {
        let (depth, redirects) = match hop {
            Hop::Redirect => (page.depth, page.redirects + 1),
            Hop::Start | Hop::Link | Hop::Sitemap | Hop::Feed | Hop::Asset => (page.depth + 1, 0),
        };
        let hop = match hop {
            // Where a sitemap is said to be, there is one.
            Hop::Redirect if page.is_sitemap() => Hop::Sitemap,
            Hop::Redirect if page.is_asset() => Hop::Asset,
            hop => hop,
        };
        Self { hop, via: Some(page.id), depth, redirects, judge, at }
    }
}

impl Provenance {
    /// What a page or a list of URLs proposes.
    pub(in crate::engine) fn of(page: &WorkItem, proposals: &Proposals, judge: Judge, at: Moment) -> Self {
        let hop = match proposals.list {
            None => Hop::Link,
            Some(list) if list.is_feed() => Hop::Feed,
            Some(_) => Hop::Sitemap,
        };
        // Each level of sitemap indexes counts as a redirect does, and so does what parts of a page load, so that they come to an end.
        let is_nested = proposals.list == Some(SourceKind::Index) || page.is_asset();
        let redirects = if is_nested { page.redirects + 1 } else { 0 };
        Self { redirects, ..Self::on(page, hop, judge, at) }
    }

    /// The same of what the page shows or loads: it is as deep as the page.
    pub(in crate::engine) fn of_asset(self) -> Self {
        Self { hop: Hop::Asset, depth: self.depth.saturating_sub(1), ..self }
    }

    /// Sitemaps that robots.txt or a setting names.
    pub(in crate::engine) fn named(at: Moment) -> Self {
        Self { hop: Hop::Sitemap, via: None, depth: 0, redirects: 0, judge: Judge::Cache, at }
    }
}

/// Who says whether a candidate is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Judge {
    /// The URL cache.
    Cache,
    /// The URL table was asked before the run, and has none of them: the cache learns them, its answer does not count.
    Table,
    /// The sweep, which knows that they are lost: the cache's answer does not count.
    Lost,
}

/// Candidates that were found in one place. Whoever has URLs makes one: there is no other way into the crawl.
#[derive(Debug)]
pub(in crate::engine) struct Batch {
    pub(in crate::engine) found: Provenance,
    /// Those that passed.
    pub(in crate::engine) urls: Passed,
    /// How many were refused, by reason.
    pub(in crate::engine) refused: BTreeMap<&'static str, u64>,
    /// Of how many a rule changed the key, by rule.
    pub(in crate::engine) rewritten: BTreeMap<&'static str, u64>,
}

impl Batch {
    /// What was proposed in one place.
    pub(in crate::engine) fn new(found: Provenance, proposals: Proposals) -> Self {
        let Proposals { passed, refused, rewritten, list: _, labels: _ } = proposals;
        Self { found, urls: passed, refused, rewritten }
    }

    /// How many candidates there are.
    pub(in crate::engine) fn candidates(&self) -> u64 {
        self.urls.len() as u64 + self.refused.values().sum::<u64>()
    }

    /// Refuses those that passed.
    pub(in crate::engine) fn refuse_all(&mut self, reason: &'static str) {
        let passed = std::mem::take(&mut self.urls).len() as u64;
        if passed > 0 {
            *self.refused.entry(reason).or_default() += passed;
        }
    }

    /// The same in parts of at most so many that passed; the first has the counts. There is always one.
    pub(in crate::engine) fn in_parts(self, size: usize) -> impl Iterator<Item = Self> {
        let found = self.found;
        let (mut parts, mut counts) = (self.urls.in_parts(size), Some((self.refused, self.rewritten)));
        std::iter::from_fn(move || {
            let urls = parts.next();
            let counts = counts.take();
            if counts.is_none() && urls.is_none() {
                return None;
            }
            let (refused, rewritten) = counts.unwrap_or_default();
            Some(Self { found, urls: urls.unwrap_or_default(), refused, rewritten })
        })
    }
}
