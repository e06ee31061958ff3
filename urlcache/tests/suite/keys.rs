//! Keys without end, as a crawler would give them: a fingerprint under a seed.

use std::sync::LazyLock;

use urlcache::UrlKey;
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// The fingerprint of key number `index` in the world `seed`.
pub(crate) fn fingerprint(seed: u64, index: u64) -> u128 {
    xxh3_128_with_seed(&index.to_le_bytes(), seed)
}

/// The key with this fingerprint; its bytes are those of every such key.
pub(crate) fn key(hash: u128) -> UrlKey<'static> {
    UrlKey { bytes: b"http://h/", hash }
}

/// The key number `index` in the world `seed`. The first few thousand have bytes of their own, for caches that read them.
pub(crate) fn nth(seed: u64, index: u64) -> UrlKey<'static> {
    static URLS: LazyLock<Vec<String>> =
        LazyLock::new(|| (0..8_192).map(|i| format!("http://h{}/d{}/p{i}", i % 3, i % 50)).collect());
    let bytes = usize::try_from(index).ok().and_then(|index| URLS.get(index)).map_or("", String::as_str).as_bytes();
    UrlKey { bytes, hash: fingerprint(seed, index) }
}
