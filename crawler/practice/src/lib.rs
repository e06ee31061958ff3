//! The practice web: a synthetic site whose pages are a pure function of their URL and of the site's version, with known
//! truth.
//!
//! Owns: the site ([`PracticeSite`], shaped by a [`Shape`]), what a complete crawl of it must find ([`Truth`]), what
//! differs between two versions ([`SiteChanges`]), and a server for it on loopback ([`PracticeServer`]). `webloom demo`, the end-to-end tests and the benches crawl the same
//! site.
//!
//! Invariants: the same shape, version, address and path give the same bytes for ever; every address a crawl must follow is
//! stated by the model that writes the page, never read back out of the page.
//!
//! Does not know: the crawler's extractor, robots rules or scope. What they must find is written down here by hand or
//! by construction, so that they can be judged by it.

mod answer;
mod articles;
mod hard_pages;
mod hops;
mod resource;
mod server;
mod spelling;
mod truth;
mod versions;

pub use answer::{Answer, Coding};
pub use server::{OUTAGE, PracticeServer, Request};
pub use truth::Truth;
pub use versions::SiteChanges;

/// Everything under this path is named only where a crawler must not look or must not follow: a request for it is a
/// fault.
pub const HIDDEN: &str = "/hidden/";

/// How large a practice site is, and which one of that size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Ordinary pages (at least one), each linked by a page before it.
    pub pages: u32,
    /// Which site of this size: decides addresses, links and text.
    pub seed: u64,
    /// Links of an ordinary page to pages chosen at random, beside those that hold the site together.
    pub links_per_page: u32,
    /// Links of the one page `/hub`.
    pub hub_links: u32,
    /// Length of the chain `/chain/1` to `/chain/N`, each known only to the one before it.
    pub chain: u32,
}

impl Shape {
    /// The site of `webloom demo`: about 500 addresses that answer with a page or file.
    pub fn demo() -> Self {
        Self { pages: 350, ..Self::default() }
    }
}

impl Default for Shape {
    /// Three thousand pages, a hub of 5,000 links, a chain of 30.
    fn default() -> Self {
        Self { pages: 3000, seed: 1, links_per_page: 12, hub_links: 5000, chain: 30 }
    }
}

/// A synthetic site: ask it for any path and it answers; ask it for the truth and it says what a complete crawl from
/// `/` must find.
///
/// ```
/// use webloom_practice::{PracticeSite, Shape};
/// let site = PracticeSite::new(Shape::demo());
/// assert_eq!(site.answer("/").status, 200);
/// assert_eq!(site.answer("/missing/7").status, 404);
/// assert!(site.truth().stored.contains_key("/chain/30"));
/// ```
#[derive(Debug, Clone)]
pub struct PracticeSite {
    shape: Shape,
    origin: String,
    version: u32,
}

impl PracticeSite {
    /// The site of this shape in its first version, at `http://practice.invalid` until [`PracticeSite::at`] says otherwise.
    pub fn new(shape: Shape) -> Self {
        let shape = Shape { pages: shape.pages.max(1), ..shape };
        Self { shape, origin: "http://practice.invalid".to_owned(), version: 1 }
    }

    /// The same site at another origin (`http://host:port`): what its absolute links name.
    #[must_use]
    pub fn at(self, origin: &str) -> Self {
        Self { origin: origin.trim_end_matches('/').to_owned(), ..self }
    }

    /// The same site in another version, counted from 1. With each version some pages are edited, some are removed (410)
    /// and some are new.
    #[must_use]
    pub fn in_version(self, version: u32) -> Self {
        Self { version: version.max(1), ..self }
    }

    /// Which version it is.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// What a complete crawl finds changed since a complete crawl of `before`, which is an earlier version of this site.
    ///
    /// ```
    /// use webloom_practice::{PracticeSite, Shape};
    /// let first = PracticeSite::new(Shape::demo());
    /// let second = first.clone().in_version(2);
    /// assert!(second.changes_since(&first).new.contains("/news/"));
    /// ```
    pub fn changes_since(&self, before: &Self) -> SiteChanges {
        versions::compare(before, self)
    }

    /// The shape it was made with.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// What the site answers to a request for this path and query, whatever was asked before.
    pub fn answer(&self, path_and_query: &str) -> Answer {
        answer::of(self, path_and_query)
    }

    /// What a complete crawl from `/` must store, find broken, see redirected, and leave alone.
    pub fn truth(&self) -> Truth {
        truth::walk(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_the_same_for_ever_and_differs_by_seed() {
        let site = |seed| PracticeSite::new(Shape { seed, ..Shape::demo() });
        let truth = site(1).truth();
        for path in truth.stored.keys() {
            assert_eq!(site(1).answer(path), site(1).answer(path), "{path}");
        }
        assert_ne!(truth, site(2).truth());
    }

    #[test]
    fn names_its_own_origin() {
        let body = |origin: &str| PracticeSite::new(Shape::demo()).at(origin).answer("/hard/elsewhere.html").body;
        assert_ne!(body("http://127.0.0.1:1"), body("http://127.0.0.1:2/"));
    }

    #[test]
    fn no_two_pages_are_alike() {
        let site = PracticeSite::new(Shape::demo());
        let truth = site.truth();
        let bodies: std::collections::BTreeSet<_> = truth.html.iter().map(|path| site.answer(path).body).collect();
        assert_eq!(bodies.len(), truth.html.len());
    }
}
