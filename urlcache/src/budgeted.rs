//! [`BudgetedCache`]: a cache, the account of its losses, and what happens when the budget is about to be overrun.
//!
//! Owns the choice between going on, a larger cache, a grown one, and the end; the generations of a crawl sequence; the
//! memory ceiling. Invariant: a batch is judged only by a cache that has room for it, as far as the reset policy promises.
//!
//! It keeps no table of the URLs: the caller gives them back for a refill. It reads no clock: an age limit is the caller's business, and so
//! is an [`Audit`](crate::Audit) of the answers.

use thiserror::Error;

use crate::config::{BuildError, CacheConfig, Design};
use crate::exact::ExactCache;
use crate::ledger::{LossLedger, Trigger};
use crate::port::{Answer, ErrorSide, LossFigure, Occupancy, UrlKey};
use crate::snapshot::Snapshot;
use crate::strategy::{ResetPolicy, Strategy};

/// A URL cache that keeps its loss budget.
///
/// One line a batch: it makes room as the [`ResetPolicy`] says, and asks for the URLs of the sequence if it needs them.
///
/// ```
/// use urlcache::{Answer, BudgetedCache, CacheConfig, HashSeed, Strategy, UrlKey};
///
/// let seed = HashSeed::random();
/// let key = |url: &'static str| UrlKey::new(url.as_bytes(), seed);
/// let mut cache = BudgetedCache::new(CacheConfig::new(Strategy::Single, seed))?;
/// let mut table: Vec<&str> = Vec::new(); // a crawler has it on disk
/// let mut answers = Vec::new();
///
/// for page in [["http://h/", "http://h/a"], ["http://h/a", "http://h/b"]] {
///     cache.insert_batch(&page.map(key), &mut answers, || table.iter().map(|url| key(url)))?;
///     table.extend(page.into_iter().zip(&answers).filter(|(_, answer)| answer.is_new()).map(|(url, _)| url));
/// }
/// assert_eq!(table, ["http://h/", "http://h/a", "http://h/b"]);
/// assert!(cache.expected_lost() < 0.5);
/// # Ok::<(), urlcache::OfferError>(())
/// ```
pub struct BudgetedCache {
    config: CacheConfig,
    cache: Box<dyn Snapshot>,
    ledger: LossLedger,
    generation: u32,
    design: Design,
    /// Why there is no cache any more.
    failure: Option<BuildError>,
}

/// What was done to have room for the next answers.
pub enum Room {
    /// Nothing: there is room, or the policy asks for none.
    Enough,
    /// A cache was made anew: once it was filled and [given back](BudgetedCache::refilled) there is room.
    Refill(Refill),
    /// It was enlarged so many times.
    Grown {
        /// 0 when it could not be.
        times: u32,
        /// Whether it has room now. If not, it will lose more than its rate allows.
        enough: bool,
    },
    /// There is no room, and the policy is to end, or memory allows nothing else.
    Spent(Trigger),
}

/// A cache that is to be filled with the URLs of the sequence.
pub struct Refill {
    cache: Box<dyn Snapshot>,
    trigger: Option<Trigger>,
}

/// Why a batch was not judged.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum OfferError {
    /// There is no room for it, and the reset policy ends the crawl, or the sequence, or memory allows no larger cache.
    #[error("the loss budget allows no more URLs (its {}): allow more losses, or choose another reset policy", .0.name())]
    Spent(Trigger),
    /// A larger cache cannot be made.
    #[error(transparent)]
    Build(#[from] BuildError),
}

impl BudgetedCache {
    /// The empty cache of a crawl sequence.
    ///
    /// # Errors
    /// Those of [`CacheConfig::build`].
    pub fn new(config: CacheConfig) -> Result<Self, BuildError> {
        Self::resume(config, 0, 0.0, 0)
    }

    /// The cache of a sequence that was left: it had so many generations, an expected `spent` losses, and has `already` URLs.
    /// Have it [filled](BudgetedCache::refilling) with them.
    ///
    /// # Errors
    /// Those of [`CacheConfig::build`].
    pub fn resume(config: CacheConfig, generations: u32, spent: f64, already: u64) -> Result<Self, BuildError> {
        let ledger = LossLedger::new(config.budget, config.reset, spent);
        let design = config.design(generations, already)?;
        let cache = config.build(generations, already)?;
        let mut budgeted = Self { config, cache, ledger, generation: generations, design, failure: None };
        budgeted.keep_below_ceiling();
        Ok(budgeted)
    }

    /// Makes room for the keys, and then test-and-set of them in order; `answers` is cleared and filled with one answer a
    /// key. `known` gives the URLs that were called new in this sequence; it is asked only when a cache is made anew.
    ///
    /// Under [`ResetPolicy::None`], and under [`ResetPolicy::Grow`] where memory does not allow it to grow, it judges without
    /// room: more is lost than the budget allows then, and [`BudgetedCache::expected_lost`] counts it.
    ///
    /// # Errors
    /// [`OfferError::Spent`] under [`ResetPolicy::Stop`] and [`ResetPolicy::Restart`], when the budget is used up, and
    /// whenever memory allows no cache that has room;
    /// [`OfferError::Build`] when a larger cache cannot be made. No key was judged then.
    pub fn insert_batch<'k, K>(
        &mut self,
        keys: &[UrlKey<'_>],
        answers: &mut Vec<Answer>,
        known: impl FnOnce() -> K,
    ) -> Result<(), OfferError>
    where
        K: IntoIterator<Item = UrlKey<'k>>,
    {
        answers.clear();
        let new = if self.has_room(keys.len()) { keys.len() } else { self.unknown_among(keys) };
        match self.make_room(new)? {
            Room::Spent(trigger) => return Err(OfferError::Spent(trigger)),
            Room::Refill(mut refill) => {
                known().into_iter().for_each(|key| refill.refill(key));
                self.refilled(refill);
            }
            Room::Enough | Room::Grown { .. } => {}
        }
        self.judge(keys, answers);
        Ok(())
    }

    /// Test-and-set of the keys in order, whether there is room or not.
    pub fn judge(&mut self, keys: &[UrlKey<'_>], answers: &mut Vec<Answer>) {
        self.cache.insert_batch(keys, answers);
    }

    /// Whether so many answers *new* can be given without anything being done for it.
    pub fn has_room(&self, answers: usize) -> bool {
        let held = self.occupancy();
        self.failure.is_none()
            && !self.ledger.must_reset(&held, answers)
            && self.exact_fits(&held, answers as u64).is_ok()
    }

    /// How many of the keys it would call new at most.
    pub fn unknown_among(&self, keys: &[UrlKey<'_>]) -> usize {
        self.cache.unknown_among(keys)
    }

    /// Sees to it that so many more answers *new* keep the budget, as the reset policy says. Where the memory ceiling allows no cache
    /// that has room, that is [`Room::Spent`].
    ///
    /// # Errors
    /// Those of [`CacheConfig::build`] for the next generation, but for the ceiling.
    pub fn make_room(&mut self, answers: usize) -> Result<Room, BuildError> {
        self.is_whole()?;
        match self.room_for(answers) {
            // It is whole as it is, and cannot be made larger.
            Err(BuildError::Ceiling { .. } | BuildError::TooManyKeys { .. }) => Ok(Room::Spent(Trigger::Memory)),
            room => room,
        }
    }

    fn room_for(&mut self, answers: usize) -> Result<Room, BuildError> {
        let held = self.occupancy();
        self.exact_fits(&held, answers as u64)?;
        let Some(trigger) = self.ledger.trigger(&held, answers) else { return Ok(Room::Enough) };
        match self.config.reset {
            ResetPolicy::None | ResetPolicy::Rotate => Ok(Room::Enough),
            ResetPolicy::Grow => self.grow(answers),
            ResetPolicy::Rebuild => {
                let refill = self.rebuild(answers)?;
                Ok(Room::Refill(Refill { trigger: Some(trigger), ..refill }))
            }
            ResetPolicy::Stop | ResetPolicy::Restart => Ok(Room::Spent(trigger)),
        }
    }

    /// Ends the generation: the next one is larger if need be, has a hash seed of its own, and room for so many more keys.
    /// Fill it, and give it [back](BudgetedCache::refilled). Until then every key is new.
    ///
    /// # Errors
    /// Those of [`CacheConfig::build`]. If there is no memory for the next generation, the one before is gone: every later call
    /// that makes room fails like this one. After any other error all is as it was.
    pub fn rebuild(&mut self, answers: usize) -> Result<Refill, BuildError> {
        self.is_whole()?;
        let old = self.occupancy();
        let answers = answers as u64;
        self.design = self.config.design_for(self.generation + 1, old.items, answers)?;
        self.generation += 1;
        self.ledger.carry(&old);
        self.keep_below_ceiling();
        // The old one goes before the new one is made: they need not fit into memory together.
        self.cache = Box::new(ExactCache::new());
        match self.config.build_for(self.generation, old.items, answers) {
            Ok(cache) => Ok(Refill { cache, trigger: None }),
            Err(failure) => {
                self.failure = Some(failure.clone());
                Err(failure)
            }
        }
    }

    /// Gives the cache away to be filled with the URLs of a sequence that was left. Until it is
    /// [back](BudgetedCache::refilled) every key is new.
    pub fn refilling(&mut self) -> Refill {
        Refill { cache: std::mem::replace(&mut self.cache, Box::new(ExactCache::new())), trigger: None }
    }

    /// Takes back what was given away.
    pub fn refilled(&mut self, refill: Refill) {
        self.cache = refill.cache;
    }

    /// Drops the oldest keys, under [`ResetPolicy::Rotate`]; false if it never forgets.
    pub fn rotate(&mut self) -> bool {
        self.cache.rotate()
    }

    /// How often the oldest keys were dropped in this generation.
    pub fn rotations(&self) -> u64 {
        self.cache.rotations()
    }

    /// So many of the latest answers *new* were given to keys that it had forgotten: their charges are taken back.
    pub fn forgot(&mut self, keys: u64) {
        self.cache.forgot(keys);
    }

    /// Expected losses of the sequence so far, in URLs; what that is, [`BudgetedCache::figure`] says.
    pub fn expected_lost(&self) -> f64 {
        self.ledger.expected_lost(&self.occupancy())
    }

    /// What [`BudgetedCache::expected_lost`] is, over all generations.
    pub fn figure(&self) -> LossFigure {
        self.ledger.figure(&self.occupancy())
    }

    /// How full the present generation is.
    pub fn occupancy(&self) -> Occupancy {
        self.cache.occupancy()
    }

    /// In which direction it may be wrong.
    pub fn error_side(&self) -> ErrorSide {
        self.cache.error_side()
    }

    /// Which generation of the sequence it is, from 0.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// What the present generation was made for.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// The choices that made it.
    pub fn config(&self) -> &CacheConfig {
        &self.config
    }

    /// The present generation, for its names, its cost and its snapshot.
    pub fn cache(&self) -> &dyn Snapshot {
        &*self.cache
    }

    /// The exact cache doubles its table by itself, and must not pass the ceiling meanwhile, when it has both.
    fn exact_fits(&self, held: &Occupancy, answers: u64) -> Result<(), BuildError> {
        let Some(limit) = self.config.max_memory.filter(|_| self.config.strategy == Strategy::Exact) else {
            return Ok(());
        };
        let keys = held.items + answers;
        let design = self.config.design(self.generation, keys)?;
        let most = if design.bits > held.bits { design.bits + design.bits / 2 } else { held.bits };
        if most / 8 > limit { Err(BuildError::Ceiling { keys, needed: Some(most / 8), limit }) } else { Ok(()) }
    }

    fn is_whole(&self) -> Result<(), BuildError> {
        self.failure.clone().map_or(Ok(()), Err)
    }

    /// Enlarges it in place until it has room, or the ceiling is reached.
    fn grow(&mut self, answers: usize) -> Result<Room, BuildError> {
        let mut times = 0;
        while self.ledger.must_reset(&self.occupancy(), answers) {
            let fits = |bits: u64| self.config.max_memory.is_none_or(|limit| bits / 8 <= limit);
            if !self.cache.growing_bits().is_some_and(fits) || !self.cache.grow()? {
                self.ledger.hold();
                return Ok(Room::Grown { times, enough: false });
            }
            times += 1;
        }
        Ok(Room::Grown { times, enough: true })
    }

    /// Where the ceiling makes it smaller than the budget asks, no further generation would be better.
    fn keep_below_ceiling(&mut self) {
        if self.design.at_ceiling {
            self.ledger.hold();
        }
    }
}

impl Refill {
    /// A URL of the sequence: it was called new before, and differs from all others that are given.
    pub fn refill(&mut self, key: UrlKey<'_>) {
        self.cache.refill(key);
    }

    /// Why the generation before had to end, if its budget was the reason.
    pub fn trigger(&self) -> Option<Trigger> {
        self.trigger
    }

    /// Memory of the cache that is filled, in bits.
    pub fn bits(&self) -> u64 {
        self.cache.occupancy().bits
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::{HashSeed, LossBudget};

    fn key(url: &str) -> UrlKey<'_> {
        UrlKey::new(url.as_bytes(), HashSeed::new(4))
    }

    /// Offers so many pages of 40 links, of which ten are new; returns the lost URLs, and what became of the cache.
    fn crawl(config: CacheConfig, pages: u64) -> Result<(usize, BudgetedCache), OfferError> {
        let mut cache = BudgetedCache::new(config)?;
        let (mut table, mut answers) = (Vec::new(), Vec::new());
        let mut offered = HashSet::new();
        for page in 0..pages {
            let links: Vec<String> = (0..40).map(|link| format!("http://h/{}", page * 10 + link)).collect();
            let keys: Vec<_> = links.iter().map(|link| key(link)).collect();
            let known: Vec<String> = table.clone();
            cache.insert_batch(&keys, &mut answers, || known.iter().map(|url| key(url)))?;
            let new = links.iter().zip(&answers).filter(|(_, answer)| answer.is_new());
            table.extend(new.map(|(link, _)| link.clone()));
            offered.extend(links);
        }
        Ok((offered.len() - table.len(), cache))
    }

    fn config(reset: ResetPolicy) -> CacheConfig {
        CacheConfig { reset, expected_urls: Some(200), ..CacheConfig::new(Strategy::Single, HashSeed::new(8)) }
    }

    #[test]
    fn a_batch_is_one_call_under_every_policy() {
        let (lost, cache) = crawl(config(ResetPolicy::Rebuild), 400).unwrap();
        assert!(lost <= 3 && cache.generation() >= 4 && cache.expected_lost() <= 0.5, "{lost} lost");
        assert_eq!(cache.figure(), LossFigure::Expected);
        let (_, grown) = crawl(config(ResetPolicy::Grow), 400).unwrap();
        assert!(grown.generation() == 0 && grown.occupancy().capacity >= 4_000);
        let (_, none) = crawl(config(ResetPolicy::None), 400).unwrap();
        assert!(none.occupancy().expected_rate > 0.99 && none.figure() == LossFigure::AtLeast);
        for reset in [ResetPolicy::Stop, ResetPolicy::Restart] {
            let error = crawl(config(reset), 400).err().unwrap();
            assert!(
                matches!(error, OfferError::Spent(_)) && error.to_string().contains("allow more losses"),
                "{error}"
            );
            assert!(crawl(config(reset), 8).is_ok());
        }
    }

    #[test]
    fn a_batch_of_millions_has_room_in_the_next_generation() {
        const HELD: u32 = 6_000_000;
        let config = CacheConfig { expected_urls: None, ..config(ResetPolicy::Rebuild) };
        let mut cache = BudgetedCache::resume(config, 0, 0.0, HELD.into()).unwrap();
        let mut refill = cache.refilling();
        let fill = |refill: &mut Refill| {
            (0..HELD).for_each(|index| refill.refill(UrlKey { bytes: b"", hash: u128::from(index) }));
        };
        fill(&mut refill);
        cache.refilled(refill);
        let mut larger = cache.rebuild(HELD as usize).unwrap();
        fill(&mut larger);
        cache.refilled(larger);
        let (held, design) = (cache.occupancy(), cache.design());
        assert_eq!((held.items, held.capacity), (HELD.into(), 2 * u64::from(HELD)));
        assert!(cache.has_room(HELD as usize) && design.expected_lost <= 0.5 / 6.0 * 1.001, "{design:?}");
    }

    #[test]
    fn a_ceiling_is_reported_and_kept() {
        let limited = CacheConfig { max_memory: Some(300), ..config(ResetPolicy::Rebuild) };
        let (_, cache) = crawl(limited.clone(), 100).unwrap();
        assert!(cache.design().at_ceiling && cache.generation() == 1, "generation {}", cache.generation());
        assert!(
            cache.occupancy().bits <= 300 * 8 && cache.design().keeps < cache.design().capacity,
            "{:?}",
            cache.design()
        );
        let exact = CacheConfig { strategy: Strategy::Exact, max_memory: Some(30_000), ..limited };
        for reset in [ResetPolicy::Rebuild, ResetPolicy::Restart, ResetPolicy::Stop] {
            let ended = crawl(CacheConfig { reset, ..exact.clone() }, 400).err();
            assert_eq!(ended, Some(OfferError::Spent(Trigger::Memory)), "{reset:?}");
        }
    }

    #[test]
    fn what_cannot_be_made_leaves_all_as_it_was() {
        let limited =
            CacheConfig { strategy: Strategy::Multilayer, max_memory: Some(8_000), ..config(ResetPolicy::Rebuild) };
        let mut cache = BudgetedCache::new(limited).unwrap();
        let urls: Vec<String> = (0..100_000).map(|index| format!("http://h/{}/{index}", index % 7)).collect();
        let (mut answers, mut states) = (Vec::new(), Vec::new());
        let mut failures = 0;
        for page in urls.chunks(100) {
            let keys: Vec<_> = page.iter().map(|url| key(url)).collect();
            if cache.insert_batch(&keys, &mut answers, Vec::new).is_err() {
                states.push((cache.generation(), cache.expected_lost(), cache.occupancy().bits));
                failures += 1;
            }
            if failures == 3 {
                break;
            }
        }
        assert!(failures == 3 && states.iter().all(|state| *state == states[0]), "{states:?}");
    }

    #[test]
    fn without_memory_for_the_next_generation_it_answers_no_more() {
        let mut cache = BudgetedCache::new(config(ResetPolicy::Rebuild)).unwrap();
        let mut answers = Vec::new();
        cache.insert_batch(&[key("http://h/")], &mut answers, std::iter::empty).unwrap();
        let source = Vec::<u8>::new().try_reserve_exact(usize::MAX).unwrap_err();
        cache.failure = Some(BuildError::Memory { bytes: 1 << 40, source });
        let again = cache.insert_batch(&[key("http://h/")], &mut answers, std::iter::empty);
        assert!(matches!(again, Err(OfferError::Build(BuildError::Memory { .. }))) && !cache.has_room(1));
    }

    #[test]
    fn a_sequence_that_was_left_goes_on() {
        let urls: Vec<String> = (0..900).map(|index| format!("http://h/{index}")).collect();
        let config = CacheConfig { budget: LossBudget::urls(2.0), ..config(ResetPolicy::Rebuild) };
        let mut cache = BudgetedCache::resume(config, 3, 1.5, 900).unwrap();
        let mut refill = cache.refilling();
        for url in &urls {
            refill.refill(key(url));
        }
        assert!(refill.bits() > 900 * 8);
        cache.refilled(refill);
        let mut answers = Vec::new();
        let keys: Vec<_> = urls.iter().map(|url| key(url)).collect();
        cache.insert_batch(&keys, &mut answers, std::iter::empty).unwrap();
        assert!(answers.iter().all(|answer| !answer.is_new()) && (cache.expected_lost() - 1.5).abs() < 0.01);
        assert_eq!((cache.generation(), cache.config().expected_urls), (3, Some(200)));
    }
}
