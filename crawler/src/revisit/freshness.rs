//! How much a visit adds to freshness, and after which interval it adds as much as it must.
//!
//! A page whose copy is still good after a time u with probability S(u), visited every I seconds, is fresh for the share
//! F = 1/I times the integral of S from 0 to I. With f = 1/I visits a second, dF/df is that integral less I S(I). At the
//! greatest total freshness dF/df is the same for all pages (J. Cho and H. Garcia-Molina, "Effective page refresh policies
//! for web crawlers", ACM TODS 28 (2003), section 5).
//!
//! For a Poisson page of rate r, S(u) = exp(-r u). Real pages change in bursts, and their rates are never quite known and
//! do not stay: the mean of exp(-r u) over rates with a gamma distribution of shape a and mean r is S(u) = (1 + r u/a)^-a,
//! the survival function of Lomax. Both give dF/df = g(r I)/r. With an a below 1 g grows without bound, so no page is
//! given up for ever, and still a page that changes too fast is visited the less often the faster it changes.

use std::sync::LazyLock;

/// The shape a of the distribution of rates. Measured on the traces of two real sites: larger ones give up pages that
/// would still be worth a visit, smaller ones take all pages for equal.
const SHAPE: f64 = 0.4;

/// Logarithms of the least and the greatest r I in the table of [`INTERVALS`].
const RANGE: [f64; 2] = [-12.0, 28.0];

/// Entries of the table.
const ENTRIES: u16 = 1024;

/// The logarithms of r I and g(r I).
static INTERVALS: LazyLock<Vec<[f64; 2]>> = LazyLock::new(|| {
    let step = (RANGE[1] - RANGE[0]) / f64::from(ENTRIES);
    let points = (0..=ENTRIES).map(|entry| RANGE[0] + f64::from(entry) * step);
    points.map(|point| [point, gain(point.exp()).ln()]).collect()
});

/// g(z): what a visit after z mean times between changes adds, in mean times between changes.
fn gain(z: f64) -> f64 {
    let growth = (z / SHAPE).ln_1p();
    let whole = SHAPE / (1.0 - SHAPE) * ((1.0 - SHAPE) * growth).exp_m1();
    // Where z is small the difference of both would be rounding errors: its series begins with z^2 (1 + a)/2a - ....
    let series = z * z / 2.0;
    if z < 1e-4 { series } else { whole - z * (-SHAPE * growth).exp() }
}

/// The interval in seconds after which a visit of a page with this rate adds `gain` seconds of freshness.
pub(super) fn interval(rate: f64, gain: f64) -> f64 {
    let wanted = (gain * rate).ln();
    let table = &*INTERVALS;
    if wanted < table[0][1] {
        // Below the table g(z) is z^2/2.
        return (2.0 * gain * rate).sqrt() / rate;
    }
    let place = table.partition_point(|entry| entry[1] < wanted).clamp(1, table.len() - 1);
    let [from, to] = [table[place - 1], table[place]];
    let share = ((wanted - from[1]) / (to[1] - from[1])).clamp(0.0, 1.0);
    (from[0] + share * (to[0] - from[0])).exp() / rate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_gives_the_gain_that_it_was_asked_for() {
        for z in [1e-7, 1e-3, 0.1, 1.0, 30.0, 1e4] {
            let rate = 1e-5;
            let found = interval(rate, gain(z) / rate);
            assert!((found * rate / z - 1.0).abs() < 0.01, "{z}: {found}");
        }
        assert!((gain(1.01e-4) / gain(0.99e-4) - 1.04).abs() < 0.01, "no step where the series ends");
    }

    #[test]
    fn the_gain_is_that_of_the_integral() {
        let survival = |u: f64| (1.0 + u / SHAPE).powf(-SHAPE);
        for z in [0.2, 3.0, 40.0] {
            let steps = 200_000;
            let sum: f64 = (0..steps).map(|step| survival((f64::from(step) + 0.5) * z / f64::from(steps))).sum();
            let expected = sum * z / f64::from(steps) - z * survival(z);
            assert!((gain(z) - expected).abs() < 1e-6 * expected.max(1.0), "{z}");
        }
    }

    #[test]
    fn what_changes_too_fast_is_visited_less() {
        let intervals = [1e-7, 1e-5, 1e-3].map(|rate| interval(rate, 1e5));
        assert!(intervals[0] > intervals[1] && intervals[2] > intervals[1], "{intervals:?}");
    }
}
