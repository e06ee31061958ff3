//! The rules about percent-encoding: `unreserved` and `hex-case`.
//!
//! Invariants: the result says the same by RFC 3986 (section 6.2.2), and nothing in it is an escape that was none before.
//!
//! Does not know: where in a URL the text is.

use memchr::memchr;

use super::{KeyRule, KeyRuleSet};

/// A text spelled by these of the rules, and those that changed it; `None` where it stays as it is.
pub(super) fn spelled(text: &str, rules: KeyRuleSet) -> Option<(String, KeyRuleSet)> {
    let bytes = text.as_bytes();
    let (mut spelled, mut changed) = (String::new(), KeyRuleSet::NONE);
    // What lies between is not copied yet.
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = memchr(b'%', &bytes[at..]) {
        let escape = at + found;
        let Some((digits, value)) = escaped(bytes, escape) else {
            at = escape + 1;
            continue;
        };
        at = escape + 3;
        let between = &text[copied..escape];
        if rules.has(KeyRule::Unreserved) && is_plain(value) && !completes(&spelled, between, value) {
            spelled.push_str(between);
            spelled.push(char::from(value));
            (copied, changed) = (at, changed.with(KeyRule::Unreserved));
            continue;
        }
        if rules.has(KeyRule::HexCase) && digits.iter().any(u8::is_ascii_lowercase) {
            spelled.push_str(between);
            spelled.push('%');
            spelled.extend(digits.map(|digit| char::from(digit.to_ascii_uppercase())));
            (copied, changed) = (at, changed.with(KeyRule::HexCase));
        }
    }
    if changed.is_empty() {
        return None;
    }
    spelled.push_str(&text[copied..]);
    Some((spelled, changed))
}

/// The two digits of the escape that begins here, if one does, and their value.
fn escaped(bytes: &[u8], at: usize) -> Option<([u8; 2], u8)> {
    let digits = *bytes.get(at + 1..)?.first_chunk()?;
    Some((digits, value(digits)?))
}

/// What two digits of an escape say, if they are digits.
pub(super) fn value(digits: [u8; 2]) -> Option<u8> {
    let [high, low] = digits.map(|digit| char::from(digit).to_digit(16));
    u8::try_from(16 * high? + low?).ok()
}

/// Whether a byte need not be escaped, by RFC 3986, section 2.3.
fn is_plain(value: u8) -> bool {
    value.is_ascii_alphanumeric() || b"-._~".contains(&value)
}

/// Whether a byte would make an escape of a percent sign that is none: of `%%34` with a `1` behind it.
fn completes(before: &str, between: &str, plain: u8) -> bool {
    let mut last = between.bytes().rev().chain(before.bytes().rev());
    plain.is_ascii_hexdigit()
        && match last.next() {
            Some(b'%') => true,
            Some(digit) => digit.is_ascii_hexdigit() && last.next() == Some(b'%'),
            None => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(text: &str) -> String {
        spelled(text, KeyRuleSet::DEFAULT).map_or_else(|| text.to_owned(), |(spelled, _)| spelled)
    }

    #[test]
    fn only_what_is_unreserved_is_decoded() {
        for (text, expected) in [
            ("/%7Ebob/%61%2D%5f", "/~bob/a-_"),
            ("/%2fa%2Fb%3f", "/%2Fa%2Fb%3F"),
            ("/a%2eb%2E", "/a.b."),
            ("/%c3%a9%C3%A9", "/%C3%A9%C3%A9"),
            ("/%%7e%", "/%~%"),
            ("/%zz%4", "/%zz%4"),
            ("/%25%34%31", "/%2541"),
        ] {
            assert_eq!(both(text), expected, "{text}");
            assert_eq!(spelled(expected, KeyRuleSet::DEFAULT), None, "{expected}");
        }
    }

    #[test]
    fn no_escape_comes_to_be() {
        for text in ["/%%32e", "/%2%65", "/%%341", "/%4%31"] {
            assert_eq!(both(text), text);
        }
        assert_eq!(both("/%%34%31"), "/%%341");
    }

    #[test]
    fn each_rule_is_named_that_changed_something() {
        let changed = |text, rules| spelled(text, rules).map(|(_, changed)| changed);
        let [unreserved, case] = [KeyRule::Unreserved, KeyRule::HexCase].map(|rule| KeyRuleSet::NONE.with(rule));
        assert_eq!(changed("%7e%2f", KeyRuleSet::DEFAULT), Some(unreserved.and(case)));
        assert_eq!(changed("%7e", KeyRuleSet::DEFAULT), Some(unreserved));
        assert_eq!(spelled("%7e%2f", case), Some(("%7E%2F".to_owned(), case)));
        assert_eq!(changed("%7E%2F", case), None);
    }
}
