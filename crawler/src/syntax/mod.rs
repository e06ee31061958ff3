//! How references are written in HTML and CSS: what reading a page and rewriting it share.
//!
//! Owns: which tags are SVG or `MathML` ([`Foreign`]), where the URLs of style sheets and of `srcset` are.
//!
//! Does not know: where references lead, and what becomes of them.

mod foreign;
mod sheet;
mod srcset;

pub(crate) use foreign::{Foreign, may_change_namespace};
pub(crate) use sheet::{WrittenUrl, urls_of_sheet};
pub(crate) use srcset::urls_of_source_set;
