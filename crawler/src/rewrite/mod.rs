//! What archived pages and style sheets refer to is changed, and every other byte stays.
//!
//! Owns: where references are in HTML and CSS, how they are read, and how what takes their place is written.
//!
//! Does not know: where references lead then; its user says so.
//!
//! Invariants: it takes time and memory in proportion to the text, whatever the text is. What it has written it writes again the same way.

mod edits;
mod html;
mod markup;
mod reader;
mod references;
mod source_set;
mod style;
mod xhtml;

pub(crate) use xhtml::as_html;

use references::RewrittenReferences;
pub(crate) use references::{NOWHERE, ReferenceUse};
use url::Url;

/// A page that is changed.
#[derive(Debug)]
pub(crate) struct RewrittenPage<'p> {
    /// Where it is.
    pub(crate) url: &'p Url,
    /// What is added at the beginning of its head.
    pub(crate) head: &'p str,
}

/// Changes what a page refers to.
///
/// `target` gets each absolute `http` or `https` URL with its fragment, and answers what is written instead; by `None` the reference stays
/// as it is written. References to a part of the page itself stay too.
///
/// The page is to be saved as UTF-8, and says so. It has no base, no `http-equiv` and no checks of what it loads any more. A refresh leads
/// to another file, or it is none.
pub(crate) fn html(
    text: &str,
    page: &RewrittenPage<'_>,
    target: &mut dyn FnMut(&Url, ReferenceUse) -> Option<String>,
) -> String {
    let mut references = RewrittenReferences::of(text, page.url, target);
    html::rewritten(text, page.head, &mut references).unwrap_or_else(|| text.to_owned())
}

/// Changes what a drawing or another XML document refers to. What `target` has no answer for leads nowhere.
pub(crate) fn xml(text: &str, document: &Url, target: &mut dyn FnMut(&Url) -> Option<String>) -> String {
    let mut target = |url: &Url, _: ReferenceUse| Some(target(url).unwrap_or_else(|| NOWHERE.to_owned()));
    let mut references = RewrittenReferences::of(text, document, &mut target);
    html::rewritten_xml(text, &mut references).unwrap_or_else(|| text.to_owned())
}

/// Changes what a style sheet refers to, as [`html`] does; it is to be saved as UTF-8 too.
pub(crate) fn style_sheet(text: &str, sheet: &Url, target: &mut dyn FnMut(&Url) -> Option<String>) -> String {
    let mut target = |url: &Url, _: ReferenceUse| target(url);
    let mut references = RewrittenReferences::of(text, sheet, &mut target);
    style::rewritten_sheet(text, &mut references).unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
