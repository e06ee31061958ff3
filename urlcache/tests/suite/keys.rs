//! Keys without end, as a crawler would give them: a fingerprint under a seed.

use urlcache::UrlKey;
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// The fingerprint of key number `index` in the world `seed`.
pub(crate) fn fingerprint(seed: u64, index: u64) -> u128 {
    xxh3_128_with_seed(&index.to_le_bytes(), seed)
}

/// The key with this fingerprint; its bytes are no matter to the caches tested here.
pub(crate) fn key(hash: u128) -> UrlKey<'static> {
    UrlKey { bytes: b"http://h/", hash }
}

/// The key number `index` in the world `seed`.
pub(crate) fn nth(seed: u64, index: u64) -> UrlKey<'static> {
    key(fingerprint(seed, index))
}
