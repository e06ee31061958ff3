//! [`SourceList`]: what a sitemap or a feed names.

use super::problem::SourceProblem;
use crate::{time::Moment, url::WebUrl};

/// All that was read of a sitemap or a feed.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceList {
    /// What it is; none of them if it is none. Then there are no entries.
    pub kind: Option<SourceKind>,
    /// The pages that it names, each once, in document order.
    pub entries: Vec<SourceEntry>,
    /// The sitemaps that it names, each once, in document order.
    pub sitemaps: Vec<SourceEntry>,
    /// What is wrong with it, each fault once, in the order in which they appeared.
    pub problems: Vec<SourceProblem>,
    /// Entries that the limits left out, however often one is repeated among them.
    pub beyond: u64,
}

/// A URL, and what the source says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceEntry {
    /// Where it is. User name and password are left in, as in links.
    pub url: WebUrl,
    /// When it changed last. A date without a time is its first moment in UTC.
    pub lastmod: Option<Moment>,
    /// How often it changes.
    pub changefreq: Option<ChangeFrequency>,
    /// How much it matters among the URLs of its site: from 0 to 1.
    pub priority: Option<f64>,
}

/// What a source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SourceKind {
    /// An XML sitemap.
    Urlset,
    /// A list of sitemaps in XML.
    Index,
    /// A URL a line.
    Text,
    /// RSS, all versions.
    Rss,
    /// Atom.
    Atom,
}

impl SourceKind {
    /// Its word in output: that of the root element, as far as there is one.
    pub fn word(self) -> &'static str {
        match self {
            Self::Urlset => "urlset",
            Self::Index => "sitemapindex",
            Self::Text => "text",
            Self::Rss => "rss",
            Self::Atom => "feed",
        }
    }

    /// Whether it lists what is new, not all there is.
    pub fn is_feed(self) -> bool {
        matches!(self, Self::Rss | Self::Atom)
    }
}

/// How often a page changes, as its site says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeFrequency {
    /// Each time it is fetched.
    Always,
    /// Each hour.
    Hourly,
    /// Each day.
    Daily,
    /// Each week.
    Weekly,
    /// Each month.
    Monthly,
    /// Each year.
    Yearly,
    /// It is archived.
    Never,
}

impl ChangeFrequency {
    /// All of them, the most frequent first.
    pub const ALL: [Self; 7] =
        [Self::Always, Self::Hourly, Self::Daily, Self::Weekly, Self::Monthly, Self::Yearly, Self::Never];

    /// The word of the sitemap protocol.
    pub fn word(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Hourly => "hourly",
            Self::Daily => "daily",
            Self::Weekly => "weekly",
            Self::Monthly => "monthly",
            Self::Yearly => "yearly",
            Self::Never => "never",
        }
    }

    /// The frequency of this word, in upper or lower case.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|frequency| frequency.word().eq_ignore_ascii_case(word))
    }
}

/// How much of a source is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceLimits {
    /// Pages, and as many sitemaps.
    pub entries: usize,
    /// Bytes of the body, and of what comes out of it where it is in gzip.
    pub bytes: usize,
}

impl Default for SourceLimits {
    /// What the sitemap protocol allows: 50,000 entries, 50 MiB.
    fn default() -> Self {
        Self { entries: 50_000, bytes: 50 << 20 }
    }
}
