//! `urlcache sketch`: estimators beside the exact answers.

use std::fs;

use serde_json::{Value, json};

use crate::{Cli, list, number};

const CLI: Cli = Cli(&["sketch"]);

fn rows<'a>(document: &'a Value, sketch: &str) -> Vec<&'a Value> {
    list(document, "rows").iter().filter(|row| row["sketch"] == sketch).collect()
}

fn lines(values: impl IntoIterator<Item = Value>) -> String {
    let lines: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
    lines.join("\n") + "\n"
}

/// Each row has its exact answer, and is at most five standard errors away from it.
fn near(document: &Value) {
    for row in list(document, "rows") {
        let (estimate, exact) = (number(row, "estimate"), number(row, "exact"));
        assert!((number(row, "relative_error") - (estimate / exact - 1.0)).abs() < 1e-9, "{row}");
        assert!(row["deviation_se"].as_f64().unwrap_or(0.0).abs() < 5.0, "{row}");
        let leaning = if row["theory_is_bound"] == true { 0.0 } else { number(row, "bias") };
        let middle = estimate / (1.0 + leaning);
        assert!(number(row, "low") <= middle && middle <= number(row, "high"), "{row}");
    }
}

#[test]
fn distinct_words_of_each_section() {
    let words = |from: u32, to: u32| (from..to).map(|word| format!("Wort{word}")).collect::<Vec<_>>().join("; ");
    let mut input = lines([
        json!({"section": "/a", "title": words(0, 400)}),
        json!({"section": "/b", "title": "one"}),
        json!({"section": "/a", "title": words(300, 600).to_lowercase()}),
    ]);
    input.insert_str(0, "\n   \n");
    let found = CLI.json_of(&["distinct", "--of", "title", "--words", "--by", "section"], &input);
    near(&found);
    assert_eq!((&found["lines"], &found["groups"]), (&json!(3), &json!(2)));
    for kind in ["hyperloglog", "flajolet-martin"] {
        let rows = rows(&found, kind);
        let named: Vec<_> = rows.iter().map(|row| (&row["group"], number(row, "exact"))).collect();
        assert_eq!(named, [(&json!("/a"), 600.0), (&json!("/b"), 1.0)]);
        assert_eq!(rows[0]["elements"], 700);
    }
    let bare = CLI.json_of(&["distinct", "--of", "title", "--by", "section", "--no-exact"], &input);
    assert!(bare["rows"].as_array().unwrap().iter().all(|row| row["exact"].is_null() && row["deviation_se"].is_null()));
}

#[test]
fn distinct_links_to_each_page() {
    let input = lines((0..3_000_u32).flat_map(|page| {
        [json!({"from": page, "to": ["/", format!("/{}", page % 10)]}), json!({"from": page, "to": ["/"]})]
    }));
    let arguments = ["distinct", "--of", "from", "--by", "to", "--precision", "12"];
    CLI.refuses_of(&arguments, input.as_bytes(), "the field `to` is a list");
    let input = input.replace(r#"["/"]"#, r#""/""#).replace(r#"["/","#, "").replace(r#""]"#, r#"""#);
    let found = CLI.json_of(&arguments, &input);
    near(&found);
    let registers = rows(&found, "hyperloglog");
    assert_eq!((&registers[0]["group"], number(registers[0], "exact")), (&json!("/"), 3_000.0));
    assert!(registers.len() == 11 && (number(registers[5], "estimate") - 300.0).abs() < 20.0);
    let alone = CLI.json_of(&["distinct", "--of", "from", "--sketch", "flajolet-martin", "--groups", "5"], &input);
    assert!(rows(&alone, "hyperloglog").is_empty() && rows(&alone, "flajolet-martin").len() == 1);
}

#[test]
fn second_moments_of_the_slides_streams() {
    let stream = |host: &str, first: usize, others: usize| {
        let mut values = vec![0; first];
        values.extend((1..=10).flat_map(|value| std::iter::repeat_n(value, others)));
        values.into_iter().map(|value| json!({"host": host, "folder": value})).collect::<Vec<_>>()
    };
    let input = lines([stream("even", 10, 9), stream("uneven", 90, 1)].concat());
    let found =
        CLI.json_of(&["moment", "--of", "folder", "--by", "host", "--variables", "40", "--groups", "4"], &input);
    near(&found);
    let means = rows(&found, "mean");
    assert_eq!((&means[0]["group"], number(means[0], "exact")), (&json!("uneven"), 8_110.0));
    assert_eq!((&means[1]["group"], number(means[1], "exact")), (&json!("even"), 910.0));
    assert!(number(means[0], "standard_error") > 0.05);
    // Each position has a variable.
    let all = CLI.json_of(&["moment", "--of", "folder", "--by", "host", "--no-exact"], &input);
    assert!((number(rows(&all, "mean")[0], "estimate") - 8_110.0).abs() < 1e-6);
    assert!(all["rows"][0]["exact"].is_null());
}

#[test]
fn neighbourhoods_of_the_slides_graph() {
    let links = ["AB", "AC", "BC", "BD", "DE", "DF", "DG", "EF", "FG"];
    let input = lines(links.map(|link| json!({"from": link[..1], "to": link[1..]})));
    let flags = ["neighbours", "--from", "from", "--to", "to", "--start", "E", "--depth", "9"];
    let undirected = [&flags[..], &["--direction", "undirected", "--precision", "14"]].concat();
    let found = CLI.json_of(&undirected, &input);
    near(&found);
    let registers = rows(&found, "hyperloglog");
    let exact: Vec<f64> = registers.iter().map(|row| number(row, "exact")).collect();
    let estimates: Vec<f64> = registers.iter().map(|row| number(row, "estimate").round()).collect();
    assert_eq!((&exact[..4], &estimates[..4]), (&[1.0, 3.0, 5.0, 7.0][..], &[1.0, 3.0, 5.0, 7.0][..]));
    assert!(
        exact.len() < 9 && exact[3..].windows(2).all(|sizes| sizes == [7.0; 2]),
        "it ends where nothing grows: {exact:?}"
    );
    for (way, sizes) in [("out", vec![1.0, 2.0, 3.0]), ("in", vec![1.0, 2.0, 3.0, 4.0])] {
        let found = CLI.json_of(&[&flags[..], &["--direction", way]].concat(), &input);
        let exact: Vec<f64> = rows(&found, "hyperloglog").iter().map(|row| number(row, "exact")).collect();
        assert_eq!(exact[..sizes.len()], sizes);
    }
    let lists = lines([json!({"from": "E", "to": ["F", "D"]}), json!({"from": "D", "to": []})]);
    let found = CLI.json_of(&flags, &lists);
    assert_eq!(rows(&found, "flajolet-martin")[1]["exact"], 3.0);
}

#[test]
fn a_sample_by_key_is_right_and_one_by_position_is_not() {
    // 2,000 keys once, 2,000 twice; the values of the latter lie 10 apart.
    let input = lines((0..6_000_u32).map(|line| json!({"key": line % 4_000, "value": line / 4_000 * 10})));
    let folder = tempfile::tempdir().unwrap();
    let (csv, out) = (folder.path().join("rows.csv"), folder.path().join("sample.jsonl"));
    let paths = [&csv, &out].map(|path| path.to_str().unwrap());
    let flags = ["sample", "--key", "key", "--value", "value", "--most", "600", "--csv", paths[0], "--out", paths[1]];
    let found = CLI.json_of(&flags, &input);
    let of = |name: &str, kind: &str| rows(&found, kind).into_iter().find(|row| row["group"] == name).unwrap().clone();
    for (name, exact) in [("unique keys", 0.5), ("mean range", 5.0), ("distinct keys", 4_000.0)] {
        let row = of(name, "by key");
        assert!((number(&row, "exact") - exact).abs() < 1e-9 && number(&row, "deviation_se").abs() < 4.0, "{row}");
    }
    assert!(number(&of("unique keys", "by position"), "deviation_se") > 10.0);
    assert!(number(&of("mean range", "by position"), "deviation_se") < -10.0);
    let sampled = fs::read_to_string(out).unwrap();
    let count = sampled.lines().inspect(|line| assert!(input.contains(&format!("{line}\n")), "{line}")).count();
    assert!((590..=600).contains(&count), "{count}");
    let table = fs::read_to_string(csv).unwrap();
    assert!(
        table.starts_with("group,sketch,elements,estimate,low,high,exact,") && table.lines().count() == 6,
        "{table}"
    );
}

#[test]
fn estimators_are_within_their_theory() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("check.csv");
    let flags = ["check", "--seeds", "30", "--largest", "1000", "--csv", csv.to_str().unwrap()];
    let found = CLI.json_of(&flags, "");
    let rows = found["rows"].as_array().unwrap();
    assert!(found["passed"] == true && rows.len() > 25, "{found}");
    for part in ["hyperloglog", "flajolet-martin", "second moment", "neighbours", "sample by key", "sample by position"]
    {
        assert!(rows.iter().any(|row| row["estimator"].as_str().unwrap().contains(part)), "{part}");
    }
    let positions = rows.iter().find(|row| row["estimator"].as_str().unwrap().contains("position")).unwrap();
    assert!(number(positions, "bias") > 0.8, "it is biased, as theory says: {positions}");
    assert_eq!(fs::read_to_string(csv).unwrap().lines().count(), rows.len() + 1);
}

#[test]
fn answers_explain_their_words_and_repeat() {
    let input = lines((0..500_u32).map(|line| json!({"from": line % 70, "to": line % 90})));
    let commands: [&[&str]; 5] = [
        &["distinct", "--of", "to"],
        &["moment", "--of", "to"],
        &["neighbours", "--from", "from", "--to", "to", "--start", "0"],
        &["sample", "--key", "to"],
        &["check", "--seeds", "5", "--largest", "10"],
    ];
    for command in commands {
        let (explained, again) = (CLI.text_of(command, &input), CLI.text_of(command, &input));
        assert_eq!(explained, again);
        let brief = CLI.text_of(&[command, &["--brief"]].concat(), &input);
        assert!(explained.starts_with(brief.trim_end()) && explained.len() > brief.len() + 200, "{explained}");
        assert!(brief.contains("std error"), "{brief}");
        let help = CLI.text_of(&[command[0], "--help"], "");
        assert!(help.contains("Example") && help.contains("[default: "), "{help}");
    }
    let other = CLI.text_of(&["distinct", "--of", "to", "--hash-seed", "2"], &input);
    assert_ne!(other, CLI.text_of(&["distinct", "--of", "to"], &input));
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let deep = "[".repeat(100_000);
    let long = [b"{\"a\": 1}\n", &vec![b' '; (1 << 20) + 1][..]].concat();
    let cases: [(&[u8], &str); 11] = [
        (&long, ":2: the line is longer than 1048576 bytes"),
        (b"", "has no line"),
        (b"\n \n", "has no line"),
        (b"{\"a\": 1}\n\n{\"a\": \n", "line 3: the line is not JSON"),
        (b"{\"a\": 1}\n[1]\n", "line 2: the line is not a JSON object"),
        (b"{\"b\": 1, \"c\": 2}", "line 1: there is no field `a`; the line has `b`, `c`"),
        (b"{\"a\": {}}", "line 1: the field `a` is an object"),
        (b"{\"a\": [1, null]}", "line 1: the field `a` is null"),
        (b"{\"a\": \"\xff\"}", "line 1: the line is not UTF-8"),
        (b"{\"a\": 1e999}", "line 1: the line is not JSON: number out of range"),
        (deep.as_bytes(), "line 1: the line is not JSON: recursion limit exceeded"),
    ];
    let file = folder.path().join("in.jsonl");
    for (input, message) in cases {
        fs::write(&file, input).unwrap();
        CLI.refuses(&["distinct", "--of", "a", file.to_str().unwrap()], message);
        CLI.refuses_of(&["distinct", "--of", "a"], input, message);
    }
    let one = b"{\"a\": 1, \"b\": \"x\"}";
    CLI.refuses(&["distinct", "--of", "a", "/nonexistent"], "cannot read /nonexistent");
    CLI.refuses_of(&["distinct", "--of", "a", "--precision", "5"], one, "the precision 5 is outside 6..=18");
    CLI.refuses_of(&["distinct", "--of", "a", "--groups", "4"], one, "4 groups are not an odd number");
    CLI.refuses_of(&["distinct", "--of", "a", "--group-size", "65"], one, "groups of 65 hash functions");
    CLI.refuses_of(&["moment", "--of", "a", "--variables", "7"], one, "7 variables cannot be put into 5 groups");
    CLI.refuses_of(&["moment", "--of", "a", "--variables", "0"], one, "0 variables cannot be put");
    CLI.refuses_of(
        &["neighbours", "--from", "a", "--to", "b", "--start", "y"],
        one,
        "no line has the page of --start, y",
    );
    CLI.refuses_of(&["sample", "--key", "a", "--value", "b"], one, "line 1: the field `b` is a text, not a number");
    CLI.refuses_of(&["sample", "--key", "a", "--most", "0"], one, "--most");
    CLI.refuses_of(
        &["sample", "--key", "b", "--value", "a"],
        b"{\"a\": 1, \"b\": \"x\"}\n{\"a\": -1e308, \"b\": \"x\"}",
        "line 2: the value -1e308 of the key `x` is outside -1e140 to 1e140",
    );
    CLI.refuses_of(&["sample", "--key", "a", "--out", "/nonexistent/x"], one, "cannot write /nonexistent/x");
    CLI.refuses_of(&["distinct", "--of", "a", "--csv", "/nonexistent/x"], one, "cannot write /nonexistent/x");
}

#[test]
fn what_is_read_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let [file, dotted, other] = ["in.jsonl", "./in.jsonl", "other"].map(path);
    let lines = "{\"a\": 1, \"b\": 2}\n";
    fs::write(&file, lines).unwrap();
    let commands: [&[&str]; 5] = [
        &["distinct", "--of", "a", "--csv"],
        &["moment", "--of", "a", "--csv"],
        &["neighbours", "--from", "a", "--to", "b", "--start", "1", "--csv"],
        &["sample", "--key", "a", "--csv"],
        &["sample", "--key", "a", "--out"],
    ];
    for command in commands {
        for target in [&file, &dotted] {
            CLI.refuses(&[command, &[target, &file]].concat(), "is read as well");
        }
        // Standard input may be the file.
        let input = fs::File::open(&file).unwrap();
        let output = CLI.program(command).arg(&file).stdin(input).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{command:?}");
    }
    CLI.refuses(&["sample", "--key", "a", "--csv", &other, "--out", &other, &file], "is read as well");
    CLI.refuses(&["check", "--csv", "/nonexistent/x"], "cannot write /nonexistent/x");
    assert_eq!(fs::read_to_string(file).unwrap(), lines);
}

#[test]
fn few_keys_do_not_show_how_much_others_differ() {
    let input = lines((0..5).flat_map(|key| [json!({"key": key, "value": 1}), json!({"key": key, "value": 10 * key})]));
    let ranges = |flags: &[&str]| {
        let found = CLI.json_of(&[&["sample", "--key", "key", "--value", "value"], flags].concat(), &input);
        let rows = list(&found, "rows").iter().filter(|row| row["group"] == "mean range");
        rows.map(|row| (row["low"].as_f64(), row["high"].as_f64())).collect::<Vec<_>>()
    };
    let unknown = (Some(0.0), None);
    assert_eq!(ranges(&["--most", "3", "--no-exact"]), [unknown, unknown]);
    // Without a line of any key, the true ranges do not help.
    assert_eq!(ranges(&["--most", "1"]), [unknown, unknown]);
    // A sample of all is no sample.
    assert_eq!(ranges(&["--most", "10", "--no-exact"])[0].0, Some(19.4));
    let shown = CLI.text_of(&["sample", "--key", "key", "--value", "value", "--most", "3", "--no-exact"], &input);
    assert!(shown.contains("0 to any") && shown.contains("unknown"), "{shown}");
}

#[test]
fn a_group_without_values_has_none_for_certain() {
    let input = "{\"page\": \"/a\", \"to\": []}\n{\"page\": \"/b\", \"to\": [\"/\"]}\n";
    let found = CLI.json_of(&["distinct", "--of", "to", "--by", "page"], input);
    for row in list(&found, "rows").iter().filter(|row| row["group"] == "/a") {
        assert_eq!((row["low"].as_f64(), row["high"].as_f64()), (Some(0.0), Some(0.0)), "{row}");
    }
}

/// Of groups of so many different values.
fn few(count: u32, more: &[&str]) -> Value {
    let values = (0..400_u32).flat_map(|group| (0..count).map(move |value| (group, format!("{group}-{value}"))));
    let input = lines(values.map(|(group, value)| json!({"group": group, "value": value})));
    CLI.json_of(&[&["distinct", "--of", "value", "--by", "group", "--precision", "6"], more].concat(), &input)
}

#[test]
fn theory_holds_for_groups_of_few_values() {
    for count in [1, 2, 3, 8] {
        let found = few(count, &[]);
        for deviation in found["deviations"].as_array().unwrap() {
            let mean_square = number(deviation, "root_mean_square_se");
            assert!((0.7..1.35).contains(&mean_square), "{count}: {deviation}");
        }
        for kind in ["hyperloglog", "flajolet-martin"] {
            for found in [&found, &few(count, &["--no-exact"])] {
                let holds =
                    |row: &&&Value| number(row, "low") <= f64::from(count) && number(row, "high") >= f64::from(count);
                let held = rows(found, kind).iter().filter(holds).count();
                assert!(held >= 360, "{count} {kind}: {held} of 400");
            }
        }
    }
}

/// One value 60 times and 1,500 once, as the lines come by chance, and values by Zipf's law.
#[test]
fn intervals_of_second_moments_hold_the_truth() {
    let uneven = (0..1_560_u32).map(|line| if line % 26 == 0 { 0 } else { line });
    let zipf = (1..=100_u32).flat_map(|rank| std::iter::repeat_n(rank, (1_000 / rank) as usize));
    for values in [uneven.collect::<Vec<_>>(), zipf.collect()] {
        let input = lines(values.into_iter().map(|value| json!({"value": value})));
        let mut held = [0, 0];
        for seed in 0..50 {
            let found = CLI.json_of(&["moment", "--of", "value", "--hash-seed", &seed.to_string()], &input);
            for (held, kind) in held.iter_mut().zip(["mean", "median of means"]) {
                let row = rows(&found, kind)[0];
                let exact = number(row, "exact");
                *held += i32::from(number(row, "low") <= exact && exact <= number(row, "high"));
            }
        }
        assert!(held.iter().all(|held| *held >= 45), "{held:?}");
    }
}

#[test]
fn texts_of_a_file_do_not_steer_the_terminal() {
    let long = "x".repeat(5_000);
    let input = lines(["a\u{1b}[2J", "b\u{202e}c", "d\ne", &long].map(|group| json!({"group": group, "value": 1})));
    let shown = CLI.text_of(&["distinct", "--of", "value", "--by", "group", "--brief"], &input);
    for part in ["a\\u{1b}[2J ", "b\\u{202e}c ", "d\\u{a}e ", "xx... "] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}') && shown.len() < 5_000);
    CLI.refuses_of(&["distinct", "--of", "value"], b"{\"\\u001b[2J\": 1}", "the line has `\\u{1b}[2J`");
    let found = CLI.json_of(&["distinct", "--of", "value", "--by", "group"], &input);
    assert!(rows(&found, "hyperloglog").iter().any(|row| row["group"] == "a\u{1b}[2J"), "{found}");
}

#[test]
fn extreme_flags_do_no_harm() {
    let input = lines((0..50_u32).map(|line| json!({"a": line % 7, "b": line})));
    let huge = usize::MAX.to_string();
    let commands: [&[&str]; 6] = [
        &["moment", "--of", "a", "--variables", &huge, "--groups", "1"],
        &["moment", "--of", "a", "--variables", &huge, "--groups", &huge],
        &["sample", "--key", "a", "--most", &huge],
        &["sample", "--key", "a", "--most", "1"],
        &["distinct", "--of", "a", "--precision", "18", "--groups", "127", "--group-size", "64", "--top", &huge],
        &["neighbours", "--from", "a", "--to", "b", "--start", "0", "--depth", "10000"],
    ];
    for command in commands {
        for more in [&[][..], &["--no-exact"]] {
            let found = CLI.json_of(&[command, more].concat(), &input);
            assert!(!found["rows"].as_array().unwrap().is_empty(), "{found}");
        }
    }
}
