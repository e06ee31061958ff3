//! [`Filter`]: a set that answers from few bits and may mistake a new key for a held one; the layouts, and what is
//! composed of them.
//!
//! Owns the interface below the strategies. Invariants of every filter: a key once set is found until the filter is cleared, unless the
//! filter says that it forgets; the rate it states is that of the bits really set, for a key chosen without knowledge of the hash seed.
//!
//! A filter does not count keys or losses, and knows no budget: that is the strategy's business.

mod bits;
mod classic;
mod fingerprints;
mod line;
mod plain;
#[cfg(test)]
mod pollution;
mod processor;
mod rotating;
mod segments;
mod slices;
mod spatial;

pub(crate) use classic::{Classic, FromBytes};
pub(crate) use fingerprints::{Fingerprints, LEAST_GROWING};
pub(crate) use line::Lines;
pub(crate) use plain::{PlainLayers, SegmentSet};
pub use processor::fetch_ahead;
pub(crate) use rotating::Rotating;
pub(crate) use segments::Segments;
pub(crate) use slices::Slices;
pub(crate) use spatial::Spatial;

use std::collections::TryReserveError;

use crate::hash::HashSeed;
use crate::port::{Answer, LossFigure, UrlKey};
use crate::sizing::{LineShape, Plan, Shape};
use crate::snapshot::{SnapshotError, SnapshotReader};

/// Keys whose memory is fetched ahead together: enough to fill the processor's line buffers, few enough to stay in its
/// nearest cache.
pub(crate) const CHUNK: usize = 32;

/// A set with false positives.
pub(crate) trait Filter: Send {
    /// Holds the key from now on; true if it was found before.
    fn test_and_set(&mut self, key: UrlKey<'_>) -> bool;

    /// Whether the key is found, without setting anything.
    fn holds(&self, key: UrlKey<'_>) -> bool;

    /// The probability that a new key is found now, 0 to 1; where keys differ, the highest.
    fn rate(&self) -> f64;

    /// Whether the key is found, as by [`Filter::holds`], and if not, what that answer is charged.
    fn look(&self, key: UrlKey<'_>) -> Offer {
        if self.holds(key) { Offer::Found } else { Offer::New { charge: charge(self.rate()) } }
    }

    /// [`Filter::test_and_set`], and if the key was not found, what that answer is charged: as many new keys as are refused
    /// for each that is not, on average. It is taken from the bits that were set just before.
    fn offer(&mut self, key: UrlKey<'_>) -> Offer {
        let rate = self.rate();
        if self.test_and_set(key) { Offer::Found } else { Offer::New { charge: charge(rate) } }
    }

    /// What the sum of the charges is.
    fn figure(&self) -> LossFigure {
        LossFigure::Expected
    }

    /// Bits and fill.
    fn extent(&self) -> Extent;

    /// Forgets everything; from now on keys lie where this seed puts them.
    fn clear(&mut self, seed: HashSeed);

    /// Begins to fetch the memory that a look at this key will need.
    fn fetch_ahead(&self, key: UrlKey<'_>);

    /// [`Filter::offer`] of every key in order.
    fn test_and_set_all(&mut self, keys: &[UrlKey<'_>], answers: &mut Answers<'_>) {
        for chunk in keys.chunks(CHUNK) {
            for &key in chunk {
                self.fetch_ahead(key);
            }
            for &key in chunk {
                answers.answer(self.offer(key));
            }
        }
    }

    /// Writes it down after its tag, for [`read`].
    fn write(&self, out: &mut Vec<u8>);

    /// The bits it has at most during [`Filter::grow`]; `None` if it cannot grow any more.
    fn growing_bits(&self) -> Option<u64> {
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

    /// Keys it can still tell, if it forgets; `None` if it never does.
    fn held(&self) -> Option<u64> {
        None
    }

    /// How often it has dropped its oldest keys.
    fn rotations(&self) -> u64 {
        0
    }

    /// Drops its oldest keys; false if it never forgets.
    fn rotate(&mut self) -> bool {
        false
    }
}

/// The answer to one offered key.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Offer {
    /// It was found.
    Found,
    /// It was not.
    New {
        /// Expected number of new keys that were refused for it.
        charge: f64,
    },
}

impl Offer {
    /// The answer of two that find a key if one of them does. `1 + p/(1-p)` is `1/(1-p)`, and the probability that neither
    /// finds a key is the product of theirs.
    pub(crate) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::New { charge: one }, Self::New { charge: other }) => Self::New { charge: one + other + one * other },
            _ => Self::Found,
        }
    }

    pub(crate) fn is_found(self) -> bool {
        self == Self::Found
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
    /// At most this power of the number of keys is what the rate rises with.
    pub(crate) steepness: f64,
}

/// Where the answers to a batch go, and what they cost.
pub(crate) struct Answers<'a> {
    /// Those still to be given.
    rest: std::slice::IterMut<'a, Answer>,
    /// Answers *new*.
    pub(crate) new: u64,
    /// Their charges: the sum of `p/(1-p)`.
    pub(crate) charged: f64,
}

impl<'a> Answers<'a> {
    /// Writes over `answers`; the charges begin at `charged`.
    pub(crate) fn new(answers: &'a mut [Answer], charged: f64) -> Self {
        Self { rest: answers.iter_mut(), new: 0, charged }
    }

    /// One answer. The answer is *seen* until it is said to be new.
    #[inline]
    pub(crate) fn answer(&mut self, offer: Offer) {
        let answer = self.rest.next();
        if let Offer::New { charge } = offer {
            self.new += 1;
            self.charged += charge;
            if let Some(answer) = answer {
                *answer = Answer::New;
            }
        }
    }
}

/// What an answer *new* at this rate costs: so many new keys were refused for each that was not. A filter that is so full
/// that it finds everything is charged a million, not more than any number.
#[inline]
pub(crate) fn charge(rate: f64) -> f64 {
    rate / (1.0 - rate).max(1e-6)
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

/// The first byte of a filter that was written down.
#[derive(Clone, Copy)]
pub(crate) enum Tag {
    Classic = 1,
    Lines = 2,
    Fingerprints = 3,
    Spatial = 4,
    Slices = 5,
    Segments = 6,
    FromBytes = 7,
    PlainLayers = 8,
    SegmentSet = 9,
    Rotating = 10,
}

/// Filters within filters: segments of slices of several; nothing is deeper.
const MOST_NESTED: u32 = 3;

/// A filter that was written down, and what it is made of.
pub(crate) fn read(input: &mut SnapshotReader<'_>) -> Result<Box<dyn Filter>, SnapshotError> {
    read_nested(input, MOST_NESTED)
}

fn read_nested(input: &mut SnapshotReader<'_>, depth: u32) -> Result<Box<dyn Filter>, SnapshotError> {
    let depth = depth.checked_sub(1).ok_or(SnapshotError::Senseless("filters are nested too deep"))?;
    Ok(match input.u8()? {
        tag if tag == Tag::Classic as u8 => Box::new(Classic::<HashSeed>::read(input)?),
        tag if tag == Tag::FromBytes as u8 => Box::new(Classic::<FromBytes>::read(input)?),
        tag if tag == Tag::PlainLayers as u8 => Box::new(PlainLayers::read(input)?),
        tag if tag == Tag::SegmentSet as u8 => Box::new(SegmentSet::read(input)?),
        tag if tag == Tag::Lines as u8 => line::read(input)?,
        tag if tag == Tag::Fingerprints as u8 => Box::new(Fingerprints::read(input)?),
        tag if tag == Tag::Spatial as u8 => Box::new(Spatial::read(input, depth)?),
        tag if tag == Tag::Slices as u8 => Box::new(Slices::read(input, depth)?),
        tag if tag == Tag::Rotating as u8 => Box::new(Rotating::read(input, depth)?),
        tag if tag == Tag::Segments as u8 => Box::new(Segments::read(input, depth)?),
        _ => return Err(SnapshotError::Senseless("unknown kind of filter")),
    })
}

/// Several filters after their number, which is from 1 to 64.
fn read_several(input: &mut SnapshotReader<'_>, depth: u32) -> Result<Vec<Box<dyn Filter>>, SnapshotError> {
    let count = input.u32()?;
    if count == 0 || count > 64 {
        return Err(SnapshotError::Senseless("the number of filters is outside 1..=64"));
    }
    (0..count).map(|_| read_nested(input, depth)).collect()
}

fn write_several<'f>(
    filters: impl IntoIterator<Item = &'f Box<dyn Filter>, IntoIter: ExactSizeIterator>,
    out: &mut Vec<u8>,
) {
    let filters = filters.into_iter();
    out.extend(u32::try_from(filters.len()).unwrap_or(u32::MAX).to_le_bytes());
    for filter in filters {
        filter.write(out);
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

    fn look(&self, key: UrlKey<'_>) -> Offer {
        (**self).look(key)
    }

    fn offer(&mut self, key: UrlKey<'_>) -> Offer {
        (**self).offer(key)
    }

    fn figure(&self) -> LossFigure {
        (**self).figure()
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

    fn write(&self, out: &mut Vec<u8>) {
        (**self).write(out);
    }

    fn growing_bits(&self) -> Option<u64> {
        (**self).growing_bits()
    }

    fn grow(&mut self) -> Result<Option<u64>, TryReserveError> {
        (**self).grow()
    }

    fn held(&self) -> Option<u64> {
        (**self).held()
    }

    fn rotations(&self) -> u64 {
        (**self).rotations()
    }

    fn rotate(&mut self) -> bool {
        (**self).rotate()
    }
}
