//! [`NamePattern`]: which names of parameters are meant.

use thiserror::Error;

/// A name, in which `*` takes the place of any characters, or of none.
///
/// ```
/// use webloom::internals::url::NamePattern;
/// let campaign = NamePattern::new("utm_*")?;
/// assert!(campaign.matches("utm_source") && !campaign.matches("my_utm_source"));
/// # Ok::<(), webloom::internals::url::UnusablePattern>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePattern(Box<str>);

/// Why a text is no pattern of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum UnusablePattern {
    /// Nothing has no name.
    #[error("there is no name")]
    Empty,
    /// No name has such a character.
    #[error("a name has none of the characters & = # , and no blanks")]
    Character,
    /// Few names are so long.
    #[error("a name has at most {LONGEST} characters")]
    Long,
}

/// The longest pattern, in bytes.
const LONGEST: usize = 128;

impl NamePattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// [`UnusablePattern`] where no name could match it.
    pub fn new(text: &str) -> Result<Self, UnusablePattern> {
        match text {
            "" => Err(UnusablePattern::Empty),
            _ if text.len() > LONGEST => Err(UnusablePattern::Long),
            _ if text.contains(|c: char| c.is_whitespace() || "&=#,".contains(c)) => Err(UnusablePattern::Character),
            _ => Ok(Self(text.into())),
        }
    }

    /// The pattern as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a name is meant, letter by letter.
    pub fn matches(&self, name: &str) -> bool {
        wildcard(self.0.as_bytes(), name.as_bytes(), u8::eq)
    }

    /// The same whether its letters are upper or lower case.
    pub fn matches_any_case(&self, name: &str) -> bool {
        wildcard(self.0.as_bytes(), name.as_bytes(), u8::eq_ignore_ascii_case)
    }
}

impl AsRef<str> for NamePattern {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

/// Goes back to the last `*` alone: the time is at most the product of both lengths.
fn wildcard(pattern: &[u8], name: &[u8], same: impl Fn(&u8, &u8) -> bool) -> bool {
    let (mut at, mut of) = (0, 0);
    let mut star = None;
    while at < name.len() {
        if pattern.get(of) == Some(&b'*') {
            star = Some((of, at));
            of += 1;
        } else if pattern.get(of).is_some_and(|byte| same(byte, &name[at])) {
            (at, of) = (at + 1, of + 1);
        } else if let Some((place, taken)) = star {
            star = Some((place, taken + 1));
            (at, of) = (taken + 1, place + 1);
        } else {
            return false;
        }
    }
    pattern[of..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_takes_the_place_of_any_characters() {
        for (pattern, yes, no) in [
            ("gclid", &["gclid"][..], &["gclid2", "GCLID", "gcli", ""][..]),
            ("utm_*", &["utm_", "utm_source"], &["utm", "Utm_source", "xutm_a"]),
            ("*_id", &["a_id", "_id", "_id_id"], &["id", "a_ids"]),
            ("a*b*c", &["abc", "axbxc", "abbcc"], &["ab", "acb"]),
            ("*", &["", "anything"], &[]),
            ("**x", &["x", "xx"], &["xy"]),
        ] {
            let pattern = NamePattern::new(pattern).unwrap();
            assert!(yes.iter().all(|name| pattern.matches(name)), "{pattern:?}");
            assert!(!no.iter().any(|name| pattern.matches(name)), "{pattern:?}");
        }
        assert!(NamePattern::new("PhpSess*").unwrap().matches_any_case("PHPSESSID"));
    }

    #[test]
    fn many_stars_take_no_longer_than_the_product_of_both_lengths() {
        let pattern = NamePattern::new(&"*a".repeat(60)).unwrap();
        assert!(!pattern.matches(&(("ab".repeat(1_000)) + "b")));
    }

    #[test]
    fn what_no_name_is_like_is_refused() {
        for text in ["", "a b", "a=b", "a&b", "a,b", "#", &"a".repeat(129)] {
            NamePattern::new(text).unwrap_err();
        }
    }
}
