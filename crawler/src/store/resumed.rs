//! [`Resumed`]: what a crawl needs to go on.

use std::{collections::HashSet, sync::Arc};

use super::{AreaRow, Counters};
use crate::{
    candidate::{HostId, Ticket},
    health::HealthRow,
    queue::Counts,
    sections::SectionUse,
    time::Moment,
    url::{Canonicalizer, Fingerprint, FingerprintSeed},
};

/// The state of a crawl as it was committed.
#[derive(Debug)]
pub struct Resumed {
    /// The secret seed of its fingerprints.
    pub fingerprint_seed: FingerprintSeed,
    /// The rules that make its keys.
    pub key_rules: Canonicalizer,
    /// The sequence that was being crawled.
    pub sequence: u32,
    /// The secret hash seed of its URL cache.
    pub hash_seed: u64,
    /// How that sequence last ended; `None` after a kill.
    pub end: Option<String>,
    /// Its sums.
    pub counters: Counters,
    /// URLs its audit holds at most; `None` where there was no audit, or none yet.
    pub audit_sample: Option<u64>,
    /// The sweep that proves this state: `report` or `rescue`; `None` when there was none.
    pub swept: Option<String>,
    /// URLs that the sequence before admitted, and links that it did not judge; `None` in the first.
    pub admitted_before: Option<u64>,
    /// How many URLs are queued, finished and so on.
    pub counts: Counts,
    /// What is in the scope by itself.
    pub areas: Vec<AreaRow>,
    /// Every host, by ascending number from 0.
    pub hosts: Vec<HostState>,
    /// The last number given to an admission, in whatever sequence; 0 when there is none.
    pub last_url: u64,
    /// Queued starts and targets of their redirects.
    pub pending_starts: Vec<PendingStart>,
    /// What the sequence has fetched of each section.
    pub section_use: SectionUse,
    /// URLs that were removed, and are not asked for again.
    pub removed: HashSet<Fingerprint>,
}

/// A start, or the target of its redirect, without a final answer.
#[derive(Debug)]
pub struct PendingStart {
    /// The number of its admission.
    pub id: Ticket,
    /// What is fetched.
    pub url: String,
}

/// What is known of a host's sitemaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostSitemaps {
    /// They were looked for in the sequence, or are being looked for.
    pub are_asked: bool,
    /// One was found at the usual place once.
    pub is_guessed: bool,
}

/// A host as it was committed.
#[derive(Debug, Default)]
pub struct HostState {
    /// Its number.
    pub id: HostId,
    /// Its origin's text.
    pub origin: Arc<str>,
    /// Whether it was ever asked.
    pub asked: bool,
    /// Whether it ever gave an answer that could be used.
    pub answered: bool,
    /// When its robots.txt was fetched, if that can still be used.
    pub robots_fetched: Option<Moment>,
    /// What is known of its sitemaps.
    pub sitemaps: HostSitemaps,
    /// What is wrong with it.
    pub health: Option<Box<HealthRow>>,
    /// A URL whose last visit stored a page, of any sequence.
    pub known_good: Option<Box<str>>,
    /// The pause its robots.txt asked for, in milliseconds.
    pub crawl_delay: Option<u64>,
    /// Queued rows without a due time, up to the depth limit.
    pub plain: u64,
    /// Queued rows with a due time, up to the depth limit.
    pub waiting: u64,
    /// Those of them that cost an attempt.
    pub tried: u64,
    /// Queued rows beyond the depth limit.
    pub held: u64,
    /// The earliest due time.
    pub next_due: Option<Moment>,
    /// Pages stored in the sequence.
    pub stored: u64,
    /// URLs with a final answer in it.
    pub fetched: u64,
    /// Queued rows by depth, up to the depth limit; empty where there is none.
    pub by_depth: Vec<(u32, u64)>,
}
