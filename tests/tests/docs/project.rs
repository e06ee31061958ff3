//! Changelog, contributing, license: what they name is what is there.

use std::{collections::BTreeSet, fs};

use crate::text::{first_column, read, root, section};

#[test]
fn the_changelog_has_the_version() {
    let manifest = read("Cargo.toml");
    let version = manifest.split("\nversion = \"").nth(1).unwrap().split('"').next().unwrap();
    assert!(read("CHANGELOG.md").contains(&format!("\n## [{version}]")), "no entry for {version}");
}

#[test]
fn every_dependency_has_its_reason_and_its_user() {
    let dependencies = dependencies();
    assert_eq!(first_column(section(&read("CONTRIBUTING.md"), "## Dependencies")), dependencies);
    let members =
        ["urlcache", "urlcache/cli", "crawler", "tests"].map(|member| read(&format!("{member}/Cargo.toml"))).concat();
    let unused: Vec<_> = dependencies.iter().filter(|name| !members.contains(&format!("\n{name}.workspace"))).collect();
    assert!(unused.is_empty(), "no member uses {unused:?}");
}

fn dependencies() -> BTreeSet<String> {
    let manifest = read("Cargo.toml");
    let table = manifest.split("[workspace.dependencies]\n").nth(1).unwrap().split("\n[").next().unwrap();
    table.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn the_license_is_the_manifests() {
    assert!(read("Cargo.toml").contains("license = \"MIT OR Apache-2.0\""));
    assert!(read("LICENSE-MIT").contains("Permission is hereby granted, free of charge"));
    assert!(read("LICENSE-APACHE").contains("Version 2.0, January 2004"));
    let license = read("LICENSE");
    assert!(license.contains("LICENSE-MIT") && license.contains("LICENSE-APACHE"));
}

#[test]
fn links_between_documents_lead_somewhere() {
    for document in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "docs/database.md",
        "docs/glossary.md",
        "docs/loss.md",
    ] {
        let text = read(document);
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.starts_with("http")) {
            assert!(fs::exists(root().join(target)).unwrap(), "{document} links to {target}");
        }
    }
}
