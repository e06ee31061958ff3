//! [`Relation`]: what a `link`, in a page or in the header of an answer, leads to.

use super::{attributes::has_token, element::Element, references::References};

/// The relations that lead to a page.
const TO_PAGES: [&str; 3] = ["alternate", "next", "prev"];

/// The relations that lead to what a page is made of: `alternate stylesheet` is no other form of the page.
const TO_PARTS: [&str; 2] = ["stylesheet", "icon"];

/// The media types of feeds.
const FEEDS: [&str; 2] = ["application/rss+xml", "application/atom+xml"];

/// What a link with some `rel` leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    /// Another page.
    Page,
    /// A feed.
    Feed,
    /// What the page loads.
    Part,
    /// Nothing that is looked at.
    Other,
}

impl Relation {
    /// That of a link with this `rel` and `type`.
    pub(super) fn of(rel: &[u8], media_type: Option<&[u8]>) -> Self {
        let has = |words: &[&str]| words.iter().any(|word| has_token(rel, word.as_bytes()));
        if has(&TO_PARTS) {
            Self::Part
        } else if !has(&TO_PAGES) {
            Self::Other
        } else if has(&TO_PAGES[..1]) && media_type.is_some_and(is_feed) {
            Self::Feed
        } else {
            Self::Page
        }
    }

    /// Takes the `href` of a `link` into the links to pages, if it is one.
    pub(super) fn offer(self, links: &mut References, href: Option<&[u8]>, rel: &[u8]) {
        let element = match self {
            Self::Page => Element::Link,
            Self::Feed => Element::Feed,
            Self::Part | Self::Other => return,
        };
        links.offer_page(href, element, Some(rel));
    }
}

/// Whether a media type, parameters or not, is that of a feed.
fn is_feed(media_type: &[u8]) -> bool {
    let essence = media_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    FEEDS.iter().any(|feed| essence.eq_ignore_ascii_case(feed.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_decide_in_any_case_and_order() {
        let of = |rel: &str, media_type: Option<&str>| Relation::of(rel.as_bytes(), media_type.map(str::as_bytes));
        for rel in ["next", "PREV", "x Alternate", "nofollow\nnext"] {
            assert_eq!(of(rel, None), Relation::Page, "{rel}");
        }
        for rel in ["alternate stylesheet", "StyleSheet alternate", "icon"] {
            assert_eq!(of(rel, None), Relation::Part, "{rel}");
        }
        for rel in ["", "canonical", "nextpage", "previous", "preload"] {
            assert_eq!(of(rel, None), Relation::Other, "{rel}");
        }
    }

    #[test]
    fn a_feed_is_an_alternate_of_its_type() {
        let of = |rel: &str, media_type: &str| Relation::of(rel.as_bytes(), Some(media_type.as_bytes()));
        for media_type in ["application/rss+xml", " Application/ATOM+xml ; type=feed"] {
            assert_eq!(of("alternate", media_type), Relation::Feed, "{media_type}");
        }
        assert_eq!(of("alternate", "text/html"), Relation::Page);
        assert_eq!(of("next", "application/rss+xml"), Relation::Page);
    }
}
