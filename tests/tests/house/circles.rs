//! Files that know each other in a circle: none may be read without the others.
//!
//! A file knows another if it names something of it, also where that is shown by a third. What a module shows of its children
//! (`pub use`) is not what it knows.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    assert_none,
    paths::{module_of, named},
    source::{Source, below, shipped},
};

/// Names that lead to names, at most.
const MOST_STEPS: usize = 8;

type Files<'a> = BTreeMap<Vec<String>, &'a Source>;

#[test]
fn files_do_not_know_each_other_in_a_circle() {
    for sources in ["crawler/src", "crawler/practice/src"] {
        let sources = shipped(below(&[sources]));
        let found: Vec<_> = circles(&sources).iter().map(|circle| circle.join(" ")).collect();
        assert_none("circles", &found);
    }
}

/// Files each of which is known to all others of its circle, maybe by way of others.
fn circles(sources: &[Source]) -> Vec<Vec<&str>> {
    let files: Files<'_> = sources.iter().map(|source| (module_of(&source.path), source)).collect();
    let shown: BTreeMap<&str, BTreeMap<String, Vec<String>>> =
        sources.iter().map(|source| (&*source.path, names(source))).collect();
    let knows: BTreeMap<&str, BTreeSet<&str>> = sources
        .iter()
        .map(|source| {
            let known = named(source).into_iter().filter(|named| !named.is_shown);
            let known = known.filter_map(|named| home(&named.segments, &files, &shown));
            (&*source.path, known.filter(|path| *path != source.path).collect())
        })
        .collect();
    let reach: BTreeMap<&str, BTreeSet<&str>> = knows.keys().map(|path| (*path, reached(path, &knows))).collect();
    let mut circles = BTreeSet::new();
    for (path, reached) in &reach {
        let circle: Vec<_> = reached.iter().copied().filter(|other| reach[other].contains(path)).collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    circles.into_iter().collect()
}

/// What each name means that a file imports.
fn names(source: &Source) -> BTreeMap<String, Vec<String>> {
    named(source).into_iter().filter_map(|named| Some((named.name?, named.segments))).collect()
}

/// The file in which something is that is named so.
fn home<'a>(
    path: &[String],
    files: &Files<'a>,
    shown: &BTreeMap<&str, BTreeMap<String, Vec<String>>>,
) -> Option<&'a str> {
    let mut path = path.to_vec();
    for _ in 0..MOST_STEPS {
        let inside = path.strip_prefix(&["crate".to_owned()])?;
        let length = (0..=inside.len()).rev().find(|length| files.contains_key(&inside[..*length]))?;
        let file = files[&inside[..length]];
        let Some(to) = inside.get(length).and_then(|name| shown[&*file.path].get(name)) else {
            return Some(&file.path);
        };
        // A library of that name, or what a local name means.
        if to.first().is_none_or(|first| first != "crate") {
            return Some(&file.path);
        }
        path = [to.as_slice(), &inside[length + 1..]].concat();
    }
    None
}

/// What is known to a file, by way of others too.
fn reached<'a>(from: &'a str, knows: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(path) = open.pop() {
        for known in &knows[path] {
            if reached.insert(*known) {
                open.push(known);
            }
        }
    }
    reached
}

#[test]
fn a_circle_is_found_over_what_others_show() {
    let a = Source::new("crawler/src/a/mod.rs", "mod one;\nmod two;\npub use one::One;\nuse two::Two as Other;");
    let two = Source::new("crawler/src/a/two.rs", "use super::One;\npub struct Two;");
    let plain = Source::new("crawler/src/a/one.rs", "use std::fmt;\npub struct One;");
    assert_eq!(circles(&[a, two, plain]), [[""; 0]; 0]);
    let a = Source::new("crawler/src/a/mod.rs", "mod one;\nmod two;\npub use one::One;\nuse two::Two as Other;");
    let two = Source::new("crawler/src/a/two.rs", "use super::One;\npub struct Two;");
    let back = Source::new("crawler/src/a/one.rs", "use super::Other;\npub struct One;");
    assert_eq!(circles(&[a, two, back]), [["crawler/src/a/one.rs", "crawler/src/a/two.rs"]]);
}
