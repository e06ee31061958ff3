//! The house rules, enforced over the source text of the whole workspace: layers, sizes, manners, words, the
//! library's dependencies.
//!
//! Each rule is a function from sources to faults. It is run over the tree, and over a planted violation to show that
//! it can fail.

#![expect(clippy::unwrap_used, reason = "a tree that cannot be read fails the test")]

mod bugs;
mod built_once;
mod circles;
mod layers;
mod light;
mod machines;
mod manners;
mod paths;
mod sizes;
mod source;
mod types;
mod words;

/// Fails with all faults at once.
fn assert_none(rule: &str, faults: &[String]) {
    assert!(faults.is_empty(), "{rule}: {} faults\n{}", faults.len(), faults.join("\n"));
}
