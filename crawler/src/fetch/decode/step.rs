//! The result of a decoding step: [`StageStep`], or why there is no next one.

use super::Coding;
use crate::fetch::Truncation;

/// Progress of one step; none at all means: wants more input, or ignores what follows its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct StageStep {
    pub(super) read: usize,
    pub(super) written: usize,
}

/// Broken input.
pub(super) struct Corrupt;

/// Why decoding stopped before the input ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DecodeStop {
    Limit(Truncation),
    Corrupt(Coding),
}
