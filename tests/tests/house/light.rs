//! The library `urlcache` is light: what only its program needs is optional, and the crawler leaves it out.

use std::{collections::BTreeSet, fs};

use crate::{assert_none, source::root};

/// Crates of the library: hash functions, and the kinds of its errors.
const OF_THE_LIBRARY: &[&str] = &["md-5", "sha1", "thiserror", "xxhash-rust"];

#[test]
fn the_library_depends_on_nothing_of_its_program() {
    let manifest = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    assert_none("light library", &faults(&manifest("urlcache/Cargo.toml")));
    assert!(manifest("Cargo.toml").contains("\nurlcache = { path = \"urlcache\", default-features = false }\n"));
    assert!(manifest("crawler/Cargo.toml").contains("\nurlcache.workspace = true\n"));
}

/// Every dependency of a manifest that is neither optional nor the library's own.
fn faults(manifest: &str) -> Vec<String> {
    let table = manifest.split("\n[dependencies]\n").nth(1).unwrap_or_default().split("\n[").next().unwrap_or_default();
    let lines = table.lines().filter(|line| !line.starts_with('#') && !line.contains("optional = true"));
    let named: BTreeSet<_> = lines.filter_map(|line| line.split(['.', '=', ' ']).next()).collect();
    let heavy = named.into_iter().filter(|name| !name.is_empty() && !OF_THE_LIBRARY.contains(name));
    heavy.map(|name| format!("urlcache/Cargo.toml: `{name}` is not optional")).collect()
}

#[test]
fn a_heavy_dependency_is_a_fault() {
    let count = |lines: &str| faults(&format!("[package]\nname = \"urlcache\"\n\n[dependencies]\n{lines}\n")).len();
    assert_eq!(count("clap.workspace = true"), 1);
    assert_eq!(count("serde_json = \"1\"\nanyhow={ version = \"1\" }"), 2);
    assert_eq!(count("md-5.workspace = true\nclap = { workspace = true, optional = true }"), 0);
    assert_eq!(count("thiserror.workspace = true\n# clap\n\n[dev-dependencies]\nproptest.workspace = true"), 0);
}
