//! [`TrainingSet`]: the closed universe, as 64-bit hashes by class.
//!
//! Owns what a classifier is trained from. A key is hashed once, and 8 bytes of it are kept. Two keys with the same hash
//! in different classes cannot be distinguished: training finds every such pair and refuses, so that a classifier that is
//! trained is exact on all keys of the set. Does not know how classes are distinguished.

use std::collections::HashMap;

use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Keys and their classes.
///
/// ```
/// use urlcache_evaluation::cascade::{Algorithm, Classifier, TrainingSet};
///
/// let mut set = TrainingSet::new(0);
/// for (key, class) in [("http://h/", "daily"), ("http://h/a", "gone"), ("http://h/b", "daily")] {
///     let class = set.class(class.as_bytes());
///     set.add(class, key.as_bytes());
/// }
/// let classifier = Classifier::train(set, Algorithm::TWO)?;
/// assert_eq!(classifier.name(classifier.classify(b"http://h/a")), b"gone");
/// # Ok::<(), urlcache_evaluation::cascade::TrainError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct TrainingSet {
    pub(super) seed: u64,
    pub(super) names: Vec<Vec<u8>>,
    numbers: HashMap<Vec<u8>, u32>,
    /// By class.
    pub(super) hashes: Vec<Vec<u64>>,
}

impl TrainingSet {
    /// An empty set whose keys are hashed with this seed. The document's byte format has no place for a seed, and takes 0
    /// alone.
    pub fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// The number of the class with this name: the first is 0. A name that is not known yet becomes the next class.
    pub fn class(&mut self, name: &[u8]) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = u32::try_from(self.names.len()).expect("2^32 names do not fit into memory");
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        self.hashes.push(Vec::new());
        number
    }

    /// Puts a key into a class. A key may come more than once.
    ///
    /// # Panics
    /// The class is none of [`TrainingSet::class`].
    pub fn add(&mut self, class: u32, key: &[u8]) {
        self.hashes[class as usize].push(hash(key, self.seed));
    }

    /// The hash of a key under the seed of this set.
    pub fn hash(&self, key: &[u8]) -> u64 {
        hash(key, self.seed)
    }

    /// Keys that were added to each class, those that came more than once counted each time.
    pub fn counts(&self) -> Vec<u64> {
        self.hashes.iter().map(|hashes| hashes.len() as u64).collect()
    }

    /// Different keys of each class: those that came more than once are kept once from now on.
    ///
    /// ```
    /// let mut set = urlcache_evaluation::cascade::TrainingSet::new(0);
    /// let class = set.class(b"gone");
    /// (0..3).for_each(|_| set.add(class, b"http://h/a"));
    /// assert_eq!((set.counts(), set.distinct_counts()), (vec![3], vec![1]));
    /// ```
    pub fn distinct_counts(&mut self) -> Vec<u64> {
        self.sort();
        self.counts()
    }

    /// Sorts each class, and keeps one of those that are the same.
    pub(super) fn sort(&mut self) {
        for hashes in &mut self.hashes {
            hashes.sort_unstable();
            hashes.dedup();
        }
    }

    /// Two classes that have this hash: each must be sorted.
    pub(super) fn conflict(&self, hash: u64) -> Conflict {
        let having = (0..).zip(&self.hashes).filter(|(_, hashes)| hashes.binary_search(&hash).is_ok());
        let mut classes = having.map(|(class, _)| class);
        let first = classes.next().unwrap_or_default();
        Conflict { hash, classes: [first, classes.next().unwrap_or(first)] }
    }
}

/// The hash of a key.
#[inline]
pub(super) fn hash(key: &[u8], seed: u64) -> u64 {
    xxh3_64_with_seed(key, seed)
}

/// A hash that keys of two classes have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conflict {
    /// The hash.
    pub hash: u64,
    /// The numbers of two classes that have it.
    pub classes: [u32; 2],
}

/// Why there is no classifier.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TrainError {
    /// The set has no key.
    #[error("there are no keys to tell apart")]
    Empty,
    /// The number of hash functions is out of range.
    #[error("{probes} hash functions are outside 1..=32")]
    Probes {
        /// The number asked for.
        probes: u8,
    },
    /// A hash in two classes: the same key in both, or, among n keys with a probability of n^2 / 2^65, two keys that differ.
    /// Whoever has the keys can tell; in the second case another seed helps.
    #[error("a hash is in two classes: the same key is in both, or the set needs another hash seed")]
    Conflict(Conflict),
    /// The same key in two classes.
    #[error("the key {:?} is in two classes", String::from_utf8_lossy(.key))]
    TwoClasses {
        /// The key.
        key: Vec<u8>,
    },
    /// What is left does not get less. It does not happen to hashes of different keys.
    #[error("the classes cannot be distinguished under this hash seed")]
    Stalled,
}
