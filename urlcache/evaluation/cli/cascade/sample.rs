//! Keys of the measurements: as many, as long and in as many classes as the document's files, but generated.

use std::str::FromStr;

use urlcache::HashSeed;

/// Bytes of a key, as in the document's files.
pub(super) const KEY_BYTES: usize = 15;

/// Keys at most: hashes of 8 bytes of more would not fit into the memory of a usual machine.
const MOST_KEYS: u64 = 4_000_000_000;

/// Classes at most: a cascade goes through all of them for every key.
const MOST_CLASSES: u32 = 65_536;

/// How many keys and classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) keys: u64,
    pub(super) classes: u32,
}

impl Size {
    /// The document's, by name.
    pub(super) const NAMED: [(&'static str, Self); 3] = [
        ("small", Self { keys: 226_556, classes: 3 }),
        ("medium", Self { keys: 4_898_932, classes: 6 }),
        ("large", Self { keys: 25_000_000, classes: 10 }),
    ];

    /// Its name, if it is one of the document's.
    pub(super) fn name(self) -> Option<&'static str> {
        Self::NAMED.into_iter().find(|(_, size)| *size == self).map(|(name, _)| name)
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((_, size)) = Self::NAMED.into_iter().find(|(name, _)| *name == text) {
            return Ok(size);
        }
        let parts = text.split_once(',').and_then(|(keys, classes)| Some((keys.parse().ok()?, classes.parse().ok()?)));
        match parts {
            Some((keys, classes))
                if (1..=MOST_KEYS).contains(&keys)
                    && (1..=MOST_CLASSES).contains(&classes)
                    && u64::from(classes) <= keys =>
            {
                Ok(Self { keys, classes })
            }
            _ => Err(format!(
                "a size is small, medium, large or KEYS,CLASSES, with up to {MOST_KEYS} keys in up to {MOST_CLASSES} classes, none of them empty"
            )),
        }
    }
}

/// The keys of a measurement: those of a class follow each other; their text tells nothing of it.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    /// The first key of each class, and the number of all.
    starts: Vec<u64>,
    seed: HashSeed,
}

impl Sample {
    /// Class i (from 1) has a share in proportion to `i^-skew`: 0 makes them equal. Each has at least one key. Another seed
    /// makes other keys.
    pub(super) fn new(size: Size, skew: f64, seed: u64) -> Self {
        let weights: Vec<f64> = (1..=size.classes).map(|class| f64::from(class).powf(-skew)).collect();
        let total: f64 = weights.iter().sum();
        let spare = (size.keys - u64::from(size.classes)) as f64;
        let mut starts = vec![0];
        let mut sum = 0.0;
        for (class, weight) in (1..).zip(weights) {
            sum += weight;
            starts.push(class + rounded(spare * (sum / total).min(1.0)));
        }
        starts[size.classes as usize] = size.keys;
        Self { starts, seed: HashSeed::new(seed) }
    }

    pub(super) fn keys(&self) -> u64 {
        self.starts.last().copied().unwrap_or_default()
    }

    /// The number of keys of each class.
    pub(super) fn counts(&self) -> Vec<u64> {
        self.starts.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    /// The class of the key of this number.
    pub(super) fn class(&self, key: u64) -> usize {
        self.starts.partition_point(|start| *start <= key) - 1
    }

    /// The text of the key of this number: each differs from the others, since the seeds that are derived do.
    pub(super) fn text(&self, key: u64) -> [u8; KEY_BYTES] {
        const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
        let [high, low] = [key >> 32, key & 0xffff_ffff].map(|half| u32::try_from(half).unwrap_or(u32::MAX));
        let mixed = self.seed.derive(high, low).value();
        let mut text = *b"u/aaaaaaaaaaaaa";
        for (place, digit) in text[2..].iter_mut().enumerate() {
            *digit = DIGITS[(mixed >> (5 * place) & 31) as usize];
        }
        text
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "shares of a number of keys")]
fn rounded(share: f64) -> u64 {
    share.floor() as u64
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn sizes_are_read_and_shares_add_up() {
        for (text, keys, classes) in [("small", 226_556, 3), ("large", 25_000_000, 10), ("7,2", 7, 2)] {
            let size: Size = text.parse().unwrap();
            assert_eq!((size.keys, size.classes), (keys, classes));
            for skew in [0.0, 1.0, 30.0] {
                let sample = Sample::new(size, skew, 1);
                let counts = sample.counts();
                assert_eq!((counts.iter().sum::<u64>(), sample.keys(), counts.len()), (keys, keys, classes as usize));
                assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
                assert_eq!((sample.class(0), sample.class(keys - 1)), (0, classes as usize - 1));
            }
        }
        let even = Sample::new("1000,4".parse().unwrap(), 0.0, 1).counts();
        assert!(even.iter().all(|count| (249..=251).contains(count)), "{even:?}");
        assert!(
            ["", "huge", "0,1", "5,6", "5", "5,0", "-1,1", "5000000000,2"]
                .iter()
                .all(|text| text.parse::<Size>().is_err())
        );
    }

    #[test]
    fn keys_differ_and_are_the_same_again() {
        let [one, other] = [1, 2].map(|seed| Sample::new(Size { keys: 10_000, classes: 1 }, 0.0, seed));
        let keys: HashSet<_> = (0..10_000).map(|key| one.text(key)).collect();
        assert_eq!((keys.len(), one.text(77)), (10_000, one.clone().text(77)));
        assert!((0..10_000).all(|key| !keys.contains(&other.text(key))));
    }
}
