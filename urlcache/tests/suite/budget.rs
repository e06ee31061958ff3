//! The loss budget in simulated crawls, from a tenth of the expected URLs to a hundred times as many.
//!
//! The loop is the engine's: ask the ledger, rebuild if it says so, offer a batch, keep what is new. Losses are counted
//! as real collisions of keys never offered before; no formula takes part in the count.

use urlcache::{Answer, CacheConfig, HashSeed, Layout, LossBudget, LossLedger, ResetPolicy, Strategy, UrlCache};

use crate::keys::{fingerprint, key};

/// A crawl under way.
struct Crawl {
    config: CacheConfig,
    ledger: LossLedger,
    cache: Box<dyn UrlCache>,
    generation: u32,
    table: Vec<u128>,
    lost: u64,
    answers: Vec<Answer>,
}

/// What a crawl came to.
#[derive(Clone, Copy)]
struct Outcome {
    lost: f64,
    expected: f64,
    generations: u32,
}

impl Crawl {
    fn new(config: CacheConfig) -> Self {
        let ledger = LossLedger::new(config.budget, config.reset, 0.0);
        let cache = config.build(0, 0).unwrap();
        Self { config, ledger, cache, generation: 0, table: Vec::new(), lost: 0, answers: Vec::new() }
    }

    /// Offers new keys, among old ones, as the links of one page.
    fn offer(&mut self, new: &[u128]) {
        let old = self.table.iter().rev().step_by(7).take(new.len() / 2);
        let links: Vec<u128> = new.iter().chain(old).copied().collect();
        if self.ledger.must_reset(&self.cache.occupancy(), links.len()) {
            self.ledger.carry(&self.cache.occupancy());
            self.rebuild(links.len() as u64);
        }
        let keys: Vec<_> = links.iter().map(|&link| key(link)).collect();
        self.cache.insert_batch(&keys, &mut self.answers);
        for (&link, answer) in new.iter().zip(&self.answers) {
            match answer {
                Answer::New => self.table.push(link),
                Answer::Seen => self.lost += 1,
            }
        }
        assert!(self.answers[new.len()..].iter().all(|answer| *answer == Answer::Seen), "a key was forgotten");
    }

    fn rebuild(&mut self, room: u64) {
        self.generation += 1;
        self.cache = self.config.build_for(self.generation, self.table.len() as u64, room).unwrap();
        for &link in &self.table {
            self.cache.refill(key(link));
        }
    }

    /// A process that ended and another that goes on from the table and the stored sum.
    fn resume(&mut self) {
        let spent = self.ledger.expected_lost(&self.cache.occupancy());
        self.ledger = LossLedger::new(self.config.budget, self.config.reset, spent);
        self.rebuild(0);
    }

    fn outcome(&self) -> Outcome {
        let expected = self.ledger.expected_lost(&self.cache.occupancy());
        Outcome { lost: self.lost as f64, expected, generations: self.generation + 1 }
    }
}

/// A crawl of so many URLs in the world `world`, on pages of 1 to 80 new links; every `resume_every`th page is followed
/// by a resumed run.
fn crawl(config: &CacheConfig, world: u64, urls: u64, resume_every: usize) -> Outcome {
    let config = CacheConfig { hash_seed: HashSeed::new(world), ..config.clone() };
    let (mut crawl, mut page) = (Crawl::new(config), 0);
    let links: Vec<u128> = (0..urls).map(|index| fingerprint(world, index)).collect();
    let mut rest = links.as_slice();
    while !rest.is_empty() {
        let (new, after) = rest.split_at((1 + page * 37 % 80).min(rest.len()));
        crawl.offer(new);
        (rest, page) = (after, page + 1);
        if page % resume_every == 0 {
            crawl.resume();
        }
    }
    crawl.outcome()
}

fn config(strategy: Strategy, budget: LossBudget, expected: u64) -> CacheConfig {
    CacheConfig { budget, expected_urls: Some(expected), ..CacheConfig::new(strategy, HashSeed::new(0)) }
}

fn lost(urls: f64) -> LossBudget {
    LossBudget { max_lost_urls: Some(urls), max_false_positive_rate: None }
}

fn mean(outcomes: &[Outcome], of: impl Fn(&Outcome) -> f64) -> f64 {
    outcomes.iter().map(of).sum::<f64>() / outcomes.len() as f64
}

/// Mean losses within the budget and equal to the sum of charges, each within 3 standard errors.
fn assert_kept(outcomes: &[Outcome], budget: f64, what: &str) {
    let (lost, expected) = (mean(outcomes, |run| run.lost), mean(outcomes, |run| run.expected));
    let error = (expected.max(1e-9) / outcomes.len() as f64).sqrt();
    let generations = mean(outcomes, |run| f64::from(run.generations));
    println!("{what}: lost {lost:.3}, expected {expected:.3} +- {error:.3}, generations {generations:.1}");
    assert!(lost <= budget + 3.0 * error, "{what}: {lost} lost with a budget of {budget}");
    assert!((lost - expected).abs() <= 3.0 * error + 1e-3, "{what}: {lost} lost, {expected} expected");
    assert!(outcomes.iter().all(|run| run.expected <= budget), "{what}: a crawl spent more than the budget");
}

#[test]
fn the_budget_holds_from_a_tenth_to_a_hundred_times_the_expected_urls() {
    for (budget, runs) in [(0.5, 100), (5.0, 40)] {
        for urls in [20, 200, 2_000, 20_000] {
            let config = config(Strategy::Single, lost(budget), 200);
            let outcomes: Vec<_> = (0..runs).map(|world| crawl(&config, world, urls, usize::MAX)).collect();
            assert_kept(&outcomes, budget, &format!("budget {budget}, {urls} URLs of 200"));
        }
    }
}

#[test]
fn the_budget_holds_in_every_strategy_and_layout() {
    for strategy in [Strategy::Single, Strategy::Spatial, Strategy::Temporal, Strategy::SpatioTemporal] {
        for layout in [Layout::Auto, Layout::Classic, Layout::Line, Layout::Fingerprint] {
            for urls in [20, 2_000, 20_000] {
                let config = CacheConfig { layout, ..config(strategy, lost(0.5), 200) };
                let outcomes: Vec<_> = (0..12).map(|world| crawl(&config, world, urls, usize::MAX)).collect();
                assert_kept(&outcomes, 0.5, &format!("{strategy} {layout}, {urls} URLs of 200"));
            }
        }
    }
}

#[test]
fn the_budget_holds_over_resumed_runs() {
    let config = config(Strategy::Single, lost(2.0), 200);
    let outcomes: Vec<_> = (0..60).map(|world| crawl(&config, world, 4_000, 9)).collect();
    assert_kept(&outcomes, 2.0, "resumed every 9 pages");
}

#[test]
fn a_page_larger_than_the_whole_cache_fits_into_the_next() {
    let config = config(Strategy::Single, lost(0.5), 50);
    let outcomes: Vec<_> = (0..40)
        .map(|world| {
            let mut crawl = Crawl::new(CacheConfig { hash_seed: HashSeed::new(world), ..config.clone() });
            for page in 0..3_u64 {
                let new: Vec<_> = (0..5_000).map(|index| fingerprint(world, page << 32 | index)).collect();
                crawl.offer(&new);
            }
            crawl.outcome()
        })
        .collect();
    assert_kept(&outcomes, 0.5, "pages of 5,000 links");
    assert!(outcomes.iter().all(|run| run.generations <= 4));
}

#[test]
fn rebuilds_are_few() {
    let config = config(Strategy::Single, lost(0.5), 200);
    let run = crawl(&config, 1, 20_000, usize::MAX);
    assert!((8..=10).contains(&run.generations), "{} generations for 100 times the expected URLs", run.generations);
    assert_eq!(crawl(&config, 1, 150, usize::MAX).generations, 1);
}

#[test]
fn the_rate_holds_as_a_limit_of_its_own() {
    let budget = LossBudget { max_lost_urls: None, max_false_positive_rate: Some(1e-3) };
    let config = CacheConfig { hash_seed: HashSeed::new(3), ..config(Strategy::Single, budget, 500) };
    let mut crawl = Crawl::new(config);
    for page in 0..200_u64 {
        let new: Vec<_> = (0..50).map(|index| fingerprint(1, page << 32 | index)).collect();
        crawl.offer(&new);
        assert!(crawl.cache.occupancy().expected_rate <= 1.02e-3);
    }
    assert!((4..=7).contains(&crawl.outcome().generations));
}

#[test]
fn the_exact_cache_loses_nothing_and_is_never_reset() {
    let run = crawl(&config(Strategy::Exact, lost(1e-9), 10), 1, 20_000, usize::MAX);
    assert_eq!((run.lost.to_bits(), run.expected.to_bits(), run.generations), (0, 0, 1));
}

#[test]
fn without_a_reset_the_losses_are_those_foretold() {
    let config = CacheConfig { reset: ResetPolicy::None, ..config(Strategy::Single, lost(0.5), 200) };
    let outcomes: Vec<_> = (0..60).map(|world| crawl(&config, world, 600, usize::MAX)).collect();
    let (lost, expected) = (mean(&outcomes, |run| run.lost), mean(&outcomes, |run| run.expected));
    assert!(outcomes.iter().all(|run| run.generations == 1) && expected > 30.0, "{expected}");
    assert!((lost / expected - 1.0).abs() < 0.06, "{lost} lost, {expected} expected");
}
