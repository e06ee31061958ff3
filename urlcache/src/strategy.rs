//! The names of the choices [`Strategy`], [`Layout`] and [`ResetPolicy`], as written in configuration and on the command line.
//!
//! Invariant: each value's text reads back as itself. What the choices do is elsewhere.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::family::Hashing;
use crate::hash::HashSeed;

/// Which cache answers.
///
/// ```
/// use urlcache::Strategy;
///
/// assert_eq!("spatio-temporal".parse(), Ok(Strategy::SpatioTemporal));
/// assert_eq!(Strategy::Exact.to_string(), "exact");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Strategy {
    /// A hash set of fingerprints: loses nothing, 19 to 39 bytes a URL.
    Exact,
    /// One filter: a few bytes a URL.
    Single,
    /// Several filters that must all agree.
    Spatial,
    /// One filter whose hash seed rotates with the crawl sequence.
    Temporal,
    /// Several filters whose hash seeds rotate with the crawl sequence.
    SpatioTemporal,
    /// A filter for each layer of path segments, and one for their combination.
    Multilayer,
    /// The multi-layer filter as published: loses URLs made of known segments, whatever the budget. For comparison.
    MultilayerPlain,
    /// One filter of path segments, the baseline of that publication: loses them all. For comparison.
    SegmentSet,
}

/// How the bits below a strategy are arranged.
///
/// ```
/// use urlcache::Layout;
///
/// assert_eq!("line".parse(), Ok(Layout::Line));
/// assert_eq!(Layout::Auto.to_string(), "auto");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Layout {
    /// The cheapest that keeps the budget, where each cache line that a key touches is priced as
    /// [`LINE_PRICE`](crate::LINE_PRICE) bits a key: mostly `line`.
    Auto,
    /// Bits anywhere in the filter: Bloom's own.
    Classic,
    /// Bits within one or two cache lines.
    Line,
    /// Lines of 32-bit tags: for very low rates; grows in place.
    Fingerprint,
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
    /// The cache is enlarged in place: bounds the rate, not the number of losses.
    Grow,
    /// The oldest half of what is held is dropped, again and again: fixed memory and a bounded rate however many URLs come,
    /// but what is forgotten may be called new again.
    Rotate,
    /// The crawl sequence ends, and the next begins with a larger cache: what was not judged gets its turn there.
    Restart,
    /// The crawl ends.
    Stop,
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
    pub const ALL: [Self; 8] = [
        Self::Exact,
        Self::Single,
        Self::Spatial,
        Self::Temporal,
        Self::SpatioTemporal,
        Self::Multilayer,
        Self::MultilayerPlain,
        Self::SegmentSet,
    ];

    /// The name, as in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Single => "single",
            Self::Spatial => "spatial",
            Self::Temporal => "temporal",
            Self::SpatioTemporal => "spatio-temporal",
            Self::Multilayer => "multilayer",
            Self::MultilayerPlain => "multilayer-plain",
            Self::SegmentSet => "segment-set",
        }
    }

    /// Whether each crawl sequence has a hash seed of its own.
    pub const fn rotates(self) -> bool {
        matches!(self, Self::Temporal | Self::SpatioTemporal)
    }

    /// The hash seed of a sequence.
    pub(crate) fn seed_of(self, seed: HashSeed, sequence: u32) -> HashSeed {
        if self.rotates() { seed.derive(0, sequence) } else { seed }
    }

    /// Whether its stated rate is that of every new URL, so that a budget can be kept.
    pub const fn keeps_a_budget(self) -> bool {
        !matches!(self, Self::MultilayerPlain | Self::SegmentSet)
    }

    /// Whether it is several filters that must all agree.
    pub const fn is_spatial(self) -> bool {
        matches!(self, Self::Spatial | Self::SpatioTemporal)
    }
}

impl Layout {
    /// Every layout, in the order in which they are listed to users.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Classic, Self::Line, Self::Fingerprint];

    /// The name, as in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Classic => "classic",
            Self::Line => "line",
            Self::Fingerprint => "fingerprint",
        }
    }
}

impl ResetPolicy {
    /// Every policy, in the order in which they are listed to users.
    pub const ALL: [Self; 6] = [Self::Rebuild, Self::Grow, Self::Rotate, Self::Restart, Self::Stop, Self::None];

    /// The name, as in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rebuild => "rebuild",
            Self::Grow => "grow",
            Self::Rotate => "rotate",
            Self::Restart => "restart",
            Self::Stop => "stop",
            Self::None => "none",
        }
    }
}

/// Text of a choice, both ways.
macro_rules! named {
    ($choice:ident, $what:literal) => {
        impl fmt::Display for $choice {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $choice {
            type Err = UnknownName;

            fn from_str(text: &str) -> Result<Self, UnknownName> {
                let found = Self::ALL.into_iter().find(|choice| choice.name() == text);
                found.ok_or_else(|| UnknownName::new($what, text, &Self::ALL.map(Self::name)))
            }
        }
    };
}

named!(Strategy, "cache strategy");
named!(Layout, "cache layout");
named!(ResetPolicy, "reset policy");
named!(Hashing, "hashing");

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
        for layout in Layout::ALL {
            assert_eq!(layout.to_string().parse(), Ok(layout));
        }
        for policy in ResetPolicy::ALL {
            assert_eq!(policy.to_string().parse(), Ok(policy));
        }
    }

    #[test]
    fn an_unknown_name_says_what_is_known() {
        let wrong = "blom".parse::<Layout>().unwrap_err();
        assert_eq!(wrong.to_string(), "unknown cache layout `blom`, use one of: auto, classic, line, fingerprint");
        assert!("Rebuild".parse::<ResetPolicy>().is_err());
    }
}
