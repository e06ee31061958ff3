//! [`SeenCache`]: the URL cache of the crawl, with its audit, its age limit and its log messages.
//!
//! The library keeps the loss budget and the reset policy ([`BudgetedCache`]).

use std::time::Duration;

use thiserror::Error;
use urlcache::{
    Answer, Audit, BudgetedCache, BuildError, CacheConfig, ErrorSide, LossFigure, Occupancy, Refill, ResetPolicy,
    Strategy, Trigger, UrlKey,
};

use crate::{
    engine::judge::{Candidate, Passed},
    store::{AuditStanding, ReplayedUrl},
    time::Moment,
    url::Fingerprint,
};

/// What was done to have room for the next answers.
pub(in crate::engine) enum CacheRoom {
    /// Nothing: there is room, or there is to be none.
    Enough,
    /// A cache was made anew: once it is [filled](SeenCache::filled) there is room.
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
    cache: Refill,
    audit: Option<Audit>,
    rebuilt: bool,
}

/// The URL cache of the crawl, and the audit of its answers.
pub(in crate::engine) struct SeenCache {
    cache: BudgetedCache,
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
    /// Whether it was said that there is no room.
    said_spent: bool,
    answers: Vec<Answer>,
}

/// Why the URL cache cannot go on.
#[derive(Debug, Error)]
pub enum CacheFailure {
    /// It cannot be made as large as the loss budget asks.
    #[error("the URL cache: {0}")]
    Build(#[from] BuildError),
}

impl SeenCache {
    /// A cache for a crawl that has had `generation` filters before and `spent` expected losses behind it and `already` URLs in its table.
    pub(in crate::engine) fn new(
        config: CacheConfig,
        generation: u32,
        spent: f64,
        already: u64,
    ) -> Result<Self, CacheFailure> {
        Ok(Self {
            cache: BudgetedCache::resume(config, generation, spent, already)?,
            audit: None,
            since: Moment::EPOCH,
            reset_every: None,
            rotations: 0,
            said_overrun: false,
            said_spent: false,
            answers: Vec::new(),
        })
    }

    /// Has the cache be made anew at this age, counted from `now`.
    pub(in crate::engine) fn reset_every(&mut self, age: Option<Duration>, now: Moment) {
        (self.reset_every, self.since) = (age, now);
    }

    /// Test-and-set of a batch; one answer each.
    pub(in crate::engine) fn insert(&mut self, passed: &Passed) -> &[Answer] {
        let texts = self.texts(passed);
        self.cache.judge(&keys(passed, &texts), &mut self.answers);
        &self.answers
    }

    /// How many of these it may call new. The few times when it makes a difference it has a look at each: most links of a
    /// page are seen, and must not make the cache be reset.
    pub(in crate::engine) fn new_among(&self, passed: &Passed) -> usize {
        let all = passed.len();
        if self.cache.has_room(all) { all } else { self.cache.unknown_among(&keys(passed, &self.texts(passed))) }
    }

    /// The candidates with their texts, if the cache reads those.
    fn texts(&self, passed: &Passed) -> Vec<Option<Candidate>> {
        let reads = self.cache.config().reads_text();
        if reads { passed.iter().map(|proposal| passed.candidate(proposal)).collect() } else { Vec::new() }
    }

    /// Sees to it that so many more answers keep the budget, as the reset policy says. A cache that is made anew has room
    /// for them afterwards.
    pub(in crate::engine) fn make_room(&mut self, answers: usize, now: Moment) -> Result<CacheRoom, CacheFailure> {
        let held = self.occupancy();
        let room = match self.cache.make_room(answers)? {
            urlcache::Room::Enough if self.is_too_old(now) => self.replace(answers)?,
            urlcache::Room::Enough => return Ok(CacheRoom::Enough),
            urlcache::Room::Refill(refill) => self.fill(refill, &held),
            urlcache::Room::Grown { times, enough } => self.grown(times, enough),
            urlcache::Room::Spent(trigger) => {
                self.tell_spent(trigger, held.items);
                CacheRoom::Spent
            }
        };
        self.since = now;
        Ok(room)
    }

    /// Says once why there is no room.
    fn tell_spent(&mut self, trigger: Trigger, items: u64) {
        if std::mem::replace(&mut self.said_spent, true) {
            return;
        }
        if trigger == Trigger::Memory {
            let limit = self.cache.config().max_memory;
            tracing::warn!(
                limit,
                items,
                "the URL cache cannot hold more URLs within --max-cache-memory: allow more memory, or choose another cache"
            );
            return;
        }
        let (trigger, expected_lost) = (trigger.name(), rounded(self.expected_lost()));
        tracing::warn!(trigger, items, expected_lost, "the loss budget allows no more URLs");
    }

    /// What is done with a cache that has reached its age limit.
    fn replace(&mut self, answers: usize) -> Result<CacheRoom, CacheFailure> {
        match self.cache.config().reset {
            ResetPolicy::None => Ok(CacheRoom::Enough),
            ResetPolicy::Rotate => {
                self.cache.rotate();
                Ok(CacheRoom::Enough)
            }
            ResetPolicy::Grow | ResetPolicy::Rebuild => {
                let held = self.occupancy();
                let refill = self.cache.rebuild(answers)?;
                Ok(self.fill(refill, &held))
            }
            ResetPolicy::Restart => {
                tracing::info!("the URL cache is old: the next sequence begins when nothing is left to fetch");
                Ok(CacheRoom::Aged)
            }
            ResetPolicy::Stop => {
                tracing::warn!("the URL cache has reached its age limit (cache.reset_every)");
                Ok(CacheRoom::Spent)
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
            let (now, expected_lost) = (self.occupancy(), rounded(self.expected_lost()));
            let (items, rate) = (now.items, rounded(now.expected_rate));
            tracing::info!(times = new, items, rate, expected_lost, "the URL cache has dropped its oldest URLs");
            if self.is_over() && !std::mem::replace(&mut self.said_overrun, true) {
                tracing::warn!(
                    expected_lost,
                    "rotating keeps the false-positive rate, but the expected losses exceed the loss budget"
                );
            }
        }
        new
    }

    fn is_too_old(&self, now: Moment) -> bool {
        self.reset_every.is_some_and(|age| self.since + age <= now)
    }

    fn is_over(&self) -> bool {
        self.budget().is_some_and(|budget| self.expected_lost() > budget)
    }

    /// A larger cache is filled from the URL table, when all that was sent is committed.
    fn fill(&self, cache: Refill, old: &Occupancy) -> CacheRoom {
        let (generation, trigger) = (self.generation(), cache.trigger().map_or("age", Trigger::name));
        let (items, rate) = (old.items, rounded(old.expected_rate));
        let bits = cache.bits();
        tracing::info!(trigger, generation, items, rate, bits, "rebuilding the URL cache");
        self.tell_ceiling();
        CacheRoom::Fill(Filling { cache, audit: None, rebuilt: true })
    }

    fn grown(&self, times: u32, enough: bool) -> CacheRoom {
        let now = self.occupancy();
        let (items, bits) = (now.items, now.bits);
        let expected_lost = rounded(self.expected_lost());
        if !enough {
            tracing::warn!(items, "the URL cache cannot grow any more, so it will lose more URLs");
        }
        tracing::info!(times, items, bits, expected_lost, "the URL cache has grown");
        if self.is_over() {
            tracing::warn!(
                expected_lost,
                "growing keeps the false-positive rate, but the expected losses exceed the loss budget"
            );
        }
        CacheRoom::Grown { times: times.into() }
    }

    /// Says so when the memory ceiling makes the filter smaller than the budget asks.
    pub(in crate::engine) fn tell_ceiling(&self) {
        let design = self.cache.design();
        if design.at_ceiling {
            tracing::warn!(
                limit = self.cache.config().max_memory,
                urls = design.keeps,
                "the memory limit keeps the URL cache small: with more URLs than this the crawl is expected to lose more than \
                 the loss budget; allow more memory (--max-cache-memory) or more losses (--max-lost-urls)"
            );
        }
    }

    /// Says so when the strategy keeps no account of its losses.
    pub(in crate::engine) fn tell_strategy(&self) {
        let strategy = self.cache.config().strategy;
        if !strategy.keeps_a_budget() {
            tracing::warn!(
                strategy = strategy.name(),
                "this cache strategy is for comparison: it keeps no loss budget, and may lose most URLs that consist of known \
                 path segments"
            );
        }
    }

    /// Gives cache and audit away to be filled from the URL table, at the start of a run that goes on.
    pub(in crate::engine) fn refilling(&mut self) -> Filling {
        Filling { cache: self.cache.refilling(), audit: self.audit.take(), rebuilt: false }
    }

    /// Takes back what was given away.
    pub(in crate::engine) fn filled(&mut self, filled: Filling) {
        self.cache.refilled(filled.cache);
        if !filled.rebuilt {
            self.audit = filled.audit;
            self.rotations = self.cache.rotations();
        }
    }

    /// Expected losses of the sequence so far, in URLs; 0 where there is no figure of them.
    pub(in crate::engine) fn expected_lost(&self) -> f64 {
        if self.figure() == LossFigure::Unknown { 0.0 } else { self.cache.expected_lost() }
    }

    /// What that sum is.
    pub(in crate::engine) fn figure(&self) -> LossFigure {
        self.cache.figure()
    }

    /// Which of the sequence's filters it is, from 0.
    pub(in crate::engine) fn generation(&self) -> u32 {
        self.cache.generation()
    }

    pub(in crate::engine) fn occupancy(&self) -> Occupancy {
        self.cache.occupancy()
    }

    /// The names of strategy and layout.
    pub(in crate::engine) fn names(&self) -> [&'static str; 2] {
        [self.cache.cache().strategy(), self.cache.cache().layout()]
    }

    /// Whether it never mistakes a new URL for a seen one.
    pub(in crate::engine) fn is_exact(&self) -> bool {
        self.cache.config().strategy == Strategy::Exact
    }

    /// The loss budget, in URLs.
    pub(in crate::engine) fn budget(&self) -> Option<f64> {
        self.cache.config().budget.max_lost_urls
    }
}

/// Three significant digits, for the log.
fn rounded(figure: f64) -> f64 {
    if figure == 0.0 || !figure.is_finite() {
        return figure;
    }
    let unit = 10.0_f64.powf(figure.abs().log10().floor() - 2.0);
    (figure / unit).round() * unit
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
    pub(in crate::engine) fn lost(&mut self, fingerprint: Fingerprint, standing: AuditStanding) {
        let standing = match standing {
            AuditStanding::Held => urlcache::Standing::Held,
            AuditStanding::Trial => urlcache::Standing::Trial,
            AuditStanding::FalsePositive => urlcache::Standing::FalsePositive,
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
