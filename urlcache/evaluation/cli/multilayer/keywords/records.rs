//! [`Records`]: lists of keywords, from a column of a CSV file or generated.
//!
//! Invariants: no record is empty, and no two have the same keywords in the same order. It does not know filters.

use std::{collections::HashSet, fs, path::Path};

use anyhow::{Context, Result, anyhow, bail, ensure};
use urlcache::HashSeed;

/// One row with keywords.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    /// Of the file, where the row begins; of generated records their number.
    pub(super) line: u64,
    pub(super) words: Vec<Box<str>>,
}

/// All rows, and what was left out.
#[derive(Debug)]
pub(super) struct Records {
    pub(super) all: Vec<Record>,
    /// Rows without a keyword.
    pub(super) empty: u64,
    /// Rows with the keywords of an earlier one.
    pub(super) repeated: u64,
}

/// How keywords are written in a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Delimiter {
    /// Between two of them is this text.
    Text(String),
    /// The field is a JSON list of texts, or of objects with a `name`.
    Json,
}

/// Keywords that a generated record has, at most; at least it has one.
const MOST_WORDS: u64 = 15;

/// Keywords that are drawn for a generated record, of which it takes the first different ones.
const DRAWS: u32 = 60;

impl Delimiter {
    /// As written on the command line.
    pub(super) fn new(text: &str) -> Result<Self> {
        ensure!(!text.is_empty(), "--delimiter is empty: give the text between two keywords, or json");
        Ok(if text == "json" { Self::Json } else { Self::Text(text.to_owned()) })
    }

    /// The keywords of a field, without spaces around them and without empty ones.
    fn split(&self, field: &str) -> Result<Vec<Box<str>>> {
        let words: Vec<String> = match self {
            Self::Text(text) => field.split(text.as_str()).map(str::to_owned).collect(),
            Self::Json if field.trim().is_empty() => Vec::new(),
            Self::Json => from_json(field).context("is no JSON list of texts or of objects with a name")?,
        };
        Ok(words.iter().map(|word| word.trim()).filter(|word| !word.is_empty()).map(Box::from).collect())
    }

    /// The words of a question: parted like the fields if they are, else at commas.
    pub(super) fn words(&self, question: &str) -> Vec<Box<str>> {
        let comma = ",".to_owned();
        let parted = match self {
            Self::Text(text) if question.contains(text.as_str()) => text,
            Self::Text(_) | Self::Json => &comma,
        };
        let words = question.split(parted.as_str()).map(str::trim).filter(|word| !word.is_empty());
        words.map(Box::from).collect()
    }
}

fn from_json(field: &str) -> Option<Vec<String>> {
    let list: Vec<serde_json::Value> = serde_json::from_str(field).ok()?;
    list.iter().map(|one| Some(one.as_str().or_else(|| one["name"].as_str())?.to_owned())).collect()
}

impl Records {
    /// The column of this name, or of this number from 1, of a CSV file with a heading.
    pub(super) fn of_file(path: &Path, column: &str, delimiter: &Delimiter) -> Result<Self> {
        let name = path.display().to_string();
        let bytes = fs::read(path).with_context(|| format!("cannot read {name}"))?;
        if let Some(line) = open_quote(&bytes) {
            bail!(
                "{name}, line {line}: a quotation mark is opened and never closed; double it where it belongs to the text"
            );
        }
        let mut reader = csv::Reader::from_reader(bytes.as_slice());
        let heading = reader.headers().map_err(|error| explained(&name, &error))?.clone();
        ensure!(!heading.is_empty(), "{name}: there is no heading; name the columns in the first line");
        let place = place_of(&heading, column).with_context(|| name.clone())?;
        let mut records = Vec::new();
        for row in reader.records() {
            let row = row.map_err(|error| explained(&name, &error))?;
            let line = row.position().map_or(0, csv::Position::line);
            let field = row.get(place).unwrap_or_default();
            let words = delimiter.split(field).with_context(|| format!("{name}, line {line}, column {column}"))?;
            records.push(Record { line, words });
        }
        let records = Self::of(records).with_context(|| format!("{name}, column {column}"))?;
        // Lists of one keyword each are no case for layers: more likely they are parted by something else.
        ensure!(
            records.most_words() > 1,
            "{name}, column {column}: no field has two keywords; name what is between them with --delimiter"
        );
        Ok(records)
    }

    /// So many records of 1 to 15 keywords out of twice as many; keyword r comes with a frequency of about 1/r (Zipf).
    pub(super) fn generated(count: u64) -> Result<Self> {
        Self::of((1..=count).map(|number| generated_record(number, 2 * count)).collect())
    }

    fn of(read: Vec<Record>) -> Result<Self> {
        let rows = read.len() as u64;
        let mut records = read;
        records.retain(|record| !record.words.is_empty());
        let empty = rows - records.len() as u64;
        let mut known = HashSet::new();
        records.retain(|record| known.insert(record.words.clone()));
        let repeated = rows - empty - records.len() as u64;
        ensure!(
            records.len() > 3,
            "{} different records with keywords are too few: at least 4 are needed",
            records.len()
        );
        Ok(Self { all: records, empty, repeated })
    }

    /// The most keywords that a record has.
    pub(super) fn most_words(&self) -> usize {
        self.all.iter().map(|record| record.words.len()).max().unwrap_or(0)
    }

    /// Keywords of all records together, repeated ones too.
    pub(super) fn words(&self) -> usize {
        self.all.iter().map(|record| record.words.len()).sum()
    }

    /// Different keywords.
    pub(super) fn vocabulary(&self) -> usize {
        self.all.iter().flat_map(|record| &record.words).collect::<HashSet<_>>().len()
    }
}

fn generated_record(number: u64, vocabulary: u64) -> Record {
    let seed = HashSeed::new(number);
    let wanted = 1 + seed.derive(3, 0).value() % MOST_WORDS;
    let mut words: Vec<Box<str>> = Vec::new();
    for turn in 1..=DRAWS {
        // The logarithm of the rank is uniform.
        let drawn = seed.derive(3, turn).value() as f64 / 2.0_f64.powi(64);
        let word = format!("w{:.0}", (vocabulary as f64 + 1.0).powf(drawn).floor()).into_boxed_str();
        if (words.len() as u64) < wanted && !words.contains(&word) {
            words.push(word);
        }
    }
    Record { line: number, words }
}

/// Where the column is.
fn place_of(heading: &csv::StringRecord, column: &str) -> Result<usize> {
    let by_name = heading.iter().position(|name| name.trim() == column);
    let by_number = || column.parse::<usize>().ok().filter(|number| (1..=heading.len()).contains(number));
    by_name.or_else(|| Some(by_number()? - 1)).ok_or_else(|| {
        let known: Vec<&str> = heading.iter().collect();
        anyhow!(
            "no column {column}; --column takes one of: {}, or a number from 1",
            crate::print::printable(&known.join(", "))
        )
    })
}

/// What is wrong with the file, and where.
fn explained(name: &str, error: &csv::Error) -> anyhow::Error {
    let line = error.position().map_or(1, csv::Position::line);
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            anyhow!(
                "{name}, line {line}: {len} fields where the heading has {expected_len}; quote fields that hold a comma"
            )
        }
        csv::ErrorKind::Utf8 { .. } => anyhow!("{name}, line {line}: this is no UTF-8 text; convert the file"),
        _ => anyhow!("{name}, line {line}: {error}"),
    }
}

/// Where a reader of CSV is.
#[derive(Clone, Copy)]
enum Place {
    FieldStart,
    Field,
    /// In a quoted field that began in this line.
    Quoted(u64),
    /// Behind a quotation mark in such a field: its end, unless another mark follows.
    Mark(u64),
}

/// The line in which a quoted field begins that never ends.
fn open_quote(bytes: &[u8]) -> Option<u64> {
    let (mut line, mut place) = (1, Place::FieldStart);
    for &byte in bytes {
        place = match (place, byte) {
            (Place::FieldStart, b'"') => Place::Quoted(line),
            (Place::Quoted(from), b'"') => Place::Mark(from),
            (Place::Quoted(from), _) | (Place::Mark(from), b'"') => Place::Quoted(from),
            (_, b',' | b'\n' | b'\r') => Place::FieldStart,
            _ => Place::Field,
        };
        line += u64::from(byte == b'\n');
    }
    if let Place::Quoted(from) = place { Some(from) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, column: &str, delimiter: &str) -> Result<Records> {
        let file = tempfile::NamedTempFile::new()?;
        fs::write(file.path(), text)?;
        Records::of_file(file.path(), column, &Delimiter::new(delimiter)?)
    }

    fn words(records: &Records) -> Vec<Vec<&str>> {
        records.all.iter().map(|record| record.words.iter().map(|word| &**word).collect()).collect()
    }

    #[test]
    fn a_column_is_read_by_name_and_by_number() {
        let text = "\u{feff}title,tags\n\"A, b\",x | y\nB,\nC,\"z\n\"\nD, x|y\nE,\"a\"\"b|c\"\nF,5\"\" disk\n";
        for column in ["tags", "2"] {
            let records = read(text, column, "|").unwrap();
            assert_eq!(words(&records), [vec!["x", "y"], vec!["z"], vec!["a\"b", "c"], vec!["5\"\" disk"]]);
            assert_eq!((records.empty, records.repeated), (1, 1));
            assert_eq!(records.all[2].line, 7);
        }
        assert_eq!(read(text, "title", ",").unwrap().most_words(), 2);
    }

    #[test]
    fn a_json_list_is_read_too() {
        let text = "k\n\"[{\"\"id\"\":1,\"\"name\"\":\"\"a b\"\"}]\"\n\"[\"\"c\"\",\"\"d\"\"]\"\n[]\n\"[\"\"e\"\"]\"\n\"[\"\"f\"\"]\"\n";
        assert_eq!(words(&read(text, "k", "json").unwrap()), [vec!["a b"], vec!["c", "d"], vec!["e"], vec!["f"]]);
        let wrong = format!("{:#}", read("k\nx\n", "k", "json").unwrap_err());
        assert!(wrong.contains("line 2, column k: is no JSON list"), "{wrong}");
    }

    #[test]
    fn faults_name_their_line() {
        for (text, column, said) in [
            ("a,b\n1,2\n3\n", "a", "line 3: 1 fields where the heading has 2"),
            ("a,b\n1,2\n3,\"x\n4,5\n", "a", "line 3: a quotation mark is opened"),
            ("a,b\n1,2\n", "c", "no column c; --column takes one of: a, b, or a number from 1"),
            ("a,b\n1,2\n", "0", "no column 0"),
            ("", "a", "there is no heading"),
            ("a\nx\ny\n", "a", "2 different records with keywords are too few"),
            ("a\nx;y\nx\ny\nz\n", "a", "column a: no field has two keywords; name what is between"),
        ] {
            let error = format!("{:#}", read(text, column, "|").unwrap_err());
            assert!(error.contains(said), "{error}");
        }
        assert!(read("a\nx\n", "a", "").unwrap_err().to_string().starts_with("--delimiter is empty"));
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), b"a\nx\n\xff\n").unwrap();
        let error = Records::of_file(file.path(), "a", &Delimiter::Json).unwrap_err();
        assert!(format!("{error:#}").contains("line 2"), "{error:#}");
    }

    #[test]
    fn generated_records_have_common_and_rare_keywords() {
        let records = Records::generated(2_000).unwrap();
        assert!(records.all.len() > 1_800 && records.most_words() == 15, "{}", records.all.len());
        let with = |word: &str| records.all.iter().filter(|record| record.words.iter().any(|w| &**w == word)).count();
        assert!(with("w1") > 5 * with("w20") && with("w20") > 0, "{} {}", with("w1"), with("w20"));
        assert!((1_500..4_000).contains(&records.vocabulary()));
    }

    #[test]
    fn a_question_is_parted_like_the_fields_or_at_commas() {
        let bar = Delimiter::Text("|".to_owned());
        assert_eq!(bar.words("a, b|c"), ["a, b".into(), "c".into()]);
        assert_eq!(bar.words("a, b"), ["a".into(), "b".into()]);
        assert_eq!(Delimiter::Json.words(" , a"), ["a".into()]);
    }
}
