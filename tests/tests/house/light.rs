//! Libraries are light. What only the program of `urlcache` needs is in that program's package, `urlcache/evaluation`; what only the
//! program `webloom` needs comes with the feature `program`.

use std::{collections::BTreeSet, fs, process::Command};

use crate::{assert_none, source::root};

/// Crates of the library: hash functions, and the kinds of its errors.
const OF_THE_LIBRARY: &[&str] = &["md-5", "sha1", "thiserror", "xxhash-rust"];

#[test]
fn the_library_depends_on_nothing_of_its_program() {
    let manifest = fs::read_to_string(root().join("urlcache/Cargo.toml")).unwrap();
    assert_none("light library", &faults(&manifest));
}

/// Every dependency of a manifest that is not the library's own, and what only a program has.
fn faults(manifest: &str) -> Vec<String> {
    let sections = ["[features]", "[[bin]]"].into_iter().filter(|name| manifest.lines().any(|line| line == *name));
    let sections = sections.map(|name| format!("urlcache/Cargo.toml: {name}"));
    let table = manifest.split("\n[dependencies]\n").nth(1).unwrap_or_default().split("\n[").next().unwrap_or_default();
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    let named: BTreeSet<_> = lines.filter_map(|line| line.split(['.', '=', ' ']).next()).collect();
    let heavy = named.into_iter().filter(|name| !name.is_empty() && !OF_THE_LIBRARY.contains(name));
    sections.chain(heavy.map(|name| format!("urlcache/Cargo.toml: `{name}` is not the library's"))).collect()
}

#[test]
fn a_heavy_dependency_is_a_fault() {
    let count = |lines: &str| faults(&format!("[package]\nname = \"urlcache\"\n\n[dependencies]\n{lines}\n")).len();
    assert_eq!(count("clap.workspace = true"), 1);
    assert_eq!(count("serde_json = \"1\"\nanyhow={ version = \"1\" }"), 2);
    assert_eq!(count("md-5.workspace = true\nclap = { workspace = true, optional = true }"), 1);
    assert_eq!(count("sha1.workspace = true\n\n[features]\nprogram = []\n\n[[bin]]\npath = \"cli/main.rs\""), 2);
    assert_eq!(count("thiserror.workspace = true\n# clap\n\n[dev-dependencies]\nproptest.workspace = true"), 0);
}

/// What the program alone needs: its command line, and what it shows on a terminal.
const OF_THE_PROGRAM: &[&str] =
    &["clap", "clap_complete", "clap_mangen", "indicatif", "tracing-subscriber", "webloom-practice"];

/// All that the library depends on, with these features.
fn dependencies(features: &[&str]) -> BTreeSet<String> {
    let tree = ["tree", "-p", "webloom", "-e", "normal", "--locked", "--prefix", "none", "-f", "{p}"];
    let tree = Command::new(env!("CARGO")).args(tree).args(features).current_dir(root()).output().unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let lines = String::from_utf8(tree.stdout).unwrap();
    lines.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn the_library_is_built_without_what_its_program_needs() {
    let (library, program) = (dependencies(&["--no-default-features"]), dependencies(&[]));
    let heavy: Vec<_> = OF_THE_PROGRAM.iter().filter(|name| library.contains(**name)).collect();
    assert!(heavy.is_empty(), "the library needs {heavy:?}");
    assert!(OF_THE_PROGRAM.iter().all(|name| program.contains(*name)));
    assert!(library.len() + 15 < program.len(), "{} crates of {}", library.len(), program.len());
}

#[test]
fn only_the_command_line_is_hidden_and_public() {
    let library = fs::read_to_string(root().join("crawler/src/lib.rs")).unwrap();
    assert_none("public modules", &public_modules(&library));
    assert_eq!(public_modules("mod a;\n#[doc(hidden)]\npub mod store;\n"), ["pub mod store;"]);
}

/// The modules that any program could use, though they are no part of the library's interface.
fn public_modules(library: &str) -> Vec<String> {
    let known = ["pub mod cli;", "pub mod internals {"];
    let lines = library.lines().filter(|line| line.starts_with("pub mod ") && !known.contains(line));
    lines.map(str::to_owned).collect()
}
