//! [`Code`]: a prefix code over the classes, and the entropy that it comes near to.
//!
//! Owns Huffman's construction ("A method for the construction of minimum-redundancy codes", 1952) with two queues, and
//! the canonical code of the lengths. The root of the code may be ternary: a first digit 0, 1 or 2 then says in which of
//! three *parts* the class is, each with a binary code of its own; that is done where it takes fewer bits, as for three
//! equal classes. Invariant: the code is complete, so any digits are decoded to some class.

#![expect(clippy::cast_possible_truncation, reason = "places are those of a table in memory")]

/// Bits of the longest code word: reached by the weights of Fibonacci at 10^13 keys. It fits below the part in a mark.
pub(super) const LONGEST: usize = 62;

/// A mark that says that a class has no code word.
pub(super) const NONE: u8 = 0xff;

/// Bits of a mark that are the length; those above are the part.
const LENGTH_BITS: u32 = 6;

/// What a ternary digit costs, and what a bit costs.
const TRIT_COST: u64 = 16;
const BIT_COST: u64 = 10;

/// A canonical prefix code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Code {
    /// By class: length and part of its word, or [`NONE`] for a class that does not occur.
    marks: Vec<u8>,
    /// One, or three below a ternary root.
    parts: Vec<Part>,
}

/// The word of a class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) part: u32,
    /// Bits of the binary code, after the part.
    pub(super) bits: u32,
    pub(super) code: u64,
}

/// A binary code.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    /// In order of their codes.
    classes: Vec<u32>,
    /// By length: the first code, how many there are, and where their classes begin.
    rows: Vec<Row>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Row {
    code: u64,
    count: u64,
    begin: usize,
}

impl Code {
    /// The best code for classes that occur so often.
    pub(super) fn of_counts(counts: &[u64]) -> Option<Self> {
        let [binary, ternary] = [1, 3].map(|roots| cost_below(counts, roots));
        Self::of_marks(marks(counts, if ternary < binary { 3 } else { 1 }))
    }

    /// The canonical code of these marks; `None` if they are not those of a complete code.
    pub(super) fn of_marks(marks: Vec<u8>) -> Option<Self> {
        let count = marks.iter().filter(|mark| **mark != NONE).map(|mark| mark >> LENGTH_BITS).max()? + 1;
        let part = |part| {
            let of_part = |mark: &u8| *mark != NONE && mark >> LENGTH_BITS == part;
            let classes = (0..).zip(&marks).filter(|(_, mark)| of_part(mark)).map(|(class, _)| class);
            Part::new(classes.collect(), &marks)
        };
        let parts: Option<Vec<Part>> = (0..count).map(part).collect();
        parts.filter(|parts| matches!(parts.len(), 1 | 3)).map(|parts| Self { marks, parts })
    }

    pub(super) fn marks(&self) -> &[u8] {
        &self.marks
    }

    /// Whether a ternary digit comes first.
    pub(super) fn is_ternary(&self) -> bool {
        self.parts.len() > 1
    }

    /// The word of a class, if it has one.
    pub(super) fn of(&self, class: u32) -> Option<Word> {
        let mark = self.marks[class as usize];
        let part = self.parts.get(usize::from(mark >> LENGTH_BITS))?;
        let row = part.rows.get(length(mark))?;
        let order = &part.classes[row.begin..row.begin + row.count as usize];
        let place = order.binary_search(&class).ok()?;
        let bits = length(mark) as u32;
        Some(Word { part: u32::from(mark >> LENGTH_BITS), bits, code: row.code + place as u64 })
    }

    /// The class of a word; `None` if longer ones begin with it.
    #[inline]
    pub(super) fn decode(&self, word: Word) -> Option<u32> {
        let part = self.parts.get(word.part as usize)?;
        let row = part.rows.get(word.bits as usize)?;
        let place = word.code.wrapping_sub(row.code);
        (place < row.count).then(|| part.classes[row.begin + place as usize])
    }

    /// The lengths at which words end, without 0.
    pub(super) fn ends(&self) -> impl Iterator<Item = u32> {
        let ends = |bits: &usize| self.parts.iter().any(|part| part.rows.get(*bits).is_some_and(|row| row.count > 0));
        (1..=LONGEST).filter(ends).map(|bits| bits as u32).collect::<Vec<_>>().into_iter()
    }
}

impl Part {
    /// The code of these classes; `None` if their lengths are not those of a complete code.
    fn new(mut classes: Vec<u32>, marks: &[u8]) -> Option<Self> {
        let bits = |class: &u32| length(marks[*class as usize]);
        classes.sort_by_key(bits);
        let longest = bits(classes.last()?);
        if longest > LONGEST {
            return None;
        }
        let mut rows = vec![Row::default(); longest + 1];
        for class in &classes {
            rows[bits(class)].count += 1;
        }
        let mut next = Row::default();
        for row in &mut rows {
            *row = Row { count: row.count, ..next };
            let code = row.code.checked_add(row.count)?.checked_mul(2)?;
            next = Row { code, begin: row.begin + row.count as usize, count: 0 };
        }
        (next.code == 2 << longest).then_some(Self { classes, rows })
    }
}

fn length(mark: u8) -> usize {
    usize::from(mark & ((1 << LENGTH_BITS) - 1))
}

/// What the keys take under the best code, in tenths of a bit.
pub(super) fn cost(counts: &[u64]) -> u64 {
    cost_below(counts, 1).min(cost_below(counts, 3))
}

/// The same below so many roots: one, or three and a ternary digit; the most where there are too few classes.
fn cost_below(counts: &[u64], roots: usize) -> u64 {
    if counts.iter().filter(|count| **count > 0).count() < roots {
        return u64::MAX;
    }
    let digit = if roots > 1 { TRIT_COST } else { 0 };
    let of_class = |(count, mark): (&u64, u8)| match mark {
        NONE => 0,
        mark => count.saturating_mul(digit + BIT_COST * length(mark) as u64),
    };
    counts.iter().zip(marks(counts, roots)).map(of_class).fold(0, u64::saturating_add)
}

/// The mark of each class, below so many roots. Leaves in order of weight are one queue, inner nodes, made in order of
/// weight, the other.
fn marks(counts: &[u64], roots: usize) -> Vec<u8> {
    let mut leaves: Vec<usize> = (0..counts.len()).filter(|class| counts[*class] > 0).collect();
    leaves.sort_by_key(|class| counts[*class]);
    let leaf_count = leaves.len();
    let mut weights: Vec<u64> = leaves.iter().map(|class| counts[*class]).collect();
    let mut parents = vec![None; (2 * leaf_count).saturating_sub(roots)];
    let (mut leaf, mut inner) = (0, leaf_count);
    for node in leaf_count..parents.len() {
        let mut lightest = || {
            let from_leaves = leaf < leaf_count && (inner >= weights.len() || weights[leaf] <= weights[inner]);
            let place = if from_leaves { &mut leaf } else { &mut inner };
            *place += 1;
            *place - 1
        };
        let pair = [lightest(), lightest()];
        weights.push(weights[pair[0]].saturating_add(weights[pair[1]]));
        for child in pair {
            parents[child] = Some(node);
        }
    }
    let mut of_node = vec![0_u8; parents.len()];
    let mut part = 0;
    for node in (0..parents.len()).rev() {
        of_node[node] = parents[node].map_or_else(
            || {
                part += 1;
                (part - 1) << LENGTH_BITS
            },
            |parent| of_node[parent] + 1,
        );
    }
    let mut marks = vec![NONE; counts.len()];
    for (class, mark) in leaves.into_iter().zip(of_node) {
        marks[class] = mark;
    }
    marks
}

/// The entropy of the class of a key, in bits a key: below it no structure can tell the classes of a set apart without
/// errors (C. Shannon, "A mathematical theory of communication", 1948). 0 for no keys.
///
/// ```
/// assert_eq!(urlcache_evaluation::cascade::entropy(&[5, 5, 10]), 1.5);
/// ```
pub fn entropy(counts: &[u64]) -> f64 {
    let total = counts.iter().map(|count| *count as f64).sum::<f64>();
    let shares = counts.iter().filter(|count| **count > 0).map(|count| *count as f64 / total);
    shares.map(|share| -share * share.log2()).sum::<f64>().max(0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn word(part: u32, bits: u32, code: u64) -> Word {
        Word { part, bits, code }
    }

    #[test]
    fn the_code_of_the_textbooks() {
        let counts = [5, 9, 12, 13, 16, 45, 0];
        let code = Code::of_marks(marks(&counts, 1)).unwrap();
        assert_eq!(code.marks(), [4, 4, 3, 3, 3, 1, NONE]);
        assert_eq!(cost_below(&counts, 1), 2240);
        assert_eq!((code.of(5), code.of(0), code.of(6)), (Some(word(0, 1, 0)), Some(word(0, 4, 0b1110)), None));
        assert_eq!(code.ends().collect::<Vec<_>>(), [1, 3, 4]);
    }

    #[test]
    fn three_equal_classes_have_a_ternary_digit_alone() {
        let code = Code::of_counts(&[7, 7, 7]).unwrap();
        assert!(code.is_ternary() && code.ends().count() == 0);
        let parts: Vec<u32> = (0..3).map(|class| code.of(class).unwrap().part).collect();
        assert!((0..3).all(|part| parts.contains(&part)), "{parts:?}");
        let six = Code::of_counts(&[5; 6]).unwrap();
        assert!(six.is_ternary() && six.ends().eq([1]));
        assert_eq!(cost(&[5; 6]), 30 * 26);
        assert!(!Code::of_counts(&[5; 4]).unwrap().is_ternary());
    }

    #[test]
    fn one_class_needs_no_bits_and_none_has_no_code() {
        let code = Code::of_counts(&[0, 7]).unwrap();
        assert_eq!((code.decode(Word::default()), code.of(1)), (Some(1), Some(Word::default())));
        assert_eq!(code.ends().count(), 0);
        assert!(Code::of_counts(&[0, 0]).is_none());
        assert!(Code::of_counts(&[]).is_none());
    }

    #[test]
    fn marks_of_no_complete_code_are_refused() {
        let all = [
            vec![1],
            vec![1, 1, 1],
            vec![1, 2],
            vec![0, 1],
            vec![63; 2],
            vec![200; 9],
            vec![0, 64],
            vec![128],
            vec![64],
        ];
        for marks in all {
            assert!(Code::of_marks(marks.clone()).is_none(), "{marks:?}");
        }
        assert!(Code::of_marks(vec![0, 64, 128]).is_some());
    }

    #[test]
    fn the_deepest_code_is_that_of_fibonacci() {
        let mut counts = vec![1_u64, 1];
        while counts.len() < 60 {
            counts.push(counts[counts.len() - 1] + counts[counts.len() - 2]);
        }
        let code = Code::of_marks(marks(&counts, 1)).unwrap();
        assert_eq!(code.marks()[0], 59);
        assert!((0..60).all(|class| code.of(class).and_then(|word| code.decode(word)) == Some(class)));
    }

    proptest! {
        #[test]
        fn codes_are_decoded_and_within_one_bit_of_the_entropy(counts in prop::collection::vec(0_u64..1000, 1..40)) {
            prop_assume!(counts.iter().any(|count| *count > 0));
            let code = Code::of_counts(&counts).unwrap();
            for (class, count) in (0..).zip(&counts) {
                let decoded = code.of(class).map(|word| code.decode(word));
                prop_assert_eq!(decoded, (*count > 0).then_some(Some(class)));
            }
            let total = counts.iter().sum::<u64>() as f64;
            let bits = cost(&counts) as f64 / total / 10.0;
            prop_assert!(bits >= entropy(&counts) - 1e-9 && bits < entropy(&counts) + 1.0);
        }
    }
}
