//! [`Compact`]: the classes as code words in retrieval structures, near the entropy.
//!
//! Owns the two parts of it. *Sieves* come first where one class has most of the keys: a sieve is a ribbon filter of all
//! keys but that class', and whoever does not pass it is of that class; a prefix code alone would spend a bit on each of
//! those keys, however few bits of information they hold. The *code* of the class of what passes is kept in groups of
//! digits: if its root is ternary, the first holds that digit; the next group holds the bits that every code has, the next those up to the next length at which words end, for
//! the keys whose codes are that long, and so on. Invariant: each key of the set gets its class.

#![expect(
    clippy::cast_possible_truncation,
    reason = "the number of a class fits 32 bits, and of a mixed hash the low bits are wanted"
)]

use urlcache::hash::mix;

use super::huffman::{Code, Word, cost};
use super::ribbon::{Bits, Contradiction, Entry, MOST_COLUMNS, Retrieval, RetrievalBuilder, Solution, Trits};
use super::training::{TrainError, TrainingSet};

/// Sieves at most.
pub(super) const MOST_SIEVES: usize = 16;

/// Bits of a sieve's fingerprints at most.
pub(super) const MOST_SIEVE_BITS: u32 = 24;

/// Keys that go through the structures together.
const CHUNK: usize = 64;

/// Sieves, and a code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Compact {
    pub(super) sieves: Vec<Sieve>,
    pub(super) code: Code,
    /// The first digit of a code whose root is ternary.
    pub(super) part: Option<Retrieval<Trits>>,
    /// One for each of the lengths at which words end.
    pub(super) groups: Vec<Retrieval<Bits>>,
}

/// What tells most of a class from all others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sieve {
    pub(super) class: u32,
    pub(super) filter: Fingerprints,
}

/// A set of hashes with false positives: fingerprints in a retrieval structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fingerprints {
    pub(super) values: Retrieval<Bits>,
    pub(super) salt: u64,
}

impl Fingerprints {
    /// Around fingerprints of the structure of this number.
    pub(super) fn new(values: Retrieval<Bits>, structure: u64) -> Self {
        Self { values, salt: fingerprint_salt(structure) }
    }

    #[inline]
    pub(super) fn holds(&self, hash: u64) -> bool {
        self.values.get(hash) == fingerprint(hash, self.salt, self.values.digits())
    }
}

/// What fingerprints of a structure are drawn with.
pub(super) fn fingerprint_salt(structure: u64) -> u64 {
    mix(structure | 1 << 62)
}

/// So many bits of a key.
#[inline]
pub(super) fn fingerprint(hash: u64, salt: u64, bits: u32) -> u32 {
    (mix(hash ^ salt) >> (64 - bits)) as u32
}

impl Compact {
    /// Of a set that is sorted.
    pub(super) fn train(set: &mut TrainingSet) -> Result<Self, TrainError> {
        let mut sieves = Vec::new();
        while sieves.len() < MOST_SIEVES {
            let Some((class, bits)) = best_sieve(&set.counts()) else { break };
            let filter = sieve(set, class, bits, sieves.len() as u64)?;
            set.hashes[class as usize].retain(|hash| filter.holds(*hash));
            sieves.push(Sieve { class, filter });
        }
        let code = Code::of_counts(&set.counts()).ok_or(TrainError::Stalled)?;
        let mut structure = sieves.len() as u64;
        let mut part = None;
        if code.is_ternary() {
            part = Some(parts(set, &code, structure)?);
            structure += 1;
        }
        let mut groups = Vec::new();
        for (structure, (from, to)) in (structure..).zip(spans(&code)) {
            groups.push(group(set, &code, [from, to], structure)?);
        }
        Ok(Self { sieves, code, part, groups })
    }

    /// The class of a key.
    pub(super) fn classify(&self, hash: u64) -> u32 {
        if let Some(sieve) = self.sieves.iter().find(|sieve| !sieve.filter.holds(hash)) {
            return sieve.class;
        }
        let part = self.part.as_ref().map_or(0, |part| part.get(hash));
        let mut word = Word { part, ..Word::default() };
        for group in &self.groups {
            if let Some(class) = self.code.decode(word) {
                return class;
            }
            word = longer(word, group, hash);
        }
        self.code.decode(word).unwrap_or_default()
    }

    /// The classes of many keys, structure by structure, with their memory fetched ahead.
    pub(super) fn classify_all(&self, hashes: &[u64], classes: &mut [u32]) {
        let mut going: Vec<(usize, Word)> = Vec::with_capacity(CHUNK);
        for (hashes, classes) in hashes.chunks(CHUNK).zip(classes.chunks_mut(CHUNK)) {
            going.clear();
            going.extend((0..hashes.len()).map(|at| (at, Word::default())));
            for sieve in &self.sieves {
                fetch_ahead(&sieve.filter.values, &going, hashes);
                going.retain(|(at, _)| {
                    classes[*at] = sieve.class;
                    sieve.filter.holds(hashes[*at])
                });
            }
            let mut decode = |at: usize, word| {
                let class = self.code.decode(word);
                classes[at] = class.unwrap_or_default();
                class.is_none()
            };
            if let Some(part) = &self.part {
                fetch_ahead(part, &going, hashes);
                for (at, word) in &mut going {
                    word.part = part.get(hashes[*at]);
                }
            }
            going.retain(|(at, word)| decode(*at, *word));
            for group in &self.groups {
                fetch_ahead(group, &going, hashes);
                going.retain_mut(|(at, word)| {
                    *word = longer(*word, group, hashes[*at]);
                    decode(*at, *word)
                });
            }
        }
    }
}

/// A word, and the bits of a group after it.
#[inline]
fn longer(word: Word, group: &Retrieval<Bits>, hash: u64) -> Word {
    let digits = group.digits();
    Word { bits: word.bits + digits, code: word.code << digits | u64::from(group.get(hash)), ..word }
}

/// Begins to fetch what a structure holds of the keys that go through it.
fn fetch_ahead<S: Solution>(values: &Retrieval<S>, going: &[(usize, Word)], hashes: &[u64]) {
    for (at, _) in going {
        values.fetch_ahead(hashes[*at]);
    }
}

/// The bits of the words that each group holds: from the first to before the second.
pub(super) fn spans(code: &Code) -> impl Iterator<Item = (u32, u32)> {
    let mut from = 0;
    code.ends().map(move |to| (std::mem::replace(&mut from, to), to))
}

/// The class that has most of the keys, and how many bits a sieve of the others should have: `None` if the code alone takes
/// fewer bits. A sieve of r bits takes r bits for each of the others, and lets 2^-r of the class through.
fn best_sieve(counts: &[u64]) -> Option<(u32, u32)> {
    let (class, most) = (0..).zip(counts).max_by_key(|(_, count)| **count)?;
    let others = counts.iter().sum::<u64>() - most;
    let mut counts = counts.to_vec();
    let mut bits_with = |bits: u32| {
        counts[class as usize] = most >> bits;
        10 * others * u64::from(bits) + cost(&counts)
    };
    let mut best = (0, bits_with(0));
    for bits in 1..=MOST_SIEVE_BITS {
        let with = bits_with(bits);
        if with >= best.1 && bits > 2 {
            break;
        }
        best = if with < best.1 { (bits, with) } else { best };
    }
    (best.0 > 0).then_some((class, best.0))
}

/// The fingerprints of all keys but those of a class.
fn sieve(set: &TrainingSet, class: u32, bits: u32, structure: u64) -> Result<Fingerprints, TrainError> {
    let salt = fingerprint_salt(structure);
    let keys = set.counts().iter().sum::<u64>() - set.hashes[class as usize].len() as u64;
    let builder = RetrievalBuilder::new(keys, bits, structure);
    let values = build(set, builder, |other| other != class, |_, hash| fingerprint(hash, salt, bits))?;
    Ok(Fingerprints::new(values, structure))
}

/// The first digits of the words.
fn parts(set: &TrainingSet, code: &Code, structure: u64) -> Result<Retrieval<Trits>, TrainError> {
    let words = words(set, code);
    let builder = RetrievalBuilder::new(set.counts().iter().sum(), 1, structure);
    build(
        set,
        builder,
        |class| words[class as usize].is_some(),
        |class, _| words[class as usize].unwrap_or_default().part,
    )
}

/// The bits of the words between two places, for the classes whose words have them.
fn group(set: &TrainingSet, code: &Code, [from, to]: [u32; 2], structure: u64) -> Result<Retrieval<Bits>, TrainError> {
    let columns = to - from;
    if columns > MOST_COLUMNS {
        return Err(TrainError::Stalled);
    }
    let mut words = words(set, code);
    for word in &mut words {
        *word = word.filter(|word| word.bits >= to);
    }
    let keys = set.hashes.iter().zip(&words).filter(|(_, word)| word.is_some()).map(|(hashes, _)| hashes.len() as u64);
    let builder = RetrievalBuilder::new(keys.sum(), columns, structure);
    let value = |class: u32, _| {
        let word = words[class as usize].unwrap_or_default();
        (word.code >> (word.bits - to) & ((1 << columns) - 1)) as u32
    };
    build(set, builder, |class| words[class as usize].is_some(), value)
}

/// The word of each class.
fn words(set: &TrainingSet, code: &Code) -> Vec<Option<Word>> {
    (0..set.names.len() as u32).map(|class| code.of(class)).collect()
}

/// Fills a structure with values of the keys of some classes.
fn build<S: Solution>(
    set: &TrainingSet,
    mut builder: RetrievalBuilder<S>,
    takes: impl Fn(u32) -> bool,
    value: impl Fn(u32, u64) -> u32,
) -> Result<Retrieval<S>, TrainError> {
    let mut rests: Vec<(u32, &[u64])> =
        (0..).zip(&set.hashes).filter(|(class, _)| takes(*class)).map(|(class, hashes)| (class, &hashes[..])).collect();
    let mut entries = Vec::new();
    for shard in 0..builder.shards() {
        entries.clear();
        for (class, rest) in &mut rests {
            while let Some((&hash, after)) = rest.split_first().filter(|(hash, _)| builder.shard_of(**hash) == shard) {
                entries.push(Entry { hash, value: value(*class, hash) });
                *rest = after;
            }
        }
        let conflict = |Contradiction { hash }| TrainError::Conflict(set.conflict(hash));
        builder.shard(&mut entries).map_err(conflict)?;
    }
    builder.finish().ok_or(TrainError::Stalled)
}
