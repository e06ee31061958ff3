//! The library `urlcache` is light: what only its program needs is in that program's package, `urlcache/evaluation`.

use std::{collections::BTreeSet, fs};

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
