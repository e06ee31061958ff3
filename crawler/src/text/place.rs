//! [`ElementPath`]: in which elements a line is.

use std::fmt;

/// The number of an element that divides a page into lines, 0 of any other: the same in every release, because paths are stored.
const fn number(name: &[u8]) -> u8 {
    match name {
        b"html" => 1,
        b"head" => 2,
        b"body" => 3,
        b"main" => 4,
        b"div" => 5,
        b"p" => 6,
        b"h1" => 7,
        b"h2" => 8,
        b"h3" => 9,
        b"h4" => 10,
        b"h5" => 11,
        b"h6" => 12,
        b"ul" => 13,
        b"ol" => 14,
        b"li" => 15,
        b"dl" => 16,
        b"dt" => 17,
        b"dd" => 18,
        b"table" => 19,
        b"thead" => 20,
        b"tbody" => 21,
        b"tfoot" => 22,
        b"tr" => 23,
        b"th" => 24,
        b"td" => 25,
        b"caption" => 26,
        b"section" => 27,
        b"article" => 28,
        b"aside" => 29,
        b"nav" => 30,
        b"header" => 31,
        b"footer" => 32,
        b"form" => 33,
        b"fieldset" => 34,
        b"legend" => 35,
        b"select" => 36,
        b"option" => 37,
        b"optgroup" => 38,
        b"button" => 39,
        b"textarea" => 40,
        b"pre" => 41,
        b"listing" => 42,
        b"xmp" => 43,
        b"blockquote" => 44,
        b"figure" => 45,
        b"figcaption" => 46,
        b"address" => 47,
        b"details" => 48,
        b"summary" => 49,
        b"dialog" => 50,
        b"menu" => 51,
        b"dir" => 52,
        b"center" => 53,
        b"hgroup" => 54,
        b"search" => 55,
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
        match number(name) {
            0 => self,
            number => Self(((self.0 << BITS) | number as u64) & ((1 << (10 * BITS)) - 1)),
        }
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
