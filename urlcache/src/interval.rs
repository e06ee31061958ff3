//! [`Interval`]: where a rate lies, by hits in trials.
//!
//! Owns: the exact interval of Clopper and Pearson ("The use of confidence or fiducial limits illustrated in the case of
//! the binomial", Biometrika 26, 1934), and the regularised incomplete beta function it needs. Does not know what is
//! tried.

/// A range that covers the true rate with at least the confidence asked for, whatever the rate is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The least rate, 0 to 1.
    pub low: f64,
    /// The greatest rate, 0 to 1.
    pub high: f64,
}

impl Interval {
    /// The interval of Clopper and Pearson for `hits` in `trials` at a `confidence` between 0 and 1; from 0 to 1 when
    /// there were no trials. More hits than trials count as all.
    ///
    /// ```
    /// use urlcache::Interval;
    ///
    /// let interval = Interval::exact(0, 10_352, 0.95);
    /// assert_eq!(interval.low, 0.0);
    /// assert!((interval.high - 0.000_356).abs() < 1e-6);
    /// ```
    pub fn exact(hits: u64, trials: u64, confidence: f64) -> Self {
        let (hits, tail) = (hits.min(trials) as f64, (1.0 - confidence) / 2.0);
        let misses = trials as f64 - hits;
        Self {
            low: if hits > 0.0 { quantile(tail, hits, misses + 1.0) } else { 0.0 },
            high: if misses > 0.0 { quantile(1.0 - tail, hits + 1.0, misses) } else { 1.0 },
        }
    }
}

/// The x at which the regularised incomplete beta function `I_x(a, b)` is `share`: bisected to the last bit.
fn quantile(share: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return middle;
        }
        if incomplete_beta(middle, a, b) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// The regularised incomplete beta function `I_x(a, b)`, for a and b above 0 and x between 0 and 1: the continued
/// fraction of DLMF 8.17.22, which converges fast below (a+1)/(a+b+2); above it by `I_x(a, b) = 1 - I_(1-x)(b, a)`.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front = a * x.ln() + b * (-x).ln_1p() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
    front.exp() / (a * continued_fraction(x, a, b))
}

/// `1 + d1/(1 + d2/(1 + ...))` with the d of DLMF 8.17.23, by the modified method of Lentz (Thompson and Barnett,
/// "Coulomb and Bessel functions of complex arguments and order", 1986).
fn continued_fraction(x: f64, a: f64, b: f64) -> f64 {
    const NEVER_ZERO: f64 = 1e-300;
    let away = |value: f64| if value.abs() < NEVER_ZERO { NEVER_ZERO } else { value };
    let mut fraction = 1.0;
    let mut numerator = 1.0;
    let mut denominator = 0.0;
    // It takes some sqrt(max(a, b)) turns.
    for turn in 1..1_000_000_u32 {
        let half = f64::from(turn / 2);
        let term = if turn % 2 == 0 {
            half * (b - half) * x / ((a + 2.0 * half - 1.0) * (a + 2.0 * half))
        } else {
            -(a + half) * (a + b + half) * x / ((a + 2.0 * half) * (a + 2.0 * half + 1.0))
        };
        denominator = 1.0 / away(1.0 + term * denominator);
        numerator = away(1.0 + term / numerator);
        let factor = numerator * denominator;
        fraction *= factor;
        if (factor - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

/// The logarithm of the gamma function for z above 0: the series of Lanczos (1964) with g = 7 and nine terms, as computed
/// by P. Godfrey; relative error below 1e-14.
fn ln_gamma(z: f64) -> f64 {
    const SERIES: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let z = z - 1.0;
    let terms = (1_u32..).zip(SERIES).map(|(place, term)| term / (z + f64::from(place)));
    let sum = 0.999_999_999_999_809_9 + terms.sum::<f64>();
    let t = z + 7.5;
    0.5 * std::f64::consts::TAU.ln() + (z + 0.5) * t.ln() - t + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64, tolerance: f64) {
        assert!((one - other).abs() <= tolerance, "{one} is not {other}");
    }

    #[test]
    fn ln_gamma_of_whole_and_half_numbers() {
        let mut factorial: f64 = 1.0;
        for n in 1..20_u32 {
            near(ln_gamma(f64::from(n)), factorial.ln(), 1e-12);
            factorial *= f64::from(n);
        }
        near(ln_gamma(0.5), std::f64::consts::PI.sqrt().ln(), 1e-13);
        // Stirling's series, for the sizes of an audit.
        let z: f64 = 65_536.0;
        near(ln_gamma(z), (z - 0.5) * z.ln() - z + 0.5 * std::f64::consts::TAU.ln() + 1.0 / (12.0 * z), 1e-8);
    }

    #[test]
    fn incomplete_beta_is_the_binomial_sum() {
        // I_p(k, n-k+1) is the probability of k or more hits in n trials.
        let (n, p) = (12_i32, 0.3_f64);
        let choose = |k: i32| (0..k).fold(1.0, |product, i| product * f64::from(n - i) / f64::from(i + 1));
        for k in 1..=n {
            let tail: f64 = (k..=n).map(|hits| choose(hits) * p.powi(hits) * (1.0 - p).powi(n - hits)).sum();
            near(incomplete_beta(p, f64::from(k), f64::from(n - k + 1)), tail, 1e-13);
        }
    }

    /// Published limits: those of 4 in 20 and 10 in 20 are in most textbooks' tables; 81 in 263, 15 in 148, 0 in 20
    /// and 1 in 29 are the examples of Newcombe, "Two-sided confidence intervals for the single proportion", Statistics
    /// in Medicine 17 (1998), table I, method 5.
    #[test]
    fn limits_are_those_of_the_tables() {
        for (hits, trials, low, high) in [
            (4, 20, 0.0573, 0.4366),
            (10, 20, 0.2720, 0.7280),
            (81, 263, 0.2527, 0.3676),
            (15, 148, 0.0578, 0.1617),
            (0, 20, 0.0, 0.1684),
            (1, 29, 0.0009, 0.1776),
        ] {
            let interval = Interval::exact(hits, trials, 0.95);
            near(interval.low, low, 5.1e-5);
            near(interval.high, high, 5.1e-5);
        }
    }

    #[test]
    fn the_edges_have_closed_forms() {
        for trials in [1_u64, 7, 65_536, 100_000_000] {
            let none = Interval::exact(0, trials, 0.95);
            let expected = -(0.025_f64.ln() / trials as f64).exp_m1();
            near(none.high / expected, 1.0, 1e-6);
            let all = Interval::exact(trials, trials, 0.95);
            near((1.0 - all.low) / expected, 1.0, 1e-6);
            assert_eq!((none.low, all.high), (0.0, 1.0));
        }
        assert_eq!(Interval::exact(0, 0, 0.95), Interval { low: 0.0, high: 1.0 });
    }

    #[test]
    fn the_limits_leave_out_just_the_tails() {
        for (hits, trials) in [(20_u64, 65_536_u64), (3, 1_000_000), (30_000, 60_000)] {
            let Interval { low, high } = Interval::exact(hits, trials, 0.99);
            let (k, n) = (hits as f64, trials as f64);
            near(incomplete_beta(low, k, n - k + 1.0), 0.005, 1e-9);
            near(1.0 - incomplete_beta(high, k + 1.0, n - k), 0.005, 1e-9);
        }
    }
}
