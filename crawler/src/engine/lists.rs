//! [`Lists`]: which answers are read as lists of URLs, and not as pages.
//!
//! Owns: which answers may be sitemaps or feeds, and how deep sitemaps may be nested. What is fetched as a sitemap may be one whatever its
//! type; of others only what XML says it is.
//!
//! Does not know: how a list is read, and what becomes of its URLs.

use crate::{
    config::{ListsChoice, SourcesSettings},
    extract::{LinkLimits, RawLinks, ReferenceSeed, listed, none_of, sitemap},
    fetch::FetchResponse,
    frontier::WorkItem,
    url::WebUrl,
};

/// Indexes in a row, or redirects, after which the sitemaps of an index are not read.
const MOST_LEVELS: u32 = 5;

/// The longest sitemap, as its protocol has it, in bytes.
const LONGEST: u64 = 50 << 20;

/// Media types of lists in XML.
const TYPES: [&str; 6] = [
    "application/xml",
    "text/xml",
    "application/rss+xml",
    "application/atom+xml",
    "application/rdf+xml",
    "application/feed+xml",
];

/// How the paths of lists end that come with a type that says nothing.
const SUFFIXES: [&str; 4] = [".xml", ".xml.gz", ".rss", ".atom"];

/// Types that say nothing.
const VAGUE: [&str; 5] =
    ["application/octet-stream", "application/gzip", "application/x-gzip", "text/plain", "binary/octet-stream"];

/// Which lists are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lists {
    sitemaps: bool,
    feeds: bool,
}

/// What a URL is fetched as.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FetchedAs {
    /// A sitemap, by what named it.
    pub(super) is_sitemap: bool,
    /// What a page shows or loads.
    pub(super) is_asset: bool,
    /// Indexes and redirects that led there.
    level: u32,
}

impl FetchedAs {
    /// By what is known of a URL.
    pub(super) fn of(item: &WorkItem) -> Self {
        Self { is_sitemap: item.is_sitemap(), is_asset: item.is_asset(), level: item.redirects }
    }

    /// The longest body that is read, where that of a page is so long.
    pub(super) fn longest(self, page: u64) -> u64 {
        if self.is_sitemap { page.max(LONGEST) } else { page }
    }
}

impl Lists {
    /// Those of these settings.
    pub(super) fn new(settings: &SourcesSettings) -> Self {
        Self { sitemaps: settings.sitemaps == ListsChoice::On, feeds: settings.feeds == ListsChoice::On }
    }

    /// Whether an answer is to be unpacked, to be read as a list.
    pub(super) fn unpack(self, of: (&WebUrl, FetchedAs), response: &FetchResponse) -> bool {
        sitemap::is_gzip(&response.body) && self.tries(of, response.content_type())
    }

    /// Whether an answer of this type may be a list.
    pub(super) fn tries(self, (url, fetched_as): (&WebUrl, FetchedAs), content_type: Option<&str>) -> bool {
        if fetched_as.is_sitemap {
            return self.sitemaps;
        }
        (self.sitemaps || self.feeds) && may_be_list(url, content_type)
    }

    /// The URLs of an answer that is a list; `None` where it is none, or none that is read.
    pub(super) fn read(
        self,
        (url, fetched_as): (&WebUrl, FetchedAs),
        response: &FetchResponse,
        (limits, seed): (LinkLimits, ReferenceSeed),
    ) -> Option<RawLinks> {
        let content_type = response.content_type();
        if !self.tries((url, fetched_as), content_type) {
            return None;
        }
        let read = if response.truncated.is_some() { sitemap::read_beginning } else { sitemap::read };
        let list = read(&response.body, content_type, url, &sitemap::SourceLimits::default());
        let kind = list.kind?;
        // Beside what is fetched as one, a text is no sitemap because it has nothing but URLs.
        let is_wanted = if kind.is_feed() { self.feeds } else { self.sitemaps };
        if !is_wanted || (kind == sitemap::SourceKind::Text && !fetched_as.is_sitemap) {
            return None;
        }
        for problem in &list.problems {
            tracing::info!(%url, %problem, "a sitemap or feed is not as it should be");
        }
        if kind == sitemap::SourceKind::Index && fetched_as.level >= MOST_LEVELS {
            tracing::warn!(%url, levels = MOST_LEVELS, "the sitemap indexes are nested too deep: what this one names is not read");
            return Some(none_of(&list, url, limits, seed));
        }
        Some(listed(&list, url, limits, seed))
    }
}

/// Whether an answer that nobody called a sitemap may be a list.
fn may_be_list(url: &WebUrl, content_type: Option<&str>) -> bool {
    let essence = content_type.and_then(|text| text.split([';', ',']).next()).map(str::trim).unwrap_or_default();
    let is = |types: &[&str]| types.iter().any(|one| essence.eq_ignore_ascii_case(one));
    let path = url.path();
    is(&TYPES) || ((essence.is_empty() || is(&VAGUE)) && SUFFIXES.iter().any(|suffix| path.ends_with(suffix)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_may_be_a_list_and_what_is_vague_by_its_name() {
        let may = |path: &str, kind| may_be_list(&WebUrl::parse(&format!("http://h{path}")).unwrap(), kind);
        assert!(may("/x", Some("Application/XML; charset=utf-8")) && may("/x", Some("application/rss+xml")));
        assert!(may("/s.xml.gz", Some("application/x-gzip")) && may("/feed.atom", None));
        assert!(!may("/x.svg", Some("image/svg+xml")) && !may("/x", None) && !may("/x.xml", Some("text/html")));
        assert!(!may("/x", Some("application/octet-stream")));
    }
}
