//! ARCHITECTURE is short, names nothing that does not exist, and has the layers that are enforced.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use crate::text::{read, root};

/// Words of a document that somebody must read before anything else.
const MOST_WORDS: usize = 1_500;

#[test]
fn what_is_read_first_is_short() {
    for document in ["README.md", "ARCHITECTURE.md"] {
        let text = read(document);
        let words = text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
        assert!(words <= MOST_WORDS, "{document} has {words} words");
    }
}

#[test]
fn every_path_exists() {
    let document = read("ARCHITECTURE.md");
    let named = document.split('`').skip(1).step_by(2);
    let paths: Vec<_> = named.filter(|name| name.contains('/') || Path::new(name).extension().is_some()).collect();
    assert!(paths.len() > 60, "{}", paths.len());
    for path in paths {
        let folders = ["", "crawler/src", "urlcache/src"].map(|folder| root().join(folder));
        let exists = |folder: &PathBuf| folder.join(path).exists() || folder.join(format!("{path}.rs")).exists();
        assert!(folders.iter().any(exists), "{path} is not there");
    }
}

#[test]
fn the_layers_are_those_that_are_enforced() {
    let document = read("ARCHITECTURE.md");
    let table = read("tests/tests/house/layers.rs");
    for (layer, name) in [
        ("0 types", "Types"),
        ("1 pure core", "Core"),
        ("2 ports", "Ports"),
        ("3 adapters", "Adapters"),
        ("4 shell", "Shell"),
    ] {
        let row = document.lines().find(|line| line.starts_with(&format!("| {layer} |"))).unwrap();
        let cell = row.split('|').nth(2).unwrap();
        let named: BTreeSet<_> = cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        let enforced = table
            .lines()
            .filter_map(|line| line.trim().strip_prefix("(\"")?.strip_suffix(&format!("\", Layer::{name}),")));
        let exists = |module: &str| {
            let path = root().join("crawler/src").join(module);
            path.is_dir() || path.with_extension("rs").exists()
        };
        let enforced: BTreeSet<_> = enforced.filter(|module| exists(module)).map(str::to_owned).collect();
        assert_eq!(named, enforced, "{layer}");
    }
}
