//! Sections: the URLs that match a pattern, with limits of their own.
//!
//! Owns: which section a URL is of, what its limits are, and how much of them is used up.
//!
//! Invariant: a URL is of one section at most, the first whose pattern matches.
//!
//! Does not know: what is done with a URL beyond a limit.

use std::{num::NonZeroU64, sync::Arc, time::Duration};

use regex::Regex;

use crate::queue::most_fetched;

/// The depth limit of a section without one: it is kept as a number, so that levels are finished one by one wherever any URL has a limit.
pub const ANY_DEPTH: u32 = u32::MAX;

/// URLs that match a pattern, and the limits that they have.
#[derive(Debug, Clone)]
pub struct UrlSection {
    /// Searched for in the whole URL.
    pub pattern: Regex,
    /// Links from a start, in place of the limit of the crawl; [`ANY_DEPTH`] for none.
    pub max_depth: Option<u32>,
    /// Pages a sequence.
    pub max_pages: Option<NonZeroU64>,
    /// The least pause after a request.
    pub delay: Option<Duration>,
}

/// The sections of a crawl, in their order.
///
/// ```
/// use webloom::internals::sections::{UrlSection, UrlSections};
/// let pattern = regex::Regex::new("/forum/")?;
/// let sections = UrlSections::new(vec![UrlSection { pattern, max_depth: Some(2), max_pages: None, delay: None }]);
/// assert_eq!(sections.depth_of("http://h/forum/1", None), Some(2));
/// assert_eq!(sections.depth_of("http://h/docs/1", None), None);
/// # Ok::<(), regex::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct UrlSections(Arc<[UrlSection]>);

impl UrlSections {
    /// These sections; the first that matches a URL counts.
    pub fn new(sections: Vec<UrlSection>) -> Self {
        Self(sections.into())
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &UrlSection> {
        self.0.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The section of a URL, with its number.
    pub fn of(&self, url: &str) -> Option<(usize, &UrlSection)> {
        self.0.iter().enumerate().find(|(_, section)| section.pattern.is_match(url))
    }

    /// The depth limit of a URL in a crawl with this one.
    pub fn depth_of(&self, url: &str, of_crawl: Option<u32>) -> Option<u32> {
        self.of(url).and_then(|(_, section)| section.max_depth).or(of_crawl)
    }

    /// The depth beyond which no URL is fetched, in a crawl with this limit; `None` where no URL has any.
    pub fn deepest(&self, of_crawl: Option<u32>) -> Option<u32> {
        let own = || self.0.iter().filter_map(|section| section.max_depth);
        let is_limited = own().chain(of_crawl).any(|most| most < ANY_DEPTH);
        own().chain([of_crawl.unwrap_or(ANY_DEPTH)]).max().filter(|_| is_limited)
    }
}

/// What was fetched of a section in a sequence, and what is being fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Fetched {
    stored: u64,
    all: u64,
    under_way: u64,
}

impl Fetched {
    /// Whether so many pages, with all that is under way if that counts, are more than there may be.
    fn has_all(self, most: NonZeroU64, under_way: u64) -> bool {
        self.stored + under_way >= most.get() || self.all + under_way >= most_fetched(most)
    }
}

/// How much of the limits of sections is used up in a sequence.
#[derive(Debug, Default)]
pub struct SectionUse {
    sections: UrlSections,
    fetched: Vec<Fetched>,
    /// Whether a URL was held back that may be fetched after all, if what was under way gives no page.
    early: bool,
}

impl SectionUse {
    /// Nothing was fetched yet.
    pub fn new(sections: UrlSections) -> Self {
        let fetched = vec![Fetched::default(); sections.0.len()];
        Self { sections, fetched, early: false }
    }

    /// The sections.
    pub fn sections(&self) -> &UrlSections {
        &self.sections
    }

    /// A URL is being fetched from now on.
    pub fn begin(&mut self, url: &str) {
        if let Some((number, _)) = self.sections.of(url) {
            self.fetched[number].under_way += 1;
        }
    }

    /// It is not any more.
    pub fn end(&mut self, url: &str) {
        if let Some((number, _)) = self.sections.of(url) {
            self.fetched[number].under_way -= 1;
        }
    }

    /// A URL has its final answer in the sequence, which stored a page or not.
    pub fn count(&mut self, url: &str, stored: bool) {
        if let Some((number, _)) = self.sections.of(url) {
            self.fetched[number].stored += u64::from(stored);
            self.fetched[number].all += 1;
        }
    }

    /// Whether a URL at this depth, with which a fetch has begun, is beyond a limit of its section, or beyond that of the crawl.
    pub fn is_beyond(&mut self, url: &str, depth: u32, of_crawl: Option<u32>) -> bool {
        let found = self.sections.of(url);
        let most = found.and_then(|(_, section)| section.max_depth).or(of_crawl);
        if most.is_some_and(|most| depth > most) {
            return true;
        }
        let Some((fetched, most)) = found.and_then(|(number, one)| Some((self.fetched[number], one.max_pages?))) else {
            return false;
        };
        let is_beyond = fetched.has_all(most, fetched.under_way - 1);
        self.early |= is_beyond && !fetched.has_all(most, 0);
        is_beyond
    }

    /// Whether a URL was held back early since this was asked last.
    pub fn held_early(&mut self) -> bool {
        std::mem::take(&mut self.early)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(pattern: &str, max_depth: Option<u32>, max_pages: Option<u64>) -> UrlSection {
        let pattern = Regex::new(pattern).unwrap();
        UrlSection { pattern, max_depth, max_pages: max_pages.and_then(NonZeroU64::new), delay: None }
    }

    #[test]
    fn the_deepest_limit_counts_for_the_table_and_each_own_one_for_its_urls() {
        let limited = UrlSections::new(vec![section("/a/", Some(2), None), section("/b/", Some(7), None)]);
        assert_eq!([None, Some(1), Some(9)].map(|most| limited.deepest(most)), [Some(ANY_DEPTH), Some(7), Some(9)]);
        let unlimited = UrlSections::new(vec![section("/a/", Some(ANY_DEPTH), None), section("/b/", None, Some(3))]);
        assert_eq!([None, Some(1)].map(|most| unlimited.deepest(most)), [None, Some(ANY_DEPTH)]);
        assert_eq!([None, Some(1)].map(|most| UrlSections::default().deepest(most)), [None, Some(1)]);
        let mut used = SectionUse::new(limited);
        let mut is_beyond = |url, depth| used.is_beyond(url, depth, Some(4));
        assert_eq!(
            [("/a/", 2), ("/a/", 3), ("/b/", 7), ("/b/", 8), ("/c", 4), ("/c", 5)]
                .map(|(url, depth)| is_beyond(url, depth)),
            [false, true, false, true, false, true]
        );
    }

    /// Whether one more URL may be fetched.
    fn may_fetch(used: &mut SectionUse, url: &str) -> bool {
        used.begin(url);
        let may = !used.is_beyond(url, 1, None);
        used.end(url);
        may
    }

    fn calendar() -> SectionUse {
        SectionUse::new(UrlSections::new(vec![section("/calendar/", None, Some(3)), section("/c", None, None)]))
    }

    #[test]
    fn a_section_is_spent_by_pages_and_by_what_gives_none() {
        for (stored, most) in [(true, 3), (false, 16)] {
            let mut used = calendar();
            for number in 0..most {
                assert!(may_fetch(&mut used, "/calendar/x"), "after {number}");
                used.count("/calendar/1", stored);
                used.count("/c", true);
            }
            assert_eq!(["/calendar/x", "/c"].map(|url| may_fetch(&mut used, url)), [false, true]);
            assert!(!used.held_early());
        }
    }

    #[test]
    fn what_is_under_way_counts_until_it_gives_no_page() {
        let mut used = calendar();
        for number in 0..3 {
            assert!(may_fetch(&mut used, "/calendar/x"), "after {number}");
            used.begin("/calendar/x");
        }
        assert!(!may_fetch(&mut used, "/calendar/x") && used.held_early() && !used.held_early());
        used.end("/calendar/x");
        assert!(may_fetch(&mut used, "/calendar/x") && !used.held_early());
    }
}
