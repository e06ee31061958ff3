//! [`Plan`]: how many bits and probes a classic Bloom filter needs, and what it then costs.
//!
//! Owns the formulas. Rate of a filter of m bits and k probes that holds n keys: `(1 - e^(-kn/m))^k` (Bloom 1970;
//! Mitzenmacher and Upfal, "Probability and Computing", 5.5.3). It is the mean over filters up to a term of order
//! k^2/m, which matters to filters of a few dozen keys only. What is lost *while filling* is the integral of the rate,
//! not the final rate times n: at half-filled bits the mean is 0.16 of the final rate for k = 7, and 0.097 for k = 13.
//!
//! Does not know hash functions, memory, or who fills the filter.

use std::ops::Range;

use thiserror::Error;

use crate::budget::LossBudget;

/// The most bits a filter may have: 2^40, 128 GiB. A bound against absurd wishes, not a promise that so much can be
/// had: a system that overcommits memory may grant more than there is, so a ceiling for the machine is the caller's
/// business.
pub const MAX_BITS: u64 = 1 << 40;

/// The most probes a key may have.
const MAX_PROBES: u32 = 64;

/// Intervals of Simpson's rule: the integrand rises like x^k, so the error is below (k/100)^4/180 of the value.
const INTERVALS: u32 = 100;

/// Bits and probes of a Bloom filter.
///
/// ```
/// use urlcache::Plan;
///
/// let plan = Plan::for_rate(1_000_000, 0.01)?;
/// assert_eq!((plan.probes(), plan.bits() / 1_000), (7, 9_592));
/// assert!((plan.rate_at(1_000_000) - 0.01).abs() < 1e-6);
/// assert!((plan.mean_rate(1_000_000) - 0.0017).abs() < 1e-4);
/// # Ok::<(), urlcache::SizingError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    bits: u64,
    probes: u32,
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
    #[error("a filter of {bits:.3e} bits is outside 1..={MAX_BITS}: expect fewer URLs or allow more losses")]
    Bits {
        /// Bits that would be needed.
        bits: f64,
    },
    /// No probes, or more than 64.
    #[error("{0} probes a key are outside 1..=64")]
    Probes(u32),
}

impl Plan {
    /// A filter of given size, for whoever knows better.
    ///
    /// # Errors
    /// No bits or more than [`MAX_BITS`]; no probes or more than 64.
    pub fn new(bits: u64, probes: u32) -> Result<Self, SizingError> {
        if bits == 0 || bits > MAX_BITS {
            return Err(SizingError::Bits { bits: bits as f64 });
        }
        if probes == 0 || probes > MAX_PROBES {
            return Err(SizingError::Probes(probes));
        }
        Ok(Self { bits, probes })
    }

    /// The smallest filter whose rate with `keys` keys is at most `rate`.
    ///
    /// # Errors
    /// A rate outside 0..1, or a filter larger than [`MAX_BITS`].
    pub fn for_rate(keys: u64, rate: f64) -> Result<Self, SizingError> {
        Self::for_budget(0..keys, &LossBudget { max_lost_urls: None, max_false_positive_rate: Some(rate) })
    }

    /// The smallest filter that loses at most an expected `losses` keys while it goes from `keys.start` to `keys.end`.
    ///
    /// # Errors
    /// Losses that are no number above 0, or a filter larger than [`MAX_BITS`].
    pub fn for_losses(keys: Range<u64>, losses: f64) -> Result<Self, SizingError> {
        Self::for_budget(keys, &LossBudget { max_lost_urls: Some(losses), max_false_positive_rate: None })
    }

    /// The smallest filter that keeps every limit of the budget while it goes from `keys.start` keys to `keys.end`.
    ///
    /// # Errors
    /// A budget without a limit or with a senseless one, or a filter larger than [`MAX_BITS`].
    pub fn for_budget(keys: Range<u64>, budget: &LossBudget) -> Result<Self, SizingError> {
        check(budget)?;
        let filling = Filling::of(&keys);
        let probes = filling.best_probes(budget);
        let bits = filling.least_bits(probes, budget).ceil();
        if bits > MAX_BITS as f64 {
            return Err(SizingError::Bits { bits });
        }
        Self::new(whole(bits).max(64), probes)
    }

    /// Number of bits (m).
    pub fn bits(self) -> u64 {
        self.bits
    }

    /// Number of probes a key (k).
    pub fn probes(self) -> u32 {
        self.probes
    }

    /// False-positive rate once the filter holds `keys` keys.
    pub fn rate_at(self, keys: u64) -> f64 {
        rate(self.bits as f64, self.probes, keys as f64)
    }

    /// Mean false-positive rate while the first `keys` keys go in: the integral of the rate divided by their number.
    pub fn mean_rate(self, keys: u64) -> f64 {
        let span = Filling::of(&(0..keys));
        span.integral(|held| rate(self.bits as f64, self.probes, held)) / span.width()
    }

    /// Expected number of new keys called seen while the filter goes from `keys.start` keys to `keys.end`: the integral
    /// of `p/(1-p)`, for each key that goes in was preceded by so many that did not. Infinite for a filter far too
    /// small.
    pub fn expected_lost(self, keys: Range<u64>) -> f64 {
        Filling::of(&keys).losses(self.bits as f64, self.probes)
    }
}

/// `(1 - e^(-kn/m))^k`.
fn rate(bits: f64, probes: u32, keys: f64) -> f64 {
    let fill = -(-f64::from(probes) * keys / bits).exp_m1();
    fill.powi(probes.cast_signed())
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
fn check(budget: &LossBudget) -> Result<(), SizingError> {
    match (budget.max_lost_urls, budget.max_false_positive_rate) {
        (None, None) => Err(SizingError::NoLimit),
        (Some(urls), _) if !(urls > 0.0 && urls.is_finite()) => Err(SizingError::Losses(urls)),
        (_, Some(rate)) if !(rate > 0.0 && rate < 1.0) => Err(SizingError::Rate(rate)),
        _ => Ok(()),
    }
}

/// The way of a filter from `from` keys to `to`; never empty.
struct Filling {
    from: f64,
    to: f64,
}

impl Filling {
    /// An empty way is taken as one key long.
    fn of(keys: &Range<u64>) -> Self {
        let to = keys.end.max(1) as f64;
        Self { from: (keys.start as f64).min(to - 1.0), to }
    }

    fn width(&self) -> f64 {
        (self.to - self.from).max(1.0)
    }

    /// The number of probes that needs the fewest bits: bits are convex in k, so walk downhill from the estimate
    /// log2(1/p).
    fn best_probes(&self, budget: &LossBudget) -> u32 {
        let bits = |probes| self.least_bits(probes, budget);
        let precision = -self.tolerable(budget).log2();
        let mut best = (1..MAX_PROBES).find(|&probes| f64::from(probes) >= precision).unwrap_or(MAX_PROBES);
        while best < MAX_PROBES && bits(best + 1) < bits(best) {
            best += 1;
        }
        while best > 1 && bits(best - 1) <= bits(best) {
            best -= 1;
        }
        best
    }

    /// The final rate that keeps the budget for certain: the tighter of the limit and of losses all charged at the end.
    fn tolerable(&self, budget: &LossBudget) -> f64 {
        let by_losses = budget.max_lost_urls.map(|losses| losses / (losses + self.width()));
        let by_rate = budget.max_false_positive_rate;
        by_losses.into_iter().chain(by_rate).fold(1.0, f64::min)
    }

    /// The fewest bits with which so many probes keep the budget.
    fn least_bits(&self, probes: u32, budget: &LossBudget) -> f64 {
        let by_losses = budget.max_lost_urls.map(|losses| self.bits_for_losses(probes, losses));
        let by_rate = budget.max_false_positive_rate.map(|rate| self.bits_for_rate(probes, rate));
        by_losses.into_iter().chain(by_rate).fold(1.0, f64::max)
    }

    /// The rate's formula solved for m.
    fn bits_for_rate(&self, probes: u32, rate: f64) -> f64 {
        let fill = rate.powf(1.0 / f64::from(probes));
        -f64::from(probes) * self.to / (-fill).ln_1p()
    }

    /// Bisection: with `high` bits even the final rate keeps the losses, and losses fall as bits rise.
    fn bits_for_losses(&self, probes: u32, losses: f64) -> f64 {
        let (mut low, mut high) = (0.0, self.bits_for_rate(probes, losses / (losses + self.width())));
        while high - low > 1e-5 * high {
            let middle = f64::midpoint(low, high);
            let kept = self.losses(middle, probes) <= losses;
            (low, high) = if kept { (low, middle) } else { (middle, high) };
        }
        high
    }

    /// Expected losses on the way.
    fn losses(&self, bits: f64, probes: u32) -> f64 {
        self.integral(|held| {
            let rate = rate(bits, probes, held);
            rate / (1.0 - rate)
        })
    }

    /// Simpson's rule.
    fn integral(&self, value: impl Fn(f64) -> f64) -> f64 {
        let step = self.width() / f64::from(INTERVALS);
        let term = |i: u32| {
            let weight = if i.is_multiple_of(INTERVALS) { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
            weight * value(self.from + step * f64::from(i))
        };
        (0..=INTERVALS).map(term).sum::<f64>() * step / 3.0
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
        let odds = |keys| plan.rate_at(keys) / (1.0 - plan.rate_at(keys));
        let sum: f64 = (1_000..4_000).map(|keys| f64::midpoint(odds(keys), odds(keys + 1))).sum();
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
    fn senseless_demands_are_errors() {
        let budget = |losses, rate| LossBudget { max_lost_urls: losses, max_false_positive_rate: rate };
        let refused = |losses, rate| Plan::for_budget(0..10, &budget(losses, rate)).unwrap_err();
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
            let plan = Plan::for_budget(keys.clone(), &budget).unwrap();
            let used = |plan: Plan| {
                let by_losses = losses.map_or(0.0, |losses| plan.expected_lost(keys.clone()) / losses);
                by_losses.max(rate.map_or(0.0, |rate| plan.rate_at(keys.end) / rate))
            };
            prop_assert!(used(plan) <= 1.0 + 1e-6, "{plan:?} uses {}", used(plan));
            let less = Plan { bits: plan.bits() * 98 / 100, ..plan };
            prop_assert!(plan.bits() == 64 || used(less) > 1.0, "{plan:?} is too large");
        }

        #[test]
        fn no_other_number_of_probes_needs_fewer_bits(keys in 100_u64..1_000_000, losses in 1e-4_f64..10.0) {
            let budget = LossBudget { max_lost_urls: Some(losses), max_false_positive_rate: None };
            let (plan, filling) = (Plan::for_budget(0..keys, &budget).unwrap(), Filling::of(&(0..keys)));
            let least = (1..=40).map(|probes| filling.least_bits(probes, &budget)).fold(f64::INFINITY, f64::min);
            prop_assert!(plan.bits() as f64 <= 1.0001 * least + 64.0, "{plan:?}, {least} bits suffice");
        }
    }
}
