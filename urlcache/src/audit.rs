//! [`Audit`]: measures the real rate of lost URLs while a cache is in use.
//!
//! Owns: an exact set of the fingerprints whose *bucket* lies in the sample, and what was tried on them. The bucket says
//! nothing of the probes of any filter ([`BucketRange`]), so what happens in the sample is what happens everywhere.
//!
//! Invariants: it holds at most as many keys as it was made for; its share is the largest 1/2^i whose keys fit; when the
//! share is halved, the departing half takes its trials and its false positives with it. So its state is a function of
//! the keys it was given and of what each was found to be, and not of their order.
//!
//! Does not know: the cache, what becomes of a lost URL, or where keys are kept.

use std::{
    collections::{HashMap, HashSet},
    hash::BuildHasherDefault,
    num::NonZeroUsize,
};

use crate::{exact::LeadingHalf, hash::HashSeed, interval::Interval, port::Answer, sketch::BucketRange};

/// What a key of the sample was, when it was first offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The answer did not count: the key is held, and was no trial.
    Held,
    /// A trial that the cache passed: it said *new*.
    Trial,
    /// A trial that the cache failed: it said *seen*.
    FalsePositive,
}

/// What the audit makes of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observation {
    /// The key lies outside the sample: nothing is known of it.
    NotSampled,
    /// The key was offered before.
    Known,
    /// Its first offer, and the cache said *new*.
    Trial,
    /// Its first offer, and the cache said *seen*: without help its URL is lost.
    FalsePositive,
}

/// An exact account of a sample of the keys.
///
/// ```
/// use std::num::NonZeroUsize;
/// use urlcache::{Answer, Audit, HashSeed, Observation};
///
/// let mut audit = Audit::new(NonZeroUsize::new(100).expect("above 0"), HashSeed::new(7));
/// assert_eq!(audit.observe(1 << 80, Answer::New), Observation::Trial);
/// assert_eq!(audit.observe(1 << 80, Answer::Seen), Observation::Known);
/// assert_eq!(audit.observe(2 << 80, Answer::Seen), Observation::FalsePositive);
/// assert_eq!((audit.share(), audit.checked(), audit.false_positives()), (1.0, 2, 1));
/// assert_eq!(audit.rate(), Some(0.5));
/// ```
#[derive(Debug)]
pub struct Audit {
    /// The sample is the keys whose bucket lies in this range.
    range: BucketRange,
    most: NonZeroUsize,
    keys: HashSet<u128, BuildHasherDefault<LeadingHalf>>,
    /// Those of them that were no trial, or one that the cache failed; the many others take less memory so.
    odd: HashMap<u128, Standing, BuildHasherDefault<LeadingHalf>>,
    held: u64,
}

impl Audit {
    /// An audit of at most so many keys; the seed chooses which, and is a secret.
    pub fn new(most: NonZeroUsize, seed: HashSeed) -> Self {
        Self { range: BucketRange::all(seed), most, keys: HashSet::default(), odd: HashMap::default(), held: 0 }
    }

    /// Takes note of the cache's answer on a key.
    pub fn observe(&mut self, fingerprint: u128, answer: Answer) -> Observation {
        if !self.samples(fingerprint) {
            return Observation::NotSampled;
        }
        if self.keys.contains(&fingerprint) {
            return Observation::Known;
        }
        let (standing, observation) = match answer {
            Answer::New => (Standing::Trial, Observation::Trial),
            Answer::Seen => (Standing::FalsePositive, Observation::FalsePositive),
        };
        self.enter(fingerprint, standing);
        observation
    }

    /// Takes a key in whose standing is known: of an earlier run, or one whose answer does not count. A key that is
    /// there keeps the standing it has.
    pub fn restore(&mut self, fingerprint: u128, standing: Standing) {
        if self.samples(fingerprint) && !self.keys.contains(&fingerprint) {
            self.enter(fingerprint, standing);
        }
    }

    /// The share of all keys that is sampled: 1, 1/2, 1/4 and so on.
    pub fn share(&self) -> f64 {
        self.range.share()
    }

    /// Keys held.
    pub fn keys(&self) -> usize {
        self.keys.len()
    }

    /// Trials: keys of the sample whose first answer counted.
    pub fn checked(&self) -> u64 {
        self.keys.len() as u64 - self.held
    }

    /// Trials in which the cache called a new key seen.
    pub fn false_positives(&self) -> u64 {
        self.odd.len() as u64 - self.held
    }

    /// The measured rate of false positives; `None` before the first trial.
    pub fn rate(&self) -> Option<f64> {
        (self.checked() > 0).then(|| self.false_positives() as f64 / self.checked() as f64)
    }

    /// Where the true rate lies, with this confidence (0.95: in 95 of 100 audits).
    pub fn interval(&self, confidence: f64) -> Interval {
        Interval::exact(self.false_positives(), self.checked(), confidence)
    }

    fn enter(&mut self, fingerprint: u128, standing: Standing) {
        self.keys.insert(fingerprint);
        if standing != Standing::Trial {
            self.odd.insert(fingerprint, standing);
            self.held += u64::from(standing == Standing::Held);
        }
        while self.keys.len() > self.most.get() {
            self.halve();
        }
    }

    fn halve(&mut self) {
        self.range.halve();
        let range = self.range;
        self.keys.retain(|fingerprint| range.accepts(*fingerprint));
        self.odd.retain(|fingerprint, _| range.accepts(*fingerprint));
        // There may be few left of very many starts.
        self.odd.shrink_to_fit();
        self.held = self.odd.values().filter(|standing| **standing == Standing::Held).count() as u64;
    }

    fn samples(&self, fingerprint: u128) -> bool {
        self.range.accepts(fingerprint)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_128_with_seed;

    use super::*;
    use crate::hash::mix;

    fn audit(most: usize) -> Audit {
        Audit::new(NonZeroUsize::new(most).unwrap(), HashSeed::new(99))
    }

    fn fingerprint(world: u64, index: u64) -> u128 {
        xxh3_128_with_seed(&index.to_le_bytes(), world)
    }

    /// What is in the sample of so many halvings.
    fn sampled(keys: &[(u128, Standing)], halvings: u32) -> Vec<(u128, Standing)> {
        let range = BucketRange::all(HashSeed::new(99));
        keys.iter().copied().filter(|(key, _)| range.bucket(*key).leading_zeros() >= halvings).collect()
    }

    fn standing() -> impl Strategy<Value = Standing> {
        prop_oneof![Just(Standing::Held), Just(Standing::Trial), Just(Standing::FalsePositive)]
    }

    proptest! {
        #[test]
        fn holds_the_largest_share_that_fits_in_any_order(
            most in 1..60_usize,
            standings in prop::collection::vec(standing(), 0..400),
            world in any::<u64>(),
        ) {
            let mut keys: Vec<_> =
                (0..).zip(&standings).map(|(index, standing)| (fingerprint(world, index), *standing)).collect();
            let mut forwards = audit(most);
            for (key, standing) in &keys {
                match standing {
                    Standing::Held => forwards.restore(*key, Standing::Held),
                    Standing::Trial => { forwards.observe(*key, Answer::New); }
                    Standing::FalsePositive => { forwards.observe(*key, Answer::Seen); }
                }
                // Later offers change nothing.
                prop_assert_ne!(forwards.observe(*key, Answer::Seen), Observation::FalsePositive);
            }
            let halvings = (0..=64_u32).find(|halvings| sampled(&keys, *halvings).len() <= most).unwrap();
            let sample = sampled(&keys, halvings);
            let trials = sample.iter().filter(|(_, standing)| *standing != Standing::Held).count() as u64;
            let hits = sample.iter().filter(|(_, standing)| *standing == Standing::FalsePositive).count() as u64;
            let expected = (0.5_f64.powi(halvings.cast_signed()), sample.len(), trials, hits);
            prop_assert_eq!((forwards.share(), forwards.keys(), forwards.checked(), forwards.false_positives()), expected);
            keys.reverse();
            let mut backwards = audit(most);
            for (key, standing) in &keys {
                backwards.restore(*key, *standing);
            }
            let state = (backwards.share(), backwards.keys(), backwards.checked(), backwards.false_positives());
            prop_assert_eq!(state, expected);
        }
    }

    #[test]
    fn false_positives_leave_with_their_half() {
        let mut audit = audit(64);
        let mut left = 0;
        for index in 0..200 {
            let before = audit.false_positives();
            audit.observe(fingerprint(5, index), Answer::Seen);
            left += before.saturating_sub(audit.false_positives());
            assert_eq!(audit.false_positives(), audit.checked());
            assert!(audit.keys() <= 64);
        }
        assert!(audit.share() < 0.5 && left > 64, "{audit:?}");
    }

    /// Buckets and the probes of a filter must not know each other, even where the seeds are the same.
    #[test]
    fn the_sample_is_even_and_independent_of_the_probes() {
        let seed = HashSeed::new(1);
        let mut counts = vec![0_u64; 16 * 16];
        let keys = 200_000_u64;
        for index in 0..keys {
            let key = u128::from(index);
            let place =
                usize::try_from((BucketRange::all(seed).bucket(key) >> 60) * 16 + seed.probes(key).next_below(16))
                    .unwrap();
            counts[place] += 1;
        }
        let share = keys as f64 / 256.0;
        let chi2: f64 = counts.iter().map(|&count| (count as f64 - share).powi(2) / share).sum();
        let deviation = (chi2 - 255.0) / (2.0 * 255.0_f64).sqrt();
        assert!(deviation.abs() < 4.0, "{deviation}");
    }

    /// A cache that errs at a rate of 1 in 200 on 80,000 keys, of which a quarter is sampled: 50 to 100 hits expected.
    #[test]
    fn the_interval_covers_the_rate() {
        let (worlds, rate) = (400_u64, 0.005);
        let mut covered = 0;
        for world in 0..worlds {
            let mut audit = audit(10_000);
            for index in 0..20_000 {
                let key = fingerprint(world, index);
                let errs = (mix(world ^ mix(index)) as f64) < rate * u64::MAX as f64;
                audit.observe(key, if errs { Answer::Seen } else { Answer::New });
            }
            assert!(audit.checked() as f64 * rate >= 20.0, "{} checked", audit.checked());
            let interval = audit.interval(0.95);
            covered += u64::from(interval.low <= rate && rate <= interval.high);
        }
        assert!(covered * 100 >= worlds * 94, "{covered} of {worlds}");
    }
}
