//! Every command of the README is run, in its order, or named here with the reason why not.

use std::process::Command;

use crate::{
    program::{Site, shell},
    text::{blocks, read, root},
};

/// The start URL of the README. The test puts a practice site on loopback in its place.
const EXAMPLE: &str = "https://docs.example.org/";

/// Lines that are not run, by their beginning; what is checked instead is the test behind each.
const NOT_RUN: &[(&str, &str)] = &[
    ("./demo", "builds with the release profile; its parts are checked"),
    ("cargo run --release", "builds with the release profile; the same `webloom demo` is run"),
    ("cargo run -q --release -p urlcache-cli", "builds with the release profile; a test of its package calls the same"),
    ("tests/run", "would run this test again; its parts are checked"),
    ("cargo install", "builds with the release profile and writes outside the checkout; its folders are checked"),
    ("webloom watch https:", "does not end; the same is run with --runs"),
    ("podman ", "needs a registry of images; the Dockerfile is checked for what the commands rely on"),
];

fn lines() -> Vec<String> {
    let documents = ["README.md", "docs/loss.md"].map(read);
    let blocks = documents.iter().flat_map(|text| blocks(text, "sh"));
    blocks.flat_map(|block| block.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

fn is_run(line: &str) -> bool {
    !NOT_RUN.iter().any(|(beginning, _)| line.starts_with(beginning))
}

#[test]
fn the_commands_of_the_readme_run() {
    let (site, dir) = (Site::serve(), tempfile::tempdir().unwrap());
    let lines = lines();
    let run: Vec<_> = lines.iter().filter(|line| is_run(line)).collect();
    assert!(run.len() > 10, "{run:?}");
    let mut demos = 0;
    for line in run {
        let output = shell(&line.replace(EXAMPLE, &site.url), dir.path());
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}\n{complaint}");
        let silent = line.contains('>') && !line.contains("explain")
            || ["webloom pages", "webloom changes", "webloom links"].iter().any(|lister| line.starts_with(lister));
        assert!(silent || !output.stdout.is_empty(), "{line} prints nothing");
        assert!(!String::from_utf8_lossy(&output.stdout).contains("\"error\":\""), "{line} answers an error");
        demos += usize::from(line == "webloom demo" && String::from_utf8_lossy(&output.stdout).contains("clean"));
    }
    let check = shell("webloom check docs", dir.path());
    assert!(String::from_utf8_lossy(&check.stdout).contains(" 0 queued "), "the crawl is complete");
    assert_eq!(demos, 1, "the demo shows a clean crawl");
}

#[test]
fn what_is_not_run_rests_on_what_is_there() {
    let lines = lines();
    for (beginning, reason) in NOT_RUN {
        assert!(lines.iter().any(|line| line.starts_with(beginning)), "{beginning} is not in the README ({reason})");
    }
    for script in ["demo", "tests/run", "tests/prepare", ".ci/run"] {
        assert!(Command::new("bash").arg("-n").arg(root().join(script)).status().unwrap().success(), "{script}");
    }
    assert!(read("demo").contains("tests/prepare build") && read("demo").contains("-p webloom -- demo"));
    for (folder, program) in [("crawler", "webloom"), ("urlcache/cli", "urlcache")] {
        assert!(lines.contains(&format!("cargo install --locked --path {folder}")), "{program} is not installed");
        assert!(read(&format!("{folder}/Cargo.toml")).contains(&format!("name = \"{program}\"\n")), "{folder}");
    }
}

#[test]
fn the_picture_is_one_of_the_demo() {
    let picture = read("docs/demo.svg");
    let chapters = read("crawler/src/cli/demo/chapters.rs");
    let headings: Vec<_> = chapters.split("heading(\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(headings.len(), 5);
    for text in headings.into_iter().chain(["Now your own site", "statements were checked"]) {
        assert!(picture.contains(text), "{text}: run docs/demo-picture");
    }
    assert!(read("README.md").contains("](docs/demo.svg)") && picture.contains("prefers-color-scheme: dark"));
}

#[test]
fn the_image_is_what_the_commands_rely_on() {
    let dockerfile = read("Dockerfile");
    for line in ["WORKDIR /crawl", "VOLUME /crawl", "USER 10001", "ENTRYPOINT [\"webloom\"]"] {
        assert!(dockerfile.lines().any(|there| there == line), "no {line}");
    }
    let toolchain = read("Cargo.toml");
    let version = toolchain.split("rust-version = \"").nth(1).unwrap().split('"').next().unwrap();
    assert!(dockerfile.contains(&format!("FROM rust:{version}-bookworm AS build")), "the image builds with {version}");
    assert!(read("README.md").contains(&format!("toolchain](https://rustup.rs), {version} or newer")));
    assert!(read(".dockerignore").lines().any(|line| line == "target"));
}
