//! The known bugs that the simulation is tried with: each must fit the sources of today, or it tries nothing.

use std::{fs, process::Command};

use crate::{assert_none, source::root};

#[test]
fn each_known_bug_can_be_put_in() {
    let folder = root().join("tests/bugs");
    let patches = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let patches: Vec<_> = patches.filter(|path| path.extension().is_some_and(|end| end == "patch")).collect();
    assert!(patches.len() >= 10, "{} known bugs", patches.len());
    let is_stray = |patch: &&std::path::PathBuf| {
        let checked = Command::new("git").args(["apply", "--check"]).arg(patch).current_dir(root()).status();
        !checked.unwrap().success()
    };
    let stray: Vec<_> = patches.iter().filter(is_stray).map(|patch| patch.display().to_string()).collect();
    assert_none("does not apply", &stray);
}
