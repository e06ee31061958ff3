//! How a URL was found, and the numbers of admitted URLs and their hosts.

use std::{fmt, str::FromStr};

/// Number of an admission: given by the core, ascending over all sequences. A URL's first one is its row's id in the
/// URL table; that it had one before, in an earlier sequence, is known to the table alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Ticket(pub u64);

/// Number of a host (one [`Origin`](crate::url::Origin)): ascending, the row's id in the host table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct HostId(pub u32);

/// How a candidate was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Hop {
    /// Given by the user.
    Start,
    /// An `a` or `area` element of a page.
    Link,
    /// The `Location` of a redirect.
    Redirect,
    /// A sitemap lists it; or it is a sitemap that robots.txt, a setting or a sitemap index names.
    Sitemap,
    /// An entry of a feed.
    Feed,
    /// What a page shows or loads, wherever it is.
    Asset,
}

impl Hop {
    /// Each of them.
    pub const ALL: [Self; 6] = [Self::Start, Self::Link, Self::Redirect, Self::Sitemap, Self::Feed, Self::Asset];

    /// The word used in the database and in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Link => "link",
            Self::Redirect => "redirect",
            Self::Sitemap => "sitemap",
            Self::Feed => "feed",
            Self::Asset => "asset",
        }
    }
}

impl fmt::Display for Hop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Hop {
    type Err = UnknownHop;

    fn from_str(word: &str) -> Result<Self, UnknownHop> {
        Self::ALL.into_iter().find(|hop| hop.as_str() == word).ok_or_else(|| UnknownHop(word.to_owned()))
    }
}

/// A word that names no hop kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown hop kind {0:?}")]
pub struct UnknownHop(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hop_words_read_back() {
        for hop in Hop::ALL {
            assert_eq!(hop.to_string().parse(), Ok(hop));
        }
        assert!("links".parse::<Hop>().is_err());
    }
}
