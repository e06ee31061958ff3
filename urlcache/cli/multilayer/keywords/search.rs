//! Which records hold all of some keywords: by truth, and by a filter for each record.
//!
//! Owns the filters of records: the document's multi-layer filter, with as many layers as the record has keywords for each
//! hash function, and Bloom filters of the same bits. A word is looked for in every layer, because its place in the question
//! is not its place in the record; the literal algorithm 4 is counted too.

use anyhow::Result;
use serde::Serialize;
use urlcache::{HashSeed, Plan};

use super::{
    contestants::{DOCUMENT, EQUAL, OF_WORDS, PLAIN, TOTAL, at_error_rate, hashes, layers_for},
    filters::{Build, Form, WordFilter},
    records::Record,
};
use crate::multilayer::method::{best, power_of_two};

/// A filter for each record.
pub(super) struct Index {
    pub(super) method: &'static str,
    pub(super) memory: &'static str,
    filters: Vec<WordFilter>,
    pub(super) bits: u64,
}

/// What the answers of an index were worth.
#[derive(Debug, Clone)]
pub(super) struct Worth {
    pub(super) method: &'static str,
    pub(super) memory: &'static str,
    pub(super) bits: u64,
    /// Pairs of a question and a record that does not answer it.
    pub(super) strangers: u64,
    /// Records found that answer.
    pub(super) right: u64,
    /// Records found that do not.
    pub(super) wrong: u64,
    /// How many of these the bits that are set let expect.
    pub(super) expected: f64,
    /// Records that answer but are not found.
    pub(super) missed: u64,
}

/// A record that some index, or the truth, says to hold all words.
#[derive(Debug, Serialize)]
pub(super) struct Found {
    pub(super) line: u64,
    /// Whether it really holds them.
    pub(super) holds_all: bool,
    pub(super) bloom: bool,
    pub(super) multilayer: bool,
    pub(super) keywords: String,
}

/// The name of the multi-layer filter asked by the document's algorithm 4, literally.
pub(super) const LITERAL: &str = "algorithm 4, literally";

/// Bits of the filters of one record.
struct Sizes {
    words: u64,
    layers: u32,
    /// Of one array, for the error rate.
    m: Plan,
    /// Of each layer, with the memory of the document.
    document: u64,
    /// Of each layer, at equal memory.
    equal: u64,
}

impl Sizes {
    fn of(record: &Record, error_rate: f64) -> Result<Self> {
        let words = record.words.len() as u64;
        let layers = layers_for(record.words.len(), hashes(error_rate));
        let m = at_error_rate(words, error_rate)?;
        let share = m.bits() as f64 / f64::from(layers + 1);
        Ok(Self { words, layers, m, document: power_of_two(m.bits() as f64), equal: power_of_two(share) })
    }

    fn one(plan: Plan) -> Build {
        Build { form: Form::Words, layers: 1, layer: plan, combined: plan }
    }

    fn layered(&self, layer: Plan) -> Build {
        Build { form: Form::Plain, layers: self.layers, layer, combined: layer }
    }

    /// As many bits as all layers of so many.
    fn total(&self, layer: u64) -> Result<Build> {
        Ok(Self::one(best(layer * u64::from(self.layers + 1), self.words)?))
    }

    fn build(&self, method: &str, memory: &str) -> Result<Build> {
        let in_a_layer = self.words.div_ceil(self.layers.max(1).into());
        Ok(match (method, memory) {
            (PLAIN, EQUAL) => self.layered(best(self.equal, in_a_layer)?),
            (PLAIN, _) => self.layered(Plan::new(self.document, self.m.shape().hashes())?),
            (_, EQUAL) => self.total(self.equal)?,
            (_, TOTAL) => self.total(self.document)?,
            _ => Self::one(self.m),
        })
    }
}

/// All that is compared: a method and its memory.
pub(super) const COMPARED: [(&str, &str); 5] =
    [(OF_WORDS, DOCUMENT), (PLAIN, DOCUMENT), (OF_WORDS, TOTAL), (OF_WORDS, EQUAL), (PLAIN, EQUAL)];

/// Those that the list of a search shows.
pub(super) const SHOWN: [(&str, &str); 2] = [(OF_WORDS, DOCUMENT), (PLAIN, DOCUMENT)];

/// A filter for each record.
pub(super) fn index(
    records: &[Record],
    (method, memory): (&'static str, &'static str),
    error_rate: f64,
    seed: u64,
) -> Result<Index> {
    let mut index = Index { method, memory, filters: Vec::new(), bits: 0 };
    for (number, record) in (0..).zip(records) {
        let build = Sizes::of(record, error_rate)?.build(method, memory)?;
        // A seed for each, or a word would be mistaken in all records or in none.
        let mut filter = WordFilter::new(build, HashSeed::new(seed).derive(6, number).value());
        filter.insert(&record.words);
        index.filters.push(filter);
        index.bits += build.bits();
    }
    Ok(index)
}

/// So many questions of two different keywords that some record holds; of one where no record has two.
pub(super) fn questions(records: &[Record], count: u32, seed: u64) -> Vec<Vec<Box<str>>> {
    let has_two = |record: &&Record| record.words.iter().any(|word| *word != record.words[0]);
    let mut fit: Vec<&Record> = records.iter().filter(has_two).collect();
    if fit.is_empty() {
        fit.extend(records);
    }
    let question = |number| {
        let draw = |turn: u32, limit: usize| {
            let drawn = HashSeed::new(seed).derive(7, number).derive(turn, 0).value();
            usize::try_from(drawn % limit.max(1) as u64).unwrap_or(0)
        };
        let words = &fit[draw(0, fit.len())].words;
        let first = &words[draw(1, words.len())];
        let others: Vec<&Box<str>> = words.iter().filter(|word| *word != first).collect();
        let second = others.get(draw(2, others.len())).copied();
        std::iter::once(first).chain(second).cloned().collect()
    };
    (0..count).map(question).collect()
}

impl Index {
    /// Whether the filter of a record says that it holds all of these, wherever they stand.
    fn finds(&self, number: usize, words: &[Box<str>]) -> bool {
        words.iter().all(|word| self.filters[number].has_word(word))
    }

    /// Asks all questions of all records; literally, by the document's algorithm 4, or word by word.
    pub(super) fn worth(&self, records: &[Record], questions: &[Vec<Box<str>>], literally: bool) -> Worth {
        let method = if literally { LITERAL } else { self.method };
        let mut worth = Worth {
            method,
            memory: self.memory,
            bits: self.bits,
            strangers: 0,
            right: 0,
            wrong: 0,
            expected: 0.0,
            missed: 0,
        };
        let rates: Vec<f64> = self.filters.iter().map(WordFilter::word_rate).collect();
        for words in questions {
            for (number, record) in records.iter().enumerate() {
                let unknown = words.iter().filter(|word| !record.words.contains(word)).count();
                let found = if literally { self.filters[number].finds(words) } else { self.finds(number, words) };
                let (here, stranger) = (u64::from(found), u64::from(unknown > 0));
                worth.strangers += stranger;
                worth.wrong += here * stranger;
                worth.right += here * (1 - stranger);
                worth.missed += (1 - here) * (1 - stranger);
                worth.expected += stranger as f64 * rates[number].powi(i32::try_from(unknown).unwrap_or(i32::MAX));
            }
        }
        worth
    }
}

/// The records that hold all of these words, and those that a filter takes for such.
pub(super) fn find(records: &[Record], indexes: &[Index], words: &[Box<str>]) -> Vec<Found> {
    let says = |method, number| {
        let index = indexes.iter().find(|index| index.method == method && index.memory == DOCUMENT);
        index.is_some_and(|index| index.finds(number, words))
    };
    let found = |(number, record): (usize, &Record)| Found {
        line: record.line,
        holds_all: words.iter().all(|word| record.words.contains(word)),
        bloom: says(OF_WORDS, number),
        multilayer: says(PLAIN, number),
        keywords: record.words.join(", "),
    };
    let all = records.iter().enumerate().map(found);
    all.filter(|found| found.holds_all || found.bloom || found.multilayer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multilayer::keywords::records::Records;

    #[test]
    fn no_record_is_missed_but_literally() {
        let records = Records::generated(400).unwrap().all;
        let questions = questions(&records, 60, 3);
        for compared in COMPARED {
            let index = index(&records, compared, 0.05, 3).unwrap();
            let worth = index.worth(&records, &questions, false);
            assert_eq!(worth.missed, 0, "{worth:?}");
            assert!(worth.right >= 60 && worth.strangers + worth.right == 60 * records.len() as u64, "{worth:?}");
            let deviation = (worth.wrong as f64 - worth.expected) / worth.expected.sqrt().max(1.0);
            assert!(deviation.abs() < 6.0, "{worth:?}");
            if index.method == PLAIN {
                assert!(index.worth(&records, &questions, true).missed > 0);
            }
        }
    }

    #[test]
    fn found_are_all_that_hold_the_words() {
        let records = Records::generated(400).unwrap().all;
        let indexes = SHOWN.map(|shown| index(&records, shown, 0.05, 3).unwrap());
        let words = [Box::from("w1"), Box::from("w2")];
        let found = find(&records, &indexes, &words);
        let holding = |record: &&Record| words.iter().all(|word| record.words.contains(word));
        assert_eq!(found.iter().filter(|one| one.holds_all).count(), records.iter().filter(holding).count());
        assert!(found.iter().all(|one| !one.holds_all || (one.bloom && one.multilayer)));
        assert!(found.iter().any(|one| one.holds_all));
    }
}
