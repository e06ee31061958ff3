//! [`KeyRule`]: the names of the rules that make keys; and [`KeyRuleSet`], some of them.
//!
//! Does not know: what a rule does to a URL.

/// A rule by which different URLs get one key. [`KeyRule::ALL`] has them in the order in which they are applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyRule {
    /// Letters, digits and `-._~` are not percent-encoded.
    Unreserved,
    /// Percent-encoding has upper-case digits.
    HexCase,
    /// `https` is `http` where both have their own default port.
    Scheme,
    /// The host has no `www.` in front.
    Www,
    /// Session identifiers are left out, of the path and of the query.
    Session,
    /// Parameters are left out by their names.
    StripQuery,
    /// Parameters are sorted by their names.
    SortQuery,
    /// A query without a character is none.
    EmptyQuery,
    /// The name of an index page is left out.
    IndexPage,
    /// The path has no slash at its end.
    TrailingSlash,
    /// Expressions of the user's are replaced.
    Rewrite,
}

/// Some of the rules.
///
/// ```
/// use webloom::internals::url::{KeyRule, KeyRuleSet};
/// let rules = KeyRuleSet::of([KeyRule::Www, KeyRule::HexCase]);
/// assert!(rules.has(KeyRule::Www) && !rules.has(KeyRule::Scheme));
/// assert_eq!(rules.iter().map(KeyRule::as_str).collect::<Vec<_>>(), ["hex-case", "www"]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeyRuleSet(u16);

impl KeyRule {
    /// Every rule, in the order in which they are applied.
    pub const ALL: &'static [Self] = &[
        Self::Unreserved,
        Self::HexCase,
        Self::Scheme,
        Self::Www,
        Self::Session,
        Self::StripQuery,
        Self::SortQuery,
        Self::EmptyQuery,
        Self::IndexPage,
        Self::TrailingSlash,
        Self::Rewrite,
    ];

    /// Its word in settings and in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unreserved => "unreserved",
            Self::HexCase => "hex-case",
            Self::Scheme => "scheme",
            Self::Www => "www",
            Self::Session => "session",
            Self::StripQuery => "strip-query",
            Self::SortQuery => "sort-query",
            Self::EmptyQuery => "empty-query",
            Self::IndexPage => "index-page",
            Self::TrailingSlash => "trailing-slash",
            Self::Rewrite => "rewrite",
        }
    }

    /// The rule of this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|rule| rule.as_str() == word)
    }
}

impl KeyRuleSet {
    /// None of them.
    pub const NONE: Self = Self(0);

    /// Those that settings have if they say nothing else.
    pub const DEFAULT: Self = Self::NONE.with(KeyRule::Unreserved).with(KeyRule::HexCase).with(KeyRule::EmptyQuery);

    /// These.
    pub fn of(rules: impl IntoIterator<Item = KeyRule>) -> Self {
        rules.into_iter().fold(Self::NONE, Self::with)
    }

    /// The same and this one.
    #[must_use]
    pub const fn with(self, rule: KeyRule) -> Self {
        Self(self.0 | Self::bit(rule))
    }

    /// The same but for this one.
    #[must_use]
    pub const fn without(self, rule: KeyRule) -> Self {
        Self(self.0 & !Self::bit(rule))
    }

    /// Those of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether this one is among them.
    pub const fn has(self, rule: KeyRule) -> bool {
        self.0 & Self::bit(rule) != 0
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of them are among the others.
    pub const fn is_within(self, others: Self) -> bool {
        self.0 & !others.0 == 0
    }

    const fn bit(rule: KeyRule) -> u16 {
        1 << rule as u16
    }

    /// Each of them, in the order in which they are applied.
    pub fn iter(self) -> impl Iterator<Item = KeyRule> {
        KeyRule::ALL.iter().copied().filter(move |rule| self.has(*rule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back_and_each_rule_has_a_place_of_its_own() {
        for rule in KeyRule::ALL {
            assert_eq!(KeyRule::from_word(rule.as_str()), Some(*rule));
        }
        assert_eq!(KeyRule::from_word("slash"), None);
        let all = KeyRuleSet::of(KeyRule::ALL.iter().copied());
        assert_eq!(all.iter().count(), KeyRule::ALL.len());
        assert!(KeyRuleSet::DEFAULT.is_within(all) && !all.is_within(KeyRuleSet::DEFAULT));
        assert_eq!(all.without(KeyRule::Www).iter().count(), KeyRule::ALL.len() - 1);
    }
}
