//! `urlcache multilayer`: what the documents' multi-layer filter errs, and what ours does.

use std::{fs, path::Path, sync::LazyLock};

use serde_json::Value;

use crate::{Cli, list, number};

const CLI: Cli = Cli(&["multilayer"]);

/// The one row of these names.
fn row<'d>(document: &'d Value, names: &[(&str, &str)]) -> &'d Value {
    let is = |row: &&Value| names.iter().all(|(name, value)| row[*name] == *value);
    let mut found = list(document, "rows").iter().filter(is);
    let row = found.next().unwrap_or_else(|| panic!("{names:?}: {document}"));
    assert!(found.next().is_none(), "{names:?}");
    row
}

/// A comparison on a generated site: layers of 2^16 and 2^15 bits are 25.17 and 12.58 bits a URL in total.
fn generated() -> &'static Value {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(|| CLI.json(&["--sizes", "15625", "--queries", "20000"]));
    &DOCUMENT
}

#[test]
fn the_plain_form_takes_what_it_should_not_and_ours_does_not() {
    let document = generated();
    let rate = |memory, method, questions| {
        let row = row(document, &[("memory", memory), ("method", method), ("questions", questions)]);
        (number(row, "rate"), number(row, "rate_low"), number(row, "one_bloom_rate"))
    };
    for (memory, recombined) in [("equal 25", 0.23), ("equal 12.6", 0.53)] {
        let (plain, ..) = rate(memory, "multilayer-plain", "recombined");
        assert!((plain - recombined).abs() < 0.02, "{memory}: {plain}");
        assert!(rate(memory, "multilayer-plain", "swapped").0 > 0.995, "{memory}");
        for questions in ["new-leaf", "recombined", "swapped", "new-host"] {
            let (ours, low, one_bloom) = rate(memory, "multilayer", questions);
            assert!(low <= 2.2 * one_bloom && ours <= 3.0 * one_bloom + 1e-4, "{memory}, {questions}: {ours}");
            let (bloom, low, _) = rate(memory, "bloom", questions);
            assert!(low <= one_bloom && bloom <= 1.5 * one_bloom + 2e-4, "{memory}, {questions}: {bloom}");
        }
        assert!(
            rate(memory, "segment-set", "recombined").0 > 0.999 && rate(memory, "segment-set", "swapped").0 > 0.999
        );
    }
}

#[test]
fn the_documents_figures_have_their_shape_with_their_memory() {
    let document = generated();
    let of = |method, questions| {
        row(document, &[("memory", "documents"), ("method", method), ("questions", questions)]).clone()
    };
    for questions in ["new-leaf", "recombined", "new-host"] {
        let [bloom, layers] = ["segment-set", "multilayer-plain"].map(|method| of(method, questions));
        assert!(number(&layers, "rate") < 0.1 * number(&bloom, "rate"), "{questions}: {layers} {bloom}");
        assert!((number(&layers, "bits") / number(&bloom, "bits") - 6.0).abs() < 1e-9);
        assert!(number(&layers, "insert_ns") > number(&bloom, "insert_ns"), "{layers} {bloom}");
        // And what was not drawn: with that memory a Bloom filter of whole URLs errs on none of these.
        let ours = of("multilayer", questions);
        assert_eq!((&ours["found"], &ours["bits"]), (&0.into(), &layers["bits"]));
    }
    let of_exact = |method| row(document, &[("method", method), ("questions", "recombined")]).clone();
    for method in ["linear", "binary", "sorted", "hash-set"] {
        assert_eq!(of_exact(method)["found"], 0, "{method}");
    }
    assert!(number(&of_exact("linear"), "miss_ns") > 5.0 * number(&of_exact("hash-set"), "miss_ns"));
}

#[test]
fn rows_and_figures_are_written_with_intervals() {
    let folder = tempfile::tempdir().unwrap();
    let [out, svg] = ["rows.csv", "figures"].map(|name| folder.path().join(name).display().to_string());
    let arguments = ["--sizes", "1000,2000", "--queries", "500", "--layers", "4", "--bits", "25"];
    let shown = CLI.text(&[&arguments[..], &["--out", &out, "--svg", &svg]].concat());
    for word in ["segment-set", "equal 25", "(quartiles)", "multilayer-plain takes"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    let mut reader = csv::Reader::from_path(&out).unwrap();
    let heading = reader.headers().unwrap().clone();
    let place = |name: &str| heading.iter().position(|there| there == name).unwrap();
    let mut rows = 0;
    for row in reader.records() {
        let row = row.unwrap();
        let of = |name: &str| row[place(name)].parse::<f64>().unwrap();
        assert!(of("rate_low") <= of("rate") && of("rate") <= of("rate_high"), "{row:?}");
        assert!(of("insert_ns_low") <= of("insert_ns") && of("hit_ns") <= of("hit_ns_high"), "{row:?}");
        rows += 1;
    }
    // Four exact methods, five filters with the documents' memory and four at equal totals.
    assert_eq!(rows, 2 * (4 + 5 + 4) * 4);
    for name in ["false-positives-documents-recombined", "query-time", "insertion-time"] {
        let figure = fs::read_to_string(Path::new(&svg).join(format!("{name}.svg"))).unwrap();
        assert!(figure.contains("</svg>") && figure.contains("multi-layer"), "{name}");
    }
}

#[test]
fn urls_of_a_file_are_compared_with_those_held_out() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("urls").display().to_string();
    let lines: Vec<String> = (0..3_000).map(|i| format!("https://h{}.example/{}/{}", i % 7, i % 50, i / 3)).collect();
    fs::write(&file, lines.join("\n")).unwrap();
    let document = CLI.json(&["--urls", &file, "--sizes", "1000", "--queries", "4000"]);
    let of =
        |method| row(&document, &[("memory", "equal 12.6"), ("method", method), ("questions", "held-out")]).clone();
    assert_eq!(of("bloom")["asked"], 2_000);
    assert!(number(&of("segment-set"), "rate") > 10.0 * number(&of("bloom"), "rate"));
    CLI.refuses(&["--urls", &file, "--sizes", "3001"], "error: --sizes 3001: there are 3000 different URLs");
}

fn records(folder: &tempfile::TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn keywords_are_counted_as_theory_says_and_the_claim_is_judged() {
    let document = CLI.json(&["--generate", "800", "--rounds", "10", "--searches", "40"]);
    assert_eq!((&document["hashes"], &document["layers"]), (&4.into(), &4.into()));
    for row in list(&document, "rows") {
        let deviation = row["deviation_se"].as_f64().unwrap_or(0.0);
        assert!(deviation.abs() < 5.0, "{row}");
        assert!(row["method"] == "algorithm 4, literally" || number(row, "missed") == 0.0, "{row}");
        for name in ["rate", "precision"] {
            let [value, low, high] = ["", "_low", "_high"].map(|end| number(row, &format!("{name}{end}")));
            assert!(0.0 <= low && low <= value && value <= high && high <= 1.0, "{name}: {row}");
        }
        let has_theory = row["expected"].as_f64().is_some_and(|expected| expected >= 20.0);
        assert_eq!(row["deviation_se"].is_number(), has_theory, "{row}");
    }
    let of = |memory, method| {
        number(row(&document, &[("experiment", "two halves"), ("memory", memory), ("method", method)]), "rate")
    };
    assert!((of("error rate", "Bloom of records") - 0.05).abs() < 0.01);
    assert!(of("document", "multilayer-plain") < 0.05 * of("document", "Bloom of keywords"));
    assert!(of("equal", "multilayer-plain") > 3.0 * of("equal", "Bloom of records"));
    assert!(of("equal", "multilayer") < 3.0 * of("equal", "Bloom of records"));
    let gains = document["gains"].as_array().unwrap();
    let of_same_bits = gains.iter().filter(|gain| gain["like_with_like"] == true);
    assert_eq!(of_same_bits.inspect(|gain| assert!(number(gain, "more_precision") < 0.0, "{gain}")).count(), 5);
    // The document's own Bloom filter passes all combinations of known keywords: that is what layers gain over.
    for memory in ["document", "equal"] {
        let over = format!("Bloom of keywords ({memory})");
        let gain = gains.iter().find(|gain| gain["experiment"] == "two halves" && gain["over"] == *over).unwrap();
        assert!(number(gain, "more_precision_low") > 0.1, "{gain}");
        assert!(number(gain, "more_precision_high") - number(gain, "more_precision_low") < 0.1, "{gain}");
    }
    for (rounds, searches, judged) in [("2", "5", "is not decided by so few"), ("10", "60", "does not hold")] {
        let shown = CLI.text(&["--generate", "300", "--rounds", rounds, "--searches", searches]);
        assert!(shown.contains(&format!("The claim of 15-30 % more precision {judged}")), "{shown}");
    }
}

#[test]
fn a_search_lists_the_records_that_hold_all_words() {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<String> = (0..60).map(|i| format!("t{i},\"k{}|common|x{i}\"", i % 6)).collect();
    let file = records(&folder, "films.csv", &format!("title,tags\n{}\n", rows.join("\n")));
    let out = folder.path().join("found.csv").display().to_string();
    let of_file = ["--csv", &file, "--column", "tags", "--delimiter", "|"];
    let shown = CLI.text(&[&of_file[..], &["--search", "common,k3", "--out", &out]].concat());
    assert!(shown.starts_with("10 of 60 records hold all of: common, k3; by mistake Bloom finds "), "{shown}");
    let found: Vec<csv::StringRecord> = csv::Reader::from_path(&out).unwrap().records().map(Result::unwrap).collect();
    let right: Vec<&str> = found.iter().filter(|row| &row[1] == "true").map(|row| &row[0]).collect();
    assert_eq!(right, ["5", "11", "17", "23", "29", "35", "41", "47", "53", "59"]);
    assert!(found.iter().any(|row| &row[4] == "k3, common, x3"), "{found:?}");
    assert!(CLI.text(&[&of_file[..], &["--search", "nowhere"]].concat()).starts_with("0 of 60 records"));
    let document = CLI.json(&[&of_file[..], &["--rounds", "3"]].concat());
    assert_eq!((&document["records"], &document["different_keywords"]), (&60.into(), &67.into()));
}

#[test]
fn a_record_of_very_many_keywords_has_its_layers_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let long: Vec<String> = (0..20_000).map(|number| format!("k{number}")).collect();
    let file = records(&folder, "long.csv", &format!("tags\n{}\na|b\nb|c\nc|a\n", long.join("|")));
    let of_file = ["--csv", &file, "--column", "tags", "--delimiter", "|", "--rounds", "2", "--searches", "5"];
    let document = CLI.json(&of_file);
    assert_eq!((&document["most_keywords"], &document["layers"]), (&20_000.into(), &62.into()));
    assert_eq!(CLI.json(&[&of_file[..], &["--layers", "3"]].concat())["layers"], 3);
}

#[test]
fn the_corrected_form_is_judged_by_the_bound() {
    let shown = CLI.text(&["--sizes", "2000", "--queries", "20000", "--bits", "12.6", "--brief"]);
    let last = shown.lines().find(|line| line.contains("multilayer errs")).unwrap();
    assert!(last.ends_with("at most 3 times holds"), "{shown}");
    let few = CLI.text(&["--sizes", "2000", "--queries", "20", "--bits", "25", "--brief"]);
    assert!(few.contains("at most 3 times is not decided by so few questions"), "{few}");
}

#[test]
fn what_cannot_be_done_is_said_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let torn = records(&folder, "torn.csv", "a,b\n1,2\n3\n");
    let open = records(&folder, "open.csv", "a,b\n1,\"2\n3,4\n");
    let empty = records(&folder, "empty", "");
    let bars = records(&folder, "bars.csv", "a,b\n1,x|y\n2,z|y\n3,u|v\n4,w|x\n");
    let cases: [(&[&str], &str); 19] = [
        (&["--csv", &bars, "--column", "b"], "bars.csv, column b: no field has two keywords; name what is between"),
        (&["--csv", &bars, "--column", "b", "--delimiter", ""], "--delimiter is empty"),
        (&["--csv", &bars, "--column", "b", "--delimiter", "json"], "bars.csv, line 2, column b: is no JSON list"),
        (&["--csv", &bars, "--column", "b", "--layers", "4000000000"], "4000000000 is not in 1..=62"),
        (&["--csv", &torn, "--column", "a"], "torn.csv, line 3: 1 fields where the heading has 2"),
        (&["--csv", &open, "--column", "a"], "open.csv, line 2: a quotation mark is opened and never closed"),
        (&["--csv", &torn, "--column", "c"], "no column c; --column takes one of: a, b"),
        (&["--csv", &empty, "--column", "c"], "empty: there is no heading"),
        (&["--csv", &torn, "--column", "a", "--out", &torn], "--out is the file that --csv reads"),
        (&["--sizes", "10", "--out", "/nonexistent/x"], "cannot write /nonexistent/x"),
        (&["--sizes", "10", "--svg", &torn], "cannot make "),
        (&["--csv", &torn], "--column <C>"),
        (&["--csv", &torn, "--column", "a", "--svg", "x"], "cannot be used with"),
        (&["--search", "x"], "--search needs records"),
        (&["--generate", "9", "--search", "x", "--rounds", "3"], "cannot be used with"),
        (&["--generate", "9", "--search", "x", "--layers", "3"], "cannot be used with"),
        (&["--generate", "9", "--search", " ,"], "--search has no keyword"),
        (&["--urls", &empty, "--sizes", "10"], "has no line"),
        (&["--sizes", "0"], "0 is not in 1..="),
    ];
    CLI.refuses_all(&cases);
}
