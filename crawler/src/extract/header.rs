//! [`link_header`]: the links in the header of an answer (RFC 8288).
//!
//! Owns: which of them lead to pages: those with `rel` alternate, next or prev; and which names the canonical page.
//!
//! Invariants: it never fails; what cannot be read ends its value. A link that is said of another resource than the answer (`anchor`)
//! is none of it.
//!
//! Does not know: the page. Its base means nothing here: references are relative to the URL of the answer (RFC 8288, 3.1).

use super::{attributes::has_token, element::Element, relations::Relation};
use crate::url::WebUrl;

/// A link to a page in the header `Link`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderLink {
    /// Where it leads.
    pub url: WebUrl,
    /// Its relations, as they are written.
    pub rel: Vec<u8>,
    /// [`Element::Header`], or [`Element::HeaderFeed`].
    pub element: Element,
    /// Its `hreflang`, as it is written.
    pub language: Option<Vec<u8>>,
}

/// What the header `Link` of an answer says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeaderLinks {
    /// The links to pages, in their order.
    pub pages: Vec<HeaderLink>,
    /// The first canonical page that is named.
    pub canonical: Option<WebUrl>,
}

/// What the values of all `Link` headers of an answer from that URL say.
///
/// ```
/// use webloom::internals::{extract::link_header, url::WebUrl};
/// let url = WebUrl::parse("http://example.org/a/")?;
/// let links = link_header([&b"<b>; rel=\"Next x\", </c>; rel=preload"[..]].into_iter(), &url);
/// assert_eq!(links.pages.iter().map(|link| link.url.as_str()).collect::<Vec<_>>(), ["http://example.org/a/b"]);
/// # Ok::<(), webloom::internals::url::UrlError>(())
/// ```
pub fn link_header<'a>(values: impl Iterator<Item = &'a [u8]>, url: &WebUrl) -> HeaderLinks {
    let mut links = HeaderLinks::default();
    for written in values.flat_map(|value| WrittenLinks { rest: value }) {
        written.put_into(&mut links, url);
    }
    links
}

/// A link as it is written.
#[derive(Debug, Default)]
struct WrittenLink<'a> {
    target: &'a [u8],
    rel: Option<Vec<u8>>,
    media_type: Option<Vec<u8>>,
    language: Option<Vec<u8>>,
    is_elsewhere: bool,
}

impl WrittenLink<'_> {
    fn put_into(self, links: &mut HeaderLinks, url: &WebUrl) {
        let target = std::str::from_utf8(self.target).ok().and_then(|target| url.join(target).ok());
        let (Some(target), Some(rel)) = (target, self.rel.filter(|_| !self.is_elsewhere)) else { return };
        if links.canonical.is_none() && has_token(&rel, b"canonical") {
            links.canonical = Some(target.clone());
        }
        let element = match Relation::of(&rel, self.media_type.as_deref()) {
            Relation::Page => Element::Header,
            Relation::Feed => Element::HeaderFeed,
            Relation::Part | Relation::Other => return,
        };
        links.pages.push(HeaderLink { url: target, rel, element, language: self.language });
    }

    /// Of parameters with one name the first counts.
    fn take(&mut self, name: &[u8], value: Vec<u8>) {
        let place = match name.to_ascii_lowercase().as_slice() {
            b"rel" => &mut self.rel,
            b"type" => &mut self.media_type,
            b"hreflang" => &mut self.language,
            b"anchor" => return self.is_elsewhere = true,
            _ => return,
        };
        place.get_or_insert(value);
    }
}

/// The links of one value, one after the other.
struct WrittenLinks<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for WrittenLinks<'a> {
    type Item = WrittenLink<'a>;

    /// RFC 8288, appendix B.2.
    fn next(&mut self) -> Option<WrittenLink<'a>> {
        let start = self.rest.iter().position(|byte| *byte != b',' && !byte.is_ascii_whitespace())?;
        let inside = self.rest[start..].strip_prefix(b"<")?;
        let end = memchr::memchr(b'>', inside)?;
        let mut link = WrittenLink { target: &inside[..end], ..WrittenLink::default() };
        self.rest = &inside[end + 1..];
        while let Some((name, value)) = self.parameter() {
            link.take(name, value);
        }
        Some(link)
    }
}

impl<'a> WrittenLinks<'a> {
    /// The next parameter of the link that is being read; none at its end.
    fn parameter(&mut self) -> Option<(&'a [u8], Vec<u8>)> {
        self.rest = self.rest.trim_ascii_start();
        while let Some(rest) = self.rest.strip_prefix(b";") {
            self.rest = rest.trim_ascii_start();
        }
        let name = self.cut(|byte| matches!(byte, b'=' | b';' | b',') || byte.is_ascii_whitespace());
        self.rest = self.rest.trim_ascii_start();
        let Some(rest) = self.rest.strip_prefix(b"=") else {
            return (!name.is_empty()).then(|| (name, Vec::new()));
        };
        self.rest = rest.trim_ascii_start();
        let value = match self.rest.strip_prefix(b"\"") {
            Some(inside) => self.quoted(inside),
            None => self.cut(|byte| matches!(byte, b';' | b',')).trim_ascii_end().to_vec(),
        };
        Some((name, value))
    }

    /// What comes before the first byte that ends it.
    fn cut(&mut self, ends: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| ends(*byte)).unwrap_or(self.rest.len());
        let (piece, rest) = self.rest.split_at(end);
        self.rest = rest;
        piece
    }

    /// A quoted string, behind its first quote.
    fn quoted(&mut self, inside: &[u8]) -> Vec<u8> {
        let mut value = Vec::new();
        let mut at = 0;
        while let Some(&byte) = inside.get(at).filter(|byte| **byte != b'"') {
            let escaped = if byte == b'\\' { inside.get(at + 1) } else { None };
            value.push(*escaped.unwrap_or(&byte));
            at += 1 + usize::from(escaped.is_some());
        }
        let read = self.rest.len() - inside.len() + at + 1;
        self.rest = self.rest.get(read..).unwrap_or_default();
        value
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(values: &[&str]) -> Vec<(String, Element)> {
        let url = WebUrl::parse("http://h/d/x").unwrap();
        let links = link_header(values.iter().map(|value| value.as_bytes()), &url);
        let links = links.pages.into_iter();
        links.map(|link| (link.url.as_str().trim_start_matches("http://h/d/").to_owned(), link.element)).collect()
    }

    fn names(values: &[&str]) -> Vec<String> {
        found(values).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn several_values_and_several_headers_are_read() {
        assert_eq!(
            names(&["<a>; rel=next, <b>;rel=PREV", "<c> ; title=\"x, <no>; \\\" y\" ; rel = \"x alternate\""]),
            ["a", "b", "c"]
        );
        assert_eq!(names(&[" , <a>;rel=next,, ,<b>; rel=next;"]), ["a", "b"]);
        assert_eq!(names(&["<a,b;c>; rel=next"]), ["a,b;c"]);
    }

    #[test]
    fn only_relations_to_pages_count() {
        assert_eq!(
            names(&["<a>", "<b>; rel", "<c>; rel=preload", "<d>; rel=\"alternate stylesheet\"", "<e>; rev=next"]),
            [""; 0]
        );
        assert_eq!(names(&["<a>; rel=next; rel=preload, <b>; rel=preload; rel=next"]), ["a"]);
        assert_eq!(names(&["<a>; rel=next; anchor=\"/other\""]), [""; 0]);
        assert_eq!(names(&["<mailto:a>; rel=next, <http://[>; rel=next, <//o/b#c>; rel=next"]), ["http://o/b"]);
    }

    #[test]
    fn a_feed_is_one_by_its_type() {
        let links = found(&["<a>; type=\"application/rss+xml\"; rel=alternate, <b>; rel=alternate; type=text/html"]);
        assert_eq!(links, [("a".to_owned(), Element::HeaderFeed), ("b".to_owned(), Element::Header)]);
    }

    #[test]
    fn the_first_canonical_page_counts() {
        let url = WebUrl::parse("http://h/d/x").unwrap();
        let values = [
            &b"<a>; rel=canonical; anchor=b, <mailto:c>; rel=canonical"[..],
            b"<d>; rel=\"x Canonical\", <e>; rel=canonical",
        ];
        let links = link_header(values.into_iter(), &url);
        assert_eq!(links.canonical.as_ref().map(WebUrl::as_str), Some("http://h/d/d"));
        assert!(links.pages.is_empty());
    }

    #[test]
    fn what_is_unfinished_ends_the_value() {
        assert_eq!(names(&["<a>; rel=next, x <b>; rel=next"]), ["a"]);
        assert_eq!(names(&["<a>; rel=\"next", "<b; rel=next", "<c>; rel=\"next\\"]), ["a"]);
        assert_eq!(names(&["<a>; title=\"never closed, <b>; rel=next"]), [""; 0]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(value in prop::collection::vec(prop::sample::select(b"<a>;, =\"\\rel=next\xff".to_vec()), 0..60)) {
            link_header([&value[..]].into_iter(), &WebUrl::parse("http://h/").unwrap());
        }
    }
}
