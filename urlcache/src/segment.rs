//! [`segments`]: a URL's parts, for filters that look at them.
//!
//! Invariant: joined with `/`, the parts are the URL again, so different URLs have different parts. It reads bytes, not
//! URLs: whatever it is given it splits, and never fails.

/// The parts of a URL: scheme with authority, then one a path segment, at most `most` (at least 1).
///
/// Scheme, user, host and port are one part (`https://h:8080`): what shares a host shares its first part. A path that
/// ends in `/` has an empty last part. Query and fragment belong to the last part, slashes and all. A URL with more
/// parts than `most` keeps its whole rest in the last one.
///
/// ```
/// use urlcache::segments;
///
/// let parts = |url: &'static str, most| -> Vec<_> { segments(url.as_bytes(), most).collect() };
/// assert_eq!(parts("http://h/a/b?q=1/2", 8), [&b"http://h"[..], b"a", b"b?q=1/2"]);
/// assert_eq!(parts("http://h/a//b/", 8), [&b"http://h"[..], b"a", b"", b"b", b""]);
/// assert_eq!(parts("http://h/a/b/c", 2), [&b"http://h"[..], b"a/b/c"]);
/// ```
pub fn segments(url: &[u8], most: usize) -> impl Iterator<Item = &[u8]> {
    let scheme = url.windows(3).position(|three| three == b"://").map_or(0, |at| at + 3);
    let end_of_path = url.iter().position(|byte| matches!(byte, b'?' | b'#')).unwrap_or(url.len());
    // A colon and slashes in a query are no scheme.
    let from = if scheme <= end_of_path { scheme } else { 0 };
    let slashes = move |byte: &usize| url[*byte] == b'/';
    let mut cuts = (from..end_of_path).filter(slashes).take(most.max(1) - 1);
    let mut start = Some(0);
    std::iter::from_fn(move || {
        let from = start?;
        let cut = cuts.next();
        start = cut.map(|at| at + 1);
        Some(&url[from..cut.unwrap_or(url.len())])
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn joined_they_are_the_url(url in "([a-z]{0,5}(://)?)?[ab/?#:]{0,20}", most in 0_usize..9) {
            let parts: Vec<&[u8]> = segments(url.as_bytes(), most).collect();
            prop_assert!((1..=most.max(1)).contains(&parts.len()));
            prop_assert_eq!(parts.join(&b"/"[..]), url.as_bytes());
        }

        #[test]
        fn any_bytes_are_split(url in prop::collection::vec(any::<u8>(), 0..60), most in 0_usize..9) {
            let parts: Vec<&[u8]> = segments(&url, most).collect();
            prop_assert_eq!(parts.join(&b'/'), url);
        }
    }

    #[test]
    fn odd_urls_are_split_too() {
        let parts = |url: &'static [u8]| segments(url, 9).collect::<Vec<_>>();
        assert_eq!(parts(b""), [b""]);
        assert_eq!(parts(b"http://h"), [b"http://h"]);
        assert_eq!(parts(b"http://h?a/b"), [b"http://h?a/b"]);
        assert_eq!(parts(b"h/x?u=http://y/z"), [&b"h"[..], b"x?u=http://y/z"]);
        assert_eq!(parts(b"://"), [b"://"]);
    }
}
