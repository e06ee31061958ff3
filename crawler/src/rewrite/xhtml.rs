//! XHTML that is read as HTML.

use std::{borrow::Cow, sync::LazyLock};

use regex::{Captures, Regex};

/// A tag that closes itself.
static CLOSED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"<([A-Za-z][A-Za-z0-9]*)((?:\s(?:"[^"]*"|'[^']*'|[^<>"'/]|/[^>])*)?)/>"#).expect("this is a pattern")
});

/// Elements without an end tag.
const VOID: [&str; 14] =
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"];

/// The page with end tags where HTML has them: there, no tag closes itself.
pub(crate) fn as_html(xhtml: &str) -> Cow<'_, str> {
    CLOSED.replace_all(xhtml, |found: &Captures<'_>| {
        let (name, rest) = (&found[1], &found[2]);
        if VOID.contains(&name.to_ascii_lowercase().as_str()) {
            found[0].to_owned()
        } else {
            format!("<{name}{rest}></{name}>")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_closes_itself_gets_an_end_tag() {
        for (text, expected) in [
            ("<script src='a/b'/><p>", "<script src='a/b'></script><p>"),
            ("<a id=\"x>\"/>b<br/><img src='y' />", "<a id=\"x>\"></a>b<br/><img src='y' />"),
            ("<title/>", "<title></title>"),
            ("<p>a</p>", "<p>a</p>"),
        ] {
            assert_eq!(as_html(text), expected);
        }
    }
}
