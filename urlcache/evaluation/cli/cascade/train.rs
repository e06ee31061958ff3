//! `urlcache cascade train`: a classifier from a file of keys with their classes.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use serde::Serialize;
use urlcache_evaluation::cascade::{Algorithm, Classifier, Conflict, TrainError, TrainingSet, entropy};

use super::{
    Choice,
    labelled::{Delimiter, Labelled},
    size,
};
use crate::{
    Form, memory,
    print::{self, Word},
};

/// Hash seeds that are tried: each fails with a probability of n^2 / 2^65.
const MOST_SEEDS: u64 = 8;

/// Keys that are classified together.
const BATCH: usize = 4096;

#[derive(Debug, Args)]
pub(crate) struct TrainArgs {
    /// File with a key, a delimiter and a class on each line; decompressed if its name ends in .zst
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// File to write the classifier to [default: FILE with .class added]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Algorithm, as the document numbers them
    #[arg(short, long, value_enum, default_value = "1")]
    algorithm: Choice,
    /// Hash functions of each filter of algorithm 1.0, 1 to 32 [default: 1]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u8).range(1..=32))]
    k: Option<u8>,
    /// Hash functions of each filter of a class in algorithm 2.0, 1 to 32 [default: 3]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u8).range(1..=32))]
    k1: Option<u8>,
    /// Hash functions of each filter of the others in algorithm 2.0, 1 to 32 [default: 4]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u8).range(1..=32))]
    k2: Option<u8>,
    /// Seed of the keys' hash; where two keys of different classes have one hash, the next seed is tried
    #[arg(long, value_name = "S", default_value_t = 0)]
    hash_seed: u64,
    /// Byte format
    #[arg(long, value_enum, default_value = "2")]
    format: Format,
    #[command(flatten)]
    delimiter: Delimiter,
    #[command(flatten)]
    form: Form,
}

/// How the classifier is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The document's: algorithms 1.0 and 2.0, names of up to 255 bytes, filters of up to 4 GiB, no checksum
    Document,
    /// Version 2: all algorithms, no such limits, a checksum
    #[value(name = "2")]
    Two,
}

/// What came of it.
#[derive(Debug, Serialize)]
struct Trained {
    file: String,
    output: String,
    algorithm: &'static str,
    lines: u64,
    keys: Option<u64>,
    classes: usize,
    rounds: u64,
    hash_seed: u64,
    bytes: usize,
    bits_per_key: f64,
    entropy_bits_per_key: f64,
    seconds: f64,
    peak_bytes: Option<u64>,
    verified: u64,
}

const WORDS: &[Word] = &[
    ("keys", "different keys of the file; each must be in one class alone"),
    (
        "rounds",
        "of a cascade: how often it goes through the classes; of a compact classifier: its retrieval structures",
    ),
    (
        "hash seed",
        "the seed of the keys' hash, xxh3-64: with the same file, algorithm and seed the same bytes are written",
    ),
    ("bits/key", "size of the written file in bits, divided by the keys"),
    ("entropy", "bits a key below which the classes of such shares cannot be distinguished without errors"),
    ("seconds", "from opening the file until the classifier is in memory"),
    ("peak memory", "the most that this process had in memory up to then"),
    ("verified", "lines that were read again, and whose keys the written classifier puts into their classes: all"),
];

pub(crate) fn run(args: &TrainArgs) -> Result<ExitCode> {
    let labelled = Labelled { path: args.file.clone(), delimiter: args.delimiter.delimiter };
    let output = args.output.clone().unwrap_or_else(|| {
        let mut name = args.file.clone().into_os_string();
        name.push(".class");
        name.into()
    });
    let existed = output.exists();
    let file = fs::metadata(&args.file).with_context(|| format!("cannot read {}", args.file.display()))?;
    ensure!(file.is_file(), "{} is no regular file: it is read twice, so give a file on disk", args.file.display());
    print::check_target(&output, &[&args.file])?;
    let written = write(args, &labelled, &output);
    if written.is_err() && !existed {
        // The check has made it, and it is empty: the error of the training is what matters.
        let _ = fs::remove_file(&output);
    }
    let trained = written?;
    print::answer(args.form, &trained, &shown(&trained), WORDS)?;
    Ok(ExitCode::SUCCESS)
}

/// Trains, asks for each line, and only then writes.
fn write(args: &TrainArgs, labelled: &Labelled, output: &Path) -> Result<Trained> {
    let began = Instant::now();
    let Made { classifier, lines, counts } = make(labelled, args)?;
    let bytes = match args.format {
        Format::Two => classifier.write(),
        Format::Document => classifier.write_document().context("use --format 2")?,
    };
    let seconds = began.elapsed().as_secs_f64();
    let peak_bytes = memory::peak();
    let verified = verify(labelled, &bytes, lines)?;
    fs::write(output, &bytes).with_context(|| format!("cannot write {}", output.display()))?;
    let keys = classifier.keys();
    Ok(Trained {
        file: args.file.display().to_string(),
        output: output.display().to_string(),
        algorithm: classifier.algorithm(),
        lines,
        keys,
        classes: classifier.names().len(),
        rounds: classifier.rounds(),
        hash_seed: classifier.hash_seed(),
        bytes: bytes.len(),
        bits_per_key: bytes.len() as f64 * 8.0 / keys.unwrap_or_default() as f64,
        entropy_bits_per_key: entropy(&counts),
        seconds,
        peak_bytes,
        verified,
    })
}

/// With the document's numbers of hash functions where none are given; those of another algorithm are refused.
fn algorithm(args: &TrainArgs) -> Result<Algorithm> {
    let of_one = args.k.is_some();
    let of_two = args.k1.is_some() || args.k2.is_some();
    ensure!(!of_one || args.algorithm == Choice::One, "--k is of algorithm 1.0: leave it out, or say -a 0");
    ensure!(
        !of_two || args.algorithm == Choice::Two,
        "--k1 and --k2 are of algorithm 2.0: leave them out, or say -a 1"
    );
    Ok(match args.algorithm {
        Choice::One => Algorithm::One { probes: args.k.unwrap_or(1) },
        Choice::Two => Algorithm::Two { first: args.k1.unwrap_or(3), second: args.k2.unwrap_or(4) },
        Choice::Compact => Algorithm::Compact,
    })
}

/// A classifier, and of what.
struct Made {
    classifier: Classifier,
    lines: u64,
    /// Different keys of each class.
    counts: Vec<u64>,
}

/// A classifier of the file.
fn make(labelled: &Labelled, args: &TrainArgs) -> Result<Made> {
    let algorithm = algorithm(args)?;
    for seed in (0..MOST_SEEDS).map(|more| args.hash_seed.wrapping_add(more)) {
        let mut set = TrainingSet::new(seed);
        labelled.each(|line| {
            let class = set.class(line.class);
            set.add(class, line.key);
            Ok(())
        })?;
        let lines = set.counts().iter().sum();
        let counts = set.distinct_counts();
        args.algorithm
            .check(counts.len() as u64, counts.iter().sum())
            .with_context(|| labelled.path.display().to_string())?;
        match Classifier::train(set, algorithm) {
            Err(TrainError::Conflict(conflict)) => look_for(labelled, seed, conflict)?,
            Err(TrainError::Empty) => bail!("{} has no keys", labelled.path.display()),
            done => return Ok(Made { classifier: done?, lines, counts }),
        }
    }
    Err(TrainError::Stalled.into())
}

/// Reads the file again for the keys of a hash: an error that names the key if one is in two classes.
fn look_for(labelled: &Labelled, seed: u64, conflict: Conflict) -> Result<()> {
    let set = TrainingSet::new(seed);
    let mut found: Vec<(u64, Vec<u8>, Vec<u8>)> = Vec::new();
    labelled.each(|line| {
        if set.hash(line.key) != conflict.hash {
            return Ok(());
        }
        let before = found.iter().find(|(_, key, _)| key == line.key);
        match before {
            Some((_, _, class)) if class == line.class => Ok(()),
            Some((number, key, class)) => bail!(
                "{}:{}: the key {:?} is of class {:?} here, and of class {:?} on line {number}; give it one class",
                labelled.path.display(),
                line.number,
                String::from_utf8_lossy(key),
                String::from_utf8_lossy(line.class),
                String::from_utf8_lossy(class),
            ),
            None => {
                found.push((line.number, line.key.to_owned(), line.class.to_owned()));
                Ok(())
            }
        }
    })
}

/// Asks the written classifier for each line of the file; returns how many there are, which must be as many as before.
fn verify(labelled: &Labelled, bytes: &[u8], lines: u64) -> Result<u64> {
    let classifier = Classifier::read(bytes)?;
    let tally = super::classify::check(&classifier, labelled, BATCH)?;
    ensure!(
        tally.wrong == 0,
        "{} has changed while it was read: {} lines differ",
        labelled.path.display(),
        tally.wrong
    );
    ensure!(
        tally.lines == lines,
        "{} has changed while it was read: it had {lines} lines, and then {}",
        labelled.path.display(),
        tally.lines
    );
    Ok(tally.lines)
}

fn shown(trained: &Trained) -> String {
    let Trained { file, output, algorithm, lines, classes, rounds, hash_seed, bytes, verified, .. } = trained;
    let keys = trained.keys.unwrap_or_default();
    let peak = trained.peak_bytes.map_or_else(|| "unknown".to_owned(), |bytes| size(bytes as f64));
    format!(
        "{output}: algorithm {algorithm}, trained on {file}\n\n\
         keys         {keys}  ({lines} lines)\n\
         classes      {classes}\n\
         rounds       {rounds}\n\
         hash seed    {hash_seed}\n\
         size         {}  ({bytes} bytes)\n\
         bits/key     {:.3}\n\
         entropy      {:.3}\n\
         seconds      {:.3}\n\
         peak memory  {peak}\n\
         verified     {verified} lines, 0 errors",
        size(*bytes as f64),
        trained.bits_per_key,
        trained.entropy_bits_per_key,
        trained.seconds,
    )
}
