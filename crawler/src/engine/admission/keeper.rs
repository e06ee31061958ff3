//! [`CacheKeeper`]: the URL cache under its loss budget.

use thiserror::Error;
use tokio::sync::{mpsc, oneshot};
use urlcache::{Audit, BuildError, CacheConfig, LossLedger, Occupancy, Strategy, UrlCache, UrlKey, Verdict};

use super::Proposal;
use crate::{
    store::{Message, Replay, ReplayedUrl, Standing},
    url::Fingerprint,
};

/// The URL cache of the crawl, its loss ledger, its reset policy, and the audit of its verdicts.
pub(in crate::engine) struct CacheKeeper {
    config: CacheConfig,
    cache: Box<dyn UrlCache>,
    ledger: LossLedger,
    generation: u32,
    /// What it was given outlives every filter.
    pub(in crate::engine) audit: Option<Audit>,
    verdicts: Vec<Verdict>,
}

/// Why the URL cache cannot go on.
#[derive(Debug, Error)]
pub enum CacheFailure {
    /// It cannot be made as large as the loss budget asks.
    #[error("the URL cache: {0}")]
    Build(#[from] BuildError),
    /// The writer that holds the URL table is gone.
    #[error("the URL table is gone")]
    TableGone,
}

impl CacheKeeper {
    /// A cache for a crawl that has had `generation` filters before and `spent` expected losses behind it and `already` URLs in its table.
    pub(in crate::engine) fn new(
        config: CacheConfig,
        generation: u32,
        spent: f64,
        already: u64,
    ) -> Result<Self, CacheFailure> {
        let ledger = LossLedger::new(config.budget, config.reset, spent);
        let cache = config.build(generation, already)?;
        Ok(Self { config, cache, ledger, generation, audit: None, verdicts: Vec::new() })
    }

    /// Test-and-set of a batch; one verdict each.
    pub(in crate::engine) fn insert(&mut self, proposals: &[Proposal]) -> &[Verdict] {
        let keys: Vec<_> = proposals.iter().map(|proposal| key(proposal.key.as_str(), proposal.fingerprint)).collect();
        self.cache.insert_batch(&keys, &mut self.verdicts);
        &self.verdicts
    }

    /// Whether it must be made anew before so many more answers.
    pub(in crate::engine) fn must_reset(&self, answers: usize) -> bool {
        self.ledger.must_reset(&self.cache.occupancy(), answers)
    }

    /// Makes it anew from the URL table: larger if need be, with a new hash seed. Waits until all that was sent is committed.
    /// Afterwards it has room for `answers`.
    pub(in crate::engine) async fn rebuild(
        &mut self,
        answers: usize,
        writer: &mpsc::Sender<Message>,
    ) -> Result<(), CacheFailure> {
        let old = self.cache.occupancy();
        self.ledger.carry(&old);
        self.generation += 1;
        tracing::info!(
            generation = self.generation,
            items = old.items,
            rate = old.expected_rate,
            "rebuilding the URL cache"
        );
        // The old filter goes before the new one is made: they need not fit into memory together.
        self.cache = Box::new(urlcache::ExactCache::new());
        let cache = self.config.build(self.generation, old.items.max(answers as u64))?;
        (self.cache, _) = refill(cache, None, writer).await?;
        Ok(())
    }

    /// Fills cache and audit from the URL table, at the start of a run that goes on.
    pub(in crate::engine) async fn restore(&mut self, writer: &mpsc::Sender<Message>) -> Result<(), CacheFailure> {
        let cache = std::mem::replace(&mut self.cache, Box::new(urlcache::ExactCache::new()));
        (self.cache, self.audit) = refill(cache, self.audit.take(), writer).await?;
        Ok(())
    }

    /// Expected losses of the sequence so far, in URLs.
    pub(in crate::engine) fn expected_lost(&self) -> f64 {
        self.ledger.expected_lost(&self.cache.occupancy())
    }

    /// Which of the sequence's filters it is, from 0.
    pub(in crate::engine) fn generation(&self) -> u32 {
        self.generation
    }

    pub(in crate::engine) fn occupancy(&self) -> Occupancy {
        self.cache.occupancy()
    }

    /// The names of strategy and layout.
    pub(in crate::engine) fn names(&self) -> [&'static str; 2] {
        [self.cache.strategy(), self.cache.layout()]
    }

    /// Whether it never mistakes a new URL for a seen one.
    pub(in crate::engine) fn is_exact(&self) -> bool {
        self.config.strategy == Strategy::Exact
    }

    /// The loss budget, in URLs.
    pub(in crate::engine) fn budget(&self) -> Option<f64> {
        self.config.budget.max_lost_urls
    }
}

fn key(text: &str, fingerprint: Fingerprint) -> UrlKey<'_> {
    UrlKey { bytes: text.as_bytes(), hash: fingerprint.value() }
}

/// A cache, and its audit when that is to be filled too.
type Filled = (Box<dyn UrlCache>, Option<Audit>);

async fn refill(
    cache: Box<dyn UrlCache>,
    audit: Option<Audit>,
    writer: &mpsc::Sender<Message>,
) -> Result<Filled, CacheFailure> {
    let (filled, filling) = oneshot::channel();
    let replay = Message::Replay(Box::new(Refilling { cache, audit, filled }));
    writer.send(replay).await.map_err(|_| CacheFailure::TableGone)?;
    filling.await.map_err(|_| CacheFailure::TableGone)
}

/// What is on its way through the writer, which shows it every URL of the sequence.
struct Refilling {
    cache: Box<dyn UrlCache>,
    audit: Option<Audit>,
    filled: oneshot::Sender<Filled>,
}

impl Refilling {
    fn audit(&mut self, fingerprint: Fingerprint, standing: Standing) {
        let standing = match standing {
            Standing::Held => urlcache::Standing::Held,
            Standing::Trial => urlcache::Standing::Trial,
            Standing::FalsePositive => urlcache::Standing::FalsePositive,
        };
        if let Some(audit) = &mut self.audit {
            audit.restore(fingerprint.value(), standing);
        }
    }
}

impl Replay for Refilling {
    fn lost(&mut self, fingerprint: Fingerprint, standing: Standing) {
        self.audit(fingerprint, standing);
    }

    fn row(&mut self, url: ReplayedUrl<'_>) {
        self.cache.refill(key(url.key, url.fingerprint));
        self.audit(url.fingerprint, url.standing);
    }

    fn done(self: Box<Self>) {
        // Nobody waits for it any more when the crawl has failed meanwhile.
        let _ = self.filled.send((self.cache, self.audit));
    }
}
