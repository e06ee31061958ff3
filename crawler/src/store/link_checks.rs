//! URLs that pages link to or show and that are none of the crawl: which are to be checked, and what came of it.

use crate::{
    extract::{AnchorNames, SheetPart},
    time::Moment,
    url::WebUrl,
};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkCheckRequest {
    /// Whether the pages are to be looked through first, for URLs to be checked.
    pub collects: bool,
    /// Which URLs are to be checked.
    pub wanted: LinksWanted,
    /// Those behind this number.
    pub behind: u64,
    /// So many at most.
    pub most: usize,
}

/// Which URLs are to be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinksWanted {
    /// Whether those are that left the scope.
    pub external: bool,
    /// Whether what pages show and load is.
    pub assets: bool,
    /// Whether names on pages are looked for.
    pub anchors: bool,
    /// So many of a host at most.
    pub most_of_host: u32,
}

/// URLs that have no answer in this sequence.
#[derive(Debug, Default)]
pub struct LinksToCheck {
    /// In the order of their numbers.
    pub links: Vec<LinkToCheck>,
    /// Whether there are none behind these.
    pub are_all: bool,
}

/// A URL to be checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkToCheck {
    /// Its number.
    pub number: u64,
    /// What is asked for.
    pub url: WebUrl,
    /// Redirects that led to it.
    pub redirects: u32,
    /// Whether names on its page are looked for, or what it loads as a style sheet.
    pub reads: bool,
    /// Whether nothing leads to it, but to the same with http.
    pub is_guess: bool,
}

/// What came of a URL that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedLink {
    /// Its number.
    pub number: u64,
    /// When it was known.
    pub at: Moment,
    /// What it came to.
    pub outcome: LinkCheckOutcome,
    /// The status of its answer, if it has one.
    pub status: Option<u16>,
    /// What went wrong, in one word.
    pub reason: Option<Box<str>>,
    /// Where it redirects to: that is to be checked too.
    pub target: Option<WebUrl>,
    /// Whether that is within the scope: then it may be a URL of the crawl.
    pub returns: bool,
    /// What is inside, where that was asked for.
    pub inside: CheckedContent,
}

/// What was found inside of what was checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CheckedContent {
    /// Nobody asked for it.
    #[default]
    NotAsked,
    /// Nothing of what follows.
    Nothing,
    /// A page whose elements have these names.
    Page(AnchorNames),
    /// A style sheet that loads these.
    Sheet(Vec<SheetPart>),
}

impl CheckedLink {
    /// Of a URL without an answer.
    pub fn unanswered(number: u64, at: Moment, outcome: LinkCheckOutcome, reason: Box<str>) -> Self {
        Self {
            number,
            at,
            outcome,
            status: None,
            reason: Some(reason),
            target: None,
            returns: false,
            inside: CheckedContent::NotAsked,
        }
    }
}

/// What a check came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkCheckOutcome {
    /// It is there.
    Good,
    /// It redirects.
    Redirected,
    /// It answers with an error.
    Broken,
    /// It gives no answer.
    Failed,
    /// It was not asked for.
    LeftOut,
}

impl LinkCheckOutcome {
    /// Each of them.
    pub const ALL: [Self; 5] = [Self::Good, Self::Redirected, Self::Broken, Self::Failed, Self::LeftOut];

    /// The word used in the database and in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Good => "checked",
            Self::Redirected => "redirected",
            Self::Broken => "broken",
            Self::Failed => "failed",
            Self::LeftOut => "abandoned",
        }
    }

    /// What a word means.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == word)
    }
}

/// The URLs to be checked of a sequence, by what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LinkCheckCounts {
    /// They are there.
    pub good: u64,
    /// They redirect.
    pub redirected: u64,
    /// They answer with an error.
    pub broken: u64,
    /// They give no answer.
    pub failed: u64,
    /// They were not asked for, because robots.txt forbids it, or their address is not allowed.
    pub forbidden: u64,
    /// They were not asked for, because others of their host were.
    pub beyond_limit: u64,
    /// They are still to be checked.
    pub left: u64,
}

impl LinkCheckCounts {
    /// All of them.
    pub fn all(&self) -> u64 {
        let Self { good, redirected, broken, failed, forbidden, beyond_limit, left } = self;
        good + redirected + broken + failed + forbidden + beyond_limit + left
    }
}
