//! The names of what can be chosen: [`Strategy`] and [`ResetPolicy`], as written in configuration and on the command
//! line.
//!
//! Invariant: each value's text reads back as itself. What the choices do is elsewhere.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// Which cache answers.
///
/// ```
/// use urlcache::Strategy;
///
/// assert_eq!("single".parse(), Ok(Strategy::Single));
/// assert_eq!(Strategy::Exact.to_string(), "exact");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Strategy {
    /// A hash set of fingerprints: loses nothing, 19 to 39 bytes a URL.
    Exact,
    /// One Bloom filter: a few bytes a URL.
    Single,
}

/// What happens when the next answers would overrun the loss budget.
///
/// ```
/// use urlcache::ResetPolicy;
///
/// assert_eq!("rebuild".parse(), Ok(ResetPolicy::Rebuild));
/// assert_eq!(ResetPolicy::None.to_string(), "none");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ResetPolicy {
    /// A larger cache with a new hash seed takes over, refilled from the URL table: the budget holds at any size.
    Rebuild,
    /// Nothing: the cache fills up and loses what it loses. For experiments.
    None,
}

/// A name that is none of the choices.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("unknown {what} `{given}`, use one of: {allowed}")]
pub struct UnknownName {
    what: &'static str,
    given: String,
    allowed: String,
}

impl Strategy {
    /// Every strategy, in the order in which they are listed to users.
    pub const ALL: [Self; 2] = [Self::Exact, Self::Single];

    /// The name, as in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Single => "single",
        }
    }
}

impl ResetPolicy {
    /// Every policy, in the order in which they are listed to users.
    pub const ALL: [Self; 2] = [Self::Rebuild, Self::None];

    /// The name, as in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rebuild => "rebuild",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for ResetPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Strategy {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let found = Self::ALL.into_iter().find(|choice| choice.name() == text);
        found.ok_or_else(|| UnknownName::new("cache strategy", text, &Self::ALL.map(Self::name)))
    }
}

impl FromStr for ResetPolicy {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let found = Self::ALL.into_iter().find(|choice| choice.name() == text);
        found.ok_or_else(|| UnknownName::new("reset policy", text, &Self::ALL.map(Self::name)))
    }
}

impl UnknownName {
    fn new(what: &'static str, given: &str, allowed: &[&str]) -> Self {
        Self { what, given: given.to_owned(), allowed: allowed.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for strategy in Strategy::ALL {
            assert_eq!(strategy.to_string().parse(), Ok(strategy));
        }
        for policy in ResetPolicy::ALL {
            assert_eq!(policy.to_string().parse(), Ok(policy));
        }
    }

    #[test]
    fn an_unknown_name_says_what_is_known() {
        let wrong = "blom".parse::<Strategy>().unwrap_err();
        assert_eq!(wrong.to_string(), "unknown cache strategy `blom`, use one of: exact, single");
        assert!("Rebuild".parse::<ResetPolicy>().is_err());
    }
}
