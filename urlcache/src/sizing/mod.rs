//! [`Plan`]: how many bits a filter needs, arranged how, and what it then costs.
//!
//! Owns the choice of size and shape: the fewest bits that keep a [`LossBudget`] while a filter fills. The rates of the
//! shapes are in [`Shape`], the integrals over a filling beside it.
//!
//! Does not know hash functions, memory, or who fills the filter.

mod filling;
mod growth;
mod layers;
mod shape;

use std::ops::Range;

use thiserror::Error;

use crate::budget::LossBudget;
use crate::snapshot::{SnapshotError, SnapshotReader, named, number};
use crate::strategy::Layout;
use filling::{Filling, Kind};
pub use growth::Growth;
pub use layers::LayerPlan;
pub(crate) use shape::LINE_BITS;
pub use shape::{LineShape, Shape};

/// The most bits a filter may have: 2^40, 128 GiB. A bound against absurd wishes, not a promise that so much can be
/// had: a system that overcommits memory may grant more than there is, so a ceiling for the machine is the caller's
/// business.
pub const MAX_BITS: u64 = 1 << 40;

/// The most probes a key may have.
const MAX_PROBES: u32 = 64;

/// The price of a cache line that a key touches, in bits of memory a key.
///
/// Measured with 10^7 keys, in batches: each further line of a classic filter takes 6 ns of a test-and-set at a rate of 1e-2,
/// 13 ns at 1e-4 and 19 ns at 6e-7, where the filter is the largest; the second of the layout `line` 8 to 25 ns. So a filter
/// may take a bit a key more if that saves 2 to 5 ns. The program prints the times:
/// `urlcache speed --layouts --keys 10000000`.
pub const LINE_PRICE: f64 = 4.0;

/// Size and shape of a filter, or of several that must all agree.
///
/// ```
/// use urlcache::{Layout, LossBudget, Plan, Shape};
///
/// let plan = Plan::for_rate(1_000_000, 0.01)?;
/// assert_eq!((plan.shape(), plan.bits() / 1_000), (Shape::Classic { probes: 7 }, 9_592));
/// assert!((plan.rate_at(1_000_000) - 0.01).abs() < 1e-6);
/// assert!((plan.mean_rate(1_000_000) - 0.0017).abs() < 1e-4);
///
/// let budget = LossBudget { max_lost_urls: None, max_false_positive_rate: Some(0.01) };
/// let line = Plan::for_budget(Layout::Auto, 0..1_000_000, &budget)?;
/// assert_eq!((line.shape().cache_lines(), line.bits() / 100_000), (1, 100));
/// # Ok::<(), urlcache::SizingError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    shape: Shape,
    filter_bits: u64,
    filters: u32,
}

/// Why no filter can be planned.
#[derive(Clone, Copy, PartialEq, Debug, Error)]
pub enum SizingError {
    /// Neither limit is given.
    #[error("no loss budget: set max_lost_urls or max_false_positive_rate, or use the exact cache")]
    NoLimit,
    /// The number of lost URLs is not a number above 0.
    #[error("max_lost_urls is {0} but must be above 0: raise it, or use the exact cache to lose none")]
    Losses(f64),
    /// The rate is no probability that a filter can have.
    #[error("max_false_positive_rate is {0} but must lie between 0 and 1")]
    Rate(f64),
    /// The filter would be larger than [`MAX_BITS`], or have no bits at all.
    #[error("a filter of {bits:.3e} bits is outside 1..=2^40 ({MAX_BITS}): expect fewer URLs or allow more losses")]
    Bits {
        /// Bits that would be needed.
        bits: f64,
    },
    /// No filters, or more than 64.
    #[error("{0} filters are outside 1..=64")]
    Filters(u32),
    /// No probes, or more than 64.
    #[error("{0} probes a key are outside 1..=64")]
    Probes(u32),
}

impl Plan {
    /// A classic filter of given size, for whoever knows better.
    ///
    /// # Errors
    /// No bits or more than [`MAX_BITS`]; no probes or more than 64.
    pub fn new(bits: u64, probes: u32) -> Result<Self, SizingError> {
        Self::with_shape(Shape::Classic { probes }, bits)
    }

    /// A filter of given shape and size; lines are whole, so it may become a little larger.
    ///
    /// # Errors
    /// No bits or more than [`MAX_BITS`]; no probes or more than 64.
    pub fn with_shape(shape: Shape, bits: u64) -> Result<Self, SizingError> {
        if bits == 0 || bits > MAX_BITS {
            return Err(SizingError::Bits { bits: bits as f64 });
        }
        if let Shape::Classic { probes } = shape
            && (probes == 0 || probes > MAX_PROBES)
        {
            return Err(SizingError::Probes(probes));
        }
        let filter_bits = match shape {
            Shape::Classic { .. } => bits,
            Shape::Line(_) | Shape::Fingerprints => bits.next_multiple_of(LINE_BITS),
        };
        Ok(Self { shape, filter_bits, filters: 1 })
    }

    /// The smallest classic filter whose rate with `keys` keys is at most `rate`.
    ///
    /// # Errors
    /// A rate outside 0..1, or a filter larger than [`MAX_BITS`].
    pub fn for_rate(keys: u64, rate: f64) -> Result<Self, SizingError> {
        Self::for_budget(Layout::Classic, 0..keys, &LossBudget::rate(rate))
    }

    /// The smallest classic filter that loses at most an expected `losses` keys while it goes from `keys.start` to
    /// `keys.end`.
    ///
    /// # Errors
    /// Losses that are no number above 0, or a filter larger than [`MAX_BITS`].
    pub fn for_losses(keys: Range<u64>, losses: f64) -> Result<Self, SizingError> {
        let budget = LossBudget { max_lost_urls: Some(losses), max_false_positive_rate: None };
        Self::for_budget(Layout::Classic, keys, &budget)
    }

    /// The smallest filter of the layout that keeps every limit of the budget while it goes from `keys.start` keys to
    /// `keys.end`. Where a layout has several shapes, and with `auto`, it is the cheapest, where each cache line that a key
    /// touches is priced as [`LINE_PRICE`] bits a key.
    ///
    /// # Errors
    /// A budget without a limit or with a senseless one, or a filter larger than [`MAX_BITS`].
    pub fn for_budget(layout: Layout, keys: Range<u64>, budget: &LossBudget) -> Result<Self, SizingError> {
        Self::spatial(layout, 1, keys, budget)
    }

    /// As [`Plan::for_budget`], for so many filters that must all agree.
    ///
    /// # Errors
    /// Those of [`Plan::for_budget`]; no filters or more than 64.
    pub fn spatial(layout: Layout, filters: u32, keys: Range<u64>, budget: &LossBudget) -> Result<Self, SizingError> {
        check(budget)?;
        if filters == 0 || filters > MAX_PROBES {
            return Err(SizingError::Filters(filters));
        }
        let filling = Filling::of(&keys);
        let line = |shape| {
            let kind = Kind { shape, filters };
            // Lines are whole.
            let lines = (filling.least_bits(kind, budget) / LINE_BITS as f64).ceil();
            (kind, lines * LINE_BITS as f64)
        };
        let lines = || LineShape::ALL.map(|shape| line(Shape::Line(shape))).to_vec();
        let classic = || vec![filling.best_classic(filters, budget)];
        let fingerprints = || vec![line(Shape::Fingerprints)];
        let plans = match layout {
            Layout::Classic => classic(),
            Layout::Line => lines(),
            Layout::Fingerprint => fingerprints(),
            Layout::Auto => [classic(), lines(), fingerprints()].concat(),
        };
        let price =
            |(kind, bits): &(Kind, f64)| bits + LINE_PRICE * f64::from(kind.shape.cache_lines()) * filling.end();
        let cheapest = plans.into_iter().min_by(|a, b| price(a).total_cmp(&price(b)));
        let (kind, bits) = cheapest.expect("there is a plan, if only an infinite one");
        let bits = bits.ceil();
        if bits * f64::from(filters) > MAX_BITS as f64 {
            return Err(SizingError::Bits { bits });
        }
        Ok(Self { filters, ..Self::with_shape(kind.shape, whole(bits).max(64))? })
    }

    /// As [`Plan::for_budget`], of this shape alone; of a classic filter it keeps the number of probes.
    ///
    /// # Errors
    /// Those of [`Plan::for_budget`].
    pub fn for_shape(shape: Shape, keys: Range<u64>, budget: &LossBudget) -> Result<Self, SizingError> {
        check(budget)?;
        let bits = Filling::of(&keys).least_bits(Kind { shape, filters: 1 }, budget).ceil();
        if bits > MAX_BITS as f64 {
            return Err(SizingError::Bits { bits });
        }
        Self::with_shape(shape, whole(bits).max(64))
    }

    /// The same for so many filters that must all agree.
    pub(crate) fn times(self, filters: u32) -> Self {
        Self { filters, ..self }
    }

    /// The same with at least so many lines a filter, if it is of fingerprints.
    pub(crate) fn with_at_least(self, lines: u64) -> Self {
        let least = if self.shape == Shape::Fingerprints { lines * LINE_BITS } else { 0 };
        Self { filter_bits: self.filter_bits.max(least), ..self }
    }

    /// How the bits are arranged.
    pub fn shape(self) -> Shape {
        self.shape
    }

    /// Number of bits (m) of all filters together.
    pub fn bits(self) -> u64 {
        self.filter_bits * u64::from(self.filters)
    }

    /// Number of bits of one filter.
    pub fn filter_bits(self) -> u64 {
        self.filter_bits
    }

    /// Number of filters that must all agree.
    pub fn filters(self) -> u32 {
        self.filters
    }

    /// False-positive rate once the filter holds `keys` keys.
    pub fn rate_at(self, keys: u64) -> f64 {
        self.kind().rate(self.filter_bits as f64, keys as f64)
    }

    /// Mean false-positive rate while the first `keys` keys go in: the integral of the rate divided by their number.
    pub fn mean_rate(self, keys: u64) -> f64 {
        let span = Filling::of(&(0..keys));
        span.integral(self.filters, |held| self.kind().rate(self.filter_bits as f64, held)) / span.width()
    }

    /// Expected number of new keys called seen while the keys from number `keys.start` to number `keys.end` are offered:
    /// the integral of the rate.
    pub fn expected_lost(self, keys: Range<u64>) -> f64 {
        Filling::of(&keys).losses(self.kind(), self.filter_bits as f64)
    }

    /// Expected number of keys called seen in each of so many visits, the hash seed being another in each, while the first
    /// `keys` keys are offered in the same order: the integral of the rate to the power of the visits. A key that comes late
    /// meets a high rate each time, so this is more than the mean rate to that power would give: 5 times as much at two visits
    /// and 33 times at three, for 10^5 keys within the default budget.
    ///
    /// ```
    /// use urlcache::{Layout, LossBudget, Plan};
    ///
    /// let plan = Plan::for_budget(Layout::Auto, 0..100_000, &LossBudget::default())?;
    /// let [once, twice] = [1, 2].map(|visits| plan.lost_each_time(100_000, visits));
    /// assert!((once - 0.5).abs() < 0.01 && (1.2e-5..1.3e-5).contains(&twice));
    /// # Ok::<(), urlcache::SizingError>(())
    /// ```
    pub fn lost_each_time(self, keys: u64, visits: u32) -> f64 {
        let bits = self.filter_bits as f64;
        Filling::of(&(0..keys))
            .integral(visits.saturating_mul(self.filters), |held| self.kind().rate(bits, held).powf(f64::from(visits)))
    }

    /// A plan that was written down.
    pub(crate) fn read(input: &mut SnapshotReader<'_>) -> Result<Self, SnapshotError> {
        let shape = match (input.u8()?, input.u32()?) {
            (0, probes) => Shape::Classic { probes },
            (1, line) => Shape::Line(named(&LineShape::ALL, u8::try_from(line).unwrap_or(u8::MAX))?),
            (2, _) => Shape::Fingerprints,
            _ => return Err(SnapshotError::Senseless("an unknown shape")),
        };
        Ok(Self { shape, filter_bits: input.count()?, filters: input.u32()? })
    }

    pub(crate) fn write(self, out: &mut Vec<u8>) {
        let (kind, detail) = match self.shape {
            Shape::Classic { probes } => (0, probes),
            Shape::Line(line) => (1, number(&LineShape::ALL, line).into()),
            Shape::Fingerprints => (2, 0),
        };
        out.push(kind);
        out.extend(detail.to_le_bytes());
        out.extend(self.filter_bits.to_le_bytes());
        out.extend(self.filters.to_le_bytes());
    }

    fn kind(self) -> Kind {
        Kind { shape: self.shape, filters: self.filters }
    }
}

/// The whole number nearest to zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and no value is negative"
)]
fn whole(value: f64) -> u64 {
    value as u64
}

/// Refuses budgets that say nothing or something senseless.
pub(crate) fn check(budget: &LossBudget) -> Result<(), SizingError> {
    match (budget.max_lost_urls, budget.max_false_positive_rate) {
        (None, None) => Err(SizingError::NoLimit),
        (Some(urls), _) if !(urls > 0.0 && urls.is_finite()) => Err(SizingError::Losses(urls)),
        (_, Some(rate)) if !(rate > 0.0 && rate < 1.0) => Err(SizingError::Rate(rate)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn close(value: f64, expected: f64, relative: f64) {
        assert!((value / expected - 1.0).abs() < relative, "{value} instead of {expected}");
    }

    #[test]
    fn ullmans_case() {
        close(Plan::new(1_000_000_000, 5).unwrap().rate_at(100_000_000), 0.00943, 5e-4);
    }

    #[test]
    fn rates_cost_the_bits_of_the_textbook() {
        for (rate, bits) in [(1e-2, 9.585), (1e-3, 14.378), (1e-4, 19.170), (1e-6, 28.755), (1e-8, 38.34)] {
            let plan = Plan::for_rate(1_000_000, rate).unwrap();
            close(plan.bits() as f64 / 1e6, bits, 1e-3);
            close(plan.rate_at(1_000_000), rate, 1e-4);
        }
    }

    #[test]
    fn what_is_lost_each_time_is_the_sum_over_the_urls() {
        let plans = [
            Plan::new(2_035_000, 15).unwrap(),
            Plan::for_budget(Layout::Auto, 0..100_000, &LossBudget::default()).unwrap(),
        ];
        for plan in plans {
            for visits in [1, 2, 3, 10, 20, 50] {
                let each = |held| plan.rate_at(held).powf(f64::from(visits));
                let sum: f64 = (0..100_000).map(each).sum::<f64>() + (each(100_000) - each(0)) / 2.0;
                close(plan.lost_each_time(100_000, visits), sum, 1e-3);
            }
        }
        assert!(plans[0].lost_each_time(100_000, u32::MAX) < 1e-300);
    }

    #[test]
    fn the_mean_while_filling_is_a_fraction_of_the_end() {
        for (probes, fraction) in [(7, 0.1635), (13, 0.0969)] {
            let keys = 1_000_000;
            let plan = Plan::new(u64::from(probes) * 1_442_695, probes).unwrap();
            close(plan.mean_rate(keys) / plan.rate_at(keys), fraction, 0.03);
        }
    }

    #[test]
    fn the_integral_is_the_sum_over_keys() {
        let plan = Plan::new(30_000, 6).unwrap();
        let sum: f64 = (1_000..4_000).map(|keys| f64::midpoint(plan.rate_at(keys), plan.rate_at(keys + 1))).sum();
        close(plan.expected_lost(1_000..4_000), sum, 1e-6);
        let rates: f64 = (0..4_000).map(|keys| f64::midpoint(plan.rate_at(keys), plan.rate_at(keys + 1))).sum();
        close(plan.mean_rate(4_000), rates / 4_000.0, 1e-6);
    }

    #[test]
    fn the_default_budget_costs_four_to_five_bytes_a_url_at_ten_million() {
        let plan = Plan::for_losses(0..10_000_000, 0.25).unwrap();
        assert!(plan.bits() < 31 * 10_000_000, "{plan:?}");
        let after_eight_doublings = Plan::for_losses(5_000_000..10_000_000, 0.5 / 90.0).unwrap();
        assert!(after_eight_doublings.bits() < 39 * 10_000_000, "{after_eight_doublings:?}");
    }

    #[test]
    fn a_budget_beyond_all_that_can_be_lost_needs_next_to_nothing() {
        for layout in Layout::ALL {
            for (keys, losses) in [(0..20, 30.0), (0..1, 1e9), (5..6, 1.0), (0..1_000, 1_000.0)] {
                let budget = LossBudget { max_lost_urls: Some(losses), max_false_positive_rate: None };
                let plan = Plan::for_budget(layout, keys.clone(), &budget).unwrap();
                assert!(plan.bits() <= LINE_BITS * 80 && plan.expected_lost(keys) <= losses, "{layout}: {plan:?}");
            }
        }
    }

    #[test]
    fn senseless_demands_are_errors() {
        let budget = |losses, rate| LossBudget { max_lost_urls: losses, max_false_positive_rate: rate };
        let refused = |losses, rate| Plan::for_budget(Layout::Auto, 0..10, &budget(losses, rate)).unwrap_err();
        assert_eq!(refused(None, None), SizingError::NoLimit);
        assert_eq!(refused(Some(0.0), None), SizingError::Losses(0.0));
        assert_eq!(refused(Some(f64::INFINITY), None), SizingError::Losses(f64::INFINITY));
        assert!(matches!(refused(Some(f64::NAN), Some(0.1)), SizingError::Losses(_)));
        assert_eq!(refused(Some(1.0), Some(1.0)), SizingError::Rate(1.0));
        assert!(matches!(Plan::for_rate(1_000_000_000_000_000, 0.01), Err(SizingError::Bits { .. })));
        assert!(matches!(Plan::for_losses(0..u64::MAX, 1e-300), Err(SizingError::Bits { .. })));
        assert_eq!(Plan::new(10, 65), Err(SizingError::Probes(65)));
        assert!(Plan::new(0, 1).is_err());
    }

    proptest! {
        #[test]
        fn a_plan_keeps_its_budget_and_not_much_more(
            start in 0_u64..1_000_000,
            more in 1_u64..10_000_000,
            losses in 1e-6_f64..1e3,
            rate in 1e-9_f64..0.4,
            limits in 0..3,
        ) {
            let (losses, rate) = ((limits != 1).then_some(losses), (limits != 2).then_some(rate));
            let keys = start..start + more;
            let budget = LossBudget { max_lost_urls: losses, max_false_positive_rate: rate };
            let plan = Plan::for_budget(Layout::Classic, keys.clone(), &budget).unwrap();
            let used = |plan: Plan| {
                let by_losses = losses.map_or(0.0, |losses| plan.expected_lost(keys.clone()) / losses);
                by_losses.max(rate.map_or(0.0, |rate| plan.rate_at(keys.end) / rate))
            };
            prop_assert!(used(plan) <= 1.0 + 1e-6, "{plan:?} uses {}", used(plan));
            let less = Plan { filter_bits: plan.bits() * 98 / 100, ..plan };
            prop_assert!(plan.bits() == 64 || used(less) > 1.0, "{plan:?} is too large");
        }

        #[test]
        fn no_other_number_of_probes_needs_fewer_bits(keys in 100_u64..1_000_000, losses in 1e-4_f64..10.0) {
            let budget = LossBudget { max_lost_urls: Some(losses), max_false_positive_rate: None };
            let (plan, filling) = (Plan::for_budget(Layout::Classic, 0..keys, &budget).unwrap(), Filling::of(&(0..keys)));
            let least = (1..=40).map(|probes| filling.least_bits(Kind { shape: Shape::Classic { probes }, filters: 1 }, &budget)).fold(f64::INFINITY, f64::min);
            prop_assert!(plan.bits() as f64 <= 1.0001 * least + 64.0, "{plan:?}, {least} bits suffice");
        }
    }
}
