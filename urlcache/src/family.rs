//! [`Hashing`]: hash functions that read a key's bytes, for comparison with the fingerprint.
//!
//! Owns five families and how k functions are made of them: as k salts of one function, or as k different functions. The
//! thesis compares the two (Goytil and Lundberg 2010, chapter 5) and finds no difference; nor do we. Each function here
//! reads the whole key, so k of them cost k times what one fingerprint costs.

use md5::{Digest, Md5};
use sha1::Sha1;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::hash::HashSeed;

/// A family of hash functions, one for each salt.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HashFamily {
    /// xxh3, 64 bits (Y. Collet).
    Xxh3,
    /// lookup2, 32 bits (B. Jenkins, "Hash functions", Dr. Dobb's Journal 1997); two of them side by side.
    Lookup2,
    /// `MurmurHash64A`, that is `MurmurHash2` of 64 bits (A. Appleby).
    Murmur2,
    /// MD5 of salt and key, the first 64 bits.
    Md5,
    /// SHA-1 of salt and key, the first 64 bits.
    Sha1,
}

/// Where a filter's positions come from.
///
/// ```
/// use urlcache::{HashFamily, Hashing};
///
/// assert_eq!("murmur2".parse(), Ok(Hashing::Salts(HashFamily::Murmur2)));
/// assert_eq!(Hashing::Functions.to_string(), "functions");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Hashing {
    /// From the 128-bit fingerprint, finished with the hash seed: the one to use.
    Fingerprint,
    /// From k salts of one function, drawn by the hash seed.
    Salts(HashFamily),
    /// From k different functions, drawn by the hash seed from all families: another seed is another combination.
    Functions,
}

impl HashFamily {
    /// Every family.
    pub const ALL: [Self; 5] = [Self::Xxh3, Self::Lookup2, Self::Murmur2, Self::Md5, Self::Sha1];

    /// The hash of a key under a salt.
    pub fn hash(self, bytes: &[u8], salt: u64) -> u64 {
        match self {
            Self::Xxh3 => xxh3_64_with_seed(bytes, salt),
            Self::Lookup2 => {
                #[expect(clippy::cast_possible_truncation, reason = "a half of the salt each")]
                let (high, low) = ((salt >> 32) as u32, salt as u32);
                u64::from(lookup2(bytes, high)) << 32 | u64::from(lookup2(bytes, low.wrapping_add(1)))
            }
            Self::Murmur2 => murmur2(bytes, salt),
            Self::Md5 => leading(&Md5::new_with_prefix(salt.to_le_bytes()).chain_update(bytes).finalize()),
            Self::Sha1 => leading(&Sha1::new_with_prefix(salt.to_le_bytes()).chain_update(bytes).finalize()),
        }
    }
}

impl Hashing {
    /// Every choice, in the order in which they are listed to users.
    pub const ALL: [Self; 7] = [
        Self::Fingerprint,
        Self::Salts(HashFamily::Xxh3),
        Self::Salts(HashFamily::Lookup2),
        Self::Salts(HashFamily::Murmur2),
        Self::Salts(HashFamily::Md5),
        Self::Salts(HashFamily::Sha1),
        Self::Functions,
    ];

    /// The name, as in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fingerprint => "fingerprint",
            Self::Salts(HashFamily::Xxh3) => "xxh3",
            Self::Salts(HashFamily::Lookup2) => "lookup2",
            Self::Salts(HashFamily::Murmur2) => "murmur2",
            Self::Salts(HashFamily::Md5) => "md5",
            Self::Salts(HashFamily::Sha1) => "sha1",
            Self::Functions => "functions",
        }
    }

    /// Function number `index` under a seed, of a key with these bytes.
    pub(crate) fn hash(self, bytes: &[u8], seed: HashSeed, index: u32) -> u64 {
        let salt = seed.derive(u32::MAX - 3, index).value();
        let family = match self {
            Self::Salts(family) => family,
            Self::Functions => HashFamily::ALL[(salt % 5) as usize],
            Self::Fingerprint => HashFamily::Xxh3,
        };
        family.hash(bytes, salt)
    }
}

fn leading(digest: &[u8]) -> u64 {
    digest.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Jenkins' lookup2.
fn lookup2(bytes: &[u8], initial: u32) -> u32 {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0_u32, |word, &byte| word << 8 | u32::from(byte));
    let mut state = [0x9e37_79b9, 0x9e37_79b9, initial];
    let (blocks, rest) = bytes.as_chunks::<12>();
    for block in blocks {
        for (value, part) in state.iter_mut().zip(block.chunks(4)) {
            *value = value.wrapping_add(word(part));
        }
        mix_lookup2(&mut state);
    }
    // The lowest byte of the third word is left to the length.
    let mut last = [0; 12];
    last[..rest.len().min(8)].copy_from_slice(&rest[..rest.len().min(8)]);
    last[9..9 + rest.len().saturating_sub(8)].copy_from_slice(&rest[rest.len().min(8)..]);
    #[expect(clippy::cast_possible_truncation, reason = "the function takes lengths modulo 2^32")]
    let length = bytes.len() as u32;
    for (value, part) in state.iter_mut().zip(last.chunks(4)) {
        *value = value.wrapping_add(word(part));
    }
    state[2] = state[2].wrapping_add(length);
    mix_lookup2(&mut state);
    state[2]
}

fn mix_lookup2([a, b, c]: &mut [u32; 3]) {
    for (first, second, third) in [(13, 8, 13), (12, 16, 5), (3, 10, 15)] {
        *a = a.wrapping_sub(*b).wrapping_sub(*c) ^ (*c >> first);
        *b = b.wrapping_sub(*c).wrapping_sub(*a) ^ (*a << second);
        *c = c.wrapping_sub(*a).wrapping_sub(*b) ^ (*b >> third);
    }
}

/// Appleby's `MurmurHash64A`.
fn murmur2(bytes: &[u8], seed: u64) -> u64 {
    const M: u64 = 0xc6a4_a793_5bd1_e995;
    let (blocks, rest) = bytes.as_chunks::<8>();
    let mut hash = seed ^ (bytes.len() as u64).wrapping_mul(M);
    for block in blocks {
        let word = u64::from_le_bytes(*block).wrapping_mul(M);
        hash = (hash ^ (word ^ (word >> 47)).wrapping_mul(M)).wrapping_mul(M);
    }
    if !rest.is_empty() {
        hash ^= rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        hash = hash.wrapping_mul(M);
    }
    hash = (hash ^ (hash >> 47)).wrapping_mul(M);
    hash ^ (hash >> 47)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check of the test suite `SMHasher`: hashes of 0, 0 1, 0 1 2, ... under seeds 256, 255, ..., hashed together.
    #[test]
    fn murmur2_has_its_published_verification_value() {
        let bytes: Vec<u8> = (0..=255).collect();
        let hashes = (0..256).flat_map(|length| murmur2(&bytes[..length], 256 - length as u64).to_le_bytes());
        let all: Vec<u8> = hashes.collect();
        assert_eq!(murmur2(&all, 0) & 0xffff_ffff, 0x1f0d_3804);
    }

    /// Values of Perl's `Digest::JHash`, which is Jenkins' own code.
    #[test]
    fn lookup2_gives_what_others_give() {
        let cases: [(&str, u32); 4] = [
            ("a", 0x29ee_c818),
            ("hello world", 0x1aa9_19e6),
            ("http://www.example.org/", 0x3a11_a2e4),
            ("The quick brown fox jumps over the lazy dog", 0xfc15_58de),
        ];
        for (text, hash) in cases {
            assert_eq!(lookup2(text.as_bytes(), 0), hash, "{text:?}");
        }
    }

    /// RFC 1321 A.5 and FIPS 180-2 A.1 have no salt; eight bytes of their text do as one.
    #[test]
    fn digests_are_those_of_salt_and_key() {
        let salt = u64::from_le_bytes(*b"message ");
        assert_eq!(
            HashFamily::Md5.hash(b"digest", salt).to_le_bytes(),
            [0xf9, 0x6b, 0x69, 0x7d, 0x7c, 0xb7, 0x93, 0x8d]
        );
        let salt = u64::from_le_bytes(*b"abcdbcde");
        let rest = b"cdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(HashFamily::Sha1.hash(rest, salt).to_le_bytes(), [0x84, 0x98, 0x3e, 0x44, 0x1c, 0x3b, 0xd2, 0x6e]);
    }

    #[test]
    fn families_salts_and_combinations_differ() {
        let hashes: std::collections::HashSet<u64> = HashFamily::ALL
            .iter()
            .flat_map(|family| (0..50).map(|salt| family.hash(b"http://h/", salt)))
            .chain((0..50).map(|index| Hashing::Functions.hash(b"http://h/", HashSeed::new(1), index)))
            .collect();
        assert_eq!(hashes.len(), 300);
    }
}
