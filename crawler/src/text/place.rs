//! [`ElementPath`]: in which elements a line is.

use std::fmt;

/// The number of an element that divides a page into lines, 0 of any other: the same in every release, because paths are stored. It is
/// asked for at each tag, so letters are compared one by one.
const fn number(name: &[u8]) -> u8 {
    match name {
        [b'h', b't', b'm', b'l'] => 1,
        [b'h', b'e', b'a', b'd'] => 2,
        [b'b', b'o', b'd', b'y'] => 3,
        [b'm', b'a', b'i', b'n'] => 4,
        [b'd', b'i', b'v'] => 5,
        [b'p'] => 6,
        [b'h', b'1'] => 7,
        [b'h', b'2'] => 8,
        [b'h', b'3'] => 9,
        [b'h', b'4'] => 10,
        [b'h', b'5'] => 11,
        [b'h', b'6'] => 12,
        [b'u', b'l'] => 13,
        [b'o', b'l'] => 14,
        [b'l', b'i'] => 15,
        [b'd', b'l'] => 16,
        [b'd', b't'] => 17,
        [b'd', b'd'] => 18,
        [b't', b'a', b'b', b'l', b'e'] => 19,
        [b't', b'h', b'e', b'a', b'd'] => 20,
        [b't', b'b', b'o', b'd', b'y'] => 21,
        [b't', b'f', b'o', b'o', b't'] => 22,
        [b't', b'r'] => 23,
        [b't', b'h'] => 24,
        [b't', b'd'] => 25,
        [b'c', b'a', b'p', b't', b'i', b'o', b'n'] => 26,
        [b's', b'e', b'c', b't', b'i', b'o', b'n'] => 27,
        [b'a', b'r', b't', b'i', b'c', b'l', b'e'] => 28,
        [b'a', b's', b'i', b'd', b'e'] => 29,
        [b'n', b'a', b'v'] => 30,
        [b'h', b'e', b'a', b'd', b'e', b'r'] => 31,
        [b'f', b'o', b'o', b't', b'e', b'r'] => 32,
        [b'f', b'o', b'r', b'm'] => 33,
        [b'f', b'i', b'e', b'l', b'd', b's', b'e', b't'] => 34,
        [b'l', b'e', b'g', b'e', b'n', b'd'] => 35,
        [b's', b'e', b'l', b'e', b'c', b't'] => 36,
        [b'o', b'p', b't', b'i', b'o', b'n'] => 37,
        [b'o', b'p', b't', b'g', b'r', b'o', b'u', b'p'] => 38,
        [b'b', b'u', b't', b't', b'o', b'n'] => 39,
        [b't', b'e', b'x', b't', b'a', b'r', b'e', b'a'] => 40,
        [b'p', b'r', b'e'] => 41,
        [b'l', b'i', b's', b't', b'i', b'n', b'g'] => 42,
        [b'x', b'm', b'p'] => 43,
        [b'b', b'l', b'o', b'c', b'k', b'q', b'u', b'o', b't', b'e'] => 44,
        [b'f', b'i', b'g', b'u', b'r', b'e'] => 45,
        [b'f', b'i', b'g', b'c', b'a', b'p', b't', b'i', b'o', b'n'] => 46,
        [b'a', b'd', b'd', b'r', b'e', b's', b's'] => 47,
        [b'd', b'e', b't', b'a', b'i', b'l', b's'] => 48,
        [b's', b'u', b'm', b'm', b'a', b'r', b'y'] => 49,
        [b'd', b'i', b'a', b'l', b'o', b'g'] => 50,
        [b'm', b'e', b'n', b'u'] => 51,
        [b'd', b'i', b'r'] => 52,
        [b'c', b'e', b'n', b't', b'e', b'r'] => 53,
        [b'h', b'g', b'r', b'o', b'u', b'p'] => 54,
        [b's', b'e', b'a', b'r', b'c', b'h'] => 55,
        _ => 0,
    }
}

/// The names, by the numbers.
const NAMES: [&str; 56] = [
    "",
    "html",
    "head",
    "body",
    "main",
    "div",
    "p",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "ul",
    "ol",
    "li",
    "dl",
    "dt",
    "dd",
    "table",
    "thead",
    "tbody",
    "tfoot",
    "tr",
    "th",
    "td",
    "caption",
    "section",
    "article",
    "aside",
    "nav",
    "header",
    "footer",
    "form",
    "fieldset",
    "legend",
    "select",
    "option",
    "optgroup",
    "button",
    "textarea",
    "pre",
    "listing",
    "xmp",
    "blockquote",
    "figure",
    "figcaption",
    "address",
    "details",
    "summary",
    "dialog",
    "menu",
    "dir",
    "center",
    "hgroup",
    "search",
];

/// Bits of a number.
const BITS: u32 = 6;

/// The innermost block elements around a line, ten at most.
///
/// ```
/// use webloom::internals::text::ElementPath;
/// let path = ElementPath::default().inside(b"body").inside(b"ul").inside(b"li");
/// assert_eq!(path.to_string(), "body > ul > li");
/// assert!(path.is_item() && !path.is_heading());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ElementPath(u64);

impl ElementPath {
    /// That of what is in an element of this name here; the same where the name is no block's.
    #[must_use]
    pub const fn inside(self, name: &[u8]) -> Self {
        self.with(Self(number(name) as u64))
    }

    /// The same with what another path ends with, of one element or none.
    #[must_use]
    pub const fn with(self, element: Self) -> Self {
        if element.0 == 0 { self } else { Self(((self.0 << BITS) | element.0) & ((1 << (10 * BITS)) - 1)) }
    }

    /// The one with this number.
    pub const fn of_number(number: u64) -> Self {
        Self(number)
    }

    /// Its number, the same in every release.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// Whether the line is a heading.
    pub fn is_heading(self) -> bool {
        matches!(self.last(), "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
    }

    /// Whether the line is one of several of its kind: an item of a list, a cell of a table, a choice.
    pub fn is_item(self) -> bool {
        matches!(self.last(), "li" | "dt" | "dd" | "td" | "th" | "option")
    }

    /// That of the innermost element alone.
    #[must_use]
    pub const fn innermost(self) -> Self {
        Self(self.0 & ((1 << BITS) - 1))
    }

    fn last(self) -> &'static str {
        Self::name(self.0)
    }

    fn name(numbers: u64) -> &'static str {
        let last = usize::try_from(numbers & ((1 << BITS) - 1)).unwrap_or_default();
        NAMES.get(last).copied().unwrap_or_default()
    }
}

impl fmt::Display for ElementPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = (0..10).rev().map(|place| self.0 >> (place * BITS));
        let names: Vec<_> = numbers.map(Self::name).filter(|name| !name.is_empty()).collect();
        f.write_str(&names.join(" > "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_elements_are_known() {
        let mut path = ElementPath::default();
        assert_eq!(path.to_string(), "");
        for name in ["html", "body", "span", "div", "div", "div", "div", "div", "div", "div", "div", "h2"] {
            path = path.inside(name.as_bytes());
        }
        assert_eq!(path.to_string(), "body > div > div > div > div > div > div > div > div > h2");
        assert!(path.is_heading() && !path.is_item());
        assert_eq!(ElementPath::of_number(path.number()), path);
        for (place, name) in NAMES.iter().enumerate() {
            assert_eq!(usize::from(number(name.as_bytes())), place, "{name}");
        }
        assert_eq!(ElementPath::of_number(u64::MAX).to_string(), "", "no element has that number");
    }
}
