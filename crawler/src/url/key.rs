//! [`Key`]: the canonical form of a URL.

use std::fmt;

use super::WebUrl;

/// What identifies a page: equal keys are one page.
///
/// By default nothing is merged but what the WHATWG parser and the dropped fragment merge: path case, query order and a trailing slash are kept.
///
/// ```
/// use webloom::url::{Key, WebUrl};
/// let one = Key::of(&WebUrl::parse("http://EXAMPLE.org:80/a/./b#x")?);
/// let two = Key::of(&WebUrl::parse("http://example.org/a/b")?);
/// assert_eq!(one, two);
/// # Ok::<(), webloom::url::UrlError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(Box<str>);

impl Key {
    /// The key of a URL: the only constructor.
    pub fn of(url: &WebUrl) -> Self {
        Self(url.as_str().into())
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn building_twice_changes_nothing(path in "[ -~]{0,30}", query in "[ -~]{0,20}") {
            if let Ok(url) = WebUrl::parse(&format!("http://h.example/{path}?{query}")) {
                let key = Key::of(&url);
                let again = Key::of(&WebUrl::parse(key.as_str()).unwrap());
                prop_assert_eq!(key, again);
            }
        }
    }
}
