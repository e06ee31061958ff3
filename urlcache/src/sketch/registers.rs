//! [`Registers`]: the bytes of a `HyperLogLog`, in less memory while most of them are 0.
//!
//! Invariants: a register only rises; the two forms hold the same values, and equal values have the same form, whatever the
//! order of the keys was. The sparse form never takes more than a quarter of the memory of the dense one.
//!
//! Does not know hashes or estimates.

/// All registers, 0 at first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Registers {
    /// Those above 0, by place: `place * 256 + value`.
    Sparse(Vec<u32>),
    /// One byte each.
    Dense(Box<[u8]>),
}

/// Bits of a value.
const VALUE: u32 = 8;

/// A dense form of so many times the bytes of the sparse one is as good.
const SHARE: usize = 4;

impl Registers {
    pub(super) const fn new() -> Self {
        Self::Sparse(Vec::new())
    }

    /// Raises a register of `count` to a value above 0, if it is lower.
    pub(super) fn raise(&mut self, count: usize, place: u32, value: u8) {
        match self {
            Self::Dense(values) => {
                let there = &mut values[place as usize];
                *there = value.max(*there);
            }
            Self::Sparse(entries) => {
                let entry = place << VALUE | u32::from(value);
                match entries.binary_search_by_key(&place, |entry| entry >> VALUE) {
                    Ok(found) => entries[found] = entry.max(entries[found]),
                    Err(gap) => {
                        entries.insert(gap, entry);
                        self.thicken(count);
                    }
                }
            }
        }
    }

    /// Raises each register to the value of another one.
    pub(super) fn raise_all(&mut self, count: usize, others: &Self) {
        match (&mut *self, others) {
            (Self::Dense(values), Self::Dense(others)) => {
                for (value, other) in values.iter_mut().zip(others) {
                    *value = (*value).max(*other);
                }
            }
            (Self::Sparse(entries), Self::Sparse(others)) => {
                *entries = merged(entries, others);
                self.thicken(count);
            }
            (Self::Sparse(_), Self::Dense(_)) => {
                let mut dense = others.clone();
                dense.raise_all(count, self);
                *self = dense;
            }
            (Self::Dense(_), Self::Sparse(others)) => {
                for (place, value) in others.iter().copied().map(parts) {
                    self.raise(count, place, value);
                }
            }
        }
    }

    /// How many registers of `count` have each value up to `highest`.
    pub(super) fn histogram(&self, count: usize, highest: u8) -> Vec<u64> {
        let mut histogram = vec![0; usize::from(highest) + 1];
        match self {
            Self::Dense(values) => values.iter().for_each(|value| histogram[usize::from(*value)] += 1),
            Self::Sparse(entries) => {
                for entry in entries {
                    histogram[usize::from(parts(*entry).1)] += 1;
                }
                histogram[0] = (count - entries.len()) as u64;
            }
        }
        histogram
    }

    /// Bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Sparse(entries) => entries.capacity() * size_of::<u32>(),
            Self::Dense(values) => values.len(),
        }
    }

    /// Takes the dense form as soon as the sparse one saves too little.
    fn thicken(&mut self, count: usize) {
        if let Self::Sparse(entries) = self
            && entries.len() * size_of::<u32>() * SHARE > count
        {
            let mut values = vec![0; count];
            for (place, value) in entries.iter().copied().map(parts) {
                values[place as usize] = value;
            }
            *self = Self::Dense(values.into());
        }
    }
}

/// Place and value.
fn parts(entry: u32) -> (u32, u8) {
    (entry >> VALUE, entry.to_le_bytes()[0])
}

/// The entries of two sorted lists, of each place the higher one.
fn merged(ours: &[u32], others: &[u32]) -> Vec<u32> {
    let mut merged = Vec::with_capacity(ours.len().max(others.len()));
    let (mut ours, mut others) = (ours.iter().copied().peekable(), others.iter().copied().peekable());
    while let (Some(one), Some(other)) = (ours.peek().copied(), others.peek().copied()) {
        let (place, other_place) = (one >> VALUE, other >> VALUE);
        merged.push(if place < other_place || (place == other_place && one >= other) { one } else { other });
        ours.next_if(|_| place <= other_place);
        others.next_if(|_| other_place <= place);
    }
    merged.extend(ours);
    merged.extend(others);
    merged
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COUNT: usize = 64;

    fn of(raises: &[(u32, u8)]) -> Registers {
        let mut registers = Registers::new();
        for (place, value) in raises {
            registers.raise(COUNT, *place, *value);
        }
        registers
    }

    proptest! {
        #[test]
        fn both_forms_hold_the_greatest_values(
            one in prop::collection::vec((0..64_u32, 1..60_u8), 0..12),
            other in prop::collection::vec((0..64_u32, 1..60_u8), 0..12),
        ) {
            let all = [&one[..], &other].concat();
            let mut values = [0_u8; COUNT];
            for (place, value) in &all {
                values[*place as usize] = values[*place as usize].max(*value);
            }
            let mut histogram = vec![0; 61];
            for value in values {
                histogram[usize::from(value)] += 1;
            }
            let mut united = of(&one);
            united.raise_all(COUNT, &of(&other));
            prop_assert_eq!(united.histogram(COUNT, 60), histogram);
            prop_assert_eq!(&united, &of(&all));
            prop_assert!(united.bytes() <= COUNT);
        }
    }
}
