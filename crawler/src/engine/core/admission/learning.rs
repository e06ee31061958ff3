//! [`Learning`]: what links and sitemaps say of URLs that are admitted already, by which these are ranked anew.
//!
//! Owns: a sketch of fixed memory that takes in each link of each page before the URL cache judges it, and what was learnt since the
//! last ranks were sent: how many pages link to a URL, how a sitemap rates it, and when it was modified.
//!
//! Invariants: a page counts once, however often it is fetched in a run. What is learnt waits for a share of the pages fetched: queues
//! are read again for it, which so happens as often as the logarithm of the pages says. That a page was modified does not wait. Memory does
//! not grow with the crawl.
//!
//! A run begins with an empty sketch, and ranks stay as their rows have them: to read all links of a crawl again would take longer than
//! to see some more.
//!
//! Does not know: what a URL's rank is, and whether it is still queued.

use std::collections::HashMap;

use urlcache::{HashSeed, sketch::PartnerCounts};

use crate::{
    candidate::Hop,
    engine::judge::{Candidate, Passed, Proposal, Provenance},
    order::{LinkClass, Merit},
    store::RankRow,
    time::Moment,
    url::Fingerprint,
};

/// Memory of the sketch, in bytes: good for some two million URLs. Beyond that it takes ever more of them for the most linked ones, and
/// the order comes to be that of the rules.
const MEMORY: usize = 16 << 20;

/// URLs of which something is learnt that wait at a time: then they are ranked, whatever was fetched since.
const MOST_LEARNT: usize = 16_384;

/// Pages between two times at which URLs are ranked anew, at least.
const LEAST_PAGES: u64 = 8;

/// The same as a share of the pages fetched. On rust-doc the order is as good as if it were done after each page.
const SHARE: u64 = 8;

/// Bits of the sketch from which on a URL is of the next class: those that 2, 4 and 8 pages set on average, as an estimate by linear
/// counting ([`PartnerCounts`]) has it.
const LEAST_BITS: [u32; 3] = [2, 4, 6];

/// What is learnt from.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::engine::core) struct Lessons {
    /// Links, and how sitemaps rate URLs; for orders that weigh them.
    pub(in crate::engine::core) weights: bool,
    /// The dates of sitemaps; for sequences whose URLs may have copies.
    pub(in crate::engine::core) dates: bool,
}

/// What is known of URLs.
#[derive(Debug)]
pub(super) struct Learning {
    sketch: Option<PartnerCounts>,
    dates: bool,
    learnt: HashMap<Fingerprint, RankRow>,
    /// Pages fetched when URLs are ranked anew next.
    next: u64,
}

impl Learning {
    /// Knows nothing yet.
    pub(super) fn new(from: Lessons, seed: HashSeed) -> Self {
        let sketch = from.weights.then(|| PartnerCounts::new(MEMORY, seed));
        Self { sketch, dates: from.dates, learnt: HashMap::new(), next: LEAST_PAGES }
    }

    /// Whether it counts links.
    pub(super) fn counts_links(&self) -> bool {
        self.sketch.is_some()
    }

    /// Takes in what was found in one place; of which of it more is known than before.
    pub(super) fn note(&mut self, urls: &Passed, found: Provenance) -> Vec<Proposal> {
        match (found.hop, found.via) {
            (Hop::Link, Some(page)) => self.rising(urls, page.0),
            (Hop::Sitemap, _) => urls.iter().copied().filter(|entry| self.says_something(urls, entry)).collect(),
            _ => Vec::new(),
        }
    }

    fn rising(&mut self, urls: &Passed, page: u64) -> Vec<Proposal> {
        let Some(sketch) = &mut self.sketch else { return Vec::new() };
        let mut rises = |link: &Proposal| {
            let bits = sketch.insert(link.fingerprint.value(), page);
            class(bits.after) > class(bits.before)
        };
        urls.iter().copied().filter(|link| rises(link)).collect()
    }

    /// Whether a sitemap says of a URL what may change its rank.
    fn says_something(&self, urls: &Passed, entry: &Proposal) -> bool {
        let is_rated = || !Merit { listed: urls.listed(entry), ..Merit::default() }.is_neutral();
        (self.counts_links() && is_rated()) || (self.dates && urls.modified(entry).is_some())
    }

    /// What links and a sitemap say of a URL.
    pub(super) fn merit(&self, url: &Candidate) -> Merit {
        let bits = self.sketch.as_ref().map_or(0, |sketch| sketch.bits(url.fingerprint.value()));
        Merit { links: class(bits), listed: url.listed }
    }

    /// When a URL was modified last, where that matters.
    pub(super) fn modified(&self, url: &Candidate) -> Option<Moment> {
        url.modified.filter(|_| self.dates)
    }

    /// Remembers what was learnt of a URL that has a row.
    pub(super) fn learn(&mut self, row: RankRow) {
        if row.modified.is_some() {
            self.next = 0;
        }
        let learnt = self.learnt.entry(row.fingerprint).or_insert(row);
        *learnt = RankRow { merit: learnt.merit.with(row.merit), modified: learnt.modified.max(row.modified), ..row };
    }

    /// What was learnt, if it is time to rank URLs anew after so many pages.
    pub(super) fn take(&mut self, fetched: u64) -> Vec<RankRow> {
        if fetched < self.next && self.learnt.len() < MOST_LEARNT {
            return Vec::new();
        }
        self.next = fetched + (fetched / SHARE).max(LEAST_PAGES);
        self.take_all()
    }

    /// The same at any time. It has no order of its own: that of the keys is one.
    pub(super) fn take_all(&mut self) -> Vec<RankRow> {
        let mut rows: Vec<_> = std::mem::take(&mut self.learnt).into_values().collect();
        rows.sort_unstable_by_key(|row| row.fingerprint.value());
        rows
    }
}

#[expect(clippy::cast_possible_truncation, reason = "at most 3")]
fn class(bits: u32) -> LinkClass {
    LinkClass::of_number(LEAST_BITS.into_iter().filter(|least| bits >= *least).count() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        candidate::HostId,
        order::{ListedPriority, Weight},
    };

    fn learning() -> Learning {
        Learning::new(Lessons { weights: true, dates: true }, HashSeed::new(5))
    }

    fn row(key: u128, merit: Merit) -> RankRow {
        RankRow {
            host: HostId(0),
            fingerprint: Fingerprint::from_bytes(key.to_be_bytes()),
            rule: Weight::USUAL,
            merit,
            modified: None,
        }
    }

    fn of_links(pages: u64) -> Merit {
        Merit { links: LinkClass::of_pages(pages), listed: None }
    }

    #[test]
    fn classes_are_those_of_the_pages_but_for_what_the_sketch_errs() {
        let mut links = PartnerCounts::new(MEMORY, HashSeed::new(5));
        for (pages, wrong) in [(1, 0.0), (2, 0.08), (4, 0.4), (8, 0.2), (20, 0.01)] {
            let keys = (0..2_000_u128).map(|key| (key << 100) | u128::from(pages));
            let off = keys.filter(|key| {
                for page in 0..pages {
                    links.insert(*key, page);
                }
                class(links.bits(*key)) != LinkClass::of_pages(pages)
            });
            let share = off.count() as f64 / 2_000.0;
            assert!(share <= wrong + 0.02, "{pages} pages: {share}");
        }
    }

    #[test]
    fn what_is_learnt_waits_for_a_share_of_the_pages() {
        let mut links = learning();
        links.learn(row(1, of_links(2)));
        assert_eq!(links.take(7), []);
        assert_eq!(links.take(8).len(), 1);
        links.learn(row(1, of_links(4)));
        assert_eq!((links.take(15).len(), links.take(16).len()), (0, 1));
        links.take(8_000);
        links.learn(row(1, of_links(8)));
        assert_eq!((links.take(8_999).len(), links.take(9_000).len()), (0, 1));
        (0..MOST_LEARNT as u128 - 1).for_each(|key| links.learn(row(key, of_links(2))));
        assert_eq!(links.take(9_001).len(), 0);
        links.learn(row(1 << 90, of_links(2)));
        assert_eq!(links.take(9_001).len(), MOST_LEARNT);
    }

    #[test]
    fn that_a_page_was_modified_does_not_wait() {
        let mut links = learning();
        let modified = [7, 5].map(|millis| Some(Moment::from_millis(millis)));
        for modified in modified {
            links.learn(RankRow { modified, ..row(1, of_links(1)) });
        }
        assert_eq!(links.take(1), [RankRow { modified: modified[0], ..row(1, of_links(1)) }]);
        links.learn(row(2, of_links(2)));
        assert_eq!((links.take(8).len(), links.take(9).len()), (0, 1));
    }

    #[test]
    fn what_is_learnt_of_a_url_adds_up() {
        let mut links = learning();
        let listed = ListedPriority::new(0.8);
        links.learn(row(2, of_links(4)));
        links.learn(row(1, of_links(2)));
        links.learn(row(2, Merit { listed, ..Merit::default() }));
        let expected = [row(1, of_links(2)), row(2, Merit { listed, ..of_links(4) })];
        assert_eq!((links.take_all(), links.take_all()), (expected.to_vec(), vec![]));
    }
}
