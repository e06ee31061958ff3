//! [`Method`] and [`Spec`]: what is compared, and with how much memory.
//!
//! Owns the sizes. The memory of the documents is m bits a layer: their Bloom filter has m bits, their multi-layer filter
//! (L+1) m. At equal totals each filter has what the plain multi-layer filter takes, whose layers are powers of two.
//! It does not build anything.

use anyhow::Result;
use serde::Serialize;
use urlcache::{LayerPlan, Plan};

/// How URLs are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Method {
    Linear,
    Binary,
    Sorted,
    HashSet,
    SegmentSet,
    Bloom,
    MultilayerPlain,
    Multilayer,
}

/// With how much memory a filter is compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Memory {
    /// What it needs to be exact.
    Exact,
    /// That of the documents: m bits a layer.
    Documents,
    /// About so many bits a URL in total, for each filter the same.
    Equal(f64),
}

/// One filter or exact set.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spec {
    pub(super) method: Method,
    pub(super) memory: Memory,
    /// None of the exact ones.
    pub(super) shape: Option<Filter>,
}

/// The plan of a filter.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Filter {
    /// Whole URLs in one.
    Whole(Plan),
    /// The segments of URLs in one, at most so many of each.
    Segments(Plan, u32),
    /// So many layers and one more of this plan.
    Layers(Plan, u32),
    /// Layers of different sizes.
    Sized(LayerPlan),
}

/// What the set is, as far as sizes depend on it.
#[derive(Debug, Clone)]
pub(super) struct Extent {
    pub(super) urls: u64,
    /// Different segments of each layer.
    pub(super) segments: Vec<u64>,
    /// Different segments of all layers together.
    pub(super) all_segments: u64,
}

/// What was asked for.
#[derive(Debug, Clone)]
pub(super) struct Sizes {
    /// Bits of a layer for each URL, with the memory of the documents.
    pub(super) layer_bits: f64,
    /// Hash functions of the documents.
    pub(super) hashes: u32,
    /// Bits a URL of all filters at equal totals.
    pub(super) totals: Vec<f64>,
}

/// The segments' layers of the corrected form have this share of a URL's bits in total, at most ...
const LAYER_BITS: f64 = 1.5;

/// ... and this share of all bits.
const LAYER_SHARE: f64 = 0.125;

/// Bits for each different segment of a layer, where they suffice: then it takes one strange segment in 300 for known.
const SEGMENT_BITS: f64 = 12.0;

/// The fewest bits of a layer.
const LEAST_BITS: u64 = 64;

impl Method {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear search",
            Self::Binary => "binary search",
            Self::Sorted => "kept sorted",
            Self::HashSet => "hash set",
            Self::SegmentSet => "segment-set",
            Self::Bloom => "Bloom",
            Self::MultilayerPlain => "multilayer-plain",
            Self::Multilayer => "multilayer",
        }
    }
}

impl Memory {
    pub(super) fn name(self) -> String {
        match self {
            Self::Exact => "exact".to_owned(),
            Self::Documents => "documents".to_owned(),
            Self::Equal(bits) => format!("equal {bits}"),
        }
    }
}

impl Filter {
    /// Number of bits of all layers.
    pub(super) fn bits(&self) -> u64 {
        match self {
            Self::Whole(plan) | Self::Segments(plan, _) => plan.bits(),
            Self::Layers(layer, depth) => layer.bits() * u64::from(depth + 1),
            Self::Sized(layers) => layers.bits(),
        }
    }

    /// Hash functions; of the corrected form, those of the layer of combinations.
    pub(super) fn hashes(&self) -> u32 {
        match self {
            Self::Whole(plan) | Self::Segments(plan, _) | Self::Layers(plan, _) => plan.shape().hashes(),
            Self::Sized(layers) => layers.combined().shape().hashes(),
        }
    }

    /// The rate that is said of it: by the documents of their filters, as if the layers were independent and the elements
    /// were whole URLs; by us of the corrected form, that of its layer of combinations.
    pub(super) fn stated_rate(&self, urls: u64) -> f64 {
        match self {
            Self::Whole(plan) | Self::Segments(plan, _) => plan.rate_at(urls),
            Self::Layers(plan, depth) => plan.rate_at(urls).powi(depth.cast_signed()),
            Self::Sized(layers) => layers.combined().rate_at(urls),
        }
    }
}

/// Everything that is compared on a set, in the order of the tables.
pub(super) fn all(extent: &Extent, sizes: &Sizes) -> Result<Vec<Spec>> {
    let exact = [Method::Linear, Method::Binary, Method::Sorted, Method::HashSet];
    let mut specs: Vec<Spec> =
        exact.map(|method| Spec { method, memory: Memory::Exact, shape: None }).into_iter().collect();
    specs.extend(of_documents(extent, sizes)?);
    for &total in &sizes.totals {
        specs.extend(at_equal_totals(extent, total)?);
    }
    Ok(specs)
}

/// The filters of the documents, and beside each the others with its memory.
fn of_documents(extent: &Extent, sizes: &Sizes) -> Result<Vec<Spec>> {
    let layer = Plan::new(power_of_two(extent.urls as f64 * sizes.layer_bits), sizes.hashes)?;
    let total = layer.bits() * (extent.segments.len() as u64 + 1);
    let spec = |method, shape| Spec { method, memory: Memory::Documents, shape: Some(shape) };
    Ok(vec![
        spec(Method::SegmentSet, Filter::Segments(layer, extent.depth())),
        spec(Method::Bloom, Filter::Whole(layer)),
        spec(Method::MultilayerPlain, Filter::Layers(layer, extent.depth())),
        spec(Method::Multilayer, Filter::Sized(corrected(extent, total)?)),
        spec(Method::Bloom, Filter::Whole(best(total, extent.urls)?)),
    ])
}

/// Each filter with the same bits, and the number of hash functions with which it errs least.
fn at_equal_totals(extent: &Extent, bits_a_url: f64) -> Result<Vec<Spec>> {
    let filters = extent.segments.len() as f64 + 1.0;
    let layer = power_of_two(extent.urls as f64 * bits_a_url / filters);
    let total = layer * (extent.segments.len() as u64 + 1);
    let fullest = extent.segments.iter().copied().max().unwrap_or(1);
    let spec = |method, shape| Spec { method, memory: Memory::Equal(bits_a_url), shape: Some(shape) };
    Ok(vec![
        spec(Method::SegmentSet, Filter::Segments(best(total, extent.all_segments)?, extent.depth())),
        spec(Method::MultilayerPlain, Filter::Layers(best(layer, fullest)?, extent.depth())),
        spec(Method::Multilayer, Filter::Sized(corrected(extent, total)?)),
        spec(Method::Bloom, Filter::Whole(best(total, extent.urls)?)),
    ])
}

/// Layers of 12 bits for each different segment, as far as an eighth of all bits and 1.5 bits a URL go, those of few
/// segments first; the rest is for the combinations.
fn corrected(extent: &Extent, total: u64) -> Result<LayerPlan> {
    let mut spare = (total as f64 * LAYER_SHARE).min(extent.urls as f64 * LAYER_BITS);
    let mut order: Vec<usize> = (0..extent.segments.len()).collect();
    order.sort_by_key(|layer| extent.segments[*layer]);
    let mut sizes = vec![LEAST_BITS; order.len()];
    for (done, layer) in order.into_iter().enumerate() {
        let fair = spare / (extent.segments.len() - done) as f64;
        let bits = (extent.segments[layer] as f64 * SEGMENT_BITS).min(fair);
        spare -= bits;
        sizes[layer] = whole(bits).max(LEAST_BITS);
    }
    let rest = total.saturating_sub(sizes.iter().sum()).max(LEAST_BITS);
    let layers = extent.segments.iter().zip(sizes).map(|(&segments, bits)| best(bits, segments));
    Ok(LayerPlan::of(layers.collect::<Result<_>>()?, best(rest, extent.urls)?)?)
}

/// So many bits with the number of hash functions that errs least with so many keys.
pub(super) fn best(bits: u64, keys: u64) -> Result<Plan> {
    let optimum = bits as f64 / keys.max(1) as f64 * std::f64::consts::LN_2;
    Ok(Plan::new(bits, u32::try_from(whole(optimum.round())).unwrap_or(64).clamp(1, 64))?)
}

/// The power of two that is nearest, by ratio.
pub(super) fn power_of_two(value: f64) -> u64 {
    1 << whole(value.max(1.0).log2().round()).min(40)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and nothing is negative"
)]
fn whole(value: f64) -> u64 {
    value as u64
}

impl Extent {
    fn depth(&self) -> u32 {
        u32::try_from(self.segments.len()).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent() -> Extent {
        Extent { urls: 1_000_000, segments: vec![50, 24, 24, 24, 400_000], all_segments: 400_074 }
    }

    fn of(specs: &[Spec], method: Method) -> Filter {
        specs.iter().find(|spec| spec.method == method).unwrap().shape.clone().unwrap()
    }

    #[test]
    fn totals_are_equal() {
        for bits in [12.6, 25.0, 100.0] {
            let specs = at_equal_totals(&extent(), bits).unwrap();
            let totals: Vec<u64> = specs.iter().map(|spec| spec.shape.as_ref().unwrap().bits()).collect();
            assert!(totals.iter().all(|total| *total == totals[0]), "{totals:?}");
            assert!((totals[0] as f64 / 1e6 / bits).log2().abs() <= 0.5, "{totals:?}");
        }
        let tiny = Extent { urls: 10, segments: vec![3, 4, 4, 8, 9], all_segments: 20 };
        let bits: Vec<u64> =
            at_equal_totals(&tiny, 25.0).unwrap().iter().map(|s| s.shape.as_ref().unwrap().bits()).collect();
        assert!(bits[2] <= bits[0].max(6 * LEAST_BITS), "{bits:?}");
    }

    #[test]
    fn the_corrected_form_is_planned_for_at_most_three_times_the_rate() {
        for bits in [12.6, 25.0] {
            let specs = at_equal_totals(&extent(), bits).unwrap();
            let [layered, one] =
                [Method::Multilayer, Method::Bloom].map(|method| of(&specs, method).stated_rate(1_000_000));
            assert!((1.0..2.2).contains(&(layered / one)), "{layered} {one}");
        }
    }

    #[test]
    fn documents_have_m_bits_a_layer() {
        let sizes = Sizes { layer_bits: 8.0, hashes: 3, totals: vec![] };
        let specs = of_documents(&extent(), &sizes).unwrap();
        let bits: Vec<u64> = specs.iter().map(|spec| spec.shape.as_ref().unwrap().bits() >> 23).collect();
        assert_eq!(bits, [1, 1, 6, 6, 6]);
        let stated = of(&specs, Method::MultilayerPlain).stated_rate(1_000_000);
        let expected = (1.0 - (-3.0 / 8.388_608_f64).exp()).powi(15);
        assert!((stated / expected - 1.0).abs() < 1e-6, "{stated} {expected}");
    }
}
