//! [`Classic`]: the layout `classic`, Bloom's own, k bits anywhere in m (B. H. Bloom, "Space/time trade-offs in hash coding with
//! allowable errors", CACM 1970).
//!
//! Owns the bits, the number of probes and how they are drawn. Invariant: a key once set is found until the bits are cleared.
//! It does not count keys or losses: that is the strategy's business.

use std::collections::TryReserveError;

use super::bits::BitArray;
use super::{Extent, Filter, Tag};
use crate::family::Hashing;
use crate::hash::{HashSeed, below};
use crate::port::UrlKey;
use crate::snapshot::{SnapshotError, SnapshotReader, named, number};

/// How a key's positions are drawn.
pub(crate) trait Draw: Send {
    /// What it is written down as.
    const TAG: Tag;

    /// Positions below `size`, as many as asked for.
    fn positions(&self, key: UrlKey<'_>, probes: u32, size: u64) -> impl Iterator<Item = u64>;

    /// From now on the positions are those of this seed.
    fn rotate(&mut self, seed: HashSeed);

    /// A drawing that was written down.
    fn read(input: &mut SnapshotReader<'_>) -> Result<Self, SnapshotError>
    where
        Self: Sized;

    /// Writes it down.
    fn write(&self, out: &mut Vec<u8>);
}

/// From the fingerprint.
impl Draw for HashSeed {
    const TAG: Tag = Tag::Classic;

    fn positions(&self, key: UrlKey<'_>, probes: u32, size: u64) -> impl Iterator<Item = u64> {
        let mut drawn = self.probes(key.hash);
        (0..probes).map(move |_| drawn.next_below(size))
    }

    fn rotate(&mut self, seed: HashSeed) {
        *self = seed;
    }

    fn read(input: &mut SnapshotReader<'_>) -> Result<Self, SnapshotError> {
        input.u64().map(Self::new)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.value().to_le_bytes());
    }
}

/// From the key's bytes, by the functions of a family, or of several.
#[derive(Clone, Copy)]
pub(crate) struct FromBytes {
    /// Which functions.
    pub(crate) hashing: Hashing,
    /// What draws them.
    pub(crate) seed: HashSeed,
}

impl Draw for FromBytes {
    const TAG: Tag = Tag::FromBytes;

    fn positions(&self, key: UrlKey<'_>, probes: u32, size: u64) -> impl Iterator<Item = u64> {
        (0..probes).map(move |index| below(self.hashing.hash(key.bytes, self.seed, index), size))
    }

    fn rotate(&mut self, seed: HashSeed) {
        self.seed = seed;
    }

    fn read(input: &mut SnapshotReader<'_>) -> Result<Self, SnapshotError> {
        Ok(Self { hashing: named(&Hashing::ALL, input.u8()?)?, seed: HashSeed::new(input.u64()?) })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(number(&Hashing::ALL, self.hashing));
        out.extend(self.seed.value().to_le_bytes());
    }
}

/// A Bloom filter of m bits and k probes a key.
pub(crate) struct Classic<D> {
    bits: BitArray,
    probes: u32,
    draw: D,
}

impl<D: Draw> Classic<D> {
    /// An empty filter.
    ///
    /// # Errors
    /// The allocator has no room for the bits.
    pub(crate) fn new(bits: u64, probes: u32, draw: D) -> Result<Self, TryReserveError> {
        Ok(Self { bits: BitArray::new(bits)?, probes, draw })
    }

    /// A filter that was written down.
    pub(super) fn read(input: &mut SnapshotReader<'_>) -> Result<Self, SnapshotError> {
        let (draw, probes) = (D::read(input)?, input.u32()?);
        if probes == 0 || probes > 64 {
            return Err(SnapshotError::Senseless("the number of probes is outside 1..=64"));
        }
        Ok(Self { bits: BitArray::read(input)?, probes, draw })
    }

    fn fill(&self) -> f64 {
        self.bits.ones() as f64 / self.bits.len() as f64
    }
}

impl<D: Draw> Filter for Classic<D> {
    fn test_and_set(&mut self, key: UrlKey<'_>) -> bool {
        let before = self.bits.ones();
        for position in self.draw.positions(key, self.probes, self.bits.len()) {
            self.bits.set(position);
        }
        self.bits.ones() == before
    }

    fn holds(&self, key: UrlKey<'_>) -> bool {
        self.draw.positions(key, self.probes, self.bits.len()).all(|position| self.bits.get(position))
    }

    /// `fill^k`, exactly, as the probes are independent of each other (Broder and Mitzenmacher, "Network applications
    /// of Bloom filters", 2004).
    fn rate(&self) -> f64 {
        self.fill().powi(self.probes.cast_signed())
    }

    fn extent(&self) -> Extent {
        Extent { bits: self.bits.len(), fill: self.fill(), fill_limit: 0.75, steepness: self.probes.into() }
    }

    fn clear(&mut self, seed: HashSeed) {
        self.draw.rotate(seed);
        self.bits.clear();
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(D::TAG as u8);
        self.draw.write(out);
        out.extend(self.probes.to_le_bytes());
        self.bits.write(out);
    }

    fn fetch_ahead(&self, key: UrlKey<'_>) {
        for position in self.draw.positions(key, self.probes, self.bits.len()) {
            self.bits.touch(position);
        }
    }
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_128_with_seed;

    use super::*;
    use crate::sizing::{Plan, Shape};

    fn fingerprint(index: u64) -> u128 {
        xxh3_128_with_seed(&index.to_le_bytes(), 99)
    }

    fn of(plan: Plan, seed: u64) -> Classic<HashSeed> {
        let Shape::Classic { probes } = plan.shape() else { panic!("{plan:?}") };
        Classic::new(plan.bits(), probes, HashSeed::new(seed)).unwrap()
    }

    fn filled(plan: Plan, seed: u64, keys: u64) -> Classic<HashSeed> {
        let mut filter = of(plan, seed);
        for index in 0..keys {
            filter.test_and_set(UrlKey { bytes: b"", hash: fingerprint(index) });
        }
        filter
    }

    /// How many of the `count` keys after `first` are found, none of which was set.
    fn found(filters: &[&Classic<HashSeed>], first: u64, count: u64) -> f64 {
        let keys = (first..first + count).map(fingerprint);
        keys.filter(|&key| filters.iter().all(|filter| filter.holds(UrlKey { bytes: b"", hash: key }))).count() as f64
    }

    /// Asserts that `count` successes of `trials` fit the probability within 3.5 standard errors.
    fn assert_rate(count: f64, trials: u64, rate: f64, what: &str) {
        let expected = trials as f64 * rate;
        let deviation = (count - expected) / (expected * (1.0 - rate)).sqrt();
        assert!(deviation.abs() < 3.5, "{what}: {count} found, {expected:.1} expected, {deviation:.2} standard errors");
    }

    #[test]
    fn the_measured_rate_is_the_predicted_one() {
        for (rate, trials) in [(1e-2, 200_000), (1e-3, 500_000), (1e-4, 2_000_000), (1e-5, 6_000_000)] {
            for keys in [3_000, 40_000] {
                let plan = Plan::for_rate(keys, rate).unwrap();
                let filter = filled(plan, keys, keys);
                let count = found(&[&filter], keys, trials);
                assert_rate(count, trials, filter.rate(), &format!("{rate} by fill, {keys} keys"));
                let drift = filter.rate() / plan.rate_at(keys) - 1.0;
                assert!(drift.abs() < 0.12, "{rate} by formula, {keys} keys: {drift}");
            }
        }
    }

    /// Positions on an arithmetic progression would here give ten times the rate.
    #[test]
    fn a_small_filter_of_a_low_rate_has_no_floor() {
        let trials = 8_000_000;
        let filters: Vec<Classic<HashSeed>> =
            (0..4).map(|seed| filled(Plan::new(1_200, 14).unwrap(), seed, 50)).collect();
        let rates = filters.iter().map(Filter::rate);
        let count = filters.iter().map(|filter| found(&[filter], 50, trials / 4)).sum();
        assert_rate(count, trials, rates.sum::<f64>() / 4.0, "small filter");
    }

    #[test]
    fn the_mean_rate_over_many_filters_is_the_formulas() {
        for probes in [1, 3, 8, 13] {
            let plan = Plan::new(6_000, probes).unwrap();
            let rates: Vec<f64> = (0..150).map(|seed| filled(plan, seed, 500)).map(|f| f.rate()).collect();
            let mean = rates.iter().sum::<f64>() / 150.0;
            assert!((mean / plan.rate_at(500) - 1.0).abs() < 0.01, "{probes} probes: {mean} {}", plan.rate_at(500));
        }
    }

    #[test]
    fn keys_mistaken_under_one_seed_are_mistaken_under_another_only_by_accident() {
        let plan = Plan::for_rate(5_000, 0.02).unwrap();
        let keys = 5_000;
        let trials = 1_500_000;
        let root = HashSeed::new(1);
        let first = filled(plan, root.derive(0, 0).value(), keys);
        for other in [root.value(), 2, root.derive(1, 0).value(), root.derive(0, 1).value()] {
            let second = filled(plan, other, keys);
            let both = first.rate() * second.rate();
            assert_rate(found(&[&first, &second], keys, trials), trials, both, "found under both seeds");
        }
    }

    #[test]
    fn fingerprints_that_merely_count_are_distinguished_as_well() {
        let plan = Plan::for_rate(20_000, 1e-3).unwrap();
        let mut filter = of(plan, 5);
        for key in 0..20_000_u128 {
            filter.test_and_set(UrlKey { bytes: b"", hash: key << 3 });
        }
        let trials = 400_000;
        let count =
            (0..u128::from(trials)).filter(|key| filter.holds(UrlKey { bytes: b"", hash: (key << 3) | 1 })).count();
        assert_rate(count as f64, trials, filter.rate(), "counting fingerprints");
    }
}
