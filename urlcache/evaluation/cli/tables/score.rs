//! [`Score`]: how far a count is from its expectation, and a table of counts from its theory.
//!
//! Owns deviations in standard errors, their intervals and the chi-square test. Where less than [`MANY`] hits are to be
//! expected, a count has no normal distribution: there a deviation is the normal quantile of the count's Poisson tail, half
//! of the count's own probability included, and the interval is exact. It knows no table.

use statrs::distribution::{ChiSquared, ContinuousCDF, Discrete, DiscreteCDF, Normal, Poisson};
use urlcache::Interval;

/// Expected hits from which a count is as good as normal.
pub(crate) const MANY: f64 = 1_000.0;

/// The rate above which hits are not rare enough for Poisson's law.
const RARE: f64 = 0.01;

/// Expected hits below which counts of a table are added up before they are tested.
const FEW: f64 = 25.0;

/// Of the intervals.
const CONFIDENCE: f64 = 0.95;

/// Normal quantile of that confidence.
const QUANTILE: f64 = 1.959_964;

/// Hits that were counted, and what theory says about them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Score {
    /// Counted.
    pub(crate) hits: f64,
    /// What was tried.
    pub(crate) trials: f64,
    /// The expected share of hits.
    pub(crate) rate: f64,
    /// The standard error of the measured share.
    pub(crate) error: f64,
}

/// Whether a table of counts fits its theory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fit {
    /// The sum of the squared deviations.
    pub(crate) chi_square: f64,
    /// How many there were.
    pub(crate) degrees: u32,
    /// The probability of a sum as large or larger, if the theory is right.
    pub(crate) p_value: f64,
}

impl Score {
    /// Expected hits.
    pub(crate) fn expected(&self) -> f64 {
        self.rate * self.trials
    }

    fn is_rare(&self) -> bool {
        self.expected() < MANY && self.rate < RARE
    }

    /// Counted minus expected, in standard errors.
    pub(crate) fn deviation(&self) -> f64 {
        if self.is_rare() {
            poisson_deviation(self.hits, self.expected())
        } else {
            (self.hits / self.trials - self.rate) / self.error
        }
    }

    /// Where the true rate lies, in 95 of 100 such measurements.
    pub(crate) fn interval(&self) -> Interval {
        if self.is_rare() {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "both are counts")]
            return Interval::exact(self.hits as u64, self.trials as u64, CONFIDENCE);
        }
        let (measured, half) = (self.hits / self.trials, QUANTILE * self.error);
        Interval { low: (measured - half).max(0.0), high: (measured + half).min(1.0) }
    }

    /// The chi-square test of independent counts. Those of few expected hits are added up; nothing is said of less than
    /// five of them.
    pub(crate) fn fit(scores: &[Self]) -> Option<Fit> {
        let (many, few): (Vec<&Self>, Vec<&Self>) = scores.iter().partition(|score| score.expected() >= FEW);
        let mut squares: Vec<f64> = many.iter().map(|score| score.deviation().powi(2)).collect();
        let sum = |part: fn(&Self) -> f64| few.iter().map(|score| part(score)).sum::<f64>();
        let expected = sum(Self::expected);
        if expected >= 5.0 {
            squares.push(poisson_deviation(sum(|score| score.hits), expected).powi(2));
        }
        let degrees = u32::try_from(squares.len()).ok()?;
        let chi_square = squares.iter().sum();
        let p_value = ChiSquared::new(degrees.into()).ok()?.sf(chi_square);
        Some(Fit { chi_square, degrees, p_value })
    }
}

/// The normal quantile of a Poisson count.
fn poisson_deviation(hits: f64, expected: f64) -> f64 {
    let Ok(law) = Poisson::new(expected) else { return 0.0 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "hits are a count")]
    let count = hits.max(0.0) as u64;
    let half = law.pmf(count) / 2.0;
    let (below, above) = (law.cdf(count) - half, law.sf(count) + half);
    let tail = below.min(above).max(f64::MIN_POSITIVE);
    let quantile = Normal::standard().inverse_cdf(tail);
    if below < above { quantile } else { -quantile }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(hits: f64, rate: f64) -> Score {
        let trials = 1e8;
        Score { hits, trials, rate, error: (rate * (1.0 - rate) / trials).sqrt() }
    }

    #[test]
    fn many_hits_deviate_by_their_standard_error() {
        assert!((score(1_002_000.0, 0.01).deviation() - 2.01).abs() < 0.01);
        let interval = score(1_000_000.0, 0.01).interval();
        assert!((interval.high - 0.01 - 1.95e-5).abs() < 1e-7 && (0.01 - interval.low - 1.95e-5).abs() < 1e-7);
    }

    #[test]
    fn both_ways_to_count_meet() {
        let (below, above) = (score(1_080.0, 0.999e-5), score(1_080.0, 1.001e-5));
        assert!(below.is_rare() && !above.is_rare());
        assert!((below.deviation() - above.deviation()).abs() < 0.12, "{} {}", below.deviation(), above.deviation());
    }

    /// One hit where a thousandth is to be expected: a tail of some 0.0005.
    #[test]
    fn few_hits_deviate_as_their_probability_says() {
        assert!((score(1.0, 1e-11).deviation() - 3.29).abs() < 0.01, "{}", score(1.0, 1e-11).deviation());
        assert!(score(0.0, 1e-11).deviation().abs() < 0.01);
        assert!((score(0.0, 3e-8).deviation() + 1.96).abs() < 0.01, "{}", score(0.0, 3e-8).deviation());
        assert!((score(5.0, 5e-8).deviation()).abs() < 0.2);
        assert!(score(0.0, 3e-8).interval().low <= 0.0);
        assert!(score(1e6, 1e-9).deviation().is_finite() && score(0.0, 0.0).deviation().abs() < 1e-9);
    }

    #[test]
    fn a_table_that_fits_has_a_middling_p_value_and_one_that_does_not_has_none() {
        let shifted = |by: f64| [0.1, 0.02, 0.005].map(|rate: f64| score(rate * 1e8 + by * (rate * 1e8).sqrt(), rate));
        let fit = Score::fit(&shifted(1.0)).unwrap();
        assert!(fit.degrees == 3 && (0.3..0.7).contains(&fit.p_value), "{fit:?}");
        assert!(Score::fit(&shifted(6.0)).unwrap().p_value < 1e-9);
        let rare = [score(8.0, 6e-8), score(3.0, 4e-8)];
        assert_eq!(Score::fit(&rare).unwrap().degrees, 1);
        assert_eq!(Score::fit(&rare[..0]), None);
    }
}
