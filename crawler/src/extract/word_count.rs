//! How many words a page shows: what white space and tags separate.
//!
//! Not counted: comments, and what is in elements that show no text of the page, such as `script`, `title` and `textarea`.
//!
//! Invariants: each byte is looked at once, or twice where it is in a tag; nothing is copied. The count is the same whatever else is read
//! of the page.

use memchr::{memchr, memmem};

use super::attributes::{name_end, tag_end};

/// Elements whose content is not shown, or is no text of the page.
const NOT_SHOWN: [&[u8]; 8] =
    [b"script", b"style", b"title", b"template", b"textarea", b"iframe", b"noframes", b"noembed"];

/// The longest of their names.
const LONGEST: usize = 8;

/// Counts the words of a page whose bytes are UTF-8 (or nearly).
pub(super) fn of(html: &[u8]) -> u32 {
    let (mut counter, mut at) = (Counter::default(), 0);
    while let Some(rest) = html.get(at..).filter(|rest| !rest.is_empty()) {
        let text = memchr(b'<', rest).unwrap_or(rest.len());
        counter.read(&rest[..text]);
        at += text;
        match markup(&html[at..]) {
            0 => {
                // One that begins nothing is text.
                counter.read(&html[at..html.len().min(at + 1)]);
                at += 1;
            }
            length => {
                counter.is_inside = false;
                at += length;
            }
        }
    }
    counter.words
}

/// Counts words of text that comes in pieces.
#[derive(Debug, Default)]
struct Counter {
    words: u32,
    /// Whether what was read last is of a word.
    is_inside: bool,
}

impl Counter {
    fn read(&mut self, text: &[u8]) {
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            let space = match byte {
                b' ' | b'\t' | b'\n' | b'\x0c' | b'\r' => 1,
                b'&' | 0xC2 => no_break_space(&text[at..]),
                _ => 0,
            };
            let is_word = space == 0;
            self.words = self.words.saturating_add(u32::from(is_word && !self.is_inside));
            self.is_inside = is_word;
            at += space.max(1);
        }
    }
}

/// The length of the comment, tag or element that is not shown at the beginning; 0 if there is none.
fn markup(html: &[u8]) -> usize {
    let up_to = |end: &[u8]| memmem::find(html, end).map_or(html.len(), |at| at + end.len());
    match html.get(1) {
        Some(b'!') if html.starts_with(b"<!--") => up_to(b"-->"),
        Some(b'!' | b'?') => up_to(b">"),
        Some(b'/') => match html.get(2) {
            Some(first) if first.is_ascii_alphabetic() => tag_end(html, name_end(html, 2)),
            Some(_) => up_to(b">"),
            None => 0,
        },
        Some(first) if first.is_ascii_alphabetic() => {
            let end = name_end(html, 1);
            let content = tag_end(html, end);
            let name = &html[1..end];
            let is_hidden = name.len() <= LONGEST && NOT_SHOWN.iter().any(|hidden| name.eq_ignore_ascii_case(hidden));
            if is_hidden { content + length_of_content(&html[content..], name) } else { content }
        }
        _ => 0,
    }
}

/// The length of what comes before the end tag of this name.
fn length_of_content(html: &[u8], name: &[u8]) -> usize {
    let is_end = |at: &usize| html.get(at + 2..at + 2 + name.len()).is_some_and(|end| end.eq_ignore_ascii_case(name));
    memmem::find_iter(html, b"</").find(is_end).unwrap_or(html.len())
}

/// The length of the no-break space at the beginning, in the ways that pages write it; 0 if there is none.
fn no_break_space(text: &[u8]) -> usize {
    let written: [&[u8]; 4] = [b"\xc2\xa0", b"&nbsp;", b"&#160;", b"&#xa0;"];
    written.iter().find(|space| text.starts_with(space)).map_or(0, |space| space.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_and_tags_separate_words() {
        for (html, words) in [
            ("", 0),
            ("one  two\nthree", 3),
            ("<p>one</p><p>two</p>", 2),
            ("<b class='>'>one</b>&nbsp;two\u{a0}three", 3),
            ("&nbsp; &amp; R&D 1 < 2", 5),
            ("i<5 </ no> b", 2),
            ("<!-- no --><!doctype html><?no more?>one", 1),
            ("<title>no</title><script>if (a</b>c) no</script>one<STYLE>no</style >", 1),
            ("<textarea>no <b>no</b></textarea>one<template><p>no</p></template>", 1),
            ("<script>not closed", 0),
            ("<p", 0),
        ] {
            assert_eq!(of(html.as_bytes()), words, "{html}");
        }
    }

    #[test]
    fn the_time_is_linear_in_end_tags_that_close_nothing() {
        let html = format!("<script>{}", "</a>".repeat(1 << 20));
        assert_eq!(of(html.as_bytes()), 0);
        assert_eq!(of("<script></script>".repeat(1 << 18).as_bytes()), 0);
    }
}
