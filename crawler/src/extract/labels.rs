//! [`Label`]: what a link says of itself, beside its target.
//!
//! Owns: the texts and relations of a page's links, in one piece of memory with a bound.
//!
//! Does not know: where on the page they come from.

use std::ops::Range;

use super::element::Element;

/// How many bytes of a relation are kept.
const LONGEST_REL: usize = 100;

/// What a link says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label<'a> {
    /// The element of its first occurrence.
    pub element: Element,
    /// Its `rel`, white space collapsed, at most 100 bytes of it; empty where there is none.
    pub rel: &'a str,
    /// Its text: that of its first occurrence that has one, at most 200 bytes.
    pub text: &'a str,
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
        let place = number as usize;
        if self.spans.len() <= place {
            self.spans.resize_with(place + 1, Span::default);
        }
        let text = self.keep(text);
        if !self.spans[place].is_known {
            let rel = rel.map(shown_rel).unwrap_or_default();
            self.spans[place] = Span { rel: self.keep(&rel), text: text.clone(), is_known: true };
        }
        self.spans[place].text = text;
    }

    /// Relation and text; both are empty where there is no room for more.
    pub(super) fn get(&self, number: u32) -> [&str; 2] {
        let Some(span) = self.spans.get(number as usize) else { return [""; 2] };
        [&self.kept[span.rel.clone()], &self.kept[span.text.clone()]]
    }

    fn keep(&mut self, text: &str) -> Range<usize> {
        let start = self.kept.len();
        if start + text.len() <= self.most {
            self.kept.push_str(text);
        }
        start..self.kept.len()
    }
}

fn shown_rel(rel: &[u8]) -> String {
    let rel = String::from_utf8_lossy(rel);
    let mut words = rel.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    words.truncate(words.floor_char_boundary(LONGEST_REL));
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
        assert_eq!(labels.get(1), ["a b", "text"]);
        assert!(!labels.wants(1));
        assert_eq!(labels.get(0), ["", ""]);
        assert_eq!(labels.get(9), ["", ""]);
    }

    #[test]
    fn there_is_a_bound_for_all_of_them() {
        let mut labels = ReferenceLabels::within(6);
        labels.put(0, None, "four");
        labels.put(1, None, "four");
        labels.put(2, Some(b"ab"), "");
        assert_eq!([labels.get(0), labels.get(1), labels.get(2)], [["", "four"], ["", ""], ["ab", ""]]);
    }
}
