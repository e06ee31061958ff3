//! [`PageHead`]: what the head of a page says of the page.

use super::{base::Base, collected::Collected, shell::is_shell};
use crate::url::WebUrl;

/// How many bytes of a description are kept.
const LONGEST_DESCRIPTION: usize = 1024;

/// What the head of a page says of the page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageHead {
    /// Text of the first `title`, white space collapsed (at most 4096 bytes of it); `None` if there is none or it is
    /// blank.
    pub title: Option<Box<str>>,
    /// The same of the first `meta` with the name `description` (at most 1024 bytes of it).
    pub description: Option<Box<str>>,
    /// The page that it names as the canonical one (`link rel=canonical`, or else the header `Link`), where that is another.
    pub canonical: Option<Box<str>>,
    /// Whether it shows next to nothing until its scripts have run.
    pub needs_js: bool,
}

impl PageHead {
    /// That of a page that was found at `url`.
    pub(super) fn of(html: &[u8], found: &Collected, base: &Base, url: &WebUrl) -> Self {
        let canonical = found.canonical.as_deref().and_then(|written| base.join(written));
        let mut head = Self {
            title: found.title.as_deref().and_then(words),
            description: found.description.as_deref().and_then(words),
            canonical: None,
            needs_js: is_shell(html, found),
        };
        if let Some(description) = head.description.as_deref().filter(|text| text.len() > LONGEST_DESCRIPTION) {
            let end = description.floor_char_boundary(LONGEST_DESCRIPTION);
            head.description = Some(description[..end].trim_end().into());
        }
        head.name_canonical(canonical, url);
        head
    }

    /// Takes the canonical page of one that was found at `url`, if that is another, and none is known.
    pub fn name_canonical(&mut self, canonical: Option<WebUrl>, url: &WebUrl) {
        if self.canonical.is_none() {
            self.canonical = canonical.filter(|canonical| canonical != url).map(|canonical| canonical.as_str().into());
        }
    }
}

/// A text with its white space collapsed; `None` if it is blank.
fn words(text: &[u8]) -> Option<Box<str>> {
    let text = String::from_utf8_lossy(text);
    let words: Vec<_> = text.split_ascii_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" ").into())
}

#[cfg(test)]
mod tests {
    use super::super::{LinkLimits, Reading, ReferenceSeed, scan};
    use super::*;

    fn head(html: &str) -> PageHead {
        let url = WebUrl::parse("http://h/d/page").unwrap();
        let reading = Reading::links(LinkLimits::NONE, ReferenceSeed::random());
        scan(html.as_bytes(), Some("text/html; charset=utf-8"), &url, &reading).head
    }

    #[test]
    fn the_first_description_counts() {
        for (html, description) in [
            ("<meta name=Description content=' One\n two '><meta name=description content=no>", Some("One two")),
            ("<meta name=description><meta name=description content=' '><meta name=x content=no>", None),
        ] {
            assert_eq!(head(html).description.as_deref(), description, "{html}");
        }
        let long = head(&format!("<meta name=description content='{}'>", "\u{fc}".repeat(2000))).description;
        assert_eq!(long.map(|text| text.len()), Some(1024));
    }

    #[test]
    fn the_first_canonical_page_counts_and_is_another_page() {
        for (html, canonical) in [
            ("<link rel=canonical href=other#top><link rel=canonical href=no>", Some("http://h/d/other")),
            ("<base href=/b/><link href=x rel='Canonical alternate'>", Some("http://h/b/x")),
            ("<link rel=canonical href=page>", None),
            ("<link rel=canonical href='mailto:a'><link rel=canonical>", None),
        ] {
            assert_eq!(head(html).canonical.as_deref(), canonical, "{html}");
        }
    }
}
