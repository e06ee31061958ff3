//! Every command but those that have a file of their own, and what all commands share.

use std::collections::BTreeSet;

use crate::{Cli, list, number};

const CLI: Cli = Cli(&[]);

/// What `benches/evaluation` makes a page of.
const EVALUATION: &str = include_str!("../../../../benches/evaluation.md");

/// Name and arguments of `{{run NAME ARGUMENTS}}` or `{{run:FIRST,LAST NAME ARGUMENTS}}`.
fn run_of(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("{{run")?.strip_suffix("}}")?.split_once(' ')?.1.split_once(' ')
}

/// The commands of the page about the evaluation take what they are given there; the tests of each command run it.
#[test]
fn the_evaluation_has_only_flags_that_exist() {
    let mut number = 0;
    for (_, command) in EVALUATION.lines().filter_map(run_of) {
        let arguments: Vec<&str> = command.split_whitespace().collect();
        let nested = ["sketch", "cascade"].contains(&arguments[0]);
        let help = CLI.text(&[&arguments[..=usize::from(nested)], &["--help"]].concat());
        let there: Vec<&str> = help.split(|c: char| !c.is_alphanumeric() && c != '-').collect();
        for flag in arguments.iter().filter(|argument| argument.starts_with('-')) {
            assert!(there.contains(flag), "{flag} of {command}");
        }
        number += 1;
    }
    assert!(number > 15, "{number} commands");
}

/// The page is its template with each command in its place, and there is a table of each command and no other table.
#[test]
fn the_evaluation_was_run_since_its_template_was_changed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/evaluation");
    let mut page = EVALUATION.to_owned();
    let mut names = BTreeSet::new();
    for (line, (name, command)) in EVALUATION.lines().filter_map(|line| Some((line, run_of(line)?))) {
        let shown = command.replace("FIGURES", "docs/evaluation").replace("RESULTS", "target/evaluation");
        page = page.replace(line, &format!("- [{name}](evaluation/{name}.txt): `urlcache {shown}`"));
        let table = std::fs::read_to_string(format!("{folder}/{name}.txt"));
        let table = table.unwrap_or_else(|error| panic!("{name}.txt: {error}"));
        let first = format!("cargo run -q --release -p urlcache-evaluation -- {shown}\n\n");
        assert!(table.starts_with(&first), "{name}.txt is not of {shown}");
        names.insert(name.to_owned());
    }
    assert!(page == include_str!("../../../../docs/evaluation.md"), "benches/evaluation was not run");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name());
    let tables: BTreeSet<String> =
        files.filter_map(|file| Some(file.to_str()?.strip_suffix(".txt")?.to_owned())).collect();
    assert_eq!(tables, names);
}

#[test]
fn the_price_list_keeps_the_budget_and_auto_is_cheap() {
    for (urls, lost) in [("1000", 0.5), ("100000", 0.5), ("10000000", 2.0)] {
        let prices = CLI.json(&["size", "--urls", urls, "--max-lost", &lost.to_string()]);
        let of = |strategy: &str, layout: &str| {
            let found = list(&prices, "rows").iter().find(|row| row["strategy"] == strategy && row["layout"] == layout);
            found.unwrap_or_else(|| panic!("{strategy} {layout}")).clone()
        };
        for row in list(&prices, "rows").iter().filter(|row| !row["expected_lost"].is_null()) {
            assert!(number(row, "expected_lost") <= lost * 1.001, "{row}");
        }
        for strategy in ["single", "spatial", "temporal", "spatio-temporal", "multilayer"] {
            // A cache line is priced at 4 bits a URL.
            let price = |layout| {
                let row = of(strategy, layout);
                number(&row, "bits_per_url") + 4.0 * number(&row, "cache_lines")
            };
            let least = ["classic", "line", "fingerprint"].map(price).into_iter().fold(f64::INFINITY, f64::min);
            assert!((price("auto") - least).abs() < 0.01 * least, "{strategy} of {urls}");
            assert!(number(&of(strategy, "auto"), "cache_lines") <= 10.0, "{strategy} of {urls}");
        }
        assert_eq!(of("exact", "auto")["expected_lost"], 0.0);
        assert!(of("multilayer-plain", "auto")["expected_lost"].is_null());
    }
    let default = CLI.json(&["size", "--urls", "10000000"]);
    let single = list(&default, "rows").iter().find(|row| row["strategy"] == "single").unwrap();
    assert!(number(single, "bits_per_url") <= 40.0, "{single}");
    let huge = CLI.json(&["size", "--urls", "100000000000", "--max-rate", "0.01"]);
    assert!(list(&huge, "rows").iter().any(|row| row["strategy"] == "single" && row["layout"] == "classic"), "{huge}");
    let table = CLI.text(&["size", "--urls", "1000", "--max-rate", "0.01"]);
    assert!(table.starts_with("1000 URLs, within a rate of 0.010"), "{table}");
    assert!(table.contains("single") && table.contains("auto (line)"), "{table}");
}

#[test]
fn a_price_list_knows_what_rotating_and_growing_cost() {
    let prices = |reset| CLI.json(&["size", "--urls", "100000", "--reset", reset]);
    let [none, rotate, grow] = ["none", "rotate", "grow"].map(prices);
    for (plain, rotating) in list(&none, "rows").iter().zip(list(&rotate, "rows")) {
        assert_eq!((&plain["strategy"], &plain["layout"]), (&rotating["strategy"], &rotating["layout"]));
        if rotating["expected_lost"].is_null() {
            continue;
        }
        assert!(rotating["errs"].as_str().unwrap().contains("seen called new"), "{rotating}");
        // Twice as many lines to look at, each for half of the keys at half of the rate.
        let more = number(rotating, "bits_per_url") / number(plain, "bits_per_url");
        assert!((0.9..1.5).contains(&more), "{rotating}");
    }
    assert!(!list(&grow, "rows").iter().any(|row| row["strategy"] == "multilayer") && list(&grow, "rows").len() > 10);
}

#[test]
fn a_rotating_cache_is_measured_beyond_its_capacity() {
    let arguments = ["rate", "--urls", "2000", "--offer", "40000", "--rounds", "5", "--max-lost", "20"];
    let measured = CLI.json(&[&arguments[..], &["--reset", "rotate", "--layout", "classic"]].concat());
    assert!(number(&measured, "deviation_se").abs() < 4.0, "{measured}");
    let lost = number(&measured, "lost");
    assert!(lost > 100.0 && lost < 20.0 * 20.0, "{measured}");
}

#[test]
fn counted_losses_are_the_charged_ones() {
    for arguments in [&["--strategy", "spatial"][..], &["--layout", "line"], &["--hashing", "murmur2"]] {
        let measured =
            CLI.json(&[&["rate", "--urls", "2000", "--rounds", "30", "--max-rate", "0.02"], arguments].concat());
        assert!(number(&measured, "lost") > 2.0, "{measured}");
        assert!(number(&measured, "deviation_se").abs() < 4.0, "{measured}");
        let planned = number(&measured, "planned");
        assert!((number(&measured, "charged") / planned - 1.0).abs() < 0.1, "{measured}");
    }
    let shown = CLI.text(&["rate", "--urls", "1000", "--rounds", "20", "--max-rate", "0.02"]);
    let high = CLI.json(&["rate", "--urls", "500", "--rounds", "100", "--max-rate", "0.8", "--query", "2000"]);
    assert!(number(&high, "deviation_se").abs() < 4.0 && high["charged_is"] == "expected", "{high}");
    assert!((number(&high, "found") / number(&high, "queried") - 0.8).abs() < 0.02, "{high}");
    let plain = CLI.json(&["rate", "--urls", "500", "--strategy", "multilayer-plain"]);
    assert!(plain["charged"].is_null() && plain["planned"].is_null() && plain["charged_is"] == "unknown", "{plain}");
    for line in ["measured rate  ", "interval  ", "predicted rate  ", "deviation  "] {
        assert!(shown.lines().any(|there| there.starts_with(line)), "{line}: {shown}");
    }
    assert!(shown.contains(" standard errors\n"), "{shown}");
}

#[test]
fn speed_prints_ratios_for_each_rate_peer_and_operation() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("speed.csv").display().to_string();
    let document = CLI.json(&["speed", "--keys", "2000", "--rounds", "1", "--small-pages", "--csv", &file]);
    // Three rates, seven peers, four operations, in batches and one by one.
    assert_eq!(list(&document, "rows").len(), 3 * 7 * 4 * 2);
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 1 + 3 * 7 * 4 * 2);
    for row in list(&document, "rows") {
        assert!(number(row, "ns") > 0.0 && number(row, "bits_per_key") > 5.0, "{row}");
        let ratio = number(row, "against_ns") / number(row, "ns");
        assert!((number(row, "ratio") / ratio - 1.0).abs() < 1e-9, "{row}");
        assert_eq!(row["keys"], 2_000);
        assert!(number(row, "actual_rate_low") <= number(row, "actual_rate"), "{row}");
    }
    // One that has no such filter ends nothing.
    let unfit = ["speed", "--keys", "1000", "--rounds", "1", "--rates", "1e-18", "--small-pages", "--against"];
    let some = CLI.json(&[&unfit[..], &["sbbf,quotient"]].concat());
    assert!(list(&some, "rows").len() == 8 && list(&some, "rows").iter().all(|row| row["against"] == "sbbf"));
    CLI.refuses(&[&unfit[..], &["quotient"]].concat(), "error: left out at 1e-18: quotient cannot be made: ");
    CLI.refuses(&["speed", "--small-pages", "--rates", "0.01,2"], "max_false_positive_rate is 2");
    let threads =
        ["speed", "--keys", "4000", "--rounds", "1", "--small-pages", "--threads", "2", "--against", "sbbf,fastbloom"];
    let document = CLI.json(&[&threads[..], &["--rates", "0.01"]].concat());
    assert_eq!(list(&document, "rows").len(), 2 * 4 * 2);
    assert!(list(&document, "rows").iter().all(|row| row["threads"] == 2 && number(row, "actual_rate") < 0.05));
    let layouts =
        CLI.json(&["speed", "--layouts", "--keys", "2000", "--rounds", "1", "--small-pages", "--rates", "1e-3"]);
    assert_eq!(list(&layouts, "rows").len(), 6);
    assert_eq!(list(&layouts, "rows")[0]["shape"], "classic, 10 probes");
}

#[test]
fn answers_explain_their_words_unless_they_are_to_be_brief() {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/spatial-line-grow.v1");
    let answers: [(&[&str], &[&str]); 4] = [
        (&["size", "--urls", "1000"], &["bits/URL", "rate when full", "expected lost", "cache lines"]),
        (&["rate", "--urls", "1000", "--rounds", "2"], &["measured rate", "interval", "predicted rate", "deviation"]),
        (&["speed", "--keys", "1000", "--rounds", "1", "--small-pages"], &["ratio", "ns", "bits/key"]),
        (&["inspect", golden], &["errs", "rate", "expected lost"]),
    ];
    for (arguments, words) in answers {
        let explained = CLI.text(arguments);
        let brief = CLI.text(&[arguments, &["--brief"]].concat());
        let footer = explained.rsplit("\n\n").next().unwrap();
        for word in words {
            assert!(footer.lines().any(|line| line.starts_with(&format!("{word} "))), "{word}: {explained}");
            assert!(brief.contains(word), "{word} is not in the answer: {brief}");
        }
        assert!(!brief.contains(footer.lines().next().unwrap()), "{brief}");
    }
    let speeds = CLI.text(&["speed", "--keys", "1000", "--rounds", "1", "--small-pages", "--brief"]);
    assert!(
        speeds.contains("against fastbloom, in batches: ours does ") && speeds.contains("times as many keys a second"),
        "{speeds}"
    );
    assert_eq!(CLI.run(&["size", "--urls", "9", "--json", "--brief"]).status.code(), Some(2));
}

#[test]
fn a_snapshot_is_described() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/spatial-line-grow.v1");
    let described = CLI.json(&["inspect", file]);
    assert_eq!((&described["strategy"], &described["layout"]), (&"spatial".into(), &"line".into()));
    assert_eq!((&described["items"], &described["errs"]), (&300.into(), &"new called seen".into()));
    assert!(CLI.text(&["inspect", file]).contains("300 URLs held, room for 300"));
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("cache").display().to_string();
    CLI.text(&["rate", "--urls", "1000", "--rounds", "2", "--strategy", "multilayer", "--save", &saved]);
    let described = CLI.json(&["inspect", &saved]);
    assert_eq!((&described["strategy"], &described["capacity"]), (&"multilayer".into(), &1_000.into()));
    assert!((990..=1_000).contains(&described["items"].as_u64().unwrap()));
}

#[test]
fn what_cannot_be_done_is_said_in_one_line() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let cases: [(&[&str], &str); 8] = [
        (&["speed", "--small-pages", "--against", "blom"], "unknown peer `blom`, use one of: fastbloom, "),
        (&["inspect", "/nonexistent"], "cannot read /nonexistent"),
        (&["inspect", readme], "this is not a snapshot of a URL cache"),
        (&["size", "--urls", "1000", "--max-lost", "0"], "max_lost_urls is 0 but must be above 0"),
        (&["size", "--urls", "0"], "0 is not in 1..="),
        (&["rate", "--save", "/nonexistent/x"], "cannot write /nonexistent/x"),
        (&["size", "--urls", "1000", "--filters", "65"], "65 filters are outside 1..=64"),
        (&["rate", "--strategy", "spatial", "--hashing", "md5"], "go with the strategies single and temporal"),
    ];
    CLI.refuses_all(&cases);
}

#[test]
fn a_full_disk_costs_the_file_and_not_the_answer() {
    let full = "/dev/full";
    if !std::path::Path::new(full).exists() {
        println!("this system has no {full}");
        return;
    }
    let cases: [&[&str]; 7] = [
        &["rate", "--urls", "1000", "--rounds", "1", "--save", full],
        &[
            "speed",
            "--small-pages",
            "--keys",
            "1000",
            "--rounds",
            "1",
            "--rates",
            "0.01",
            "--against",
            "sbbf",
            "--csv",
            full,
        ],
        &["multilayer", "--sizes", "500", "--queries", "100", "--out", full],
        &["multilayer", "--generate", "60", "--rounds", "2", "--searches", "10", "--out", full],
        &["multilayer", "--generate", "60", "--search", "a", "--out", full],
        &["cascade", "bench", "--size", "1000,3", "--rounds", "1", "-a", "compact", "--no-filters", "--csv", full],
        &["sketch", "check", "--seeds", "3", "--largest", "1000", "--csv", full],
    ];
    for arguments in cases {
        let output = CLI.run(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains("cannot write /dev/full: ") && output.stdout.len() > 200, "{arguments:?}: {said}");
    }
}
