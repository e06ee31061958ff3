//! What a run shows of itself.
//!
//! Owns: the process's own figures, progress on a terminal or as lines, the set-up of logs, charts, and how foreign text is shown.
//!
//! Does not know: how figures come about.

pub mod chart;
pub mod escape;
pub mod logs;
pub mod process;
pub mod progress;
