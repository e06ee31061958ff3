//! What style sheets load: `url()`, `@import` and `image-set()`.
//!
//! Does not know: which rules of a style sheet apply.

use super::{edits::Edits, references::RewrittenReferences};
use crate::syntax;

/// How a style sheet begins that names its encoding.
const CHARSET: &str = "@charset \"";

/// The styles of an element, with other URLs; `None` if they stay as they are.
pub(super) fn rewritten(css: &str, references: &mut RewrittenReferences<'_>) -> Option<String> {
    edited(css, Edits::of(css), references)
}

/// A style sheet of its own, with other URLs and in UTF-8; `None` if it stays as it is.
pub(super) fn rewritten_sheet(css: &str, references: &mut RewrittenReferences<'_>) -> Option<String> {
    let mut edits = Edits::of(css);
    let charset = css.strip_prefix(CHARSET).and_then(|rest| rest.split_once('"'));
    if let Some((charset, _)) = charset.filter(|(charset, _)| !charset.eq_ignore_ascii_case("utf-8")) {
        edits.replace(CHARSET.len()..CHARSET.len() + charset.len(), "utf-8");
    }
    edited(css, edits, references)
}

fn edited(css: &str, mut edits: Edits<'_>, references: &mut RewrittenReferences<'_>) -> Option<String> {
    // Most styles of elements load nothing.
    if memchr::memchr2(b'(', b'@', css.as_bytes()).is_some() {
        syntax::urls_of_sheet(css, &mut |written| {
            if let Some(url) = references.target(written.text) {
                let url = quoted(&url);
                edits.replace(written.range, &if written.is_string { url } else { format!("url({url})") });
            }
        });
    }
    edits.changed()
}

/// A URL as a string. In a `style` element it does not end that.
fn quoted(url: &str) -> String {
    let mut string = String::with_capacity(url.len() + 2);
    string.push('"');
    for letter in url.chars() {
        match letter {
            '"' | '\\' => string.extend(['\\', letter]),
            '\n' => string.push_str("\\a "),
            '\r' => string.push_str("\\d "),
            '\x0c' => string.push_str("\\c "),
            '<' => string.push_str("\\3c "),
            _ => string.push(letter),
        }
    }
    string.push('"');
    string
}
