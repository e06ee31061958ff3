//! [`Filling`]: what filters cost on the way from some keys to more, and how few bits keep a budget on it.
//!
//! What is lost *while filling* is the integral of the rate, not the final rate times n: at half-filled bits the mean of
//! a classic filter is 0.16 of the final rate for k = 7, and 0.097 for k = 13.

use std::ops::Range;

use super::{MAX_BITS, MAX_PROBES, Shape};
use crate::budget::LossBudget;

/// Intervals of Simpson's rule for the rate of one filter: it rises like x^k, so the error is below (k/60)^4/180 of the value.
const INTERVALS: u32 = 60;

/// Beyond this power of a rate the intervals grow no more in number: what is left of a rate that can be used is nearly nothing.
const MOST_POWER: u32 = 1_000;

/// Several filters of one shape that must all agree.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub(super) shape: Shape,
    pub(super) filters: u32,
}

/// The way of a filter from `from` keys to `to`; never empty.
pub(super) struct Filling {
    from: f64,
    to: f64,
}

impl Kind {
    /// The rate of all together; `bits` are those of one.
    pub(super) fn rate(self, bits: f64, keys: f64) -> f64 {
        self.shape.rate(bits, keys).powi(self.filters.cast_signed())
    }
}

impl Filling {
    /// An empty way is taken as one key long.
    pub(super) fn of(keys: &Range<u64>) -> Self {
        let to = keys.end.max(1) as f64;
        Self { from: (keys.start as f64).min(to - 1.0), to }
    }

    /// Keys at the end of the way.
    pub(super) fn end(&self) -> f64 {
        self.to
    }

    pub(super) fn width(&self) -> f64 {
        (self.to - self.from).max(1.0)
    }

    /// The classic filter with the number of probes that needs the fewest bits, and those bits: they are convex in k, so
    /// walk downhill from the estimate log2(1/p).
    pub(super) fn best_classic(&self, filters: u32, budget: &LossBudget) -> (Kind, f64) {
        let of = |probes| {
            let kind = Kind { shape: Shape::Classic { probes }, filters };
            (kind, self.least_bits(kind, budget))
        };
        let precision = -self.tolerable(budget).log2() / f64::from(filters);
        let first = (1..MAX_PROBES).find(|&probes| f64::from(probes) >= precision).unwrap_or(MAX_PROBES);
        let mut best = (first, of(first));
        while best.0 < MAX_PROBES && of(best.0 + 1).1 < best.1.1 {
            best = (best.0 + 1, of(best.0 + 1));
        }
        while best.0 > 1 && of(best.0 - 1).1 <= best.1.1 {
            best = (best.0 - 1, of(best.0 - 1));
        }
        best.1
    }

    /// The final rate that keeps the budget for certain: the tighter of the limit and of losses all charged at the end.
    fn tolerable(&self, budget: &LossBudget) -> f64 {
        let by_losses = budget.max_lost_urls.map(|losses| losses / (losses + self.width()));
        let by_rate = budget.max_false_positive_rate;
        by_losses.into_iter().chain(by_rate).fold(1.0, f64::min)
    }

    /// The fewest bits a filter with which this kind keeps the budget; infinite if [`MAX_BITS`] are too few.
    pub(super) fn least_bits(&self, kind: Kind, budget: &LossBudget) -> f64 {
        let keeps = |bits: f64| self.keeps(kind, bits, budget);
        // A budget may be larger than all that can be lost.
        let mut low = 1.0;
        if keeps(low) {
            return low;
        }
        let mut high = self.enough_bits(kind, budget);
        while !keeps(high) {
            high *= 2.0;
            if high > 2.0 * MAX_BITS as f64 {
                return f64::INFINITY;
            }
        }
        while high - low > 1e-5 * high {
            let middle = f64::midpoint(low, high);
            (low, high) = if keeps(middle) { (low, middle) } else { (middle, high) };
        }
        high
    }

    /// Bits with which a classic filter's final rate keeps the budget, and others nearly.
    fn enough_bits(&self, kind: Kind, budget: &LossBudget) -> f64 {
        let rate = self.tolerable(budget).powf(1.0 / f64::from(kind.filters));
        let probes = match kind.shape {
            Shape::Classic { probes } => f64::from(probes),
            Shape::Line(_) | Shape::Fingerprints => 8.0,
        };
        let fill = rate.powf(1.0 / probes);
        (-probes * self.to / (-fill).ln_1p()).max(2.0)
    }

    fn keeps(&self, kind: Kind, bits: f64, budget: &LossBudget) -> bool {
        // Bisection in the rate's formula leaves its last digits open.
        let rate = |limit: f64| kind.rate(bits, self.to) <= limit * (1.0 + 1e-9);
        budget.max_false_positive_rate.is_none_or(rate)
            && budget.max_lost_urls.is_none_or(|losses| self.losses(kind, bits) <= losses)
    }

    /// Expected losses on the way: each key that is offered is lost at the rate of the moment. A key that is lost leaves
    /// the filter as if it had gone in, for all its bits were set.
    pub(super) fn losses(&self, kind: Kind, bits: f64) -> f64 {
        self.integral(kind.filters, |offered| kind.rate(bits, offered))
    }

    /// Simpson's rule for a value that is a rate to such a power: the steeper it is, the more intervals.
    pub(super) fn integral(&self, power: u32, value: impl Fn(f64) -> f64) -> f64 {
        let intervals = INTERVALS * power.clamp(1, MOST_POWER);
        let step = self.width() / f64::from(intervals);
        let term = |i: u32| {
            let weight = if i.is_multiple_of(intervals) { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
            weight * value(self.from + step * f64::from(i))
        };
        (0..=intervals).map(term).sum::<f64>() * step / 3.0
    }
}
