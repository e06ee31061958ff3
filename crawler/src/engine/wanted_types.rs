//! [`WantedTypes`]: which bodies are read, by the media type that the headers name.
//!
//! Owns: what is read whatever the settings say: HTML, sitemaps and feeds, because links are in them, and what names no type.

use std::sync::Arc;

use super::lists::{FetchedAs, Lists};
use crate::{
    fetch::{Head, HeadRule, ReadBody},
    media_type,
    url::WebUrl,
};

/// Types that are always read.
const HTML: [&str; 2] = ["text/html", "application/xhtml+xml"];

/// The media types whose bodies are read; all of them, if none is named. `image/*` is every kind of image.
#[derive(Debug, Clone)]
pub(super) struct WantedTypes {
    named: Arc<[String]>,
    lists: Lists,
}

impl WantedTypes {
    /// Those of these settings.
    pub(super) fn new(named: &[String], lists: Lists) -> Self {
        Self { named: named.into(), lists }
    }

    /// The rule by which a fetch ends after the headers; none where everything is read.
    pub(super) fn rule(&self, url: &WebUrl, fetched_as: FetchedAs) -> Option<HeadRule> {
        if self.named.is_empty() || fetched_as.is_asset {
            return None;
        }
        let (types, url) = (self.clone(), url.clone());
        Some(HeadRule::new(move |head: Head<'_>| {
            let is_page = (200..300).contains(&head.status);
            if is_page && !types.has(head.content_type(), (&url, fetched_as)) {
                ReadBody::Nothing
            } else {
                ReadBody::ALL
            }
        }))
    }

    fn has(&self, content_type: Option<&str>, of: (&WebUrl, FetchedAs)) -> bool {
        let essence = content_type.map(media_type::essence).unwrap_or_default();
        essence.is_empty()
            || HTML.contains(&&*essence)
            || media_type::is_among(&self.named, &essence)
            || self.lists.tries(of, content_type)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        candidate::{Hop, HostId, Ticket},
        config::Settings,
        frontier::WorkItem,
    };

    #[test]
    fn what_may_hold_links_and_what_is_named_is_read() {
        let lists = Lists::new(&Settings::default().sources);
        let types = WantedTypes::new(&["image/*".to_owned(), "text/plain".to_owned()], lists);
        let has = |path: &str, content_type| {
            let url = WebUrl::parse(&format!("http://h{path}")).unwrap();
            let fetched_as = FetchedAs::of(&WorkItem::discover(Ticket(1), HostId(0), url.clone(), Hop::Link));
            types.has(content_type, (&url, fetched_as))
        };
        for wanted in
            ["image/png", "Image/SVG+xml; x", "text/plain;charset=utf-8", "text/html", "application/rss+xml", ""]
        {
            assert!(has("/x", Some(wanted)), "{wanted}");
        }
        for other in ["video/mp4", "text/csv", "images/x", "application/pdf"] {
            assert!(!has("/x", Some(other)), "{other}");
        }
        assert!(has("/x", None) && has("/sitemap.xml.gz", Some("application/gzip")));
        assert!(
            WantedTypes::new(&[], lists).rule(&WebUrl::parse("http://h/").unwrap(), FetchedAs::default()).is_none()
        );
    }
}
