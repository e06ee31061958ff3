//! [`Readings`]: what is read of crawl directories for metrics.
//!
//! Invariants: of sequences that have ended, counters are read once; all rows are counted for a hundredth of the time at most.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::roster::RosterEntry;
use crate::{
    config::Layers,
    engine::Progress,
    observe::summary,
    session::directory,
    store::{ChangeLine, Counters, ReadSide, SequenceLosses, Since},
};

/// The share of the time that counting rows may take: one part in so many.
const SHARE: u32 = 100;

/// Changes that are shown.
const SHOWN_CHANGES: u32 = 20;

/// Sequences whose losses and freshness are shown.
const SHOWN_SEQUENCES: u32 = 100;

/// It is not done more often than that.
const LEAST: Duration = Duration::from_secs(1);

/// What was read of all crawls.
#[derive(Default)]
pub(super) struct Readings {
    crawls: HashMap<Arc<str>, Reading>,
    /// When rows may be counted anew.
    next: Option<Instant>,
}

/// What was read of one.
#[derive(Default)]
struct Reading {
    dir: PathBuf,
    /// The sum of all sequences before the last one, and the number of that.
    ended: Counters,
    last: u32,
    /// Of the last sequence, as it was when rows were counted.
    counted: Option<SequenceRead>,
}

/// What is shown of a crawl.
pub(super) struct CrawlRead {
    pub(super) name: Arc<str>,
    /// What all its sequences have counted.
    pub(super) counters: Counters,
    pub(super) last: Option<SequenceRead>,
    /// What runs in this process, or ran last.
    pub(super) figures: Option<Progress>,
}

/// What is shown of the last sequence of a crawl.
#[derive(Clone)]
pub(super) struct SequenceRead {
    /// As `status --json` has it.
    document: Arc<Value>,
    /// Hosts that are well, that are waited for, and that are paused.
    pub(super) hosts_by_health: [u64; 3],
    pub(super) changes: u64,
    /// URLs that its URL cache may lose.
    pub(super) budget_lost: Option<f64>,
    /// The last changes, the last one first.
    pub(super) changes_shown: Arc<[ChangeLine]>,
    /// The last sequences, the last one first.
    pub(super) sequences: Arc<[SequenceLosses]>,
}

impl SequenceRead {
    /// A figure of the document; `None` where it is null.
    pub(super) fn at(&self, pointer: &str) -> Option<f64> {
        self.document.pointer(pointer)?.as_f64()
    }

    /// The same as a whole number.
    pub(super) fn whole(&self, pointer: &str) -> Option<u64> {
        self.document.pointer(pointer)?.as_u64()
    }

    /// Hosts that do not answer.
    pub(super) fn hosts(&self) -> &[Value] {
        self.document["hosts"].as_array().map_or(&[], Vec::as_slice)
    }

    fn of(records: &impl ReadSide) -> Option<Self> {
        let summary = records.summary().ok()??;
        let document = Arc::new(summary::document(&summary));
        let settings = summary.settings.as_deref().and_then(|settings| Layers::new().stored(settings).resolve().ok());
        Some(Self {
            document,
            hosts_by_health: [
                summary.known_hosts.saturating_sub(summary.unhealthy_hosts),
                summary.unhealthy_hosts.saturating_sub(summary.paused_hosts),
                summary.paused_hosts,
            ],
            changes: summary.reported,
            changes_shown: changes(records),
            sequences: records.losses(SHOWN_SEQUENCES).unwrap_or_default().into(),
            budget_lost: settings.and_then(|resolved| resolved.settings.cache.max_lost_urls),
        })
    }
}

impl Readings {
    /// These crawls as they are now; those that cannot be read are left out.
    pub(super) fn read(&mut self, crawls: &[(Arc<str>, RosterEntry)]) -> Vec<CrawlRead> {
        self.crawls
            .retain(|name, reading| crawls.iter().any(|(other, entry)| other == name && entry.dir == reading.dir));
        let began = Instant::now();
        let counts = self.next.is_none_or(|next| began >= next);
        let mut all = Vec::new();
        for (name, entry) in crawls {
            let new = || Reading { dir: entry.dir.clone(), ..Reading::default() };
            let reading = self.crawls.entry(Arc::clone(name)).or_insert_with(new);
            let Some(counters) = reading.read(&entry.dir, counts) else { continue };
            let figures = entry.figures.as_ref().map(|figures| figures.borrow().clone());
            all.push(CrawlRead { name: Arc::clone(name), counters, last: reading.counted.clone(), figures });
        }
        if counts {
            self.next = Some(Instant::now() + (began.elapsed() * SHARE).max(LEAST));
        }
        all
    }
}

impl Reading {
    fn read(&mut self, dir: &Path, counts: bool) -> Option<Counters> {
        let records = directory::records(dir).ok()?;
        let read = records.counters(self.last).ok()?;
        let mut sum = self.ended.clone();
        for (number, counters) in &read {
            if *number > self.last {
                // The one before has ended.
                (self.ended, self.last) = (sum.clone(), *number);
            }
            sum.add(counters);
        }
        if counts || self.counted.is_none() {
            self.counted = SequenceRead::of(&records);
        }
        Some(sum)
    }
}

/// The last changes, the last one first. What cannot be read is not shown: what else is read says why.
fn changes(records: &impl ReadSide) -> Arc<[ChangeLine]> {
    let mut last = Vec::new();
    let keep = |line| {
        last.push(line);
        true
    };
    let read = records.changes(Since::Newest(SHOWN_CHANGES), false, keep);
    last.reverse();
    read.map(|()| last.into()).unwrap_or_default()
}
