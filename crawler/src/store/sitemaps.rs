//! [`SitemapLine`]: what sitemaps say of a URL, beside what the crawl knows of it.

use crate::time::Moment;

/// A URL that a sitemap lists, or that pages link to and none lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SitemapLine {
    /// The URL.
    pub url: String,
    /// Whether a sitemap lists it.
    pub in_sitemap: bool,
    /// Whether a page links or redirects to it, or it is a start URL.
    pub linked: bool,
    /// The status of its last answer.
    pub status: Option<u16>,
    /// As [`LinkEnd::outcome`](super::LinkEnd::outcome); `refused` for what a sitemap lists and the crawl leaves out.
    pub outcome: Option<String>,
    /// When it changed last, as a sitemap says.
    pub lastmod: Option<Moment>,
    /// What does not fit together.
    pub finding: Option<SitemapFinding>,
}

/// What does not fit together: the first of these that is so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SitemapFinding {
    /// A sitemap lists what robots.txt forbids.
    Forbidden,
    /// A sitemap lists what answers with an error, or not at all.
    Broken,
    /// A sitemap lists what redirects.
    Redirected,
    /// A sitemap lists a page that names another as the canonical one.
    NotCanonical,
    /// No page leads to what a sitemap lists.
    NotLinked,
    /// Pages lead to a page that no sitemap lists.
    NotInSitemap,
}

impl SitemapFinding {
    /// Each of them, in their order.
    pub const ALL: [Self; 6] =
        [Self::Forbidden, Self::Broken, Self::Redirected, Self::NotCanonical, Self::NotLinked, Self::NotInSitemap];

    /// Its word in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Forbidden => "forbidden",
            Self::Broken => "broken",
            Self::Redirected => "redirected",
            Self::NotCanonical => "not_canonical",
            Self::NotLinked => "not_linked",
            Self::NotInSitemap => "not_in_sitemap",
        }
    }
}
