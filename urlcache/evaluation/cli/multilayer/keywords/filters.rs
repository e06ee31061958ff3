//! [`WordFilter`]: filters of keyword lists, those of the document and ours.
//!
//! Owns bits and positions: words are dealt to layers in turn, which the library's filters of URLs do not do. Invariant: a
//! list that was inserted is found. Sizes come from elsewhere.

use urlcache::{HashSeed, Plan};
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// What goes where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// All words in one array: the document's Bloom filter (its algorithm 1).
    Words,
    /// Each list as a whole: a Bloom filter as everybody else knows it.
    Whole,
    /// Word number i in layer i modulo L, and the XOR of the positions in one more array: the document's algorithm 3.
    Plain,
    /// The same with whole hashes, salted by the word's place, and with the number of words mixed in.
    Corrected,
}

/// Sizes of a filter of keyword lists.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Build {
    pub(super) form: Form,
    /// Layers of words: 1 but for the forms in layers.
    pub(super) layers: u32,
    /// Of each layer.
    pub(super) layer: Plan,
    /// Of the layer of combinations, in the forms in layers.
    pub(super) combined: Plan,
}

/// One filter.
pub(super) struct WordFilter {
    build: Build,
    layers: Vec<Bits>,
    combined: Bits,
    seed: u64,
}

/// Bits, and how many of them a key sets.
struct Bits {
    words: Vec<u64>,
    len: u64,
    probes: u32,
}

/// The seed of what is hashed for a layer: the same in all of them, but for combinations.
const COMBINED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Up to so many layers all sets of them are looked at.
const EXACT_LAYERS: usize = 10;

impl Build {
    /// Number of bits of all layers.
    pub(super) fn bits(&self) -> u64 {
        self.layer.bits() * u64::from(self.layers) + if self.is_layered() { self.combined.bits() } else { 0 }
    }

    pub(super) fn is_layered(&self) -> bool {
        matches!(self.form, Form::Plain | Form::Corrected)
    }
}

impl WordFilter {
    pub(super) fn new(build: Build, seed: u64) -> Self {
        let layers = (0..build.layers).map(|_| Bits::new(build.layer)).collect();
        Self { build, layers, combined: Bits::new(build.combined), seed }
    }

    pub(super) fn insert(&mut self, words: &[Box<str>]) {
        let places = self.places(words);
        for (layer, position) in places {
            self.layer_mut(layer).set(position);
        }
    }

    /// Whether it takes the list for one that was inserted.
    pub(super) fn finds(&self, words: &[Box<str>]) -> bool {
        self.places(words).into_iter().all(|(layer, position)| self.layer(layer).get(position))
    }

    /// Whether one of the layers of words has this word, wherever it was in its list.
    pub(super) fn has_word(&self, word: &str) -> bool {
        self.layers.iter().any(|layer| layer.positions(word.as_bytes(), self.seed).all(|position| layer.get(position)))
    }

    /// The probability that [`WordFilter::has_word`] finds a word that was not inserted, by the bits that are set. A word has the
    /// same positions in all layers: the probability that some layers find it together follows from the bits that they share.
    /// For more than [`EXACT_LAYERS`] layers it is taken as if they were independent.
    pub(super) fn word_rate(&self) -> f64 {
        if self.layers.len() > EXACT_LAYERS {
            return 1.0 - self.layers.iter().map(|layer| 1.0 - layer.rate()).product::<f64>();
        }
        // Inclusion and exclusion over all sets of layers but the empty one.
        let together = |set: u32| {
            let members = self.layers.iter().enumerate().filter(|(index, _)| set >> index & 1 == 1);
            let sign = if set.count_ones() % 2 == 1 { 1.0 } else { -1.0 };
            sign * Bits::shared_rate(&members.map(|(_, layer)| layer).collect::<Vec<_>>())
        };
        (1..1 << self.layers.len()).map(together).sum()
    }

    /// The layer and position of every bit of a list; the combinations come after the last layer.
    fn places(&self, words: &[Box<str>]) -> Vec<(usize, u64)> {
        let mut places = Vec::new();
        if self.build.form == Form::Whole {
            places.extend(self.layers[0].positions(joined(words).as_bytes(), self.seed).map(|position| (0, position)));
            return places;
        }
        let mut sums = vec![0; self.combined.probes as usize];
        for (index, word) in words.iter().enumerate() {
            let layer = index % self.layers.len();
            for (turn, position) in self.layers[layer].positions(word.as_bytes(), self.seed).enumerate() {
                places.push((layer, position));
                sums[turn % self.combined.probes as usize] ^= position;
            }
        }
        let last = self.layers.len();
        match self.build.form {
            Form::Plain => places.extend(sums.into_iter().map(|position| (last, position))),
            Form::Corrected => {
                let mixed = combination(words, self.seed);
                places.extend(self.combined.positions(&mixed, self.seed ^ COMBINED).map(|position| (last, position)));
            }
            Form::Words | Form::Whole => {}
        }
        places
    }

    fn layer(&self, layer: usize) -> &Bits {
        self.layers.get(layer).unwrap_or(&self.combined)
    }

    fn layer_mut(&mut self, layer: usize) -> &mut Bits {
        self.layers.get_mut(layer).unwrap_or(&mut self.combined)
    }
}

/// A list as one text that no other list has.
pub(super) fn joined(words: &[Box<str>]) -> String {
    words.iter().flat_map(|word| [word.len().to_string(), format!(":{word}")]).collect()
}

/// The XOR of the words' hashes, each salted by its place, with their number mixed in.
fn combination(words: &[Box<str>], seed: u64) -> [u8; 16] {
    let salt = |place| HashSeed::new(seed).derive(8, place).value();
    let salted = (0..).zip(words).map(|(place, word)| xxh3_128_with_seed(word.as_bytes(), salt(place)));
    let mixed = salted.fold(0, |mixed, hash| mixed ^ hash);
    mixed.wrapping_add(words.len() as u128).to_le_bytes()
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
fn halves(hash: u128) -> [u64; 2] {
    [(hash >> 64) as u64, hash as u64]
}

impl Bits {
    fn new(plan: Plan) -> Self {
        let len = plan.bits();
        let count = usize::try_from(len.div_ceil(64)).unwrap_or(usize::MAX);
        Self { words: vec![0; count], len, probes: plan.shape().hashes() }
    }

    /// One hash of the text, and so many numbers that follow from it: hashes of short words under neighbouring seeds are not
    /// independent, and under double hashing the positions of small filters would repeat.
    fn positions(&self, text: &[u8], seed: u64) -> impl Iterator<Item = u64> + use<> {
        let [high, low] = halves(xxh3_128_with_seed(text, seed));
        let own = HashSeed::new(low);
        let numbers = (0..self.probes).map(move |turn| own.derive(turn, 0).value() ^ high);
        let len = u128::from(self.len);
        numbers.map(move |number| u64::try_from((u128::from(number) * len) >> 64).unwrap_or(0))
    }

    fn set(&mut self, position: u64) {
        self.words[(position / 64) as usize] |= 1 << (position % 64);
    }

    fn get(&self, position: u64) -> bool {
        self.words[(position / 64) as usize] >> (position % 64) & 1 == 1
    }

    /// The share of strangers that it finds.
    fn rate(&self) -> f64 {
        Self::shared_rate(&[self])
    }

    /// The share of strangers that all of these find, which are of one size.
    fn shared_rate(layers: &[&Self]) -> f64 {
        let Some((first, others)) = layers.split_first() else { return 1.0 };
        let shared =
            |(place, word): (usize, &u64)| others.iter().fold(*word, |shared, other| shared & other.words[place]);
        let ones: u64 = first.words.iter().enumerate().map(shared).map(|word| u64::from(word.count_ones())).sum();
        (ones as f64 / first.len as f64).powi(first.probes.cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(form: Form, bits: u64) -> Build {
        let layers = if matches!(form, Form::Words | Form::Whole) { 1 } else { 3 };
        let plan = Plan::new(bits, 4).unwrap();
        Build { form, layers, layer: plan, combined: plan }
    }

    fn list(words: &[&str]) -> Vec<Box<str>> {
        words.iter().map(|word| Box::from(*word)).collect()
    }

    #[test]
    fn lists_are_found_in_every_form() {
        for form in [Form::Words, Form::Whole, Form::Plain, Form::Corrected] {
            let mut filter = WordFilter::new(build(form, 4_096), 7);
            let lists: Vec<_> = (0..50).map(|i| list(&[&format!("a{i}"), "b", &format!("c{}", i % 5), "d"])).collect();
            for words in &lists {
                filter.insert(words);
            }
            assert!(lists.iter().all(|words| filter.finds(words)), "{form:?}");
            assert!(!filter.finds(&list(&["x", "y", "z"])), "{form:?}");
        }
    }

    #[test]
    fn the_plain_form_and_the_document_s_bloom_are_blind_where_they_should_be() {
        let found = |form, words: &[&str]| {
            let mut filter = WordFilter::new(build(form, 1 << 16), 7);
            filter.insert(&list(&["a", "b", "c", "d"]));
            filter.insert(&list(&["d", "c", "b", "a"]));
            filter.finds(&list(words))
        };
        // Known words in another combination: one array passes them, the XOR layer does not.
        let recombined = ["a", "c", "b"];
        assert!(found(Form::Words, &recombined) && !found(Form::Plain, &recombined));
        // The first and the fourth word share a layer: exchanged they are the same to XOR.
        let exchanged = ["d", "b", "c", "a"];
        assert!(found(Form::Words, &exchanged) && found(Form::Plain, &exchanged));
        assert!(!found(Form::Corrected, &exchanged) && !found(Form::Whole, &exchanged));
    }

    #[test]
    fn words_are_found_in_any_layer() {
        let mut filter = WordFilter::new(build(Form::Plain, 1 << 12), 7);
        filter.insert(&list(&["a", "b", "c", "d"]));
        assert!(["a", "b", "c", "d"].iter().all(|word| filter.has_word(word)));
        assert!(!filter.has_word("x") && filter.word_rate() < 1e-6);
    }

    #[test]
    fn the_rate_of_words_is_that_of_small_layers_too() {
        for (bits, probes) in [(16, 3), (8, 2), (32, 1)] {
            let plan = Plan::new(bits, probes).unwrap();
            let build = Build { form: Form::Plain, layers: 4, layer: plan, combined: plan };
            let mut filter = WordFilter::new(build, 7);
            filter.insert(&(0..13).map(|number| format!("in{number}").into()).collect::<Vec<_>>());
            let found = (0..20_000).filter(|number| filter.has_word(&format!("out{number}"))).count();
            let [counted, expected] = [found as f64 / 20_000.0, filter.word_rate()];
            let error = (expected * (1.0 - expected) / 20_000.0).sqrt();
            assert!((counted - expected).abs() < 4.0 * error, "{bits}: {counted} {expected}");
        }
    }
}
