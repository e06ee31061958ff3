//! The document's algorithm 5: records that are all different are parted into halves B and C, one filter is made of each,
//! and every record that both filters find is a false positive.
//!
//! Owns the count and its expectation. A record of B is found in the filter of C if each of its words is known there, by
//! truth or by accident, and so is its combination: the expectation multiplies the rates of what is not known.

use std::collections::HashSet;

use anyhow::Result;
use urlcache::HashSeed;

use super::{
    contestants::Contestant,
    filters::{Build, Form, WordFilter, joined},
    records::Record,
    spread::Tally,
};

/// False positives of one filter over all rounds.
#[derive(Debug, Clone)]
pub(super) struct Count {
    pub(super) contestant: Contestant,
    /// All records are asked for in each round: each is right once, in its own half, and a stranger to the other.
    pub(super) rounds: Vec<Tally>,
}

/// What a half holds, exactly.
struct Truth<'r> {
    /// Words by layer.
    words: Vec<HashSet<&'r str>>,
    /// Combinations, as far as the filter tells them apart.
    combinations: HashSet<String>,
}

/// Splits the records anew in each round, and counts.
pub(super) fn run(records: &[Record], contestants: &[Contestant], rounds: u32, seed: u64) -> Vec<Count> {
    let start = |contestant: &Contestant| Count { contestant: contestant.clone(), rounds: Vec::new() };
    let mut counts: Vec<Count> = contestants.iter().map(start).collect();
    let asked = records.len() as u64;
    for round in 0..rounds {
        let (shuffled, hash) = shuffled(records, HashSeed::new(seed).derive(4, round));
        let (b, c) = shuffled.split_at(shuffled.len() / 2);
        for Count { contestant: Contestant { build, .. }, rounds } in &mut counts {
            let chances = [probabilities(build, b, c), probabilities(build, c, b)].concat();
            rounds.push(Tally {
                strangers: asked,
                wrong: both(build, b, c, hash),
                right: asked,
                missed: 0,
                expected: chances.iter().sum(),
                variance: chances.iter().map(|chance| chance * (1.0 - chance)).sum(),
            });
        }
    }
    counts
}

fn shuffled(records: &[Record], seed: HashSeed) -> (Vec<&Record>, u64) {
    let mut order: Vec<(u64, &Record)> =
        (0..).zip(records).map(|(number, record)| (seed.derive(5, number).value(), record)).collect();
    order.sort_by_key(|(place, record)| (*place, record.line));
    (order.into_iter().map(|(_, record)| record).collect(), seed.value())
}

/// Records that the filters of both halves find.
fn both(build: &Build, b: &[&Record], c: &[&Record], seed: u64) -> u64 {
    let [of_b, of_c] = [b, c].map(|half| {
        let mut filter = WordFilter::new(*build, seed);
        for record in half {
            filter.insert(&record.words);
        }
        filter
    });
    let all = b.iter().chain(c);
    all.filter(|record| of_b.finds(&record.words) && of_c.finds(&record.words)).count() as u64
}

/// How probable it is for each of these records that the filter of the others finds it.
fn probabilities(build: &Build, asked: &[&Record], others: &[&Record]) -> Vec<f64> {
    let truth = Truth::of(build, others);
    let rates: Vec<f64> = truth.words.iter().map(|words| build.layer.rate_at(words.len() as u64)).collect();
    let combined = build.combined.rate_at(truth.combinations.len() as u64);
    let of_record = |record: &&Record| {
        let unknown: HashSet<(usize, &str)> =
            places(build, &record.words).filter(|(layer, word)| !truth.words[*layer].contains(word)).collect();
        let words: f64 = unknown.iter().map(|(layer, _)| rates[*layer]).product();
        let passes = build.form == Form::Words || truth.combinations.contains(&distinct(build.form, &record.words));
        words * if passes { 1.0 } else { combined }
    };
    asked.iter().map(of_record).collect()
}

/// The words that go into layers, with the layer of each; a filter of whole lists has none.
fn places<'w>(build: &Build, words: &'w [Box<str>]) -> impl Iterator<Item = (usize, &'w str)> {
    let layers = build.layers as usize;
    let taken = if build.form == Form::Whole { 0 } else { words.len() };
    words.iter().take(taken).enumerate().map(move |(index, word)| (index % layers, &**word))
}

/// What the layer of combinations sees of a list: XOR sees which words come an odd number of times, in any order.
fn distinct(form: Form, words: &[Box<str>]) -> String {
    if form != Form::Plain {
        return joined(words);
    }
    let mut sorted = words.to_vec();
    sorted.sort();
    let odd = sorted.chunk_by(|one, other| one == other).filter(|same| same.len() % 2 == 1);
    joined(&odd.map(|same| same[0].clone()).collect::<Vec<_>>())
}

impl<'r> Truth<'r> {
    fn of(build: &Build, records: &[&'r Record]) -> Self {
        let mut words = vec![HashSet::new(); build.layers as usize];
        for record in records {
            for (layer, word) in places(build, &record.words) {
                words[layer].insert(word);
            }
        }
        let combinations = records.iter().map(|record| distinct(build.form, &record.words)).collect();
        Self { words, combinations }
    }
}

/// Different keywords of a half, on average over the two halves of one split.
pub(super) fn words_of_a_half(records: &[Record], seed: u64) -> Result<u64> {
    let (shuffled, _) = shuffled(records, HashSeed::new(seed).derive(4, 0));
    let (b, c) = shuffled.split_at(shuffled.len() / 2);
    let words = [b, c].map(|half| half.iter().flat_map(|record| &record.words).collect::<HashSet<_>>().len());
    Ok(u64::try_from(words[0].midpoint(words[1]))?.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multilayer::keywords::{contestants, records::Records, spread};

    #[test]
    fn counts_are_those_of_theory() {
        let records = Records::generated(1_000).unwrap().all;
        let words = words_of_a_half(&records, 1).unwrap();
        let load = contestants::Load { lists: records.len() as u64 / 2, words, layers: 4, error_rate: 0.05 };
        let counts = run(&records, &contestants::all(load).unwrap(), 12, 1);
        for count in &counts {
            let all = spread::total(&count.rounds);
            let deviation = spread::deviation(&count.rounds);
            assert!(deviation.is_none_or(|deviation| deviation.abs() < 4.5), "{:?} {all:?}", count.contestant);
            assert!(all.expected < 3.0 || all.wrong > 0, "{:?}", count.contestant);
        }
        let at_error_rate = counts.iter().find(|count| count.contestant.memory == contestants::ERROR_RATE).unwrap();
        let rate = spread::rate(&at_error_rate.rounds).value;
        assert!((0.04..0.06).contains(&rate), "{rate}");
    }

    #[test]
    fn xor_sees_words_that_come_an_odd_number_of_times() {
        let list = |text: &str| text.chars().map(|letter| letter.to_string().into_boxed_str()).collect::<Vec<_>>();
        assert_eq!(distinct(Form::Plain, &list("abca")), distinct(Form::Plain, &list("cb")));
        assert_ne!(distinct(Form::Corrected, &list("ab")), distinct(Form::Corrected, &list("ba")));
    }
}
