//! [`PageHead`]: what a page says of itself.

use super::{base::Base, collected::Collected, directives::MetaRobots, shell::is_shell, word_count};
use crate::url::WebUrl;

/// How many bytes of a description are kept.
const LONGEST_DESCRIPTION: usize = 1024;

/// How many bytes of a language are kept: no tag is as long.
const LONGEST_LANGUAGE: usize = 64;

/// What a page says of itself.
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
    /// The `lang` of its `html` element, as written (at most 64 bytes of it).
    pub language: Option<Box<str>>,
    /// Text of the first `h1` that has any, white space collapsed (at most 200 bytes of it).
    pub heading: Option<Box<str>>,
    /// What it asks of robots, in its meta tags and its headers.
    pub robots: MetaRobots,
    /// Words that it shows; `None` if it is no HTML.
    pub words: Option<u32>,
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
            language: found.language.as_deref().and_then(words),
            heading: found.heading.as_deref().map(Into::into),
            robots: found.robots,
            words: Some(found.words.words().unwrap_or_else(|| word_count::of(html))),
        };
        shorten(&mut head.description, LONGEST_DESCRIPTION);
        shorten(&mut head.language, LONGEST_LANGUAGE);
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

/// Cuts a text between two characters.
fn shorten(text: &mut Option<Box<str>>, most: usize) {
    if let Some(long) = text.as_deref().filter(|text| text.len() > most) {
        *text = Some(long[..long.floor_char_boundary(most)].trim_end().into());
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
    use std::sync::Arc;

    use super::super::{LinkLimits, Omitted, Reading, ReferenceSeed, scan};
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
    fn language_and_heading_are_the_first_that_say_anything() {
        for (html, language, heading) in [
            (
                "<!doctype html><HTML LANG=' de '><h1 class=x> Two\n words<br>and</h1>",
                Some("de"),
                Some("Two words and"),
            ),
            (
                "<html lang=''><html lang=fr><h1></h1><h1><!-- no --></h1><h1><img alt=Logo></h1>",
                Some("fr"),
                Some("Logo"),
            ),
            ("<h1><a href=x>linked <b>t</b>ext</a></h1><h1>no</h1>", None, Some("linked text")),
            ("<svg><h1>left</h1></svg><p lang=en><h2>no</h2>", None, Some("left")),
            ("<h1>&lt;b&gt; &amp; more<script>no</script></h1>", None, Some("<b> & more")),
            ("<h1>not closed", None, Some("not closed")),
            ("<h1>closed by another</H2> behind", None, Some("closed by another")),
            ("<h1>", None, None),
        ] {
            let head = head(html);
            assert_eq!((head.language.as_deref(), head.heading.as_deref()), (language, heading), "{html}");
        }
        let long = head(&format!("<html lang={0}><h1>{0}", "\u{fc}".repeat(2000)));
        let lengths = [long.language, long.heading].map(|text| text.map(|text| text.len()));
        assert_eq!(lengths, [Some(64), Some(200)]);
    }

    #[test]
    fn all_is_the_same_with_and_without_the_text() {
        let url = WebUrl::parse("http://h/").unwrap();
        let html = "<html lang=en><title>no</title><h1>one <a href=x>two</a></h1><script>no</script>three";
        let mut reading = Reading::links(LinkLimits::NONE, ReferenceSeed::random());
        for text in [None, Some(Arc::<Omitted>::default())] {
            reading.text = text;
            let head = scan(html.as_bytes(), Some("text/html"), &url, &reading).head;
            assert_eq!(
                (head.words, head.heading.as_deref(), head.language.as_deref()),
                (Some(3), Some("one two"), Some("en"))
            );
        }
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
