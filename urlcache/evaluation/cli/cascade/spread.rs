//! [`Spread`]: what repeated measurements of one thing come to.
//!
//! Invariant: low <= median <= high; with one measurement all three are the same. Does not know what was measured.

use anyhow::{Context, Result};

/// The middle one, and the least and the most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Spread {
    /// Of some measurements; the median of an even number of them is the mean of the middle two.
    ///
    /// # Errors
    /// There are none.
    pub(super) fn of(values: impl IntoIterator<Item = f64>) -> Result<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let (low, high) = values.first().copied().zip(values.last().copied()).context("no measurement")?;
        let middle = values.len() / 2;
        let median = if values.len().is_multiple_of(2) {
            f64::midpoint(values[middle - 1], values[middle])
        } else {
            values[middle]
        };
        Ok(Self { median, low, high })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_the_ends() {
        for (values, [median, low, high]) in [
            (&[7.0][..], [7.0, 7.0, 7.0]),
            (&[3.0, 1.0], [2.0, 1.0, 3.0]),
            (&[5.0, 1.0, 2.0], [2.0, 1.0, 5.0]),
            (&[4.0, 9.0, 1.0, 2.0], [3.0, 1.0, 9.0]),
        ] {
            assert_eq!(Spread::of(values.iter().copied()).unwrap(), Spread { median, low, high });
        }
        assert!(Spread::of([]).is_err());
    }
}
