//! Keys without end: URLs as a crawler meets them, each a pure function of its number.

use urlcache::{HashSeed, UrlKey};
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// The secret under which these keys have their fingerprints.
const FINGERPRINT_SEED: u64 = 0x6b65_7973;

/// URL number `index`, of 71 bytes: a million hosts' worth of folders, so that segments repeat.
pub(crate) fn url(index: u64) -> String {
    let mixed = HashSeed::new(index).derive(0, 0).value();
    format!("https://docs{:03}.example.org/library/{:06x}/{mixed:016x}-{index:011}.html", index % 997, mixed >> 44)
}

/// The key of a URL.
#[inline]
pub(crate) fn key(url: &str) -> UrlKey<'_> {
    UrlKey { bytes: url.as_bytes(), hash: xxh3_128_with_seed(url.as_bytes(), FINGERPRINT_SEED) }
}
