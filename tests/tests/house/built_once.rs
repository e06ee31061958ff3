//! Tests and the program they start have their dependencies with the same features, so that each is built once: a dependency that a
//! test wants with more is built anew, and so is all that depends on it.

use std::{collections::BTreeSet, process::Command};

use crate::{assert_none, source::root};

#[test]
fn what_a_test_needs_is_built_as_the_program_needs_it() {
    let tree = |edges: &str| {
        let with =
            ["tree", "--workspace", "--locked", "--no-dedupe", "--prefix", "none", "-f", "{p} [{f}]", "-e", edges];
        let output = Command::new(env!("CARGO")).args(with).current_dir(root()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert_none("built twice", &faults(&tree("normal,build"), &tree("normal,build,dev")));
}

/// The lines, each a dependency with its features, of the first tree that the second has with others.
fn faults(program: &str, tests: &str) -> Vec<String> {
    let tests: BTreeSet<_> = tests.lines().collect();
    let other: BTreeSet<_> = program.lines().filter(|line| !tests.contains(line)).collect();
    other
        .into_iter()
        .map(|line| format!("a test has other features than {line}: name them in tests/Cargo.toml"))
        .collect()
}

#[test]
fn another_feature_is_a_fault_and_another_dependency_is_none() {
    let program = "tokio v1.0.0 [net,time]\nurl v2.5.0 [std]\nurl v2.5.0 [std]\n";
    assert_eq!(faults(program, "url v2.5.0 [std]\ntokio v1.0.0 [net,test-util,time]\n").len(), 1);
    assert_eq!(faults(program, &format!("{program}proptest v1.0.0 [std]")).len(), 0);
}
