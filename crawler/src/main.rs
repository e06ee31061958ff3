//! The `webloom` program.
fn main() {}
