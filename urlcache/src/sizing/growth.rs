//! [`Growth`]: the series of slices of a filter that grows.

use super::{Plan, SizingError, check};
use crate::budget::LossBudget;
use crate::snapshot::{SnapshotError, SnapshotReader, named, number};
use crate::strategy::Layout;

/// Each slice has room for so many times the keys of the one before.
const FACTOR: u64 = 4;

/// Each slice has this part of the rate of the one before.
const TIGHTENING: f64 = 0.8;

/// How a filter grows. With the layout `fingerprint` it doubles in place, and the rate of the full table doubles each time.
/// With the others slice i has room for 4^i times the keys of the first, at `0.2 * 0.8^i` of the target rate, so the
/// rates of all slices sum to less than the target.
///
/// ```
/// use urlcache::{Growth, Layout, LossBudget};
///
/// let budget = LossBudget { max_lost_urls: None, max_false_positive_rate: Some(1e-3) };
/// let growth = Growth::new(Layout::Line, 1, 10_000, &budget)?;
/// let rates: f64 = (0..8).filter_map(|i| Some(growth.slice(i)?.rate_at(10_000 * 4_u64.pow(i)))).sum();
/// assert!(rates < 1e-3 && rates > 0.7e-3);
/// # Ok::<(), urlcache::SizingError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Growth {
    layout: Layout,
    filters: u32,
    first: u64,
    target: f64,
}

impl Growth {
    /// Growth from a first slice for `keys` keys. The target rate is the limit of the rate, or that with which `keys`
    /// keys lose as many as the budget allows: beyond them the number of losses is not bounded any more.
    ///
    /// # Errors
    /// A budget without a limit or with a senseless one.
    pub fn new(layout: Layout, filters: u32, keys: u64, budget: &LossBudget) -> Result<Self, SizingError> {
        check(budget)?;
        let first = keys.max(1);
        Ok(Self { layout, filters, first, target: budget.rate_over(first) })
    }

    /// Growth that was written down.
    pub(crate) fn read(input: &mut SnapshotReader<'_>) -> Result<Self, SnapshotError> {
        let layout = named(&Layout::ALL, input.u8()?)?;
        Ok(Self { layout, filters: input.u32()?, first: input.count()?.max(1), target: input.f64()?.min(1.0) })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.push(number(&Layout::ALL, self.layout));
        out.extend(self.filters.to_le_bytes());
        out.extend(self.first.to_le_bytes());
        out.extend(self.target.to_le_bytes());
    }

    /// The layout of its slices; lines of fingerprints are doubled instead.
    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// The rate that all slices together stay below.
    pub fn target(&self) -> f64 {
        self.target
    }

    /// The plan of a slice, from 0; `None` if it would be too large.
    pub fn slice(&self, index: u32) -> Option<Plan> {
        let keys = FACTOR.checked_pow(index)?.checked_mul(self.first)?;
        let rate = self.target * (1.0 - TIGHTENING) * TIGHTENING.powi(index.cast_signed());
        Plan::spatial(self.layout, self.filters, 0..keys, &LossBudget::rate(rate)).ok()
    }

    /// For how many times the first slice's keys so many slices have room.
    pub(crate) fn room(slices: u32) -> u64 {
        (0..slices).map(|index| FACTOR.saturating_pow(index)).fold(0, u64::saturating_add)
    }
}
