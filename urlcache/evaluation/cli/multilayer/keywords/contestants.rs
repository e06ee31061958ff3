//! [`Contestant`]: which filters of keyword lists are compared, and with how many bits.
//!
//! m is what the document's Bloom filter needs for an error rate (its 0.05) with the keywords it gets. Its multi-layer filter
//! has m bits, rounded to a power of two, in each of L layers and the XOR layer. At equal memory all have about m bits.

use anyhow::Result;
use urlcache::Plan;

use super::filters::{Build, Form};
use crate::multilayer::method::{best, power_of_two};

/// A filter in the comparison.
#[derive(Debug, Clone)]
pub(super) struct Contestant {
    pub(super) method: &'static str,
    pub(super) memory: &'static str,
    pub(super) build: Build,
}

/// What sizes depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    /// Lists that a filter gets.
    pub(super) lists: u64,
    /// Different keywords in them.
    pub(super) words: u64,
    pub(super) layers: u32,
    pub(super) error_rate: f64,
}

/// The corrected form gives its layers of words one part in so many of all bits.
const LAYER_PART: u64 = 8;

/// The name of the document's multi-layer filter.
pub(super) const PLAIN: &str = "multilayer-plain";

/// The name of ours.
pub(super) const CORRECTED: &str = "multilayer";

/// The name of the document's Bloom filter.
pub(super) const OF_WORDS: &str = "Bloom of keywords";

/// The name of a Bloom filter of whole lists.
pub(super) const OF_LISTS: &str = "Bloom of records";

/// The memory of the document: its Bloom filter at its error rate, and as many bits for each layer.
pub(super) const DOCUMENT: &str = "document";

/// As many bits as the multi-layer filter of the document has, in one array.
pub(super) const TOTAL: &str = "document, total";

/// The same bits for each.
pub(super) const EQUAL: &str = "equal";

/// The same number of records and error rate, for a Bloom filter of whole lists.
pub(super) const ERROR_RATE: &str = "error rate";

/// Number of hash functions for an error rate: `-log2` of it.
pub(super) fn hashes(error_rate: f64) -> u32 {
    (1..=64).min_by(|a, b| distance(*a, error_rate).total_cmp(&distance(*b, error_rate))).unwrap_or(1)
}

/// Number of layers for so many keywords: one for each hash function's worth of them, 1 to 62.
pub(super) fn layers_for(keywords: usize, hashes: u32) -> u32 {
    u32::try_from(keywords.div_ceil(hashes as usize)).unwrap_or(u32::MAX).clamp(1, MOST_LAYERS)
}

/// Layers that the rule gives, at most: without a bound the memory would grow with the square of the keywords.
const MOST_LAYERS: u32 = 62;

fn distance(hashes: u32, error_rate: f64) -> f64 {
    (f64::from(hashes) + error_rate.log2()).abs()
}

/// The Bloom filter of so many keys with this error rate when it is full.
pub(super) fn at_error_rate(keys: u64, error_rate: f64) -> Result<Plan> {
    let probes = f64::from(hashes(error_rate));
    let bits_a_key = -probes / (-error_rate.powf(1.0 / probes)).ln_1p();
    let bits = format!("{:.0}", (keys.max(1) as f64 * bits_a_key).ceil()).parse()?;
    Ok(Plan::new(bits, hashes(error_rate))?)
}

/// Everything that is compared.
pub(super) fn all(load: Load) -> Result<Vec<Contestant>> {
    let words = at_error_rate(load.words, load.error_rate)?;
    let lists = at_error_rate(load.lists, load.error_rate)?;
    let rounded = Plan::new(power_of_two(words.bits() as f64), words.shape().hashes())?;
    let arrays = u64::from(load.layers) + 1;
    let small = power_of_two(words.bits() as f64 / arrays as f64);
    let small = best(small, load.words.div_ceil(arrays - 1).max(load.lists))?;
    let total = small.bits() * arrays;
    let of = |method, memory, build| Contestant { method, memory, build };
    let one = |form, plan| Build { form, layers: 1, layer: plan, combined: plan };
    let layered = |layer| Build { form: Form::Plain, layers: load.layers, layer, combined: layer };
    Ok(vec![
        of(OF_WORDS, DOCUMENT, one(Form::Words, words)),
        of(PLAIN, DOCUMENT, layered(rounded)),
        of(CORRECTED, DOCUMENT, corrected(load, rounded.bits() * arrays)?),
        of(OF_LISTS, TOTAL, one(Form::Whole, best(rounded.bits() * arrays, load.lists)?)),
        of(OF_LISTS, ERROR_RATE, one(Form::Whole, lists)),
        of(OF_WORDS, EQUAL, one(Form::Words, best(total, load.words)?)),
        of(PLAIN, EQUAL, layered(small)),
        of(CORRECTED, EQUAL, corrected(load, total)?),
        of(OF_LISTS, EQUAL, one(Form::Whole, best(total, load.lists)?)),
    ])
}

/// An eighth of all bits for the layers, the rest for the combinations.
fn corrected(load: Load, total: u64) -> Result<Build> {
    let layers = u64::from(load.layers);
    let bits = total / LAYER_PART / layers;
    let layer = best(bits.max(1), load.words.div_ceil(layers))?;
    let combined = best((total - layer.bits() * layers).max(1), load.lists)?;
    Ok(Build { form: Form::Corrected, layers: load.layers, layer, combined })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_rate_has_its_bits_and_hash_functions() {
        assert_eq!([0.5, 0.05, 0.01, 1e-6].map(hashes), [1, 4, 7, 20]);
        let plan = at_error_rate(10_000, 0.05).unwrap();
        assert!((plan.rate_at(10_000) - 0.05).abs() < 1e-5);
        assert_eq!(plan.bits() / 1_000, 62);
    }

    #[test]
    fn equal_memory_is_equal() {
        let load = Load { lists: 2_500, words: 4_000, layers: 4, error_rate: 0.05 };
        let all = all(load).unwrap();
        let bits = |memory: &str| -> Vec<u64> {
            all.iter().filter(|one| one.memory == memory).map(|one| one.build.bits()).collect()
        };
        assert!(bits(EQUAL).iter().all(|bits| *bits == bits_of(&all, PLAIN, EQUAL)), "{:?}", bits(EQUAL));
        let document = [bits(DOCUMENT), bits(TOTAL)].concat();
        assert!(document[1..].iter().all(|bits| *bits == 5 << 15), "{document:?}");
    }

    fn bits_of(all: &[Contestant], method: &str, memory: &str) -> u64 {
        all.iter().find(|one| one.method == method && one.memory == memory).unwrap().build.bits()
    }
}
