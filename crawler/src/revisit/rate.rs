//! How often a page changes, estimated from visits at irregular intervals.

use super::PageState;

/// How much of a section's rate a page of its own evidence is given: a prior of so many changes.
const PRIOR_CHANGES: f64 = 0.5;

impl PageState {
    /// Changes a second by the bias-corrected estimator; `None` before the first visit.
    ///
    /// J. Cho and H. Garcia-Molina, "Estimating frequency of change", ACM TOIT 3 (2003), section 4.2: -log((n - X +
    /// 0.5)/(n + 0.5)) for each interval, of n visits of which X saw a change. Here intervals may differ: with C seconds
    /// before visits that saw a change, Q before the others and h = (C + Q)/2n, half a mean interval, it is X/C log((C +
    /// Q + h)/(Q + h)). Where all intervals are equal that is their formula.
    pub fn rate(&self) -> Option<f64> {
        bias_corrected(
            [self.visits, self.changes].map(f64::from),
            [self.with_change, self.without_change].map(f64::from),
        )
    }

    /// Changes a second, where those of its section are `prior` (above 0); that is also the answer before the first visit.
    ///
    /// The mode of the likelihood of all visits, those with a change being taken to have followed equal intervals, under a
    /// prior as of half a change in 1/(2 `prior`) seconds: the half visit of [`Self::rate`]'s correction, put into the
    /// section's time. With C seconds before X visits that saw a change, and Q before others, it is the root of
    /// C/(exp(r C/X) - 1) + 0.5/r = Q + 0.5/prior, which falls in r.
    pub fn rate_in(&self, prior: f64) -> f64 {
        let changes = f64::from(self.changes);
        let [with, without] = [self.with_change, self.without_change].map(f64::from);
        let interval = if changes > 0.0 { with / changes } else { 0.0 };
        let seen = |rate: f64| if changes > 0.0 { with / (rate * interval).exp_m1() } else { 0.0 };
        let quiet = without + PRIOR_CHANGES / prior;
        if changes <= 0.0 {
            return PRIOR_CHANGES / quiet;
        }
        // The root is above that for no change seen, and below that for all changes at the ends of their intervals
        // and no prior time but the shorter of both.
        let mut low = (PRIOR_CHANGES / (quiet + with)).ln();
        let mut high = 3.0;
        for _ in 0..30 {
            let middle = f64::midpoint(low, high);
            let rate = middle.exp();
            if seen(rate) + PRIOR_CHANGES / rate > quiet { low = middle } else { high = middle }
        }
        f64::midpoint(low, high).exp()
    }
}

/// Changes a second by the estimator of [`PageState::rate`], of so many visits and changes, and the seconds before visits that saw a
/// change and before the others.
pub(super) fn bias_corrected([visits, changes]: [f64; 2], [with, without]: [f64; 2]) -> Option<f64> {
    if visits <= 0.0 {
        return None;
    }
    let half = (with + without) / visits / 2.0;
    Some(if changes > 0.0 { changes / with * (with / (without + half)).ln_1p() } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A page of `visits` at equal intervals of a day, `changes` of which saw a change.
    fn daily(visits: u8, changes: u8) -> PageState {
        let days = |count: u8| f32::from(count) * 86_400.0;
        PageState {
            visits: f32::from(visits),
            changes: f32::from(changes),
            with_change: days(changes),
            without_change: days(visits - changes),
            ..PageState::default()
        }
    }

    #[test]
    fn known_values() {
        assert_eq!(PageState::default().rate(), None);
        for (visits, changes) in [(10, 0), (10, 3), (10, 10), (1, 1), (50, 49)] {
            let [n, x] = [visits, changes].map(f64::from);
            let theirs = -((n - x + 0.5) / (n + 0.5)).ln();
            let ours = daily(visits, changes).rate().unwrap() * 86_400.0;
            assert!((ours - theirs).abs() < 1e-6, "{visits} {changes}: {ours} {theirs}");
        }
        assert!((PageState::default().rate_in(0.25) - 0.25).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn a_section_draws_a_page_towards_itself(visits in 1..200_u8, share in 0.0..1.0_f64, prior in 1e-9..1e-4_f64) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a u8")]
            let page = daily(visits, (f64::from(visits) * share) as u8);
            let rates = [prior / 2.0, prior, prior * 2.0].map(|prior| page.rate_in(prior));
            prop_assert!(rates[0] <= rates[1] && rates[1] <= rates[2] && rates[0] > 0.0, "{rates:?}");
        }

        #[test]
        fn much_evidence_outweighs_the_section(changes in 40..160_u8, prior in 1e-6..1e-4_f64) {
            let page = daily(200, changes);
            let ratio = page.rate_in(prior) / page.rate().unwrap();
            prop_assert!((0.85..1.15).contains(&ratio), "{ratio}");
        }
    }
}
