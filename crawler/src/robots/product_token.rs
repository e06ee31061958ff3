//! [`ProductToken`]: the name by which a robots.txt addresses a crawler.

use thiserror::Error;

/// The name of a crawler in robots.txt, such as `webloom`; compared without regard to ASCII case (RFC 9309, 2.2.1).
///
/// The RFC allows `[a-zA-Z_-]`. Digits, dots and other letters are taken too, for names such as `Agent1` that live
/// files address. `*` means a crawler that no file names.
///
/// ```
/// use webloom::internals::robots::ProductToken;
/// assert_eq!(ProductToken::new("webloom")?.as_str(), "webloom");
/// assert!(ProductToken::new("webloom/1.0 (+https://example.org)").is_err());
/// # Ok::<(), webloom::internals::robots::TokenError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ProductToken(Box<str>);

/// The text is no product token.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0:?} is not a product token: give the bare name, such as webloom, without version, spaces or slashes")]
pub struct TokenError(Box<str>);

impl ProductToken {
    /// Checks a name.
    ///
    /// # Errors
    /// When it is empty, or holds anything but letters, digits, `_`, `-` and `.` (and is not `*`).
    pub fn new(name: &str) -> Result<Self, TokenError> {
        let fits = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        if name == "*" || (!name.is_empty() && name.chars().all(fits)) {
            return Ok(Self(name.into()));
        }
        Err(TokenError(name.into()))
    }

    /// The name as given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the value of a `User-agent` line names this crawler: by the token as the RFC cuts it (`Bot` in
    /// `Bot/2.1`), or by the whole word (`Bot2` in `Bot2 beta`).
    pub(super) fn is_named_by(&self, value: &[u8]) -> bool {
        let is_me = |end: Option<usize>| value[..end.unwrap_or(value.len())].eq_ignore_ascii_case(self.0.as_bytes());
        is_me(value.iter().position(|byte| !in_token(*byte))) || is_me(value.iter().position(|byte| !in_word(*byte)))
    }
}

/// Whether the value of a `User-agent` line addresses whoever is not named elsewhere. As in Google's parser, more may
/// follow after a space.
pub(super) fn is_anyone(value: &[u8]) -> bool {
    matches!(value, [b'*'] | [b'*', b' ' | b'\t', ..])
}

fn in_token(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-')
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.') || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(token: &str, value: &str) -> bool {
        ProductToken::new(token).unwrap().is_named_by(value.as_bytes())
    }

    #[test]
    fn takes_bare_names_only() {
        for name in ["webloom", "web_loom-x", "Agent1", "*", "jävla-bot", "a.b"] {
            assert_eq!(ProductToken::new(name).unwrap().as_str(), name);
        }
        for name in ["", " ", "webloom/1.0", "two words", "a*", "**", "a#b", "a:b", "a\nb"] {
            assert!(ProductToken::new(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn is_named_by_the_token_before_the_first_other_character() {
        for value in ["FooBot", "foobot", "FOOBOT/1.2", "FooBot beta", "FooBot2", "FooBot*", "foobot, barbot"] {
            assert!(named("FooBot", value), "{value}");
        }
        for value in ["", "Foo", "FooBots", "FooBot-news", "BarBot FooBot", "*", "Mozilla/5.0 (FooBot)"] {
            assert!(!named("FooBot", value), "{value}");
        }
    }

    #[test]
    fn is_named_by_the_whole_word_beyond_the_grammar() {
        assert!(named("Agent1", "agent1 x"));
        assert!(named("1bot", "1BOT/3"));
        assert!(named("jävla-bot", "Jävla-bot"));
        assert!(!named("Agent1", "Agent2"));
        assert!(!named("Agent1", "Agent"));
    }

    #[test]
    fn anyone_is_a_lone_star() {
        assert!(is_anyone(b"*") && is_anyone(b"* all of you") && is_anyone(b"*\tx"));
        assert!(!is_anyone(b"") && !is_anyone(b"**") && !is_anyone(b"*bot") && !is_anyone(b"*<br>"));
        assert!(!named("*", "*") && !named("*", "**") && !named("*", ""));
    }
}
