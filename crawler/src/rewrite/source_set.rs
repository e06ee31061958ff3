//! `srcset`: images of which a browser takes one.

use super::{edits::Edits, references::RewrittenReferences};
use crate::syntax::urls_of_source_set;

/// A `srcset` with other URLs; `None` if it stays as it is.
pub(super) fn rewritten(set: &str, references: &mut RewrittenReferences<'_>) -> Option<String> {
    let mut edits = Edits::of(set);
    for url in urls_of_source_set(set.as_bytes()) {
        if let Some(new) = references.target(&set[url.clone()]) {
            edits.replace(url, &spelled(&new));
        }
    }
    edits.changed()
}

/// A URL as it may be in a `srcset`: without spaces, and without commas where one would end it.
fn spelled(url: &str) -> String {
    let url: String = url.chars().filter(|letter| !letter.is_ascii_whitespace() || *letter == ' ').collect();
    let url = url.replace(' ', "%20");
    let inner = url.trim_matches(',');
    if inner.len() == url.len() { url } else { url.replace(',', "%2C") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_url_is_encoded() {
        for (url, expected) in [("a b,c", "a%20b,c"), ("a,", "a%2C"), (",a,b", "%2Ca%2Cb"), ("a\nb", "ab")] {
            assert_eq!(spelled(url), expected);
        }
    }
}
