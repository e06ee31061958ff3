//! ARCHITECTURE names every module, none that does not exist, and the layers that are enforced.

use std::{collections::BTreeSet, fs};

use crate::text::{first_column, read, root, section};

/// The top-level modules in a folder of sources.
fn modules(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let names = entries.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
    names.filter(|name| name != "lib" && name != "main").collect()
}

#[test]
fn every_module_is_named_and_no_other() {
    let document = read("ARCHITECTURE.md");
    for folder in ["crawler/src", "urlcache/src", "urlcache/cli"] {
        assert_eq!(first_column(section(&document, &format!("### `{folder}`"))), modules(folder), "{folder}");
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

/// What is not for users is not in the documentation of the library.
#[test]
fn the_modules_of_the_program_are_hidden() {
    let text = read("crawler/src/lib.rs");
    let lines: Vec<_> = text.lines().collect();
    let shown: Vec<_> = lines
        .windows(2)
        .filter(|pair| pair[1].starts_with("pub mod ") && pair[0] != "#[doc(hidden)]")
        .map(|pair| pair[1])
        .collect();
    assert!(shown.is_empty(), "{shown:?}");
    assert!(
        text.contains("\npub use library::*;\n") && lines.iter().filter(|line| line.contains("hidden")).count() > 20
    );
}
