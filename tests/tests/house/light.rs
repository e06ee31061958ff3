//! The library `urlcache` is light: what only its program needs is among the dependencies of `urlcache/cli` alone.

use std::fs;

use crate::{assert_none, source::root};

/// Crates of the program: arguments, errors, documents, and the filter that it compares with.
const OF_THE_PROGRAM: &[&str] = &["anyhow", "clap", "fastbloom", "serde", "serde_json"];

#[test]
fn the_library_depends_on_nothing_of_its_program() {
    let [library, program] =
        ["urlcache", "urlcache/cli"].map(|folder| fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap());
    assert_none("light library", &faults(&library));
    assert_eq!(faults(&program).len(), OF_THE_PROGRAM.len(), "a crate that the program does not use need not be named");
}

/// Every crate of the program that a manifest names, in whichever table, tests and benches included.
fn faults(manifest: &str) -> Vec<String> {
    let named: Vec<_> = manifest.lines().filter_map(dependency).collect();
    let crates = OF_THE_PROGRAM.iter().filter(|name| named.contains(name));
    crates.map(|name| format!("urlcache/Cargo.toml: `{name}` belongs into urlcache/cli/Cargo.toml")).collect()
}

/// The crate that a line may name: `name.workspace = …`, `name = …` or `[dependencies.name]`.
fn dependency(line: &str) -> Option<&str> {
    let line = line.trim();
    match line.strip_prefix('[') {
        Some(heading) => heading.trim_end_matches(']').split_once("dependencies.").map(|(_, name)| name),
        None => line.split(['.', '=', ' ']).next(),
    }
}

#[test]
fn a_heavy_dependency_is_a_fault() {
    let count = |lines: &str| faults(&format!("[package]\nname = \"urlcache\"\n{lines}\n")).len();
    assert_eq!(count("[dependencies]\nclap.workspace = true"), 1);
    assert_eq!(count("[dependencies]\nserde_json = \"1\"\nanyhow={ version = \"1\", optional = true }"), 2);
    assert_eq!(count("[dev-dependencies.fastbloom]\nworkspace = true"), 1);
    assert_eq!(count("[dev-dependencies]\nproptest.workspace = true\n# clap is not here"), 0);
}
