//! [`Budget`]: how many visits there may be in a span of time.

use std::str::FromStr;

use thiserror::Error;

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// The most visits a day that a budget may allow: more than one machine fetches, and still replayed in hours.
const MOST_A_DAY: f64 = 1e9;

/// Visits in a time, shared by all pages.
///
/// ```
/// use webloom::internals::revisit::Budget;
/// let budget: Budget = "48/day".parse()?;
/// assert_eq!(budget, "2/hour".parse()?);
/// assert!((budget.pause() - 1800.0).abs() < 1e-9);
/// # Ok::<(), webloom::internals::revisit::BadBudget>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    per_second: f64,
}

/// A text that is no budget.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
#[error("`{0}` is not a budget of visits: give a number above 0 and at most 10^9 a day, such as 200/day or 5/hour")]
pub struct BadBudget(String);

impl Budget {
    /// So many visits a day; `None` unless it is above 0 and at most 10^9.
    pub fn per_day(visits: f64) -> Option<Self> {
        (visits > 0.0 && visits <= MOST_A_DAY).then_some(Self { per_second: visits / DAY })
    }

    /// Visits a second.
    pub fn per_second(self) -> f64 {
        self.per_second
    }

    /// Seconds from one visit to the next.
    pub fn pause(self) -> f64 {
        1.0 / self.per_second
    }

    /// The share of this budget; `share` lies in 0 to 1, and 0 is taken for very little.
    pub(super) fn times(self, share: f64) -> Self {
        Self { per_second: self.per_second * share.clamp(1e-6, 1.0) }
    }
}

impl FromStr for Budget {
    type Err = BadBudget;

    fn from_str(text: &str) -> Result<Self, BadBudget> {
        let bad = || BadBudget(text.to_owned());
        let (number, unit) = text.split_once('/').ok_or_else(bad)?;
        let times = match unit {
            "day" => 1.0,
            "hour" => 24.0,
            _ => return Err(bad()),
        };
        let number: f64 = number.parse().map_err(|_| bad())?;
        Self::per_day(number * times).ok_or_else(bad)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_budget_is_refused() {
        for text in
            ["", "5", "5/week", "0/day", "-1/day", "inf/day", "nan/day", "x/day", "/day", "1e12/day", "5/day/day"]
        {
            assert_eq!(text.parse::<Budget>(), Err(BadBudget(text.to_owned())), "{text}");
        }
        assert_eq!("0.5/day".parse(), Ok(Budget::per_day(0.5).unwrap()));
    }
}
