//! What a run shows of itself.
//!
//! Owns: the process's own figures, progress on a terminal or as lines, and the set-up of logs.
//!
//! Does not know: how figures come about.

pub mod logs;
pub mod process;
pub mod progress;
