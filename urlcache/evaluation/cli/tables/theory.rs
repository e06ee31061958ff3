//! [`Filling`]: the rates that must come out, and how far a measurement may be from them.
//!
//! Owns the expected share of false positives of a full filter and of one that fills, for several filters that must all
//! agree, the variance of both as measured in one run, and the best that the same bits can do. The positions of a key are
//! drawn with repetition, so a filter in which the share u of the bits is set has the rate `u^k` exactly (Broder and
//! Mitzenmacher, "Network applications of Bloom filters", 2004); u itself varies between runs, as the number of occupied
//! urns does (Kolchin, Sevastyanov and Chistyakov, "Random allocations", 1978). It knows no table.

use std::ops::Range;

/// Filters of one size that take the same keys, each with hash functions of its own; a key is a false positive if every
/// filter has all of its bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Filling {
    /// Keys that are added.
    pub(crate) keys: f64,
    /// Bits of each filter.
    pub(crate) bits: f64,
    /// Bits that a key sets in each filter (k).
    pub(crate) probes: u32,
    /// Filters that must agree, of all visits together.
    pub(crate) together: u32,
}

/// The number of bits that serves best.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Best {
    /// Bits that a key sets in the one filter that has all of the memory.
    pub(crate) probes: u32,
    /// Its rate.
    pub(crate) rate: f64,
}

/// More bits a key than any filter here wants.
const MOST_PROBES: u32 = 256;

/// Steps of an integral whose integrand is smooth.
const STEPS: u32 = 128;

/// Steps of the recurrence of a variance, which need not be exact.
const VARIANCE_STEPS: u32 = 2_000;

impl Filling {
    /// The rate for a new key once all keys are in.
    pub(crate) fn full(&self) -> f64 {
        self.rate_after(self.keys)
    }

    /// The variance of the rate that one run measures in the full filters, with as many queries as there are keys: that of
    /// the count, and that of the share of bits that are set.
    pub(crate) fn full_variance(&self) -> f64 {
        let (rate, share) = (self.full(), self.share(self.keys));
        let all = self.all_probes();
        let slope = f64::from(self.probes) * share.powi(all - 1);
        rate * (1.0 - rate) / self.keys + f64::from(self.together) * slope.powi(2) * self.share_variance(self.keys)
    }

    /// The mean rate for the keys of a range, each asked for just before it is added.
    pub(crate) fn mean(&self, keys: &Range<f64>) -> f64 {
        Self::mean_of(keys, |held| self.rate_after(held))
    }

    /// The variance of the mean rate that one run measures over the keys of a range.
    ///
    /// A key that finds bits unset sets them, which later keys then find: with P(i) the rate of key i, d(i) its derivative
    /// by the share u(i) of one filter, and g(i) the sum over later keys j of the range of d(j)/m e^(-k(j-i)/m), it is the
    /// sum over all keys i of P(1-P) + T g^2 k u(1-u) - 2 T g P k(1-u), where the first and the last term belong to keys of
    /// the range alone. For k = T = 1 the sum is m(e^-c - (1+c)e^-2c), the variance of the number of occupied urns.
    pub(crate) fn mean_variance(&self, keys: &Range<f64>) -> f64 {
        let (probes, filters) = (f64::from(self.probes), f64::from(self.together));
        let step = keys.end / f64::from(VARIANCE_STEPS);
        let decay = (-probes * step / self.bits / 2.0).exp();
        let (mut later, mut sum) = (0.0, 0.0);
        for place in (0..VARIANCE_STEPS).rev() {
            let held = (f64::from(place) + 0.5) * step;
            let share = self.share(held);
            let within = if held >= keys.start { 1.0 } else { 0.0 };
            let rate = within * share.powi(self.all_probes());
            let half = within * probes / self.bits * share.powi(self.all_probes() - 1) * step / 2.0;
            let gain = later * decay + half;
            let unset = probes * (1.0 - share);
            sum += step * (rate * (1.0 - rate) + filters * gain * unset * (gain * share - 2.0 * rate));
            later = (gain + half) * decay;
        }
        sum / (keys.end - keys.start).powi(2)
    }

    /// The lowest rate of one full filter that has the memory of `filters` of these, raised to the power of `visits`.
    pub(crate) fn best_full(&self, filters: u32, visits: u32) -> Best {
        self.best(filters, visits, Self::full)
    }

    /// The same for the mean rate while the filter fills.
    pub(crate) fn best_mean(&self, filters: u32, visits: u32) -> Best {
        self.best(filters, visits, |filling| {
            Self::mean_of(&(0.0..filling.keys), |held| filling.share(held).powi(filling.all_probes()))
        })
    }

    fn best(&self, filters: u32, visits: u32, rate: impl Fn(&Self) -> f64) -> Best {
        let bits = self.bits * f64::from(filters);
        let of = |probes| Best { probes, rate: rate(&Self { bits, probes, together: visits, ..*self }) };
        (2..MOST_PROBES).map(of).fold(of(1), |best, other| if other.rate < best.rate { other } else { best })
    }

    /// Bits of a key in all filters together.
    fn all_probes(&self) -> i32 {
        (self.probes * self.together).cast_signed()
    }

    /// The expected share of a filter's bits that are set by so many keys.
    fn share(&self, held: f64) -> f64 {
        -(f64::from(self.probes) * held * (-1.0 / self.bits).ln_1p()).exp_m1()
    }

    /// The variance of that share.
    fn share_variance(&self, held: f64) -> f64 {
        let load = f64::from(self.probes) * held / self.bits;
        ((-load).exp() - (1.0 + load) * (-2.0 * load).exp()) / self.bits
    }

    /// The expected rate with so many keys: that of the expected share, and what its variance adds.
    fn rate_after(&self, held: f64) -> f64 {
        let (share, probes) = (self.share(held), f64::from(self.probes));
        let spread = if share > 0.0 { self.share_variance(held) / share.powi(2) } else { 0.0 };
        let one = share.powi(self.probes.cast_signed()) * (1.0 + probes * (probes - 1.0) / 2.0 * spread);
        one.powi(self.together.cast_signed())
    }

    /// The mean of a function of the keys held over a range of keys: Simpson's rule from half a key before the first to
    /// half a key before the end, which is their sum to the second order.
    fn mean_of(keys: &Range<f64>, value: impl Fn(f64) -> f64) -> f64 {
        let width = (keys.end - keys.start) / f64::from(STEPS);
        let at = |place: u32| value(keys.start - 0.5 + f64::from(place) * width);
        let inner: f64 = (1..STEPS).map(|place| if place % 2 == 1 { 4.0 * at(place) } else { 2.0 * at(place) }).sum();
        (at(0) + inner + at(STEPS)) / 3.0 / f64::from(STEPS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(probes: u32, multiplier: f64, together: u32) -> Filling {
        let keys = 1e6;
        Filling { keys, bits: keys * f64::from(probes) * multiplier, probes, together }
    }

    fn near(one: f64, other: f64, tolerance: f64) {
        assert!((one / other - 1.0).abs() < tolerance, "{one} is not {other}");
    }

    #[test]
    fn full_filters_have_the_rate_of_the_closed_form() {
        for (probes, multiplier, together) in [(1_u32, 2.0, 1), (3, 1.7, 1), (10, 5.0, 1), (3, 1.7, 4), (4, 2.5, 6)] {
            let closed = (-(-1.0_f64 / multiplier).exp_m1()).powi((probes * together).cast_signed());
            near(of(probes, multiplier, together).full(), closed, 1e-5);
        }
    }

    /// With one probe, `1 - u` falls by the factor `1 - 1/m` with each key, so that the sum is a geometric series.
    #[test]
    fn the_mean_while_filling_is_that_of_every_key() {
        for keys in [1e3, 1e6] {
            let filling = Filling { keys, bits: 2.0 * keys, probes: 1, together: 1 };
            let unset = filling.bits * -(keys * (-1.0 / filling.bits).ln_1p()).exp_m1();
            near(filling.mean(&(0.0..keys)), 1.0 - unset / keys, 1e-7);
        }
        // Printed by the thesis, tables 5.17 and 5.2.
        near(of(3, 1.7, 1).mean(&(0.0..1e6)), 0.026_071, 2e-3);
        near(of(2, 2.0, 1).mean(&(0.0..1e6)), 0.058_24, 2e-3);
    }

    #[test]
    fn windows_add_up() {
        for filling in [of(3, 1.7, 1), of(4, 2.0, 3)] {
            let tenths = (0..10).map(|tenth| filling.mean(&(1e5 * f64::from(tenth)..1e5 * f64::from(tenth + 1))));
            near(tenths.sum::<f64>() / 10.0, filling.mean(&(0.0..1e6)), 1e-6);
        }
    }

    #[test]
    fn the_variance_while_filling_with_one_probe_is_that_of_occupied_urns() {
        let filling = of(1, 2.0, 1);
        let urns = filling.share_variance(1e6) * filling.bits.powi(2);
        near(filling.mean_variance(&(0.0..1e6)) * 1e12, urns, 1e-3);
    }

    #[test]
    fn rare_false_positives_vary_as_counts_do() {
        let filling = of(6, 2.0, 2);
        near(filling.full_variance() * 1e6, filling.full(), 1e-3);
        near(filling.mean_variance(&(0.0..1e6)) * 1e6, filling.mean(&(0.0..1e6)), 1e-3);
    }

    /// 17 bits a key: eleven or twelve probes of `0.6185^17`, as the textbooks have it.
    #[test]
    fn the_best_number_of_probes_is_that_of_the_textbook() {
        let best = of(10, 1.7, 1).best_full(1, 1);
        assert!((11..=12).contains(&best.probes), "{best:?}");
        near(best.rate, 0.6185_f64.powi(17), 0.01);
        let (spatial, temporal) = (of(5, 1.7, 2).best_full(2, 1), of(10, 1.7, 2).best_full(1, 2));
        near(spatial.rate, best.rate, 1e-6);
        near(temporal.rate, best.rate.powi(2), 1e-6);
        assert!(of(3, 2.0, 1).best_mean(1, 1).rate < of(3, 2.0, 1).mean(&(0.0..1e6)));
    }
}
