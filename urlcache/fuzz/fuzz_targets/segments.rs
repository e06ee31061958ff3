//! Whatever the bytes are, their parts joined are the bytes again, and there are not more than asked for.

#![no_main]

use libfuzzer_sys::fuzz_target;
use urlcache::segments;

fuzz_target!(|input: (u8, &[u8])| {
    let (most, url) = input;
    let parts: Vec<&[u8]> = segments(url, most.into()).collect();
    assert!((1..=usize::from(most).max(1)).contains(&parts.len()));
    assert_eq!(parts.join(&b'/'), url);
});
