//! [`Tally`]: what one repetition of an experiment counted, and how sure the sums are.
//!
//! Answers of one repetition depend on each other: they share records, keywords and filters. Repetitions share records alone.
//! All intervals therefore follow from how much repetitions differ (the jackknife and Student's t, on the logarithm of a ratio
//! of sums), and are never narrower than that of Clopper and Pearson, which holds if no answer depends on another.

use statrs::distribution::{ContinuousCDF, StudentsT};
use urlcache::Interval;

use crate::multilayer::report::CONFIDENCE;

/// Counts of one repetition, or of all together.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Tally {
    /// What should not be found, and was asked for.
    pub(super) strangers: u64,
    /// Found, though it should not be.
    pub(super) wrong: u64,
    /// Found, as it should be.
    pub(super) right: u64,
    /// Not found, though it should be.
    pub(super) missed: u64,
    /// How many are found wrongly, by theory.
    pub(super) expected: f64,
    /// The variance of these, if none depended on another.
    pub(super) variance: f64,
}

/// A number, and the interval that holds the true one in 95 of 100 such measurements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// With fewer expected false positives the repetitions say nothing of how much they differ.
const ENOUGH: f64 = 20.0;

impl Tally {
    /// The counts of all others, out of all together.
    fn others(&self, all: &Self) -> Self {
        Self {
            strangers: all.strangers - self.strangers,
            wrong: all.wrong - self.wrong,
            right: all.right - self.right,
            missed: all.missed - self.missed,
            expected: all.expected - self.expected,
            variance: all.variance - self.variance,
        }
    }

    /// The share of right ones among all that are found, if the rate of wrong ones is this; 0 where nothing is found.
    fn precision_at(&self, rate: f64) -> f64 {
        let right = self.right as f64;
        right / (right + rate * self.strangers as f64).max(1.0)
    }

    /// As if no answer depended on another.
    fn independent_rate(&self) -> Interval {
        Interval::exact(self.wrong, self.strangers, CONFIDENCE)
    }

    fn independent_precision(&self) -> Estimate {
        let rate = self.independent_rate();
        let value = self.precision_at(self.wrong as f64 / self.strangers.max(1) as f64);
        Estimate { value, low: self.precision_at(rate.high), high: self.precision_at(rate.low) }
    }
}

impl Estimate {
    /// Wide enough for both.
    fn joined(self, low: f64, high: f64) -> Self {
        Self { low: self.low.min(low), high: self.high.max(high), ..self }
    }
}

/// All counts together.
pub(super) fn total(tallies: &[Tally]) -> Tally {
    let add = |sum: Tally, one: &Tally| Tally {
        strangers: sum.strangers + one.strangers,
        wrong: sum.wrong + one.wrong,
        right: sum.right + one.right,
        missed: sum.missed + one.missed,
        expected: sum.expected + one.expected,
        variance: sum.variance + one.variance,
    };
    tallies.iter().fold(Tally::default(), add)
}

/// Counted minus expected, in standard errors that follow from how much repetitions differ, but at least those of answers that
/// do not depend on each other. `None` where too few are expected.
pub(super) fn deviation(tallies: &[Tally]) -> Option<f64> {
    let all = total(tallies);
    let count = tallies.len() as f64;
    let sum = all.wrong as f64 - all.expected;
    let squares: f64 = tallies.iter().map(|one| (one.wrong as f64 - one.expected - sum / count).powi(2)).sum();
    let variance = all.variance.max(if count > 1.0 { count * squares / (count - 1.0) } else { 0.0 });
    (variance > 0.0 && all.expected >= ENOUGH).then(|| sum / variance.sqrt())
}

/// The share of strangers that are found.
pub(super) fn rate(tallies: &[Tally]) -> Estimate {
    let all = total(tallies);
    let independent = all.independent_rate();
    let value = all.wrong as f64 / all.strangers.max(1) as f64;
    let factor =
        margin([tallies], |one| one.strangers, |[others]| logarithm(others.wrong) - logarithm(others.strangers)).exp();
    Estimate { value, low: value / factor, high: (value * factor).min(1.0) }.joined(independent.low, independent.high)
}

/// The share of right ones among all that are found. Its interval is that of the wrong ones for each right one.
pub(super) fn precision(tallies: &[Tally]) -> Estimate {
    let all = total(tallies);
    let independent = all.independent_precision();
    if all.right == 0 {
        return independent.joined(0.0, Interval::exact(0, all.wrong.max(1), CONFIDENCE).high);
    }
    let odds = all.wrong as f64 / all.right as f64;
    let factor = margin([tallies], |one| one.right, |[others]| logarithm(others.wrong) - logarithm(others.right)).exp();
    independent.joined(1.0 / (1.0 + odds * factor), 1.0 / (1.0 + odds / factor))
}

/// By how much the precision of one is higher than that of another, as a share of the other's; both were asked the same in each
/// repetition. `None` where one has no right answer.
pub(super) fn gain(one: &[Tally], other: &[Tally]) -> Option<Estimate> {
    let [all, all_others] = [total(one), total(other)];
    if all.right == 0 || all_others.right == 0 {
        return None;
    }
    let precision = |counts: &Tally| logarithm(counts.right) - logarithm(counts.right + counts.wrong);
    let factor = margin([one, other], |one| one.right, |[one, other]| precision(one) - precision(other)).exp();
    let [mine, others] = [all, all_others].map(|all| all.independent_precision());
    let ratio = mine.value / others.value;
    // The interval of a ratio from those of its parts (Donner and Zou 2012), on the logarithm.
    let apart = |one: f64, other: f64| one.ln().hypot(other.ln()).exp();
    let low = ratio / apart(mine.value / mine.low, others.high / others.value);
    let high = ratio * apart(mine.high / mine.value, others.value / others.low);
    let joined = Estimate { value: ratio, low: ratio / factor, high: ratio * factor }.joined(low, high);
    Some(Estimate { value: joined.value - 1.0, low: joined.low - 1.0, high: joined.high - 1.0 })
}

/// Of a count that may be 0.
fn logarithm(count: u64) -> f64 {
    (count as f64 + 0.5).ln()
}

/// Half the width of the interval of a number that follows from all counts together: by how much it changes when one repetition
/// after the other is left out. 0 for a single repetition. Where one repetition weighs much more than others, there are in
/// effect fewer of them (Kish 1965): few hold the questions with most right answers.
fn margin<const SETS: usize>(
    sets: [&[Tally]; SETS],
    weight: impl Fn(&Tally) -> u64,
    of: impl Fn([&Tally; SETS]) -> f64,
) -> f64 {
    let all = sets.map(total);
    let repetitions = sets.iter().map(|set| set.len()).min().unwrap_or(0);
    let without = |left_out: usize| {
        let others: [Tally; SETS] = std::array::from_fn(|set| sets[set][left_out].others(&all[set]));
        of(others.each_ref())
    };
    let values: Vec<f64> = (0..repetitions).map(without).collect();
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    if repetitions < 2 {
        return 0.0;
    }
    let freedom = sets.map(|set| in_effect(set.iter().map(&weight)) - 1.0).into_iter().fold(f64::INFINITY, f64::min);
    let quantile = StudentsT::new(0.0, 1.0, freedom.max(1.0)).map(|t| t.inverse_cdf(f64::midpoint(1.0, CONFIDENCE)));
    quantile.map_or(f64::INFINITY, |quantile| quantile * ((count - 1.0) / count * squares).sqrt())
}

/// How many numbers of one size would say as much as these.
fn in_effect(weights: impl Iterator<Item = u64>) -> f64 {
    let (sum, squares) =
        weights.fold((0.0, 0.0), |(sum, squares), one| (sum + one as f64, squares + (one as f64).powi(2)));
    if squares > 0.0 { sum * sum / squares } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(wrong: u64, strangers: u64) -> Tally {
        Tally { strangers, wrong, right: 100, expected: 25.0, variance: 20.0, ..Tally::default() }
    }

    #[test]
    fn equal_repetitions_have_the_interval_of_independent_answers() {
        let tallies = [tally(25, 1_000); 10];
        let exact = Interval::exact(250, 10_000, CONFIDENCE);
        assert_eq!(rate(&tallies), Estimate { value: 0.025, low: exact.low, high: exact.high });
        let Estimate { value, low, high } = precision(&tallies);
        assert!((value - 0.8).abs() < 1e-12 && low < 0.8 && high > 0.8 && high - low < 0.06, "{low} {high}");
        assert_eq!(deviation(&tallies), Some(0.0));
        let gain = gain(&tallies, &[tally(100, 1_000); 10]).unwrap();
        assert!((gain.value - 0.6).abs() < 1e-12 && gain.low > 0.5 && gain.high < 0.7, "{gain:?}");
    }

    #[test]
    fn repetitions_that_differ_widen_the_interval_as_student_says() {
        let tallies: Vec<Tally> = [5, 45, 25, 25, 10, 40].map(|wrong| tally(wrong, 1_000)).to_vec();
        // Standard deviation over mean is 0.632, and the quantile of 5 degrees of freedom 2.571; the jackknife adds a little.
        let margin = (rate(&tallies).high / 0.025).ln();
        assert!((margin / (2.571 * 0.632 / 6.0_f64.sqrt()) - 1.0).abs() < 0.05, "{margin}");
        let Estimate { low, high, .. } = precision(&tallies);
        assert!(low < 0.68 && high > 0.88, "{low} {high}");
        // Who errs twice as often in the same repetitions is compared with more certainty.
        let twice: Vec<Tally> = tallies.iter().map(|one| Tally { wrong: 2 * one.wrong, ..*one }).collect();
        let alone = gain(&tallies, &[tally(50, 1_000); 6]).unwrap();
        let together = gain(&tallies, &twice).unwrap();
        assert!(
            (together.value - alone.value).abs() < 1e-9
                && together.high - together.low < 0.8 * (alone.high - alone.low)
        );
        assert!(deviation(&[tally(25, 1_000), tally(65, 1_000)]).unwrap() < 1.1);
    }

    #[test]
    fn nothing_found_and_a_single_repetition_have_intervals() {
        let none = [tally(0, 1_000); 3];
        assert!(rate(&none).low == 0.0 && rate(&none).high > 1e-3);
        let gain_of_none = gain(&none, &none).unwrap();
        assert!(gain_of_none.value == 0.0 && gain_of_none.low < 0.0 && gain_of_none.high > 0.0, "{gain_of_none:?}");
        let one = [tally(25, 1_000)];
        assert!((rate(&one).high - Interval::exact(25, 1_000, CONFIDENCE).high).abs() < 1e-12);
        let nothing_right = [Tally { right: 0, ..tally(9, 100) }; 2];
        assert!(precision(&nothing_right).value == 0.0 && precision(&nothing_right).high > 0.1);
        assert_eq!(gain(&nothing_right, &none), None);
        assert_eq!(deviation(&[Tally { expected: 3.0, ..tally(9, 100) }; 2]), None);
        let nothing = [Tally::default(); 2];
        assert!(rate(&nothing).value == 0.0 && precision(&nothing).high <= 1.0);
    }
}
