//! [`PageLine`]: the state of a URL, and which URLs are asked for.

use std::ops::RangeInclusive;

use regex::Regex;

use crate::{candidate::Hop, extract::PageHead};

/// A URL in its latest state, or that of a sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct PageLine {
    /// What is fetched; `None` for a lost URL of which only a link's fingerprint is known.
    pub url: Option<String>,
    /// What identifies it, if it differs.
    pub key: Option<String>,
    /// Status of the last answer.
    pub status: Option<u16>,
    /// What became of it.
    pub outcome: PageOutcome,
    /// For a stored page: what came of the visit beside the one before.
    pub change: Option<PageChange>,
    /// Why, where there is a reason; for a lost URL what became of it.
    pub reason: Option<String>,
    /// `Content-Type` as sent.
    pub content_type: Option<String>,
    /// Length of the decoded body.
    pub bytes: Option<u64>,
    /// SHA-256 of the decoded body.
    pub digest: Option<[u8; 32]>,
    /// What the page's head says of it.
    pub head: PageHead,
    /// Links followed from a start.
    pub depth: Option<u32>,
    /// How many indexed pages link to it.
    pub in_links: Option<u64>,
    /// Its importance by the links between indexed pages; 1 on average.
    pub importance: Option<f64>,
    /// The first page whose text is nearly the same.
    pub similar_to: Option<String>,
    /// How it was found.
    pub hop: Option<Hop>,
    /// The URL it was found at first.
    pub via: Option<String>,
    /// The sequence of this state.
    pub sequence: u32,
    /// When it was fetched, in milliseconds since 1970.
    pub fetched_at: Option<u64>,
    /// Target of its redirect.
    pub redirect: Option<String>,
    /// Why its body is cut short.
    pub truncated: Option<String>,
    /// `audit` or `sweep`, among lost URLs: who found it lost.
    pub found_by: Option<String>,
    /// What was taken out of it, as a JSON object.
    pub fields: Option<String>,
}

/// What became of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageOutcome {
    /// Its page was stored.
    Stored,
    /// It is redirected.
    Redirected,
    /// It answered with an error.
    Broken,
    /// The same, and its page was there before.
    Gone,
    /// It gave no answer.
    Failed,
    /// It was given up before it was fetched.
    Abandoned,
    /// It waits.
    Queued,
    /// The URL cache refused it by mistake.
    Lost,
}

impl PageOutcome {
    /// Every one.
    pub const ALL: [Self; 8] = [
        Self::Stored,
        Self::Redirected,
        Self::Broken,
        Self::Gone,
        Self::Failed,
        Self::Abandoned,
        Self::Queued,
        Self::Lost,
    ];

    /// Its word in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Redirected => "redirected",
            Self::Broken => "broken",
            Self::Gone => "gone",
            Self::Failed => "failed",
            Self::Abandoned => "abandoned",
            Self::Queued => "queued",
            Self::Lost => "lost",
        }
    }

    /// Reads [`PageOutcome::as_str`].
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == word)
    }
}

/// What came of the visit of a stored page, beside the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageChange {
    /// There was none before.
    New,
    /// Its bytes are others.
    Changed,
    /// They are not.
    Unchanged,
}

impl PageChange {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::New, Self::Changed, Self::Unchanged];

    /// Its word in the database and in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
        }
    }

    /// Reads [`PageChange::as_str`].
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == word)
    }
}

/// Which lines are shown: all that pass every filter given.
#[derive(Debug, Clone, Default)]
pub struct PageFilter {
    /// Last status, from the first of these to the last.
    pub status: Option<RangeInclusive<u16>>,
    /// Outcome.
    pub outcome: Option<PageOutcome>,
    /// What came of the visit beside the one before.
    pub change: Option<PageChange>,
    /// The content type begins with this.
    pub content_type: Option<String>,
    /// At most this deep.
    pub max_depth: Option<u32>,
    /// The URL matches.
    pub matching: Option<Regex>,
    /// The URLs of this sequence, in the state that it left them in; otherwise all, in their latest state.
    pub sequence: Option<u32>,
    /// Those that the sequence lost, whatever became of them; without a sequence, the last. An outcome of `lost` asks for
    /// these too.
    pub lost: bool,
    /// Those that an earlier sequence lost and this one admitted; without a sequence, the last.
    pub recovered: bool,
    /// By what the lines are ordered; otherwise by admission.
    pub order: Option<PageOrder>,
}

/// An order of lines. What is equal stays in the order of admission, and what has no value comes first, or last if it is reversed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageOrder {
    /// By this.
    pub by: PageColumn,
    /// The greatest first.
    pub reversed: bool,
}

/// What lines can be ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageColumn {
    /// The URL, byte by byte.
    Url,
    /// The last status.
    Status,
    /// The outcome.
    Outcome,
    /// The change.
    Change,
    /// The content type.
    ContentType,
    /// The length of the decoded body.
    Bytes,
    /// The title.
    Title,
    /// Links followed from a start.
    Depth,
    /// The sequence.
    Sequence,
    /// The time of the last fetch.
    FetchedAt,
    /// Pages that link there.
    InLinks,
    /// The importance.
    Importance,
}

impl PageColumn {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Url,
        Self::Status,
        Self::Outcome,
        Self::Change,
        Self::ContentType,
        Self::Bytes,
        Self::Title,
        Self::Depth,
        Self::Sequence,
        Self::FetchedAt,
        Self::InLinks,
        Self::Importance,
    ];

    /// Its name in listings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Status => "status",
            Self::Outcome => "outcome",
            Self::Change => "change",
            Self::ContentType => "content_type",
            Self::Bytes => "bytes",
            Self::Title => "title",
            Self::Depth => "depth",
            Self::Sequence => "sequence",
            Self::FetchedAt => "fetched_at",
            Self::InLinks => "in_links",
            Self::Importance => "importance",
        }
    }
}

impl PageFilter {
    /// Whether lost URLs are asked for, by either way.
    pub fn asks_for_lost(&self) -> bool {
        self.lost || self.outcome == Some(PageOutcome::Lost)
    }
}

/// The content types of a crawl.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentTypes {
    /// Whether one begins with what was asked for.
    pub is_match: bool,
    /// If none does, some that there are, without parameters, in order.
    pub others: Vec<String>,
}
