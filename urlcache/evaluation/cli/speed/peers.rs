//! What our cache is compared with: filters and sets of others, each as its documentation tells.
//!
//! All get the URL's text and hash it themselves: with xxh3 where they take a hash or a hasher, with their own function where
//! that is how they are used.

use std::{collections::HashSet, fmt};

use anyhow::{Result, anyhow};
use cuckoofilter::CuckooFilter;
use fastbloom::BloomFilter;
use xxhash_rust::xxh3::{Xxh3Default, Xxh3DefaultBuilder, xxh3_64, xxh3_128};

use crate::memory;

/// A set that is timed: test-and-set, and a look that changes nothing.
pub(super) trait Peer: Send {
    /// Adds a URL; true if it was found before.
    fn insert(&mut self, url: &str) -> bool;

    /// Whether a URL is found.
    fn contains(&self, url: &str) -> bool;

    /// Memory of the table, in bits.
    fn bits(&self) -> u64;
}

/// A peer: its name, and what makes one for so many keys at a rate.
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// What it is, for the footer.
    pub(super) what: &'static str,
    /// More keys than this are left out.
    pub(super) most_keys: u64,
    make: fn(usize, f64) -> Result<Box<dyn Peer>>,
}

impl Kind {
    /// One for so many keys at this rate.
    pub(super) fn make(&self, keys: u64, rate: f64) -> Result<Box<dyn Peer>> {
        (self.make)(usize::try_from(keys)?, rate).map_err(|error| error.context(Unfit(self.name)))
    }
}

/// A peer cannot be made for so many keys at a rate.
#[derive(Debug)]
pub(super) struct Unfit(&'static str);

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot be made", self.0)
    }
}

/// A copy of each URL takes 130 bytes or more.
const MOST_STRINGS: u64 = 20_000_000;

/// Every peer, the nearest first.
pub(super) const ALL: [Kind; 7] = [
    Kind {
        name: "fastbloom",
        what: "plain Bloom filter (crate fastbloom) with xxh3 as its hasher",
        most_keys: u64::MAX,
        make: |keys, rate| {
            Ok(Box::new(Fast(BloomFilter::with_false_pos(rate).hasher(Xxh3DefaultBuilder).expected_items(keys))))
        },
    },
    Kind {
        name: "fastbloom-hashed",
        what: "the same, given hashes by the one-shot function of xxh3: its fastest form",
        most_keys: u64::MAX,
        make: |keys, rate| {
            Ok(Box::new(FastHashed(BloomFilter::with_false_pos(rate).hasher(Xxh3DefaultBuilder).expected_items(keys))))
        },
    },
    Kind {
        name: "sbbf",
        what: "split-block Bloom filter of Parquet (crate sbbf-rs-safe), sized for the rate",
        most_keys: u64::MAX,
        make: |keys, rate| Ok(Box::new(Split(sbbf_rs_safe::Filter::new(1, split_block_bits(keys, rate))))),
    },
    Kind {
        name: "quotient",
        what: "quotient filter (crate qfilter)",
        most_keys: u64::MAX,
        make: |keys, rate| {
            let filter =
                qfilter::Filter::new(keys as u64, rate).map_err(|error| anyhow!("quotient filter: {error:?}"))?;
            Ok(Box::new(Quotient(filter)))
        },
    },
    Kind {
        name: "cuckoo",
        what: "cuckoo filter (crate cuckoofilter) with xxh3; its fingerprints have 8 bits, whatever the rate",
        most_keys: u64::MAX,
        make: |keys, _| Ok(Box::new(Cuckoo(CuckooFilter::with_capacity(keys + keys / 10)))),
    },
    Kind {
        name: "hashbrown",
        what: "exact: hash set (crate hashbrown) of xxh3-128 fingerprints",
        most_keys: u64::MAX,
        make: |keys, _| Ok(Box::new(Fingerprints(hashbrown::HashSet::with_capacity(keys)))),
    },
    Kind {
        name: "hashset",
        what: "exact: HashSet<String> of the standard library",
        most_keys: MOST_STRINGS,
        make: |keys, _| Ok(Box::new(Strings { set: HashSet::with_capacity(keys), text: 0 })),
    },
];

struct Fast(BloomFilter<Xxh3DefaultBuilder>);

impl Peer for Fast {
    fn insert(&mut self, url: &str) -> bool {
        self.0.insert(url)
    }

    fn contains(&self, url: &str) -> bool {
        self.0.contains(url)
    }

    fn bits(&self) -> u64 {
        self.0.num_bits() as u64
    }
}

struct FastHashed(BloomFilter<Xxh3DefaultBuilder>);

impl Peer for FastHashed {
    fn insert(&mut self, url: &str) -> bool {
        self.0.insert_hash(xxh3_64(url.as_bytes()))
    }

    fn contains(&self, url: &str) -> bool {
        self.0.contains_hash(xxh3_64(url.as_bytes()))
    }

    fn bits(&self) -> u64 {
        self.0.num_bits() as u64
    }
}

struct Split(sbbf_rs_safe::Filter);

impl Peer for Split {
    fn insert(&mut self, url: &str) -> bool {
        self.0.insert_hash(xxh3_64(url.as_bytes()))
    }

    fn contains(&self, url: &str) -> bool {
        self.0.contains_hash(xxh3_64(url.as_bytes()))
    }

    fn bits(&self) -> u64 {
        self.0.as_bytes().len() as u64 * 8
    }
}

/// Bits of a split-block filter of this rate: each key sets one bit in each of the eight 32-bit words of a block of 256
/// bits, and blocks have Poisson distributed loads.
fn split_block_bits(keys: usize, rate: f64) -> usize {
    let rate_of = |bits_per_key: f64| {
        let load = 256.0 / bits_per_key;
        let (mut weight, mut mean) = ((-load).exp(), 0.0);
        for held in 0..400_i32 {
            mean += weight * (1.0 - (31.0_f64 / 32.0).powi(held)).powi(8);
            weight *= load / f64::from(held + 1);
        }
        mean
    };
    let (mut low, mut high) = (2.0, 400.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        (low, high) = if rate_of(middle) > rate { (middle, high) } else { (low, middle) };
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few hundred bits a key")]
    let bits = (high * keys as f64).ceil() as usize;
    bits
}

struct Quotient(qfilter::Filter);

impl Peer for Quotient {
    fn insert(&mut self, url: &str) -> bool {
        // Full is as good as found.
        !self.0.insert_fingerprint(false, xxh3_64(url.as_bytes())).unwrap_or(false)
    }

    fn contains(&self, url: &str) -> bool {
        self.0.contains_fingerprint(xxh3_64(url.as_bytes()))
    }

    fn bits(&self) -> u64 {
        self.0.memory_usage() as u64 * 8
    }
}

struct Cuckoo(CuckooFilter<Xxh3Default>);

impl Peer for Cuckoo {
    fn insert(&mut self, url: &str) -> bool {
        !self.0.test_and_add(url).unwrap_or(false)
    }

    fn contains(&self, url: &str) -> bool {
        self.0.contains(url)
    }

    fn bits(&self) -> u64 {
        self.0.memory_usage() as u64 * 8
    }
}

struct Fingerprints(hashbrown::HashSet<u128>);

impl Peer for Fingerprints {
    fn insert(&mut self, url: &str) -> bool {
        !self.0.insert(xxh3_128(url.as_bytes()))
    }

    fn contains(&self, url: &str) -> bool {
        self.0.contains(&xxh3_128(url.as_bytes()))
    }

    fn bits(&self) -> u64 {
        self.0.allocation_size() as u64 * 8
    }
}

struct Strings {
    set: HashSet<String>,
    /// Bytes of the texts, as the allocator rounds them.
    text: u64,
}

impl Peer for Strings {
    fn insert(&mut self, url: &str) -> bool {
        if self.set.contains(url) {
            return true;
        }
        self.text += (url.len() as u64 + 8).next_multiple_of(16);
        !self.set.insert(url.to_owned())
    }

    fn contains(&self, url: &str) -> bool {
        self.set.contains(url)
    }

    fn bits(&self) -> u64 {
        (self.text + memory::of_hash_set(&self.set)) * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::url;

    #[test]
    fn every_peer_holds_what_it_was_given_at_about_its_rate() {
        for kind in &ALL {
            let mut peer = kind.make(20_000, 1e-2).unwrap();
            let refused = (0..20_000).filter(|&index| peer.insert(&url(index))).count();
            assert!(refused < 500, "{}: {refused} refused", kind.name);
            assert!((0..20_000).all(|index| peer.contains(&url(index))), "{}", kind.name);
            assert!((0..500).all(|index| peer.insert(&url(index))), "{}", kind.name);
            let found = (20_000..40_000).filter(|&index| peer.contains(&url(index))).count();
            let most = if kind.name == "cuckoo" { 900 } else { 260 };
            assert!(found < most && peer.bits() > 5 * 20_000, "{}: {found} found, {} bits", kind.name, peer.bits());
        }
    }
}
