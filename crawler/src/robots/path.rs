//! Paths and patterns in their normal form, and whether one matches the other.
//!
//! Normal form (RFC 9309, 2.2.2 and 2.2.3): an escape of an unreserved character is undone, every other escape is
//! written in upper case, and every octet that may not stand in a URI is escaped. Reserved characters keep the form
//! they have: `/` and `%2F` differ. In a path `*` and `$` are escaped, so that a pattern meets them only by `%2A` and
//! `%24`, or by a `$` that is not its last character. Normal forms are ASCII.

use std::{borrow::Cow, fmt::Write};

/// The normal form of a URL's path and query. An empty path is `/`.
pub(super) fn normal_path(path_and_query: &str) -> Cow<'_, str> {
    if path_and_query.starts_with('/') && path_and_query.bytes().all(stays_in_path) {
        return Cow::Borrowed(path_and_query);
    }
    let mut normal = String::with_capacity(path_and_query.len() + 16);
    if !path_and_query.starts_with('/') {
        normal.push('/');
    }
    push_normal(path_and_query.as_bytes(), stays_in_path, &mut normal);
    Cow::Owned(normal)
}

/// Appends the normal form of the value of a rule: `*` is the wildcard, and `$` only as the last character the end of
/// the path.
pub(super) fn push_normal_pattern(value: &[u8], normal: &mut String) {
    let (inner, end) = value.strip_suffix(b"$").map_or((value, ""), |inner| (inner, "$"));
    push_normal(inner, |byte| byte == b'*' || stays_in_path(byte), normal);
    normal.push_str(end);
}

/// Whether a pattern matches the beginning of a path (all of it if the pattern ends in `$`), both in normal form.
///
/// The leftmost place for each piece between wildcards is never worse than a later one, so nothing is tried twice:
/// linear in pattern and path, as `str::find` is.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, to_the_end) = pattern.strip_suffix('$').map_or((pattern, false), |inner| (inner, true));
    let Some((first, pieces)) = pattern.split_once('*') else {
        return if to_the_end { path == pattern } else { path.starts_with(pattern) };
    };
    let Some(mut rest) = path.strip_prefix(first) else { return false };
    let (inner, last) = pieces.rsplit_once('*').unwrap_or(("", pieces));
    for piece in inner.split('*') {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    if to_the_end { rest.ends_with(last) } else { rest.contains(last) }
}

fn push_normal(octets: &[u8], stays: impl Fn(u8) -> bool, normal: &mut String) {
    let mut rest = octets;
    while let Some((&octet, after)) = rest.split_first() {
        rest = after;
        if octet == b'%' {
            match escape(after) {
                Some(escaped) => {
                    rest = &after[2..];
                    push_octet(escaped, is_unreserved, normal);
                }
                None => normal.push('%'),
            }
        } else {
            push_octet(octet, &stays, normal);
        }
    }
}

fn push_octet(octet: u8, stays: impl Fn(u8) -> bool, normal: &mut String) {
    if stays(octet) {
        normal.push(char::from(octet));
    } else {
        write!(normal, "%{octet:02X}").expect("writing to a String cannot fail");
    }
}

/// The octet that two hexadecimal digits spell.
fn escape(digits: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*digits.get(at)?).to_digit(16);
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}

/// RFC 3986, 2.3.
fn is_unreserved(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b'_' | b'~')
}

/// What is its own normal form in a path: the unreserved and the reserved characters (RFC 3986, 2.2), but for `*` and
/// `$`.
fn stays_in_path(octet: u8) -> bool {
    is_unreserved(octet)
        || matches!(octet, b'/' | b'?' | b'=' | b'&' | b':' | b'@' | b'!' | b'\'' | b'(' | b')' | b'+' | b',' | b';')
        || matches!(octet, b'#' | b'[' | b']')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn normal_pattern(value: &str) -> String {
        let mut normal = String::new();
        push_normal_pattern(value.as_bytes(), &mut normal);
        normal
    }

    /// By the definition: every length that a wildcard may take is tried, each state once.
    fn matches_by_table(pattern: &[u8], path: &[u8]) -> bool {
        let (pattern, to_the_end) = pattern.strip_suffix(b"$").map_or((pattern, false), |inner| (inner, true));
        let mut reached = vec![false; path.len() + 1];
        reached[0] = true;
        for octet in pattern {
            let before = reached.clone();
            for at in 0..=path.len() {
                reached[at] = match octet {
                    b'*' => before[..=at].contains(&true),
                    _ => at > 0 && before[at - 1] && path[at - 1] == *octet,
                };
            }
        }
        if to_the_end { reached[path.len()] } else { reached.contains(&true) }
    }

    #[test]
    fn escapes_have_one_form() {
        let cases = [
            ("", "/"),
            ("?q", "/?q"),
            ("/a-b_c.d~e", "/a-b_c.d~e"),
            ("/%7ejoe/%62%61%7A", "/~joe/baz"),
            ("/a%2fb%3c", "/a%2Fb%3C"),
            ("/ツ", "/%E3%83%84"),
            ("/%e3%83%84", "/%E3%83%84"),
            ("/a<b>\"c d|e", "/a%3Cb%3E%22c%20d%7Ce"),
            ("/a?b=http://c:1/d&e;f,g+h", "/a?b=http://c:1/d&e;f,g+h"),
            ("/*$", "/%2A%24"),
            ("/100%", "/100%"),
            ("/%4", "/%4"),
            ("/%zz%+1", "/%zz%+1"),
        ];
        for (path, normal) in cases {
            assert_eq!(normal_path(path), normal, "{path}");
        }
    }

    #[test]
    fn patterns_keep_wildcards_and_the_last_dollar() {
        assert_eq!(normal_pattern("/a*b$"), "/a*b$");
        assert_eq!(normal_pattern("/a$b$"), "/a%24b$");
        assert_eq!(normal_pattern("/a$*"), "/a%24*");
        assert_eq!(normal_pattern("/%2a%24"), "/%2A%24");
        assert_eq!(normal_pattern("/ツ%7e"), "/%E3%83%84~");
    }

    #[test]
    fn matching_follows_the_wildcards() {
        let yes = [
            ("/", "/x"),
            ("/a", "/ab"),
            ("/a*c", "/abbc/d"),
            ("/a*", "/a"),
            ("*", "/"),
            ("*b", "/ab"),
            ("/a$", "/a"),
            ("/a*$", "/abc"),
            ("/*.php$", "/x.php/y.php"),
            ("/a**b", "/ab"),
            ("/*ab*ab", "/abab"),
        ];
        let no = [
            ("/a", "/"),
            ("/a$", "/ab"),
            ("/a*b*b", "/ab"),
            ("/*ab*ab$", "/abab/"),
            ("/aa*aa$", "/aaa"),
            ("$", "/"),
            ("/A", "/a"),
        ];
        for (pattern, path) in yes {
            assert!(matches(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in no {
            assert!(!matches(pattern, path), "{pattern} {path}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn matching_agrees_with_the_definition(pattern in "[ab*]{0,9}\\$?", path in "[ab]{0,12}") {
            prop_assert_eq!(matches(&pattern, &path), matches_by_table(pattern.as_bytes(), path.as_bytes()));
        }

        #[test]
        fn a_normal_form_is_its_own(path in "/([a-fF0-9/?*$ ~<ü]|%[0-9a-fA-F]{2}){0,20}") {
            let normal = normal_path(&path);
            prop_assert!(normal.is_ascii());
            prop_assert_eq!(normal_path(&normal), normal.clone());
        }
    }
}
