//! [`PracticeSite`]: the site, given by shape, version and address.

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
    pub(super) shape: Shape,
    pub(super) origin: String,
    pub(super) version: u32,
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

    /// The shape it was made with.
    pub fn shape(&self) -> Shape {
        self.shape
    }
}
