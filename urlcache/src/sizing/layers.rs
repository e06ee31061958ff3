//! [`LayerPlan`]: the sizes of a multi-layer filter.

use std::ops::Range;

use super::{LineShape, Plan, Shape, SizingError};
use crate::budget::LossBudget;
use crate::strategy::Layout;

/// Bits for each distinct segment of a layer: a line with a bit in each word finds a new one in 250 then.
const SEGMENT_BITS: u64 = 12;

/// A layer has room for one distinct segment a so many URLs; leaf layers with more are full, and pass everything.
const URLS_A_SEGMENT: u64 = 16;

/// The plan of a multi-layer filter: the combined layer keeps the budget alone, as only it can tell a new combination of
/// known segments; the segments' layers get 12 bits for each of the distinct segments that are expected.
///
/// ```
/// use urlcache::{Layout, LayerPlan, LossBudget};
///
/// let plan = LayerPlan::new(Layout::Auto, 8, 0..1_000_000, &LossBudget::default())?;
/// assert_eq!(plan.layers().len(), 8);
/// assert!(plan.combined().bits() > 4 * plan.layers().iter().map(|layer| layer.bits()).sum::<u64>());
/// # Ok::<(), urlcache::SizingError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct LayerPlan {
    layers: Vec<Plan>,
    combined: Plan,
}

impl LayerPlan {
    /// A plan for URLs of up to `depth` parts (1 to 63, see [`segments`](crate::segments)).
    ///
    /// # Errors
    /// Those of [`Plan::for_budget`]; a depth outside 1 to 63.
    pub fn new(layout: Layout, depth: u32, keys: Range<u64>, budget: &LossBudget) -> Result<Self, SizingError> {
        if depth == 0 || depth > 63 {
            return Err(SizingError::Filters(depth));
        }
        let segments = (keys.end / URLS_A_SEGMENT).max(64);
        let layer = Plan::with_shape(Shape::Line(LineShape::OneBitInOneLine), segments * SEGMENT_BITS)?;
        Ok(Self { layers: vec![layer; depth as usize], combined: Plan::for_budget(layout, keys, budget)? })
    }

    /// A plan of given filters, for whoever knows how many distinct segments each layer has.
    ///
    /// # Errors
    /// No layers or more than 63.
    pub fn of(layers: Vec<Plan>, combined: Plan) -> Result<Self, SizingError> {
        match u32::try_from(layers.len()) {
            Ok(1..=63) => Ok(Self { layers, combined }),
            depth => Err(SizingError::Filters(depth.unwrap_or(u32::MAX))),
        }
    }

    /// The filters of the segments, the authority's first.
    pub fn layers(&self) -> &[Plan] {
        &self.layers
    }

    /// The filter of the combinations (the XOR layer).
    pub fn combined(&self) -> Plan {
        self.combined
    }

    /// Number of bits of all layers.
    pub fn bits(&self) -> u64 {
        self.layers.iter().map(|layer| layer.bits()).sum::<u64>() + self.combined.bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_of_given_filters_has_one_to_63_layers() {
        let plan = Plan::new(640, 3).unwrap();
        assert_eq!(LayerPlan::of(vec![plan; 5], plan).unwrap().bits(), 6 * 640);
        assert_eq!(LayerPlan::of(Vec::new(), plan), Err(SizingError::Filters(0)));
        assert_eq!(LayerPlan::of(vec![plan; 64], plan), Err(SizingError::Filters(64)));
    }
}
