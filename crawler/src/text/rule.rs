//! [`TextRule`]: by which rule a text was made, so that texts of different rules are never compared.

use xxhash_rust::xxh3::Xxh3;

use super::Text;

/// By which rule a text was made: the version of what reads pages, and what the user has it leave out. Two texts can be
/// compared only if their rules are equal.
///
/// ```
/// use webloom::internals::text::TextRule;
/// let plain = TextRule::new(1, []);
/// assert_eq!(TextRule::new(1, ["nav", ".ad"]), TextRule::new(1, [".ad", "nav", "nav"]));
/// assert!(plain != TextRule::new(2, []) && plain != TextRule::new(1, ["nav"]));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TextRule(u64);

/// A text with its rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuledText {
    /// What the page says.
    pub text: Text,
    /// How it was found.
    pub rule: TextRule,
}

impl TextRule {
    /// The rule of this version with these omissions, whose order means nothing.
    pub fn new<'a>(version: u32, omissions: impl IntoIterator<Item = &'a str>) -> Self {
        let mut omissions: Vec<_> = omissions.into_iter().collect();
        omissions.sort_unstable();
        omissions.dedup();
        let mut hasher = Xxh3::new();
        hasher.update(&version.to_le_bytes());
        for omission in omissions {
            hasher.update(omission.as_bytes());
            hasher.update(&[0]);
        }
        // 63 bits: a database has signed numbers.
        Self(hasher.digest() >> 1)
    }

    /// Its number, the same in every release: at most `i64::MAX`.
    pub fn number(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_means_the_same_tomorrow() {
        assert!(i64::try_from(TextRule::new(1, ["nav"]).number()).is_ok());
        assert_ne!(TextRule::new(1, ["a", "b"]), TextRule::new(1, ["ab"]));
    }
}
