//! [`SimHash`]: whether two texts are near duplicates.

use xxhash_rust::xxh3::xxh3_64;

use crate::text::Text;

/// How many words make a feature.
const SHINGLE: usize = 3;

/// Texts whose hashes differ in no more bits are near duplicates (Manku, Jain, Das Sarma: "Detecting near-duplicates for
/// web crawling", 2007).
const NEAR: u32 = 3;

/// Shorter texts have too few features for their hashes to mean much, in words.
const SHORTEST: u32 = 40;

/// The 64-bit `SimHash` of a text (Charikar: "Similarity estimation techniques from rounding algorithms", 2002) over all
/// runs of three words, and how many words it has. A text without spaces between its words (Chinese, Japanese) has few
/// words, so it is near to no other.
///
/// ```
/// use webloom::internals::{changes::SimHash, text::Text};
/// let words: Vec<_> = (0..2_000).map(|n| format!("word{n}")).collect();
/// let (one, other) = (words.join(" "), words[1..].join(" "));
/// let hash = |text: &str| SimHash::of(&Text::from_lines([text]));
/// assert!(hash(&one).is_near(hash(&other)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimHash {
    bits: u64,
    words: u32,
}

impl SimHash {
    /// Of this text.
    pub fn of(text: &Text) -> Self {
        let words: Vec<_> = text.as_str().split_ascii_whitespace().map(|word| xxh3_64(word.as_bytes())).collect();
        let mut sums = [0_i32; 64];
        for shingle in words.windows(SHINGLE) {
            let bytes: Vec<_> = shingle.iter().flat_map(|word| word.to_le_bytes()).collect();
            let hash = xxh3_64(&bytes);
            for (bit, sum) in sums.iter_mut().enumerate() {
                *sum += if hash >> bit & 1 == 1 { 1 } else { -1 };
            }
        }
        let bits = sums.iter().enumerate().filter(|(_, sum)| **sum > 0).fold(0, |bits, (bit, _)| bits | 1 << bit);
        Self { bits, words: u32::try_from(words.len()).unwrap_or(u32::MAX) }
    }

    /// One that was stored.
    pub fn new(bits: u64, words: u32) -> Self {
        Self { bits, words }
    }

    /// The hash.
    pub fn bits(self) -> u64 {
        self.bits
    }

    /// How many words its text has.
    pub fn words(self) -> u32 {
        self.words
    }

    /// In how many bits two hashes differ.
    pub fn distance(self, other: Self) -> u32 {
        (self.bits ^ other.bits).count_ones()
    }

    /// Whether the texts are near duplicates: at most 3 bits differ, and both have 40 words or more.
    pub fn is_near(self, other: Self) -> bool {
        self.words.min(other.words) >= SHORTEST && self.distance(other) <= NEAR
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(numbers: impl Iterator<Item = usize>) -> SimHash {
        let text: Vec<_> = numbers.map(|number| format!("w{}", number * 7919 % 10_007)).collect();
        SimHash::of(&Text::from_lines(
            text.chunks(12).map(|line| line.join(" ")).collect::<Vec<_>>().iter().map(String::as_str),
        ))
    }

    #[test]
    fn a_small_edit_of_a_long_text_is_near_and_another_text_is_not() {
        let original = words(0..3_000);
        assert!(original.is_near(words((0..1_500).chain(1_502..3_000))));
        assert!(!original.is_near(words(4_000..7_000)));
        assert!(!original.is_near(words((0..1_500).chain(5_000..6_500))));
    }

    #[test]
    fn distances_of_other_texts_are_about_half_of_the_bits() {
        let sum: u32 =
            (0..50).map(|n| words(n * 100..n * 100 + 90).distance(words(n * 100 + 5_000..n * 100 + 5_090))).sum();
        assert!((1_400..1_800).contains(&sum), "{sum}");
    }

    #[test]
    fn short_texts_are_near_to_nothing() {
        assert!(!words(0..39).is_near(words(0..39)));
        assert!(words(0..40).is_near(words(0..40)));
        let empty = SimHash::of(&Text::default());
        assert!((empty.bits(), empty.words()) == (0, 0) && !empty.is_near(empty));
    }

    #[test]
    fn what_is_stored_comes_back() {
        let hash = words(0..100);
        assert_eq!(SimHash::new(hash.bits(), hash.words()), hash);
        assert_eq!(hash.distance(SimHash::new(hash.bits() ^ 0b1011, 50)), 3);
        assert!(hash.is_near(SimHash::new(hash.bits() ^ 0b1011, 40)) && !hash.is_near(SimHash::new(!hash.bits(), 99)));
    }
}
