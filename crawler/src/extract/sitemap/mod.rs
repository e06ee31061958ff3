//! From the bytes of a sitemap or a feed to the URLs that it names, and what it says of them.
//!
//! Owns: what is a source ([`SourceKind`]: XML sitemaps and indexes of them, text sitemaps, RSS, Atom), its entries ([`SourceEntry`]), and
//! what is wrong with it ([`SourceProblem`]). A body in gzip is unpacked.
//!
//! Invariants: it never fails and never panics, whatever the bytes. Memory is linear in the body, or in what comes out of gzip, which
//! [`SourceLimits`] bound; no tree is built. Each URL is reported once, in document order, absolute, without its fragment. What is read of
//! the beginning of an XML document is also read of the whole: a URL that is cut off is not reported.
//!
//! It is as lenient as servers are careless: `xml` finds the root behind whatever precedes it; `outline` finds entries and their fields
//! in tags that do not match; `urlset` and `feed` know the words. Entities that a document defines are never resolved, and nothing that it
//! names is opened.
//!
//! Does not know: scope, robots.txt, which URLs a sitemap may speak for, or how deep indexes may be nested.

mod date;
mod elements;
mod feed;
mod gathering;
mod list;
mod outline;
mod problem;
#[cfg(test)]
mod tests;
mod text;
mod unpacked;
mod urlset;
mod xml;

use gathering::Gathering;
pub use list::{ChangeFrequency, SourceEntry, SourceKind, SourceLimits, SourceList};
pub use problem::{SourceFault, SourceProblem};
use unpacked::Unpacked;

use super::charset;
use crate::url::WebUrl;

/// Reads a whole body.
///
/// ```
/// use webloom::internals::{extract::sitemap::{self, SourceKind, SourceLimits}, url::WebUrl};
/// let url = WebUrl::parse("https://example.org/sitemap.xml")?;
/// let body = b"<urlset><url><loc>https://example.org/a</loc><priority>0.8</priority></url></urlset>";
/// let list = sitemap::read(body, Some("application/xml"), &url, &SourceLimits::default());
/// assert_eq!(list.kind, Some(SourceKind::Urlset));
/// assert_eq!((list.entries[0].url.as_str(), list.entries[0].priority), ("https://example.org/a", Some(0.8)));
/// # Ok::<(), webloom::internals::url::UrlError>(())
/// ```
pub fn read(body: &[u8], content_type: Option<&str>, url: &WebUrl, limits: &SourceLimits) -> SourceList {
    read_unpacked(&Unpacked::of(body, limits.bytes), content_type, url, limits)
}

/// Reads the beginning of a body whose end did not arrive: its last line may be half a URL.
pub fn read_beginning(body: &[u8], content_type: Option<&str>, url: &WebUrl, limits: &SourceLimits) -> SourceList {
    let unpacked = Unpacked::of(body, limits.bytes);
    let fault = unpacked.fault.or(Some(SourceFault::Unfinished));
    read_unpacked(&Unpacked { fault, ..unpacked }, content_type, url, limits)
}

/// Whether a body begins as gzip does.
pub fn is_gzip(body: &[u8]) -> bool {
    body.starts_with(unpacked::GZIP)
}

fn read_unpacked(
    unpacked: &Unpacked<'_>,
    content_type: Option<&str>,
    url: &WebUrl,
    limits: &SourceLimits,
) -> SourceList {
    let decoded = charset::decode(without_space(&unpacked.bytes), content_type, url).html;
    let text = String::from_utf8_lossy(&decoded);
    let mut gathering = Gathering::new(url, limits);
    if let Some(fault) = unpacked.fault {
        gathering.problem(fault, "");
    }
    let kind = xml::read(&text, &mut gathering).or_else(|| {
        let text = if unpacked.fault.is_some() { whole_lines(&text) } else { &text };
        text::read(text, content_type, &mut gathering)
    });
    gathering.into_list(kind)
}

/// White space before the XML declaration would hide the charset that it names.
fn without_space(body: &[u8]) -> &[u8] {
    let trimmed = body.trim_ascii_start();
    if trimmed.starts_with(b"<?xml") { trimmed } else { body }
}

fn whole_lines(text: &str) -> &str {
    text.rfind(['\n', '\r']).map_or("", |end| &text[..end])
}
