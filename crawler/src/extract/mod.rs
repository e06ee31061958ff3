//! From the bytes of a page to its links, base, title and robots directives, and to its text.
//!
//! Owns: which bytes are HTML ([`is_html`]), in which charset (byte order mark, header, meta prescan, guess), which tags and attributes
//! name other pages ([`LinkKinds`], [`links`]) or anything else ([`everything`]), which pages the header `Link` names
//! ([`link_header`]), and what `<meta name=robots>` and `X-Robots-Tag` ask for
//! ([`MetaRobots`]). On request ([`Reading`]), the text of the page, without the parts that are to be left out ([`Omitted`]).
//! Sitemaps and feeds are read by [`sitemap`], which shares only the charsets with the rest.
//!
//! Invariants: it never fails and never panics, whatever the bytes; its time and memory are linear in them. A page in UTF-8 or ASCII is not
//! copied. Each URL is reported once, in document order, absolute, without its fragment; one raw `href` is parsed once at most.
//! [`RawLinks`] are not parsed at all; their hashes identify links that were parsed before.
//!
//! Tokenising is html5gum's. On top of it, only what can matter is looked at: `reader` skips unwanted text and tags, and reads plain links
//! itself, `collector` keeps the attributes of interest, [`Foreign`](crate::syntax::Foreign) knows just enough of tree construction to tell SVG and `MathML` from
//! HTML. `lines` gets the text, in the same pass. No tree is built (except where parts of a text are left out by CSS selector, for that
//! text alone): a link counts where its tag is, in `<select>`, `<template>` or `<noscript>` too (scripts do not run here).
//!
//! Does not know: scope, robots.txt, whether a link will be followed. Queries are encoded as UTF-8 in every charset
//! (the URL standard would take the document's encoding; the extraction cases, and what sites emit today, are UTF-8).

mod anchor_text;
mod anchors;
mod arena;
mod attention;
mod attributes;
mod base;
mod charset;
mod collected;
mod collector;
mod directives;
mod element;
mod fields;
mod head;
mod header;
mod html;
mod labels;
mod lines;
mod listed;
mod log_in;
mod omitted;
mod page;
mod parts;
mod prescan;
mod reader;
mod reading;
mod references;
mod refresh;
mod relations;
mod sheets;
mod shell;
pub mod sitemap;
mod tags;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod text_tests;
mod tokens;
mod tree;
mod word_count;

pub use anchors::{AnchorLink, AnchorNames, PageAnchors, anchors};
pub use arena::{RawLink, RawLinks, ReferenceHash};
pub use directives::{MetaRobots, robots_header};
pub use element::{Element, LinkKinds};
pub use fields::{FieldError, FieldRule, FieldRules, PageFields};
pub use head::PageHead;
pub use header::{HeaderLink, HeaderLinks, link_header};
pub use html::is_html;
pub use labels::Label;
pub use lines::ImageText;
pub use listed::{listed, listed_lastmod, listed_priority, none_of};
pub use log_in::{PageLook, page_look};
pub use omitted::{Omitted, SelectorError};
pub use page::{PageLink, PageLinks, PageReferences, ScannedPage, decoded, everything, links, plain_text, scan};
pub use parts::{PagePart, parts};
pub use reading::{BesideLinks, PartsWanted, Reading};
pub use references::{LinkLimits, ReferenceSeed};
pub use sheets::{SheetPart, sheet_parts};
