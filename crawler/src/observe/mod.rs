//! What a run shows of itself.
//!
//! Owns: the process's own figures, progress on a terminal or as lines, the set-up of logs, charts, columns, lines that
//! are not too wide, the summary of a sequence, and how figures and foreign text are shown.
//!
//! Does not know: how figures come about.

#[cfg(feature = "program")]
pub mod aligned;
#[cfg(feature = "program")]
pub(crate) mod alike;
pub mod cgroup;
pub mod chart;
pub mod escape;
pub mod figures;
pub mod fold;
#[cfg(feature = "program")]
pub(crate) mod found;
#[cfg(feature = "program")]
pub mod logs;
pub mod pace;
pub mod process;
#[cfg(feature = "program")]
pub mod progress;
pub mod summary;
pub mod terminal;
