//! [`Classifier`]: the class of each key of a closed universe, without the keys.
//!
//! Owns three forms of it. [`Algorithm::One`] and [`Algorithm::Two`] are cascades of Bloom filters (N. Van Steenbrugge,
//! "Bloomfilter cascade"), [`Algorithm::Compact`] is a prefix code in retrieval structures, near the entropy of the class.
//! Invariants: a trained classifier makes no error on the keys that it was trained with; on any other key it answers
//! with some class. Does not keep the keys, and cannot tell which were trained.
//!
//! A crawler's use: what a crawl sequence learnt of its pages (changes daily, weekly, never; gone; moved), for the next
//! sequence to ask without touching the page store.

mod bloom;
mod compact;
mod filter;
mod format;
mod huffman;
mod reader;
mod ribbon;
mod steps;
mod training;

use compact::Compact;
pub use filter::RibbonFilter;
pub use format::DocumentError;
#[cfg(test)]
use format::reseal_classifier;
pub use huffman::entropy;
pub use reader::ReadError;
use steps::Steps;
pub use training::{Conflict, TrainError, TrainingSet};

/// Functions of a filter at most: its rate is then 2^-32.
const MOST_PROBES: u8 = 32;

/// Seeds that [`Classifier::of`] tries: two keys of the same hash are found under each with a probability of n^2 / 2^65.
const MOST_SEEDS: u64 = 16;

/// How a classifier tells classes apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// Algorithm 1.0: a filter of the others in each step.
    One {
        /// Hash functions of each filter, 1 to 32.
        probes: u8,
    },
    /// Algorithm 2.0: a filter of the class before that of the others.
    Two {
        /// Hash functions of each filter of a class (k1), 1 to 32.
        first: u8,
        /// Hash functions of each filter of others (k2), 1 to 32.
        second: u8,
    },
    /// A prefix code in retrieval structures.
    Compact,
}

impl Algorithm {
    /// Algorithm 1.0 with the document's k = 1.
    pub const ONE: Self = Self::One { probes: 1 };
    /// Algorithm 2.0 with the document's k1 = 3 and k2 = 4.
    pub const TWO: Self = Self::Two { first: 3, second: 4 };

    /// The name: `1.0`, `2.0` or `compact`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::One { .. } => "1.0",
            Self::Two { .. } => "2.0",
            Self::Compact => "compact",
        }
    }

    fn check(self) -> Result<(), TrainError> {
        let probes = match self {
            Self::One { probes } => [probes, probes],
            Self::Two { first, second } => [first, second],
            Self::Compact => [1, 1],
        };
        let wrong = probes.into_iter().find(|probes| !(1..=MOST_PROBES).contains(probes));
        wrong.map_or(Ok(()), |probes| Err(TrainError::Probes { probes }))
    }
}

/// The classes of a closed universe of keys.
///
/// ```
/// use urlcache_evaluation::cascade::{Algorithm, Classifier};
///
/// let pairs = [(&b"http://h/"[..], &b"daily"[..]), (b"http://h/a", b"gone"), (b"http://h/b", b"daily")];
/// for algorithm in [Algorithm::ONE, Algorithm::TWO, Algorithm::Compact] {
///     let written = Classifier::of(&pairs, algorithm)?.write();
///     let classifier = Classifier::read(&written).expect("it was just written");
///     for (key, class) in pairs {
///         assert_eq!(classifier.name(classifier.classify(key)), class);
///     }
/// }
/// # Ok::<(), urlcache_evaluation::cascade::TrainError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classifier {
    seed: u64,
    /// Different keys that it was trained with; the document's format does not say.
    keys: Option<u64>,
    names: Vec<Vec<u8>>,
    body: Body,
}

/// One form of it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Body {
    Steps(Steps),
    Compact(Compact),
}

impl Classifier {
    /// A classifier that is exact on all keys of a set. It takes, beside the 8 bytes a key that the set has, hardly more memory
    /// than the result.
    ///
    /// # Errors
    /// [`TrainError`]. After [`TrainError::Conflict`] whoever has the keys looks whether one of them is in two classes; if not,
    /// a set with another seed will do. [`Classifier::of`] does that.
    pub fn train(mut set: TrainingSet, algorithm: Algorithm) -> Result<Self, TrainError> {
        algorithm.check()?;
        set.sort();
        let keys = set.counts().iter().sum();
        if keys == 0 {
            return Err(TrainError::Empty);
        }
        let body = match algorithm {
            Algorithm::Compact => Body::Compact(Compact::train(&mut set)?),
            Algorithm::One { .. } | Algorithm::Two { .. } => Body::Steps(Steps::train(&mut set, algorithm)?),
        };
        Ok(Self { seed: set.seed, keys: Some(keys), names: set.names, body })
    }

    /// A classifier of keys in memory, each with the name of its class.
    ///
    /// # Errors
    /// [`TrainError::TwoClasses`] names a key that is in two classes; [`TrainError`] says what else can be.
    pub fn of(pairs: &[(&[u8], &[u8])], algorithm: Algorithm) -> Result<Self, TrainError> {
        for seed in 0..MOST_SEEDS {
            let mut set = TrainingSet::new(seed);
            for (key, class) in pairs {
                let class = set.class(class);
                set.add(class, key);
            }
            match Self::train(set, algorithm) {
                Err(TrainError::Conflict(conflict)) => in_one_class(pairs, conflict.hash, seed)?,
                done => return done,
            }
        }
        Err(TrainError::Stalled)
    }

    /// The classifier of these bytes, in either format.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        format::read(bytes)
    }

    /// It as bytes, in version 2 of the format.
    pub fn write(&self) -> Vec<u8> {
        format::write(self)
    }

    /// It as bytes, in the document's format.
    ///
    /// # Errors
    /// [`DocumentError`] says what has no place in that format.
    pub fn write_document(&self) -> Result<Vec<u8>, DocumentError> {
        format::write_document(self)
    }

    /// The number of the class of a key: its own if the key was trained, otherwise any.
    pub fn classify(&self, key: &[u8]) -> u32 {
        self.classify_hash(self.hash(key))
    }

    /// The hash of a key, for [`Classifier::classify_hash`] and [`Classifier::classify_hashes`].
    #[inline]
    pub fn hash(&self, key: &[u8]) -> u64 {
        training::hash(key, self.seed)
    }

    /// The number of the class of the key with this hash.
    pub fn classify_hash(&self, hash: u64) -> u32 {
        match &self.body {
            Body::Steps(steps) => steps.classify(hash),
            Body::Compact(compact) => compact.classify(hash),
        }
    }

    /// The numbers of the classes of many keys, instead of what was in `classes`. Faster than one by one.
    pub fn classify_hashes(&self, hashes: &[u64], classes: &mut Vec<u32>) {
        classes.clear();
        classes.resize(hashes.len(), 0);
        match &self.body {
            Body::Steps(steps) => steps.classify_all(hashes, classes),
            Body::Compact(compact) => compact.classify_all(hashes, classes),
        }
    }

    /// The names of the classes, by number.
    pub fn names(&self) -> &[Vec<u8>] {
        &self.names
    }

    /// The name of a class; empty for a number that is none.
    pub fn name(&self, class: u32) -> &[u8] {
        self.names.get(class as usize).map_or(&[], |name| name)
    }

    /// The algorithm's name: `1.0`, `2.0` or `compact`.
    pub fn algorithm(&self) -> &'static str {
        match &self.body {
            Body::Steps(steps) if steps.two => Algorithm::TWO.name(),
            Body::Steps(_) => Algorithm::ONE.name(),
            Body::Compact(_) => Algorithm::Compact.name(),
        }
    }

    /// The seed of the keys' hash: that of the set it was trained with.
    pub const fn hash_seed(&self) -> u64 {
        self.seed
    }

    /// Different keys that it was trained with; `None` if it was read from the document's format.
    pub const fn keys(&self) -> Option<u64> {
        self.keys
    }

    /// Of a cascade: rounds through the classes, the last of which may be incomplete. Of a compact classifier: sieves and
    /// groups of code bits.
    pub fn rounds(&self) -> u64 {
        match &self.body {
            Body::Steps(steps) => steps.end.div_ceil(steps.classes),
            Body::Compact(compact) => (compact.sieves.len() + compact.part.iter().len() + compact.groups.len()) as u64,
        }
    }
}

/// An error if keys of this hash are the same key in two classes, and not different keys.
fn in_one_class(pairs: &[(&[u8], &[u8])], hash: u64, seed: u64) -> Result<(), TrainError> {
    let mut having: Vec<_> = pairs.iter().filter(|(key, _)| training::hash(key, seed) == hash).collect();
    having.sort_unstable();
    having.dedup();
    let same = having.windows(2).find(|pair| pair[0].0 == pair[1].0);
    same.map_or(Ok(()), |pair| Err(TrainError::TwoClasses { key: pair[0].0.to_owned() }))
}

#[cfg(test)]
mod tests;
