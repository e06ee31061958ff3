//! [`Canonicalizer`]: the rules by which a URL becomes a key.

use thiserror::Error;

use super::{Fingerprint, FingerprintSeed, Key, WebUrl};

/// What makes keys of URLs. Whoever compares two keys, or their fingerprints, must have made both by the same rules: so a
/// crawl directory keeps the [name](Self::name) of its rules.
///
/// There is one set of rules today, `whatwg`: nothing is merged but what the WHATWG parser and the dropped fragment merge.
/// Path case, query order and a trailing slash are kept.
///
/// ```
/// use webloom::internals::url::{Canonicalizer, WebUrl};
/// let rules = Canonicalizer::default();
/// let one = rules.key(&WebUrl::parse("http://EXAMPLE.org:80/a/./b#x")?);
/// let two = rules.key(&WebUrl::parse("http://example.org/a/b")?);
/// assert_eq!(one, two);
/// assert_eq!(Canonicalizer::named(rules.name()), Ok(rules));
/// # Ok::<(), webloom::internals::url::UrlError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Canonicalizer(());

/// No rules have this name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("its keys are made by the rules {0:?}, which this version does not know: use the version that began the crawl")]
pub struct UnknownRules(pub String);

/// The name of the only rules.
const WHATWG: &str = "whatwg";

impl Canonicalizer {
    /// The rules of this name.
    ///
    /// # Errors
    /// [`UnknownRules`] when this version has none.
    pub fn named(name: &str) -> Result<Self, UnknownRules> {
        if name == WHATWG { Ok(Self(())) } else { Err(UnknownRules(name.to_owned())) }
    }

    /// The name by which a crawl directory keeps these rules.
    pub fn name(self) -> &'static str {
        WHATWG
    }

    /// The key of a URL.
    pub fn key(self, url: &WebUrl) -> Key {
        Key::of(self.text(url))
    }

    /// The fingerprint of a URL's key, for those who need no key.
    pub fn fingerprint(self, url: &WebUrl, seed: FingerprintSeed) -> Fingerprint {
        seed.of_text(self.text(url))
    }

    #[expect(clippy::unused_self, reason = "every rule to come is one of the value's")]
    fn text(self, url: &WebUrl) -> &str {
        url.as_str()
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
                let (rules, seed) = (Canonicalizer::default(), FingerprintSeed::new(1));
                let key = rules.key(&url);
                prop_assert_eq!(rules.fingerprint(&url, seed), seed.fingerprint(&key));
                let again = rules.key(&WebUrl::parse(key.as_str()).unwrap());
                prop_assert_eq!(key, again);
            }
        }
    }
}
