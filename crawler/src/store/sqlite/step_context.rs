//! [`StepContext`]: what the writing of a step depends on.

use super::current::Current;

/// Where a step is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepContext {
    /// The sequence.
    pub(super) current: Current,
    /// What it is said to admit.
    pub(super) rows: StepRows,
    /// Whether a row may have the number of a later admission.
    pub(super) readmits: bool,
    /// Whether any URL is known to be lost, and may be found.
    pub(super) lost: bool,
}

/// Whether a step's rows are sure to be new to the sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepRows {
    /// They are.
    New,
    /// The URL cache forgets: some may be admitted already.
    Proposed,
}
