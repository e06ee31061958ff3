//! [`Span`]: how fresh copies were, and how old, over a time between two looks at them.
//!
//! A copy is fresh from the look at which it was taken, or found good, until the page changes. Its age is 0 while it is fresh, and the time
//! since that change afterwards. A site's freshness is the mean, over its pages and over time, of 1 while a copy is fresh and 0 otherwise;
//! its age is the mean of the ages (J. Cho and H. Garcia-Molina, "Effective page refresh policies for web crawlers", ACM TODS 28 (2003),
//! section 2). Pages change as a Poisson process does (ibid., section 3).

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Below so many changes in an interval the differences of exponentials would be rounding errors.
const FEW: f64 = 1e-3;

/// Integrals over times between looks, of all pages together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Span {
    /// Seconds.
    pub seconds: f64,
    /// Those in which the copy was fresh.
    pub fresh: f64,
    /// The ages, in seconds times seconds.
    pub age: f64,
}

impl Span {
    /// A time at whose end the copy was found good.
    pub fn unchanged(seconds: f64) -> Self {
        Self { seconds, fresh: seconds, age: 0.0 }
    }

    /// What is expected of a time after a look, of a page that changes so often a second.
    ///
    /// With rate r and time I the copy is fresh for (1 - exp(-r I))/r seconds, and its age at t is t - (1 - exp(-r t))/r (ibid.,
    /// section 3.2).
    pub fn expected(rate: f64, seconds: f64) -> Self {
        let z = rate * seconds;
        if z < FEW {
            let (fresh, age) = (1.0 - z / 2.0 + z * z / 6.0, z / 6.0 - z * z / 24.0);
            return Self { seconds, fresh: seconds * fresh, age: seconds * seconds * age };
        }
        let fresh = -(-z).exp_m1() / rate;
        Self { seconds, fresh, age: seconds * seconds / 2.0 - (seconds - fresh) / rate }
    }

    /// The same where the page is known to have changed once or more: what is expected in all is that of both cases.
    pub fn changed(rate: f64, seconds: f64) -> Self {
        let z = rate * seconds;
        if z < FEW {
            let (fresh, age) = (0.5 - z / 12.0, 1.0 / 6.0 + z / 24.0);
            return Self { seconds, fresh: seconds * fresh, age: seconds * seconds * age };
        }
        let (all, some) = (Self::expected(rate, seconds), -(-z).exp_m1());
        Self { seconds, fresh: (all.fresh - seconds * (-z).exp()) / some, age: all.age / some }
    }

    /// The same where it is known to have changed last after so many seconds: the first change was then, or earlier.
    ///
    /// The changes before the last one are those of a Poisson process too. So the first is at the lesser of d, the time of the
    /// last, and a time with the density r exp(-r t): its mean is (1 - exp(-r d))/r, that of its square 2 (1 - exp(-r d) (1 + r
    /// d))/r^2.
    pub fn changed_last(rate: f64, seconds: f64, last: f64) -> Self {
        let z = rate * last;
        let (mean, square) = if z < FEW {
            (last * (1.0 - z / 2.0), last * last * (1.0 - 2.0 * z / 3.0))
        } else {
            let none = (-z).exp();
            ((1.0 - none) / rate, 2.0 * (1.0 - none * (1.0 + z)) / (rate * rate))
        };
        Self { seconds, fresh: mean, age: f64::midpoint(seconds * seconds - 2.0 * seconds * mean, square) }
    }

    /// So many of them.
    #[must_use]
    pub fn times(self, count: f64) -> Self {
        Self { seconds: self.seconds * count, fresh: self.fresh * count, age: self.age * count }
    }

    /// The share of the time in which copies were fresh, 0 to 1; `None` where there was no time.
    pub fn freshness(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| (self.fresh / self.seconds).clamp(0.0, 1.0))
    }

    /// The mean age in seconds, 0 while they were fresh; `None` where there was no time.
    pub fn mean_age(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| (self.age / self.seconds).max(0.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        self.seconds += other.seconds;
        self.fresh += other.fresh;
        self.age += other.age;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean span of copies whose page changes first after a time with this probability of more than t, up to `seconds`.
    fn integrated(seconds: f64, survives: impl Fn(f64) -> f64) -> Span {
        let steps = 100_000;
        let step = seconds / f64::from(steps);
        let mut span = Span { seconds, ..Span::default() };
        for number in 0..steps {
            let t = (f64::from(number) + 0.5) * step;
            span.fresh += survives(t) * step;
            // The age is T - t on the average over all first changes before T.
            span.age += (1.0 - survives(t)) * (seconds - t) * step;
        }
        span
    }

    fn assert_near(found: Span, expected: Span, what: &str) {
        for (found, expected) in [(found.fresh, expected.fresh), (found.age, expected.age)] {
            assert!((found - expected).abs() < 1e-4 * expected.abs().max(1e-3), "{what}: {found} {expected}");
        }
    }

    #[test]
    fn each_is_what_integration_says() {
        for (rate, seconds) in [(1e-5, 20.0), (4.9e-5, 20.0), (5.1e-5, 20.0), (0.01, 50.0), (0.5, 3.0), (3.0, 20.0)] {
            let all = |t: f64| (-rate * t).exp();
            assert_near(Span::expected(rate, seconds), integrated(seconds, all), &format!("{rate} expected"));
            let none = all(seconds);
            let some = integrated(seconds, |t| (all(t) - none) / (1.0 - none));
            assert_near(Span::changed(rate, seconds), some, &format!("{rate} changed"));
            let last = 0.7 * seconds;
            let before = integrated(seconds, |t| if t < last { all(t) } else { 0.0 });
            assert_near(Span::changed_last(rate, seconds, last), before, &format!("{rate} changed last"));
        }
    }

    #[test]
    fn both_cases_are_the_whole() {
        for z in [1e-4_f64, 0.3, 5.0] {
            let (rate, seconds) = (z / 60.0, 60.0);
            let mut sum = Span::unchanged(seconds).times((-z).exp());
            sum += Span::changed(rate, seconds).times(1.0 - (-z).exp());
            assert_near(sum, Span::expected(rate, seconds), "both");
        }
    }
}
