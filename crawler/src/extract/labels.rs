//! [`Label`]: what a link says of itself, beside its target.
//!
//! Owns: the texts and relations of a page's links, in one piece of memory with a bound.
//!
//! Does not know: where on the page they come from.

use std::ops::Range;

use super::element::Element;

/// How many bytes of a relation are kept.
const LONGEST_REL: usize = 100;

/// The same of a language: no tag is longer (RFC 5646, 4.4.1).
const LONGEST_LANGUAGE: usize = 35;

/// What a link says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label<'a> {
    /// The element of its first occurrence.
    pub element: Element,
    /// Its `rel`, white space collapsed, at most 100 bytes of it; empty where there is none.
    pub rel: &'a str,
    /// Its text: that of its first occurrence that has one, at most 200 bytes.
    pub text: &'a str,
    /// The `hreflang` of a `link`: that of its first occurrence that has one, at most 35 bytes.
    pub language: &'a str,
}

/// Those of a page, by the number of the reference.
#[derive(Debug)]
pub(super) struct ReferenceLabels {
    kept: String,
    spans: Vec<Span>,
    most: usize,
}

/// Where the parts of a label are.
#[derive(Debug, Clone, Default)]
struct Span {
    rel: Range<usize>,
    text: Range<usize>,
    language: Range<usize>,
    is_known: bool,
}

impl ReferenceLabels {
    /// None yet, and never more than so many bytes.
    pub(super) fn within(most: usize) -> Self {
        Self { kept: String::new(), spans: Vec::new(), most }
    }

    /// Whether a reference has no text yet.
    pub(super) fn wants(&self, number: u32) -> bool {
        self.spans.get(number as usize).is_none_or(|span| span.text.is_empty())
    }

    /// Takes what an occurrence says. The relation is that of the first one.
    pub(super) fn put(&mut self, number: u32, rel: Option<&[u8]>, text: &str) {
        let text = self.keep(text);
        if !self.span(number).is_known {
            let rel = self.keep(&rel.map(|rel| shown(rel, LONGEST_REL)).unwrap_or_default());
            *self.span(number) = Span { rel, is_known: true, ..self.span(number).clone() };
        }
        self.span(number).text = text;
    }

    /// Takes the language of an occurrence, if it is the first that has one.
    pub(super) fn put_language(&mut self, number: u32, language: &[u8]) {
        if self.span(number).language.is_empty() {
            self.span(number).language = self.keep(&shown(language, LONGEST_LANGUAGE));
        }
    }

    /// Relation, text and language; they are empty where there is no room for more.
    pub(super) fn get(&self, number: u32) -> [&str; 3] {
        let Some(span) = self.spans.get(number as usize) else { return [""; 3] };
        [&span.rel, &span.text, &span.language].map(|range| &self.kept[range.clone()])
    }

    fn span(&mut self, number: u32) -> &mut Span {
        let place = number as usize;
        if self.spans.len() <= place {
            self.spans.resize_with(place + 1, Span::default);
        }
        &mut self.spans[place]
    }

    fn keep(&mut self, text: &str) -> Range<usize> {
        let start = self.kept.len();
        if start + text.len() <= self.most {
            self.kept.push_str(text);
        }
        start..self.kept.len()
    }
}

/// The value of an attribute, white space collapsed, at most so many bytes of it.
fn shown(value: &[u8], most: usize) -> String {
    let value = String::from_utf8_lossy(value);
    let mut words = value.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    words.truncate(words.floor_char_boundary(most));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_relation_and_the_first_text_count() {
        let mut labels = ReferenceLabels::within(1000);
        labels.put(1, Some(b" a\n b "), "");
        assert!(labels.wants(0) && labels.wants(1));
        labels.put(1, Some(b"c"), "text");
        assert_eq!(labels.get(1), ["a b", "text", ""]);
        assert!(!labels.wants(1));
        assert_eq!(labels.get(0), [""; 3]);
        assert_eq!(labels.get(9), [""; 3]);
    }

    #[test]
    fn a_language_is_kept_beside_a_text() {
        let mut labels = ReferenceLabels::within(1000);
        labels.put(0, Some(b"alternate"), "");
        labels.put_language(0, b" de-CH ");
        labels.put_language(0, b"fr");
        assert!(labels.wants(0), "another occurrence may have a text");
        labels.put(0, None, "Deutsch");
        assert_eq!(labels.get(0), ["alternate", "Deutsch", "de-CH"]);
    }

    #[test]
    fn there_is_a_bound_for_all_of_them() {
        let mut labels = ReferenceLabels::within(6);
        labels.put(0, None, "four");
        labels.put(1, None, "four");
        labels.put(2, Some(b"ab"), "");
        assert_eq!([labels.get(0), labels.get(1), labels.get(2)], [["", "four", ""], ["", "", ""], ["ab", "", ""]]);
    }
}
