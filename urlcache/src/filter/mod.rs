//! [`Filter`]: a set that answers from few bits and may mistake a new key for a held one; the layouts, and what is
//! composed of them.
//!
//! Owns the interface below the strategies. Invariants of every filter: a key once set is found until the filter is
//! cleared; the rate it states is that of the bits really set, for a key that no one chose with the hash seed at hand.
//!
//! A filter does not count keys or losses, and knows no budget: that is the strategy's business.

mod bits;
mod classic;
mod fingerprints;
mod line;
mod segments;
mod slices;
mod spatial;

pub(crate) use classic::Classic;
pub(crate) use fingerprints::Fingerprints;
pub(crate) use line::Lines;
pub(crate) use segments::Segments;
pub(crate) use slices::Slices;
pub(crate) use spatial::Spatial;

use std::collections::TryReserveError;

use crate::hash::HashSeed;
use crate::port::{UrlKey, Verdict};
use crate::sizing::{LineShape, Plan, Shape};

/// Keys whose memory is fetched ahead together: enough to fill the processor's line buffers, few enough to stay in its
/// nearest cache.
pub(crate) const CHUNK: usize = 32;

/// A set with false positives.
pub(crate) trait Filter: Send {
    /// Holds the key from now on; true if it was found before.
    fn test_and_set(&mut self, key: UrlKey<'_>) -> bool;

    /// Whether the key is found, without setting anything.
    fn holds(&self, key: UrlKey<'_>) -> bool;

    /// The probability that a new key is found now, 0 to 1.
    fn rate(&self) -> f64;

    /// Bits and fill.
    fn extent(&self) -> Extent;

    /// Forgets everything; from now on keys lie where this seed puts them.
    fn clear(&mut self, seed: HashSeed);

    /// Begins to fetch the memory that a look at this key will need.
    fn fetch_ahead(&self, key: UrlKey<'_>);

    /// [`Filter::test_and_set`] of every key in order, with the rate just before each.
    fn test_and_set_all(&mut self, keys: &[UrlKey<'_>], answers: &mut Answers<'_>) {
        for chunk in keys.chunks(CHUNK) {
            for &key in chunk {
                self.fetch_ahead(key);
            }
            for &key in chunk {
                let rate = self.rate();
                answers.answer(self.test_and_set(key), rate);
            }
        }
    }

    /// The bits it would have after [`Filter::grow`]; `None` if it cannot grow any more.
    fn grown_bits(&self) -> Option<u64> {
        None
    }

    /// Makes room for more keys without forgetting any. Returns for how many times its first capacity it has room now;
    /// `None` if it cannot grow.
    ///
    /// # Errors
    /// The allocator has no room.
    fn grow(&mut self) -> Result<Option<u64>, TryReserveError> {
        Ok(None)
    }
}

/// How much memory a filter has, and how much of it is used.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Extent {
    /// Memory, in bits.
    pub(crate) bits: u64,
    /// Share of it in use, 0 to 1.
    pub(crate) fill: f64,
    /// The fill beyond which it must not be used on.
    pub(crate) fill_limit: f64,
}

/// Where the answers to a batch go, and what they cost.
pub(crate) struct Answers<'a> {
    verdicts: &'a mut Vec<Verdict>,
    /// Answers *new*.
    pub(crate) new: u64,
    /// Their charges: the sum of `p/(1-p)`.
    pub(crate) charged: f64,
}

impl<'a> Answers<'a> {
    /// Collects into `verdicts`; the charges begin at `charged`.
    pub(crate) fn new(verdicts: &'a mut Vec<Verdict>, charged: f64) -> Self {
        Self { verdicts, new: 0, charged }
    }

    /// One answer, given at this rate.
    pub(crate) fn answer(&mut self, found: bool, rate: f64) {
        if !found {
            self.new += 1;
            self.charged += rate / (1.0 - rate);
        }
        self.verdicts.push(if found { Verdict::Seen } else { Verdict::New });
    }
}

/// A filter of this plan: the layout of its shape, several of them under the strategy `spatial`.
///
/// # Errors
/// The allocator has no room.
pub(crate) fn of_plan(plan: Plan, seed: HashSeed) -> Result<Box<dyn Filter>, TryReserveError> {
    match plan.filters() {
        1 => one(plan, seed),
        _ => Ok(Box::new(Spatial::new(plan, seed)?)),
    }
}

/// One filter of the plan's shape and bits.
fn one(plan: Plan, seed: HashSeed) -> Result<Box<dyn Filter>, TryReserveError> {
    let bits = plan.filter_bits();
    Ok(match plan.shape() {
        Shape::Classic { probes } => Box::new(Classic::new(bits, probes, seed)?),
        Shape::Line(LineShape::OneBitInOneLine) => Box::new(Lines::<1, 1>::new(bits, seed)?),
        Shape::Line(LineShape::TwoBitsInOneLine) => Box::new(Lines::<1, 2>::new(bits, seed)?),
        Shape::Line(LineShape::OneBitInTwoLines) => Box::new(Lines::<2, 1>::new(bits, seed)?),
        Shape::Line(LineShape::TwoBitsInTwoLines) => Box::new(Lines::<2, 2>::new(bits, seed)?),
        Shape::Fingerprints => Box::new(Fingerprints::new(bits, seed)?),
    })
}

impl Filter for Box<dyn Filter> {
    fn test_and_set(&mut self, key: UrlKey<'_>) -> bool {
        (**self).test_and_set(key)
    }

    fn holds(&self, key: UrlKey<'_>) -> bool {
        (**self).holds(key)
    }

    fn rate(&self) -> f64 {
        (**self).rate()
    }

    fn extent(&self) -> Extent {
        (**self).extent()
    }

    fn clear(&mut self, seed: HashSeed) {
        (**self).clear(seed);
    }

    fn fetch_ahead(&self, key: UrlKey<'_>) {
        (**self).fetch_ahead(key);
    }

    fn test_and_set_all(&mut self, keys: &[UrlKey<'_>], answers: &mut Answers<'_>) {
        (**self).test_and_set_all(keys, answers);
    }

    fn grown_bits(&self) -> Option<u64> {
        (**self).grown_bits()
    }

    fn grow(&mut self) -> Result<Option<u64>, TryReserveError> {
        (**self).grow()
    }
}
