//! Deterministic simulation: the real core, URL cache and database on a virtual clock, against a web with faults.
//!
//! A seed makes a web, its faults (outages of hosts, pages that hang or fail, robots.txt that comes and goes), kills and
//! restarts. What must hold is known from the web itself: each page that can be reached has its answer at the end, nothing is
//! abandoned or failed but what the web itself makes so, and no host is asked too soon, too often or by two at a time.
//!
//! `SEEDS=10000 cargo test --release -p webloom --lib simulation` runs more; `SEED=17` runs one and shows its steps.

mod fetcher;
mod oracle;
mod random;
mod run;
mod web;

use random::Random;
use run::Crawl;
use web::Web;

/// Seeds that are run where nothing else is said.
const SEEDS: u64 = 500;

#[test]
fn every_seed_is_crawled_completely() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    if let Some(seed) = number("SEED") {
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_test_writer().try_init().ok();
        return simulate(seed).unwrap_or_else(|problem| panic!("seed {seed}: {problem}"));
    }
    let mut failures = Vec::new();
    for seed in number("FIRST").unwrap_or(0)..number("SEEDS").unwrap_or(SEEDS) {
        let outcome = std::panic::catch_unwind(|| simulate(seed));
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(problem)) => failures.push(format!("seed {seed}: {problem}")),
            Err(_) => failures.push(format!("seed {seed}: panicked")),
        }
        assert!(failures.len() < 5, "{failures:#?}");
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

fn simulate(seed: u64) -> Result<(), String> {
    let mut random = Random::new(seed);
    let web = Web::new(&mut random);
    let mut crawl = Crawl::new(web, random);
    crawl.go_on_to_the_end()?;
    oracle::judge(&crawl)
}
