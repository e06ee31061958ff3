//! [`Bloom`]: the Bloom filter of one step of a cascade.
//!
//! Owns its size, n = m k / ln 2 bits for m elements and k functions, which gives a rate of 2^-k, and its functions. All
//! functions of a key point into one page of at most 4 KiB, and the page grows with the key's hash: whoever comes with
//! keys in order of their hashes stays in the processor's nearest cache. A page has thousands of keys, so that the rate
//! hardly differs from that of one large filter. Invariant: the functions of different filters are independent.

#![expect(
    clippy::cast_possible_truncation,
    reason = "places and sizes are those of a table in memory; of a seed the low byte is wanted"
)]

use std::f64::consts::LN_2;

use urlcache::hash::{below, below_len, mix};

/// Bytes of a page at most.
const PAGE: usize = 4096;

/// A set of hashes with false positives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bloom {
    /// A byte for each function.
    seeds: Vec<u8>,
    bytes: Vec<u8>,
    page_bytes: usize,
    pages: usize,
    salt: u64,
    multipliers: Vec<u64>,
}

impl Bloom {
    /// An empty filter for so many elements. Its number within the cascade makes its functions its own.
    pub(super) fn new(number: u64, probes: u8, elements: u64) -> Self {
        let bits = elements as f64 * f64::from(probes) / LN_2;
        #[expect(clippy::cast_sign_loss, reason = "it is not negative")]
        let bytes = ((bits / 8.0).ceil() as usize).max(1);
        let pages = bytes.div_ceil(PAGE);
        let first = number.wrapping_mul(u64::from(probes));
        let seeds = (0..probes).map(|probe| first.wrapping_add(u64::from(probe)) as u8).collect();
        Self::from_parts(number, seeds, vec![0; bytes.div_ceil(pages) * pages])
    }

    /// A filter that was written down; of at least one function and one byte.
    pub(super) fn from_parts(number: u64, seeds: Vec<u8>, bytes: Vec<u8>) -> Self {
        let pages = bytes.len().div_ceil(PAGE).max(1);
        let multipliers = (1..).zip(&seeds).map(|(place, seed)| mix(place << 8 | u64::from(*seed)) | 1).collect();
        Self { page_bytes: bytes.len() / pages, pages, salt: mix(number + 1), multipliers, seeds, bytes }
    }

    pub(super) fn seeds(&self) -> &[u8] {
        &self.seeds
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn insert(&mut self, hash: u64) {
        let (page, mixed) = self.spot(hash);
        for &multiplier in &self.multipliers {
            let place = self.place(mixed, multiplier);
            self.bytes[page + place / 8] |= 1 << (place % 8);
        }
    }

    /// Whether the key was inserted, perhaps by mistake.
    pub(super) fn holds(&self, hash: u64) -> bool {
        // The usual numbers of functions have loops of their own, without end conditions.
        match self.multipliers[..] {
            [a] => self.holds_all(hash, &[a]),
            [a, b, c] => self.holds_all(hash, &[a, b, c]),
            [a, b, c, d] => self.holds_all(hash, &[a, b, c, d]),
            _ => self.holds_all(hash, &self.multipliers),
        }
    }

    /// Of keys at these places, moves those whose answer is `found` from one list to the other. What was in the other is forgotten.
    pub(super) fn split(&self, hashes: &[u64], found: bool, from: &mut Vec<usize>, to: &mut Vec<usize>) {
        match self.multipliers[..] {
            [a] => split(from, to, |at| self.holds_all(hashes[at], &[a]) == found),
            [a, b, c] => split(from, to, |at| self.holds_all(hashes[at], &[a, b, c]) == found),
            [a, b, c, d] => split(from, to, |at| self.holds_all(hashes[at], &[a, b, c, d]) == found),
            _ => split(from, to, |at| self.holds(hashes[at]) == found),
        }
    }

    /// Whether all bits of a key are set. Without a branch: half of them would be foretold wrongly.
    #[inline]
    fn holds_all(&self, hash: u64, multipliers: &[u64]) -> bool {
        let (page, mixed) = self.spot(hash);
        let page = &self.bytes[page..page + self.page_bytes];
        let bit = |&multiplier: &u64| {
            let place = self.place(mixed, multiplier);
            page[place / 8] >> (place % 8)
        };
        multipliers.iter().fold(1, |all, multiplier| all & bit(multiplier)) & 1 == 1
    }

    /// The first byte of a key's page, and what its places there are drawn from.
    #[inline]
    fn spot(&self, hash: u64) -> (usize, u64) {
        (below_len(hash, self.pages) * self.page_bytes, mix(hash ^ self.salt))
    }

    /// A place in a page, by multiply and shift (M. Dietzfelbinger et al., "A reliable randomized algorithm for the
    /// closest-pair problem", 1997).
    #[inline]
    fn place(&self, mixed: u64, multiplier: u64) -> usize {
        below(mixed.wrapping_mul(multiplier), self.page_bytes as u64 * 8) as usize
    }
}

/// Moves those that pass from one list to the other, without a branch for each.
#[inline]
fn split(from: &mut Vec<usize>, to: &mut Vec<usize>, passes: impl Fn(usize) -> bool) {
    to.resize(from.len(), 0);
    let (from_all, to_all) = (&mut from[..], &mut to[..]);
    let (mut kept, mut moved) = (0, 0);
    for index in 0..from_all.len() {
        let at = from_all[index];
        let passes = passes(at);
        from_all[kept] = at;
        to_all[moved] = at;
        kept += usize::from(!passes);
        moved += usize::from(passes);
    }
    from.truncate(kept);
    to.truncate(moved);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_is_the_formula_s_and_so_is_the_rate() {
        for (probes, elements) in [(1, 200_000), (3, 100_000), (4, 50_000), (4, 3_000), (7, 20_000)] {
            let mut filter = Bloom::new(5, probes, elements);
            (0..elements).for_each(|key| filter.insert(mix(key)));
            assert!((0..elements).all(|key| filter.holds(mix(key))));
            let bits = filter.bytes().len() as f64 * 8.0;
            assert!((bits / (elements as f64 * f64::from(probes) / LN_2) - 1.0).abs() < 1e-3, "{bits}");
            let trials: u64 = 400_000;
            let hits = (elements..elements + trials).filter(|key| filter.holds(mix(*key))).count() as f64;
            let rate = 0.5_f64.powi(i32::from(probes));
            let error = (rate * trials as f64).sqrt();
            assert!(
                (hits - rate * trials as f64).abs() < 4.0 * error + 0.015 * rate * trials as f64,
                "{probes}: {hits}"
            );
        }
    }

    #[test]
    fn filters_of_other_numbers_err_elsewhere() {
        let filled = |number| {
            let mut filter = Bloom::new(number, 1, 10_000);
            (0..10_000).for_each(|key| filter.insert(mix(key)));
            filter
        };
        let (one, other) = (filled(3), filled(259));
        assert_eq!(one.seeds(), other.seeds());
        let both = (10_000..50_000).filter(|key| one.holds(mix(*key)) && other.holds(mix(*key))).count();
        assert!((9_500..10_500).contains(&both), "{both}");
    }
}
