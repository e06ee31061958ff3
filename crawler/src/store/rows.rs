//! The rows of a crawl directory, as the core hands them over.

use std::{net::IpAddr, sync::Arc};

use super::{KeptPart, TextRow};
use crate::{
    candidate::{Hop, HostId, Ticket},
    extract::PageHead,
    health::FailureCause,
    queue::{KnownCopy, WorkItem},
    time::Moment,
    url::{Fingerprint, Key, Origin, WebUrl},
};

/// A host.
#[derive(Debug, Clone)]
pub struct HostRow {
    /// Its number.
    pub id: HostId,
    /// Scheme, name and port.
    pub origin: Origin,
}

/// A URL that belongs to the scope by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AreaRow {
    /// The start URL, or the target of its redirect.
    pub url: String,
    /// Where it comes from.
    pub source: AreaSource,
}

/// Why a URL is in the scope by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AreaSource {
    /// Given by the user.
    Start,
    /// Given by the user without a scheme; `https` was tried first.
    GuessedStart,
    /// A start URL was redirected there.
    Redirect,
    /// Tried by `http`, because a start given without a scheme has no answer by `https`.
    Fallback,
}

impl AreaSource {
    /// The word used in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::GuessedStart => "guessed",
            Self::Redirect => "redirect",
            Self::Fallback => "fallback",
        }
    }

    /// Whether the user gave it in this form. What a server or a guess led to is trusted with no address, header or
    /// password.
    pub fn is_given(self) -> bool {
        matches!(self, Self::Start | Self::GuessedStart)
    }

    /// Reads [`AreaSource::as_str`]; an unknown word counts as a start.
    pub fn from_word(word: &str) -> Self {
        match word {
            "guessed" => Self::GuessedStart,
            "redirect" => Self::Redirect,
            "fallback" => Self::Fallback,
            _ => Self::Start,
        }
    }
}

/// An admitted URL.
#[derive(Debug, Clone)]
pub struct UrlRow {
    /// The number of its admission.
    pub id: Ticket,
    /// Its host.
    pub host: HostId,
    /// What is fetched.
    pub url: WebUrl,
    /// What identifies it.
    pub key: Key,
    /// The hash of the key.
    pub fingerprint: Fingerprint,
    /// How it was found.
    pub hop: Hop,
    /// Where it was found first.
    pub via: Option<Ticket>,
    /// Links followed from a start.
    pub depth: u32,
    /// Redirects followed since the last link.
    pub redirects: u32,
    /// Its place in the order of its host: [`Ranking::rank`](crate::order::Ranking::rank).
    pub rank: i64,
    /// Set when it is abandoned as it is admitted.
    pub abandoned: Option<Abandonment>,
}

impl UrlRow {
    /// Its key, where that is not the URL itself.
    pub fn own_key(&self) -> Option<&str> {
        Some(self.key.as_str()).filter(|key| *key != self.url.as_str())
    }

    /// What the frontier is to know of it.
    pub fn item(&self) -> WorkItem {
        let Self { id, host, hop, depth, redirects, rank, .. } = *self;
        WorkItem { rank, depth, redirects, ..WorkItem::discover(id, host, self.url.clone(), hop) }
    }

    /// The word for its state in the database.
    pub fn state(&self) -> &'static str {
        if self.abandoned.is_some() { "abandoned" } else { "queued" }
    }
}

/// Why a URL was abandoned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Abandonment {
    /// The scope was made narrower than when it was admitted.
    Scope,
    /// robots.txt forbids it.
    Robots,
    /// The start was given without a scheme, and has no answer by `https`.
    NoHttps,
    /// The crawl may not connect to its host's address.
    Address,
    /// There is no such host.
    NoName,
}

impl Abandonment {
    /// The reason's name in the database and in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scope => "scope",
            Self::Robots => "robots",
            Self::NoHttps => "no_https",
            Self::Address => "address",
            Self::NoName => "no_name",
        }
    }

    /// What a person reads, with what can be done about it.
    pub fn explained(self) -> &'static str {
        match self {
            Self::Scope => "the scope is narrower than it was",
            Self::Robots => "robots.txt forbids it",
            Self::NoHttps => "no answer over https",
            Self::Address => FailureCause::Address.explained(),
            Self::NoName => FailureCause::NoName.explained(),
        }
    }

    /// Reasons that the next start may find gone: it tries what was abandoned for them again.
    pub const TRIED_AGAIN: [Self; 2] = [Self::Address, Self::NoName];
}

/// What a visit came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VisitOutcome {
    /// 2xx: the page was stored.
    Stored,
    /// 3xx with a target.
    Redirected,
    /// Any other status.
    Broken,
    /// No response after all retries.
    Failed,
}

impl VisitOutcome {
    /// The outcome's name in the database and in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Redirected => "redirected",
            Self::Broken => "broken",
            Self::Failed => "failed",
        }
    }
}

/// A visit with a final answer.
#[derive(Debug, Clone)]
pub struct VisitRow {
    /// The URL.
    pub url: Ticket,
    /// When the answer was complete.
    pub at: Moment,
    /// What it came to.
    pub outcome: VisitOutcome,
    /// Status, if there was a response.
    pub status: Option<u16>,
    /// For [`VisitOutcome::Failed`] and [`VisitOutcome::Broken`]: what went wrong, in one word.
    pub reason: Option<Box<str>>,
    /// `Content-Type` as sent.
    pub content_type: Option<Box<str>>,
    /// Whether it is HTML.
    pub html: bool,
    /// Length of the decoded body.
    pub bytes: u64,
    /// Body bytes as received.
    pub wire_bytes: u64,
    /// SHA-256 of the decoded body, when it was stored.
    pub digest: Option<[u8; 32]>,
    /// What the page's head says of it.
    pub head: PageHead,
    /// Target of the redirect.
    pub redirect: Option<Box<str>>,
    /// Why the body is cut short, if it is.
    pub truncated: Option<&'static str>,
    /// `ETag` of a page that was stored, as received.
    pub etag: Option<Box<[u8]>>,
    /// Its `Last-Modified`.
    pub last_modified: Option<Box<[u8]>>,
    /// Seconds for which its headers let expect that the page stays as it is.
    pub steady: Option<u32>,
    /// What it says, where that is kept.
    pub text: Option<TextRow>,
    /// Whether it was fetched whole though its server had said, in this sequence, that it was not modified.
    pub audited: bool,
    /// [`Fingerprint::short`] of every candidate of the visit that belongs to the scope, in page order.
    pub links: Vec<u64>,
    /// What these and the refused ones say of themselves, where that is kept ([`LabelPacker`](super::LabelPacker)).
    pub labels: Option<Vec<u8>>,
    /// The copy that it is compared with, where the lease had one.
    pub copy: Option<Arc<KnownCopy>>,
    /// What is kept of the answer for each taker; nothing where there are none.
    pub kept: Vec<Option<KeptPart>>,
}

impl VisitRow {
    /// A visit without a body.
    pub fn new(url: Ticket, at: Moment, outcome: VisitOutcome, reason: Option<Box<str>>) -> Self {
        Self {
            url,
            at,
            outcome,
            status: None,
            reason,
            content_type: None,
            html: false,
            bytes: 0,
            wire_bytes: 0,
            digest: None,
            head: PageHead::default(),
            redirect: None,
            truncated: None,
            etag: None,
            last_modified: None,
            steady: None,
            text: None,
            audited: false,
            links: Vec::new(),
            labels: None,
            copy: None,
            kept: Vec::new(),
        }
    }

    /// Whether the server said that the copy of an earlier visit is still good: that has what is on the page.
    pub fn is_not_modified(&self) -> bool {
        self.outcome == VisitOutcome::Stored && self.status == Some(304)
    }
}

/// How a URL's row changes with a step.
#[derive(Debug, Clone)]
pub enum UrlChange {
    /// It has its final answer.
    Finished,
    /// It is queued until `due`.
    Retry {
        /// Failed fetches so far, by its own fault.
        attempts: u32,
        /// Not before this moment.
        due: Moment,
        /// When the last fetch failed; the epoch where that has cost an attempt already.
        failed: Moment,
        /// What went wrong, in one word.
        reason: Box<str>,
    },
    /// It is beyond a limit, and stays queued: it is not fetched in this run, unless it turns out to be nearer to a start.
    Held,
    /// It will not be fetched.
    Abandoned(Abandonment),
}

/// What is known of a host's robots.txt.
#[derive(Debug, Clone, Default)]
pub struct RobotsRow {
    /// Status of the answer, if there was one.
    pub status: Option<u16>,
    /// Its body, as far as it is read.
    pub body: Option<Vec<u8>>,
    /// When it was fetched.
    pub fetched: Moment,
    /// Since when it could not be read.
    pub first_failed: Option<Moment>,
    /// The pause it asks for.
    pub crawl_delay_millis: Option<u64>,
    /// The address of the host that answered.
    pub address: Option<IpAddr>,
}

/// The sitemaps of a host were looked for in the sequence.
#[derive(Debug, Clone, Copy)]
pub struct SitemapsRow {
    /// The host.
    pub host: HostId,
    /// Its robots.txt names none, and one is at the usual place.
    pub is_guessed: bool,
}

/// The state of a sequence at its end, or after the later visits of pages that were due.
#[derive(Debug, Clone)]
pub struct SequenceEnd {
    /// `drained`, `budget`, `unreachable`, `loss`, `signal` or `failed`; `None` where it goes on.
    pub end: Option<&'static str>,
    /// When.
    pub at: Moment,
    /// Whether this is the end of a run.
    pub is_run: bool,
    /// Wall seconds of it, or of the visits since the end before.
    pub seconds: f64,
    /// CPU seconds of the same.
    pub cpu_seconds: f64,
    /// Peak resident memory of this run, in bytes.
    pub peak_memory: Option<u64>,
    /// The cache's figures as shown in the summary (JSON).
    pub cache: String,
    /// Whether what has changed is reported now: not where the sequence goes on.
    pub tells: bool,
}
