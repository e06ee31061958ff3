//! [`LossLedger`]: what a crawl sequence is expected to have lost, over all generations of its cache and all runs.
//!
//! Owns the sum of the generations that have ended, and the decision when the present one must end. Invariant: as long
//! as it is asked before each batch and obeyed, the sum stays within the budget.
//!
//! It sees a cache only through its [`Occupancy`]; it builds and refills nothing.

use crate::budget::LossBudget;
use crate::port::{LossFigure, Occupancy};
use crate::strategy::ResetPolicy;

/// The account of expected losses of one crawl sequence.
///
/// The present generation may spend `r^2/(b + r)` of what is left, `r` of the budget `b` when it began. If every
/// generation spends all of that, these are the shares 1/2, 1/6, 1/12, ... of [`LossBudget::share`]; if one spends
/// less, the later ones have more; together they never exceed the budget. No generation number is needed, so runs may
/// end and resume anywhere.
///
/// Before each batch:
///
/// ```
/// # use urlcache::{CacheConfig, HashSeed, LossLedger, Strategy};
/// # let config = CacheConfig::new(Strategy::Single, HashSeed::new(1));
/// # let (mut generation, mut cache, admitted, batch) = (0, config.build(0, 0)?, 0_u64, [0; 80]);
/// let spent_before = 0.0; // or what the last run had spent, from the crawl directory
/// let mut ledger = LossLedger::new(config.budget, config.reset, spent_before);
/// if ledger.must_reset(&cache.occupancy(), batch.len()) {
///     ledger.carry(&cache.occupancy());
///     generation += 1;
///     cache = config.build_for(generation, admitted, batch.len() as u64)?;
///     // ... and refill it from the URL table
/// }
/// # Ok::<(), urlcache::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct LossLedger {
    budget: LossBudget,
    reset: ResetPolicy,
    carried: f64,
    figure: LossFigure,
    resets: u32,
    reset_was_futile: bool,
    held: bool,
}

/// Why a cache must not be used on as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trigger {
    /// The next answers would overrun the expected losses that are allowed.
    Losses,
    /// They would be given at too high a rate.
    Rate,
    /// They would fill it too far.
    Fill,
    /// It was not made for so many keys.
    Room,
    /// It would pass the memory ceiling.
    Memory,
}

impl Trigger {
    /// One word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Losses => "losses",
            Self::Rate => "rate",
            Self::Fill => "fill",
            Self::Room => "room",
            Self::Memory => "memory",
        }
    }
}

impl LossLedger {
    /// The account of a sequence that has lost an expected `spent_before` URLs in earlier runs (0 for a new sequence).
    pub fn new(budget: LossBudget, reset: ResetPolicy, spent_before: f64) -> Self {
        Self {
            budget,
            reset,
            carried: spent_before,
            figure: LossFigure::Expected,
            resets: 0,
            reset_was_futile: false,
            held: false,
        }
    }

    /// Expected lost URLs of the whole sequence so far: the generations that ended and the present one.
    pub fn expected_lost(&self, now: &Occupancy) -> f64 {
        self.carried + now.expected_lost
    }

    /// What that sum is: the least that is true of each generation.
    pub fn figure(&self, now: &Occupancy) -> LossFigure {
        self.figure.max(now.figure)
    }

    /// Whether the cache must be replaced before `next_answers` more keys are offered: if all of them were new, they
    /// would overrun this generation's share of the budget, the limit of the rate, or the fill limit. Never under
    /// [`ResetPolicy::None`], nor under [`ResetPolicy::Rotate`], which bounds the rate by itself.
    ///
    /// From few keys nothing can be foretold of many: if the batch is larger than what is held, the question is only whether
    /// it exceeds the capacity, up to which the cache is sized to keep its share.
    ///
    /// Ask once a batch (`if`, not `while`), and make the next generation large enough for the batch as well
    /// ([`CacheConfig::build_for`](crate::CacheConfig::build_for)). A generation that has charged nothing yet must only end if the
    /// batch exceeds its capacity, and not twice in a row: a reset that helps nothing is not asked for again.
    pub fn must_reset(&self, now: &Occupancy, next_answers: usize) -> bool {
        self.trigger(now, next_answers).is_some()
    }

    /// [`LossLedger::must_reset`], and why.
    pub fn trigger(&self, now: &Occupancy, next_answers: usize) -> Option<Trigger> {
        let next = next_answers as f64;
        let room = || lacks_room(now, next).then_some(Trigger::Room);
        match self.reset {
            ResetPolicy::None | ResetPolicy::Rotate => None,
            ResetPolicy::Rebuild | ResetPolicy::Grow | ResetPolicy::Restart if self.held => None,
            ResetPolicy::Grow => room(),
            ResetPolicy::Stop | ResetPolicy::Restart if next >= now.items as f64 => room(),
            ResetPolicy::Stop | ResetPolicy::Restart => {
                self.overrun_by(&Forecast::of(now, next), now, |budget| budget - self.carried)
            }
            ResetPolicy::Rebuild if is_fresh(now) => room().filter(|_| !self.reset_was_futile),
            ResetPolicy::Rebuild if next >= now.items as f64 => room(),
            ResetPolicy::Rebuild => self.overrun_by(&Forecast::of(now, next), now, |budget| self.share_of(budget)),
        }
    }

    /// From now on nothing is made anew or enlarged: there is no memory for a larger cache, and another of the same size
    /// would not lose less. [`ResetPolicy::Stop`] stops all the same.
    pub fn hold(&mut self) {
        self.held = true;
    }

    /// Takes over what the present generation has spent; call it when the generation ends, before its cache is dropped.
    pub fn carry(&mut self, ended: &Occupancy) {
        self.carried += ended.expected_lost;
        self.figure = self.figure(ended);
        self.resets = self.resets.saturating_add(1);
        self.reset_was_futile = is_fresh(ended);
    }

    fn overrun_by(&self, forecast: &Forecast, now: &Occupancy, allowed: impl Fn(f64) -> f64) -> Option<Trigger> {
        let losses = now.expected_lost + forecast.losses;
        let lost = self.budget.max_lost_urls.is_some_and(|urls| losses > allowed(urls));
        let rate = self.budget.max_false_positive_rate.is_some_and(|rate| forecast.rate > rate);
        let fill = forecast.fill > now.fill_limit;
        let triggers = [(lost, Trigger::Losses), (rate, Trigger::Rate), (fill, Trigger::Fill)];
        triggers.into_iter().find_map(|(reached, trigger)| reached.then_some(trigger))
    }

    /// What the present generation may spend.
    ///
    /// If the budget was overrun nevertheless (it was lowered between runs, or one batch was larger than a whole
    /// cache), that cannot be undone; a second series of shares then keeps the rebuilding from becoming endless.
    fn share_of(&self, budget: f64) -> f64 {
        let left = budget - self.carried;
        let left = if left > 0.0 { left } else { budget / (f64::from(self.resets) + 2.0) };
        left * left / (budget + left)
    }
}

/// A generation that has charged nothing: a reset would not improve it.
fn is_fresh(now: &Occupancy) -> bool {
    now.expected_lost <= 0.0
}

fn lacks_room(now: &Occupancy, next: f64) -> bool {
    now.items as f64 + next > now.capacity as f64
}

/// What the next answers do to a filter at most, but for the chance by which few bits fill more or less evenly.
struct Forecast {
    fill: f64,
    rate: f64,
    losses: f64,
}

impl Forecast {
    /// Fill is a concave function of the number of keys that starts at 0, so it rises at most in proportion to it; the
    /// rate rises at most like a power of that number, which the cache knows. The integral of `(1 + x/n)^k` has a closed
    /// form.
    fn of(now: &Occupancy, next: f64) -> Self {
        let items = now.items as f64;
        let rate = now.expected_rate;
        let power = now.steepness;
        let growth = 1.0 + next / items;
        let fill = (now.fill * growth).min(1.0);
        if rate <= 0.0 {
            return Self { fill, rate, losses: 0.0 };
        }
        let end = (rate * growth.powf(power)).min(1.0);
        let integral = items * rate * (growth.powf(power + 1.0) - 1.0) / (power + 1.0);
        Self { fill, rate: end, losses: integral / (1.0 - end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FilterCache, HashSeed, Plan, UrlCache, UrlKey};
    use xxhash_rust::xxh3::xxh3_128_with_seed;

    fn ledger(budget: LossBudget) -> LossLedger {
        LossLedger::new(budget, ResetPolicy::Rebuild, 0.0)
    }

    fn lost(urls: f64) -> LossBudget {
        LossBudget { max_lost_urls: Some(urls), max_false_positive_rate: None }
    }

    /// A filter of 10 probes that holds `items` of the keys it is sized for.
    fn occupancy(items: u64) -> (Plan, Occupancy) {
        let plan = Plan::new(200_000, 10).unwrap();
        let fill = -(-10.0 * items as f64 / 200_000.0_f64).exp_m1();
        let now = Occupancy {
            items,
            capacity: 12_000,
            bits: 200_000,
            fill,
            fill_limit: 0.75,
            steepness: 10.0,
            expected_rate: plan.rate_at(items),
            expected_lost: plan.expected_lost(0..items),
            figure: LossFigure::Expected,
        };
        (plan, now)
    }

    #[test]
    fn sums_generations_and_runs() {
        let mut ledger = LossLedger::new(lost(1.0), ResetPolicy::Rebuild, 0.25);
        let (_, now) = occupancy(10_000);
        assert!((ledger.expected_lost(&now) - 0.25 - now.expected_lost).abs() < 1e-12);
        ledger.carry(&now);
        assert!((ledger.expected_lost(&now) - 0.25 - 2.0 * now.expected_lost).abs() < 1e-12);
    }

    #[test]
    fn shares_are_those_of_the_budget_when_all_is_spent() {
        let budget = lost(3.0);
        let mut ledger = ledger(budget);
        for generation in 0..50 {
            let share = budget.share(generation).max_lost_urls.unwrap();
            assert!((ledger.share_of(3.0) / share - 1.0).abs() < 1e-9, "generation {generation}");
            ledger.carry(&Occupancy { expected_lost: share, ..occupancy(1).1 });
        }
    }

    #[test]
    fn the_forecast_bounds_the_truth_closely() {
        for items in [100, 3_000, 10_000, 14_000] {
            let (plan, now) = occupancy(items);
            for next in [1, items / 100, items / 5] {
                let forecast = Forecast::of(&now, next as f64);
                let truth = plan.expected_lost(items..items + next.max(1));
                let ratio = forecast.losses / truth;
                assert!((0.999..8.0).contains(&ratio), "{items} + {next}: {ratio}");
                assert!(next > items / 100 || ratio < 1.15, "{items} + {next}: {ratio}");
                assert!(forecast.rate >= plan.rate_at(items + next));
            }
        }
    }

    #[test]
    fn resets_where_the_share_the_rate_or_the_fill_ends() {
        let (plan, now) = occupancy(10_000);
        let needed = 2.0 * (now.expected_lost + plan.expected_lost(10_000..10_100));
        assert!(ledger(lost(0.99 * needed)).must_reset(&now, 100));
        assert!(!ledger(lost(1.1 * needed)).must_reset(&now, 100));
        let rate = |rate| LossBudget { max_lost_urls: None, max_false_positive_rate: Some(rate) };
        assert!(ledger(rate(0.999 * plan.rate_at(10_100))).must_reset(&now, 100));
        assert!(!ledger(rate(1.1 * plan.rate_at(10_100))).must_reset(&now, 100));
        let full = Occupancy { fill: 0.749, ..now };
        assert!(!ledger(lost(1e9)).must_reset(&full, 1));
        assert!(ledger(lost(1e9)).must_reset(&full, 100));
        assert!(!LossLedger::new(lost(1e-9), ResetPolicy::None, 0.0).must_reset(&full, 100));
        let useless = Occupancy { fill: 1.0, expected_rate: 1.0, ..now };
        assert!(ledger(lost(1e9)).must_reset(&useless, 1));
    }

    #[test]
    fn each_policy_has_its_triggers() {
        let (plan, now) = occupancy(10_000);
        let needed = now.expected_lost + plan.expected_lost(10_000..10_100);
        let of = |reset, urls| LossLedger::new(lost(urls), reset, 0.0);
        // Stop has the whole budget, and stops though there is no memory for more.
        let mut stop = of(ResetPolicy::Stop, 0.9 * needed);
        assert_eq!(stop.trigger(&now, 100), Some(Trigger::Losses));
        assert_eq!(of(ResetPolicy::Stop, 1.2 * needed).trigger(&now, 100), None);
        stop.hold();
        assert_eq!(stop.trigger(&now, 100), Some(Trigger::Losses));
        let mut rebuild = of(ResetPolicy::Rebuild, 1.2 * needed);
        assert_eq!(rebuild.trigger(&now, 100), Some(Trigger::Losses));
        rebuild.hold();
        assert_eq!(rebuild.trigger(&now, 100), None);
        // Growth asks for room alone.
        let mut grow = of(ResetPolicy::Grow, 1e-9);
        assert_eq!((grow.trigger(&now, 2_000), grow.trigger(&now, 2_001)), (None, Some(Trigger::Room)));
        grow.hold();
        assert_eq!(grow.trigger(&now, 2_001), None);
        // A cache that never errs is never too lossy.
        let exact = Occupancy { expected_rate: 0.0, expected_lost: 0.0, fill: 0.1, ..now };
        let limit = LossBudget { max_lost_urls: Some(1e-9), max_false_positive_rate: Some(1e-9) };
        assert_eq!(LossLedger::new(limit, ResetPolicy::Stop, 0.0).trigger(&exact, 100), None);
    }

    #[test]
    fn a_fresh_generation_ends_only_for_want_of_room_and_only_once() {
        let empty = Occupancy { items: 0, fill: 0.0, expected_rate: 0.0, expected_lost: 0.0, ..occupancy(1).1 };
        let mut ledger = ledger(lost(1e-9));
        assert!(!ledger.must_reset(&empty, 12_000));
        assert!(ledger.must_reset(&empty, 12_001));
        ledger.carry(&empty);
        assert!(!ledger.must_reset(&empty, 12_001));
        ledger.carry(&occupancy(500).1);
        assert!(ledger.must_reset(&empty, 12_001));
    }

    #[test]
    fn few_keys_foretell_nothing_of_many() {
        let (plan, _) = occupancy(1);
        let few = Occupancy { expected_lost: 1e-60, ..occupancy(3).1 };
        for reset in [ResetPolicy::Rebuild, ResetPolicy::Stop, ResetPolicy::Restart] {
            let ledger = LossLedger::new(lost(2.0 * plan.expected_lost(0..12_000)), reset, 0.0);
            assert_eq!(ledger.trigger(&few, 11_997), None, "{reset}");
            assert_eq!(ledger.trigger(&few, 11_998), Some(Trigger::Room), "{reset}");
        }
    }

    #[test]
    fn an_overrun_budget_does_not_rebuild_for_ever() {
        let mut ledger = LossLedger::new(lost(0.5), ResetPolicy::Rebuild, 0.7);
        let mut resets = 0;
        let mut cache =
            FilterCache::single(Plan::for_losses(0..2_000, 0.25).unwrap(), 2_000, HashSeed::new(1)).unwrap();
        for index in 0..8_000_u64 {
            if ledger.must_reset(&cache.occupancy(), 1) {
                resets += 1;
                ledger.carry(&cache.occupancy());
                let plan = Plan::for_losses(index..2 * index, lost(0.5).share(resets).max_lost_urls.unwrap()).unwrap();
                cache = FilterCache::single(plan, 2 * index, HashSeed::new(1 + u64::from(resets))).unwrap();
                (0..index).for_each(|old| cache.refill(UrlKey { bytes: &[], hash: hash(old) }));
            }
            cache.insert(UrlKey { bytes: &[], hash: hash(index) });
        }
        assert!((2..=4).contains(&resets), "{resets} resets");
    }

    fn hash(index: u64) -> u128 {
        xxh3_128_with_seed(&index.to_le_bytes(), 4)
    }
}
