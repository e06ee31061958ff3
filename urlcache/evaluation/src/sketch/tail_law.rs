//! [`TailLaw`]: what the medians of means of Flajolet and Martin's estimates are, by their exact distribution.
//!
//! For n different keys the greatest tail length R of one hash function is at most r with probability
//! (1 - 2^-(r+1))^n. That fixes everything else: the distribution of the mean of a group of 2^R is a convolution, and the
//! median of an odd number t of groups is at most x with the probability that more than half of t groups are, each with
//! probability F(x).
//!
//! The mean of a single 2^R is infinite (its value doubles while its probability halves). So is that of a group. The
//! median of t groups falls off like x^-((t+1)/2): it has a mean from t = 3 on and a standard deviation from t = 5 on.
//!
//! Does not know sketches or keys.

use urlcache::sketch::Theory;

/// Values above this multiple of the number of keys are counted as equal to it. The median of 5 groups is above it with a
/// probability below 1e-3, the median of 15 groups with one below 1e-5.
const HIGHEST: f64 = 24.0;

/// How far below log2(n) the tail lengths are distinguished: R is less than this with probability e^-32.
const DEPTH: u32 = 5;

/// Bits of a hash: no tail is longer.
const LONGEST: u32 = 63;

/// More keys than this have the same moments.
const MOST_KEYS: f64 = (1_u64 << 62) as f64;

/// Moments of the median of means divided by n.
#[derive(Debug, Clone, Copy)]
pub(super) struct TailLaw {
    mean: f64,
    deviation: f64,
    excess_kurtosis: f64,
}

impl TailLaw {
    /// For n different keys (at least one, at most 2^62), `groups` groups (an odd number) and `size` hash functions in each.
    pub(super) fn of(distinct: f64, groups: u32, size: u32) -> Self {
        let distinct = distinct.clamp(1.0, MOST_KEYS);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 62")]
        let lowest = (distinct.log2() as u32).saturating_sub(DEPTH);
        let unit = 2.0_f64.powi(lowest.cast_signed());
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 24 * 64 * 64")]
        let most = (f64::from(size) * HIGHEST * distinct / unit) as usize + 1;
        let sums = sums(&tails(distinct, lowest), size, most);
        let scale = unit / (f64::from(size) * distinct);
        let mut below = 0.0;
        let mut median_below = 0.0;
        let mut masses = Vec::with_capacity(sums.len());
        for (sum, probability) in sums.iter().enumerate() {
            below += probability;
            let next = if sum + 1 == sums.len() { 1.0 } else { at_least_half(groups, below.min(1.0)) };
            masses.push((sum as f64 * scale, next - median_below));
            median_below = next;
        }
        Self::of_masses(&masses)
    }

    fn of_masses(masses: &[(f64, f64)]) -> Self {
        let mean: f64 = masses.iter().map(|(value, mass)| value * mass).sum();
        let moment = |power| masses.iter().map(|(value, mass)| mass * (value - mean).powi(power)).sum::<f64>();
        let variance = moment(2);
        Self { mean, deviation: variance.sqrt(), excess_kurtosis: moment(4) / (variance * variance) - 3.0 }
    }

    /// By how much the median of means exceeds large n: the mean over a period of log2(n), within which it varies a little.
    pub(super) fn correction(groups: u32, size: u32) -> f64 {
        const PHASES: u32 = 8;
        let of = |phase: u32| Self::of(2.0_f64.powf(16.0 + f64::from(phase) / f64::from(PHASES)), groups, size).mean;
        (0..PHASES).map(of).sum::<f64>() / f64::from(PHASES)
    }

    /// Of the estimate that is the median of means divided by this correction.
    pub(super) fn corrected(&self, correction: f64) -> Theory {
        Theory {
            bias: self.mean / correction - 1.0,
            standard_error: self.deviation / correction,
            excess_kurtosis: self.excess_kurtosis,
        }
    }
}

/// The probabilities of R = lowest (or less), lowest + 1, and so on.
fn tails(distinct: f64, lowest: u32) -> Vec<f64> {
    let at_most = |tail: u32| (distinct * (-(0.5_f64.powi(tail.cast_signed() + 1))).ln_1p()).exp();
    let mut before = 0.0;
    let mut tails = Vec::new();
    for tail in lowest..=LONGEST {
        let now = if tail == LONGEST { 1.0 } else { at_most(tail) };
        tails.push(now - before);
        before = now;
    }
    tails
}

/// The distribution of the sum of `size` independent powers 2^0, 2^1, ... with these probabilities, up to `most`.
fn sums(tails: &[f64], size: u32, most: usize) -> Vec<f64> {
    let mut sums = vec![0.0; most + 1];
    sums[0] = 1.0;
    for _ in 0..size {
        let mut next = vec![0.0; most + 1];
        for (tail, probability) in tails.iter().enumerate().take_while(|(tail, _)| (1 << tail) <= most) {
            let value = 1 << tail;
            for (to, from) in next[value..].iter_mut().zip(&sums) {
                *to += probability * from;
            }
        }
        sums = next;
    }
    sums
}

/// The probability that more than half of an odd number of trials succeed.
fn at_least_half(trials: u32, probability: f64) -> f64 {
    let mut ways = 1.0;
    let mut sum = 0.0;
    for successes in 0..=trials {
        if successes > 0 {
            ways *= f64::from(trials - successes + 1) / f64::from(successes);
        }
        if 2 * successes > trials {
            let failures = (trials - successes).cast_signed();
            sum += ways * probability.powi(successes.cast_signed()) * (1.0 - probability).powi(failures);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_half_of_three_trials() {
        let p: f64 = 0.3;
        assert!((at_least_half(3, p) - (3.0 * p * p * 0.7 + p * p * p)).abs() < 1e-15);
        assert!((at_least_half(31, 0.5) - 0.5).abs() < 1e-12);
    }

    /// One key and one hash function a group: R is 0 with probability 1/2, 1 with 1/4, ...; the median of 5 is at most 1 if
    /// three of them are, with probability 1/2.
    #[test]
    fn of_one_key_it_is_the_median_of_coins() {
        let sums = sums(&tails(1.0, 0), 1, 8);
        let expected = [0.0, 0.5, 0.25, 0.0, 0.125, 0.0, 0.0, 0.0, 0.0625];
        assert!(sums.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-15), "{sums:?}");
    }

    #[test]
    fn what_is_taught_uncorrected_is_two_to_four_times_too_high() {
        for (groups, size, factor) in [(31, 4, 1.918), (9, 16, 3.040), (31, 1, 1.088)] {
            let found = TailLaw::correction(groups, size);
            assert!((found / factor - 1.0).abs() < 2e-3, "{groups} {size}: {found}");
        }
    }

    #[test]
    fn the_correction_holds_at_any_large_number() {
        let correction = TailLaw::correction(31, 4);
        for distinct in [100.0, 1e3, 1.5e3, 1e5, 3e7, 1e12] {
            let theory = TailLaw::of(distinct, 31, 4).corrected(correction);
            assert!(theory.bias.abs() < 3e-3, "{distinct}: {theory:?}");
            assert!((theory.standard_error / 0.2125 - 1.0).abs() < 0.02, "{distinct}: {theory:?}");
        }
        assert!((TailLaw::of(10.0, 31, 4).corrected(correction).bias - 0.021).abs() < 2e-3);
    }
}
