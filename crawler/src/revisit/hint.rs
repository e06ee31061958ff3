//! [`Hint`]: how long a page is expected to stay unchanged, by its headers.

/// How much a hint counts beside the section's rate before the first visit after the copy: half, and the less the more
/// visits there were.
const SHARE: f64 = 0.5;

/// A hint is taken for so many times the section's rate at most, and for one in so many at least.
const FARTHEST: f64 = 1000.0;

/// For so many seconds a server expects a page to stay as it is; above 0.
///
/// It moves the rate that a page is expected to have before its own visits tell more: by the geometric mean of the section's
/// rate and the hint's before the first visit, by a quarter of the way (in logarithms) after one, an eighth after three. What is
/// expected weighs half a change ([`PageState::rate_in`](super::PageState::rate_in)): so a hint that is wrong is overruled as
/// soon as a few visits saw something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hint(u32);

impl Hint {
    /// So many seconds; 0 says that the server does not know.
    pub fn of_seconds(seconds: u32) -> Option<Self> {
        (seconds > 0).then_some(Self(seconds))
    }

    /// The rate to be expected of a page, where those of its section have this one and it was visited so often.
    pub(super) fn rate(self, section: f64, visits: f64) -> f64 {
        let ratio = (1.0 / (f64::from(self.0) * section)).clamp(1.0 / FARTHEST, FARTHEST);
        section * ratio.powf(SHARE / (1.0 + visits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revisit::PageState;

    const DAY: f64 = 86_400.0;

    #[test]
    fn a_hint_counts_as_much_as_the_section_and_less_with_each_visit() {
        assert_eq!(Hint::of_seconds(0), None);
        let hourly = Hint::of_seconds(3600).unwrap();
        let section = 1.0 / (100.0 * 3600.0);
        let times = [0.0, 1.0, 3.0].map(|visits| hourly.rate(section, visits) / section);
        for (found, expected) in times.iter().zip([10.0, 10_f64.sqrt(), 10_f64.powf(0.25)]) {
            assert!((found / expected - 1.0).abs() < 1e-9, "{times:?}");
        }
        let extremes = [1, u32::MAX].map(|seconds| Hint::of_seconds(seconds).unwrap().rate(section, 0.0) / section);
        let farthest = [FARTHEST, 1.0 / FARTHEST].map(f64::sqrt);
        assert!(extremes.iter().zip(farthest).all(|(one, most)| (one / most - 1.0).abs() < 1e-9), "{extremes:?}");
    }

    #[test]
    fn a_lying_hint_is_overruled_by_visits() {
        let days = |count: u8| f32::from(count) * 86_400.0;
        let section = 1.0 / (30.0 * DAY);
        // It is said to change every minute, and has not for ten days; and to stay for ten years, and changes every day.
        let quiet = PageState { visits: 10.0, without_change: days(10), ..PageState::default() };
        let restless = PageState { visits: 10.0, changes: 10.0, with_change: days(10), ..PageState::default() };
        for (page, said) in [(quiet, 60), (restless, 315_360_000)] {
            let hint = Hint::of_seconds(said).unwrap();
            let [with, without] = [hint.rate(section, 10.0), section].map(|prior| page.rate_in(prior) * DAY);
            assert!((with / without).ln().abs() < 0.3, "{with} {without}");
        }
    }
}
