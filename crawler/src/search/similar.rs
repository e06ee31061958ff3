//! Pages whose texts are nearly the same (M. Charikar, "Similarity Estimation Techniques from Rounding Algorithms", 2002: `SimHash`; G. Manku
//! et al., "Detecting Near-Duplicates for Web Crawling", 2007: how it is used for pages).

use std::collections::VecDeque;

use xxhash_rust::xxh3::xxh3_64;

/// Words in a row that are hashed together.
const ROW: usize = 3;

/// A text with fewer words says too little.
const LEAST: usize = 20;

/// Bits in which texts that are nearly the same differ at most. (Manku et al. found 3 of 64 right for eight billion pages.)
const MOST_BITS: u32 = 3;

/// Hashes that share their first bits are compared with so many of the next ones in order.
const NEIGHBOURS: usize = 32;

/// The hash of a text that has nearly the same as texts that are nearly the same; `None` if it is too short.
pub fn similarity_hash(text: &str) -> Option<i64> {
    let mut ones = BitCounts::default();
    let mut row = VecDeque::with_capacity(ROW);
    let mut words = 0;
    // White space is spaces and line feeds, as a text is kept.
    for word in text.as_bytes().split(|byte| *byte <= b' ').filter(|word| !word.is_empty()) {
        words += 1;
        if row.len() == ROW {
            row.pop_front();
        }
        row.push_back(xxh3_64(word));
        if row.len() < ROW {
            continue;
        }
        let hash =
            row.iter().fold(0_u64, |hash, word| (hash.rotate_left(21) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        ones.add(hash);
    }
    (words >= LEAST).then(|| ones.majority().cast_signed())
}

/// How many numbers have each of 64 bits set. Digits of the counts are in one number each: so all bits are counted at once.
#[derive(Default)]
struct BitCounts {
    digits: [u64; 32],
    numbers: u64,
}

impl BitCounts {
    fn add(&mut self, number: u64) {
        self.numbers += 1;
        let mut carry = number;
        for digit in &mut self.digits {
            (*digit, carry) = (*digit ^ carry, *digit & carry);
            if carry == 0 {
                break;
            }
        }
    }

    /// The bits that more than half of the numbers have.
    fn majority(&self) -> u64 {
        let count = |bit: u32| {
            let digits = self.digits.iter().enumerate();
            digits.map(|(place, digit)| (digit >> bit & 1) << place).sum::<u64>()
        };
        (0..64).filter(|bit| 2 * count(*bit) > self.numbers).fold(0, |bits, bit| bits | 1 << bit)
    }
}

/// Of each of these hashes the place of the first one that is nearly the same; its own, if there is none.
pub fn first_similar(hashes: &[i64]) -> Vec<usize> {
    let mut first: Vec<usize> = (0..hashes.len()).collect();
    // Of four parts, one at least is the same in hashes that differ in three bits.
    for part in 0..4 {
        let key = |place: usize| hashes[place].cast_unsigned().rotate_left(16 * part);
        let mut order: Vec<usize> = (0..hashes.len()).collect();
        order.sort_unstable_by_key(|place| (key(*place), *place));
        for (at, one) in order.iter().enumerate() {
            for other in
                order[at + 1..].iter().take(NEIGHBOURS).take_while(|other| key(*one) >> 48 == key(**other) >> 48)
            {
                if (hashes[*one] ^ hashes[*other]).count_ones() <= MOST_BITS {
                    let [one, other] = [root(&mut first, *one), root(&mut first, *other)];
                    first[one.max(other)] = one.min(other);
                }
            }
        }
    }
    (0..hashes.len()).map(|place| root(&mut first, place)).collect()
}

/// The first of the group of a place.
fn root(first: &mut [usize], mut place: usize) -> usize {
    while first[place] != place {
        first[place] = first[first[place]];
        place = first[place];
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(words: usize, changed: Option<usize>) -> String {
        let word = |at: usize| if Some(at) == changed { "other".to_owned() } else { format!("word{}", at * at % 977) };
        (0..words).map(word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn texts_that_differ_in_a_word_are_nearly_the_same() {
        let hash = |text: &str| similarity_hash(text).unwrap();
        let long = text(600, None);
        let edited = (hash(&long) ^ hash(&text(600, Some(300)))).count_ones();
        let other = (hash(&long) ^ hash(&text(600, None).replace("word1", "term2"))).count_ones();
        assert!(edited <= MOST_BITS && other > 8, "{edited} {other}");
        assert_eq!(hash(&long), hash(&long.replace(' ', "\n")));
        assert_eq!(similarity_hash(&text(LEAST - 1, None)), None);
    }

    #[test]
    fn bits_are_counted() {
        let numbers: Vec<u64> = (0..5_001).map(|number: u64| xxh3_64(&number.to_le_bytes()) & number << 3).collect();
        let mut counts = BitCounts::default();
        for number in &numbers {
            counts.add(*number);
        }
        let has = |bit: &u32| numbers.iter().filter(|number| *number >> bit & 1 == 1).count() > 2_500;
        assert_eq!(counts.majority(), (0..64).filter(has).fold(0, |bits, bit| bits | 1 << bit));
        counts = BitCounts::default();
        counts.add(0b1011);
        counts.add(0b0011);
        assert_eq!(counts.majority(), 0b0011);
    }

    #[test]
    fn those_that_are_nearly_the_same_have_the_first_of_them() {
        let hashes = [0x0123_4567_89ab_cdef, 7, 0x0123_4567_89ab_cdee, 0x0123_4567_89ab_0de0, 0x0123_4567_89ab_cdec, 5];
        assert_eq!(first_similar(&hashes), [0, 1, 0, 3, 0, 1]);
        assert_eq!(first_similar(&[9; 100]), [0; 100]);
    }
}
