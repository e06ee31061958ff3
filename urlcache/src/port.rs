//! The port: what a URL cache is asked and what it answers.
//!
//! Invariants every implementation keeps (the contract suite in `tests/` holds each to them): one [`UrlCache::insert`]
//! is one test-and-set; within a sequence a cache that does not say [`ErrorSide::MayForget`] or [`ErrorSide::Both`] never
//! answers [`Answer::New`] twice for one key; a batch answers exactly as its keys one by one would.
//!
//! It knows nothing of how many URLs may be lost: that is the budget's business. There is no `contains`, on purpose: a caller that asks
//! first and inserts later decides on an answer that may be old.

use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::config::BuildError;
use crate::hash::HashSeed;

/// A key with its 128-bit fingerprint.
///
/// Equal keys must carry equal fingerprints, and the fingerprint must be a good hash of the bytes under a seed that
/// an adversary does not know: two keys with one fingerprint are one key to most caches (at 10^9 keys that happens with
/// probability 10^-21).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UrlKey<'a> {
    /// The key's text; for strategies that look at the parts of a URL.
    pub bytes: &'a [u8],
    /// The fingerprint from which all probes are derived.
    pub hash: u128,
}

impl<'a> UrlKey<'a> {
    /// The key of a text under a secret: xxh3-128 of the bytes, seeded with xxh3-64 of the secret's value, so that the fingerprint
    /// and the positions in a cache of the same secret are independent.
    ///
    /// ```
    /// use urlcache::{HashSeed, UrlKey};
    ///
    /// let secret = HashSeed::random();
    /// assert_eq!(UrlKey::new(b"http://h/", secret), UrlKey::new(b"http://h/", secret));
    /// assert_ne!(UrlKey::new(b"http://h/", secret), UrlKey::new(b"http://h/", HashSeed::random()));
    /// ```
    pub fn new(bytes: &'a [u8], secret: HashSeed) -> Self {
        Self { bytes, hash: xxh3_128_with_seed(bytes, secret.derive(u32::MAX - 4, 0).value()) }
    }
}

/// The answer of one test-and-set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Not seen before; it has now been.
    New,
    /// Seen before, or mistaken for one that was: nothing changed.
    Seen,
}

impl Answer {
    /// Whether the key was not seen before.
    pub fn is_new(self) -> bool {
        self == Self::New
    }
}

/// In which direction a cache may be wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorSide {
    /// A new URL may be called seen, and is lost.
    MayMistakeNewForSeen,
    /// A seen URL may be called new, and is fetched again.
    MayForget,
    /// Both of these.
    Both,
    /// Never wrong.
    Exact,
}

/// What a sum of expected losses is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LossFigure {
    /// It has the same expectation as the number of new keys that were called seen.
    Expected,
    /// The cache was so full, at a rate of 0.99 or more, that too few answers *new* are left to charge: more were lost.
    AtLeast,
    /// The strategy keeps no account of its losses: the sum says nothing.
    Unknown,
}

impl LossFigure {
    /// One word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Expected => "expected",
            Self::AtLeast => "at_least",
            Self::Unknown => "unknown",
        }
    }
}

/// How full a cache is, and what that costs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Occupancy {
    /// Keys held: answers *new* and refilled keys of this sequence.
    pub items: u64,
    /// Keys the cache was sized for: up to this count it keeps its promise.
    pub capacity: u64,
    /// Memory of the cache's table, in bits.
    pub bits: u64,
    /// Share of the table in use, 0 to 1 (a filter: of its bits that are set).
    pub fill: f64,
    /// Probability that a new key offered now is called seen, 0 to 1. Of the multi-layer strategy: that of a key all of whose
    /// segments are known, which is the highest. Where `figure` is [`LossFigure::Unknown`] it is a published estimate that
    /// does not hold.
    pub expected_rate: f64,
    /// The fill beyond which it must not be used on, whatever the budget says.
    pub fill_limit: f64,
    /// The rate rises with the number of keys at most like this power of it.
    pub steepness: f64,
    /// Expected number of new keys called seen so far: the sum over answers *new* of `p/(1-p)`, p the rate at that
    /// moment. A cache that is full finds every key: it gives no answer *new* any more, and this does not grow.
    pub expected_lost: f64,
    /// What `expected_lost` is.
    pub figure: LossFigure,
}

/// What one test-and-set costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cost {
    /// Bits set for a new key, or tags stored.
    pub hashes: u32,
    /// Cache lines touched, at most.
    pub cache_lines: u32,
}

/// A bounded "seen before?" structure with one owner.
///
/// ```
/// use urlcache::{Answer, ExactCache, UrlCache, UrlKey};
///
/// let mut cache: Box<dyn UrlCache> = Box::new(ExactCache::new());
/// let key = UrlKey { bytes: b"http://h/", hash: 0x1234_5678_9abc_def0 };
/// assert_eq!(cache.insert(key), Answer::New);
/// assert_eq!(cache.insert(key), Answer::Seen);
/// assert_eq!(cache.occupancy().items, 1);
/// ```
pub trait UrlCache: Send {
    /// Inserts the key and says whether it was there: one step, nothing can come between.
    fn insert(&mut self, key: UrlKey<'_>) -> Answer;

    /// Inserts the keys in order; `answers` is cleared and filled with one answer a key, in the same order.
    ///
    /// The second of two equal keys of a batch is [`Answer::Seen`].
    fn insert_batch(&mut self, keys: &[UrlKey<'_>], answers: &mut Vec<Answer>) {
        answers.clear();
        answers.reserve(keys.len());
        for key in keys {
            answers.push(self.insert(*key));
        }
    }

    /// Inserts a key known to differ from all that were inserted: no answer, and no charge to the expected losses.
    ///
    /// For filling a new generation from the URL table, where a false positive refuses nothing. The key counts as an
    /// item even if all its bits were set already.
    fn refill(&mut self, key: UrlKey<'_>);

    /// How many of these keys it would call new at most: a forecast of what a batch costs. It names none of them, because
    /// who decides which are new decides by [`UrlCache::insert_batch`].
    fn unknown_among(&self, keys: &[UrlKey<'_>]) -> usize;

    /// How full the cache is and what it is expected to have lost since it was made, or since the sequence began.
    fn occupancy(&self) -> Occupancy;

    /// In which direction the cache may be wrong.
    fn error_side(&self) -> ErrorSide;

    /// Begins a crawl sequence: whatever is held is dropped, the charges too, and every key is new again.
    ///
    /// Call it before a refill, never after. Strategies that rotate their hash seed do so by the sequence number (0 is
    /// the first visit); the others keep theirs.
    fn begin_sequence(&mut self, sequence: u32);

    /// The strategy's name, as in the configuration: `exact`, `single`.
    fn strategy(&self) -> &'static str;

    /// The name of the memory layout below the strategy: `table` of the exact cache, else `classic`, `line` or
    /// `fingerprint`.
    fn layout(&self) -> &'static str;

    /// What one test-and-set costs.
    fn cost(&self) -> Cost;

    /// The bits it has at most during [`UrlCache::grow`]; `None` if it cannot grow.
    fn growing_bits(&self) -> Option<u64> {
        None
    }

    /// Enlarges it in place, forgetting nothing; false if it cannot grow. Only caches built under
    /// [`ResetPolicy::Grow`](crate::ResetPolicy::Grow) can, and the exact one, which grows by itself, need not.
    ///
    /// # Errors
    /// The allocator has no room; no key is forgotten then.
    fn grow(&mut self) -> Result<bool, BuildError> {
        Ok(false)
    }

    /// Drops the oldest keys, about half of what it can hold; false if it never forgets. Caches built under
    /// [`ResetPolicy::Rotate`](crate::ResetPolicy::Rotate) do it by themselves when they are full.
    fn rotate(&mut self) -> bool {
        false
    }

    /// How often the oldest keys were dropped since the cache was made, or since the sequence began.
    fn rotations(&self) -> u64 {
        0
    }

    /// So many of the latest answers *new* were given to keys that it had forgotten, as somebody knows who remembers them:
    /// their charges are taken back.
    fn forgot(&mut self, _keys: u64) {}
}
