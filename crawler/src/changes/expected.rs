//! [`expected_changes`]: how often a page is likely to have changed, from when it did.

use crate::time::Moment;

/// Changes by which a page is known to change often, at least: of fewer nothing follows.
const FEWEST: usize = 2;

/// How many changes of a page are to be expected between the last look at it and now, 1 at most, from when it was seen to
/// change (`past`, in any order): as many a second as followed the first of these, up to the last look.
///
/// ```
/// use webloom::{changes::expected_changes, time::Moment};
/// let days = |day: u64| Moment::from_millis(day * 86_400_000);
/// let daily = [days(1), days(2), days(3)];
/// assert_eq!(expected_changes(&daily, days(3), days(4)), 1.0);
/// assert_eq!(expected_changes(&daily, days(21), days(22)), 0.1);
/// ```
pub fn expected_changes(past: &[Moment], last: Moment, now: Moment) -> f64 {
    let Some(first) = past.iter().min().filter(|_| past.len() >= FEWEST) else { return 0.0 };
    let watched = last.since(*first).as_secs_f64();
    let changes = (past.len() - 1) as f64;
    if watched > 0.0 { (changes / watched * now.since(last).as_secs_f64()).min(1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_follows_from_few_changes() {
        let at = Moment::from_millis;
        let percent = |past: &[u64], last, now| {
            let past: Vec<_> = past.iter().copied().map(at).collect();
            format!("{:.0}", 100.0 * expected_changes(&past, at(last), at(now)))
        };
        assert_eq!(
            (percent(&[], 5, 6), percent(&[4], 5, 6), percent(&[5, 5], 5, 6)),
            ("0".into(), "0".into(), "0".into())
        );
        assert_eq!((percent(&[4, 5], 5, 6), percent(&[5, 1, 3], 5, 6)), ("100".into(), "50".into()));
        assert_eq!((percent(&[1, 5], 5, 9), percent(&[1, 5], 5, 99)), ("100".into(), "100".into()));
    }
}
