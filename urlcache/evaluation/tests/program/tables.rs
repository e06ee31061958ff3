//! `urlcache tables`, with few URLs.

use std::{fs, path::Path};

use serde_json::Value;

use crate::{Cli, list, number};

const CLI: Cli = Cli(&["tables"]);

#[test]
fn all_rates_fit_their_theory_with_few_urls_and_every_published_seed() {
    let rates = "5.1,5.2,5.3,5.4,5.5,5.6,5.7,5.8,5.9,5.16,5.17,5.18,5.19,5.20,5.21";
    for seed in ["1", "2", "3", "4"] {
        let document = CLI.json(&["--only", rates, "--keys", "2000", "--runs", "4", "--hash-seed", seed]);
        assert_eq!((list(&document, "tables").len(), document["hash_seed"].to_string().as_str()), (16, seed));
        assert!(number(&document, "worst_deviation_se").abs() < 4.5, "{seed}");
        assert_eq!((&document["deviations_fit"], &document["tables_fit"]), (&true.into(), &true.into()), "{seed}");
        for table in list(&document, "tables") {
            let p = table["p_value"].as_f64();
            assert!(p.is_none_or(|p| (0.001..=1.0).contains(&p)), "seed {seed}: {table}");
            for cell in list(table, "cells") {
                assert!(number(cell, "low") <= number(cell, "ours") && number(cell, "ours") <= number(cell, "high"));
                assert!(
                    number(cell, "theory") > 0.0 && cell["row"].is_string() && cell["column"].is_string(),
                    "{cell}"
                );
                assert!(cell["best"].is_null() || number(cell, "best") <= number(cell, "theory") * 1.0001, "{cell}");
                assert!(cell.get("thesis").is_some() && cell.get("deviation_se").is_some(), "{cell}");
            }
        }
    }
}

#[test]
fn a_table_does_not_depend_on_what_else_is_asked_for() {
    let arguments = ["--keys", "1000", "--runs", "3"];
    let cells = |only: &str, id: &str| {
        let document = CLI.json(&[&arguments[..], &["--only", only]].concat());
        let table = list(&document, "tables").iter().find(|table| table["id"] == id).unwrap();
        table["cells"].clone()
    };
    assert_eq!(cells("5.9,5.19,5.17", "5.9"), cells("5.9", "5.9"));
    // The thesis shows the same runs twice.
    let (twice, once) = (cells("5.8", "5.8"), cells("5.6", "5.6"));
    assert_eq!((&twice[0]["ours"], &twice[2]["ours"]), (&once[1]["ours"], &once[2]["ours"]));
}

#[test]
fn memory_and_times_stand_beside_a_hash_set() {
    let document = CLI.json(&["--only", "5.10,5.12,5.13,5.14,5.15,A.3,A.6", "--keys", "1000"]);
    assert_eq!(list(&document, "tables").len(), 7 + 2);
    for table in list(&document, "tables") {
        let id = table["id"].as_str().unwrap();
        for cell in list(table, "cells").iter().filter(|_| !id.starts_with("figure")) {
            assert!(number(cell, "thesis") > 0.0 && number(cell, "ours") > 0.0, "{id}: {cell}");
            assert!(number(cell, "thesis_by_hash_set") > 0.0 && number(cell, "ours_by_hash_set") > 0.0, "{id}: {cell}");
        }
    }
    let memory = list(&document, "tables").iter().find(|table| table["id"] == "5.12").unwrap();
    for cell in list(memory, "cells") {
        assert!((number(cell, "ours") - number(cell, "theory")).abs() < 0.2, "{cell}");
    }
    let misprint = list(&document, "tables")[0]["cells"].as_array().unwrap().iter();
    let misprints: Vec<&Value> = misprint.filter(|cell| !cell["departure"].is_null()).collect();
    assert_eq!(
        (misprints.len(), &misprints[0]["row"], &misprints[0]["departure"]),
        (1, &"8 HF".into(), &"misprint".into())
    );
}

#[test]
fn answers_name_the_departures_and_explain_their_words() {
    let shown = CLI.text(&["--only", "5.9,5.16,figure A.1", "--keys", "1000", "--runs", "2"]);
    for line in [
        "2 runs of 1000 URLs (generated URLs), hash seed 1;",
        "Table 5.9: One filter, full (per cent)",
        "Figure A.1: Spatial: 1 filter, M = 1.7, while filling (per cent)",
        "4 HF, 5.0 M: scatter: +1.70 %",
        "7 HF, 4.0 M: lucky-hit: one hit among 10^8 URLs, 0.07 to be expected",
        "The text of the thesis says 0.0000001 %",
        "chi-square ",
        "worst of 140 rates: ",
        "least p of 3 tables: ",
        "best HF, best ",
    ] {
        assert!(shown.lines().any(|there| there.starts_with(line)), "{line}: {shown}");
    }
    let brief = CLI.text(&["--only", "5.21", "--keys", "1000", "--runs", "1", "--brief"]);
    assert!(brief.contains("3 filters") || brief.contains("three filters"), "{brief}");
    assert!(!brief.contains("bit-size multiplier: a filter"), "{brief}");
}

#[test]
fn files_are_written_for_each_table_and_figure() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let arguments = ["--only", "5.1,5.9", "--keys", "1000", "--runs", "2", "--brief"];
    CLI.text(&[&arguments[..], &["--csv", &path("csv"), "--svg", &path("svg")]].concat());
    let names = |folder: &str| {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&path("csv")), ["figure-5.1.csv", "table-5.1.csv", "table-5.9.csv"]);
    assert_eq!(names(&path("svg")), ["at-equal-bits.svg", "by-multiplier.svg", "figure-5.1.svg"]);
    let csv = fs::read_to_string(Path::new(&path("csv")).join("table-5.9.csv")).unwrap();
    assert!(
        csv.starts_with("row,column,thesis,theory,ours,deviation_se,low,high,") && csv.lines().count() == 49,
        "{csv}"
    );
}

#[test]
fn urls_may_come_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("urls.txt");
    let urls: Vec<String> = (0..2_400).map(|index| format!("http://h{}/{index}", index % 7)).collect();
    fs::write(&file, urls.join("\n")).unwrap();
    let file = file.display().to_string();
    let document = CLI.json(&["--only", "5.5", "--runs", "2", "--urls", &file]);
    assert_eq!((&document["keys"], document["urls"].as_str().unwrap()), (&1_200.into(), file.as_str()));
    assert!(number(&document, "worst_deviation_se").abs() < 4.5);
}

#[test]
fn what_cannot_be_done_is_said_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let few = folder.path().join("few.txt");
    fs::write(&few, "http://h/1\nhttp://h/2\n").unwrap();
    let few = few.display().to_string();
    let [bytes, packed] = ["bytes", "bytes.zst"].map(|name| folder.path().join(name));
    for file in [&bytes, &packed] {
        fs::write(file, [0xff, 0xfe, 0x00, 0x80].repeat(1_000)).unwrap();
    }
    let [bytes, packed] = [bytes, packed].map(|file| file.display().to_string());
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let under_a_file = format!("{readme}/csv");
    let small = ["--only", "5.21", "--keys", "1000", "--runs", "1"];
    let written = [&small[..], &["--csv", &under_a_file]].concat();
    let drawn = [&["--only", "figure 5.1", "--keys", "1000", "--runs", "1"][..], &["--svg", &under_a_file]].concat();
    let cases: &[(&[&str], &str)] = &[
        (&["--only", "5.22"], "there is no table \"5.22\" in --only: they are 5.1, 5.2"),
        (&["--only", ""], "there is no table \"\""),
        (&["--urls", "/nonexistent"], "cannot read /nonexistent"),
        (&["--urls", &few], "2 different lines but 2000 are needed"),
        (&["--urls", &bytes], "cannot read"),
        (&["--urls", &packed], "cannot read"),
        (&["--keys", "10"], "10 is not in 1000..=10000000"),
        (&["--runs", "0"], "0 is not in 1..=100000"),
        (&["--threads", "0"], "0 is not in 1..=1024"),
        (&["--hash-seed", "18446744073709551616"], "invalid value"),
        (&["--only"], "a value is required"),
        (&written, "cannot make"),
        (&drawn, "cannot make"),
    ];
    CLI.refuses_all(cases);
}
