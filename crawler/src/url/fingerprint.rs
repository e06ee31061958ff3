//! [`Fingerprint`]: the 128-bit hash of a key.

use std::fmt;

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::Key;

/// The hash of a [`Key`] under one [`FingerprintSeed`]: it replaces the key in the URL table, in kept links and in the URL cache.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(u128);

/// The secret seed of a crawl directory's fingerprints; made once, never changed, never printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FingerprintSeed(u64);

impl FingerprintSeed {
    /// A seed with this value (from the crawl directory, or from a source of randomness).
    pub fn new(value: u64) -> Self {
        Self(value)
    }

    /// The value, for the crawl directory alone.
    pub fn value(self) -> u64 {
        self.0
    }

    /// xxh3-128 of the key's text.
    pub fn fingerprint(self, key: &Key) -> Fingerprint {
        self.of_text(key.as_str())
    }

    /// As [`FingerprintSeed::fingerprint`], of what is a key's text.
    pub(super) fn of_text(self, text: &str) -> Fingerprint {
        Fingerprint(xxh3_128_with_seed(text.as_bytes(), self.0))
    }
}

impl fmt::Debug for FingerprintSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FingerprintSeed(secret)")
    }
}

impl Fingerprint {
    /// The whole value.
    pub fn value(self) -> u128 {
        self.0
    }

    /// The leading 64 bits: what is kept of a link's target with each visit.
    pub fn short(self) -> u64 {
        (self.0 >> 64) as u64
    }

    /// Sixteen bytes, most significant first, as stored.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// Reads what [`Fingerprint::to_bytes`] wrote.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({:032x})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::{Canonicalizer, WebUrl};

    fn key(text: &str) -> Key {
        Canonicalizer::default().key(&WebUrl::parse(text).unwrap())
    }

    #[test]
    fn depends_on_key_and_seed_and_survives_bytes() {
        let (a, b) = (FingerprintSeed::new(1), FingerprintSeed::new(2));
        let print = a.fingerprint(&key("http://h/a"));
        assert_eq!(print, a.fingerprint(&key("http://h/a")));
        assert_ne!(print, b.fingerprint(&key("http://h/a")));
        assert_ne!(print, a.fingerprint(&key("http://h/b")));
        assert_eq!(print, Fingerprint::from_bytes(print.to_bytes()));
        assert_eq!(print.to_bytes()[..8], print.short().to_be_bytes());
    }

    #[test]
    fn the_seed_never_prints() {
        assert_eq!(format!("{:?}", FingerprintSeed::new(77)), "FingerprintSeed(secret)");
    }
}
