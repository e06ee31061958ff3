//! Tags read without the tokenizer: where they end, and what the attributes of a plain one say.
//!
//! It follows the tokenizer's states letter by letter (HTML standard, 13.2.5.32 to 13.2.5.40). What those states would
//! change in a value (character references, line ends, NUL) is left to the tokenizer: [`Attribute::is_plain`].

use memchr::{memchr, memchr3};

/// An attribute as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attribute<'a> {
    /// In whatever case.
    pub(super) name: &'a [u8],
    /// Between its quotes; empty where there is none.
    pub(super) value: &'a [u8],
}

impl Attribute<'_> {
    /// Whether the tokenizer would take the value unchanged.
    pub(super) fn is_plain(&self) -> bool {
        memchr3(b'&', b'\r', 0, self.value).is_none()
    }
}

/// The attributes of a tag, one after the other.
#[derive(Debug)]
pub(super) struct Attributes<'a> {
    html: &'a [u8],
    at: usize,
    closed: bool,
}

impl<'a> Attributes<'a> {
    /// Of the tag in `html` whose name ends at `at`.
    #[inline]
    pub(super) fn new(html: &'a [u8], at: usize) -> Self {
        Self { html, at, closed: false }
    }

    /// Where the tag ends (behind its `>`), once all attributes were taken; none if the page ends in it, so that it is no
    /// tag.
    pub(super) fn end(&self) -> Option<usize> {
        self.closed.then_some(self.at)
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = Attribute<'a>;

    #[inline]
    fn next(&mut self) -> Option<Attribute<'a>> {
        loop {
            match *self.html.get(self.at)? {
                b'>' => {
                    self.at += 1;
                    self.closed = true;
                    return None;
                }
                byte if byte == b'/' || is_space(byte) => self.at += 1,
                _ => {
                    let (attribute, end) = attribute(self.html, self.at);
                    self.at = end;
                    return Some(attribute);
                }
            }
        }
    }
}

/// The attribute that starts at `at`, and where it ends. Its first byte belongs to the name, even if it is `=`.
#[inline]
fn attribute(html: &[u8], at: usize) -> (Attribute<'_>, usize) {
    let name_end = skip(html, at + 1, |byte| !is_space(byte) && !matches!(byte, b'/' | b'>' | b'='));
    let name = &html[at..name_end];
    let equals = skip(html, name_end, is_space);
    if html.get(equals) != Some(&b'=') {
        return (Attribute { name, value: &[] }, equals);
    }
    let start = skip(html, equals + 1, is_space);
    if let Some(quote @ (b'"' | b'\'')) = html.get(start) {
        let inside = &html[start + 1..];
        let length = memchr(*quote, inside);
        let value = &inside[..length.unwrap_or(inside.len())];
        return (Attribute { name, value }, length.map_or(html.len(), |length| start + length + 2));
    }
    let end = skip(html, start, |byte| !is_space(byte) && byte != b'>');
    (Attribute { name, value: &html[start..end] }, end)
}

/// Where the tag ends whose name ends at `at`: behind its `>`, or at the end of the page.
#[inline]
pub(super) fn tag_end(html: &[u8], at: usize) -> usize {
    let mut attributes = Attributes::new(html, at);
    while attributes.next().is_some() {}
    attributes.at
}

/// Where the tag name ends that starts at `at`.
#[inline]
pub(super) fn name_end(html: &[u8], at: usize) -> usize {
    skip(html, at, |byte| !is_space(byte) && !matches!(byte, b'/' | b'>'))
}

#[inline]
fn skip(html: &[u8], at: usize, passes: impl Fn(u8) -> bool) -> usize {
    html[at..].iter().position(|byte| !passes(*byte)).map_or(html.len(), |length| at + length)
}

#[inline]
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\x0c' | b'\r')
}

/// Whether a link with this `rel` is not to be followed.
pub(super) fn is_nofollow(rel: &[u8]) -> bool {
    has_token(rel, b"nofollow")
}

/// Whether a space-separated attribute value has this token, in any case.
pub(super) fn has_token(value: &[u8], token: &[u8]) -> bool {
    value.split(|byte| byte.is_ascii_whitespace() || *byte == b',').any(|one| one.eq_ignore_ascii_case(token))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tag: &str) -> (Vec<(&str, &str)>, Option<usize>) {
        let mut attributes = Attributes::new(tag.as_bytes(), name_end(tag.as_bytes(), 1));
        let text = |bytes| std::str::from_utf8(bytes).unwrap();
        let all = (&mut attributes).map(|one| (text(one.name), text(one.value))).collect();
        (all, attributes.end())
    }

    #[test]
    fn names_and_values_are_those_of_the_state_machine() {
        assert_eq!(read("<a href=x REL='a b'>").0, [("href", "x"), ("REL", "a b")]);
        assert_eq!(read("<a/b/ c = \">\"d>").0, [("b", ""), ("c", ">"), ("d", "")]);
        assert_eq!(read("<a =b=c/d e=/>").0, [("=b", "c/d"), ("e", "/")]);
        assert_eq!(read("<a x= >").0, [("x", "")]);
    }

    #[test]
    fn a_tag_without_an_end_is_none() {
        assert_eq!(read("<a b>c").1, Some(5));
        for tag in ["<a", "<a b", "<a b=", "<a b='>"] {
            assert_eq!(read(tag).1, None, "{tag}");
        }
    }

    #[test]
    fn what_the_tokenizer_would_change_is_not_plain() {
        for (value, plain) in [("a b", true), ("a&b", false), ("a\r", false), ("\0", false)] {
            assert_eq!(Attribute { name: b"x", value: value.as_bytes() }.is_plain(), plain, "{value:?}");
        }
    }
}
