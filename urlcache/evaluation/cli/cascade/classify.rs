//! `urlcache cascade classify`: the classes of keys.

use std::{
    fs::File,
    io::{self, BufWriter, ErrorKind, IsTerminal, Read, Write},
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde::Serialize;
use urlcache::Interval;
use urlcache_evaluation::cascade::Classifier;

use super::{
    Choice,
    labelled::{Delimiter, Labelled},
};
use crate::{
    Form,
    lines::Lines,
    print::{self, Word},
};

/// Keys that are classified together.
const BATCH: usize = 1024;

/// Of the interval of the share of errors.
const CONFIDENCE: f64 = 0.95;

#[derive(Debug, Args)]
pub(crate) struct ClassifyArgs {
    /// File with a classifier, in either format
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Keys to classify [default: the lines of standard input]
    #[arg(value_name = "KEY")]
    keys: Vec<String>,
    /// Refuse a classifier of another algorithm than this
    #[arg(short, long, value_enum)]
    algorithm: Option<Choice>,
    /// Classify the keys of a file that has their classes too, as for `train`, and count the errors
    #[arg(long, value_name = "FILE", conflicts_with = "keys")]
    check: Option<PathBuf>,
    #[command(flatten)]
    delimiter: Delimiter,
    #[command(flatten)]
    form: Form,
}

/// The class of a key.
#[derive(Debug, Serialize)]
struct Answer {
    key: String,
    class: String,
}

/// The classes of some keys.
#[derive(Debug, Serialize)]
struct Answers {
    file: String,
    algorithm: &'static str,
    rows: Vec<Answer>,
}

/// The errors over a file.
#[derive(Debug, Serialize)]
struct Checked {
    file: String,
    algorithm: &'static str,
    lines: u64,
    errors: u64,
    /// Share of errors, and the limits of its interval.
    error_rate: f64,
    error_low: f64,
    error_high: f64,
}

const WORDS: &[Word] =
    &[("class", "the class that the key was trained with; a key that was never trained gets one of the classes too")];

const CHECK_WORDS: &[Word] = &[
    ("errors", "keys that get another class than the file says: none, if the classifier was trained on all of them"),
    ("interval", "holds the true share of errors among such keys in 95 of 100 such checks (Clopper and Pearson)"),
];

pub(crate) fn run(args: &ClassifyArgs) -> Result<ExitCode> {
    let name = args.file.display().to_string();
    let bytes = read(&args.file).with_context(|| format!("cannot read {name}"))?;
    let classifier = Classifier::read(&bytes).with_context(|| name.clone())?;
    drop(bytes);
    if let Some(choice) = args.algorithm {
        let (is, asked) = (classifier.algorithm(), choice.algorithm().name());
        ensure!(is == asked, "{name} is of algorithm {is}, not {asked}: leave -a out, or train it anew");
    }
    if let Some(path) = &args.check {
        return check_file(args, &classifier, path);
    }
    if args.keys.is_empty() && !args.form.json {
        return stream(&classifier);
    }
    let keys = if args.keys.is_empty() { from_stdin()? } else { args.keys.clone() };
    let answer = |key: String| {
        let class = classifier.name(classifier.classify(key.as_bytes()));
        Answer { class: String::from_utf8_lossy(class).into_owned(), key }
    };
    let answers =
        Answers { file: name, algorithm: classifier.algorithm(), rows: keys.into_iter().map(answer).collect() };
    let rows: Vec<_> = answers.rows.iter().map(|answer| vec![answer.key.clone(), answer.class.clone()]).collect();
    print::answer(args.form, &answers, &print::table(&["key", "class"], &rows), WORDS)?;
    Ok(ExitCode::SUCCESS)
}

/// All of a file or a pipe; a device may have no end.
fn read(path: &Path) -> Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let kind = file.metadata()?.file_type();
    ensure!(kind.is_file() || kind.is_fifo(), "it is neither a file nor a pipe; name a file that `train` has written");
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The keys of standard input, for a document.
fn from_stdin() -> Result<Vec<String>> {
    let mut keys = Vec::new();
    let mut lines = Lines::of_stdin();
    while let Some(line) = lines.next()? {
        keys.push(String::from_utf8_lossy(line).into_owned());
    }
    Ok(keys)
}

/// Answers each line of standard input by the same line, a tab and the class.
fn stream(classifier: &Classifier) -> Result<ExitCode> {
    if io::stdin().is_terminal() {
        bail!("no keys: name them after FILE, or send them as lines to standard input");
    }
    let mut batch = Batch::default();
    let mut out = BufWriter::new(io::stdout().lock());
    let mut written = Ok(());
    let mut lines = Lines::of_stdin();
    while written.is_ok()
        && let Some(line) = lines.next()?
    {
        batch.add(classifier, line);
        if batch.hashes.len() == BATCH {
            written = batch.write(classifier, &mut out);
        }
    }
    match written.and_then(|()| batch.write(classifier, &mut out)).and_then(|()| out.flush()) {
        Err(gone) if gone.kind() != ErrorKind::BrokenPipe => Err(gone).context("cannot write"),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Keys that are classified together.
#[derive(Default)]
struct Batch {
    text: Vec<u8>,
    ends: Vec<usize>,
    hashes: Vec<u64>,
    classes: Vec<u32>,
}

impl Batch {
    fn add(&mut self, classifier: &Classifier, key: &[u8]) {
        self.text.extend(key);
        self.ends.push(self.text.len());
        self.hashes.push(classifier.hash(key));
    }

    /// Writes the answers, and is empty again.
    fn write(&mut self, classifier: &Classifier, out: &mut impl Write) -> io::Result<()> {
        classifier.classify_hashes(&self.hashes, &mut self.classes);
        let mut from = 0;
        for (end, class) in self.ends.iter().zip(&self.classes) {
            out.write_all(&self.text[from..*end])?;
            out.write_all(b"\t")?;
            out.write_all(classifier.name(*class))?;
            out.write_all(b"\n")?;
            from = *end;
        }
        self.text.clear();
        self.ends.clear();
        self.hashes.clear();
        Ok(())
    }
}

/// What a check came to.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) lines: u64,
    pub(super) wrong: u64,
}

/// Classifies the keys of a file, and counts those whose class is not the file's.
pub(super) fn check(classifier: &Classifier, labelled: &Labelled, batch: usize) -> Result<Tally> {
    let numbers =
        classifier.names().iter().map(Vec::as_slice).zip(0_u32..).collect::<std::collections::HashMap<_, _>>();
    let mut tally = Tally::default();
    let (mut hashes, mut expected) = (Vec::new(), Vec::new());
    let mut classes = Vec::new();
    let mut compare = |hashes: &mut Vec<u64>, expected: &mut Vec<u32>| {
        classifier.classify_hashes(hashes, &mut classes);
        tally.lines += hashes.len() as u64;
        tally.wrong += classes.iter().zip(&*expected).filter(|(class, expected)| class != expected).count() as u64;
        hashes.clear();
        expected.clear();
    };
    labelled.each(|line| {
        hashes.push(classifier.hash(line.key));
        expected.push(numbers.get(line.class).copied().unwrap_or(u32::MAX));
        if hashes.len() == batch {
            compare(&mut hashes, &mut expected);
        }
        Ok(())
    })?;
    compare(&mut hashes, &mut expected);
    Ok(tally)
}

fn check_file(args: &ClassifyArgs, classifier: &Classifier, path: &Path) -> Result<ExitCode> {
    let labelled = Labelled { path: path.to_owned(), delimiter: args.delimiter.delimiter };
    let Tally { lines, wrong } = check(classifier, &labelled, BATCH)?;
    ensure!(lines > 0, "{} has no keys", path.display());
    let interval = Interval::exact(wrong, lines, CONFIDENCE);
    let checked = Checked {
        file: path.display().to_string(),
        algorithm: classifier.algorithm(),
        lines,
        errors: wrong,
        error_rate: wrong as f64 / lines as f64,
        error_low: interval.low,
        error_high: interval.high,
    };
    let [low, high] = [interval.low, interval.high].map(print::short);
    let shown = format!(
        "{}: {lines} lines\n\nerrors    {wrong}  ({} of all)\ninterval  {low} to {high}  (95 %)",
        checked.file,
        print::short(checked.error_rate)
    );
    print::answer(args.form, &checked, &shown, CHECK_WORDS)?;
    Ok(ExitCode::SUCCESS)
}
