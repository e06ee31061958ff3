//! Changelog, contributing, license: what they name is what is there.

use std::{collections::BTreeSet, fs};

use crate::text::{first_column, read, root, section, user_documents};

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
    let members = members().iter().map(|member| read(&format!("{member}/Cargo.toml"))).collect::<String>();
    let is_used = |name: &&String| {
        [format!("\n{name}.workspace"), format!("\n{name} = {{ workspace")].iter().any(|line| members.contains(line))
    };
    let unused: Vec<_> = dependencies.iter().filter(|name| !is_used(name)).collect();
    assert!(unused.is_empty(), "no member uses {unused:?}");
}

/// The folders of the workspace's members.
fn members() -> Vec<String> {
    let manifest = read("Cargo.toml");
    let list = manifest.split("\nmembers = [").nth(1).unwrap().split(']').next().unwrap();
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
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

/// The targets of the links in a text.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// The anchors of a document's headings, as a reader of Markdown makes them: lower case, no punctuation, dashes for spaces.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let mut headings = Vec::new();
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        if let Some(heading) = line.strip_prefix('#').filter(|_| !fenced) {
            headings.push(heading.trim_start_matches('#').trim().to_lowercase());
        }
    }
    let kept = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
    headings.iter().map(|heading| heading.chars().filter(kept).collect::<String>().replace(' ', "-")).collect()
}

#[test]
fn links_between_documents_lead_to_files_and_headings() {
    let others = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(str::to_owned);
    let decisions = fs::read_dir(root().join("docs/decisions")).unwrap();
    let decisions = decisions.map(|page| format!("docs/decisions/{}", page.unwrap().file_name().to_str().unwrap()));
    let mut checked = 0;
    for document in user_documents().into_iter().chain(others).chain(decisions) {
        let text = read(&document);
        for link in links(&text).filter(|link| !link.starts_with("http")) {
            let mut parts = link.splitn(2, '#');
            let target = match parts.next().unwrap() {
                "" => root().join(&document),
                path => root().join(&document).parent().unwrap().join(path),
            };
            assert!(fs::exists(&target).unwrap(), "{document} links to {link}: there is no such file");
            if let Some(anchor) = parts.next() {
                let there = anchors(&fs::read_to_string(&target).unwrap());
                assert!(there.contains(anchor), "{document} links to {link}; the headings there are {there:?}");
            }
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked} links");
}

#[test]
fn the_readme_leads_to_every_page() {
    let readme = read("README.md");
    let linked: BTreeSet<_> = links(&readme).map(|link| link.split('#').next().unwrap().to_owned()).collect();
    for page in user_documents().into_iter().skip(1) {
        assert!(linked.contains(&page), "the README does not link to {page}");
    }
}

#[test]
fn makes_anchors_as_readers_do() {
    let text = "# A b\n```sh\n# c\n```\n## `visit`: the D_e-f\n";
    assert_eq!(anchors(text), ["a-b", "visit-the-d_e-f"].map(str::to_owned).into());
}
