//! What a hostile site gains by choosing its URLs: nothing without the hash seed, and much with it.

use std::collections::HashSet;

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::{Classic, Filter};
use crate::filter::classic::Draw;
use crate::hash::HashSeed;
use crate::port::UrlKey;

const BITS: u64 = 14_400_000;
const PROBES: u32 = 10;
const CHOSEN: usize = 1_000_000;

fn key(index: u64) -> UrlKey<'static> {
    UrlKey { bytes: b"", hash: xxh3_128_with_seed(&index.to_le_bytes(), 0x7075_626c) }
}

fn positions(seed: HashSeed, index: u64) -> impl Iterator<Item = u64> {
    seed.positions(key(index), PROBES, BITS).collect::<Vec<_>>().into_iter()
}

/// URLs of others that the site wants to be lost.
fn victims() -> impl Iterator<Item = u64> {
    (1 << 40..).take(2_000)
}

/// A million URLs of the site, from five times as many that it could make: first those that set bits of the victims'.
fn chosen(guess: HashSeed) -> Vec<u64> {
    let wanted: HashSet<u64> = victims().flat_map(|victim| positions(guess, victim)).collect();
    let made = 0..5 * CHOSEN as u64;
    let (useful, rest): (Vec<u64>, Vec<u64>) =
        made.partition(|&index| positions(guess, index).any(|position| wanted.contains(&position)));
    useful.into_iter().chain(rest).take(CHOSEN).collect()
}

/// How many of the victims a filter calls seen that has met these URLs, and at which rate it errs.
fn lost(seed: HashSeed, urls: impl Iterator<Item = u64>) -> (usize, f64) {
    let mut filter = Classic::new(BITS, PROBES, seed).unwrap();
    urls.for_each(|index| {
        filter.test_and_set(key(index));
    });
    (victims().filter(|&victim| filter.holds(key(victim))).count(), filter.rate())
}

#[test]
fn an_adversary_gains_nothing_without_the_hash_seed_and_much_with_it() {
    let secret = HashSeed::new(0x0123_4567_89ab_cdef);
    let (found, rate) = lost(secret, chosen(HashSeed::new(0)).into_iter());
    let (_, ordinary) = lost(secret, 10 * CHOSEN as u64..11 * CHOSEN as u64);
    assert!((rate / ordinary - 1.0).abs() < 0.01, "a rate of {rate} instead of {ordinary}");
    assert!(found <= 10, "{found} of 2000 victims are lost at a rate of {rate}");
    let (found, rate) = lost(secret, chosen(secret).into_iter());
    assert!(found > 1_300, "only {found} of 2000 victims are lost to one who knows the seed, at a rate of {rate}");
}
