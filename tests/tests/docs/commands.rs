//! Every command of the README and of the pages of `docs/` is run, or named here with the reason why not.
//!
//! The README begins in an empty folder and its commands are run in their order. Each page begins with the crawl that the README
//! leaves behind, in a folder of its own, so that pages depend on nothing but the README.

use std::{path::Path, process::Command};

use crate::{
    program::{Site, shell},
    text::{blocks, read, root, user_documents},
};

/// The start URL of the documents. The test puts a practice site on loopback in its place.
const EXAMPLE: &str = "https://docs.example.org/";

/// What a page finds: the crawl of the README, another sequence, and cookies as a browser exports them.
const BEFORE_A_PAGE: [&str; 3] = [
    "webloom crawl -q https://docs.example.org/ -d docs",
    "webloom crawl -q -d docs --again",
    "printf '127.0.0.1\\tFALSE\\t/\\tFALSE\\t0\\tsid\\t1\\n' > cookies.txt",
];

/// Lines that are not run, by their beginning; what is checked instead is the test behind each.
const NOT_RUN: &[(&str, &str)] = &[
    ("./demo", "builds with the release profile; its parts are checked"),
    ("cargo run --release", "builds with the release profile; the same `webloom demo` is run"),
    ("cargo run -q --release -p urlcache", "builds with the release profile; a test of its package calls the same"),
    ("tests/run", "would run this test again; its parts are checked"),
    ("cargo install", "builds with the release profile and writes outside the checkout; its folders are checked"),
    ("deploy/package", "builds with the profile of releases; its parts are checked"),
    ("apt install", "installs what the line before makes"),
    ("systemctl ", "needs systemd; the unit is checked"),
    ("webloom serve", "does not end; tests of crawls ask it"),
    ("webloom mcp", "waits for an assistant; tests of crawls are one"),
    ("webloom watch https:", "does not end; the same is run with --runs"),
    ("cargo run -q --example", "builds from the checkout; the tests of the library run both examples"),
    ("webloom crawl https://docs.example.org/ -d by-proxy", "needs a proxy; tests of crawls have two"),
    (
        "podman ",
        "needs a registry of images; tests/image tries all of it, and the Dockerfile is checked for what it relies on",
    ),
];

/// The lines of shell in a document.
fn lines_of(document: &str) -> Vec<String> {
    let blocks = blocks(&read(document), "sh");
    blocks.iter().flat_map(|block| block.lines()).map(str::to_owned).collect()
}

fn is_run(line: &str) -> bool {
    !NOT_RUN.iter().any(|(beginning, _)| line.starts_with(beginning))
}

/// Runs a line that must succeed; what it prints on stdout.
fn run(line: &str, site: &Site, dir: &Path) -> String {
    let output = shell(&line.replace(EXAMPLE, &site.url), dir);
    assert!(output.status.success(), "{line}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Runs the lines of a document in their order; how many these are.
fn run_all(document: &str, site: &Site, dir: &Path) -> usize {
    let lines: Vec<_> = lines_of(document).into_iter().filter(|line| is_run(line)).collect();
    for line in &lines {
        let printed = run(line, site, dir);
        let silent = line.contains('>') && !line.contains("explain")
            || ["webloom pages", "webloom changes", "webloom links", "webloom retry"]
                .iter()
                .any(|lister| line.starts_with(lister));
        assert!(silent || !printed.is_empty(), "{document}: {line} prints nothing");
        assert!(!printed.contains("\"error\":\""), "{document}: {line} answers an error");
        assert!(line != "webloom demo" || printed.contains("clean"), "the demo shows a clean crawl");
    }
    lines.len()
}

#[test]
fn the_commands_of_the_readme_run() {
    let (site, dir) = (Site::serve(), tempfile::tempdir().unwrap());
    assert!(run_all("README.md", &site, dir.path()) > 5);
    assert!(lines_of("README.md").contains(&"webloom demo".to_owned()));
    assert!(run("webloom check docs", &site, dir.path()).contains(" 0 queued "), "the crawl is complete");
}

#[test]
fn the_commands_of_the_pages_run() {
    let site = Site::serve();
    let mut number = 0;
    for document in user_documents()
        .iter()
        .filter(|document| *document != "README.md" && lines_of(document).iter().any(|line| is_run(line)))
    {
        let dir = tempfile::tempdir().unwrap();
        for line in BEFORE_A_PAGE {
            run(line, &site, dir.path());
        }
        number += run_all(document, &site, dir.path());
    }
    assert!(number > 30, "{number} commands");
}

#[test]
fn what_is_not_run_rests_on_what_is_there() {
    let lines: Vec<_> = user_documents().iter().flat_map(|document| lines_of(document)).collect();
    for (beginning, reason) in NOT_RUN {
        assert!(lines.iter().any(|line| line.starts_with(beginning)), "{beginning} is in no document ({reason})");
    }
    for script in ["demo", "tests/run", "tests/prepare", "tests/image", "deploy/package", ".ci/run"] {
        assert!(Command::new("bash").arg("-n").arg(root().join(script)).status().unwrap().success(), "{script}");
    }
    assert!(read("demo").contains("tests/prepare build") && read("demo").contains("-p webloom -- demo"));
    for (folder, program) in [("crawler", "webloom"), ("urlcache/evaluation", "urlcache")] {
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
    for line in ["FROM scratch", "WORKDIR /crawl", "VOLUME /crawl", "USER 10001:10001", "ENTRYPOINT [\"webloom\"]"] {
        assert!(dockerfile.lines().any(|there| there == line), "no {line}");
    }
    let toolchain = read("Cargo.toml");
    let version = toolchain.split("rust-version = \"").nth(1).unwrap().split('"').next().unwrap();
    assert!(dockerfile.contains(&format!("FROM rust:{version}-bookworm AS build")), "the image builds with {version}");
    assert!(read("README.md").contains(&format!("toolchain](https://rustup.rs), {version} or newer")));
    assert!(read(".dockerignore").lines().any(|line| line == "target"));
}
