//! How large the two generations of a cache that rotates are.
//!
//! Together they hold what is expected, or what fits into the memory ceiling. Whatever the size, the rate is that with
//! which the expected URLs keep the budget: less memory means that more is forgotten, not that more is lost.

use super::{BuildError, CacheConfig, SMALL_START, Sketch};
use crate::budget::LossBudget;
use crate::exact::ExactCache;
use crate::filtered::Blueprint;
use crate::sizing::check;
use crate::strategy::Strategy;

/// The search for the largest size that fits ends so near to it, as a part of it.
const NEAR: u64 = 200;

pub(super) fn sketch(config: &CacheConfig) -> Result<Sketch, BuildError> {
    if config.strategy == Strategy::Exact { exact(config) } else { filters(config) }
}

/// Two tables that never grow, so that there is no moment at which there are three.
fn exact(config: &CacheConfig) -> Result<Sketch, BuildError> {
    let expected = config.expected_urls.map(generation);
    let fitting = config.max_memory.map(|limit| ExactCache::keys_in(limit / 2));
    match [expected, fitting].into_iter().flatten().min().unwrap_or(generation(SMALL_START)) {
        0 => Err(too_small(config)),
        room => Ok(Sketch::Exact { keys: room.saturating_mul(2), room: Some(room) }),
    }
}

fn filters(config: &CacheConfig) -> Result<Sketch, BuildError> {
    check(&config.budget)?;
    let expected = config.expected_urls.map(generation);
    let Some(limit) = config.max_memory else {
        return of(config, expected.unwrap_or(generation(SMALL_START)));
    };
    let fitting = |room| of(config, room).ok().filter(|sketch| sketch.bits() / 8 <= limit);
    // A key takes a bit at least.
    let mut beyond = expected.unwrap_or(limit.saturating_mul(4)).max(1);
    if let Some(all) = fitting(beyond) {
        return Ok(all);
    }
    let (mut best, mut room) = (fitting(1).ok_or_else(|| too_small(config))?, 1);
    while beyond - room > 1 + room / NEAR {
        let middle = room + (beyond - room) / 2;
        match fitting(middle) {
            Some(larger) => (best, room) = (larger, middle),
            None => beyond = middle,
        }
    }
    Ok(best)
}

/// Two generations of so many keys.
fn of(config: &CacheConfig, room: u64) -> Result<Sketch, BuildError> {
    let keys = 0..room.saturating_mul(2);
    let rate = config.budget.rate_over(config.expected_urls.unwrap_or(keys.end));
    let one = config.fixed(0..room, &LossBudget::rate(rate / 2.0))?;
    Ok(Sketch::Filters { blueprint: Blueprint::Rotating(Box::new(one), room), keys, at_ceiling: false })
}

fn too_small(config: &CacheConfig) -> BuildError {
    BuildError::Ceiling { keys: 2, needed: None, limit: config.max_memory.unwrap_or(u64::MAX) }
}

/// Keys of one generation, where both hold so many.
fn generation(urls: u64) -> u64 {
    urls.div_ceil(2).max(1)
}
