//! Whatever the bytes are, reading a snapshot is an error or gives a cache that works and is written as it was read.
//!
//! The checksum is put right first: else nothing but the checksum would be tested.

#![no_main]

use libfuzzer_sys::fuzz_target;
use urlcache::{UrlKey, reseal, restore};

fuzz_target!(|bytes: &[u8]| {
    let _ = restore(bytes);
    let Ok(mut cache) = restore(&reseal(bytes)) else { return };
    let before = cache.snapshot();
    assert_eq!(restore(&before).expect("what was written is read").snapshot(), before);
    for index in 0..20_u128 {
        let url = format!("http://h{}/d{}/p{index}", index % 2, index % 3);
        cache.insert(UrlKey { bytes: url.as_bytes(), hash: index << 64 | index });
    }
    cache.forgot(3);
    cache.rotate();
    let keys = [UrlKey { bytes: b"http://h0/", hash: 1 }; 2];
    assert!(cache.unknown_among(&keys) <= 2);
    cache.insert(keys[0]);
    let now = cache.occupancy();
    assert!((0.0..=1.0).contains(&now.expected_rate) && now.expected_lost >= 0.0, "{now:?}");
});
