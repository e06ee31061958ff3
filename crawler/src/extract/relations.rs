//! [`Relation`]: what a `link`, in a page or in the header of an answer, leads to.

use super::{attributes::has_token, collected::Collected, element::Element};

/// The relations that lead to a page.
const TO_PAGES: [&str; 3] = ["alternate", "next", "prev"];

/// The relations that lead to what a page is made of: `alternate stylesheet` is no other form of the page.
const TO_PARTS: [&str; 2] = ["stylesheet", "icon"];

/// Those that lead to what a page may be made of.
const TO_OTHER_PARTS: [&str; 6] =
    ["preload", "modulepreload", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon", "manifest"];

/// Whether a link with this `rel` leads to something that a copy of the page needs.
pub(super) fn is_of_copy(rel: &[u8], media_type: Option<&[u8]>) -> bool {
    Relation::of(rel, media_type) == Relation::Part || TO_OTHER_PARTS.iter().any(|word| has_token(rel, word.as_bytes()))
}

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
}

/// A `link` of a page, as it is written.
#[derive(Debug, Default)]
pub(super) struct RelationTag<'a> {
    pub(super) href: Option<&'a [u8]>,
    pub(super) rel: Option<&'a [u8]>,
    pub(super) media_type: Option<&'a [u8]>,
    pub(super) language: Option<&'a [u8]>,
}

impl RelationTag<'_> {
    /// Takes it into the links to pages, if it is one.
    pub(super) fn put_into(&self, found: &mut Collected) {
        self.note_canonical(found);
        let rel = self.rel.unwrap_or_default();
        let element = match Relation::of(rel, self.media_type) {
            Relation::Page => Element::Link,
            Relation::Feed => Element::Feed,
            Relation::Part | Relation::Other => return,
        };
        let number = found.links.offer_page(self.href, element, Some(rel));
        if let (Some(number), Some(language)) = (number, self.language) {
            found.links.put_language(number, language);
        }
    }

    /// Notes what it names, if that is the canonical page, and the first.
    pub(super) fn note_canonical(&self, found: &mut Collected) {
        let names = self.rel.is_some_and(|rel| has_token(rel, b"canonical"));
        if names && found.canonical.is_none() {
            found.canonical = self.href.map(<[u8]>::to_vec);
        }
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
