//! Skipping a test that lacks something: never silently.

use std::{fs::File, io::Write};

/// Names the file to which every skip is appended: the output of a test that passes is not shown, and CI wants to know.
pub const SKIPPED_TESTS_FILE: &str = "SKIPPED_TESTS_FILE";

/// Says that the running test is skipped, and why; the test then returns.
///
/// # Panics
/// When the file that [`SKIPPED_TESTS_FILE`] names cannot be written: a skip must not go unseen.
pub fn skip(reason: &str) {
    let line = format!("skipped: {reason}\n");
    print!("{line}");
    if let Some(path) = std::env::var_os(SKIPPED_TESTS_FILE) {
        let file = File::options().append(true).create(true).open(path);
        file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the file for skips can be appended to");
    }
}
