//! `webloom simulate`: exit codes, broken lines, and the policies on real traces.

use std::{fs, path::Path};

use webloom_tests::{
    shared,
    webloom::{Run, Webloom},
};

const TRACE: &str = "{\"t\":1000000,\"path\":\"/a\",\"event\":\"new\",\"size\":3}\n\
                     {\"t\":1400000,\"path\":\"/a\",\"event\":\"changed\"}\n\
                     {\"t\":1800000,\"path\":\"/a\",\"event\":\"deleted\"}\n";

fn simulate(trace: &Path, arguments: &[&str]) -> Run {
    Webloom::new(["simulate", "--trace"]).args([trace]).args(arguments).run()
}

fn freshness(trace: &Path, policy: &str, budget: &str) -> f64 {
    let run = simulate(trace, &["--policy", policy, "--budget", budget, "--json"]).expect(0);
    run.json()["freshness"].as_f64().expect("a share")
}

#[test]
fn what_cannot_be_replayed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.jsonl");
    fs::write(&trace, TRACE).unwrap();
    for budget in ["0/day", "5", "many/day", "5/week"] {
        let run = simulate(&trace, &["--budget", budget]).expect(2);
        assert!(run.stderr.contains(budget) && run.stdout.is_empty(), "{}", run.stderr);
    }
    assert!(simulate(&trace, &["--budget", "5/day", "--policy", "lucky"]).expect(2).stderr.contains("lucky"));
    let empty = folder.path().join("empty.jsonl");
    fs::write(&empty, "\n").unwrap();
    let packed = folder.path().join("broken.zst");
    fs::write(&packed, TRACE).unwrap();
    for file in [folder.path(), &folder.path().join("nowhere"), &empty, &packed] {
        let run = simulate(file, &["--budget", "5/day", "--json"]).expect(2);
        assert!(run.stderr.contains(file.to_str().unwrap()) && run.stdout.is_empty(), "{}", run.stderr);
    }
}

#[test]
fn a_broken_line_is_named_and_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, broken] = ["whole.jsonl", "broken.jsonl"].map(|name| folder.path().join(name));
    fs::write(&whole, TRACE).unwrap();
    fs::write(&broken, format!("{{\"t\":\n{TRACE}{{\"t\":1,\"path\":\"/b\",\"event\":\"burnt\"}}\n")).unwrap();
    let chart = folder.path().join("chart.svg");
    let arguments = ["--budget", "1/day", "--policy", "fixed", "--json", "--chart", chart.to_str().unwrap()];
    let [whole, broken] = [whole, broken].map(|trace| simulate(&trace, &arguments).expect(0));
    assert_eq!((whole.stdout.as_str(), whole.stderr.as_str()), (broken.stdout.as_str(), ""));
    assert!(
        broken.stderr.contains("broken.jsonl:1:") && broken.stderr.contains("broken.jsonl:5:"),
        "{}",
        broken.stderr
    );
    let figures = whole.json();
    let keys: Vec<_> = figures.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["freshness", "age_days", "visits", "wasted", "missed"]);
    assert_eq!((&figures["visits"], &figures["wasted"], &figures["missed"]), (&5.into(), &4.into(), &1.into()));
    assert!(fs::read_to_string(chart).unwrap().ends_with("</svg>\n"));
}

/// The least by which `optimal` is fresher than both others, measured with some room.
const MARGINS: [(&str, &str, f64); 6] = [
    ("php-manual", "50/day", 0.002),
    ("php-manual", "200/day", 0.0005),
    ("trackawesomelist", "50/day", 0.008),
    ("trackawesomelist", "100/day", 0.005),
    ("trackawesomelist", "200/day", 0.003),
    ("trackawesomelist", "1000/day", 0.002),
];

#[test]
fn optimal_is_fresher_on_real_sites() {
    for (site, budget, margin) in MARGINS {
        let Some(trace) = shared::file(&format!("traces/trace-{site}.jsonl.zst")) else { return };
        let [fixed, multiplicative, optimal] =
            ["fixed", "multiplicative", "optimal"].map(|policy| freshness(&trace, policy, budget));
        println!("{site} {budget}: {fixed:.4} {multiplicative:.4} {optimal:.4}");
        assert!(optimal > fixed.max(multiplicative) + margin, "{site} {budget}: {fixed} {multiplicative} {optimal}");
    }
}
