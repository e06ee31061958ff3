//! `urlcache cascade`: exact classifiers.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{Cli, number};

const CLI: Cli = Cli(&["cascade"]);

/// A folder for the files of a test.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn name(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), bytes).unwrap();
        self.name(name)
    }
}

/// Pages of three classes, one of which is small.
fn pages() -> String {
    let class = |page: u32| match page % 20 {
        0 => "gone",
        1..=7 => "weekly",
        _ => "daily",
    };
    (0..3000).fold(String::new(), |lines, page| lines + &format!("http://h/{page}\t{}\n", class(page)))
}

fn keys_alone(pages: &str) -> String {
    pages.lines().fold(String::new(), |keys, line| keys + line.split('\t').next().unwrap() + "\n")
}

#[test]
fn what_is_trained_is_classified_without_errors_by_every_algorithm() {
    let files = Files::new();
    let pages = pages();
    let file = files.write("pages.tsv", &pages);
    let mut sizes = Vec::new();
    for (flag, name) in [("0", "1.0"), ("1", "2.0"), ("compact", "compact"), ("2.0", "2.0")] {
        let output = files.name(&format!("{flag}.class"));
        let trained = CLI.json(&["train", &file, "-a", flag, "-o", &output]);
        assert_eq!(
            (&trained["algorithm"], &trained["lines"], &trained["keys"]),
            (&name.into(), &3000.into(), &3000.into())
        );
        assert_eq!((&trained["classes"], &trained["verified"]), (&3.into(), &3000.into()));
        let bytes = fs::metadata(&output).unwrap().len();
        assert_eq!(trained["bytes"], bytes);
        assert!((number(&trained, "entropy_bits_per_key") - 1.1884).abs() < 1e-3, "{trained}");
        assert_eq!(CLI.text_of(&["classify", &output], &keys_alone(&pages)), pages);
        assert_eq!(CLI.text_of(&["classify", &output, "-a", flag], &keys_alone(&pages)), pages);
        let checked = CLI.json(&["classify", &output, "--check", &file]);
        assert_eq!((&checked["lines"], &checked["errors"]), (&3000.into(), &0.into()));
        assert!((number(&checked, "error_high") - 1.229e-3).abs() < 1e-6, "{checked}");
        sizes.push(bytes);
    }
    assert!(sizes[2] * 2 < sizes[0] && sizes[2] * 2 < sizes[1], "{sizes:?}");
    assert_eq!(sizes[1], sizes[3]);
}

#[test]
fn keys_on_the_command_line_and_answers_for_people() {
    let files = Files::new();
    let file = files.write("pages.tsv", "http://h/\tdaily\nhttp://h/a\tgone\nhttp://h/b\tdaily\n");
    let trained = CLI.text(&["train", &file]);
    let class = files.name("pages.tsv.class");
    assert!(Path::new(&class).exists() && trained.starts_with(&format!("{class}: algorithm 2.0, trained on {file}\n")));
    assert!(
        trained.contains("\nkeys         3  (3 lines)\n") && trained.contains("\nverified     3 lines, 0 errors\n")
    );
    let twice = files.write("twice.tsv", "a\tone\nb\ttwo\na\tone\n");
    let trained = CLI.json(&["train", &twice]);
    assert_eq!(
        (&trained["keys"], &trained["lines"], &trained["entropy_bits_per_key"]),
        (&2.into(), &3.into(), &1.0.into())
    );
    let answer = CLI.text(&["classify", &class, "http://h/a", "http://h/", "--brief"]);
    assert_eq!(answer, "key         class\nhttp://h/a  gone\nhttp://h/   daily\n");
    let rows = CLI.json(&["classify", &class, "http://h/a"]);
    assert_eq!((&rows["rows"][0]["class"], &rows["algorithm"]), (&"gone".into(), &"2.0".into()));
    assert!(CLI.text(&["classify", &class, "x"]).contains("\n\nclass  the class that the key was trained with"));
    let wrong = files.write("wrong.tsv", "http://h/\tgone\nhttp://h/a\tgone\n");
    assert_eq!(CLI.json(&["classify", &class, "--check", &wrong])["errors"], 1);
    // Trained on nothing else, the class of an unknown key is one of the two.
    let unknown = CLI.text_of(&["classify", &class], "http://elsewhere/\n");
    assert!(["http://elsewhere/\tdaily\n", "http://elsewhere/\tgone\n"].contains(&&*unknown), "{unknown}");
}

#[test]
fn files_may_be_compressed_delimited_otherwise_and_have_long_keys() {
    let files = Files::new();
    let long = "k".repeat(70_000);
    let lines = format!("a,b,one\r\n{long},two\n\n,empty key\nlast,one");
    let packed = files.write("pages.csv.zst", zstd::encode_all(lines.as_bytes(), 3).unwrap());
    for algorithm in ["0", "1", "compact"] {
        let class = files.name("class");
        let trained = CLI.json(&["train", &packed, "--delimiter", ",", "-a", algorithm, "-o", &class]);
        assert_eq!((&trained["keys"], &trained["classes"]), (&4.into(), &3.into()), "{algorithm}");
        let asked = format!("a,b\n{long}\n\nlast\n");
        assert_eq!(
            CLI.text_of(&["classify", &class], &asked),
            format!("a,b\tone\n{long}\ttwo\n\tempty key\nlast\tone\n")
        );
    }
}

#[test]
fn the_document_s_format_is_written_and_read() {
    let files = Files::new();
    let pages = pages();
    let file = files.write("pages.tsv", &pages);
    for (flag, algorithm) in [("0", 0), ("1", 1)] {
        let class = files.name("class");
        let trained = CLI.json(&["train", &file, "-a", flag, "--format", "document", "-o", &class]);
        assert_eq!(trained["keys"], 3000);
        let header = [&[algorithm, 3, 0, 0, 0][..], b"\x04gone\x06weekly\x05daily"].concat();
        assert!(fs::read(&class).unwrap().starts_with(&header), "{flag}");
        assert_eq!(CLI.text_of(&["classify", &class, "-a", flag], &keys_alone(&pages)), pages);
    }
    let none = "use --format 2: the document's format has no compact classifiers";
    CLI.refuses(&["train", &file, "-a", "compact", "--format", "document"], none);
    CLI.refuses(&["train", &file, "--hash-seed", "1", "--format", "document"], "has no hash seed");
    assert!(!files.path("pages.tsv.class").exists());
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_gives_others() {
    let files = Files::new();
    let file = files.write("pages.tsv", pages());
    let trained = |seed: &str, algorithm: &str| {
        let class = files.name("class");
        let trained = CLI.json(&["train", &file, "--hash-seed", seed, "-a", algorithm, "-o", &class]);
        assert_eq!(trained["hash_seed"].to_string(), seed);
        assert_eq!(CLI.json(&["classify", &class, "--check", &file])["errors"], 0);
        fs::read(class).unwrap()
    };
    for algorithm in ["0", "1", "compact"] {
        assert!(trained("7", algorithm) == trained("7", algorithm), "{algorithm}");
        assert!(trained("7", algorithm) != trained("18446744073709551615", algorithm), "{algorithm}");
    }
}

/// Each time lies between the fastest and the slowest repetition; they differ.
fn within_limits(row: &Value, times: &[&str]) {
    for time in times {
        let [low, median, high] = ["_low", "", "_high"].map(|limit| number(row, &format!("{time}{limit}")));
        assert!(low <= median && median <= high && high > 0.0, "{time}: {row}");
    }
    let first = times[0];
    assert!(number(row, &format!("{first}_low")) < number(row, &format!("{first}_high")), "{row}");
}

#[test]
fn all_algorithms_and_filters_are_measured() {
    let files = Files::new();
    let [csv, filters_csv] = ["cascade.csv", "filters.csv"].map(|name| files.name(name));
    let arguments =
        ["bench", "--size", "40000,4", "--size", "8000,2", "--rounds", "2", "--seed", "5", "--hash-seed", "6"];
    let measured = CLI.json(&[&arguments[..], &["--csv", &csv, "--filters-csv", &filters_csv]].concat());
    let rows = measured["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    for row in rows {
        assert_eq!((&row["errors"], &row["seed"], &row["hash_seed"]), (&0.into(), &5.into(), &6.into()));
        within_limits(row, &["seconds", "cpu_seconds", "batch_ns", "batch_cpu_ns", "single_ns", "single_cpu_ns"]);
        assert!(number(row, "peak_bytes") > 1e6 && number(row, "batch_cpu_ns") > 0.0, "{row}");
        let over = number(row, "bits_per_key") / number(row, "entropy_bits_per_key");
        assert!((number(row, "over_entropy") - over).abs() < 1e-9 && over >= 1.0, "{row}");
    }
    let [one, two, compact] = [&rows[0], &rows[1], &rows[2]];
    assert!(number(compact, "over_entropy") < 1.05, "{compact}");
    assert!(number(one, "bytes") > number(two, "bytes") && number(two, "bytes") > 2.0 * number(compact, "bytes"));
    let filters = measured["filters"].as_array().unwrap();
    assert_eq!(filters.len(), 16);
    for filter in &filters[..8] {
        let bits = if filter["filter"].as_str().unwrap().ends_with("16") { 16 } else { 8 };
        assert!((1.0..1.35).contains(&(number(filter, "bits_per_key") / f64::from(bits))), "{filter}");
        within_limits(filter, &["build_seconds", "build_cpu_seconds", "member_ns", "member_cpu_ns", "other_ns"]);
        let (low, high) = (number(filter, "rate_low"), number(filter, "rate_high"));
        assert!(low < 2.2 * 0.5_f64.powi(bits) && high > 0.5_f64.powi(bits), "{filter}");
    }
    let of = |name: &str| number(filters.iter().find(|filter| filter["filter"] == name).unwrap(), "bits_per_key");
    assert!(of("bumped-ribbon8") < of("homogeneous-ribbon8") && of("homogeneous-ribbon8") < of("xor8"));
    let [table, filter_table] = [csv, filters_csv].map(|path| fs::read_to_string(path).unwrap());
    assert_eq!((table.lines().count(), filter_table.lines().count()), (7, 17));
    assert!(
        table.lines().next().unwrap().contains("seconds_low,seconds_high") && table.contains(",error_low,error_high,")
    );
    assert!(filter_table.lines().next().unwrap().contains("rate,rate_low,rate_high"));
    assert!(CLI.text(&["bench", "--help"]).contains("[default: 3]"));
}

#[test]
fn the_document_s_figures_stand_beside_its_sizes() {
    let measured = CLI.json(&["bench", "--size", "small", "--no-filters", "-a", "0", "-a", "1", "--rounds", "1"]);
    let rows = measured["rows"].as_array().unwrap();
    let printed = ["128 KB", "156 KB"];
    assert!(rows.iter().zip(printed).all(|(row, printed)| row["document_size"] == printed && row["errors"] == 0));
    assert!(measured["filters"].as_array().unwrap().is_empty());
    let shown = CLI.text(&["bench", "--size", "5000,3", "--skew", "1", "--no-filters", "-a", "compact"]);
    for word in ["algorithm", "bits/key", "x entropy", "CPU", "one by one", "document"] {
        assert!(shown.lines().any(|line| line.starts_with(&format!("{word} "))), "{word}: {shown}");
    }
}

#[test]
fn each_example_of_the_help_is_one() {
    for (command, examples) in [("train", 4), ("classify", 3), ("bench", 3)] {
        let help = CLI.text(&[command, "--help"]);
        let (_, after) = help.split_once("Example").unwrap();
        assert_eq!(after.matches("urlcache cascade").count() + after.matches("printf").count(), examples, "{after}");
    }
}

#[test]
fn what_cannot_be_done_is_said_in_one_line() {
    let files = Files::new();
    let pages = files.write("pages.tsv", "a\tone\nb\ttwo\nc\tone\n");
    let class = files.name("class");
    CLI.text(&["train", &pages, "-o", &class]);
    let bytes = fs::read(&class).unwrap();
    let cut = files.write("cut", &bytes[..bytes.len() / 2]);
    let document = files.write("document", b"\0\xff\xff\xff\xff\x01a");
    let newer = files.write("newer", b"URLCLASS\x09\0\0\0");
    let [both, unlabelled, empty] =
        [("both", "a\tone\nb\ttwo\na\ttwo\n"), ("unlabelled", "a\tone\nb\n"), ("empty", "\n\n")]
            .map(|(name, text)| files.write(name, text));
    let long = files.write("long", "x".repeat(2 << 20));
    let dotted = files.name("./pages.tsv");
    let unwritten = files.name("unwritten");
    let many = files.write("many", (0..200_000).fold(String::new(), |text, key| text + &format!("{key}\tc{key}\n")));
    let cases: [(&[&str], &str); 27] = [
        (&["train", "/nonexistent"], "cannot read /nonexistent"),
        (&["train", "/dev/stdin", "-o", &unwritten], "/dev/stdin is no regular file: it is read twice"),
        (&["train", &both], "both:3: the key \"a\" is of class \"two\" here, and of class \"one\" on line 1"),
        (&["train", &unlabelled], "unlabelled:2: the line has no '\\t' between key and class"),
        (&["train", &empty], "empty has no keys"),
        (&["train", &long], "long:1: the line is longer than"),
        (&["train", &pages, "-o", &pages], "is read as well: name another file to write to"),
        (&["train", &pages, "-o", &dotted], "is read as well: name another file to write to"),
        (&["train", &pages, "-o", "/nonexistent/x"], "cannot write /nonexistent/x"),
        (
            &["train", &many, "-o", &unwritten],
            "200000 classes of 200000 keys: algorithms 1.0 and 2.0 go through all keys",
        ),
        (&["train", &many, "-a", "0"], "use -a compact, and if these are not the classes, see --delimiter"),
        (&["classify", "/dev/zero", "a"], "cannot read /dev/zero: it is neither a file nor a pipe"),
        (&["classify", "/", "a"], "cannot read /: it is neither a file nor a pipe"),
        (&["bench", "--size", "small", "--csv", "/nonexistent/x"], "cannot write /nonexistent/x"),
        (&["bench", "--size", "small", "--csv", &unwritten, "--filters-csv", &unwritten], "is read as well"),
        (&["bench", "--size", "1000000,65536"], "65536 classes of 1000000 keys"),
        (&["train", &pages, "--k1", "0"], "'--k1 <K>'"),
        (&["train", &pages, "--k", "2"], "--k is of algorithm 1.0"),
        (&["train", &pages, "--k2", "2", "-a", "compact"], "--k1 and --k2 are of algorithm 2.0"),
        (&["train", &pages, "--delimiter", "ab"], "a delimiter is one byte"),
        (&["classify", &cut, "a"], "cut: the classifier is damaged"),
        (&["classify", &document, "a"], "document: the classifier makes no sense: it is shorter than it says"),
        (&["classify", &newer, "a"], "newer: the classifier has format 9, this library reads 2"),
        (&["classify", &pages, "a"], "pages.tsv: this is not a classifier"),
        (&["classify", &class, "-a", "compact", "a"], "is of algorithm 2.0, not compact"),
        (&["bench", "--size", "3,4"], "none of them empty"),
        (&["bench", "--size", "small", "--skew", "-1"], "--skew"),
    ];
    CLI.refuses_all(&cases);
    assert_eq!(fs::read_to_string(pages).unwrap(), "a\tone\nb\ttwo\nc\tone\n");
    let compact = CLI.json(&["train", &many, "-a", "compact", "-o", &class]);
    assert_eq!((&compact["classes"], &compact["verified"]), (&200_000.into(), &200_000.into()));
}

#[test]
fn a_training_that_fails_leaves_no_file_and_keeps_what_was_there() {
    let files = Files::new();
    let both = files.write("both", "a\tone\nb\ttwo\na\ttwo\n");
    let class = files.name("class");
    CLI.refuses(&["train", &both, "-o", &class], "both:3: the key \"a\" is of class");
    assert!(!files.path("class").exists());
    files.write("class", "kept");
    CLI.refuses(&["train", &both, "-o", &class], "both:3: the key \"a\" is of class");
    assert_eq!(fs::read_to_string(&class).unwrap(), "kept");
}

#[test]
fn one_class_has_no_entropy_to_be_compared_with() {
    let arguments = ["bench", "--size", "1000,1", "--no-filters", "-a", "1", "--rounds", "1"];
    let measured = CLI.json(&arguments);
    let row = &measured["rows"][0];
    assert!(row["over_entropy"].is_null() && row["entropy_bits_per_key"] == 0.0, "{row}");
    let shown = CLI.text(&[&arguments[..], &["--brief"]].concat());
    assert!(shown.contains(" - ") && !shown.contains("inf"), "{shown}");
}
