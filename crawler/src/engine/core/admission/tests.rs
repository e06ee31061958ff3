//! The loss budget in a thousand simulated crawls, through the same admission as real ones.
//!
//! A crawl offers pages of links, most of them new, some seen before; the URL table is in memory and refills a cache
//! that is made anew. Losses are counted against a hash set, as refusals of URLs that were never offered before: no
//! formula takes part.

use std::{collections::HashSet, num::NonZeroUsize};

use urlcache::{Audit, CacheConfig, HashSeed, Layout, LossBudget, ResetPolicy, Strategy};

use super::{Admission, Origins, Policy, Readiness, SeenCache};
use crate::{
    candidate::Hop,
    engine::judge::{Batch, Judge, LinkRelation, Provenance, PureHalf},
    extract::{LinkLimits, Reading, ReferenceSeed, scan},
    order::Order,
    scope::{CrawlScope, Reach, ScopeRules},
    store::{AuditStanding, ReplayedUrl, Step},
    time::Moment,
    url::{Canonicalizer, Fingerprint, FingerprintSeed, Origin, WebUrl},
};

/// URLs that every crawl expects.
const EXPECTED: u64 = 100;

/// A crawl under way.
struct Crawl {
    admission: Admission,
    pure: PureHalf,
    /// The only one.
    origin: Origin,
    table: Vec<(String, Fingerprint)>,
    offered: HashSet<u64>,
    /// What the table holds.
    known: HashSet<u128>,
    /// URLs that the cache had forgotten.
    forgotten: u64,
    /// URLs refused at their first offer.
    lost: u64,
    resets: u32,
}

/// What a crawl came to.
#[derive(Clone, Copy)]
struct Outcome {
    offered: f64,
    lost: f64,
    expected: f64,
    resets: f64,
    forgotten: u64,
    /// The audit's interval, and its expected number of false positives.
    audit: Option<(f64, f64, f64)>,
}

impl Crawl {
    fn begin(config: &CacheConfig, world: u64) -> Self {
        let cache =
            SeenCache::new(CacheConfig { hash_seed: HashSeed::new(world), ..config.clone() }, 0, 0.0, 0).unwrap();
        let policy = Policy { ranking: Order::Breadth.into(), audit_rescues: false, reset: config.reset };
        let admission = Admission::new(cache, Origins::default(), 0, policy);
        let rules = ScopeRules { reach: Reach::Host, include: vec![], exclude: vec![], max_url_length: 100 };
        let seed = FingerprintSeed::new(world ^ 0x5bd1_e995);
        let mut pure = PureHalf::new(CrawlScope::new(rules), Canonicalizer::default(), seed, LinkRelation::Ignore);
        pure.widen(&WebUrl::parse("http://h/").unwrap());
        let origin = WebUrl::parse("http://h/").unwrap().origin();
        let offered = HashSet::new();
        let known = HashSet::new();
        Self { admission, pure, origin, table: Vec::new(), offered, known, forgotten: 0, lost: 0, resets: 0 }
    }

    /// Takes in a page's links; false when the policy ends the crawl.
    fn page(&mut self, numbers: &[u64]) -> bool {
        let html: String =
            numbers.iter().fold(String::new(), |html, number| html + "<a href=" + &number.to_string() + ">");
        let url = WebUrl::parse("http://h/").unwrap();
        let page =
            scan(html.as_bytes(), Some("text/html"), &url, &Reading::links(LinkLimits::NONE, ReferenceSeed::random()));
        let proposals = self.pure.links(page.links, true, None);
        match self.admission.make_room_for(&proposals.passed, Moment::EPOCH).unwrap() {
            Readiness::No(_) => return false,
            Readiness::Changed(_) => self.resets += 1,
            Readiness::Fill(mut filling) => {
                for (key, fingerprint) in &self.table {
                    filling.row(ReplayedUrl { key, fingerprint: *fingerprint, standing: AuditStanding::Held });
                }
                self.admission.filled(filling);
                self.admission.has_room = false;
                self.resets += 1;
            }
            Readiness::Yes => {}
        }
        let fresh: Vec<u64> = numbers.iter().copied().filter(|number| self.offered.insert(*number)).collect();
        let (at, judge) = (Moment::EPOCH, Judge::Cache);
        let found = Provenance { hop: Hop::Link, via: None, depth: 1, redirects: 0, at, judge };
        let mut step = Step::default();
        self.admission.admit(Batch::new(found, proposals), |_| &self.origin, &mut step);
        let admitted: HashSet<&str> = step.rows.iter().map(|row| row.key.as_str()).collect();
        let refused = fresh.iter().filter(|number| !admitted.contains(&*format!("http://h/{number}")));
        self.lost += refused.count() as u64;
        let proposed = step.rows.len();
        step.rows.retain(|row| self.known.insert(row.fingerprint.value()));
        let forgotten = proposed - step.rows.len();
        self.admission.forgot(forgotten);
        self.forgotten += forgotten as u64;
        self.resets += u32::try_from(step.counters.rotations).unwrap();
        let rows = step.rows.iter().map(|row| (row.key.as_str().to_owned(), row.fingerprint));
        self.table.extend(rows);
        true
    }

    fn outcome(&self) -> Outcome {
        let audit = self.admission.cache.audit.as_ref().map(|audit| {
            let interval = audit.interval(0.95);
            (interval.low, interval.high, audit.share())
        });
        let expected = self.admission.cache.expected_lost();
        let (offered, lost) = (self.offered.len() as f64, self.lost as f64);
        Outcome { offered, lost, expected, resets: self.resets.into(), forgotten: self.forgotten, audit }
    }
}

/// A crawl of so many new URLs, on pages of 1 to 60 of them, each with half as many old ones.
fn crawl(config: &CacheConfig, world: u64, urls: u64, audit: Option<usize>) -> Outcome {
    let mut crawl = Crawl::begin(config, world);
    let sample = audit.and_then(NonZeroUsize::new);
    crawl.admission.cache.audit = sample.map(|sample| Audit::new(sample, HashSeed::new(world ^ 0xa0d1)));
    let mut next = 0;
    for page in 0.. {
        let new = next..(next + 1 + page * 37 % 60).min(urls);
        let old = (0..next).rev().step_by(7).zip(new.clone().step_by(2)).map(|(old, _)| old);
        let links: Vec<u64> = new.clone().chain(old).collect();
        next = new.end;
        if !crawl.page(&links) || next == urls {
            break;
        }
    }
    crawl.outcome()
}

fn config(reset: ResetPolicy, layout: Layout) -> CacheConfig {
    let single = CacheConfig::new(Strategy::Single, HashSeed::new(0));
    CacheConfig { reset, layout, expected_urls: Some(EXPECTED), ..single }
}

fn mean(outcomes: &[Outcome], of: impl Fn(&Outcome) -> f64) -> f64 {
    outcomes.iter().map(of).sum::<f64>() / outcomes.len() as f64
}

/// Mean losses within the budget, and equal to the sum of the charges, each within 3 standard errors.
fn assert_kept(outcomes: &[Outcome], budget: f64, what: &str) {
    let (lost, expected) = (mean(outcomes, |run| run.lost), mean(outcomes, |run| run.expected));
    let error = (expected.max(1e-9) / outcomes.len() as f64).sqrt();
    let resets = mean(outcomes, |run| run.resets);
    println!(
        "{what}: {} crawls lost {lost:.3}, expected {expected:.3} +- {error:.3}, {resets:.1} resets",
        outcomes.len()
    );
    assert!(lost <= budget + 3.0 * error, "{what}: {lost} lost with a budget of {budget}");
    assert!((lost - expected).abs() <= 3.0 * error + 1e-3, "{what}: {lost} lost, {expected} expected");
}

#[test]
fn the_budget_holds_in_a_thousand_crawls() {
    let cases = [
        (ResetPolicy::Rebuild, Layout::Auto, EXPECTED / 10, 250),
        (ResetPolicy::Rebuild, Layout::Auto, EXPECTED, 250),
        (ResetPolicy::Rebuild, Layout::Auto, EXPECTED * 10, 150),
        (ResetPolicy::Rebuild, Layout::Line, EXPECTED * 10, 100),
        (ResetPolicy::Rebuild, Layout::Auto, EXPECTED * 100, 100),
        (ResetPolicy::Stop, Layout::Auto, EXPECTED * 10, 150),
    ];
    assert_eq!(cases.iter().map(|(.., runs)| runs).sum::<u64>(), 1_000);
    for (reset, layout, urls, runs) in cases {
        let mut outcomes = Vec::new();
        for world in 0..runs {
            outcomes.push(crawl(&config(reset, layout), world << 20 | urls, urls, None));
        }
        let what = format!("{reset}, {layout}, {urls} URLs of {EXPECTED}");
        assert_kept(&outcomes, 0.5, &what);
        assert!(outcomes.iter().all(|run| run.expected <= 0.5), "{what}: a crawl was charged more than the budget");
        assert!(outcomes.iter().all(|run| run.forgotten == 0), "{what}: forgot");
        let all = outcomes.iter().all(|run| run.offered >= urls as f64);
        assert!(all || reset == ResetPolicy::Stop, "{what}: not all URLs were offered");
    }
}

#[test]
fn growing_keeps_the_rate_it_promises() {
    let budget = LossBudget { max_lost_urls: None, max_false_positive_rate: Some(0.01) };
    for layout in [Layout::Auto, Layout::Classic] {
        let config = CacheConfig { budget, ..config(ResetPolicy::Grow, layout) };
        let mut outcomes = Vec::new();
        for world in 0..40 {
            outcomes.push(crawl(&config, world, EXPECTED * 40, None));
        }
        let what = format!("grow, {layout}");
        assert_kept(&outcomes, 0.01 * (EXPECTED * 40) as f64, &what);
        assert!(mean(&outcomes, |run| run.resets) >= 3.0, "{what}");
    }
}

/// However many URLs come, as many are lost of each hundred as of the first hundred that were expected, and memory stays.
#[test]
fn rotating_keeps_the_rate_it_promises() {
    for (layout, budget) in [(Layout::Auto, 0.5), (Layout::Classic, 2.0)] {
        let budget = LossBudget { max_lost_urls: Some(budget), max_false_positive_rate: None };
        let config = CacheConfig { budget, ..config(ResetPolicy::Rotate, layout) };
        for times in [1, 10, 100] {
            let mut outcomes = Vec::new();
            for world in 0..40 {
                outcomes.push(crawl(&config, world << 20 | times, EXPECTED * times, None));
            }
            let what = format!("rotate, {layout}, {times} times the expected");
            assert_kept(&outcomes, budget.max_lost_urls.unwrap() * times as f64, &what);
            let rotates = outcomes.iter().all(|run| run.forgotten > 10 * times && run.resets > times as f64);
            assert!(times == 1 || rotates, "{what}");
        }
    }
}

/// At least twenty hits are expected in each sample.
#[test]
fn the_audits_interval_covers_the_truth() {
    let (runs, urls) = (200, 2_000);
    let (mut covered, mut hits) = (0, 0.0);
    for world in 0..runs {
        let run = crawl(&config(ResetPolicy::None, Layout::Auto), world, urls, Some(300));
        let (low, high, share) = run.audit.unwrap();
        assert!((share - 0.125).abs() < 1e-9, "{share}");
        let truth = run.lost / run.offered;
        covered += u32::from((low..=high).contains(&truth));
        hits += share * run.lost;
    }
    println!("{covered} of {runs} intervals hold the truth, {:.1} hits a run", hits / runs as f64);
    assert!(hits / runs as f64 >= 20.0);
    assert!(f64::from(covered) >= 0.94 * runs as f64, "{covered} of {runs}");
}
