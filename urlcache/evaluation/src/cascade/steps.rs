//! [`Steps`]: the cascade of Bloom filters, algorithms 1.0 and 2.0.
//!
//! Owns building and asking (N. Van Steenbrugge, "Bloomfilter cascade"). A cascade goes through the classes round by
//! round. In the step of a class, *the others* are all keys of other classes that are not resolved yet.
//!
//! - 1.0: a filter of the others. Whoever is not in it is of this class; the class keeps its keys that the filter takes
//!   by mistake.
//! - 2.0: first a filter of the class. Whoever is not in it goes on to the next step, so the second filter is one of only
//!   those others that the first takes by mistake. If there are none, whoever the first takes is of this class.
//!
//! It stops before a step with no others, and after a round that leaves one class: whoever comes so far is of that class.
//! A class without keys has an empty step. Invariant: every key of the set comes to its own class, because each step was
//! asked about each key when it was built.

#![expect(clippy::cast_possible_truncation, reason = "the number of a class fits 32 bits")]

use super::Algorithm;
use super::bloom::Bloom;
use super::training::{Conflict, TrainError, TrainingSet};

/// Rounds after which it is given up; each round halves what is left, so that 2^60 keys need 60.
const MOST_ROUNDS: u64 = 1_000;

/// Rounds after which keys in two classes are looked for, even if much is left.
const PATIENCE: u64 = 8;

/// Keys that go through the steps together.
const CHUNK: usize = 256;

/// So many keys are put into the order of their hashes, and at most so many at a time.
const MANY: usize = 1 << 12;
const MOST: usize = 1 << 18;

/// Bits of a hash that say in which page of a large filter a key is.
const PAGE_BITS: u32 = 10;

/// A cascade.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Steps {
    /// Whether it is of algorithm 2.0.
    pub(super) two: bool,
    pub(super) classes: u64,
    /// The steps that are not empty, by number; step i is one of class i modulo the number of classes.
    pub(super) filled: Vec<(u64, Step)>,
    /// How many steps there are, with the empty ones.
    pub(super) end: u64,
    /// The class of whoever passes all steps.
    pub(super) last: u32,
}

/// What distinguishes one class from the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Of 1.0: a filter of the others.
    One(Bloom),
    /// Of 2.0: a filter of the class, and one of those others that it takes.
    Two(Bloom, Option<Bloom>),
}

impl Steps {
    /// Of a set that is sorted.
    pub(super) fn train(set: &mut TrainingSet, algorithm: Algorithm) -> Result<Self, TrainError> {
        let classes = set.names.len() as u64;
        let mut cascade =
            Self { two: matches!(algorithm, Algorithm::Two { .. }), classes, filled: Vec::new(), end: 0, last: 0 };
        let mut left = Left::of(&mut set.hashes);
        while cascade.round(&mut left, algorithm) {
            left.look_for_conflicts(cascade.end / classes)?;
        }
        cascade.last = left.last();
        Ok(cascade)
    }

    /// A step for each class; false if the cascade is complete.
    fn round(&mut self, left: &mut Left<'_>, algorithm: Algorithm) -> bool {
        for class in 0..left.groups.len() {
            if left.others(class) == 0 {
                return false;
            }
            if !left.groups[class].is_empty() {
                let made = match algorithm {
                    Algorithm::Two { first, second } => left.step_two(class, self.end, [first, second]),
                    Algorithm::One { probes } => left.step_one(class, self.end, probes),
                    Algorithm::Compact => return false,
                };
                self.filled.push((self.end, made));
            }
            self.end += 1;
        }
        left.groups.iter().filter(|group| !group.is_empty()).count() > 1
    }

    /// The class of a key.
    pub(super) fn classify(&self, hash: u64) -> u32 {
        let tells = |step: &Step| match step {
            Step::One(others) => !others.holds(hash),
            Step::Two(class, None) => class.holds(hash),
            Step::Two(class, Some(others)) => class.holds(hash) && !others.holds(hash),
        };
        let decided = self.filled.iter().find(|(_, step)| tells(step));
        decided.map_or(self.last, |(number, _)| self.class(*number))
    }

    /// The classes of many keys: in order of their hashes if they are so many that neighbours share pages of the filters, so
    /// that each page is fetched once for all of them.
    pub(super) fn classify_all(&self, hashes: &[u64], classes: &mut [u32]) {
        if hashes.len() < MANY {
            return self.classify_in_order(hashes, classes);
        }
        for (hashes, classes) in hashes.chunks(MOST).zip(classes.chunks_mut(MOST)) {
            let order = by_page(hashes);
            let sorted: Vec<u64> = order.iter().map(|at| hashes[*at as usize]).collect();
            let mut found = vec![0; sorted.len()];
            self.classify_in_order(&sorted, &mut found);
            for (at, class) in order.into_iter().zip(found) {
                classes[at as usize] = class;
            }
        }
    }

    /// Step by step, so that the processor waits for the memory of many keys at once.
    fn classify_in_order(&self, hashes: &[u64], classes: &mut [u32]) {
        let mut lists = Lists::default();
        for (hashes, classes) in hashes.chunks(CHUNK).zip(classes.chunks_mut(CHUNK)) {
            lists.going.clear();
            lists.going.extend(0..hashes.len());
            for (number, step) in &self.filled {
                lists.pass(step, hashes);
                for &at in &lists.decided {
                    classes[at] = self.class(*number);
                }
                if lists.going.is_empty() {
                    break;
                }
            }
            for &at in &lists.going {
                classes[at] = self.last;
            }
        }
    }

    fn class(&self, number: u64) -> u32 {
        (number % self.classes) as u32
    }
}

/// Places of keys, by the bits of their hashes that lead to a page of a filter.
fn by_page(hashes: &[u64]) -> Vec<u32> {
    let page = |hash: &u64| (hash >> (64 - PAGE_BITS)) as usize;
    let mut starts = vec![0_u32; (1 << PAGE_BITS) + 1];
    for hash in hashes {
        starts[page(hash) + 1] += 1;
    }
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let mut order = vec![0; hashes.len()];
    for (at, hash) in (0..).zip(hashes) {
        let next = &mut starts[page(hash)];
        order[*next as usize] = at;
        *next += 1;
    }
    order
}

/// Places of the keys of a chunk.
#[derive(Default)]
struct Lists {
    /// Those that are not decided yet.
    going: Vec<usize>,
    /// Those that the last step has decided.
    decided: Vec<usize>,
    /// Of those that a filter of a class has taken, the ones that are of the others.
    taken: Vec<usize>,
}

impl Lists {
    /// Sends the keys through a step.
    fn pass(&mut self, step: &Step, hashes: &[u64]) {
        match step {
            Step::One(others) => others.split(hashes, false, &mut self.going, &mut self.decided),
            Step::Two(class, others) => {
                class.split(hashes, true, &mut self.going, &mut self.decided);
                if let Some(others) = others {
                    others.split(hashes, true, &mut self.decided, &mut self.taken);
                    self.going.extend_from_slice(&self.taken);
                }
            }
        }
    }
}

/// The keys that no step has resolved yet.
struct Left<'a> {
    groups: &'a mut [Vec<u64>],
    /// How many they are.
    count: usize,
    /// How many there were.
    total: usize,
    /// Whether it is known that no hash is in two classes.
    distinct: bool,
}

impl<'a> Left<'a> {
    fn of(groups: &'a mut [Vec<u64>]) -> Self {
        let total = groups.iter().map(Vec::len).sum();
        Self { groups, count: total, total, distinct: false }
    }

    /// How many keys of other classes are left.
    fn others(&self, class: usize) -> usize {
        self.count - self.groups[class].len()
    }

    /// Keeps those keys of a class that a filter takes by mistake: none, if there is no filter.
    fn keep(&mut self, class: usize, mistaken: Option<&Bloom>) {
        let before = self.groups[class].len();
        self.groups[class].retain(|hash| mistaken.is_some_and(|filter| filter.holds(*hash)));
        self.count -= before - self.groups[class].len();
    }

    fn hashes_of_others(&self, class: usize) -> impl Iterator<Item = u64> {
        let groups = self.groups.iter().enumerate().filter(move |(other, _)| *other != class);
        groups.flat_map(|(_, group)| group).copied()
    }

    fn step_one(&mut self, class: usize, number: u64, probes: u8) -> Step {
        let mut filter = Bloom::new(2 * number, probes, self.others(class) as u64);
        self.hashes_of_others(class).for_each(|hash| filter.insert(hash));
        self.keep(class, Some(&filter));
        Step::One(filter)
    }

    fn step_two(&mut self, class: usize, number: u64, [first, second]: [u8; 2]) -> Step {
        let mut filter = Bloom::new(2 * number, first, self.groups[class].len() as u64);
        self.groups[class].iter().for_each(|hash| filter.insert(*hash));
        let taken: Vec<u64> = self.hashes_of_others(class).filter(|hash| filter.holds(*hash)).collect();
        if taken.is_empty() {
            self.keep(class, None);
            return Step::Two(filter, None);
        }
        let mut others = Bloom::new(2 * number + 1, second, taken.len() as u64);
        for &hash in &taken {
            others.insert(hash);
        }
        self.keep(class, Some(&others));
        Step::Two(filter, Some(others))
    }

    /// The one class that is left.
    fn last(&self) -> u32 {
        self.groups.iter().position(|group| !group.is_empty()).unwrap_or_default() as u32
    }

    /// A hash in two classes is never resolved: once little is left, all such are among it.
    fn look_for_conflicts(&mut self, rounds: u64) -> Result<(), TrainError> {
        if rounds > MOST_ROUNDS {
            return Err(TrainError::Stalled);
        }
        if self.distinct || (rounds < PATIENCE && self.count > self.total / 64) {
            return Ok(());
        }
        let classes = (0..).zip(&*self.groups);
        let mut left: Vec<(u64, u32)> =
            classes.flat_map(|(class, group)| group.iter().map(move |hash| (*hash, class))).collect();
        left.sort_unstable();
        let same = left.windows(2).find(|pair| pair[0].0 == pair[1].0);
        self.distinct = same.is_none();
        same.map_or(Ok(()), |pair| {
            Err(TrainError::Conflict(Conflict { hash: pair[0].0, classes: [pair[0].1, pair[1].1] }))
        })
    }
}
