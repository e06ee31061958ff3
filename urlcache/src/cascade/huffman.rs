//! [`Code`]: a prefix code over the classes, and the entropy that it comes near to.
//!
//! Owns Huffman's construction ("A method for the construction of minimum-redundancy codes", 1952) with two queues, and
//! the canonical code of the lengths. Invariant: the code is complete, so any bits are decoded to some class.

#![expect(clippy::cast_possible_truncation, reason = "places are those of a table in memory")]

/// Bits of the longest code: reached by the weights of Fibonacci at 10^13 keys.
pub(super) const LONGEST: usize = 63;

/// A length that says that a class has no code.
pub(super) const NONE: u8 = 0xff;

/// A canonical prefix code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Code {
    /// By class, in bits; [`NONE`] for a class that does not occur.
    lengths: Vec<u8>,
    /// Classes in order of their codes.
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
        Self::of_lengths(lengths(counts))
    }

    /// The canonical code of these lengths; `None` if they are not those of a complete code.
    pub(super) fn of_lengths(lengths: Vec<u8>) -> Option<Self> {
        let mut classes: Vec<u32> =
            (0..).zip(&lengths).filter(|(_, bits)| **bits != NONE).map(|(class, _)| class).collect();
        classes.sort_by_key(|class| lengths[*class as usize]);
        let longest = usize::from(*lengths.iter().filter(|bits| **bits != NONE).max()?);
        if longest > LONGEST {
            return None;
        }
        let mut rows = vec![Row::default(); longest + 1];
        for &class in &classes {
            rows[usize::from(lengths[class as usize])].count += 1;
        }
        let mut next = Row::default();
        for row in &mut rows {
            *row = Row { count: row.count, ..next };
            next = Row {
                code: (row.code.checked_add(row.count)?).checked_mul(2)?,
                begin: row.begin + row.count as usize,
                count: 0,
            };
        }
        let complete = next.code == 1 << (longest + 1);
        complete.then_some(Self { lengths, classes, rows })
    }

    pub(super) fn lengths(&self) -> &[u8] {
        &self.lengths
    }

    /// Length and code of a class, if it has one.
    pub(super) fn of(&self, class: u32) -> Option<(u32, u64)> {
        let bits = self.lengths[class as usize];
        let row = self.rows.get(usize::from(bits))?;
        let order = &self.classes[row.begin..row.begin + row.count as usize];
        let place = order.binary_search(&class).ok()?;
        Some((u32::from(bits), row.code + place as u64))
    }

    /// The class of the code of so many bits; `None` if longer codes begin with it.
    #[inline]
    pub(super) fn decode(&self, bits: u32, code: u64) -> Option<u32> {
        let row = self.rows.get(bits as usize)?;
        let place = code.wrapping_sub(row.code);
        (place < row.count).then(|| self.classes[row.begin + place as usize])
    }

    /// The lengths at which codes end, without 0.
    pub(super) fn ends(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.rows).skip(1).filter(|(_, row)| row.count > 0).map(|(bits, _)| bits)
    }
}

/// Bits that the keys take under the best code: the sum of count times length.
pub(super) fn coded_bits(counts: &[u64]) -> u64 {
    let bits = |(count, length): (&u64, u8)| if length == NONE { 0 } else { count * u64::from(length) };
    counts.iter().zip(lengths(counts)).map(bits).sum()
}

/// The length of each class' code. Leaves in order of weight are one queue, inner nodes, made in order of weight, the
/// other.
fn lengths(counts: &[u64]) -> Vec<u8> {
    let mut leaves: Vec<usize> = (0..counts.len()).filter(|class| counts[*class] > 0).collect();
    leaves.sort_by_key(|class| counts[*class]);
    let leaf_count = leaves.len();
    let mut weights: Vec<u64> = leaves.iter().map(|class| counts[*class]).collect();
    let mut parents = vec![0; leaf_count.saturating_mul(2).saturating_sub(1)];
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
            parents[child] = node;
        }
    }
    let mut depths = vec![0_u8; parents.len()];
    for node in (0..parents.len().saturating_sub(1)).rev() {
        depths[node] = depths[parents[node]].saturating_add(1);
    }
    let mut lengths = vec![NONE; counts.len()];
    for (class, depth) in leaves.into_iter().zip(depths) {
        lengths[class] = depth;
    }
    lengths
}

/// The entropy of the class of a key, in bits a key: below it no structure can tell the classes of a set apart without
/// errors (C. Shannon, "A mathematical theory of communication", 1948). 0 for no keys.
///
/// ```
/// assert_eq!(urlcache::entropy(&[5, 5, 10]), 1.5);
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

    #[test]
    fn the_code_of_the_textbooks() {
        let code = Code::of_counts(&[5, 9, 12, 13, 16, 45, 0]).unwrap();
        assert_eq!(code.lengths(), [4, 4, 3, 3, 3, 1, NONE]);
        assert_eq!(coded_bits(&[5, 9, 12, 13, 16, 45]), 224);
        assert_eq!((code.of(5), code.of(0), code.of(6)), (Some((1, 0)), Some((4, 0b1110)), None));
        assert_eq!(code.ends().collect::<Vec<_>>(), [1, 3, 4]);
    }

    #[test]
    fn one_class_needs_no_bits_and_none_has_no_code() {
        let code = Code::of_counts(&[0, 7]).unwrap();
        assert_eq!((code.decode(0, 0), code.of(1), code.ends().count()), (Some(1), Some((0, 0)), 0));
        assert!(Code::of_counts(&[0, 0]).is_none());
        assert!(Code::of_counts(&[]).is_none());
    }

    #[test]
    fn lengths_of_no_complete_code_are_refused() {
        for lengths in [vec![1], vec![1, 1, 1], vec![1, 2], vec![0, 1], vec![64], vec![200; 9]] {
            assert!(Code::of_lengths(lengths.clone()).is_none(), "{lengths:?}");
        }
    }

    #[test]
    fn the_deepest_code_is_that_of_fibonacci() {
        let mut counts = vec![1_u64, 1];
        while counts.len() < 60 {
            counts.push(counts[counts.len() - 1] + counts[counts.len() - 2]);
        }
        let code = Code::of_counts(&counts).unwrap();
        assert_eq!(code.lengths()[0], 59);
        assert!(
            (0..60).all(|class| code.of(class).and_then(|(bits, code_of)| code.decode(bits, code_of)) == Some(class))
        );
    }

    proptest! {
        #[test]
        fn codes_are_decoded_and_within_one_bit_of_the_entropy(counts in prop::collection::vec(0_u64..1000, 1..40)) {
            prop_assume!(counts.iter().any(|count| *count > 0));
            let code = Code::of_counts(&counts).unwrap();
            for class in 0..counts.len() as u32 {
                let decoded = code.of(class).map(|(bits, of)| code.decode(bits, of));
                prop_assert_eq!(decoded, (counts[class as usize] > 0).then_some(Some(class)));
            }
            let total = counts.iter().sum::<u64>() as f64;
            let bits = coded_bits(&counts) as f64 / total;
            prop_assert!(bits >= entropy(&counts) - 1e-9 && bits < entropy(&counts) + 1.0);
        }
    }
}
