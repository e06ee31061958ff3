//! [`Base`]: what references are resolved against, and how much of it each of them depends on.

use url::Url;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::url::WebUrl;

/// The longest base a page may set, in bytes: each of its links may become that long.
const LONGEST_BASE: usize = 2048;

/// What references are resolved against (HTML standard, 2.4.1 and 4.2.3).
#[derive(Debug)]
pub(super) struct Base {
    pub(super) url: WebUrl,
    /// The page's base is not on the web (`ftp:`, `about:`), or too long: only absolute references lead anywhere.
    pub(super) off_web: bool,
}

/// The hashes of what a reference may depend on.
#[derive(Debug)]
pub(super) struct BaseHashes {
    origin: u128,
    folder: u128,
    whole: u128,
}

impl Base {
    /// A base that cannot be parsed, and one that is `data:` or `javascript:`, is as if it were not there.
    pub(super) fn of(href: Option<&[u8]>, page: &WebUrl) -> Self {
        let Some(href) = href.map(String::from_utf8_lossy) else {
            return Self { url: page.clone(), off_web: false };
        };
        match page.join(&href) {
            Ok(url) if url.as_str().len() <= LONGEST_BASE => Self { url, off_web: false },
            Ok(_) => Self { url: page.clone(), off_web: true },
            Err(_) => Self { url: page.clone(), off_web: is_other_base(&href) },
        }
    }

    pub(super) fn join(&self, reference: &[u8]) -> Option<WebUrl> {
        let reference = &String::from_utf8_lossy(reference);
        if self.off_web { WebUrl::parse(reference).ok() } else { self.url.join(reference).ok() }
    }

    /// A reference as an absolute URL of any scheme, with its fragment. One that is absolute stays as it is written.
    pub(super) fn absolute(&self, reference: &str) -> Option<String> {
        let written = reference.trim_ascii();
        if Url::parse(written).is_ok_and(|url| !url.has_authority() || written.contains("://")) {
            return Some(written.to_owned());
        }
        let base = Url::parse(self.url.as_str()).ok().filter(|_| !self.off_web);
        let joined = base.map_or_else(|| Url::parse(reference), |base| base.join(reference));
        joined.ok().map(String::from)
    }

    /// None where references are not resolved as they are elsewhere.
    pub(super) fn hashes(&self, seed: u64) -> Option<BaseHashes> {
        let text = self.url.as_str();
        let path = text.len() - self.url.path_and_query().len();
        let folder = path + self.url.path().rfind('/').map_or(0, |slash| slash + 1);
        // No reference and no base may have one hash: they are combined.
        let hash = |part: &str| xxh3_128_with_seed(part.as_bytes(), seed.rotate_left(32));
        let hashes = || BaseHashes { origin: hash(&text[..path]), folder: hash(&text[..folder]), whole: hash(text) };
        (!self.off_web).then(hashes)
    }
}

impl BaseHashes {
    /// What two bases must have in common for a trimmed reference to lead to one URL from both. Where in doubt, all.
    pub(super) fn needed_by(&self, reference: &[u8]) -> u128 {
        let starts = |scheme: &[u8]| reference.get(..scheme.len()).is_some_and(|it| it.eq_ignore_ascii_case(scheme));
        // The URL parser takes tabs and line ends out, wherever they are.
        if memchr::memchr3(b'\t', b'\n', b'\r', reference).is_some() {
            return self.whole;
        }
        match reference.first() {
            None | Some(b'?' | b'#' | b'\\') => self.whole,
            Some(b'/') => self.origin,
            _ if starts(b"http://") || starts(b"https://") => 0,
            // `http:x` is relative to a base of that scheme.
            _ if memchr::memchr(b':', reference).is_some() => self.whole,
            _ => self.folder,
        }
    }
}

/// Whether a `base` that is no web URL is one all the same.
fn is_other_base(href: &str) -> bool {
    Url::parse(href).is_ok_and(|url| !matches!(url.scheme(), "http" | "https" | "data" | "javascript"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn base(text: &str) -> Base {
        Base { url: WebUrl::parse(text).unwrap(), off_web: false }
    }

    #[test]
    fn a_reference_needs_no_more_of_the_base_than_it_uses() {
        let needed = |base_url, reference: &str| base(base_url).hashes(1).unwrap().needed_by(reference.as_bytes());
        for (reference, same, other) in [
            ("b.html", ["http://h/a/x?q", "http://h/a/y"], "http://h/b/x"),
            ("/b", ["http://h/a/x", "http://h/"], "https://h/a/x"),
            ("//o/b", ["http://h/a/x", "http://h/"], "https://h/a/x"),
            ("?q", ["http://h/a/x", "http://h/a/x"], "http://h/a/y"),
            ("", ["http://h/a/x", "http://h/a/x"], "http://h/a/x?q"),
        ] {
            assert_eq!(needed(same[0], reference), needed(same[1], reference), "{reference}");
            assert_ne!(needed(same[0], reference), needed(other, reference), "{reference}");
        }
        assert_eq!(needed("http://h/a/x", "http://o/"), needed("https://i/", "http://o/"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]
        #[test]
        fn what_is_needed_decides_where_a_reference_leads(
            one in "https?://(u@)?h(:8)?/([ab]/){0,2}[ab]?([?][ab]?)?",
            two in "https?://(u@)?h(:8)?/([ab]/){0,2}[ab]?([?][ab]?)?",
            reference in "(http:|HTTPS:|x:)?[/\\\\.?#:ab\t\n ]{0,6}",
        ) {
            let reference = reference.trim_matches(|c| c <= ' ').as_bytes();
            let (one, two) = (base(&one), base(&two));
            let [first, second] = [&one, &two].map(|base| base.hashes(1).unwrap().needed_by(reference));
            prop_assert!(first != second || one.join(reference) == two.join(reference));
        }
    }
}
