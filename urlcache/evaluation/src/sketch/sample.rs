//! [`KeySample`]: all that belongs to some of the keys.
//!
//! A sample by position answers questions on keys wrongly: of a query that occurs twice, a tenth of the positions has one
//! occurrence in 18 % of cases, and so calls it unique. A sample by the bucket of the key has all occurrences of a key or
//! none, and the share of unique keys in it is that of the stream.
//!
//! Invariants: it holds every pair whose key lies in its [`BucketRange`], and at most so many pairs as it was made for;
//! when there are more, the highest bucket is given up. So it is a function of the pairs and not of the order of the keys.
//!
//! Its bias: the bound is on pairs, so a key with many pairs is more likely to be given up at the end of the range. This
//! concerns one key of the sample, unless single keys hold a large part of the bound. A key with more pairs than the bound
//! is never held, and the range ends before it.

use std::{collections::BTreeMap, num::NonZeroUsize};

use urlcache::{HashSeed, sketch::BucketRange};

/// A bounded sample of pairs of a key and a value, all values of a key or none.
///
/// ```
/// use std::num::NonZeroUsize;
/// use urlcache::HashSeed;
/// use urlcache_evaluation::sketch::KeySample;
///
/// // 10,000 queries are asked once, 10,000 twice.
/// let mut sample = KeySample::new(NonZeroUsize::new(3_000).unwrap(), HashSeed::new(7));
/// (0..30_000_u128).for_each(|line| sample.offer((line % 20_000) << 64, ()));
/// let unique = sample.keys().filter(|(_, values)| values.len() == 1).count();
/// assert!((unique as f64 / sample.len() as f64 - 0.5).abs() < 0.05);
/// assert!(sample.pairs() <= 3_000 && (sample.share() - 0.1).abs() < 0.01);
/// ```
#[derive(Debug, Clone)]
pub struct KeySample<V> {
    range: BucketRange,
    most: NonZeroUsize,
    pairs: usize,
    held: BTreeMap<(u64, u128), Vec<V>>,
}

impl<V> KeySample<V> {
    /// A sample of at most so many pairs; the seed chooses the keys.
    pub const fn new(most: NonZeroUsize, seed: HashSeed) -> Self {
        Self { range: BucketRange::all(seed), most, pairs: 0, held: BTreeMap::new() }
    }

    /// Takes in a pair, if its key is in the sample.
    pub fn offer(&mut self, fingerprint: u128, value: V) {
        if !self.range.accepts(fingerprint) {
            return;
        }
        self.held.entry((self.range.bucket(fingerprint), fingerprint)).or_default().push(value);
        self.pairs += 1;
        while self.pairs > self.most.get() {
            self.give_up_highest();
        }
    }

    /// The keys of the sample, each with all its values in the order they came.
    pub fn keys(&self) -> impl Iterator<Item = (u128, &[V])> {
        self.held.iter().map(|((_, fingerprint), values)| (*fingerprint, values.as_slice()))
    }

    /// How many keys it holds.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// How many pairs it holds.
    pub fn pairs(&self) -> usize {
        self.pairs
    }

    /// The share of all keys that it accepts, 0 to 1.
    pub fn share(&self) -> f64 {
        self.range.share()
    }

    fn give_up_highest(&mut self) {
        if let Some(((bucket, _), values)) = self.held.pop_last() {
            self.range.end_before(bucket);
            self.pairs -= values.len();
        }
        // Two keys of one bucket go together.
        while let Some(entry) = self.held.last_entry().filter(|entry| !self.range.accepts(entry.key().1)) {
            self.pairs -= entry.remove().len();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use urlcache::sketch::Theory;

    use super::*;
    use crate::sketch::{
        Reservoir,
        trials::{self, fingerprint},
    };

    fn sample(most: usize, pairs: impl IntoIterator<Item = u64>) -> KeySample<()> {
        let mut sample = KeySample::new(NonZeroUsize::new(most).unwrap(), HashSeed::new(4));
        pairs.into_iter().for_each(|key| sample.offer(fingerprint(key), ()));
        sample
    }

    fn held(sample: &KeySample<()>) -> Vec<(u128, usize)> {
        sample.keys().map(|(key, values)| (key, values.len())).collect()
    }

    proptest! {
        #[test]
        fn holds_the_longest_range_that_fits_in_any_order(
            most in 1..40_usize,
            keys in prop::collection::vec(0..60_u64, 0..200),
        ) {
            let forwards = sample(most, keys.iter().copied());
            let backwards = sample(most, keys.iter().rev().copied());
            prop_assert_eq!(held(&forwards), held(&backwards));
            prop_assert_eq!(forwards.share().to_bits(), backwards.share().to_bits());
            let range = BucketRange::all(HashSeed::new(4));
            let mut buckets: Vec<u64> = keys.iter().map(|key| range.bucket(fingerprint(*key))).collect();
            buckets.sort_unstable();
            // The first bucket that does not fit any more, and what is below it.
            let end = buckets.get(most).copied();
            let expected = buckets.iter().filter(|bucket| end.is_none_or(|end| **bucket < end)).count();
            prop_assert_eq!(forwards.pairs(), expected);
            prop_assert_eq!(held(&forwards).iter().map(|(_, pairs)| pairs).sum::<usize>(), expected);
        }
    }

    #[test]
    fn a_key_that_does_not_fit_is_not_held() {
        let sample = sample(10, (0..30).map(|_| 1).chain([2, 3, 4]));
        assert!(sample.pairs() <= 3 && held(&sample).iter().all(|(key, _)| *key != fingerprint(1)));
    }

    /// 1,000 keys once, 1,000 twice: slides 13 to 18. By key over 100 seeds the share of unique keys is that of the stream.
    #[test]
    fn the_share_of_unique_keys_by_key_is_right() {
        let stream = || (0..3_000_u64).map(|line| fingerprint(line % 2_000));
        // Some 200 of 2,000 keys, drawn without replacement; the bound is on pairs, 1.5 of them a key.
        let standard_error = (0.25 / 200.0 * (1.0 - 0.1_f64)).sqrt() / 0.5;
        trials::check(Theory { bias: 0.0, standard_error, excess_kurtosis: 0.0 }, |seed| {
            let mut sample = KeySample::new(NonZeroUsize::new(300).unwrap(), seed);
            stream().for_each(|key| sample.offer(key, ()));
            let unique = sample.keys().filter(|(_, values)| values.len() == 1).count();
            unique as f64 / sample.len() as f64 / 0.5
        });
    }

    /// By position it is not: of 1,000 unique keys a tenth is there, 100, and of 1,000 that occur twice 0.18, 180 look
    /// unique and 10 do not. So 280 of 290 look unique.
    #[test]
    fn the_share_of_unique_keys_by_position_is_wrong() {
        let of = |index| {
            let mut sample = Reservoir::new(NonZeroUsize::new(300).unwrap(), trials::seed(index));
            (0..3_000_u64).for_each(|line| {
                sample.offer(line % 2_000);
            });
            let mut occurrences = std::collections::HashMap::<u64, u32>::new();
            sample.held().iter().for_each(|key| *occurrences.entry(*key).or_default() += 1);
            occurrences.values().filter(|count| **count == 1).count() as f64 / occurrences.len() as f64
        };
        let mean = (0..100).map(of).sum::<f64>() / 100.0;
        assert!((mean - 280.0 / 290.0).abs() < 0.005, "{mean}");
    }

    /// Slide 20: the mean range of salaries within departments, estimated from some departments with all their employees.
    #[test]
    fn the_range_of_values_within_keys_is_kept() {
        let mut sample = KeySample::new(NonZeroUsize::new(2_000).unwrap(), HashSeed::new(1));
        for employee in 0..20_000_u64 {
            let department = employee % 1_000;
            sample.offer(fingerprint(department), (employee / 1_000) * (department % 2 + 1));
        }
        assert!(sample.len() > 90, "{}", sample.len());
        for (_, salaries) in sample.keys() {
            let range = salaries.iter().max().unwrap() - salaries.iter().min().unwrap();
            assert!(salaries.len() == 20 && (range == 19 || range == 38), "{salaries:?}");
        }
    }
}
