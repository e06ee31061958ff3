//! [`Markup`]: the parts of a page that refer to something, or that keep a copy of it from being shown.
//!
//! Owns: which attributes those are.
//!
//! Does not know: what becomes of them.

use std::ops::Range;

/// What is changed in a page.
#[derive(Debug, Default)]
pub(super) struct Markup {
    /// In the order of the page.
    pub(super) parts: Vec<Part>,
    /// What the first `base` says, as it is written.
    pub(super) base: Option<String>,
    /// Where the head begins, as far as the page says so.
    pub(super) head: usize,
}

/// A part of a page.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) kind: PartKind,
    /// Its bytes: of a value with its quotes, of what is left out the whole attribute.
    pub(super) range: Range<usize>,
    /// Its text, without character references. Empty for what is left out.
    pub(super) text: String,
}

/// What a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartKind {
    /// The value of an attribute: a URL.
    Url,
    /// The same: of a document that is shown within the page.
    Frame,
    /// The same: the type of a script, which may be rules for what is loaded in advance.
    Speculation,
    /// The same: a `srcset`.
    SourceSet,
    /// The same: declarations of a style.
    Style,
    /// The same: a page of its own.
    Document,
    /// The same: the encoding of the page.
    Charset,
    /// The same: after how many seconds what is shown instead.
    Refresh,
    /// The same: relations to what a `link` names.
    Relations,
    /// An attribute that is left out.
    Dropped,
    /// A text in which nothing is escaped: a style sheet.
    Sheet,
    /// The same in SVG, where it is text as any other.
    DrawnSheet,
}

/// Attributes with the elements that have them; an empty name means all elements. The first that fits counts.
pub(super) const ATTRIBUTES: [(&str, &str, PartKind); 25] = [
    ("iframe", "src", PartKind::Frame),
    ("frame", "src", PartKind::Frame),
    ("embed", "src", PartKind::Frame),
    ("script", "type", PartKind::Speculation),
    ("base", "href", PartKind::Dropped),
    ("meta", "http-equiv", PartKind::Dropped),
    ("meta", "content", PartKind::Refresh),
    ("link", "rel", PartKind::Relations),
    ("", "integrity", PartKind::Dropped),
    ("", "crossorigin", PartKind::Dropped),
    ("", "nonce", PartKind::Dropped),
    ("meta", "charset", PartKind::Charset),
    ("iframe", "srcdoc", PartKind::Document),
    ("", "style", PartKind::Style),
    ("", "srcset", PartKind::SourceSet),
    ("", "imagesrcset", PartKind::SourceSet),
    ("object", "data", PartKind::Frame),
    ("", "href", PartKind::Url),
    ("", "src", PartKind::Url),
    ("", "data-src", PartKind::Url),
    ("", "poster", PartKind::Url),
    ("", "action", PartKind::Url),
    ("", "formaction", PartKind::Url),
    ("", "background", PartKind::Url),
    ("", "xlink:href", PartKind::Url),
];
