//! What a crawl directory keeps, as rows and messages, and the ports to it.
//!
//! Owns: the types that pass from the core to the one writer ([`Message`], [`Step`]) and from the crawl directory back; where a run
//! writes ([`Store`]), and what commands read ([`ReadSide`]).
//!
//! Invariants: a [`Step`] is written in one transaction, and messages are applied in the order in which they were sent. So what is committed
//! is always a prefix of the core's history.
//!
//! Does not know: how URLs are chosen or fetched, and what stores the rows. The adapter is [`sqlite`].

mod changes;
mod compared;
mod counters;
mod crawl;
mod error;
mod kept;
mod labels;
mod leb128;
mod link_checks;
mod links;
mod lost;
mod message;
mod packing;
mod pages;
mod ranks;
mod reading;
mod removed;
mod resumed;
mod retry;
mod revisits;
mod rows;
mod search;
mod sitemaps;
pub mod sqlite;
mod summary;
mod why;
mod writing;

pub use changes::{
    ChangeLine, ChangeRules, LinkChange, MaskLine, MaskedLine, NoiseFigures, PendingChange, SecondLookRow, Since,
    TextRow, placed_text, text_of, words_of,
};
pub use compared::ComparedPage;
pub use counters::{Counters, UNJUDGED};
pub use crawl::{LastSequence, NewCrawl, NextSequence, Revisit, is_over};
pub use error::{ReadError, Reason, StoreError};
pub use kept::KeptPart;
pub use labels::{ANCHOR, ASSET, LabelPacker, Labels, LinkLabel, RefusedLink, pack_names, take_names};
pub use link_checks::{
    CheckedContent, CheckedLink, LinkCheckCounts, LinkCheckOutcome, LinkCheckRequest, LinkToCheck, LinksToCheck,
    LinksWanted,
};
pub use links::{LinkEnd, LinkFound, LinkLine, LinkQuery, LinksRead};
pub use lost::{AfterSweep, LostRow, LostState, Refetch, RescueOrder, RescueRow, SweepRequest, Swept};
pub use message::{AuditStanding, Confirmed, Message, Replay, ReplayedUrl, Reply, Room, Step};
pub use pages::{ContentTypes, PageChange, PageColumn, PageFilter, PageLine, PageOrder, PageOutcome};
pub use ranks::{RankRow, RankRows};
pub use reading::{CheckReport, Finding, ReadSide};
pub use removed::RemovedUrls;
pub use resumed::{HostSitemaps, HostState, PendingStart, Resumed};
pub use retry::{RetryCounts, RetryFilter};
pub use revisits::{DuePages, DueRequest, RevisitOrder, SecondLooks};
pub use rows::{
    Abandonment, AreaRow, AreaSource, HostRow, RobotsRow, SequenceEnd, SitemapsRow, UrlChange, UrlRow, VisitOutcome,
    VisitRow,
};
pub use search::{SearchHit, SearchResults};
pub use sitemaps::{SitemapFinding, SitemapLine};
pub use summary::{
    CheckedRevisits, LostCounts, PageCounts, SequenceLosses, StoredSummary, SweepCounts, UnhealthyHost, UrlCounts,
};
pub use why::{HostFacts, LostFacts, Proposer, Proposers, UrlFacts, UrlRecord};
pub use writing::{Errs, Incoming, KeptHistory, RunStart, Store, StoreWriter, WriterSettings};
