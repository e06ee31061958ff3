//! One measurement of `urlcache cascade bench`, in a process of its own, so that its peak of memory is its own.
//!
//! Owns what is timed. A classifier's training is from key text to bytes as they are written; asking it is from key text
//! to class, with the text made before. Keys are generated as a stream: never more than a block of them is in memory.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde::{Deserialize, Serialize};
use urlcache_evaluation::cascade::{Algorithm, Classifier, TrainingSet};

use super::{
    Choice,
    peers::{self, Peer},
    sample::{KEY_BYTES, Sample, Size},
    stopwatch::{Stopwatch, Took},
};
use crate::memory;

/// Keys that are made, and then timed, at a time.
pub(super) const BLOCK: u64 = 1 << 18;

#[derive(Debug, Args)]
pub(crate) struct MeasureArgs {
    /// Algorithm of a classifier
    #[arg(long, value_enum)]
    algorithm: Option<Choice>,
    /// Filter of all keys, without their classes
    #[arg(long, value_enum, conflicts_with = "algorithm", required_unless_present = "algorithm")]
    filter: Option<Peer>,
    /// Number of keys and classes
    #[arg(long, value_name = "KEYS,CLASSES")]
    size: Size,
    /// Inequality of the classes
    #[arg(long, default_value_t = 0.0)]
    skew: f64,
    /// Seed of the keys
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Seed of their hash
    #[arg(long, default_value_t = 0)]
    hash_seed: u64,
}

/// What a classifier costs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Classified {
    /// Bytes of the written classifier.
    pub(super) bytes: u64,
    pub(super) rounds: u64,
    /// Making and hashing the keys.
    pub(super) keys: Took,
    /// From the hashes to the written bytes.
    pub(super) build: Took,
    pub(super) peak_bytes: Option<u64>,
    /// From key text to class, all keys, in batches.
    pub(super) batch: Took,
    /// The same one by one.
    pub(super) single: Took,
    /// Wrong answers in one of the two ways, in that which has more.
    pub(super) errors: u64,
}

pub(super) fn run(args: &MeasureArgs) -> Result<ExitCode> {
    let sample = Sample::new(args.size, args.skew, args.seed);
    let document = match (args.algorithm, args.filter) {
        (Some(choice), _) => serde_json::to_string(&classifier(choice.algorithm(), &sample, args.hash_seed)?)?,
        (None, Some(peer)) => serde_json::to_string(&peers::measure(peer, &sample, args.hash_seed)?)?,
        (None, None) => return Ok(ExitCode::from(2)),
    };
    println!("{document}");
    Ok(ExitCode::SUCCESS)
}

fn classifier(algorithm: Algorithm, sample: &Sample, hash_seed: u64) -> Result<Classified> {
    let watch = Stopwatch::start();
    let set = training_set(sample, hash_seed);
    let keys = watch.took();
    let watch = Stopwatch::start();
    let trained = Classifier::train(set, algorithm)?;
    let bytes = trained.write();
    let build = watch.took();
    let peak_bytes = memory::peak();
    drop(trained);
    let classifier = Classifier::read(&bytes)?;
    let asked = ask(&classifier, sample);
    Ok(Classified {
        bytes: bytes.len() as u64,
        rounds: classifier.rounds(),
        keys,
        build,
        peak_bytes,
        batch: asked.batch,
        single: asked.single,
        errors: asked.errors,
    })
}

fn training_set(sample: &Sample, hash_seed: u64) -> TrainingSet {
    let mut set = TrainingSet::new(hash_seed);
    let mut from = 0;
    for (class, count) in sample.counts().into_iter().enumerate() {
        let number = set.class(format!("class {class}").as_bytes());
        for key in from..from + count {
            set.add(number, &sample.text(key));
        }
        from += count;
    }
    set
}

/// Time and errors of asking for all keys, once in batches and once one by one.
struct Asked {
    batch: Took,
    single: Took,
    errors: u64,
}

/// Asks for all keys in one way, then for all of them in the other one, in the same order: so each key comes as long after
/// it was last asked for in both ways, and neither finds in the caches what the other one has just fetched. The last block
/// comes first once, untimed, so that both begin alike.
fn ask(classifier: &Classifier, sample: &Sample) -> Asked {
    let mut asking = Asking { classifier, sample, hashes: Vec::new(), classes: Vec::new() };
    if let Some(block) = shuffled_blocks(sample.keys()).last() {
        asking.block(&block, true);
        asking.block(&block, false);
    }
    let [(batch, in_batches), (single, one_by_one)] = [true, false].map(|in_batches| {
        let (mut all, mut errors) = (Took::default(), 0);
        // Keys of all classes in turn, as they would come; neighbours of a class would be foretold.
        for block in shuffled_blocks(sample.keys()) {
            let (took, wrong) = asking.block(&block, in_batches);
            all += took;
            errors += wrong;
        }
        (all, errors)
    });
    Asked { batch, single, errors: in_batches.max(one_by_one) }
}

/// Who is asked, and memory that is there before the time is taken.
struct Asking<'a> {
    classifier: &'a Classifier,
    sample: &'a Sample,
    hashes: Vec<u64>,
    classes: Vec<u32>,
}

impl Asking<'_> {
    /// Time and errors of a block.
    fn block(&mut self, block: &[u64], in_batches: bool) -> (Took, u64) {
        let Self { classifier, sample, hashes, classes } = self;
        let texts: Vec<[u8; KEY_BYTES]> = block.iter().map(|key| sample.text(*key)).collect();
        classes.resize(texts.len(), 0);
        let watch = Stopwatch::start();
        if in_batches {
            hashes.clear();
            hashes.extend(texts.iter().map(|text| classifier.hash(text)));
            classifier.classify_hashes(hashes, classes);
        } else {
            for (text, class) in texts.iter().zip(&mut *classes) {
                *class = classifier.classify(text);
            }
        }
        let took = watch.took();
        let wrong = block.iter().zip(&*classes).filter(|(key, class)| **class as usize != sample.class(**key)).count();
        (took, wrong as u64)
    }
}

/// All keys in blocks, each key once: key `i * step`, wrapped, with a step that has no factor in common with their number.
fn shuffled_blocks(keys: u64) -> impl Iterator<Item = Vec<u64>> {
    let golden = keys / 1000 * 618 + 1;
    let step = (golden..golden + keys).find(|step| gcd(*step, keys) == 1).unwrap_or(1);
    // Both are below 2^32 (see `Size`).
    let key = move |place: u64| place * step % keys;
    (0..keys.div_ceil(BLOCK)).map(move |block| (block * BLOCK..keys.min((block + 1) * BLOCK)).map(key).collect())
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_asked_for_once() {
        for keys in [1, 2, 10, 70_000, 200_001] {
            let mut all: Vec<u64> = shuffled_blocks(keys).flatten().collect();
            all.sort_unstable();
            assert_eq!(all, (0..keys).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_small_measurement_has_no_errors() {
        let sample = Sample::new("3000,4".parse().unwrap(), 1.0, 5);
        for choice in Choice::ALL {
            let measured = classifier(choice.algorithm(), &sample, 9).unwrap();
            assert!(measured.errors == 0 && measured.bytes > 300, "{choice:?}: {measured:?}");
        }
    }
}
