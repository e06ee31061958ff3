//! How many words a page shows: what white space and tags separate.
//!
//! Not counted: comments, and what is in elements that hold no text of the page, such as `script`, `title` and `textarea`.
//!
//! Invariant: each byte is looked at once, or twice where it is in a tag. The reader counts what it passes over; where it passes over
//! nothing, because the text is listened to, the page is gone through here ([`of`]).

use std::fmt;

use memchr::{memchr, memmem};

use super::attributes::{name_end, tag_end};

/// Elements that hold no text of the page, as the tokenizer has it.
const NO_TEXT: [&[u8]; 8] = [b"script", b"style", b"title", b"xmp", b"textarea", b"iframe", b"noframes", b"noembed"];

/// The longest of their names.
const LONGEST: usize = 8;

/// Where a byte is one of these numbers, words are counted without a branch: pieces are short, and a branch is guessed wrong.
const SPACE: u32 = 0;
const WORD: u32 = 1;
const MAY_BE_SPACE: u32 = 2;

/// What each byte is.
static KINDS: [u32; 256] = {
    let (mut kinds, mut byte) = ([WORD; 256], 0_u8);
    while byte < u8::MAX {
        if is_space(byte) {
            kinds[byte as usize] = SPACE;
        }
        byte += 1;
    }
    kinds[b'&' as usize] = MAY_BE_SPACE;
    kinds[0xC2] = MAY_BE_SPACE;
    kinds
};

/// Counts words of text that comes in pieces.
#[derive(Default)]
pub(super) struct WordCounter {
    words: u32,
    /// Whether what was read last is of a word.
    is_inside: bool,
    is_used: bool,
}

impl fmt::Debug for WordCounter {
    /// What a page links to is the same, however it was read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WordCounter")
    }
}

impl WordCounter {
    /// The next piece of a text.
    pub(super) fn read(&mut self, text: &[u8]) {
        self.is_used = true;
        let (mut words, mut is_inside) = (0_u32, u32::from(self.is_inside));
        let rest = text.iter().position(|&byte| {
            let kind = KINDS[usize::from(byte)];
            if kind < MAY_BE_SPACE {
                words += kind & !is_inside;
                is_inside = kind;
            }
            kind == MAY_BE_SPACE
        });
        (self.words, self.is_inside) = (self.words.saturating_add(words), is_inside == WORD);
        if let Some(rest) = rest {
            self.read_slowly(&text[rest..]);
        }
    }

    /// The same where no-break spaces may be.
    fn read_slowly(&mut self, text: &[u8]) {
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            let space = if is_space(byte) { 1 } else { no_break_space(&text[at..]) };
            self.words = self.words.saturating_add(u32::from(space == 0 && !self.is_inside));
            self.is_inside = space == 0;
            at += space.max(1);
        }
    }

    /// A tag or the like follows.
    pub(super) fn divide(&mut self) {
        self.is_inside = false;
    }

    /// The words, if it was shown the text.
    pub(super) fn words(&self) -> Option<u32> {
        self.is_used.then_some(self.words)
    }
}

/// Counts the words of a page whose bytes are UTF-8 (or nearly).
pub(super) fn of(html: &[u8]) -> u32 {
    let (mut counter, mut at) = (WordCounter::default(), 0);
    while let Some(rest) = html.get(at..).filter(|rest| !rest.is_empty()) {
        let text = memchr(b'<', rest).unwrap_or(rest.len());
        counter.read(&rest[..text]);
        at += text;
        let length = markup(&html[at..]);
        if length > 0 {
            counter.divide();
            at += length;
        } else if at < html.len() {
            // One that begins nothing is text.
            counter.read(b"<");
            at += 1;
        }
    }
    counter.words
}

/// Whether a `<` begins a tag, a comment or the like.
pub(super) fn begins_markup(html: &[u8]) -> bool {
    match html.get(1) {
        Some(b'/') => html.len() > 2,
        Some(next) => next.is_ascii_alphabetic() || matches!(next, b'!' | b'?'),
        None => false,
    }
}

/// The length of the comment, tag or element without text at the beginning; 0 if there is none.
fn markup(html: &[u8]) -> usize {
    let up_to = |end: &[u8]| memmem::find(html, end).map_or(html.len(), |at| at + end.len());
    let is_name = |at: usize| html.get(at).is_some_and(u8::is_ascii_alphabetic);
    match html.get(1) {
        _ if !begins_markup(html) => 0,
        Some(b'!') if html.starts_with(b"<!--") => up_to(b"-->"),
        Some(b'/') if is_name(2) => tag_end(html, name_end(html, 2)),
        Some(_) if !is_name(1) => up_to(b">"),
        _ => {
            let end = name_end(html, 1);
            let content = tag_end(html, end);
            let name = &html[1..end];
            let is_without = name.len() <= LONGEST && NO_TEXT.iter().any(|other| name.eq_ignore_ascii_case(other));
            if is_without { content + length_of_content(&html[content..], name) } else { content }
        }
    }
}

/// The length of what comes before the end tag of this name.
fn length_of_content(html: &[u8], name: &[u8]) -> usize {
    let is_end = |at: &usize| html.get(at + 2..at + 2 + name.len()).is_some_and(|end| end.eq_ignore_ascii_case(name));
    memmem::find_iter(html, b"</").find(is_end).unwrap_or(html.len())
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\x0c' | b'\r')
}

/// The length of the no-break space at the beginning, in the ways that pages write it; 0 if there is none.
fn no_break_space(text: &[u8]) -> usize {
    let written: [&[u8]; 4] = [b"\xc2\xa0", b"&nbsp;", b"&#160;", b"&#xa0;"];
    written.iter().find(|space| text.starts_with(space)).map_or(0, |space| space.len())
}

#[cfg(test)]
mod tests {
    use super::{
        super::{collector::collect, element::LinkKinds, references::References, tags::Wanted},
        *,
    };

    #[test]
    fn white_space_and_tags_separate_words_however_the_page_is_read() {
        for (html, words) in [
            ("", 0),
            ("one  two\nthree", 3),
            ("<p>one</p><p>two</p>", 2),
            ("one<br>two<a href=x>three</a>four <b>five</b>", 5),
            ("<b class='>'>one</b>&nbsp;two\u{a0}three", 3),
            ("<p>&nbsp; &amp; R&D 1 < 2</p>", 5),
            ("i<5 </ no> b", 2),
            ("<!-- no --><!doctype html><?no more?>one", 1),
            ("<title>no</title><script>if (a</b>c) no</script>one<STYLE>no</style >", 1),
            ("<textarea>no <b>no</b></textarea>one<svg><text>two</text></svg>three", 3),
            ("<script>not closed", 0),
            ("<p", 0),
        ] {
            assert_eq!(of(html.as_bytes()), words, "{html}");
            let read = collect(html.as_bytes(), Wanted::Links(LinkKinds::Pages), References::default()).words.words();
            assert_eq!(read.unwrap_or_default(), words, "the reader: {html}");
        }
    }

    #[test]
    fn the_time_is_linear_in_end_tags_that_close_nothing() {
        let html = format!("<script>{}", "</a>".repeat(1 << 20));
        assert_eq!(of(html.as_bytes()), 0);
        assert_eq!(of("<script></script>".repeat(1 << 18).as_bytes()), 0);
    }
}
