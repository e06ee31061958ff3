//! [`BudgetedCache`]: the URL cache under its loss budget.

use std::time::Duration;

use thiserror::Error;
use urlcache::{
    Audit, BuildError, CacheConfig, ErrorSide, LossLedger, Occupancy, ResetPolicy, Strategy, Trigger, UrlCache, UrlKey,
    Verdict,
};

use super::{Candidate, Passed};
use crate::{
    store::{ReplayedUrl, Standing},
    time::Moment,
    url::Fingerprint,
};

/// What was done to have room for the next answers.
pub(in crate::engine) enum Room {
    /// Nothing: there is room, or there is to be none.
    Enough,
    /// A cache was made anew: once it is [filled](BudgetedCache::filled) there is room.
    Fill(Filling),
    /// It was enlarged so many times.
    Grown {
        /// 0 when it could not be.
        times: u64,
    },
    /// There is no room, and the crawl, or its sequence, is to end.
    Spent,
    /// There is room, but the sequence is to be the last with this cache.
    Aged,
}

/// A URL cache that is being filled from the URL table, and its audit when that is to be filled too.
pub(in crate::engine) struct Filling {
    cache: Box<dyn UrlCache>,
    audit: Option<Audit>,
    rebuilt: bool,
}

/// The URL cache of the crawl, its loss ledger, its reset policy, and the audit of its verdicts.
pub(in crate::engine) struct BudgetedCache {
    config: CacheConfig,
    cache: Box<dyn UrlCache>,
    ledger: LossLedger,
    generation: u32,
    /// What it was given outlives every filter.
    pub(in crate::engine) audit: Option<Audit>,
    /// When this filter was made.
    since: Moment,
    /// The age at which it must be replaced.
    reset_every: Option<Duration>,
    /// Rotations that were counted.
    rotations: u64,
    /// Whether it was said that rotating does not keep the budget.
    said_overrun: bool,
    verdicts: Vec<Verdict>,
}

/// Why the URL cache cannot go on.
#[derive(Debug, Error)]
pub enum CacheFailure {
    /// It cannot be made as large as the loss budget asks.
    #[error("the URL cache: {0}")]
    Build(#[from] BuildError),
}

impl BudgetedCache {
    /// A cache for a crawl that has had `generation` filters before and `spent` expected losses behind it and `already` URLs in its table.
    pub(in crate::engine) fn new(
        config: CacheConfig,
        generation: u32,
        spent: f64,
        already: u64,
    ) -> Result<Self, CacheFailure> {
        let ledger = LossLedger::new(config.budget, config.reset, spent);
        let cache = config.build(generation, already)?;
        let mut budgeted = Self {
            config,
            cache,
            ledger,
            generation,
            audit: None,
            since: Moment::EPOCH,
            reset_every: None,
            rotations: 0,
            said_overrun: false,
            verdicts: Vec::new(),
        };
        budgeted.heed_ceiling(already)?;
        Ok(budgeted)
    }

    /// Has the cache be made anew at this age, counted from `now`.
    pub(in crate::engine) fn reset_every(&mut self, age: Option<Duration>, now: Moment) {
        (self.reset_every, self.since) = (age, now);
    }

    /// Test-and-set of a batch; one verdict each.
    pub(in crate::engine) fn insert(&mut self, passed: &Passed) -> &[Verdict] {
        let texts = self.texts(passed);
        self.cache.insert_batch(&keys(passed, &texts), &mut self.verdicts);
        &self.verdicts
    }

    /// How many of these it may call new. The few times when it makes a difference it has a look at each: most links of a
    /// page are seen, and must not make the cache be reset.
    pub(in crate::engine) fn new_among(&self, passed: &Passed) -> usize {
        let (held, all) = (self.cache.occupancy(), passed.len());
        let fit = !self.ledger.must_reset(&held, all) && (!self.is_exact() || self.let_grow(&held, all as u64).is_ok());
        if fit {
            return all;
        }
        self.cache.unknown_among(&keys(passed, &self.texts(passed)))
    }

    /// The candidates with their texts, if the cache reads those.
    fn texts(&self, passed: &Passed) -> Vec<Option<Candidate>> {
        let reads = self.config.reads_text();
        if reads { passed.iter().map(|proposal| passed.candidate(proposal)).collect() } else { Vec::new() }
    }

    /// Sees to it that so many more answers keep the budget, as the reset policy says. A cache that is made anew has room
    /// for them afterwards.
    pub(in crate::engine) fn make_room(&mut self, answers: usize, now: Moment) -> Result<Room, CacheFailure> {
        let held = self.cache.occupancy();
        if self.is_exact()
            && let Err(failure) = self.let_grow(&held, answers as u64)
        {
            if self.config.reset != ResetPolicy::Stop {
                return Err(failure.into());
            }
            tracing::warn!(%failure, items = held.items, "the URL cache cannot hold more URLs");
            return Ok(Room::Spent);
        }
        let trigger = self.ledger.trigger(&held, answers).map(Trigger::name);
        let Some(trigger) = trigger.or_else(|| self.is_too_old(now).then_some("age")) else { return Ok(Room::Enough) };
        self.since = now;
        match self.config.reset {
            ResetPolicy::None => Ok(Room::Enough),
            ResetPolicy::Rotate => {
                self.cache.rotate();
                Ok(Room::Enough)
            }
            ResetPolicy::Grow if trigger != "age" => self.grow(answers),
            ResetPolicy::Grow | ResetPolicy::Rebuild => self.rebuild(answers, trigger),
            ResetPolicy::Restart if trigger == "age" => {
                tracing::info!("the URL cache is old: the next sequence begins when nothing is left to fetch");
                Ok(Room::Aged)
            }
            ResetPolicy::Stop if trigger == "age" => {
                tracing::warn!("the URL cache has reached its age limit (cache.reset_every)");
                Ok(Room::Spent)
            }
            ResetPolicy::Stop | ResetPolicy::Restart => {
                let expected_lost = self.expected_lost();
                tracing::warn!(trigger, items = held.items, expected_lost, "the loss budget allows no more URLs");
                Ok(Room::Spent)
            }
        }
    }

    /// Whether it may call a URL new that it was shown before.
    pub(in crate::engine) fn forgets(&self) -> bool {
        matches!(self.cache.error_side(), ErrorSide::MayForget | ErrorSide::Both)
    }

    /// So many URLs that it called new were known.
    pub(in crate::engine) fn forgot(&mut self, urls: usize) {
        self.cache.forgot(urls as u64);
    }

    /// How often it has dropped its oldest URLs since this was asked last.
    pub(in crate::engine) fn new_rotations(&mut self) -> u64 {
        let new = self.cache.rotations() - self.rotations;
        if new > 0 {
            self.rotations += new;
            let (now, expected_lost) = (self.cache.occupancy(), self.expected_lost());
            let (items, rate) = (now.items, now.expected_rate);
            tracing::info!(times = new, items, rate, expected_lost, "the URL cache has dropped its oldest URLs");
            let is_over = self.budget().is_some_and(|budget| expected_lost > budget);
            if is_over && !std::mem::replace(&mut self.said_overrun, true) {
                tracing::warn!(
                    expected_lost,
                    "rotating keeps the false-positive rate, but the expected losses exceed the loss budget"
                );
            }
        }
        new
    }

    /// The exact cache doubles its table by itself, and must not pass the ceiling meanwhile, when it has both.
    fn let_grow(&self, held: &Occupancy, answers: u64) -> Result<(), BuildError> {
        let keys = held.items + answers;
        let design = self.config.design(self.generation, keys)?;
        let most = if design.bits > held.bits { design.bits + design.bits / 2 } else { held.bits };
        match self.config.max_memory {
            Some(limit) if most / 8 > limit => Err(BuildError::Ceiling { keys, limit }),
            _ => Ok(()),
        }
    }

    fn is_too_old(&self, now: Moment) -> bool {
        self.reset_every.is_some_and(|age| self.since + age <= now)
    }

    /// Makes it anew from the URL table: larger if need be, with a new hash seed. Waits until all that was sent is
    /// committed.
    fn rebuild(&mut self, answers: usize, trigger: &str) -> Result<Room, CacheFailure> {
        let old = self.cache.occupancy();
        self.ledger.carry(&old);
        self.generation += 1;
        let already = old.items.max(answers as u64);
        self.heed_ceiling(already)?;
        // The old filter goes before the new one is made: they need not fit into memory together.
        self.cache = Box::new(urlcache::ExactCache::new());
        let cache = self.config.build(self.generation, already)?;
        let generation = self.generation;
        let items = old.items;
        let rate = old.expected_rate;
        let bits = cache.occupancy().bits;
        tracing::info!(trigger, generation, items, rate, bits, "rebuilding the URL cache");
        Ok(Room::Fill(Filling { cache, audit: None, rebuilt: true }))
    }

    /// Enlarges it where it stands until it has room, or the ceiling is reached.
    fn grow(&mut self, answers: usize) -> Result<Room, CacheFailure> {
        let mut times = 0;
        while self.ledger.must_reset(&self.cache.occupancy(), answers) {
            let fits = |bits: u64| self.config.max_memory.is_none_or(|limit| bits / 8 <= limit);
            if !self.cache.growing_bits().is_some_and(fits) || !self.cache.grow()? {
                self.ledger.hold();
                let items = self.cache.occupancy().items;
                tracing::warn!(items, "the URL cache cannot grow any more, so it will lose more URLs");
                break;
            }
            times += 1;
        }
        let now = self.cache.occupancy();
        let items = now.items;
        let bits = now.bits;
        let expected_lost = self.expected_lost();
        tracing::info!(times, items, bits, expected_lost, "the URL cache has grown");
        if self.budget().is_some_and(|budget| expected_lost > budget) {
            tracing::warn!(
                expected_lost,
                "growing keeps the false-positive rate, but the expected losses exceed the loss budget"
            );
        }
        Ok(Room::Grown { times })
    }

    /// Says so when the memory ceiling makes the next filter smaller than the budget asks; no further one would be
    /// better.
    fn heed_ceiling(&mut self, already: u64) -> Result<(), CacheFailure> {
        let design = self.config.design(self.generation, already)?;
        if design.at_ceiling {
            let (urls, expected_lost) = (design.capacity, design.expected_lost);
            tracing::warn!(
                urls,
                expected_lost,
                "the memory limit keeps the URL cache smaller than the loss budget needs; with this number of URLs, this \
                 number is expected to be lost: allow more memory (--max-cache-memory) or more losses (--max-lost-urls)"
            );
            self.ledger.hold();
        }
        Ok(())
    }

    /// Gives cache and audit away to be filled from the URL table, at the start of a run that goes on.
    pub(in crate::engine) fn refilling(&mut self) -> Filling {
        let cache = std::mem::replace(&mut self.cache, Box::new(urlcache::ExactCache::new()));
        Filling { cache, audit: self.audit.take(), rebuilt: false }
    }

    /// Takes back what was given away.
    pub(in crate::engine) fn filled(&mut self, filled: Filling) {
        self.cache = filled.cache;
        if !filled.rebuilt {
            self.audit = filled.audit;
            self.rotations = self.cache.rotations();
        }
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

/// What the cache is shown of each; without texts it is shown fingerprints alone.
fn keys<'a>(passed: &'a Passed, texts: &'a [Option<Candidate>]) -> Vec<UrlKey<'a>> {
    let texts = texts.iter().map(|candidate| candidate.as_ref().map_or("", |candidate| candidate.key.as_str()));
    passed.iter().zip(texts.chain(std::iter::repeat(""))).map(|(one, text)| key(text, one.fingerprint)).collect()
}

impl Filling {
    /// Whether it takes the place of a cache that was too small or too old.
    pub(in crate::engine) fn is_rebuilt(&self) -> bool {
        self.rebuilt
    }

    /// What the sequence's audit saw lost.
    pub(in crate::engine) fn lost(&mut self, fingerprint: Fingerprint, standing: Standing) {
        let standing = match standing {
            Standing::Held => urlcache::Standing::Held,
            Standing::Trial => urlcache::Standing::Trial,
            Standing::FalsePositive => urlcache::Standing::FalsePositive,
        };
        if let Some(audit) = &mut self.audit {
            audit.restore(fingerprint.value(), standing);
        }
    }

    /// A URL of the sequence.
    pub(in crate::engine) fn row(&mut self, url: ReplayedUrl<'_>) {
        self.cache.refill(key(url.key, url.fingerprint));
        self.lost(url.fingerprint, url.standing);
    }
}
