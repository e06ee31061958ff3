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
    spread::Tally,
};
use crate::multilayer::method::{best, power_of_two};

/// A filter for each record.
pub(super) struct Index {
    pub(super) method: &'static str,
    pub(super) memory: &'static str,
    filters: Vec<WordFilter>,
    pub(super) bits: u64,
}

/// What the answers of indexes of one kind were worth.
#[derive(Debug, Clone)]
pub(super) struct Worth {
    pub(super) method: &'static str,
    pub(super) memory: &'static str,
    pub(super) bits: u64,
    /// With other filters and other questions each: pairs of a question and a record, which is a stranger if it does not answer.
    /// What is expected follows from the bits that are set.
    pub(super) rounds: Vec<Tally>,
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

/// Filters are made anew so many times with other hash functions, and each time asked their part of the questions: questions
/// that ask the same filters depend on each other.
const ROUNDS: u32 = 10;

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

/// Asks so many questions of filters of each kind.
pub(super) fn run(records: &[Record], count: u32, error_rate: f64, seed: u64) -> Result<Vec<Worth>> {
    let literally = |compared| if compared == (PLAIN, DOCUMENT) { vec![false, true] } else { vec![false] };
    let mut worths = Vec::new();
    for compared in COMPARED {
        for literally in literally(compared) {
            let (method, memory) = (if literally { LITERAL } else { compared.0 }, compared.1);
            let mut worth = Worth { method, memory, bits: 0, rounds: Vec::new() };
            for round in 0..ROUNDS.min(count) {
                let seed = HashSeed::new(seed).derive(9, round).value();
                let questions = questions(records, (count - round).div_ceil(ROUNDS), seed);
                let index = index(records, compared, error_rate, seed)?;
                worth.bits = index.bits;
                worth.rounds.push(index.tally(records, &questions, literally));
            }
            worths.push(worth);
        }
    }
    Ok(worths)
}

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
    /// Whether the filter of a record says that it holds all of these, wherever they are.
    fn finds(&self, number: usize, words: &[Box<str>]) -> bool {
        words.iter().all(|word| self.filters[number].has_word(word))
    }

    /// Asks all questions of all records; literally, by the document's algorithm 4, or word by word.
    fn tally(&self, records: &[Record], questions: &[Vec<Box<str>>], literally: bool) -> Tally {
        let mut tally = Tally::default();
        let rates: Vec<f64> = self.filters.iter().map(WordFilter::word_rate).collect();
        for words in questions {
            for (number, record) in records.iter().enumerate() {
                let unknown = words.iter().filter(|word| !record.words.contains(word)).count();
                let found = if literally { self.filters[number].finds(words) } else { self.finds(number, words) };
                let (here, stranger) = (u64::from(found), u64::from(unknown > 0));
                let chance = stranger as f64 * rates[number].powi(i32::try_from(unknown).unwrap_or(i32::MAX));
                tally.strangers += stranger;
                tally.wrong += here * stranger;
                tally.right += here * (1 - stranger);
                tally.missed += (1 - here) * (1 - stranger);
                tally.expected += chance;
                tally.variance += chance * (1.0 - chance);
            }
        }
        tally
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
    use crate::multilayer::keywords::{records::Records, spread};

    #[test]
    fn no_record_is_missed_but_literally() {
        let records = Records::generated(400).unwrap().all;
        for Worth { method, memory, rounds, .. } in run(&records, 63, 0.05, 3).unwrap() {
            let all = spread::total(&rounds);
            assert_eq!((rounds.len(), all.strangers + all.right + all.missed), (10, 63 * records.len() as u64));
            if method == LITERAL {
                assert!(all.missed > 0);
            } else {
                assert!(all.missed == 0 && all.right >= 63, "{all:?}");
                let deviation = spread::deviation(&rounds);
                assert!(deviation.is_none_or(|deviation| deviation.abs() < 4.5), "{method} {memory} {all:?}");
            }
        }
    }

    #[test]
    fn questions_are_of_two_different_words_where_a_record_has_two() {
        let record = |line, words: &[&str]| Record { line, words: words.iter().map(|word| Box::from(*word)).collect() };
        let records = [record(1, &["a"]), record(2, &["b", "b"]), record(3, &["c", "d", "c"]), record(4, &["e", "f"])];
        let sorted = |mut words: Vec<Box<str>>| {
            words.sort();
            words.concat()
        };
        let asked: Vec<String> = questions(&records, 200, 1).into_iter().map(sorted).collect();
        assert!(asked.iter().all(|words| ["cd", "ef"].contains(&words.as_str())), "{asked:?}");
        assert!((60..140).contains(&asked.iter().filter(|words| *words == "cd").count()));
        let generated = Records::generated(400).unwrap().all;
        assert!(questions(&generated, 500, 1).iter().all(|words| words.len() == 2 && words[0] != words[1]));
        assert!(questions(&records[..2], 50, 1).iter().all(|words| words.len() == 1));
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
